"""Which drives carry the ground's load, and how soft PhysX makes them."""

from __future__ import annotations

import math

from isaaclab_mirror.physics.dynamics import effective_inertias, link_poses
from isaaclab_mirror.robot.drives import Drive, DriveType
from isaaclab_mirror.robot.geometry import Box, Capsule, Compound, Cylinder, Ellipsoid, MeshShape, Shape, Sphere
from isaaclab_mirror.robot.home import home_positions, is_floating
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose, Vec3, quat_conjugate, rotate

FOOT = 0.1
"""Links that reach as low as this share of the height of the highest joint above the lowest point are feet."""
SHARE = 0.9
"""Share of the law that is used: a leg swings too, and in the air PhysX is not soft. rms mrad of ten runs (stances and
trots, N 2 to 8), geometric mean for shares 0, .75, .9, 1: 31.9, 10.6, 8.8, 11.3."""
MOST_SUBSTEPS = 8


def softening(drive: Drive, *, substep_s: float, inertia: float) -> float:
    """s ≤ 1, by which the gains of an implicit drive between base and foot are multiplied.

    PhysX solves a leg's foot after its joints, once per iteration, so that at rest a joint sags by
        kp·e = τ·(1 + a·(M⁻¹)jj),  a = h (h·kp + kd)
    and a coupled solver must be told s = 1/(1 + a·(M⁻¹)jj). `inertia` is 1/(M⁻¹)jj at the start pose.

    Measured of the whole law (calf of a quadruped, kp 60 kd 2, sag in mrad at N = 1, 2, 4, 8, 16, 32): PhysX 314 213
    153 124 109 102, law 351 215 153 124 109 102, unscaled 95.
    """
    gains = substep_s * (substep_s * drive.stiffness + drive.damping)
    response = gains if drive.type is DriveType.ACCELERATION else gains / inertia
    return 1.0 / (1.0 + SHARE * response)


def best_substeps(robot: Robot, iterations: int) -> int:
    """Steps of MuJoCo per step of PhysX under the static laws: one per iteration for a robot on legs, else one.

    Measured: the ten runs of `SHARE` 8.8 mrad, in whole steps 17; a driven arm 2.4 both ways, and with saturated drives
    70 in sub-steps and 8.6 without.
    """
    return min(iterations, MOST_SUBSTEPS) if leg_inertias(robot) else 1


def leg_inertias(robot: Robot) -> dict[str, float]:
    """1/(M⁻¹)jj at the start pose of every axis between a floating base and a foot [kg·m² or kg]; else empty."""
    if not is_floating(robot):
        return {}
    stand = _stance(robot)
    feet = _feet(robot, link_poses(robot, stand))
    legs: set[str] = set()
    for foot in feet:
        joint = robot.joint_of(foot)
        while joint.parent is not None:
            legs.update(axis.name for axis in joint.axes)
            joint = robot.joint_of(joint.parent)
    if not legs:
        return {}
    return {name: inertia for name, inertia in effective_inertias(robot, stand).items() if name in legs}


def _stance(robot: Robot) -> dict[str, float]:
    """The robot's own start; where none is stated the middle of the limits: at zero, legs are straight.

    It matters: (M⁻¹)jj of a Go2's calf is 235 where it stands, 621 straight.
    """
    home = home_positions(robot)
    if any(home.values()):
        return home
    for axis in robot.axes():
        low, high = axis.limits.lower, axis.limits.upper
        if low is not None and high is not None and math.isfinite(high - low):
            home[axis.name] = (low + high) / 2
    return home


def _feet(robot: Robot, poses: dict[str, Pose]) -> set[str]:
    """Links whose colliders reach lowest."""
    low: dict[str, float] = {}
    high = max(pose.pos[2] for pose in poses.values())
    for geom in robot.geoms:
        if geom.collision is None or geom.link is None:
            continue
        pose = poses[geom.link] @ geom.pose
        down = rotate(quat_conjugate(pose.quat_wxyz), (0.0, 0.0, -1.0))
        low[geom.link] = min(low.get(geom.link, math.inf), pose.pos[2] - _reach(robot, geom.shape, down))
    if not low:
        return set()
    ground = min(low.values())
    return {link for link, height in low.items() if height - ground <= FOOT * (high - ground)}


def _reach(robot: Robot, shape: Shape, way: Vec3) -> float:
    """How far a shape reaches from its origin along a unit vector of its frame [m]."""
    x, y, z = way
    match shape:
        case Box(half):
            return abs(x) * half[0] + abs(y) * half[1] + abs(z) * half[2]
        case Sphere(radius):
            return radius
        case Capsule(radius, half):
            return radius + half * abs(z)
        case Cylinder(radius, half):
            return radius * math.hypot(x, y) + half * abs(z)
        case Ellipsoid(radii):
            return math.hypot(x * radii[0], y * radii[1], z * radii[2])
        case MeshShape(name):
            return float((robot.mesh(name).vertices_m @ way).max())
        case Compound(parts):
            return max(
                sum(p * w for p, w in zip(pose.pos, way, strict=True))
                + _reach(robot, part, rotate(quat_conjugate(pose.quat_wxyz), way))
                for pose, part in parts
            )
        case _:
            return 0.0
