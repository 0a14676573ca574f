"""The tests in a process of their own: `python -m isaaclab_mirror.comparison.worker CHANNEL LIFELINE`.

Started by `apart.py`: a file that crashes an engine ends this process and no other.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Mapping
from typing import Any

from isaaclab_mirror.comparison.motions import Found
from isaaclab_mirror.comparison.validation import run_groups
from isaaclab_mirror.comparison.wire import found_message, options_of
from isaaclab_mirror.diagnostics import Diagnostic, InputError
from isaaclab_mirror.sims.physx_child import die_with_parent
from isaaclab_mirror.sims.physx_wire import receive, send


class Teller:
    """Tells the parent what is found, as it is found."""

    def __init__(self, channel: socket.socket) -> None:
        """Over a socket."""
        self._channel = channel

    def opened(self, diagnostics: tuple[Diagnostic, ...], settings: Mapping[str, Any]) -> None:
        """See `Listener`."""
        send(self._channel, {"say": "opened", "diagnostics": [d.to_json() for d in diagnostics], "settings": settings})

    def progress(self, group: str, seconds: float) -> None:
        """See `Listener`."""
        send(self._channel, {"say": "progress", "group": group, "seconds": seconds})

    def found(self, group: str, found: Found) -> None:
        """See `Listener`."""
        message, arrays = found_message(found)
        send(self._channel, {"say": "found", "group": group, **message}, *arrays)


def main(arguments: list[str]) -> int:
    """Take the options, run, tell."""
    channel, lifeline = map(int, arguments)
    die_with_parent(lifeline)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    with socket.socket(fileno=channel) as connection:
        try:
            message, _ = receive(connection)
            try:
                run_groups(*options_of(message), Teller(connection))
            except InputError as error:
                send(connection, {"say": "refused", "error": error.diagnostic.to_json()})
                return 0
            send(connection, {"say": "done"})
        except (EOFError, OSError):
            return 1
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # the native runtimes' teardown must not be able to hang or spoil the end
