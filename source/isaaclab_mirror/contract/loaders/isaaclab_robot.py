"""How an env.yaml says the robot: its asset, what the spawner changes in it, its start, and its actuator groups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

from isaaclab_mirror.contract.contract import ActuatorGroup, ActuatorKind, RobotSpec, bare_name
from isaaclab_mirror.contract.loaders.isaaclab_world import reference_of
from isaaclab_mirror.contract.node import Node, as_number
from isaaclab_mirror.diagnostics import Diagnostics

FOREIGN = ("newton", "mjc")
"""Namespaces of properties that other engines read."""


def robot_key(top: Node) -> str:
    """Key of the robot in the scene: `robot`, else what the actions move, else the first articulation."""
    scene = top.need("scene")
    articulations = [name for name, entry in scene.children() if "actuators" in entry.data]
    if "robot" in articulations:
        return "robot"
    acting = [entry.name_of("asset_name") for _, entry in top.child("actions").children()]
    for name in (*acting, *articulations):
        if name in articulations:
            return name
    raise scene.error("robot", "there is no articulation with actuators in the scene")


def read_robot(node: Node, name: str, order: str, version: str, found: Diagnostics) -> RobotSpec:
    """The robot of the scene, joints by pattern."""
    spawn, start = node.child("spawn"), node.child("init_state")
    rigid = physx_props(spawn, "rigid_props")
    articulation = physx_props(spawn, "articulation_props")
    collision = physx_props(spawn, "collision_props")
    if isinstance(spawn.raw("assets_cfg"), tuple):
        found.warn("E110", spawn.where("assets_cfg"), "several assets, one per environment: the first is taken")
    fix = spawn.optional_flag("fix_root_link")
    if fix is None:
        fix = articulation.optional_flag("fix_root_link")
    if fix is None:
        fix = spawn.optional_flag("fix_base")  # URDF and MJCF converters
    speed = rigid.optional_number("max_angular_velocity")
    return RobotSpec(
        name=name,
        reference=reference_of(spawn),
        prim=node.raw("articulation_root_prim_path"),
        variants={key: str(value) for key, value in spawn.child("variants").data.items()},
        scale=_scale(spawn),
        fix_base=fix,
        pos=start.vector("pos", (0.0, 0.0, 0.0)),
        quat_wxyz=start.quat("rot", order),
        lin_vel=start.vector("lin_vel", (0.0, 0.0, 0.0)),
        ang_vel=start.vector("ang_vel", (0.0, 0.0, 0.0)),
        joint_pos_patterns=start.by_pattern("joint_pos"),
        joint_vel_patterns=start.by_pattern("joint_vel"),
        joint_ordering=node.names("joint_ordering"),
        body_ordering=node.names("body_ordering"),
        soft_joint_pos_limit_factor=node.number("soft_joint_pos_limit_factor", 1.0),
        position_iterations=_count(articulation, rigid, "solver_position_iteration_count"),
        velocity_iterations=_count(articulation, rigid, "solver_velocity_iteration_count"),
        self_collisions=articulation.optional_flag("enabled_self_collisions"),
        disable_gravity=rigid.optional_flag("disable_gravity"),
        linear_damping=rigid.optional_number("linear_damping"),
        angular_damping=rigid.optional_number("angular_damping"),
        max_linear_velocity=rigid.optional_number("max_linear_velocity"),
        max_angular_velocity=None if speed is None else math.radians(speed),
        max_depenetration_velocity=rigid.optional_number("max_depenetration_velocity"),
        contact_offset=collision.optional_number("contact_offset"),
        rest_offset=collision.optional_number("rest_offset"),
        spawn=spawn.data,
    )


def physx_props(spawn: Node, key: str) -> Node:
    """What the spawner sets for PhysX: one mapping, or (3.x) several, one per schema, other engines' left out."""
    value = spawn.raw(key)
    merged: dict[str, Any] = {}
    parts: tuple[Any, ...] = cast(tuple[Any, ...], value) if isinstance(value, tuple) else (value,)
    for part in parts:
        if isinstance(part, Mapping):
            fields = cast(Mapping[str, Any], part)
            if fields.get("_usd_namespace") not in FOREIGN:
                merged.update({k: v for k, v in fields.items() if v is not None})
    path = f"{spawn.path}.{key}"
    return Node(merged, spawn.file, path)


def _count(articulation: Node, rigid: Node, key: str) -> int | None:
    """The articulation's own count; else PhysX takes the largest of its links'."""
    for node in (articulation, rigid):
        if key in node:
            return node.whole(key)
    return None


def _scale(spawn: Node) -> tuple[float, float, float] | None:
    if "scale" not in spawn:
        return None
    x, y, z = spawn.numbers("scale", 3)
    return (x, y, z)


def read_actuators(node: Node, found: Diagnostics) -> tuple[ActuatorGroup, ...]:
    """The actuator groups, gains still by pattern in their config."""
    return tuple(_group(name, group) for name, group in node.need("actuators").children())


def _group(name: str, node: Node) -> ActuatorGroup:
    bare = bare_name(node.name_of("class_type"))
    kind = next((k for k in ActuatorKind if k.value == bare), ActuatorKind.OTHER)
    patterns = node.names("joint_names_expr")
    if not patterns and kind is not ActuatorKind.THRUSTER:
        raise node.wrong("joint_names_expr", "a list of joint names or patterns")
    for key in ("stiffness", "damping", "armature", "friction"):
        if isinstance(node.raw(key), Mapping):
            node.by_pattern(key)
        else:
            node.optional_number(key)
    return ActuatorGroup(
        name=name,
        kind=kind,
        class_type=node.name_of("class_type"),
        joint_patterns=patterns,
        min_delay=node.whole("min_delay", 0),
        max_delay=node.whole("max_delay", 0),
        lookup=_lookup(node),
        network_file=node.text("network_file", ""),
        pos_scale=node.number("pos_scale", 1.0),
        vel_scale=node.number("vel_scale", 1.0),
        torque_scale=node.number("torque_scale", 1.0),
        input_order=node.text("input_order", "pos_vel"),
        input_idx=tuple(int(k) for k in node.numbers("input_idx")) if "input_idx" in node else (),
        config=node.data,
    )


def _lookup(node: Node) -> tuple[tuple[float, ...], ...]:
    rows = node.raw("joint_parameter_lookup")
    if rows is None:
        return ()
    wanted = "rows of three numbers: angle, ratio, largest torque"
    if not isinstance(rows, tuple):
        raise node.wrong("joint_parameter_lookup", wanted)
    result: list[tuple[float, ...]] = []
    for row in cast(tuple[Any, ...], rows):
        numbers = [as_number(x) for x in cast(tuple[Any, ...], row)] if isinstance(row, tuple) else []
        if len(numbers) != 3 or any(x is None for x in numbers):
            raise node.wrong("joint_parameter_lookup", wanted)
        result.append(tuple(x for x in numbers if x is not None))
    return tuple(result)
