"""A headless Chromium, driven by its DevTools protocol: enough to open a page, look at it and press things."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,800",
    "--remote-debugging-port=0",
)


class Browser:
    """One page. A context manager."""

    def __init__(self, address: str) -> None:
        from websockets.sync.client import connect

        assert CHROMIUM is not None
        self._folder = tempfile.TemporaryDirectory(prefix="isaaclab_mirror_browser_", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={self._folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port_file = Path(self._folder.name) / "DevToolsActivePort"
        wait_for(lambda: port_file.is_file() and port_file.read_text().strip(), 30.0)
        port = port_file.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=10) as answer:
            pages = json.load(answer)
        page = next(p for p in pages if p["type"] == "page")
        self._socket = connect(page["webSocketDebuggerUrl"], max_size=None)
        self._next = 0
        self.errors: list[str] = []
        """What the page wrote to its console as an error, and exceptions that nobody caught."""
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=address)

    def call(self, method: str, **params: Any) -> Any:
        """One command of the protocol."""
        self._next += 1
        self._socket.send(json.dumps({"id": self._next, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=60))
            self._note(message)
            if message.get("id") == self._next:
                assert "error" not in message, message["error"]
                return message["result"]

    def _note(self, message: dict[str, Any]) -> None:
        match message.get("method"):
            case "Runtime.consoleAPICalled" if message["params"]["type"] == "error":
                self.errors.append(str([a.get("value", a.get("description")) for a in message["params"]["args"]]))
            case "Runtime.exceptionThrown":
                self.errors.append(str(message["params"]["exceptionDetails"].get("text")))
            case "Log.entryAdded" if message["params"]["entry"]["level"] == "error":
                entry = message["params"]["entry"]
                self.errors.append(f"{entry['text']} {entry.get('url', '')}")

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def text(self) -> str:
        """All that can be read."""
        return str(self.evaluate("(document.body || {}).innerText || ''"))

    def screenshot(self) -> bytes:
        """The page as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def press(self, label: str) -> None:
        """The button of that text."""
        found = self.evaluate(
            f"(() => {{ const b = [...document.querySelectorAll('button')].find(b => b.innerText.trim() === {label!r});"
            " if (b) b.click(); return !!b; })()"
        )
        assert found, f"no button {label!r}"

    def type_into(self, label: str, value: str) -> None:
        """The number box of a slider."""
        script = (
            "(() => { const l = [...document.querySelectorAll('label')].find(e =>"
            f" e.innerText === {label!r}); if (!l) return null; let e = l; let i = null;"
            " for (let k = 0; k < 6 && !i; k++) { e = e.parentElement; i = e.querySelector('input[type=text]'); }"
            " if (!i) return null; i.focus(); i.select(); return true; })()"
        )
        wait_for(lambda: self.evaluate(script), 20)
        self.call("Input.insertText", text=value)
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13)

    def close(self) -> None:
        """End the browser."""
        self._socket.close()
        self._process.terminate()
        self._process.wait(10)
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def wait_for(condition: Callable[[], Any], seconds: float) -> Any:
    """The condition's value, once it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s")
