"""Dataclasses of plain fields as TOML text and back: defaults are left out, unknown keys are refused.

TOML has no null: None is written `{"$" = "none"}` where it is not the default.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from isaaclab_mirror.diagnostics import InputError

T = TypeVar("T")
NONE = {"$": "none"}
BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(value: Any, folder: Path) -> str:
    """The text of a dataclass; paths are relative to `folder` where they are below it or beside it."""
    return "\n".join(_lines(value, (), folder)) + "\n"


def _lines(value: Any, path: tuple[str, ...], folder: Path) -> Iterator[str]:
    """Plain fields first, then a table for each mapping or dataclass, then arrays of tables."""
    later: list[tuple[str, Any]] = []
    for field, item in _stated(value):
        if _is_table(item) or _is_array_of_tables(item):
            later.append((field.name, item))
        else:
            yield f"{field.name} = {_inline(item, folder)}"
    for name, item in later:
        below = (*path, name)
        for one in cast(tuple[Any, ...], item) if isinstance(item, tuple) else (item,):
            yield ""
            yield f"[[{_dotted(below)}]]" if isinstance(item, tuple) else f"[{_dotted(below)}]"
            if isinstance(one, Mapping):
                pairs = cast(Mapping[str, Any], one)
                yield from (f"{_key(key)} = {_inline(inner, folder)}" for key, inner in pairs.items())
            else:
                yield from _lines(one, below, folder)


def _stated(value: Any) -> Iterator[tuple[Field[Any], Any]]:
    for field in fields(value):
        item = getattr(value, field.name)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if default is MISSING or type(item) is not type(default) or item != default:
            yield field, item


def _is_table(item: Any) -> bool:
    return isinstance(item, Mapping) or is_dataclass(item)


def _is_array_of_tables(item: Any) -> bool:
    return isinstance(item, tuple) and item != () and all(is_dataclass(one) for one in cast(tuple[Any, ...], item))


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(map(_key, path))


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _inline(item: Any, folder: Path) -> str:
    if item is None:
        return '{"$" = "none"}'
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        return repr(item)
    if isinstance(item, Path):
        return _text(relative(item, folder))
    if isinstance(item, str):
        return _text(str(item))
    if isinstance(item, Mapping):
        pairs = cast(Mapping[str, Any], item).items()
        return "{" + ", ".join(f"{_key(key)} = {_inline(inner, folder)}" for key, inner in pairs) + "}"
    return "[" + ", ".join(_inline(one, folder) for one in cast(tuple[Any, ...], item)) + "]"


def relative(file: Path, folder: Path) -> str:
    """From the folder, with `..` where that reaches it; absolute on another drive."""
    try:
        return Path(*_steps(file.absolute(), folder.absolute())).as_posix()
    except ValueError:
        return file.absolute().as_posix()


def _steps(file: Path, folder: Path) -> tuple[str, ...]:
    if file.anchor != folder.anchor:
        raise ValueError(file)
    mine, other = file.parts, folder.parts
    shared = next((k for k, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b), min(len(mine), len(other)))
    return (*("..",) * (len(other) - shared), *mine[shared:])


def from_toml(kind: type[T], document: Mapping[str, Any], where: str, folder: Path) -> T:
    """A dataclass from a parsed document; everything that does not fit is refused with its key."""
    return _Decoder(where, folder).dataclass(kind, document, "")


class _Decoder:
    def __init__(self, where: str, folder: Path) -> None:
        self._where = where
        self._folder = folder

    def error(self, path: str, message: str, hint: str = "") -> InputError:
        return InputError("E111", f"{self._where}:{path}" if path else self._where, message, hint)

    def dataclass(self, kind: type[T], value: Any, path: str) -> T:
        if not isinstance(value, Mapping):
            raise self.error(path, f"{value!r} is not a table")
        table = cast(Mapping[str, Any], value)
        hints = get_type_hints(kind)
        known = {field.name: field for field in fields(cast(Any, kind))}
        for key in table:
            if key not in known:
                names = ", ".join(known)
                raise self.error(f"{path}.{key}".lstrip("."), "there is no such key", f"here there are: {names}")
        result: dict[str, Any] = {}
        for name, field in known.items():
            at = f"{path}.{name}".lstrip(".")
            if name in table:
                result[name] = self.value(hints[name], table[name], at)
            elif field.default is MISSING and field.default_factory is MISSING:
                raise self.error(at, "the key is missing")
        return kind(**result)

    def value(self, kind: Any, value: Any, path: str) -> Any:
        origin = get_origin(kind)
        if origin in (Union, types.UnionType):
            if value == NONE:
                return None
            (inner,) = (arg for arg in get_args(kind) if arg is not type(None))
            return self.value(inner, value, path)
        if origin is tuple:
            return self.several(get_args(kind), value, path)
        if origin is not None:  # mappings
            if not isinstance(value, Mapping):
                raise self.error(path, f"{value!r} is not a table")
            inner = get_args(kind)[1]
            pairs = cast(Mapping[str, Any], value).items()
            return {key: self.value(inner, item, f"{path}.{key}") for key, item in pairs}
        if is_dataclass(kind):
            return self.dataclass(cast(Any, kind), value, path)
        return self.data(value) if kind is Any else self.plain(kind, value, path)

    def several(self, kinds: tuple[Any, ...], value: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise self.error(path, f"{value!r} is not an array")
        items = cast(list[Any], value)
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            kinds = (kinds[0],) * len(items)
        if len(kinds) != len(items):
            raise self.error(path, f"{len(items)} values where {len(kinds)} are needed")
        pairs = enumerate(zip(kinds, items, strict=True))
        return tuple(self.value(kind, item, f"{path}[{k}]") for k, (kind, item) in pairs)

    def plain(self, kind: Any, value: Any, path: str) -> Any:
        if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if kind is Path and isinstance(value, str):
            return _normal(self._folder / value)
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            if value in [str(member) for member in kind]:
                return kind(value)
            raise self.error(path, f"{value!r} is not one of {', '.join(str(member) for member in kind)}")
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        names: dict[Any, str] = {
            float: "a number",
            int: "a whole number",
            str: "text",
            bool: "true or false",
            Path: "a path",
        }
        raise self.error(path, f"{value!r} is not {names.get(kind, 'of its type')}")

    def data(self, value: Any) -> Any:
        """Data of a config: tables, arrays as tuples, None from its stand-in."""
        if value == NONE:
            return None
        if isinstance(value, Mapping):
            return {key: self.data(item) for key, item in cast(Mapping[str, Any], value).items()}
        if isinstance(value, list):
            return tuple(self.data(item) for item in cast(list[Any], value))
        return value


def _normal(path: Path) -> Path:
    """Without `..`, links kept."""
    parts: list[str] = []
    for part in path.absolute().parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != "..":
            parts.append(part)
    return Path(*parts)
