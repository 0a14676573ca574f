"""Free fall, the step response of every drive and the tracking of a sweep by every joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from isaaclab_mirror.comparison.engines import Engines, Variant, benches
from isaaclab_mirror.comparison.excitation import JointFacts, chirp, joint_facts, step, within_reach
from isaaclab_mirror.comparison.metrics import joint_rows
from isaaclab_mirror.comparison.recording import Bench, Pair, Trial, run_pair
from isaaclab_mirror.comparison.rows import DYNAMIC, Row, Skipped
from isaaclab_mirror.comparison.ties import coupled_axes
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.robots import axis_names
from isaaclab_mirror.sims.simulator import Simulator
from isaaclab_mirror.sims.state import Start

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Progress = Callable[[float], None]

FALL_S, STEP_S, TRACK_S = 2.0, 1.5, 5.0
FALL_FROM_M = 30.0
"""Clear of whatever ground the file brings: two seconds are 20 m."""
FALL_LIMIT = 1e-3
STEP_LIMITS = {"rad": 0.01, "m": 0.002}
TRACK_LIMITS = {"rad": 0.01, "m": 0.002}
"""rms. The standard names 0.01 rad; a slide's amplitude is a fifth of a hinge's, and so is its limit."""
TEST_HZ = 5.0
"""Frequency of the gains that joints without drives are moved with; critically damped."""
STUCK = 0.05
"""Of the amplitude: where friction may leave such a joint short of its target."""


@dataclass(slots=True)
class Found:
    """What a group of tests found."""

    rows: list[Row] = field(default_factory=list[Row])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    pairs: list[Pair] = field(default_factory=list[Pair])

    def skip(self, name: str, reason: str) -> None:
        """A test that does not apply."""
        self.skipped.append(Skipped(name=name, reason=reason))


def free_fall(engines: Engines, variant: Variant, progress: Progress) -> Found:
    """Velocity of the centre of mass of a falling robot, all joints rigid; a fixed base is freed for it."""
    import numpy as np

    found = Found()
    if variant.robot.joints[0].axes:
        found.skip("free fall", "a joint ties the robot to the world")
        return found
    speeds: list[Array] = []
    drops: list[float] = []
    for sim in engines.open(variant):
        sim.reset()
        sim.reset(Start(root_pos_w=sim.read().root_pos_w[0] + np.array([0.0, 0.0, FALL_FROM_M])))
        masses = sim.masses() / sim.masses().sum()
        start = np.einsum("k,kj->j", masses, sim.read().link_pos_w[0])
        for _ in range(20):
            sim.step(max(1, round(FALL_S / 20 / sim.step_s)))
            progress(FALL_S / 40)
        state = sim.read()
        speeds.append(np.einsum("k,kj->j", masses, state.link_com_lin_vel_w[0]))
        drops.append(float(np.linalg.norm(np.einsum("k,kj->j", masses, state.link_pos_w[0]) - start)))
    physx, mujoco = speeds
    fall = max(float(np.linalg.norm(physx)), 1e-9)
    found.rows.append(
        Row(
            name="free fall, velocity",
            value=float(np.linalg.norm(physx - mujoco)) / fall,
            limit=FALL_LIMIT,
            unit="rel",
            code=DYNAMIC,
            note=f"{fall:.5g} and {np.linalg.norm(mujoco):.5g} m/s after {FALL_S:g} s, {drops[0]:.4g} and "
            f"{drops[1]:.4g} m below",
        )
    )
    return found


def drive_tests(engines: Engines, variant: Variant, progress: Progress) -> Found:
    """Step response and tracking, the base held, in the air."""
    import numpy as np

    found = Found()
    physx, mujoco = engines.open(variant)
    ours, theirs = benches(physx, mujoco)
    if not ours.names:
        for name in ("step response", "tracking"):
            found.skip(name, "there is no joint")
        return found
    if lacking := [name for name in mujoco.joint_names if name not in ours.names]:
        for name in ("step response", "tracking"):
            found.skip(name, f"PhysX has no joint {', '.join(lacking[:3])}")
        return found
    facts, note = _with_test_gains((physx, mujoco), joint_facts(variant.robot, mujoco, ours.names), variant.robot)
    moved = facts.held | facts.spun
    if not moved.any():
        for name in ("step response", "tracking"):
            found.skip(name, "no joint can be driven")
        return found
    slow = within_reach(facts, mujoco)
    trials = [_trial("step", STEP_S, facts, *step(facts)), _trial("tracking", TRACK_S, slow, *chirp(slow, TRACK_S))]
    pairs = _run(ours, theirs, trials, facts, progress)
    judged = [bool(m) for m in moved]
    text = f"{note}, rms over {STEP_S:g} s"
    found.rows += joint_rows(pairs[0], "step response", STEP_LIMITS, DYNAMIC, judged=judged, note=text, required=False)
    text = f"{note}, rms over {TRACK_S:g} s, 0.2 to 2 Hz"
    found.rows += joint_rows(pairs[1], "tracking", TRACK_LIMITS, DYNAMIC, judged=judged, note=text, required=True)
    found.pairs += pairs
    still = np.flatnonzero(facts.amplitude[moved] <= 0)
    if len(still):
        names = np.array(facts.names)[moved][still]
        found.skip("tracking of " + ", ".join(names[:3]), "no room between the limits")
    return found


def _trial(
    name: str,
    seconds: float,
    facts: JointFacts,
    position: Callable[[float], Array],
    velocity: Callable[[float], Array],
) -> Trial:
    return Trial(
        name=name,
        seconds=seconds,
        joint_pos=facts.centre,
        position_targets=position,
        velocity_targets=velocity if facts.spun.any() else None,
    )


def _run(physx: Bench, mujoco: Bench, trials: Sequence[Trial], facts: JointFacts, progress: Progress) -> list[Pair]:
    """Both engines; PhysX once more from a nudged start where they are apart by a limit: is it chaos?"""
    pairs = run_pair(physx, mujoco, trials, facts.units, noise=False, progress=progress)
    result: list[Pair] = []
    for trial, pair in zip(trials, pairs, strict=True):
        judged = [bool(m) for m in facts.held | facts.spun]
        rows = joint_rows(pair, trial.name, TRACK_LIMITS, DYNAMIC, judged=judged, note="", required=True)
        if any(not row.passed for row in rows) and pair.physx.failure is None:
            pair = replace(pair, nudged=physx.run([trial.nudged()])[0])
        result.append(pair)
    return result


def _with_test_gains(sims: Sequence[Simulator], facts: JointFacts, robot: Robot) -> tuple[JointFacts, str]:
    """Gains of `TEST_HZ` on the joints' own inertias for joints that nothing drives, in both engines.

    Joints in closed loops and under tendons are left to those.
    """
    import numpy as np

    driven = facts.held | facts.spun
    note = f"{int(driven.sum())} of {len(driven)} joints driven"
    tied = coupled_axes(robot)
    idle = ~driven & ~facts.followers & (facts.effort_limit > 0)
    idle &= np.array([name.split(":")[0] not in tied for name in facts.names], dtype=bool)
    if not idle.any():
        return facts, note
    _, mujoco = sims
    mujoco.reset()
    inertia = np.diag(mujoco.mass_matrix()[0])[-len(mujoco.joint_names) :]
    own = inertia[[mujoco.joint_names.index(name) for name in facts.names]]
    stated = {
        name: max(a.dynamics.friction, a.dynamics.static_friction) for a in robot.axes() for name in axis_names(a)
    }
    friction = np.array([stated[name] for name in facts.names], dtype=float)
    wanted = np.maximum((2 * np.pi * TEST_HZ) ** 2 * own, friction / (STUCK * np.maximum(facts.amplitude, 1e-6)))
    stiffness = np.where(idle, wanted, facts.stiffness)
    damping = np.where(idle, 2 * np.sqrt(wanted * own), facts.damping)
    for sim in sims:
        sim.set_gains(
            dict(zip(facts.names, stiffness.tolist(), strict=True)),
            dict(zip(facts.names, damping.tolist(), strict=True)),
        )
    note += f", test gains of {TEST_HZ:g} Hz on " + ("all" if idle.all() else f"{int(idle.sum())} others")
    return replace(facts, stiffness=stiffness, damping=damping), note
