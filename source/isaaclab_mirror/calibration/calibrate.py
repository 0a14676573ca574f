"""`calibrate_robot`: PhysX recorded, the free numbers of MuJoCo fitted, judged on trials the fit never saw."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.calibration.fit import STEPS, Problem, fit
from isaaclab_mirror.calibration.parameters import JointScales, ModelChanger, Parameter, free_parameters
from isaaclab_mirror.calibration.rollouts import Motion, Rollouts
from isaaclab_mirror.calibration.trials import make_trials
from isaaclab_mirror.comparison.engines import Engines, OpenPhysx, Variant
from isaaclab_mirror.comparison.excitation import JointFacts, joint_facts, within_reach
from isaaclab_mirror.comparison.recording import Bench, Recording, Trial
from isaaclab_mirror.diagnostics import Diagnostic, InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.robot.home import home_positions, with_start
from isaaclab_mirror.robot.materials import CombineMode, ContactMaterial
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.effective import mujoco_settings, physx_settings
from isaaclab_mirror.sims.mujoco_bottom import lowest_point
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.settings import Backend, Ground, SimSettings, resolve_settings
from isaaclab_mirror.sims.simulator import Simulator, name_index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FLOOR = Ground(
    material=ContactMaterial(
        name="floor", static_friction=1.0, dynamic_friction=1.0, friction_combine=CombineMode.MULTIPLY
    )
)
"""As Isaac Lab's velocity tasks have it: the robot's own friction is what acts, and what is fitted."""
SECONDS = 2.0
RUNAWAY = 100.0
"""[rad or m] from PhysX: no motion but an explosion."""
NEAR_LIMIT = 1e-3
"""A joint that PhysX brought this near to a limit [rad or m] touched it."""

Report = Callable[[str, float], None]


def physx_apart(robot: Robot, read: ReadOptions, settings: SimSettings) -> Simulator:
    """PhysX in a child process where the file is not one of ours: a stage that crashes it is an error then."""
    from isaaclab_mirror.sims.physx_sim import open_physx

    return open_physx(robot, read=read, settings=settings, contact_forces=False, threads=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions:
    """What is fitted, and under what."""

    read: ReadOptions = field(default_factory=ReadOptions)
    backend: Backend = Backend.ISAACSIM
    stated: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of the caller, by their names."""
    start: Mapping[str, float] = field(default_factory=dict[str, float])
    """Pattern of joint names → where they start [rad or m], as a task's `init_state.joint_pos`."""
    seconds: float = SECONDS
    seed: int = 0
    steps: int = STEPS
    open_physx: OpenPhysx = physx_apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """How far a trial in MuJoCo is from PhysX, rms over time: before and after the fit."""

    trial: str
    held_out: bool
    joint: tuple[float, float]
    """Over all joints [rad, or 5 × m]."""
    base_m: tuple[float, float] | None
    """Of a floating base."""
    noise: float | None
    """The same over joints between two runs of PhysX that start 1e-5 apart."""

    def to_json(self) -> dict[str, Any]:
        """As `--json` writes it."""
        base = None if self.base_m is None else {"before": self.base_m[0], "after": self.base_m[1]}
        return {
            "trial": self.trial,
            "held_out": self.held_out,
            "joint_rms_rad": {"before": self.joint[0], "after": self.joint[1], "physx_noise": self.noise},
            "base_rms_m": base,
        }


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Everything that a calibration found."""

    robot: Robot
    settings: SimSettings
    """What MuJoCo ran with, the floor of the trials among it."""
    effective: Mapping[str, Any]
    parameters: tuple[Parameter, ...]
    x: Array
    gaps: tuple[Gap, ...]
    rounds: int
    diagnostics: tuple[Diagnostic, ...]
    seconds: float

    def gap(self, *, held_out: bool) -> tuple[float, float]:
        """rms over the joints and trials of a kind [rad], before and after."""
        chosen = [gap.joint for gap in self.gaps if gap.held_out is held_out]
        before, after = (sum(pair[k] ** 2 for pair in chosen) / len(chosen) for k in (0, 1))
        return before**0.5, after**0.5

    @property
    def lowered_by(self) -> float:
        """Share of the held-out gap that the fit closed; negative: it opened."""
        before, after = self.gap(held_out=True)
        return 1.0 - after / before if before > 0 else 0.0


def calibrate_robot(file: Path, options: CalibrationOptions | None = None, report: Report | None = None) -> Calibration:
    """Record, fit, judge. Deterministic from `options.seed`."""
    options = options or CalibrationOptions()
    began = time.perf_counter()
    say: Report = report or (lambda _text, _share: None)
    with Engines(file, options.read, Fidelity.PHYSX, options.open_physx) as engines:
        variant = _variant(engines, options)
        with engines.open_mujoco(variant) as alone:  # what cannot be fitted is said before PhysX starts
            _refuse_idle(joint_facts(variant.robot, alone, alone.joint_names), file)
        say("PhysX", 0.0)
        physx, mujoco = engines.open(variant)
        names = [name for name in physx.joint_names if name in mujoco.joint_names]
        facts = within_reach(joint_facts(variant.robot, mujoco, names), mujoco)
        bench = Bench(physx, names)
        low = _lowest(mujoco) if variant.settings.ground is not None else None
        sets = make_trials(
            facts, seconds=options.seconds, seed=options.seed, lowest_m=low, root=Bench(mujoco, names).root_pos_w
        )
        trials = (*sets.train, *sets.held_out)
        truth = _recorded(bench, trials, lambda share: say("PhysX", 0.2 * share))
        noise = bench.run([trial.nudged() for trial in sets.held_out])
        weights = _weights(facts)
        parameters = free_parameters(
            _scales(mujoco, facts), touching=_touches(mujoco, truth, names), limited=_met_limits(truth, facts)
        )
        changer = ModelChanger(mujoco.model, parameters, _actuators(mujoco))

        def problem(some: tuple[Trial, ...], recorded: list[Recording]) -> Problem:
            rollouts = Rollouts(mujoco, names, some, bench.ticks_per)
            return Problem(
                names=tuple(names),
                rollouts=rollouts,
                truth=recorded,
                changer=changer,
                parameters=parameters,
                weights=weights,
            )

        count = len(sets.train)
        training, judging = problem(sets.train, truth[:count]), problem(sets.held_out, truth[count:])
        try:
            _refuse_unstable(training)
            found = fit(training, steps=options.steps, progress=lambda share: say("fit", 0.2 + 0.75 * share))
            gaps = [*_gaps(training, found.x, [None] * count, held_out=False)]
            gaps += _gaps(judging, found.x, noise, held_out=True)
        finally:
            training.rollouts.close()
            judging.rollouts.close()
        effective = {
            "physx": physx_settings(variant.settings),
            "mujoco": mujoco_settings(mujoco.settings, Fidelity.PHYSX, mujoco.model),
        }
        say("done", 1.0)
        return Calibration(
            robot=variant.robot,
            settings=mujoco.settings,
            effective=effective,
            parameters=tuple(parameters),
            x=found.x,
            gaps=tuple(gaps),
            rounds=found.rounds,
            diagnostics=engines.diagnostics,
            seconds=time.perf_counter() - began,
        )


def _variant(engines: Engines, options: CalibrationOptions) -> Variant:
    """The robot where it starts: on a floor where it floats and collides, else as it is held."""
    from isaaclab_mirror.sims.robots import is_floating

    settings = resolve_settings(engines.robot, backend=options.backend, **dict(options.stated))
    collides = any(geom.collision is not None and geom.link is not None for geom in engines.robot.geoms)
    if is_floating(engines.robot) and collides:
        from dataclasses import replace

        variant = engines.variant(replace(settings, ground=FLOOR))
    else:
        variant = engines.variant(settings, fix_base=True)
    if not options.start:
        return variant
    stand = _start(variant.robot, options.start)
    return Variant(robot=with_start(variant.robot, stand), read=variant.read, settings=variant.settings)


def _start(robot: Robot, patterns: Mapping[str, float]) -> dict[str, float]:
    """Patterns of joint names, filled in; one that fits no joint is refused with the nearest name."""
    import re

    names = tuple(home_positions(robot))
    stand: dict[str, float] = {}
    for pattern, value in patterns.items():
        try:
            hits = [name for name in names if re.fullmatch(pattern, name)]
        except re.error as error:
            raise InputError("E091", "--start", f"{pattern!r} is no pattern: {error}") from None
        if not hits:
            name_index("--start", "joint", pattern, names)
        stand.update(dict.fromkeys(hits, value))
    return stand


def _refuse_idle(facts: JointFacts, file: Path) -> None:
    if not facts.names:
        raise InputError("E065", file, "there is nothing to fit: no joint moves", "calibrate needs a robot with joints")
    if not (facts.held | facts.spun).any():
        raise InputError(
            "E065",
            file,
            "there is nothing to fit: no joint has a drive that could move it",
            "give the joints drives with gains and a maxForce above 0 in the USD",
        )


def _refuse_unstable(problem: Problem) -> None:
    """Where MuJoCo runs away from the start, no small change brings it back."""
    import numpy as np

    for trial, motion, truth in zip(
        problem.rollouts.trials, problem.motions([np.zeros(len(problem.parameters))])[0], problem.truth, strict=True
    ):
        count = min(len(motion.joint_pos), len(truth.joint_pos))
        away = np.abs(motion.joint_pos[:count] - truth.joint_pos[:count])
        if not (away < RUNAWAY).all():
            tick, column = np.argwhere(~(away < RUNAWAY))[0]
            raise InputError(
                "E055",
                "MuJoCo",
                f"fidelity physx is unstable on this robot: joint {problem.names[column]!r} runs away in "
                f"{trial.name!r} after {truth.time_s[tick]:.3g} s: there is nothing to start a fit from",
                "more steps of MuJoCo per step of PhysX may hold it: --set mujoco_substeps=8",
            )


def _lowest(mujoco: MujocoSim) -> float | None:
    """How far the lowest collider is below the ground's surface of z = 0 at the start: −height [m]."""
    return lowest_point(mujoco.model, mujoco.robot.home_qpos)


