"""Names of links and joints, as PhysX gives them, or as the source of a converted stage had them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage


def spelled(stage: UsdRobotStage, record: Record) -> str:
    """The name of a prim: its display name where USD could not spell the source's name, else the prim's.

    In MuJoCo's dialect the display name is the source's name, always. In PhysX's, policies and task configurations
    know the prim's name: the display name is taken only where the prim's is a transcoding (`tn__…`).
    """
    shown = record.prim.GetDisplayName()
    if shown and (stage.mujoco_dialect or (record.path.name.startswith("tn__") and not _is_identifier(shown))):
        return shown
    return record.path.name


def _is_identifier(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", name) is not None


class UniqueNames:
    """PhysX's rule for repeated names: the first keeps it, the next get `_0`, `_1`, … in link order."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._used = set(taken)
        self._count: dict[str, int] = {}

    def of(self, name: str) -> str:
        """The name, made unique."""
        unique = name
        while unique in self._used:
            k = self._count.get(name, 0)
            self._count[name] = k + 1
            unique = f"{name}_{k}"
        self._used.add(unique)
        return unique


class CountedNames:
    """Names made unique by counting: `wheel`, `wheel_1`, `wheel_2`."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._count: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._used

    def of(self, name: str) -> str:
        """The name, made unique. Each number is tried once, however often a name comes back."""
        unique, k = name, self._count.get(name, 0)
        while unique in self._used:
            k += 1
            unique = f"{name}_{k}"
        self._count[name] = k
        self._used.add(unique)
        return unique
