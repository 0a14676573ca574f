"""Which joint of a robot file a policy's joint name means: files of one robot differ by a suffix (`_joint`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from isaaclab_mirror.contract.matching import no_match
from isaaclab_mirror.diagnostics import Diagnostics

SUFFIX = "_joint"


def _strip(name: str) -> str:
    return name.removesuffix(SUFFIX)


def _append(name: str) -> str:
    return name if name.endswith(SUFFIX) else name + SUFFIX


def _plain(name: str) -> str:
    """Without the number that importers add where a link has the joint's name (`torso_1`)."""
    return re.sub(r"_\d+$", "", name)


SPELLINGS: tuple[Callable[[str], str], ...] = (lambda name: name, _strip, _append, _plain)
"""How a policy may spell a file's joint, the plainest first."""


def aliases_of_names(names: Sequence[str], file_names: Sequence[str], where: str, found: Diagnostics) -> dict[str, str]:
    """Policy name → file name, for names that the policy's source states; empty where all are equal."""
    for spell in SPELLINGS:
        spelled = {spell(name): name for name in file_names}
        if len(spelled) == len(file_names) and all(name in spelled for name in names):
            return _said({name: spelled[name] for name in names}, where, found)
    known = {spell(name) for spell in SPELLINGS for name in file_names}
    missing = next((name for name in names if name not in known), names[0] if names else "")
    raise no_match(missing, file_names, where)


def aliases_of_patterns(
    patterns: Iterable[str], file_names: Sequence[str], where: str, found: Diagnostics
) -> dict[str, str]:
    """Policy name → file name, for a source with patterns alone: the first spelling under which all match."""
    wanted = tuple(patterns)
    for spell in SPELLINGS:
        spelled = [spell(name) for name in file_names]
        if len(set(spelled)) == len(spelled) and all(_matches_one(pattern, spelled) for pattern in wanted):
            return _said(dict(zip(spelled, file_names, strict=True)), where, found)
    return {}  # whoever matches the patterns says which one finds nothing


def policy_names(file_names: Iterable[str], aliases: Mapping[str, str]) -> tuple[str, ...]:
    """The file's joints as the policy calls them."""
    called = {file: policy for policy, file in aliases.items()}
    return tuple(called.get(name, name) for name in file_names)


def _matches_one(pattern: str, names: Sequence[str]) -> bool:
    try:
        compiled = re.compile(pattern)
    except re.error:
        return True  # refused with its own message where it is used
    return any(compiled.fullmatch(name) for name in names)


def _said(aliases: dict[str, str], where: str, found: Diagnostics) -> dict[str, str]:
    different = {policy: file for policy, file in aliases.items() if policy != file}
    if different:
        policy, file = next(iter(different.items()))
        found.warn(
            "E106",
            where,
            f"{len(different)} joints are called differently in the robot's file: {policy!r} is taken to be {file!r}",
            "give a robot file with the names of the training if they are not the same joints",
        )
    return different
