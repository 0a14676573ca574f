"""`<joint>`: limits, dynamics and mimic of one elementary joint."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.formats.urdf.spelling import add_origin, number, numbers
from isaaclab_mirror.formats.urdf.tree import UrdfJoint, UrdfJointType, UrdfTree
from isaaclab_mirror.physics.lowered import LoweredAxis
from isaaclab_mirror.robot.constraints import Mimic
from isaaclab_mirror.robot.joints import AxisKind
from isaaclab_mirror.robot.model import Robot

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

UNLIMITED_EFFORT = 1e9
"""[N·m or N]; URDF demands a number, and its readers do not take `inf`."""
UNLIMITED_VELOCITY = 1e9
"""[rad/s or m/s]"""
UNLIMITED_POSITION = 1e6
"""[rad or m]; for slides, and for hinges bounded on one side."""


def write_joint(root: Element, joint: UrdfJoint, axis: LoweredAxis | None, mimic: Mimic | None, tree: UrdfTree) -> None:
    """One `<joint>`; the numbers are the lowered axis's."""
    from lxml import etree

    bounds = position_bounds(joint, axis)
    kind = "continuous" if joint.type is UrdfJointType.HINGE and bounds is None else str(joint.type)
    element = etree.SubElement(root, "joint", name=joint.name, type=kind)
    add_origin(element, joint.origin)
    etree.SubElement(element, "parent", link=joint.parent)
    etree.SubElement(element, "child", link=joint.child)
    if axis is None:
        return
    etree.SubElement(element, "axis", xyz=numbers(joint.direction))
    if axis.damping or axis.frictionloss:
        etree.SubElement(element, "dynamics", damping=number(axis.damping), friction=number(axis.frictionloss))
    if bounds is not None or axis.effort_limit is not None or axis.velocity_limit is not None:
        limit = etree.SubElement(element, "limit")
        if bounds is not None:
            limit.set("lower", number(bounds[0]))
            limit.set("upper", number(bounds[1]))
        limit.set("effort", number(_or_unlimited(axis.effort_limit, UNLIMITED_EFFORT)))
        limit.set("velocity", number(_or_unlimited(axis.velocity_limit, UNLIMITED_VELOCITY)))
    if mimic is not None:
        offset, multiplier = mimic.coefficients
        leader = tree.joint_names[mimic.leader, None]
        etree.SubElement(element, "mimic", joint=leader, multiplier=number(multiplier), offset=number(offset))


def position_bounds(joint: UrdfJoint, axis: LoweredAxis | None) -> tuple[float, float] | None:
    """Lower and upper from the pose at rest [rad or m]; None for a hinge that turns freely."""
    if axis is None:
        return None
    if axis.range is None:
        return (-UNLIMITED_POSITION, UNLIMITED_POSITION) if joint.type is UrdfJointType.SLIDE else None
    if joint.rotation is not None:
        cone = axis.range[1]  # the largest angle, whatever the axis of rotation
        return (-cone, cone) if math.isfinite(cone) else None
    lower, upper = axis.range[0] - axis.ref, axis.range[1] - axis.ref
    if joint.type is UrdfJointType.HINGE and math.isinf(lower) and math.isinf(upper):
        return None
    return (
        -UNLIMITED_POSITION if math.isinf(lower) else lower,
        UNLIMITED_POSITION if math.isinf(upper) else upper,
    )


def _or_unlimited(limit: float | None, unlimited: float) -> float:
    return unlimited if limit is None or math.isinf(limit) else limit


def linear_part(mimic: Mimic) -> tuple[float, float]:
    """Offset and multiplier."""
    padded = (*mimic.coefficients, 0.0, 0.0)
    return padded[0], padded[1]


