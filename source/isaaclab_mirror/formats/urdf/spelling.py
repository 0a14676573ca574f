"""How URDF spells numbers, vectors, poses and names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import Diagnostics, InputError, Source
from isaaclab_mirror.rotations import Pose, Vec3, rpy_from_quat

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def number(value: float) -> str:
    """The shortest text that reads back as the same double."""
    value = float(value)
    if not math.isfinite(value):
        raise InputError(
            "E014", "URDF", f"a number is {value}", hint="URDF holds finite numbers alone: repair the source"
        )
    if value == 0.0:
        return "0"  # also of −0.0
    return repr(value).removesuffix(".0")


def numbers(values: Iterable[float]) -> str:
    """Several, with a space between."""
    return " ".join(map(number, values))


def add_origin(element: Element, pose: Pose) -> None:
    """An `<origin>`; none for the identity, which is URDF's default."""
    from lxml import etree

    angles = rpy_from_quat(pose.quat_wxyz)
    if not any(pose.pos) and not any(angles):
        return
    etree.SubElement(element, "origin", xyz=numbers(pose.pos), rpy=numbers(angles))


def moved(pose: Pose, shift: Vec3) -> Pose:
    """A pose in a link's own frame, seen from the link's frame after that was moved by `shift`."""
    x, y, z = pose.pos
    return Pose((x - shift[0], y - shift[1], z - shift[2]), pose.quat_wxyz)


def xml_text(text: str) -> str:
    """Text without the characters that XML forbids."""
    return _NOT_XML.sub("_", text)


def comment_text(text: str) -> str:
    """Text that may stand in an XML comment."""
    return re.sub("-(?=-|$)", "- ", xml_text(text))


class Names:
    """Names of one kind of element: as the source has them, but legal in XML and each once."""

    def __init__(self, kind: str, found: Diagnostics) -> None:
        self._kind = kind
        self._found = found
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def give(self, name: str, source: Source | None = None) -> str:
        """`name`, or the closest that is free; a change is a diagnostic."""
        legal = xml_text(name) or self._kind
        free, count = legal, self._last.get(legal, 0)
        while free in self._taken:
            count += 1
            free = f"{legal}_{count}"
        self._last[legal] = count
        self._taken.add(free)
        if free != name:
            why = "is taken" if legal == name else "is empty or holds characters that XML forbids"
            self._found.warn("E041", source or name, f"{self._kind} name {name!r} {why}: written as {free!r}")
        return free
