"""Loops and mimics as MuJoCo equality constraints."""

from __future__ import annotations

import math
from dataclasses import replace

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.physics.dynamics import link_poses
from isaaclab_mirror.physics.lowered import EqualityType, LoweredEquality, floats
from isaaclab_mirror.robot.constraints import Loop, LoopType, Mimic
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.robot.sensors import Site
from isaaclab_mirror.rotations import Pose

HINGE_SPAN_M = 0.1
"""Distance of the two points that together keep a hinge's axis."""
CLOSED_M = 1e-5
"""Loops whose points are nearer than this where all joints are at zero are closed there; USD's frames are float32."""
WORLD = "world"
AXIS = "_axis"
"""Ends the names of what belongs to a hinge's second point."""


def sited_loops(robot: Robot) -> Robot:
    """The robot with sites for the points of loops that are open where all joints stand at zero.

    MuJoCo takes a connect's second point from where the first one stands at zero: right for a loop that is closed
    there, as those of MuJoCo's own dialect are. A stage of PhysX may close its loop elsewhere (a saved joint state):
    then each side's own point is named.
    """
    points = [loop for loop in robot.loops if loop.by_site is None and loop.type in (LoopType.CONNECT, LoopType.HINGE)]
    if not points or robot.dialect == "mujoco":
        return robot
    taken = {site.name for site in robot.sites}
    poses = link_poses(robot, {})
    sites: list[Site] = []
    loops = {loop.name: loop for loop in robot.loops}
    for loop in points:
        ends = [(loop.link0, loop.frame0), (loop.link1, loop.frame1)]
        world = [frame if link is None else poses[link] @ frame for link, frame in ends]
        apart = [w.apply((0.0, 0.0, HINGE_SPAN_M if loop.type is LoopType.HINGE else 0.0)) for w in world]
        if max(math.dist(world[0].pos, world[1].pos), math.dist(*apart)) < CLOSED_M:
            continue
        stem = loop.name
        while {f"{stem}_0", f"{stem}_1"} & taken:
            stem += "_"
        names = (f"{stem}_0", f"{stem}_1")
        spans = (0.0, HINGE_SPAN_M) if loop.type is LoopType.HINGE else (0.0,)
        for name, (link, frame) in zip(names, ends, strict=True):
            for span in spans:
                place = Pose(frame.apply((0.0, 0.0, span)), frame.quat_wxyz)
                sites.append(Site(name=name + (AXIS if span else ""), link=link, pose=place, source=loop.source))
        loops[loop.name] = replace(loop, by_site=names)
    return replace(robot, sites=(*robot.sites, *sites), loops=tuple(loops.values()))


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
        if loop.by_site is not None:
            ends = (loop.by_site[0] + AXIS, loop.by_site[1] + AXIS)
            return [
                _equality(loop, EqualityType.CONNECT, loop.by_site, by_site=True),
                _equality(loop, EqualityType.CONNECT, ends, by_site=True, suffix=AXIS),
            ]
        second = loop.frame0.apply((0.0, 0.0, HINGE_SPAN_M))
        return [
            _equality(loop, EqualityType.CONNECT, names, loop.frame0.pos),
            _equality(loop, EqualityType.CONNECT, names, second, suffix=AXIS),
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
