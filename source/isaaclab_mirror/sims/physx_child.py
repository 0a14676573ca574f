"""PhysX in a process of its own: `python -m isaaclab_mirror.sims.physx_child CHANNEL LIFELINE`.

Started by `physx_process.py` with two inherited descriptors: a socket on which it serves one `PhysxEngine`, and the
end of a pipe that closes when the parent is gone. What the engine prints goes to stdout and stderr, which the parent
keeps.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.physx_engine import PhysxEngine
from isaaclab_mirror.sims.physx_wire import receive, send

BEAT_S = 0.5
"""A long call says this often that it is still stepping."""
LONGEST_LOG = 1_000_000
"""Bytes of chatter that are kept."""


def die_with_parent(lifeline: int) -> None:
    """The kernel ends this process when the other end of the pipe closes, even while native code loops."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)  # whose default is to end
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    try:
        gone = os.read(lifeline, 1) == b""
    except BlockingIOError:
        gone = False
    if gone:  # before we asked to be told
        os._exit(0)


class Server:
    """Answers one parent. Writes are not answered: what goes wrong with one is said at the next question."""

    def __init__(self, channel: socket.socket) -> None:
        """Nothing is loaded yet."""
        self._channel = channel
        self._engine: PhysxEngine | None = None
        self._late: dict[str, Any] | None = None
        self._beaten = time.monotonic()
        self._answers: dict[str, Callable[[dict[str, Any]], tuple[dict[str, Any], list[Any]]]] = {
            "load": self._load,
            "articulations": lambda _: ({"paths": self.engine.articulations()}, []),
            "sensor_paths": lambda _: ({"paths": self.engine.sensor_paths}, []),
            "layout": lambda _: (self.engine.layout()._asdict(), []),
            "shape": lambda m: ({"shape": self.engine.shape(m["name"])}, []),
            "read": lambda m: ({}, self.engine.read_all(m["names"])),
            "contact_forces": lambda _: ({}, [self.engine.contact_forces()]),
            "advance": self._advance,
            "clone": lambda m: self._done(self.engine.clone(m["source"], m["targets"], m["poses"])),
            "warm_up": lambda m: self._done(self.engine.warm_up(m["articulations"], m["sensors"])),
        }

    @property
    def engine(self) -> PhysxEngine:
        """The loaded one."""
        if self._engine is None:
            raise InputError("E054", "PhysX", "nothing is loaded")
        return self._engine

    def _done(self, nothing: None) -> tuple[dict[str, Any], list[Any]]:
        del nothing
        return {}, []

    def _load(self, message: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        self._engine = PhysxEngine(Path(message["file"]), threads=message["threads"])
        return {}, []

    def _advance(self, message: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        done = self.engine.advance(
            message["dt_s"], message["substeps"], message["count"], message["limit"], beat=self._beat
        )
        return {"done": done.steps, "stable": done.stable}, []

    def _beat(self) -> None:
        now = time.monotonic()
        if now - self._beaten > BEAT_S:
            self._beaten = now
            send(self._channel, {"beat": True})
            if os.fstat(2).st_size > LONGEST_LOG:
                os.ftruncate(2, 0)

    def serve(self) -> None:
        """Until the parent says `close` or is gone."""
        while True:
            message, arrays = receive(self._channel)
            call = message["call"]
            if call == "close":
                if self._engine is not None:
                    self._engine.close()
                return
            try:
                if call == "write":
                    rows = arrays[1] if len(arrays) > 1 else None
                    self.engine.write(message["name"], arrays[0], rows)
                elif call == "update_kinematics":
                    self.engine.update_kinematics()
                else:
                    self._beaten = time.monotonic()
                    if self._late is None:
                        answer, out = self._answers[call](message)
                        send(self._channel, answer, *out)
                    else:
                        send(self._channel, self._late)
                        self._late = None
            except InputError as error:
                self._say(call, {"error": error.diagnostic.to_json()})
            except Exception as error:  # noqa: BLE001 - whatever the engine raises is told, not lost
                self._say(call, {"raised": f"{type(error).__name__}: {error}"})

    def _say(self, call: str, what: dict[str, Any]) -> None:
        if call in ("write", "update_kinematics"):
            self._late = self._late or what
        else:
            send(self._channel, what)


def main(arguments: list[str]) -> int:
    """Serve until told to end."""
    channel, lifeline = map(int, arguments)
    die_with_parent(lifeline)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    with socket.socket(fileno=channel) as connection:
        try:
            Server(connection).serve()
        except (EOFError, OSError):
            return 1
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # the native runtime's teardown must not be able to hang or spoil the end
