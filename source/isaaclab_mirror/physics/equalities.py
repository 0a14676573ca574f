"""Loops and mimics as MuJoCo equality constraints."""

from __future__ import annotations

import math

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.physics.lowered import EqualityType, LoweredEquality, floats
from isaaclab_mirror.robot.constraints import Loop, LoopType, Mimic

HINGE_SPAN_M = 0.1
"""Distance of the two points that together keep a hinge's axis."""
WORLD = "world"


def lower_loop(loop: Loop, found: Diagnostics, fidelity: Fidelity) -> list[LoweredEquality]:
    """A loop as one or two equalities.

    A hinge is two connects on its axis (no equality of MuJoCo's leaves one rotation free). A slide has none: it is lost
    to a connect-free weld only if it does not move, so it is reported.
    """
    names = (loop.link0 or WORLD, loop.link1 or WORLD)
    where = str(loop.source or loop.name)
    if loop.type is LoopType.WELD:
        fidelity.kept("loop constraints")
        if loop.by_site is not None:
            return [_equality(loop, EqualityType.WELD, loop.by_site, by_site=True)]
        # MuJoCo keeps a point of link 2 (anchor) at a point of link 1 (the position of relpose, which is not that of
        # link 2's origin, as its documentation reads). The quaternion is link 2's in link 1.
        relative = loop.frame0 @ loop.frame1.inverse()
        scale = loop.mujoco.get("torqueScale", 1.0)
        torque = float(scale) if isinstance(scale, int | float) else 1.0
        data = (*loop.frame1.pos, *loop.frame0.pos, *relative.quat_wxyz, torque)
        return [_equality(loop, EqualityType.WELD, names, data)]
    if loop.type is LoopType.CONNECT:
        fidelity.kept("loop constraints")
        if loop.by_site is not None:
            return [_equality(loop, EqualityType.CONNECT, loop.by_site, by_site=True)]
        return [_equality(loop, EqualityType.CONNECT, names, loop.frame0.pos)]
    if loop.type is LoopType.HINGE:
        fidelity.kept("loop constraints", note="a hinge as two connects on its axis")
        second = loop.frame0.apply((0.0, 0.0, HINGE_SPAN_M))
        return [
            _equality(loop, EqualityType.CONNECT, names, loop.frame0.pos),
            _equality(loop, EqualityType.CONNECT, names, second, suffix="_axis"),
        ]
    fidelity.lost("loop constraints", f"a {loop.type} outside the tree has no equality")
    found.warn("E001", where, f"a {loop.type} joint outside the tree cannot be written as an equality: left out")
    return []


def _equality(
    loop: Loop,
    kind: EqualityType,
    names: tuple[str, str],
    data: tuple[float, ...] = (),
    *,
    by_site: bool = False,
    suffix: str = "",
) -> LoweredEquality:
    return LoweredEquality(
        name=loop.name + suffix,
        type=kind,
        name1=names[0],
        name2=names[1],
        data=data,
        by_site=by_site,
        active=loop.active,
        solref=floats(loop.mujoco.get("solref")),
        solimp=floats(loop.mujoco.get("solimp")),
    )


def lower_mimic(mimic: Mimic, fidelity: Fidelity) -> LoweredEquality:
    """A mimic as a joint equality: follower − ref = Σ c_k (leader − ref)^k.

    A soft mimic of PhysX (natural frequency f, damping ratio ζ) is the constraint's own spring: timeconst = 1/(2πf·ζ).
    """
    solref, solimp = floats(mimic.mujoco.get("solref")), floats(mimic.mujoco.get("solimp"))
    if mimic.natural_frequency_hz is not None:
        ratio = mimic.damping_ratio if mimic.damping_ratio and mimic.damping_ratio > 0 else 1.0
        solref = (1.0 / (2 * math.pi * mimic.natural_frequency_hz * ratio), ratio)
        fidelity.approximated("mimics", "soft mimic: PhysX's spring as the constraint's time constant")
    else:
        fidelity.kept("mimics")
    return LoweredEquality(
        name=mimic.name,
        type=EqualityType.JOINT,
        name1=mimic.follower,
        name2=mimic.leader,
        data=mimic.coefficients,
        active=mimic.active,
        solref=solref,
        solimp=solimp,
    )
