"""The robot that a simulator runs: from a file or a model, its canonical names, its own start, its drives."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.physics.dynamics import effective_inertias
from isaaclab_mirror.robot.constraints import CollisionFilter
from isaaclab_mirror.robot.drives import Drive, DriveType, Transmission
from isaaclab_mirror.robot.home import axis_names, home_pose, home_positions, is_floating
from isaaclab_mirror.robot.joints import Axis, AxisKind, JointType
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = [
    "LOCKED",
    "UNTOUCHABLE",
    "DriveTable",
    "axis_names",
    "drive_of",
    "drive_table",
    "home_pose",
    "home_positions",
    "is_floating",
    "joint_limits",
    "joint_names",
    "load_robot",
    "locked",
    "with_gains",
]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DriveTable:
    """The drives' numbers per joint, canonical order: (joints,) each."""

    stiffness: Array
    """[N·m/rad or N/m]"""
    damping: Array
    """[N·m·s/rad or N·s/m]"""
    effort_limit: Array
    """[N·m or N]; inf where there is none."""
    inertia: Array
    """What the gains are multiplied by: 1, or the effective inertia at zero of an acceleration drive."""


def load_robot(source: Robot | str | Path, read: ReadOptions | None = None, base_pose: Pose | None = None) -> Robot:
    """A robot model from a model or a convertible file; `base_pose` puts its root link there."""
    if isinstance(source, Robot):
        robot = source
    else:
        from isaaclab_mirror.conversion import inspect_robot

        robot, _, _ = inspect_robot(source, read)
    if not robot.links:
        raise InputError("E013", str(robot.source or robot.name), "there is no link to simulate")
    if base_pose is not None:
        first = robot.joints[0]
        robot = replace(robot, joints=(replace(first, origin=base_pose), *robot.joints[1:]))
    return robot


def joint_names(robot: Robot) -> tuple[str, ...]:
    """Canonical order: the robot model's, depth first."""
    return tuple(name for axis in robot.axes() for name in axis_names(axis))


def drive_of(robot: Robot, axis: Axis) -> Drive | None:
    """The drive of a one-DOF axis: its own, or what a joint actuator of MuJoCo's amounts to."""
    if axis.kind is AxisKind.BALL:
        return None
    actuator = next(
        (a for a in robot.actuators if a.target == axis.name and a.transmission is Transmission.JOINT), None
    )
    own = axis.drives[0] if axis.drives else None
    if actuator is None or (own is not None and robot.dialect != "mujoco"):
        return None if own is None or own.is_dead else own
    gear = actuator.gear[0]
    affine = actuator.bias_type == "affine"
    bias = [*actuator.bias, 0.0, 0.0, 0.0]
    bounds = actuator.force_range
    limit = None if bounds is None else max(abs(b) for b in bounds) * abs(gear)
    if not affine and actuator.control_range is not None and actuator.dyn_type == "none":
        span = max(abs(c) for c in actuator.control_range) * abs(gear * actuator.gain[0])
        limit = span if limit is None else min(limit, span)
    return Drive(
        stiffness=-bias[1] * gear * gear if affine else 0.0,
        damping=-bias[2] * gear * gear if affine else 0.0,
        max_effort=limit,
    )


def drive_table(robot: Robot) -> DriveTable:
    """Gains and bounds of all joints; zero and inf where nothing drives."""
    import numpy as np

    count = len(joint_names(robot))
    kp, kd, limit, inertia = np.zeros(count), np.zeros(count), np.full(count, np.inf), np.ones(count)
    effective: Mapping[str, float] | None = None
    place = 0
    for axis in robot.axes():
        drive = drive_of(robot, axis)
        if drive is not None:
            kp[place], kd[place] = drive.stiffness, drive.damping
            limit[place] = np.inf if drive.max_effort is None else drive.max_effort
            if drive.type is DriveType.ACCELERATION:
                effective = effective_inertias(robot) if effective is None else effective
                inertia[place] = effective.get(axis.name, 1.0)
        place += axis.dofs
    return DriveTable(stiffness=kp, damping=kd, effort_limit=limit, inertia=inertia)


def with_gains(robot: Robot, stiffness: Mapping[str, float], damping: Mapping[str, float]) -> Robot:
    """The robot with those gains on its joints' drives, and no actuators but the drives."""
    joints = []
    for joint in robot.joints:
        axes = []
        for axis in joint.axes:
            drive = drive_of(robot, axis) or Drive(stiffness=0.0, damping=0.0)
            if axis.name in stiffness:
                drive = replace(drive, stiffness=stiffness[axis.name], damping=damping[axis.name])
                axes.append(replace(axis, drives=(drive,)))
            else:
                axes.append(axis)
        joints.append(replace(joint, axes=tuple(axes)))
    return replace(robot, joints=tuple(joints), actuators=())


LOCKED = "isaaclab_mirror:locked"
"""In a joint's extras: the prims of the axes that `locked` took from it."""


def locked(robot: Robot, free: Collection[str]) -> Robot:
    """The robot with every joint rigid at zero but those named, and nothing touching: PhysX is told so too."""
    joints = [
        replace(
            joint,
            type=JointType.FIXED,
            axes=(),
            extras={**joint.extras, LOCKED: tuple(a.source.where for a in joint.axes if a.source is not None)},
        )
        if joint.axes and not any(axis.name in free for axis in joint.axes)
        else joint
        for joint in robot.joints
    ]
    kept = {axis.name for joint in joints for axis in joint.axes}
    return replace(
        untouchable(robot),
        joints=tuple(joints),
        actuators=tuple(a for a in robot.actuators if a.target in kept),
        mimics=(),
        tendons=(),
        keyframes=(),
        sensors=(),
    )


UNTOUCHABLE = "isaaclab_mirror:untouchable"
"""In a robot's extras: nothing in its stage collides."""


def untouchable(robot: Robot) -> Robot:
    """The robot with nothing touching: PhysX is told so too. Links whose mass only their geoms tell lose it."""
    return replace(
        robot,
        geoms=tuple(replace(geom, collision=None) for geom in robot.geoms),
        collision_filter=CollisionFilter(),
        extras={**robot.extras, UNTOUCHABLE: True},
    )


def joint_limits(robot: Robot) -> Array:
    """Lower and upper bound [rad or m], (joints, 2); ±inf where there is none."""
    import numpy as np

    rows: list[tuple[float, float]] = []
    for axis in robot.axes():
        low, high = axis.limits.lower, axis.limits.upper
        bounded = axis.kind is not AxisKind.BALL and low is not None and high is not None
        row = (float(low), float(high)) if bounded and low is not None and high is not None else (-np.inf, np.inf)
        rows += [row] * axis.dofs
    return np.array(rows, dtype=float).reshape(-1, 2)
