"""Names and patterns, by Isaac Lab's rules: full match, articulation order unless told otherwise, nothing ambiguous."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

from isaaclab_mirror.diagnostics import InputError

T = TypeVar("T")


def match_names(
    patterns: str | Sequence[str], names: Sequence[str], where: str, *, preserve_order: bool = False
) -> tuple[str, ...]:
    """The names that the patterns match, in the order of `names`; with `preserve_order`, pattern by pattern.

    A pattern without a match and a name matched by two patterns are refused, as Isaac Lab does.
    """
    asked = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    owner: dict[str, str] = {}
    found: list[str] = []
    for pattern in asked:
        hits = [name for name in names if _matches(pattern, name, where)]
        if not hits:
            raise no_match(pattern, names, where)
        for name in hits:
            if name in owner and owner[name] != pattern:
                raise InputError("E102", where, f"{name!r} is matched by both {owner[name]!r} and {pattern!r}")
            owner[name] = pattern
        found += [name for name in hits if name not in found]
    return tuple(found) if preserve_order else tuple(name for name in names if name in owner)


def match_values(values: Mapping[str, T], names: Sequence[str], where: str) -> dict[str, T]:
    """name → value of the pattern that matches it; names that none matches are absent.

    A pattern without a match and a name matched by two patterns are refused, as Isaac Lab does.
    """
    owner: dict[str, str] = {}
    result: dict[str, T] = {}
    for pattern, value in values.items():
        hits = [name for name in names if _matches(pattern, name, where)]
        if not hits:
            raise no_match(pattern, names, where)
        for name in hits:
            if name in owner:
                raise InputError("E102", where, f"{name!r} is matched by both {owner[name]!r} and {pattern!r}")
            owner[name], result[name] = pattern, value
    return result


def no_match(pattern: str, names: Sequence[str], where: str) -> InputError:
    """What to say of a name or pattern that the robot does not have."""
    near = get_close_matches(pattern.replace(".*", ""), names, 1, 0.5)
    listing = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
    hint = f"did you mean {near[0]!r}? The robot has {listing}" if near else f"the robot has {listing or 'none'}"
    return InputError("E101", where, f"nothing in the robot matches {pattern!r}", hint)


def _matches(pattern: str, name: str, where: str) -> bool:
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error as error:
        raise InputError("E102", where, f"{pattern!r} is no pattern: {error}") from None
