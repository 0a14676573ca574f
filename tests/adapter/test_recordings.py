"""What Isaac Lab 3 itself observed and commanded, from the states that it recorded beside (six tasks, 200 steps)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isaaclab_mirror.adapter.adapter import Adapter
from isaaclab_mirror.adapter.world import EmptyScene
from isaaclab_mirror.envs.scene import SimulatedScene
from isaaclab_mirror.sims.batched import cross, rotate
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.state import LinkStates, Start, State
from tests.adapter.recordings import ROBOTS, TASKS, Recording, wxyz

GO2 = "Isaac-Velocity-Flat-UnitreeGo2"
NOT_RECORDED = {"feet_body_forces"}
"""Ant's joint wrenches are not in the recording."""


class NoWrench(EmptyScene):
    def joint_wrench(self, bodies: Sequence[str]) -> Any:
        return np.zeros((2, len(bodies), 6))


@cache
def recording(task: str, folder: Path) -> Recording:
    return Recording(task, folder)


@pytest.fixture(params=TASKS)
def recorded(request: pytest.FixtureRequest, shared: Path) -> Recording:
    return recording(request.param, shared)


def test_every_observation_term_is_isaac_labs(recorded: Recording):
    adapter = recorded.adapter(scene=NoWrench())
    assert not adapter.missing
    assert adapter.policy_size == recorded.arrays["obs/policy"].shape[-1]
    assert list(adapter.observation_sizes["policy"]) == [name for name, _ in recorded.observations()]
    adapter.reset(recorded.state(0))
    worst: dict[str, float] = {}
    for step in range(recorded.steps + 1):
        recorded.hold_commands(adapter, step)
        ours = adapter.policy_input(adapter.observe(recorded.state(step)))
        assert ours.dtype == np.float32
        for name, part in recorded.observations():
            error = np.abs(ours[:, part] - recorded.arrays["obs/policy"][step][:, part]).max()
            worst[name] = max(worst.get(name, 0.0), float(error))
        if step < recorded.steps:
            adapter.process(recorded.arrays["action"][step])
    wrong = {name: error for name, error in worst.items() if error > 1e-5 and name not in NOT_RECORDED}
    assert not wrong
    assert set(worst) - NOT_RECORDED


def test_every_processed_action_is_isaac_labs(recorded: Recording):
    adapter = recorded.adapter(scene=NoWrench())
    adapter.reset(recorded.state(0))
    for step in range(recorded.steps):
        adapter.world.update(recorded.state(step))
        adapter.process(recorded.arrays["action"][step])
        assert np.array_equal(adapter.actions.processed, recorded.arrays["processed_action"][step])


def efforts(recorded: Recording, adapter: Adapter, step: int) -> list[Any]:
    """Applied effort of each physics step of a policy step, as Isaac Lab's telemetry has it."""
    found: list[Any] = []
    for substep in range(recorded.meta["decimation"]):
        state = recorded.state(step, substep - 1 if substep else None)
        adapter.apply(state)
        found.append(adapter.world.applied_effort.copy())
    return found


@pytest.mark.parametrize("task", [task for task in TASKS if task != "Isaac-Reach-Franka-OSC"])
def test_every_effort_of_every_physics_step_is_isaac_labs_to_the_bit(task: str, shared: Path):
    recorded = recording(task, shared)
    adapter = recorded.adapter(scene=NoWrench())
    adapter.measure_efforts()
    adapter.reset(recorded.state(0))
    for step in range(recorded.steps):
        adapter.process(recorded.arrays["action"][step])
        for substep, applied in enumerate(efforts(recorded, adapter, step)):
            assert np.array_equal(applied, recorded.arrays["sub_applied_effort"][step, :, substep])
    assert np.abs(recorded.arrays["sub_applied_effort"]).max() > 5.0


REWARDS = {
    "Isaac-Cartpole": 1e-7,
    "Isaac-Reach-Franka": 1e-7,
    "Isaac-Reach-Franka-OSC": 1e-7,
    # progress is a difference of float32 potentials near 6e4, whose last digit is 0.004
    "Isaac-Ant": 2e-4,
    GO2: 1e-7,
}
"""Tasks whose rewards can be computed from what was recorded, and how near."""


@pytest.mark.parametrize(("task", "tolerance"), list(REWARDS.items()))
def test_rewards_and_ends_are_isaac_labs(task: str, tolerance: float, shared: Path):
    """Contact forces are not recorded, so that the times of Go2's feet in the air are missing: whole physics steps."""
    recorded = recording(task, shared)
    adapter = recorded.adapter(scene=NoWrench())
    adapter.reset(recorded.state(0))
    arrays, decimation = recorded.arrays, recorded.meta["decimation"]
    errors: list[Any] = []
    for step in range(recorded.steps):
        recorded.hold_commands(adapter, step)
        adapter.world.update(recorded.state(step))
        adapter.process(arrays["action"][step])
        end = recorded.state(step + 1)
        for substep in range(decimation):
            if not adapter.actions.reads_state:
                adapter.apply(recorded.state(step, substep - 1 if substep else None))
            adapter.physics_stepped(end if substep + 1 == decimation else recorded.state(step, substep))
        result = adapter.step_done(end)
        errors.append(np.abs(result.reward - arrays["reward"][step]))
        assert np.array_equal(result.terminated, arrays["terminated"][step])
        assert np.array_equal(result.truncated, arrays["truncated"][step])
    paid = np.abs(arrays["reward"]).max()
    assert paid > 50.0 * tolerance
    if task == GO2:
        weight = next(term.weight for term in recorded.contract.rewards if term.name == "feet_air_time")
        steps = np.stack(errors) / (weight * recorded.meta["step_dt"] * recorded.meta["physics_dt"])
        assert np.abs(steps - steps.round()).max() < 0.01
        assert (steps.round() == 0.0).mean() > 0.5
    else:
        assert np.stack(errors).max() < tolerance


