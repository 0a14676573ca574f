"""Messages between a simulator and the process that PhysX runs in: a JSON header, then arrays as they lie in memory.

Nothing in a message is executed when it is read: the other side may be what a broken file has left of PhysX.
"""

from __future__ import annotations

import json
import os
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

HEAD = struct.Struct("<II")
"""Bytes of the header; number of arrays."""


def send(channel: socket.socket, message: dict[str, Any], *arrays: Any) -> None:
    """One message; arrays are taken as they are, without a copy."""
    import numpy as np

    solid = [np.ascontiguousarray(array) for array in arrays]
    message = {**message, "arrays": [(array.dtype.str, array.shape) for array in solid]} if solid else message
    header = json.dumps(message).encode()
    channel.sendall(HEAD.pack(len(header), len(solid)) + header)
    for array in solid:
        if array.size:
            channel.sendall(array.data.cast("B"))


def receive(channel: socket.socket, wait: Callable[[], None] | None = None) -> tuple[dict[str, Any], list[Any]]:
    """The next message; EOFError when the other side is gone. `wait` is called before every read."""
    import numpy as np

    size, count = HEAD.unpack(_exactly(channel, bytearray(HEAD.size), wait))
    message = json.loads(bytes(_exactly(channel, bytearray(size), wait)))
    arrays = []
    for dtype, shape in message.pop("arrays", [])[:count]:
        array = np.empty(shape, np.dtype(dtype))
        if array.size:
            _exactly(channel, array.reshape(-1).view(np.uint8), wait)
        arrays.append(array)
    return message, arrays


def _exactly(channel: socket.socket, buffer: Any, wait: Callable[[], None] | None) -> Any:
    view = memoryview(buffer).cast("B")
    done = 0
    while done < len(view):
        if wait is not None:
            wait()
        got = channel.recv_into(view[done:])
        if not got:
            raise EOFError
        done += got
    return buffer


def tail(descriptor: int, size: int = 4000) -> str:
    """The end of a file that someone else writes."""
    length = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, max(0, length - size)).decode(errors="replace")
