"""Passive swing: one hinge as a pendulum, every other joint rigid, nothing driven.

Gravity is turned so that the middle of the joint's range is the pendulum's rest: a knee swings as well as a shoulder,
and no joint meets a limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isaaclab_mirror.comparison.engines import Engines, Variant, benches
from isaaclab_mirror.comparison.excitation import JointFacts, joint_facts
from isaaclab_mirror.comparison.metrics import failure_note, joint_peak
from isaaclab_mirror.comparison.motions import Found
from isaaclab_mirror.comparison.recording import Trial, run_pair
from isaaclab_mirror.comparison.rows import DYNAMIC, Row
from isaaclab_mirror.comparison.ties import looped_axes
from isaaclab_mirror.robot.joints import Axis, AxisKind
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.robots import locked
from isaaclab_mirror.sims.state import Start

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SWING_S = 10.0
SWING_LIMIT = 0.01
"""Of the amplitude."""
LARGEST_RAD = 0.5
SMALLEST_RAD = 0.02
GRAVITY = 9.81
MOST = 3
"""Joints that swing: the heaviest, the lightest, and one between."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pendulum:
    """A joint that can swing."""

    joint: str
    centre_rad: float
    amplitude_rad: float
    gravity: tuple[float, float, float]
    period_s: float


def swing_tests(engines: Engines, held: Variant, progress: Callable[[float], None]) -> Found:
    """The joints that swing, one at a time."""
    found = Found()
    sim = engines.open_mujoco(held)
    try:
        facts = joint_facts(held.robot, sim, sim.joint_names)
        candidates = _pendulums(held.robot, sim, facts)
    finally:
        sim.close()
    if not candidates:
        found.skip("passive swing", "no hinge carries a weight beside its axis that friction lets swing")
        return found
    for pendulum in _representatives(candidates):
        _swing(engines, held, pendulum, found, progress)
    return found


def _representatives(candidates: list[Pendulum]) -> list[Pendulum]:
    """The slowest, the quickest and the middle one."""
    ordered = sorted(candidates, key=lambda p: p.period_s)
    last = len(ordered) - 1
    return [ordered[k] for k in sorted({0, last // 2, last})][:MOST]


def _pendulums(robot: Robot, sim: MujocoSim, facts: JointFacts) -> list[Pendulum]:
    import numpy as np

    found: list[Pendulum] = []
    looped = looped_axes(robot) | {axis.name for joint in robot.joints if len(joint.axes) > 1 for axis in joint.axes}
    for axis in robot.axes():
        if axis.kind is not AxisKind.HINGE or axis.name in looped:
            continue
        k = facts.names.index(axis.name)
        if facts.followers[k] or facts.room[k] < 1.25 * SMALLEST_RAD:
            continue
        angle = float(facts.centre[k])
        sim.reset(Start(joint_pos={name: angle if name == axis.name else 0.0 for name in facts.names}))
        lever = _lever(sim, k)
        inertia = float(np.diag(sim.mass_matrix()[0])[k])
        direction = np.cross(lever, _axis_w(robot, sim, axis, k))
        length, torque = float(np.linalg.norm(direction)), float(np.linalg.norm(lever)) * GRAVITY
        if torque <= 1e-9 or length <= 1e-9:
            continue
        omega = float(np.sqrt(torque / inertia))
        amplitude = min(LARGEST_RAD, 0.8 * float(facts.room[k]))
        if axis.limits.velocity is not None:
            amplitude = min(amplitude, 0.5 * axis.limits.velocity / omega)
        friction = max(axis.dynamics.friction, axis.dynamics.static_friction)
        damping = axis.dynamics.damping / (2 * inertia * omega)
        slow = 2 * np.pi / omega > SWING_S
        if amplitude < SMALLEST_RAD or friction > 0.1 * torque * amplitude or damping > 0.5 or slow:
            continue
        x, y, z = (GRAVITY * direction / length).tolist()
        found.append(
            Pendulum(
                joint=axis.name,
                centre_rad=angle,
                amplitude_rad=amplitude,
                gravity=(x, y, z),
                period_s=float(2 * np.pi / omega),
            )
        )
    return found


def _lever(sim: MujocoSim, column: int) -> Array:
    """L with bias = −L·g for gravity g: Σ m·(axis × r) over what the joint carries [kg·m]."""
    import numpy as np

    option, lever = sim.model.opt, np.zeros(3)
    before = option.gravity.copy()
    base = len(sim.bias()[0]) - len(sim.joint_names)
    for k in range(3):
        option.gravity[:] = np.eye(3)[k]
        lever[k] = -sim.bias()[0][base + column]
    option.gravity[:] = before
    return lever


def _axis_w(robot: Robot, sim: MujocoSim, axis: Axis, column: int) -> Array:
    """Direction of a hinge in the world."""
    child = next(joint.child for joint in robot.joints if axis in joint.axes)
    jacobian = sim.jacobian(child)[0]
    return jacobian[3:, jacobian.shape[1] - len(sim.joint_names) + column]


def _swing(
    engines: Engines, held: Variant, pendulum: Pendulum, found: Found, progress: Callable[[float], None]
) -> None:
    settings = replace(held.settings, gravity=pendulum.gravity)
    variant = Variant(robot=locked(held.robot, {pendulum.joint}), read=held.read, settings=settings)
    title = f"passive swing of {pendulum.joint}"
    physx, mujoco = engines.open(variant)
    ours, theirs = benches(physx, mujoco)
    if ours.names != (pendulum.joint,):
        found.skip(title, f"PhysX leaves the joints {', '.join(ours.names) or 'none'} free")
        return
    for sim in (physx, mujoco):
        sim.set_gains(0.0, 0.0)
    start = ours.home * 0 + pendulum.centre_rad + pendulum.amplitude_rad
    trial = Trial(name=title, seconds=SWING_S, joint_pos=start)
    pair = run_pair(ours, theirs, [trial], ["rad"], noise=False, progress=progress)[0]
    failed = failure_note(pair)
    value = float(joint_peak(pair.physx, pair.mujoco)[0]) / pendulum.amplitude_rad
    found.rows.append(
        Row(
            name="passive swing",
            value=float("nan") if failed else value,
            limit=SWING_LIMIT,
            unit="rel",
            code=DYNAMIC,
            where=pendulum.joint,
            note=failed
            or f"of {pendulum.amplitude_rad:.3g} rad, largest in {SWING_S:g} s, period {pendulum.period_s:.3g} s",
        )
    )
    found.pairs.append(pair)
