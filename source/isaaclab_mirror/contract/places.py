"""Sources that number a robot's joints instead of naming them: places become names once a robot file is known.

Until then the policy's joints are called `#0`, `#1`, … in the policy's order, and `RobotSpec.joint_places` says where
each stands in the depth-first order of the robot's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from isaaclab_mirror.contract.contract import Contract, Order, OrderSource
from isaaclab_mirror.contract.orders import depth_first_orders, physx_orders
from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.robot.model import Robot


def place(k: int) -> str:
    """What the policy's joint number k is called until a robot is known."""
    return f"#{k}"


def name_places(contract: Contract, robot: Robot, found: Diagnostics) -> Contract:
    """The contract with the robot's names for its places; as it is where it names joints.

    Where the policy's order then is PhysX's own on this robot, the numbering is confirmed.
    """
    places = contract.robot.joint_places
    if not places:
        return contract
    file_joints = depth_first_orders(robot).joints
    where = contract.source.files[0].name if contract.source.files else contract.name
    if max(places) >= len(file_joints) or len(places) != len(file_joints):
        raise InputError(
            "E101",
            f"{where}: joint order",
            f"the config numbers {len(places)} joints, the robot's file has {len(file_joints)}",
            "give the robot file of the training with --robot",
        )
    names = {place(k): file_joints[at] for k, at in enumerate(places)}
    order = tuple(names[place(k)] for k in range(len(places)))
    said = "the config numbers joints without naming them: numbers are taken as the robot file's depth-first order"
    if places != tuple(range(len(places))) and order == physx_orders(robot).joints:
        found.info(
            "E105", f"{where}: joint order", f"{said}, and so the policy's is PhysX's own order, as it should be"
        )
    else:
        hint = "check the order that `contract` prints against the motors' order"
        found.warn("E105", f"{where}: joint order", said, hint)
    spec = contract.robot
    return replace(
        contract,
        robot=replace(
            spec,
            joint_places=(),
            joint_pos_patterns=_renamed(spec.joint_pos_patterns, names),
            joint_vel_patterns=_renamed(spec.joint_vel_patterns, names),
        ),
        joints=Order(
            names=order,
            source=OrderSource.RECORDING if contract.joints.source is OrderSource.RECORDING else OrderSource.GUESS,
            note=contract.joints.note,
        ),
        actuators=tuple(
            replace(
                group,
                joint_patterns=tuple(names.get(p, p) for p in group.joint_patterns),
                config=_renamed(group.config, names),
            )
            for group in contract.actuators
        ),
        actions=tuple(
            replace(
                term,
                joint_patterns=tuple(names.get(p, p) for p in term.joint_patterns),
                params=_renamed(term.params, names),
            )
            for term in contract.actions
        ),
    )


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {names.get(key, key): _renamed(inner, names) for key, inner in cast(Mapping[str, Any], value).items()}
    if isinstance(value, tuple):
        return tuple(_renamed(item, names) for item in cast(tuple[Any, ...], value))
    return names.get(value, value) if isinstance(value, str) else value
