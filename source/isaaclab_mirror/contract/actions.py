"""An action term's joints and numbers, by Isaac Lab's rules for each class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from isaaclab_mirror.contract.actuators import joint_values
from isaaclab_mirror.contract.contract import ActionTerm, Contract, RobotSpec
from isaaclab_mirror.contract.matching import match_names, match_values
from isaaclab_mirror.contract.node import as_number
from isaaclab_mirror.diagnostics import InputError

POSITION = ("JointPositionAction", "RelativeJointPositionAction", "AbsBinaryJointPositionAction")
TO_LIMITS = ("JointPositionToLimitsAction", "EMAJointPositionToLimitsAction")
PER_JOINT = (*POSITION[:2], "JointVelocityAction", "JointEffortAction", *TO_LIMITS)
"""Classes whose values are one per joint, each with scale, offset and clip."""
BINARY = ("BinaryJointPositionAction", "BinaryJointVelocityAction", "AbsBinaryJointPositionAction")


def resolve_action(
    term: ActionTerm, contract: Contract, robot: RobotSpec, names: tuple[str, ...], where: str
) -> ActionTerm:
    """The term with its joints, and with scale, offset and clip per joint where its class has them."""
    at = f"{where}:actions.{term.name}"
    if term.asset != robot.name or not term.joint_patterns:
        return term
    joints = match_names(
        term.joint_patterns, names, f"{at}.joint_names", preserve_order=_ordered(term, contract, names, at)
    )
    if term.kind not in PER_JOINT:
        return replace(term, joints=joints, size=1 if term.kind in BINARY else term.size)
    return replace(
        term,
        joints=joints,
        scale=_values(term.params.get("scale"), joints, f"{at}.scale", 1.0),
        offset=_offset(term, robot, joints, at),
        clip=_clip(term.params.get("clip"), joints, f"{at}.clip"),
        size=len(joints),
    )


def _ordered(term: ActionTerm, contract: Contract, names: tuple[str, ...], at: str) -> bool:
    """`preserve_order`; until 2.x the to-limits classes forgot it where all joints are listed."""
    if term.kind in TO_LIMITS and contract.source.version in ("1.x", "2.x") and term.preserve_order:
        return len(match_names(term.joint_patterns, names, f"{at}.joint_names")) != len(names)
    return term.preserve_order


def _values(value: Any, joints: tuple[str, ...], where: str, default: float) -> tuple[float, ...]:
    return (default,) * len(joints) if value is None else joint_values(value, joints, where, default)


def _offset(term: ActionTerm, robot: RobotSpec, joints: tuple[str, ...], at: str) -> tuple[float, ...]:
    """The default pose (or velocity) where asked for; Isaac Lab's relative and to-limits classes have none of it."""
    if term.use_default_offset and term.kind == "JointVelocityAction":
        return tuple(robot.default_joint_vel[name] for name in joints)
    if term.use_default_offset and term.kind == "JointPositionAction":
        return tuple(robot.default_joint_pos[name] for name in joints)
    if term.kind in TO_LIMITS or (
        term.kind == "RelativeJointPositionAction" and term.params.get("use_zero_offset", True)
    ):
        return (0.0,) * len(joints)
    return _values(term.params.get("offset"), joints, f"{at}.offset", 0.0)


def _clip(value: Any, joints: tuple[str, ...], where: str) -> tuple[tuple[float, float], ...]:
    """By pattern, or (sources that number joints) one pair each; joints that none matches are free."""
    if not value:
        return ()
    free = (-math.inf, math.inf)
    if isinstance(value, Mapping):
        pairs = {key: _pair(pair, f"{where}.{key}") for key, pair in cast(Mapping[str, Any], value).items()}
        found = match_values(pairs, joints, where)
        return tuple(found.get(joint, free) for joint in joints)
    items = cast(tuple[Any, ...], value) if isinstance(value, tuple) else ()
    if len(items) == len(joints) and all(isinstance(item, tuple) for item in items):
        return tuple(_pair(item, where) for item in items)
    return (_pair(value, where),) * len(joints)


def _pair(value: Any, where: str) -> tuple[float, float]:
    numbers = [as_number(item) for item in cast(tuple[Any, ...], value)] if isinstance(value, tuple) else []
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None or not numbers[0] <= numbers[1]:
        raise InputError("E104", where, f"{value!r} are not two numbers, the lower first")
    return numbers[0], numbers[1]
