"""`--set key=value` and `--options FILE.toml`: the fields of the three options objects by their own names."""

from __future__ import annotations

import argparse
import dataclasses
import math
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from isaaclab_mirror.conversion import ConversionOptions
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.options import ReadOptions, WriteOptions
from isaaclab_mirror.physics.options import LoweringOptions

GROUPS: dict[str, type[ReadOptions] | type[LoweringOptions] | type[WriteOptions]] = {
    "read": ReadOptions,
    "lowering": LoweringOptions,
    "write": WriteOptions,
}
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def conversion_options(args: argparse.Namespace) -> ConversionOptions:
    """The options that a command line asks for: the file first, `--set` over it, the named arguments over both."""
    given: dict[str, object] = {}
    if getattr(args, "options", None) is not None:
        given |= _from_toml(args.options)
    for assignment in getattr(args, "set", ()):
        key, value = _pair(assignment, "--set")
        _check_key(key, "--set")
        given[key] = value
    if args.prim is not None:
        given["prim"] = args.prim
    if args.variant:
        before = given.get("variants")
        chosen = dict(_pair(assignment, "--variant") for assignment in args.variant)
        given["variants"] = {**typing.cast("Mapping[str, str]", before), **chosen} if before else chosen
    for flag in ("scene", "strict", "cooked"):
        if getattr(args, flag, False):
            given[flag] = True
    strict = _value(bool, given.pop("strict", False), "strict")
    groups = {name: group(**_fields_of(group, given)) for name, group in GROUPS.items()}
    return ConversionOptions(**groups, strict=strict)  # pyright: ignore[reportArgumentType]


def take_settings(args: argparse.Namespace) -> dict[str, typing.Any]:
    """The simulators' settings among `--set`, by their names; the rest stays for `conversion_options`."""
    from isaaclab_mirror.sims.settings import SimSettings

    own = {"provenance", "ground", "mujoco_options"}
    hints = {name: hint for name, hint in typing.get_type_hints(SimSettings).items() if name not in own}
    taken: dict[str, typing.Any] = {}
    left: list[str] = []
    for assignment in args.set:
        key, value = _pair(assignment, "--set")
        if key not in hints:
            left.append(assignment)
        elif key == "gravity":
            taken[key] = tuple(_value(float, part, key) for part in value.split(","))
        else:
            taken[key] = _value(hints[key], value, key)
    args.set = left
    return taken


def _fields_of(group: type, given: Mapping[str, object]) -> dict[str, typing.Any]:
    hints = typing.get_type_hints(group)
    return {key: _value(hints[key], value, key) for key, value in given.items() if key in hints}


def keys() -> list[str]:
    """Every key that `--set` and the options file take."""
    return ["strict", *(field.name for group in GROUPS.values() for field in dataclasses.fields(group))]


def _check_key(key: str, where: str) -> None:
    known = keys()
    if key in known:
        return
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(known)}"
    raise InputError("E090", where, f"there is no option {key!r}", hint)


def _pair(assignment: str, argument: str) -> tuple[str, str]:
    key, equals, value = assignment.partition("=")
    if not equals or not key:
        raise InputError("E091", argument, f"{assignment!r} is no assignment", f"write {argument} NAME=VALUE")
    return key.strip(), value.strip()


def _from_toml(file: Path) -> dict[str, object]:
    """The keys of an options file, flat or under [read], [lowering] and [write]."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError("E092", file, f"the options file cannot be read: {reason}", "check the path") from error
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError("E092", file, f"the options file is no TOML: {error}", "write lines as key = value") from error
    flat: dict[str, object] = {}
    for key, value in content.items():
        flat |= value if key in GROUPS and isinstance(value, dict) else {key: value}
    for key in flat:
        _check_key(key, file.name)
    return flat


def _value(kind: typing.Any, value: object, key: str) -> typing.Any:
    """`value` (text from the command line, or what TOML holds) as the field's own type."""
    if isinstance(kind, types.UnionType):
        kinds = [each for each in typing.get_args(kind) if each is not types.NoneType]
        return None if value in ("none", "None", "") else _value(kinds[0], value, key)
    if typing.get_origin(kind) is Mapping:
        if isinstance(value, Mapping):
            return {str(k): str(v) for k, v in typing.cast("Mapping[object, object]", value).items()}
        return dict(_pair(each, key) for each in str(value).split(","))
    if kind is bool:
        return _truth(value, key)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _choice(kind, value, key)
    try:
        result = kind(value)
        if isinstance(value, bool) or (isinstance(result, float) and not math.isfinite(result)):
            raise ValueError(value)
    except (TypeError, ValueError) as error:
        raise InputError("E091", key, f"{value!r} is no {_KINDS[kind]}", f"give {key} a {_KINDS[kind]}") from error
    return result


_KINDS: dict[typing.Any, str] = {int: "whole number", float: "number", str: "text"}


def _truth(value: object, key: str) -> bool:
    text = str(value).lower()
    if text not in TRUE + FALSE:
        raise InputError("E091", key, f"{value!r} is neither true nor false", f"write {key}=true or {key}=false")
    return text in TRUE


def _choice(kind: type[StrEnum], value: object, key: str) -> StrEnum:
    choices: Iterable[str] = [member.value for member in kind]
    if value not in choices:
        raise InputError("E091", key, f"{value!r} is not one of {', '.join(choices)}", "choose one of them")
    return kind(str(value))
