"""Calibration: what may be changed and what may not, fits that must succeed, files that say what was fitted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np
import pytest

from isaaclab_mirror.calibration.calibrate import (
    FLOOR,
    Calibration,
    CalibrationOptions,
    Gap,
    _recorded,
    _refuse_unstable,
    calibrate_robot,
)
from isaaclab_mirror.calibration.fit import Problem, fit
from isaaclab_mirror.calibration.fitted_file import TEXT, write_fitted
from isaaclab_mirror.calibration.parameters import (
    BOUNDS,
    JointScales,
    Kind,
    ModelChanger,
    Parameter,
    fitted,
    free_parameters,
)
from isaaclab_mirror.calibration.rollouts import Motion, Rollouts, errors
from isaaclab_mirror.calibration.trials import make_trials
from isaaclab_mirror.comparison.excitation import joint_facts
from isaaclab_mirror.comparison.recording import Bench, Recording, Trial
from isaaclab_mirror.conversion import inspect_robot
from isaaclab_mirror.diagnostics import Diagnostics, Fidelity, InputError
from isaaclab_mirror.formats.mjcf.writer import build_spec
from isaaclab_mirror.formats.options import WriteOptions
from isaaclab_mirror.physics import options as opt
from isaaclab_mirror.sims.mujoco_model import lowered_robot
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.settings import resolve_settings
from isaaclab_mirror.sims.simulator import Simulator
from tests.usda import Usda, body, cube, joint, robot, stage

needs_physx = pytest.mark.skipif(find_spec("ovphysx") is None, reason="needs PhysX (extra `physx`)")


@dataclass(frozen=True)
class Bed:
    """A robot ready to be fitted."""

    sim: MujocoSim
    rollouts: Rollouts
    parameters: list[Parameter]

    @property
    def changer(self) -> ModelChanger:
        return ModelChanger(self.sim.model, self.parameters, self.actuators)

    @property
    def actuators(self) -> dict[str, int]:
        return {n: int(k) for n, k in zip(self.sim.joint_names, self.sim.robot.actuators, strict=True) if k >= 0}


@pytest.fixture(scope="module")
def anymal(data: Path) -> Iterator[Bed]:
    """On a floor, two short trials."""
    model, _, _ = inspect_robot(data / "anymal_c" / "anymal_c_physx.usda")
    settings = resolve_settings(model, backend="isaacsim", ground=FLOOR)
    with MujocoSim(model, settings=settings, fidelity="physx") as sim:
        yield from _bed(sim, seconds=0.4, lowest_m=0.0)


def _bed(sim: MujocoSim, *, seconds: float, lowest_m: float | None) -> Iterator[Bed]:
    assert sim.robot.robot is not None
    facts = joint_facts(sim.robot.robot, sim, sim.joint_names)
    root = Bench(sim, facts.names).root_pos_w
    trials = make_trials(facts, seconds=seconds, seed=3, lowest_m=lowest_m, root=root).train[:2]
    rollouts = Rollouts(sim, facts.names, trials, ticks_per=2)
    ones = np.ones(len(facts.names))
    scales = JointScales(
        names=facts.names, driven=facts.held, inertia=ones, lag=sim.step_s * facts.stiffness, effort=ones
    )
    yield Bed(sim, rollouts, free_parameters(scales, touching=lowest_m is not None, limited=True))
    rollouts.close()


@pytest.fixture(scope="module")
def cartpole(data: Path) -> Iterator[Bed]:
    """A cart that is driven, a pole that is not."""
    with MujocoSim(data / "cartpole" / "cartpole_physx.usda", fidelity="physx") as sim:
        yield from _bed(sim, seconds=1.5, lowest_m=None)


def somewhere(parameters: list[Parameter], seed: int = 0) -> np.ndarray:
    """Values inside the bounds."""
    low, high = np.array([BOUNDS[p.kind] for p in parameters]).T
    return low + (high - low) * np.random.default_rng(seed).uniform(0.2, 0.8, len(parameters))


def test_the_model_that_is_fitted_is_the_model_of_the_file_that_is_written(anymal: Bed, tmp_path: Path):
    x = somewhere(anymal.parameters)
    changed, sim = anymal.changer.changed(x), anymal.sim
    lowered = fitted(lowered_robot(sim.robot.robot, opt.Fidelity.PHYSX, sim.settings), anymal.parameters, x)
    spec, _ = build_spec(lowered, tmp_path, WriteOptions(), Diagnostics(), Fidelity())
    written = spec.compile()
    assert written.opt.impratio == pytest.approx(changed.opt.impratio)
    for name in ("dof_armature", "dof_frictionloss", "dof_damping", "jnt_solref", "jnt_solimp", "dof_invweight0"):
        assert getattr(written, name) == pytest.approx(getattr(changed, name), rel=1e-6, abs=1e-9), name
    for name in sim.joint_names:
        a, b = written.actuator(name), changed.actuator(name)
        assert a.gainprm == pytest.approx(b.gainprm)
        assert a.biasprm == pytest.approx(b.biasprm)
        assert a.forcerange == pytest.approx(b.forcerange)
    for k in range(written.ngeom):
        g = changed.geom(written.geom(k).name).id
        if written.geom_contype[k] or written.geom_conaffinity[k]:
            assert written.geom_solref[k] == pytest.approx(changed.geom_solref[g])
            assert written.geom_solimp[k] == pytest.approx(changed.geom_solimp[g])
            assert written.geom_friction[k, 0] == pytest.approx(changed.geom_friction[g, 0])


def test_zero_changes_nothing(anymal: Bed):
    same = anymal.changer.changed(np.zeros(len(anymal.parameters)))
    for name in ("actuator_gainprm", "actuator_biasprm", "dof_armature", "geom_solref", "geom_solimp", "geom_friction"):
        assert getattr(same, name) == pytest.approx(getattr(anymal.sim.model, name)), name


def test_a_fit_leaves_what_is_exact_alone(anymal: Bed):
    changed, before = anymal.changer.changed(somewhere(anymal.parameters)), anymal.sim.model
    exact = ("body_mass", "body_inertia", "body_ipos", "body_pos", "geom_size", "jnt_range", "actuator_forcerange")
    for name in (*exact, "jnt_axis", "jnt_pos", "geom_pos", "opt.timestep"):
        ours, theirs = changed, before
        for part in name.split("."):
            ours, theirs = getattr(ours, part), getattr(theirs, part)
        assert np.array_equal(ours, theirs), name


def test_rollouts_are_what_the_simulator_does(anymal: Bed):
    trial = anymal.rollouts.trials[0]
    (ours,), *_ = zip(*anymal.rollouts.run([anymal.sim.model]), strict=True)
    bench = Bench(anymal.sim, anymal.sim.joint_names)
    theirs = bench.run([trial])[0]
    assert ours.joint_pos == pytest.approx(theirs.joint_pos, abs=1e-7)
    assert ours.root_pos_w == pytest.approx(theirs.root_pos_w, abs=1e-7)


def as_recording(motion: Motion) -> Recording:
    """What a rollout gave, as if PhysX had been recorded."""
    ticks = len(motion.joint_pos)
    return Recording(
        time_s=np.arange(ticks) * 0.01,
        joint_pos=motion.joint_pos,
        joint_vel=np.zeros_like(motion.joint_pos),
        root_pos_w=motion.root_pos_w,
        root_quat_wxyz=motion.root_quat_wxyz,
        root_lin_vel_w=np.zeros((ticks, 3)),
        force_w=np.zeros((ticks, 3)),
    )


def test_a_fit_finds_numbers_that_were_hidden(cartpole: Bed):
    names = {p.name: k for k, p in enumerate(cartpole.parameters)}
    hidden = np.zeros(len(names))
    hidden[names["slider gain"]] = np.log(0.8)
    hidden[names["hinge_1 damping"]] = 0.2
    truth = [as_recording(m) for m in cartpole.rollouts.run([cartpole.changer.changed(hidden)])[0]]
    problem = Problem(
        names=cartpole.sim.joint_names,
        rollouts=cartpole.rollouts,
        truth=truth,
        changer=cartpole.changer,
        parameters=cartpole.parameters,
        weights=np.ones(2),
    )
    found = fit(problem)
    assert found.cost[1] < 1e-5 * found.cost[0]
    assert found.x[names["hinge_1 damping"]] == pytest.approx(0.2, abs=0.005)
    # a softer drive swings as a heavier cart does: the ratio is what shows
    soft = np.exp(found.x[names["slider gain"]]) / (1.1 + found.x[names["slider armature"]])
    assert soft == pytest.approx(0.8 / 1.1, rel=0.02)


def test_a_fit_stays_within_its_bounds(cartpole: Bed):
    x = np.zeros(len(cartpole.parameters))
    first = [p.kind for p in cartpole.parameters].index(Kind.GAIN)
    x[first] = np.log(0.1)  # the bound is 0.3
    truth = [as_recording(m) for m in cartpole.rollouts.run([cartpole.changer.changed(x)])[0]]
    problem = Problem(
        names=cartpole.sim.joint_names,
        rollouts=cartpole.rollouts,
        truth=truth,
        changer=cartpole.changer,
        parameters=cartpole.parameters,
        weights=np.ones(2),
    )
    found = fit(problem, steps=4)
    low, high = np.array([p.bounds for p in cartpole.parameters]).T
    assert (found.x >= low - 1e-9).all()
    assert (found.x <= high + 1e-9).all()
    assert found.cost[1] < 0.5 * found.cost[0]


def test_what_exploded_counts_as_a_bounded_error(cartpole: Bed):
    (motion, _), *_ = cartpole.rollouts.run([cartpole.sim.model])
    lost = Motion(
        joint_pos=np.full_like(motion.joint_pos, np.nan),
        root_pos_w=motion.root_pos_w,
        root_quat_wxyz=motion.root_quat_wxyz,
    )
    assert np.abs(errors(lost, as_recording(motion), np.ones(2))).max() == 1.0


def test_held_out_trials_are_others_and_a_seed_gives_the_same(cartpole: Bed):
    model = cartpole.sim.robot.robot
    assert model is not None
    facts = joint_facts(model, cartpole.sim, cartpole.sim.joint_names)

    def targets(seed: int) -> list[np.ndarray]:
        sets = make_trials(facts, seconds=2.0, seed=seed, lowest_m=None, root=np.zeros(3))
        trials = (*sets.train, *sets.held_out)
        return [np.array([t.position_targets(k / 100)[0] for k in range(200)]) for t in trials if t.position_targets]

    first, again, other = targets(0), targets(0), targets(1)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not any(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    assert all(np.abs(a - b).max() > 1e-3 for k, a in enumerate(first) for b in first[k + 1 :])


def test_a_fitted_file_says_what_was_fitted_and_opens_in_plain_mujoco(cartpole: Bed, tmp_path: Path):
    x = somewhere(cartpole.parameters)
    model = cartpole.sim.robot.robot
    assert model is not None
    result = Calibration(
        robot=model,
        settings=cartpole.sim.settings,
        effective={},
        parameters=tuple(cartpole.parameters),
        x=x,
        gaps=(Gap(trial="t", held_out=True, joint=(0.002, 0.001), base_m=None, noise=0.0),),
        rounds=1,
        diagnostics=(),
        seconds=0.0,
    )
    files = write_fitted(result, tmp_path / "fitted.xml")
    text = files[0].read_text(encoding="utf-8")
    opened = mujoco.MjModel.from_xml_path(str(files[0]))
    assert "Calibrated by isaaclab-mirror against PhysX" in text
    assert "held-out gap to PhysX 2 to 1 mrad" in text
    assert mujoco.mj_name2id(opened, mujoco.mjtObj.mjOBJ_TEXT, TEXT) >= 0
    changed = cartpole.changer.changed(x)
    assert opened.dof_armature == pytest.approx(changed.dof_armature, rel=1e-6)
    assert opened.actuator("slider").gainprm == pytest.approx(changed.actuator("slider").gainprm, rel=1e-6)


def test_no_file_but_mjcf_is_written(cartpole: Bed, tmp_path: Path):
    with pytest.raises(InputError, match="E037"):
        write_fitted(None, tmp_path / "fitted.urdf")  # type: ignore[arg-type]


def test_a_robot_without_drives_has_nothing_to_fit(usda: Usda):
    text = stage(robot("", body("base", cube("a")), body("arm", cube("b")), joint("Revolute", "hinge", "base", "arm")))
    with pytest.raises(InputError, match=r"E065.*no joint has a drive"):
        calibrate_robot(usda.write(text))


def test_a_robot_that_physx_refuses_is_refused_with_its_reason(data: Path):
    def refuses(*_: object) -> Simulator:
        raise InputError("E058", "cartpole_physx.usda", "it makes no articulation of it")

    with pytest.raises(InputError, match=r"PhysX: cartpole_physx.usda: error E058: it makes no articulation"):
        calibrate_robot(data / "cartpole" / "cartpole_physx.usda", CalibrationOptions(open_physx=refuses))


def test_a_state_that_explodes_in_physx_is_no_truth_to_fit(cartpole: Bed):
    class Exploding:
        """A bench whose engine gives up."""

        def run(self, trials: list[Trial]) -> list[Recording]:
            (motion, _), *_ = cartpole.rollouts.run([cartpole.sim.model])
            failure = InputError("E055", "PhysX", "the state exploded at joint 'slider'")
            return [replace(as_recording(motion), failure=failure) for _ in trials]

    with pytest.raises(InputError, match="exploded at joint 'slider'"):
        _recorded(Exploding(), cartpole.rollouts.trials, lambda _: None)  # type: ignore[arg-type]


def test_a_robot_that_is_unstable_in_mujoco_is_refused_with_joint_and_time(cartpole: Bed):
    stiff = cartpole.changer.changed(np.zeros(len(cartpole.parameters)))
    stiff.actuator_gainprm[:, 0], stiff.actuator_biasprm[:, 1] = 1e7, -1e7
    stiff.actuator_forcelimited[:] = 0
    truth = [as_recording(m) for m in cartpole.rollouts.run([cartpole.sim.model])[0]]
    problem = Problem(
        names=cartpole.sim.joint_names,
        rollouts=cartpole.rollouts,
        truth=truth,
        changer=ModelChanger(stiff, cartpole.parameters, cartpole.actuators),
        parameters=cartpole.parameters,
        weights=np.ones(2),
    )
    with pytest.raises(InputError, match=r"E055.*joint '\w+' runs away"):
        _refuse_unstable(problem)


def test_a_start_of_a_joint_that_is_not_there_is_refused_by_name(data: Path):
    options = CalibrationOptions(start={"hinge": 1.0})
    with pytest.raises(InputError, match="did you mean 'hinge_1'"):
        calibrate_robot(data / "cartpole" / "cartpole_physx.usda", options)


@needs_physx
@pytest.mark.physx
@pytest.mark.slow
@pytest.mark.shared
def test_an_arm_comes_a_third_closer_to_physx_where_it_was_not_fitted(shared: Path):
    file = shared / "corpus-native" / "so_100" / "so_100.usd"
    first = calibrate_robot(file)
    assert first.lowered_by > 1 / 3  # 0.75 when this was written
    assert all(gap.noise is not None and gap.noise < 1e-5 for gap in first.gaps if gap.held_out)
    assert calibrate_robot(file).x == pytest.approx(first.x, abs=1e-9)


@needs_physx
@pytest.mark.physx
@pytest.mark.slow
@pytest.mark.shared
def test_a_robot_with_ball_joints_is_fitted_in_its_hinges(shared: Path):
    file = shared / "corpus-native" / "nv_humanoid" / "humanoid.usda"
    found = calibrate_robot(file, CalibrationOptions(seconds=0.3, steps=1))
    names = {p.joint for p in found.parameters if p.joint}
    assert "left_knee" in names
    assert not any(
        ":" in name and name.endswith((":0", ":1", ":2")) and name.startswith("left_thigh") for name in names
    )