def mimics_by_follower(robot: Robot, tree: UrdfTree, found: Diagnostics, fidelity: Fidelity) -> Mapping[str, Mimic]:
    """The mimics that URDF can say, by axis; one per follower, no circle."""
    chosen: dict[str, Mimic] = {}
    for mimic in robot.mimics:
        why = _unwritable(mimic, chosen, tree)
        if why:
            fidelity.lost("mimics", why)
            found.warn("E040", mimic.source or mimic.name, f"mimic of {mimic.follower!r} is not written: {why}")
            continue
        chosen[mimic.follower] = replace(mimic, coefficients=linear_part(mimic))
        if any(mimic.coefficients[2:]):
            fidelity.approximated("mimics", "only the linear part of the polynomial")
            found.warn(
                "E040",
                mimic.source or mimic.name,
                f"URDF's mimic is linear: the higher coefficients {mimic.coefficients[2:]} are lost",
            )
        elif mimic.natural_frequency_hz is not None:
            fidelity.approximated("mimics", "compliance (natural frequency, damping ratio) is lost: rigid")
        else:
            fidelity.kept("mimics")
    return {follower: _led_by_a_driver(mimic, chosen) for follower, mimic in chosen.items()}


def _led_by_a_driver(mimic: Mimic, chosen: Mapping[str, Mimic]) -> Mimic:
    """The same mimic, led by an axis that follows no other: yourdfpy takes a leader that itself follows for zero."""
    while (above := chosen.get(mimic.leader)) is not None:
        offset, multiplier = mimic.coefficients
        through = (offset + multiplier * above.coefficients[0], multiplier * above.coefficients[1])
        mimic = replace(mimic, leader=above.leader, coefficients=through)
    return mimic


def _unwritable(mimic: Mimic, chosen: Mapping[str, Mimic], tree: UrdfTree) -> str:
    """Why a mimic cannot be written; empty where it can."""
    if not mimic.active:
        return "it is switched off, and URDF has no switch"
    for name in (mimic.follower, mimic.leader):
        if (name, None) not in tree.joint_names:
            return f"{name!r} is not a joint of one axis"
    if mimic.follower in chosen:
        return "a URDF joint follows one other alone"
    leader: str | None = mimic.leader
    while leader is not None:
        if leader == mimic.follower:
            return "it closes a circle of mimics"
        leader = chosen[leader].leader if leader in chosen else None
    return ""


def count_axes(robot: Robot, axes: Mapping[str, LoweredAxis], fidelity: Fidelity) -> None:
    """The rows of joints, limits, damping and friction."""
    for joint in robot.joints:
        if any(axis.kind is AxisKind.BALL for axis in joint.axes):
            fidelity.approximated("joints", "ball: three hinges in a row")
        elif len(joint.axes) > 1:
            fidelity.kept("joints", note="several axes: joints in a row with massless links between them")
        else:
            fidelity.kept("joints")
    for axis in robot.axes():
        low = axes[axis.name]
        if low.range is not None:
            if axis.kind is AxisKind.BALL:
                fidelity.approximated("joint limits", "a ball's cone: the same bound for each of three hinges")
            elif not all(map(math.isfinite, low.range)):
                fidelity.approximated("joint limits", f"bounded on one side: ±{UNLIMITED_POSITION:g} on the other")
            else:
                fidelity.kept("joint limits")
        elif axis.kind is AxisKind.SLIDE:
            fidelity.approximated("joint limits", f"a slide without range: ±{UNLIMITED_POSITION:g} m")
        bounded = axis.kind is AxisKind.SLIDE or low.range is not None
        both = (low.effort_limit, low.velocity_limit)
        for concept, limit, value in zip(
            ("effort limits", "velocity limits"), both, (UNLIMITED_EFFORT, UNLIMITED_VELOCITY), strict=True
        ):
            if limit is not None and not math.isinf(limit):
                fidelity.kept(concept)
            elif bounded or both != (None, None):
                fidelity.approximated(concept, f"unlimited or unsaid: URDF demands a number, {value:g}")
        fidelity.kept("joint damping", bool(low.damping))
        if low.frictionloss:
            dynamics = axis.dynamics
            if dynamics.static_friction not in (0.0, dynamics.friction):
                fidelity.approximated("joint friction", "one number: static friction is not told from sliding")
            else:
                fidelity.kept("joint friction")
        fidelity.lost("armature", "URDF has no word for it", bool(low.armature))
        fidelity.lost("joint springs", "URDF has no word for them", bool(low.stiffness))
