"""The tree as URDF wants it: one root link, one axis per joint, every link frame on its joint's axis.

With C the child's frame, P the parent's, O the joint's origin and M_k the motion of axis k about its anchor b_k,
    C = P · O · M_1(q_1) … M_n(q_n),   M_k = T(b_k) R_k(q_k) T(−b_k)  (hinge),   T(a_k q_k)  (slide).
The frames that URDF gets are F_k = P · O · M_1 … M_k · T(b_k), so that joint k stands at F_{k−1} · T(b_k − b_{k−1}) and
moves about its own origin; a slide takes the b of the axis before it. The last F is the link's frame: moved by b_n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from isaaclab_mirror.diagnostics import Diagnostics, InputError, Source
from isaaclab_mirror.formats.urdf.spelling import Names, moved
from isaaclab_mirror.robot.joints import Axis, AxisKind, Joint, JointType
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import IDENTITY_QUAT, Pose, Vec3, is_identity

ZERO: Vec3 = (0.0, 0.0, 0.0)
_BALL = (("_x", (1.0, 0.0, 0.0)), ("_y", (0.0, 1.0, 0.0)), ("_z", (0.0, 0.0, 1.0)))


class UrdfJointType(StrEnum):
    """What an elementary joint does; `revolute` becomes `continuous` where there is no range."""

    FIXED = "fixed"
    FLOATING = "floating"
    HINGE = "revolute"
    SLIDE = "prismatic"


@dataclass(frozen=True, slots=True, kw_only=True)
class UrdfJoint:
    """One `<joint>`."""

    name: str
    type: UrdfJointType
    parent: str
    child: str
    origin: Pose
    direction: Vec3 = ZERO
    axis: str | None = None
    """The axis of the robot that it spells."""
    rotation: int | None = None
    """Which of a ball's three."""
    child_link: str | None = None
    """The robot's link below it; None: a massless one between the axes of one joint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UrdfTree:
    """What stands in the file, in its order."""

    root: str
    """Name of the root link in the file."""
    has_world: bool
    """Whether the root is the world: then static geometry has a place."""
    root_link: str | None
    """The robot's link that is the root; None where it was added."""
    joints: tuple[UrdfJoint, ...]
    link_names: dict[str, str]
    """The robot's name of a link → the file's."""
    joint_names: dict[tuple[str, int | None], str]
    """Axis and rotation (of a ball, else None) → name of its `<joint>`."""
    shifts: dict[str, Vec3]
    """How far a link's frame was moved, in its own axes; only links that were."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One elementary axis of a joint."""

    name: str
    direction: Vec3
    type: UrdfJointType
    anchor: Vec3
    axis: Axis
    rotation: int | None = None


def plan_tree(robot: Robot, found: Diagnostics) -> UrdfTree:
    """Lay out links and joints."""
    if not robot.links:
        raise InputError("E013", robot.source or robot.name, "a robot without links cannot be a URDF")
    link_names, joint_names = Names("link", found), Names("joint", found)
    names = {link.name: link_names.give(link.name, link.source) for link in robot.links}
    roots = robot.roots
    root_joint = _root_without_world(robot, roots, found)
    root = names[root_joint.child] if root_joint else _world_name(link_names, names)
    steps_of = {joint.child: _steps(joint, found) for joint in robot.joints}
    spelled = {  # before the names of fixed joints: those of degrees of freedom matter more
        (step.axis.name, step.rotation): joint_names.give(step.name, step.axis.source)
        for steps in steps_of.values()
        for step in steps
    }
    joints: list[UrdfJoint] = []
    shifts: dict[str, Vec3] = {}
    for joint in robot.joints:  # parents come first
        if joint is root_joint:
            continue
        if joint.parent is not None and joint.parent not in names:
            raise InputError("E038", joint.source or joint.name, f"its parent link {joint.parent!r} does not exist")
        parent = root if joint.parent is None else names[joint.parent]
        origin = moved(joint.origin, shifts.get(joint.parent or "", ZERO))
        steps = steps_of[joint.child]
        if not steps:
            kind = UrdfJointType.FLOATING if joint.type is JointType.FLOATING else UrdfJointType.FIXED
            wanted = joint.name or f"{parent}_to_{names[joint.child]}"
            joints.append(
                UrdfJoint(
                    name=joint_names.give(wanted, joint.source),
                    type=kind,
                    parent=parent,
                    child=names[joint.child],
                    origin=origin,
                    child_link=joint.child,
                )
            )
            continue
        before = ZERO
        for position, step in enumerate(steps):
            last = position == len(steps) - 1
            here = step.anchor if step.type is UrdfJointType.HINGE else before
            offset = (here[0] - before[0], here[1] - before[1], here[2] - before[2])
            child = names[joint.child] if last else link_names.give(f"{joint.child}__{step.name}", joint.source)
            joints.append(
                UrdfJoint(
                    name=spelled[step.axis.name, step.rotation],
                    type=step.type,
                    parent=parent,
                    child=child,
                    origin=origin @ Pose(offset, IDENTITY_QUAT),
                    direction=step.direction,
                    axis=step.axis.name,
                    rotation=step.rotation,
                    child_link=joint.child if last else None,
                )
            )
            parent, origin, before = child, Pose(), here
        if any(before):
            shifts[joint.child] = before
    return UrdfTree(
        root=root,
        has_world=root_joint is None or root_joint.type is not JointType.FLOATING,
        root_link=root_joint.child if root_joint else None,
        joints=tuple(joints),
        link_names=names,
        joint_names=spelled,
        shifts=shifts,
    )


