"""Node: a place in a config, read by key; what is missing or of the wrong type is refused with the path of its key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.rotations import Quat, Vec3

SHOWN = 60


class Node:
    """A mapping of a config with where it stands."""

    def __init__(self, data: Mapping[str, Any], file: Path, path: str = "") -> None:
        self.data = data
        self.file = file
        self.path = path

    def where(self, key: str = "") -> str:
        """`file:dotted.key`."""
        path = ".".join(part for part in (self.path, key) if part)
        return f"{self.file.name}:{path}" if path else self.file.name

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def raw(self, key: str) -> Any:
        """The value as it stands, None where it is null or absent."""
        return self.data.get(key)

    def error(self, key: str, message: str, hint: str = "") -> InputError:
        """What is wrong at a key."""
        return InputError("E104", self.where(key), message, hint)

    def wrong(self, key: str, wanted: str) -> InputError:
        """A value of another type than is needed."""
        if key not in self.data:
            return self.error(key, f"the key is missing: {wanted} is needed", "is the file complete?")
        found = repr(self.data[key])
        return self.error(key, f"{found[:SHOWN]}{'…' if len(found) > SHOWN else ''} is not {wanted}")

    def child(self, key: str) -> Node:
        """The mapping at a key; an empty one where it is null or absent."""
        value = self.data.get(key)
        if value is None:
            return Node({}, self.file, f"{self.path}.{key}" if self.path else key)
        if not isinstance(value, Mapping):
            raise self.wrong(key, "a mapping")
        return Node(cast(Mapping[str, Any], value), self.file, f"{self.path}.{key}" if self.path else key)

    def need(self, key: str) -> Node:
        """The mapping at a key that must be there."""
        if self.data.get(key) is None:
            raise self.wrong(key, "a mapping")
        return self.child(key)

    def children(self) -> Iterator[tuple[str, Node]]:
        """Every mapping below, by key, in the file's order; null and plain values are left out."""
        for key, value in self.data.items():
            if isinstance(value, Mapping):
                yield key, self.child(key)

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number; `1e-5`, which YAML reads as text, counts."""
        value = self.data.get(key)
        if value is None:
            if default is None:
                raise self.wrong(key, "a number")
            return default
        number = as_number(value)
        if number is None or not math.isfinite(number):
            raise self.wrong(key, "a finite number")
        return number

    def optional_number(self, key: str) -> float | None:
        """A finite number or None."""
        return None if self.data.get(key) is None else self.number(key)

    def whole(self, key: str, default: int | None = None, least: int = 0) -> int:
        """A whole number not below `least`."""
        value = self.number(key, None if default is None else float(default))
        if value != int(value) or value < least:
            raise self.wrong(key, f"a whole number from {least}")
        return int(value)

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        value = self.data.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.wrong(key, "text")
        return value

    def name_of(self, key: str) -> str:
        """A class or function (`module:name`); empty where the dump has `{}` or nothing."""
        value = self.data.get(key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str, default: bool = False) -> bool:
        """True or False."""
        value = self.data.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def optional_flag(self, key: str) -> bool | None:
        """True, False or None."""
        return None if self.data.get(key) is None else self.flag(key)

    def names(self, key: str) -> tuple[str, ...]:
        """A string or several."""
        value = self.data.get(key)
        if value is None:
            return ()
        if isinstance(value, str):
            return (value,)
        if isinstance(value, tuple) and all(isinstance(item, str) for item in cast(tuple[Any, ...], value)):
            return cast(tuple[str, ...], value)
        raise self.wrong(key, "a list of names")

    def numbers(self, key: str, count: int | None = None) -> tuple[float, ...]:
        """Several finite numbers, `count` of them."""
        value = self.data.get(key)
        wanted = f"{count} finite numbers" if count is not None else "a list of finite numbers"
        if not isinstance(value, tuple):
            raise self.wrong(key, wanted)
        found = [as_number(item) for item in cast(tuple[Any, ...], value)]
        if (count is not None and len(found) != count) or any(x is None or not math.isfinite(x) for x in found):
            raise self.wrong(key, wanted)
        return cast(tuple[float, ...], tuple(found))

    def vector(self, key: str, default: Vec3) -> Vec3:
        """Three finite numbers."""
        if self.data.get(key) is None:
            return default
        x, y, z = self.numbers(key, 3)
        return (x, y, z)

    def quat(self, key: str, order: str) -> Quat:
        """A unit quaternion written in `order`, as wxyz; the identity where there is none."""
        if self.data.get(key) is None:
            return (1.0, 0.0, 0.0, 0.0)
        a, b, c, d = self.numbers(key, 4)
        w, x, y, z = (d, a, b, c) if order == "xyzw" else (a, b, c, d)
        size = math.sqrt(w * w + x * x + y * y + z * z)
        if size < 1e-6:
            raise self.wrong(key, "a quaternion of some length")
        return (w / size, x / size, y / size, z / size) if abs(size - 1.0) > 1e-6 else (w, x, y, z)

    def by_pattern(self, key: str) -> dict[str, float]:
        """Numbers by pattern."""
        value = self.data.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self.wrong(key, "a mapping from joint names or patterns to numbers")
        node = self.child(key)
        return {pattern: node.number(pattern) for pattern in node.data}


def as_number(value: Any) -> float | None:
    """A number as float, also one that YAML left as text (`1e-5`); None of anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None