def _recorded(bench: Bench, trials: tuple[Trial, ...], progress: Callable[[float], None]) -> list[Recording]:
    """PhysX in every trial; where it gives up, nothing can be fitted to it."""
    found: list[Recording] = []
    for k, trial in enumerate(trials):
        found += bench.run([trial])
        failure = found[-1].failure
        if failure is not None:
            raise failure
        progress((k + 1) / len(trials))
    return found


def _weights(facts: JointFacts) -> Array:
    import numpy as np

    return np.array([5.0 if unit == "m" else 1.0 for unit in facts.units])


def _scales(mujoco: MujocoSim, facts: JointFacts) -> JointScales:
    """Units of the parameters, from the robot at its start."""
    import numpy as np

    mujoco.reset()
    columns = [mujoco.joint_names.index(name) for name in facts.names]
    base = 0 if mujoco.fixed_base else 6
    inertia = np.diag(mujoco.mass_matrix()[0])[base:][columns]
    stiffness = np.where(facts.held, facts.stiffness, 0.0)
    push = stiffness * facts.amplitude
    joints = {mujoco.model.joint(j).name for j in range(mujoco.model.njnt)}
    single = [k for k, name in enumerate(facts.names) if name in joints]  # not the coordinates of a ball
    return JointScales(
        names=[facts.names[k] for k in single],
        driven=(facts.held | facts.spun)[single],
        inertia=inertia[single],
        lag=mujoco.step_s * stiffness[single],
        effort=0.1 * np.minimum(push, facts.effort_limit)[single],
    )