def _root_without_world(robot: Robot, roots: tuple[Joint, ...], found: Diagnostics) -> Joint | None:
    """The joint whose child is itself the root of the file; None where a `world` link is needed above."""
    if len(roots) != 1:
        free = [joint for joint in roots if joint.type is JointType.FLOATING]
        found.warn(
            "E042",
            robot.source or robot.name,
            f"{len(roots)} links hang on the world, {len(free)} of them free: joined under one link, "
            "free ones by joints of type 'floating'",
            hint="some readers of URDF refuse floating joints: convert the robots one by one with --prim",
        )
        return None
    (root,) = roots
    if root.type is JointType.FLOATING:
        found.info(
            "E042",
            root.source or root.child,
            f"the free base is not written: a URDF whose root link is {root.child!r} is free by convention",
            hint="give it a floating base on loading (Pinocchio: JointModelFreeFlyer, Isaac Lab: fix_base=False)",
        )
        return root
    is_world = root.child == "world" and not root.axes and is_identity(root.origin)
    return root if is_world else None


def _world_name(link_names: Names, taken: dict[str, str]) -> str:
    """`world`, or a name like it that no link has."""
    name, count = "world", 1
    while name in taken.values():
        name, count = f"world_{count}", count + 1
    return link_names.give(name)


def _steps(joint: Joint, found: Diagnostics) -> list[_Step]:
    """The elementary axes of a joint, in order."""
    if joint.type is JointType.FLOATING:
        return []
    steps: list[_Step] = []
    for axis in joint.axes:
        if axis.kind is AxisKind.BALL:
            for rotation, (suffix, direction) in enumerate(_BALL):
                name = axis.name + suffix
                steps.append(_Step(name, direction, UrdfJointType.HINGE, axis.anchor_m, axis, rotation))
            continue
        kind = UrdfJointType.HINGE if axis.kind is AxisKind.HINGE else UrdfJointType.SLIDE
        direction = _unit(axis.axis, axis.source or axis.name)
        steps.append(_Step(axis.name, direction, kind, _anchor(axis, direction), axis))
    if any(axis.kind is AxisKind.BALL for axis in joint.axes):
        found.warn(
            "E001",
            joint.source or joint.name,
            "URDF has no ball joint: three hinges in a row (x, y, z), right at zero and to first order about it",
        )
    elif len(steps) > 1:
        found.warn(
            "E001",
            joint.source or joint.name,
            f"URDF has one axis per joint: {len(steps)} joints in a row, massless links between; the same motion",
        )
    return steps


def _anchor(axis: Axis, direction: Vec3) -> Vec3:
    """Where the link's frame must go: nowhere when the axis passes through its origin already."""
    anchor = axis.anchor_m
    along = sum(a * d for a, d in zip(anchor, direction, strict=True))
    away = math.dist(anchor, tuple(along * d for d in direction))
    return anchor if away > 1e-12 else ZERO


def _unit(direction: Vec3, source: Source | str) -> Vec3:
    length = math.hypot(*direction)
    if not (math.isfinite(length) and length > 0.0):
        raise InputError("E001", source, f"an axis has no direction: {direction}")
    if abs(length - 1.0) <= 1e-15:
        return direction
    return (direction[0] / length, direction[1] / length, direction[2] / length)
