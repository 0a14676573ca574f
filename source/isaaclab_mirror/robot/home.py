"""Where a robot starts when nobody says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from isaaclab_mirror.robot.joints import Axis, AxisKind, JointType
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose


def axis_names(axis: Axis) -> tuple[str, ...]:
    """Names of an axis's coordinates: its own, or `name:0` … of a ball."""
    return (axis.name,) if axis.dofs == 1 else tuple(f"{axis.name}:{k}" for k in range(axis.dofs))


def is_floating(robot: Robot) -> bool:
    """Whether the root link moves freely."""
    root = robot.joints[0]
    return root.type is JointType.FLOATING and not robot.link(root.child).kinematic


def home_pose(robot: Robot) -> Pose:
    """Where the root link starts: the keyframe `home` of a floating base, else where the source puts it."""
    raw = _home_keyframe(robot)
    if raw is not None and is_floating(robot):
        return Pose((raw[0], raw[1], raw[2]), (raw[3], raw[4], raw[5], raw[6]))
    return robot.joints[0].origin


def home_positions(robot: Robot) -> dict[str, float]:
    """Where every joint starts [rad or m]: the keyframe `home`, else the source's, in its limits."""
    raw = _home_keyframe(robot)
    place = 0
    result: dict[str, float] = {}
    for joint in robot.joints:
        place += 7 if joint.type is JointType.FLOATING else 0
        for axis in joint.axes:
            if axis.kind is AxisKind.BALL:
                result.update(dict.fromkeys(axis_names(axis), 0.0))
                place += 4
                continue
            result[axis.name] = _start(axis) if raw is None else raw[place]
            place += 1
    return result


def with_start(robot: Robot, positions: Mapping[str, float]) -> Robot:
    """The robot starting with those joint positions [rad or m]; the others keep theirs."""
    stand = {**home_positions(robot), **positions}
    joints = [
        replace(joint, axes=tuple(replace(axis, initial_position=stand.get(axis.name)) for axis in joint.axes))
        for joint in robot.joints
    ]
    keys = tuple(key for key in robot.keyframes if key.name != "home")
    return replace(robot, joints=tuple(joints), keyframes=keys)


def _start(axis: Axis) -> float:
    """The authored position or zero, moved into the limits: PhysX throws what starts outside them."""
    reference = axis.mujoco.get("ref", 0.0)
    start = float(reference) if isinstance(reference, int | float) else 0.0
    if axis.initial_position is not None:
        start = axis.initial_position
    limits = axis.limits
    if limits.lower is not None and limits.upper is not None:
        return min(max(start, limits.lower), limits.upper)
    return start


def _home_keyframe(robot: Robot) -> tuple[float, ...] | None:
    """Raw positions of a keyframe `home` that fits."""
    size = sum(7 if j.type is JointType.FLOATING else 0 for j in robot.joints)
    size += sum(4 if axis.kind is AxisKind.BALL else 1 for axis in robot.axes())
    for key in robot.keyframes:
        raw = key.mujoco.get("qpos", ())
        if key.name == "home" and len(raw) == size:
            return raw
    return None
