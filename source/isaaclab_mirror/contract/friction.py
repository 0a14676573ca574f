"""Friction that the task gives the robot when it starts: the event `randomize_rigid_body_material`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from isaaclab_mirror.contract.contract import Contract, Term
from isaaclab_mirror.contract.matching import match_names
from isaaclab_mirror.contract.node import as_number
from isaaclab_mirror.diagnostics import InputError

EVENT = "randomize_rigid_body_material"
RANGES = ("static_friction_range", "dynamic_friction_range", "restitution_range")


def startup_frictions(contract: Contract, links: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """Link → static friction, dynamic friction, restitution: what the event sets, the middle where it draws.

    The combine modes stay those of the material that the collider had.
    """
    result: dict[str, tuple[float, float, float]] = {}
    for term in contract.events:
        if term.func_name != EVENT or term.mode not in ("startup", "prestartup", "reset"):
            continue
        entity = term.params.get("asset_cfg")
        config: Mapping[str, Any] = cast(Mapping[str, Any], entity) if isinstance(entity, Mapping) else {}
        if config.get("name", contract.robot.name) != contract.robot.name:
            continue
        numbers = _middles(term)
        for link in _links(config.get("body_names"), links, term):
            result[link] = numbers
    return result


def _links(names: Any, links: Sequence[str], term: Term) -> Sequence[str]:
    if names is None:
        return links
    where = f"events.{term.name}.params.asset_cfg.body_names"
    asked: tuple[Any, ...] = cast(tuple[Any, ...], names) if isinstance(names, tuple) else (names,)
    if not all(isinstance(name, str) for name in asked):
        raise InputError("E104", where, f"{names!r} are not names")
    if ".*" in asked:
        return links
    try:
        return match_names(asked, links, where)
    except InputError:
        return ()  # bodies of the training asset that this file calls differently: their friction stays


def _middles(term: Term) -> tuple[float, float, float]:
    values: list[float] = []
    for key in RANGES:
        pair = term.params.get(key)
        numbers = [as_number(x) for x in cast(tuple[Any, ...], pair)] if isinstance(pair, tuple) else []
        if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
            raise InputError("E104", f"events.{term.name}.params.{key}", f"{pair!r} are not two numbers")
        values.append((numbers[0] + numbers[1]) / 2.0)
    static, dynamic, restitution = values
    if term.params.get("make_consistent"):
        dynamic = min(dynamic, static)
    return static, dynamic, restitution