@pytest.mark.parametrize("task", list(ROBOTS))
def test_gains_limits_and_the_default_pose_are_those_of_the_running_task(task: str, shared: Path):
    recorded = recording(task, shared)
    adapter, constants, names = recorded.adapter(), recorded.arrays, recorded.joint_names
    stiffness, damping = adapter.implicit_gains()
    for index, name in enumerate(names):
        assert stiffness.get(name, 0.0) == pytest.approx(constants["const/joint_stiffness"][index], rel=1e-6)
        assert damping.get(name, 0.0) == pytest.approx(constants["const/joint_damping"][index], rel=1e-6)
    defaults = adapter.world.defaults
    assert defaults.joint_pos == pytest.approx(constants["const/default_joint_pos"], abs=1e-7)
    for ours, theirs in (
        (defaults.limits, constants["const/joint_pos_limits"]),
        (defaults.soft_limits, constants["const/soft_joint_pos_limits"]),
    ):
        bounded = np.isfinite(ours)
        assert ours[bounded] == pytest.approx(theirs[bounded], rel=1e-6, abs=1e-6)
        assert (np.abs(theirs[~bounded]) > 1e5).all()


@pytest.mark.parametrize("task", list(ROBOTS))
def test_an_episode_starts_in_the_tasks_default_root_pose(task: str, shared: Path):
    recorded = recording(task, shared)
    contract = replace(recorded.contract, events=())
    start = recorded.adapter(contract).draw_start([0])
    assert np.asarray(start.root_pos_w)[0] == pytest.approx(recorded.arrays["const/default_root_pose"][:3], abs=1e-6)
    turned = wxyz(recorded.arrays["const/default_root_pose"][3:])
    assert np.asarray(start.root_quat_wxyz)[0] == pytest.approx(turned, abs=1e-6)


class TestOperationalSpace:
    """Jacobian and mass matrix from MuJoCo; the hand's velocity from the recording.

    PhysX's link velocities after a step are not the Jacobian times its joint velocities (here up to 0.9 rad/s apart at
    15 m/s), and they are recorded once per policy step: so efforts are compared there.
    """

    @pytest.fixture
    def osc(self, shared: Path) -> Recording:
        return recording("Isaac-Reach-Franka-OSC", shared)

    def states(self, osc: Recording, simulator: MujocoSim, step: int) -> State:
        """MuJoCo's kinematics at the recorded joints, with the hand's recorded velocity."""
        arrays = osc.arrays
        joint_pos = dict(zip(osc.joint_names, arrays["joint_pos"][step].astype(float).T, strict=True))
        joint_vel = dict(zip(osc.joint_names, arrays["joint_vel"][step].astype(float).T, strict=True))
        simulator.reset(Start(joint_pos=joint_pos, joint_vel=joint_vel))
        state = simulator.read()
        hand, column = osc.body_names.index("panda_hand"), state.link_index("panda_hand")
        velocity = arrays["body_com_vel_w"][step][:, hand].astype(float)
        arm = rotate(state.link_quat_wxyz[:, column], np.tile(arrays["const/body_com_pose_b"][hand, :3], (2, 1)))
        links = {field: getattr(state.links, field).copy() for field in LinkStates.__slots__}
        links["lin_vel_w"][:, column] = velocity[:, :3] - cross(velocity[:, 3:], arm)
        links["ang_vel_w"][:, column] = velocity[:, 3:]
        return replace(state, find_links=lambda: LinkStates(**links))

    def worst(self, osc: Recording, simulator: MujocoSim) -> float:
        adapter = Adapter(
            osc.contract,
            joint_names=simulator.joint_names,
            link_names=simulator.link_names,
            env_count=osc.env_count,
            scene=SimulatedScene(simulator),
        )
        adapter.reset(self.states(osc, simulator, 0))
        arm = [simulator.joint_names.index(name) for name in osc.joint_names[:7]]
        worst = 0.0
        for step in range(osc.steps):
            state = self.states(osc, simulator, step)
            adapter.world.update(state)
            adapter.process(osc.arrays["action"][step])
            effort = adapter.apply(state).effort[:, arm]
            worst = max(worst, float(np.abs(effort - osc.arrays["sub_applied_effort"][step, :, 0, :7]).max()))
        return worst

    def test_efforts_are_isaac_labs(self, osc: Recording):
        with MujocoSim(osc.robot_file, env_count=2) as simulator:
            assert self.worst(osc, simulator) < 1e-5 * 87.0  # of the largest effort, 87 N·m

    def test_another_inertia_is_noticed(self, osc: Recording, monkeypatch: pytest.MonkeyPatch):
        mass_matrix = SimulatedScene.mass_matrix
        monkeypatch.setattr(SimulatedScene, "mass_matrix", lambda scene: 1.01 * mass_matrix(scene))
        with MujocoSim(osc.robot_file, env_count=2) as simulator:
            assert self.worst(osc, simulator) > 0.1
