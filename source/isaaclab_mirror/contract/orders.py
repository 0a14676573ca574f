"""In which order an engine numbers a robot's joints and links: the rules that a policy's arrays follow."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.robot.joints import Joint, JointType
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.robots import axis_names


class Orders(NamedTuple):
    """Names of joint coordinates and of links."""

    joints: tuple[str, ...]
    links: tuple[str, ...]


def physx_orders(robot: Robot, *, merge_fixed: bool = False) -> Orders:
    """PhysX: breadth first from the root link, the children of a link by the full path of their joint (ASCII).

    `merge_fixed`: links behind fixed joints are part of their parents, as Isaac's URDF importer makes them on request.

    Measured on nine arrangements; the file's order does not matter. A robot that no USD states has no joint paths:
    the joints' names stand for them, which sort alike where all joints stand under one prim.
    """
    children: dict[str | None, list[Joint]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint)
    joints: list[str] = []
    links: list[str] = []
    queue = deque(children.get(None, []))
    while queue:
        joint = queue.popleft()
        joints += [name for axis in joint.axes for name in axis_names(axis)]
        links.append(joint.child)
        queue.extend(sorted(_below(joint.child, children, merge_fixed), key=_path))
    return Orders(tuple(joints), tuple(links))


def _below(link: str, children: dict[str | None, list[Joint]], merge_fixed: bool) -> list[Joint]:
    """Joints to a link's children, those of links that are merged into it among them."""
    found: list[Joint] = []
    open_links = [link]
    while open_links:
        for joint in children.get(open_links.pop(), ()):
            if merge_fixed and joint.type is JointType.FIXED:
                open_links.append(joint.child)
            else:
                found.append(joint)
    return found


def depth_first_orders(robot: Robot) -> Orders:
    """MuJoCo, Newton's MuJoCo solver and Isaac Gym: depth first, children in the file's order."""
    joints = tuple(name for joint in robot.joints for axis in joint.axes for name in axis_names(axis))
    return Orders(joints, tuple(link.name for link in robot.links))


def _path(joint: Joint) -> str:
    return joint.source.where if joint.source is not None and joint.source.where.startswith("/") else joint.name


def convention_orders(robot: Robot, convention: str, where: str) -> Orders:
    """The orders of Isaac Lab's `joint_ordering` words."""
    if convention == "physx":
        return physx_orders(robot)
    if convention in ("mjwarp", "mujoco"):
        return depth_first_orders(robot)
    hint = "known: physx, mjwarp, or a list of all names"
    if convention == "robot_schema":
        raise InputError("E105", where, "the order of the asset's robot schema is not read", hint)
    raise InputError("E105", where, f"{convention!r} is no ordering convention", hint)
