"""The robot of an MJCF file as one that a policy was trained on in PhysX: what it replays on when there is no USD.

The result speaks PhysX's dialect, so that drives and contacts get PhysX's laws. What MuJoCo alone has (its actuators,
contact parameters, keyframes, the ground plane) stays behind.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from isaaclab_mirror.diagnostics import Diagnostics
from isaaclab_mirror.formats.mjcf.reader import read_mjcf
from isaaclab_mirror.robot.drives import Actuator
from isaaclab_mirror.robot.geometry import Collision, Geom
from isaaclab_mirror.robot.joints import Axis, Joint
from isaaclab_mirror.robot.materials import ContactMaterial
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.robot.scene import Scene

MUJOCO_FRICTION = 1.0
"""Sliding friction of a geom for which nothing is stated."""


def mjcf_robot(file: Path, found: Diagnostics | None = None) -> Robot:
    """The robot of the file."""
    return as_trained_in_physx(read_mjcf(file, Diagnostics() if found is None else found))


def as_trained_in_physx(robot: Robot) -> Robot:
    """An MJCF's robot without what MuJoCo alone has; geoms of the world are the scene's."""
    actuators = {actuator.target: actuator for actuator in reversed(robot.actuators)}
    stated = {m.name: m for m in robot.contact_materials if not math.isclose(m.dynamic_friction, MUJOCO_FRICTION)}
    return replace(
        robot,
        joints=tuple(_joint(joint, actuators) for joint in robot.joints),
        geoms=tuple(_geom(geom, stated) for geom in robot.geoms if geom.link is not None),
        contact_materials=tuple(
            replace(m, torsional_friction_m=None, rolling_friction_m=None) for m in stated.values()
        ),
        actuators=(),
        keyframes=(),
        scene=Scene(),
        collision_filter=replace(robot.collision_filter, parent_rule="physx"),
        dialect="physx",
    )


def _joint(joint: Joint, actuators: dict[str, Actuator]) -> Joint:
    return replace(joint, axes=tuple(_axis(axis, actuators.get(axis.name)) for axis in joint.axes))


def _axis(axis: Axis, actuator: Actuator | None) -> Axis:
    """With the bound of its actuator where it has none of its own."""
    limits = axis.limits
    if limits.effort is None and actuator is not None:
        limits = replace(limits, effort=_effort(actuator))
    reference = {key: value for key, value in axis.mujoco.items() if key == "ref"}
    return replace(axis, limits=limits, mujoco=reference)


def _effort(actuator: Actuator) -> float | None:
    gear = abs(actuator.gear[0])
    if actuator.force_range is not None:
        return max(map(abs, actuator.force_range)) * gear
    if actuator.bias_type == "none" and actuator.control_range is not None:
        return max(map(abs, actuator.control_range)) * abs(actuator.gain[0]) * gear
    return None


def _geom(geom: Geom, stated: dict[str, ContactMaterial]) -> Geom:
    """Its shape and friction; contacts are PhysX's."""
    if geom.collision is None:
        return replace(geom, mujoco={})
    name = geom.collision.material if geom.collision.material in stated else None
    return replace(geom, collision=Collision(material=name), mujoco={})
