"""What must be true of a robot whatever file it came from."""

from __future__ import annotations

import math

from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.robot.model import Robot

SMALLEST_MASS_KG = 1e-15
"""MuJoCo's mjMINVAL; in PhysX's float32 the inverse of the moments is long infinite."""


def check_robot(robot: Robot, found: Diagnostics) -> None:
    """Refuse what no engine can simulate; report what is odd."""
    where = str(robot.source or robot.name)
    links = [link.name for link in robot.links]
    if not links:
        raise InputError("E013", where, "the robot has no link")
    if len(set(links)) != len(links):
        raise InputError("E038", where, "two links have one name")
    names = [axis.name for axis in robot.axes()]
    if len(set(names)) != len(names):
        raise InputError("E038", where, "two joint axes have one name")
    seen: set[str] = set()
    for link, joint in zip(robot.links, robot.joints, strict=True):
        if joint.child != link.name or (joint.parent is not None and joint.parent not in seen):
            raise InputError("E038", where, f"the tree is broken at link {link.name}")
        seen.add(link.name)
        inertia = link.inertia
        if inertia is None:
            continue
        numbers = (inertia.mass_kg, *inertia.com_m, *inertia.diagonal_kgm2)
        if not all(map(math.isfinite, numbers)):
            raise InputError(
                "E014", str(link.source or link.name), "mass or inertia is not finite", "author finite values"
            )
        if 0.0 < inertia.mass_kg < SMALLEST_MASS_KG:
            raise InputError(
                "E004",
                str(link.source or link.name),
                f"mass {inertia.mass_kg:g} kg is smaller than engines compute with",
                "author a mass, or larger colliders",
            )
        if inertia.mass_kg < 0.0:
            found.warn("E004", str(link.source or link.name), f"mass {inertia.mass_kg:g} is negative")
