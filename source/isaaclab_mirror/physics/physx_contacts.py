"""What PhysX knows of a robot's links and colliders, as the emulation takes it."""

from __future__ import annotations

import math

from isaaclab_mirror.physics.contact import PHYSX_DEFAULT, PLANE_OFFSET_M, default_contact_offset
from isaaclab_mirror.physics.emulation.settings import ContactParameters, LinkParameters
from isaaclab_mirror.robot.geometry import (
    Box,
    Capsule,
    Compound,
    Cone,
    Cylinder,
    Ellipsoid,
    HeightField,
    MeshShape,
    Plane,
    Shape,
    Sphere,
)
from isaaclab_mirror.robot.model import Robot

MAX_ANGULAR_SPEED = 100.0
"""PhysX's default for a link [rad/s]."""
MAX_DEPENETRATION_SPEED = 3.0
"""USD's default [m/s]."""


def extents(robot: Robot, shape: Shape) -> tuple[float, float, float]:
    """Widths along a shape's own axes [m]."""
    import numpy as np

    match shape:
        case Box(half):
            return (2 * half[0], 2 * half[1], 2 * half[2])
        case Sphere(radius):
            return (2 * radius, 2 * radius, 2 * radius)
        case Cylinder(radius, half) | Cone(radius, half):
            return (2 * radius, 2 * radius, 2 * half)
        case Capsule(radius, half):
            return (2 * radius, 2 * radius, 2 * (half + radius))
        case Ellipsoid(radii):
            return (2 * radii[0], 2 * radii[1], 2 * radii[2])
        case MeshShape(name):
            x, y, z = np.ptp(robot.mesh(name).vertices_m, axis=0).tolist()
            return (x, y, z)
        case HeightField(heights, half):
            return (2 * half[0], 2 * half[1], float(np.ptp(heights)))
        case Compound(parts):
            every = [extents(robot, part) for _, part in parts]
            return (max(e[0] for e in every), max(e[1] for e in every), max(e[2] for e in every))
        case Plane():
            return (math.inf, math.inf, math.inf)


def contact_parameters(robot: Robot, gravity_mps2: float, step_s: float) -> ContactParameters:
    """Friction, how it combines, and offsets of every collider, by geom name; PhysX's defaults where none is stated."""
    materials = {material.name: material for material in robot.contact_materials}
    default = robot.default_contact_material or PHYSX_DEFAULT
    found = ContactParameters()
    for geom in robot.geoms:
        if geom.collision is None:
            continue
        material = materials.get(geom.collision.material or "", default)
        found.static_friction[geom.name] = material.static_friction
        found.dynamic_friction[geom.name] = material.dynamic_friction
        found.combine[geom.name] = str(material.friction_combine)
        offset, rest = geom.collision.contact_offset_m, geom.collision.rest_offset_m
        if offset is None:
            smallest = min(extents(robot, geom.shape))
            plane = math.isinf(smallest)
            offset = PLANE_OFFSET_M if plane else default_contact_offset(smallest, gravity_mps2, step_s)
        found.contact_offset_m[geom.name] = offset
        found.rest_offset_m[geom.name] = rest or 0.0
    return found


def link_parameters(robot: Robot) -> LinkParameters:
    """Damping and largest speeds of every link; PhysX's defaults where none is stated."""
    found = LinkParameters()
    for link in robot.links:
        spin, apart = link.max_angular_velocity, link.max_depenetration_velocity
        found.linear_damping[link.name] = link.linear_damping
        found.angular_damping[link.name] = link.angular_damping
        found.max_angular_speed[link.name] = MAX_ANGULAR_SPEED if spin is None else spin
        found.max_depenetration_speed[link.name] = MAX_DEPENETRATION_SPEED if apart is None else apart
    return found