def _actuators(mujoco: MujocoSim) -> dict[str, int]:
    return {name: int(k) for name, k in zip(mujoco.joint_names, mujoco.robot.actuators, strict=True) if k >= 0}


def _touches(mujoco: MujocoSim, truth: list[Recording], names: list[str]) -> bool:
    """Whether anything touches anything where PhysX went."""
    import mujoco as engine
    import numpy as np

    robot, model = mujoco.robot, mujoco.model
    data = engine.MjData(model)
    columns = [mujoco.joint_names.index(name) for name in names]
    for record in truth:
        for k in range(0, len(record.joint_pos), 5):
            qpos = robot.home_qpos.copy()
            position = robot.joints.positions(qpos[None])
            position[0, columns] = record.joint_pos[k]
            robot.joints.put_positions(position, qpos[None])
            if robot.floating:
                place = np.concatenate([record.root_pos_w[k], record.root_quat_wxyz[k]])
                qpos[robot.root_qpos : robot.root_qpos + 7] = place
            data.qpos[:] = qpos
            engine.mj_kinematics(model, data)
            engine.mj_collision(model, data)
            if data.ncon:
                return True
    return False


def _met_limits(truth: list[Recording], facts: JointFacts) -> bool:
    import numpy as np

    positions = np.concatenate([record.joint_pos for record in truth])
    return bool(((positions < facts.lower + NEAR_LIMIT) | (positions > facts.upper - NEAR_LIMIT)).any())


def _gaps(problem: Problem, x: Array, noise: Sequence[Recording | None], *, held_out: bool) -> list[Gap]:
    """Before and after, trial by trial."""
    import numpy as np

    before, after = problem.motions([np.zeros(len(x)), x])
    rows: list[Gap] = []
    for k, truth in enumerate(problem.truth):
        joint = tuple(_joint_rms(motion, truth, problem.weights) for motion in (before[k], after[k]))
        base = None
        if before[k].root_pos_w.size:
            base = tuple(_base_rms(motion, truth) for motion in (before[k], after[k]))
        again = noise[k]
        rows.append(
            Gap(
                trial=problem.rollouts.trials[k].name,
                held_out=held_out,
                joint=(joint[0], joint[1]),
                base_m=base if base is None else (base[0], base[1]),
                noise=None if again is None else _rms((again.joint_pos - truth.joint_pos) * problem.weights),
            )
        )
    return rows


def _joint_rms(motion: Motion, truth: Recording, weights: Array) -> float:
    return _rms((motion.joint_pos - truth.joint_pos) * weights)


def _base_rms(motion: Motion, truth: Recording) -> float:
    return _rms(motion.root_pos_w - truth.root_pos_w) * 3**0.5


def _rms(values: Array) -> float:
    import numpy as np

    return float(np.sqrt(np.mean(np.minimum(values**2, 1e6))))
