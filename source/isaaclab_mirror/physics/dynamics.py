"""Poses and the joint-space mass matrix of a robot: what laws need that depend on inertia."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.robot.joints import Axis, AxisKind, JointType
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose, Vec3, quat_from_axis_angle, rotate

if TYPE_CHECKING:
    from numpy.typing import NDArray


def moved(pose: Pose, axis: Axis, position: float) -> Pose:
    """A link's frame after one of its hinges or slides has moved [rad or m]."""
    if position == 0.0 or axis.kind is AxisKind.BALL:
        return pose
    if axis.kind is AxisKind.SLIDE:
        x, y, z = axis.axis
        return pose @ Pose((position * x, position * y, position * z))
    anchor: Vec3 = axis.anchor_m
    turn = Pose((0.0, 0.0, 0.0), quat_from_axis_angle(axis.axis, position))
    return pose @ Pose(anchor) @ turn @ Pose((-anchor[0], -anchor[1], -anchor[2]))


def link_poses(robot: Robot, positions: Mapping[str, float]) -> dict[str, Pose]:
    """Every link's frame in the world, the root where the source puts it; joints not named stand at zero."""
    poses: dict[str, Pose] = {}
    for joint in robot.joints:
        pose = (poses[joint.parent] if joint.parent is not None else Pose()) @ joint.origin
        for axis in joint.axes:
            pose = moved(pose, axis, positions.get(axis.name, 0.0))
        poses[joint.child] = pose
    return poses


def mass_matrix(robot: Robot, positions: Mapping[str, float] | None = None) -> tuple[NDArray[Any], list[str]]:
    """M at zero or where the joints stand, armature included, and the axis behind each row ("": of a floating base).

    M = Σ over links of Jᵀ·diag(m, I)·J with the Jacobian of each link's centre of mass: plain rather than fast.
    """
    import numpy as np

    stand = positions or {}
    columns: list[tuple[str, str, Any, Any]] = []  # axis name, link that it moves, direction, point (None: slide)
    poses: dict[str, Pose] = {}
    chain: dict[str, list[int]] = {}
    armature: list[float] = []
    for joint in robot.joints:
        parent = poses[joint.parent] if joint.parent is not None else Pose()
        pose = parent @ joint.origin
        rows = list(chain[joint.parent]) if joint.parent is not None else []
        if joint.type is JointType.FLOATING:
            for k in range(6):
                unit = np.eye(3)[k % 3]
                rows.append(len(columns))
                columns.append(("", joint.child, unit, None if k < 3 else np.array(pose.pos)))
                armature.append(0.0)
        for axis in joint.axes:
            anchor = np.array(pose.apply(axis.anchor_m))
            for unit in np.eye(3) if axis.kind is AxisKind.BALL else [np.array(rotate(pose.quat_wxyz, axis.axis))]:
                rows.append(len(columns))
                columns.append((axis.name, joint.child, unit, None if axis.kind is AxisKind.SLIDE else anchor))
                armature.append(axis.dynamics.armature)
            pose = moved(pose, axis, stand.get(axis.name, 0.0))
        poses[joint.child] = pose
        chain[joint.child] = rows
    matrix = np.diag(np.array(armature, dtype=float))
    for link in robot.links:
        if link.inertia is None:
            continue
        pose, rows = poses[link.name], chain[link.name]
        com = np.array(pose.apply(link.inertia.com_m))
        turn = np.array([rotate(pose.quat_wxyz, e) for e in ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0))]).T
        tensor = turn @ np.array(link.inertia.tensor()) @ turn.T
        angular = np.array([c[2] if c[3] is not None else np.zeros(3) for c in (columns[r] for r in rows)])
        linear = np.array(
            [np.cross(c[2], com - c[3]) if c[3] is not None else c[2] for c in (columns[r] for r in rows)]
        )
        if len(rows):
            block = link.inertia.mass_kg * linear @ linear.T + angular @ tensor @ angular.T
            matrix[np.ix_(rows, rows)] += block
    return matrix, [c[0] for c in columns]


def gravity_efforts(robot: Robot, positions: Mapping[str, float] | None = None) -> NDArray[Any]:
    """Efforts [N·m or N] that hold the robot against gravity, by the rows of `mass_matrix`.

    The potential's slope by central differences: exact to 1e-8 of the weight, and no second set of Jacobians. Rows of
    a floating base, of balls and of hinges that share a name are zero.
    """
    import numpy as np

    stand = dict(positions or {})
    _, names = mass_matrix(robot, stand)
    gravity = np.array(robot.scene.gravity)

    def potential() -> float:
        poses = link_poses(robot, stand)
        weighed = [link for link in robot.links if link.inertia is not None]
        return -sum(
            link.inertia.mass_kg * float(gravity @ np.array(poses[link.name].apply(link.inertia.com_m)))
            for link in weighed
            if link.inertia is not None
        )

    result = np.zeros(len(names))
    for k, name in enumerate(names):
        if not name or names.count(name) > 1:
            continue
        here = stand.get(name, 0.0)
        stand[name] = here + SLOPE
        above = potential()
        stand[name] = here - SLOPE
        result[k] = (above - potential()) / (2 * SLOPE)
        stand[name] = here
    return result


SLOPE = 1e-4
"""Step of a derivative [rad or m]."""


def effective_inertias(robot: Robot, positions: Mapping[str, float] | None = None) -> dict[str, float]:
    """1 / (M⁻¹)jj of every axis, at zero or where the joints stand [kg·m² or kg]."""
    import numpy as np

    matrix, names = mass_matrix(robot, positions)
    if not names:
        return {}
    inverse = np.linalg.pinv(matrix)
    return {name: float(1.0 / inverse[k, k]) for k, name in enumerate(names) if name and inverse[k, k] > 0}
