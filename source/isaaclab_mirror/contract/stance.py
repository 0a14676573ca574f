"""How high a robot must start so that it stands on the ground and not in it: for configs that have no start."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from isaaclab_mirror.physics.dynamics import link_poses
from isaaclab_mirror.robot.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geom,
    MeshShape,
    Sphere,
)
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose, Vec3, quat_conjugate, rotate

DOWN: Vec3 = (0.0, 0.0, -1.0)


def standing_height(robot: Robot, positions: Mapping[str, float]) -> float | None:
    """Height of the root link [m] at which the lowest collider touches z = 0, root upright; None without colliders."""
    poses = link_poses(robot, positions)
    root = poses[robot.links[0].name]
    lowest = [
        (root.inverse() @ poses[geom.link] @ geom.pose).pos[2] - reach
        for geom in robot.geoms
        if geom.collision is not None and geom.link in poses
        for reach in _reaches(robot, geom, root.inverse() @ poses[geom.link] @ geom.pose)
    ]
    return -min(lowest) if lowest else None


def _reaches(robot: Robot, geom: Geom, pose: Pose) -> Iterator[float]:
    """How far the shape reaches below its own origin [m]."""
    x, y, z = rotate(quat_conjugate(pose.quat_wxyz), DOWN)
    shape = geom.shape
    if isinstance(shape, Sphere):
        yield shape.radius_m
    elif isinstance(shape, Capsule):
        yield shape.radius_m + shape.half_length_m * abs(z)
    elif isinstance(shape, Box):
        a, b, c = shape.half_extents_m
        yield a * abs(x) + b * abs(y) + c * abs(z)
    elif isinstance(shape, Cylinder | Cone):
        yield shape.radius_m * math.hypot(x, y) + shape.half_length_m * abs(z)
    elif isinstance(shape, Ellipsoid):
        yield math.hypot(*(r * d for r, d in zip(shape.radii_m, (x, y, z), strict=True)))
    elif isinstance(shape, MeshShape):
        points = robot.mesh(shape.mesh).vertices_m
        if len(points):
            yield float((points @ (x, y, z)).max())
