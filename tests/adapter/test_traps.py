"""The traps of moving a policy from Isaac Lab to MuJoCo: each is set on purpose, and what Isaac Lab recorded tells.

Every test names one mistake that people make (or that this code might make one day), makes it, and requires that the
comparison with the recording notices it by far more than the 1e-5 that the right way keeps (`test_recordings`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isaaclab_mirror.adapter import world
from isaaclab_mirror.adapter.adapter import Adapter
from isaaclab_mirror.adapter.arrays import conjugate, rotate, rotate_back
from isaaclab_mirror.contract.contract import ActionTerm, Contract, Order, Wrapper
from isaaclab_mirror.sims.state import State
from tests.adapter.recordings import Recording

STEPS = 100
GO2, H1, REACH = "Isaac-Velocity-Flat-UnitreeGo2", "Isaac-Velocity-Flat-H1", "Isaac-Reach-Franka"
States = Callable[[int], State]


@cache
def recording(task: str, folder: Path) -> Recording:
    return Recording(task, folder)


@pytest.fixture
def go2(shared: Path) -> Recording:
    return recording(GO2, shared)


@pytest.fixture
def h1(shared: Path) -> Recording:
    return recording(H1, shared)


@pytest.fixture
def reach(shared: Path) -> Recording:
    return recording(REACH, shared)


def observed(recorded: Recording, adapter: Adapter, term: str, states: States | None = None) -> float:
    """Largest error of one observation term over the recording."""
    state = states or recorded.state
    adapter.reset(state(0))
    part = dict(recorded.observations())[term]
    worst = 0.0
    for step in range(STEPS):
        recorded.hold_commands(adapter, step)
        ours = adapter.policy_input(adapter.observe(state(step)))[:, part]
        worst = max(worst, float(np.abs(ours - recorded.arrays["obs/policy"][step][:, part]).max()))
        adapter.process(recorded.arrays["action"][step])
    return worst


def processed(recorded: Recording, adapter: Adapter, steps: int = STEPS) -> float:
    """Largest error of the processed actions."""
    adapter.reset(recorded.state(0))
    worst = 0.0
    for step in range(steps):
        adapter.process(recorded.arrays["action"][step])
        error = np.abs(adapter.actions.processed - recorded.arrays["processed_action"][step]).max()
        worst = max(worst, float(error))
    return worst


def applied(recorded: Recording, adapter: Adapter, *, hold: bool = False) -> float:
    """Largest error of the efforts over all physics steps; `hold`: computed once per policy step."""
    adapter.measure_efforts()
    adapter.reset(recorded.state(0))
    worst = 0.0
    for step in range(STEPS):
        adapter.process(recorded.arrays["action"][step])
        for substep in range(recorded.meta["decimation"]):
            if substep == 0 or not hold:
                adapter.apply(recorded.state(step, substep - 1 if substep else None))
            theirs = recorded.arrays["sub_applied_effort"][step, :, substep]
            worst = max(worst, float(np.abs(adapter.world.applied_effort - theirs).max()))
    return worst


def with_actions(contract: Contract, **changes: Any) -> Contract:
    return replace(contract, actions=tuple(replace(term, **changes) for term in contract.actions))


def with_group(contract: Contract, **changes: Any) -> Contract:
    return replace(contract, observations=tuple(replace(group, **changes) for group in contract.observations))


def with_term(contract: Contract, name: str, **changes: Any) -> Contract:
    terms = tuple(replace(term, **changes) if term.name == name else term for term in contract.group("policy").terms)
    return with_group(contract, terms=terms)


def depth_first(recorded: Recording) -> tuple[str, ...]:
    """MuJoCo's order of a quadruped's joints: leg by leg."""
    return tuple(sorted(recorded.joint_names, key=lambda name: name[:2]))


# --- orders


def test_joint_order_of_the_policy_taken_for_the_simulators(go2: Recording):
    """Breadth first in Isaac Lab, depth first in MuJoCo: matched by number, the robot falls within a second."""
    wrong = replace(go2.contract, joints=Order(names=depth_first(go2)))
    assert observed(go2, go2.adapter(wrong), "joint_pos") > 0.5
    assert observed(go2, go2.adapter(), "joint_pos") < 1e-5


def test_joint_order_of_the_simulator_makes_no_difference(go2: Recording):
    order = depth_first(go2)
    columns = [go2.joint_names.index(name) for name in order]

    def state(step: int, substep: int | None = None) -> State:
        given = go2.state(step, substep)
        return replace(
            given, joint_names=order, joint_pos=given.joint_pos[:, columns], joint_vel=given.joint_vel[:, columns]
        )

    adapter = Adapter(go2.contract, joint_names=order, link_names=go2.body_names, env_count=2)
    assert observed(go2, adapter, "joint_pos", state) < 1e-5
    adapter.process(go2.arrays["action"][0])
    commands = adapter.apply(state(0))
    theirs = go2.arrays["sub_applied_effort"][0, :, 0]
    assert np.array_equal(commands.effort, theirs[:, columns])  # told in the simulator's order
    assert np.array_equal(adapter.world.applied_effort, theirs)


def test_efforts_told_in_the_policys_order(go2: Recording, monkeypatch: pytest.MonkeyPatch):
    """`data.ctrl[:] = effort` without going back through the names."""
    order = depth_first(go2)
    columns = [go2.joint_names.index(name) for name in order]
    right = world.Layout.of

    def unmapped(*names: Any) -> world.Layout:
        return replace(right(*names), back=np.arange(12))

    monkeypatch.setattr(world.Layout, "of", unmapped)
    adapter = Adapter(go2.contract, joint_names=order, link_names=go2.body_names, env_count=2)
    adapter.reset(go2.state(0))
    adapter.process(go2.arrays["action"][0])
    given = go2.state(0)
    state = replace(given, joint_pos=given.joint_pos[:, columns], joint_vel=given.joint_vel[:, columns])
    theirs = go2.arrays["sub_applied_effort"][0, :, 0]
    assert np.abs(adapter.apply(state).effort - theirs[:, columns]).max() > 5.0


def test_preserve_order_keeps_the_order_of_the_list(go2: Recording):
    """Off, the articulation's order holds even where names are listed differently."""
    listed = depth_first(go2)
    term = ActionTerm(name="a", kind="JointPositionAction", joint_patterns=listed, scale=(1.0,))

    def joints(*, ordered: bool) -> tuple[str, ...]:
        contract = replace(go2.contract, actions=(replace(term, preserve_order=ordered),))
        return go2.adapter(contract).actions.terms[0].joint_names

    assert joints(ordered=True) == listed
    assert joints(ordered=False) == go2.joint_names


def test_preserve_order_that_is_ignored(go2: Recording):
    listed = depth_first(go2)
    contract = with_actions(go2.contract, joints=listed, preserve_order=True)
    adapter = go2.adapter(contract)
    adapter.reset(go2.state(0))
    raw = np.tile(np.arange(12.0), (2, 1))
    adapter.process(raw)
    told = adapter.apply(go2.state(0)).position
    scale, offset = np.asarray(contract.actions[0].scale), np.asarray(contract.actions[0].offset)
    right = (raw * scale + offset)[0]
    assert told[0, [go2.joint_names.index(name) for name in listed]] == pytest.approx(right, abs=1e-6)
    assert np.abs(told[0] - right).max() > 0.1


def test_gains_in_another_order_than_their_joints(h1: Recording):
    """A deploy file's stiffness stands in the order of the motors, the default pose in that of training."""
    groups = tuple(
        replace(group, stiffness=group.stiffness[::-1], damping=group.damping[::-1]) for group in h1.contract.actuators
    )
    assert applied(h1, h1.adapter(replace(h1.contract, actuators=groups))) > 1.0
    assert applied(h1, h1.adapter()) == 0.0


# --- frames


def test_quaternion_read_in_the_other_order(go2: Recording):
    def state(step: int) -> State:
        given = go2.state(step)
        return replace(given, root_quat_wxyz=given.root_quat_wxyz[:, [1, 2, 3, 0]])

    assert observed(go2, go2.adapter(), "projected_gravity", state) > 0.5


def test_quaternion_of_a_command_shown_in_the_other_order(reach: Recording):
    """Isaac Lab 3 shows xyzw, Isaac Lab 2 wxyz: the generation of the run decides."""
    assert observed(reach, reach.adapter(replace(reach.contract, quat_order="wxyz")), "pose_command") > 0.5
    assert observed(reach, reach.adapter(), "pose_command") < 1e-5


def test_velocity_of_the_base_left_in_world_axes(go2: Recording, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(world.Asset, "root_lin_vel_b", property(lambda asset: asset.root_lin_vel_w))
    assert observed(go2, go2.adapter(), "base_lin_vel") > 0.05


def test_velocity_of_the_base_taken_at_the_links_origin(go2: Recording):
    """Isaac Lab means the centre of mass; MuJoCo's free joint has the origin's."""
    com = go2.arrays["const/body_com_pose_b"][0, :3]

    def state(step: int) -> State:
        given = go2.state(step)
        arm = rotate(given.root_quat_wxyz, np.tile(com, (2, 1)))
        return replace(given, root_com_lin_vel_w=given.root_com_lin_vel_w - np.cross(given.root_ang_vel_w, arm))

    assert observed(go2, go2.adapter(), "base_lin_vel", state) > 0.01
    assert observed(go2, go2.adapter(), "base_lin_vel") < 1e-5


def test_angular_velocity_rotated_twice(go2: Recording):
    """MuJoCo's `qvel[3:6]` of a free joint is in the body's axes already; small while the robot is upright."""

    def state(step: int) -> State:
        given = go2.state(step)
        return replace(given, root_ang_vel_w=rotate_back(given.root_quat_wxyz, given.root_ang_vel_w))

    assert observed(go2, go2.adapter(), "base_ang_vel", state) > 0.1


def test_rotation_turned_the_wrong_way(go2: Recording):
    def state(step: int) -> State:
        given = go2.state(step)
        return replace(given, root_quat_wxyz=conjugate(given.root_quat_wxyz))

    assert observed(go2, go2.adapter(), "base_lin_vel", state) > 0.05


def test_gravity_of_981_instead_of_a_unit_vector(go2: Recording):
    adapter = go2.adapter()
    adapter.world.gravity = np.array([0.0, 0.0, -9.81])
    assert observed(go2, adapter, "projected_gravity") > 8.0


# --- observations


def test_joint_positions_that_are_not_relative_to_the_default_pose(go2: Recording):
    adapter = go2.adapter()
    adapter.world.defaults.joint_pos = np.zeros(12)
    assert observed(go2, adapter, "joint_pos") == pytest.approx(1.5, abs=0.01)


def test_last_action_after_scale_and_offset(go2: Recording):
    term = go2.contract.group("policy").terms[-1]
    assert term.func_name == "last_action"
    func = "isaaclab_tasks.contrib.dr_legs.mdp.observations:joint_position_setpoints"
    wrong = with_term(go2.contract, term.name, func=func, params={"action_term_name": "joint_pos"})
    assert observed(go2, go2.adapter(wrong), "actions") > 0.5


def test_last_action_that_the_wrapper_clipped(go2: Recording):
    """`clip_actions` of the agent bounds the action before the environment, and `last_action`, see it."""
    contract = replace(go2.contract, wrapper=Wrapper(clip_actions=((-0.5, 0.5),)))
    adapter = go2.adapter(contract)
    adapter.reset(go2.state(0))
    action = go2.arrays["action"][0]
    adapter.process(action)
    last = adapter.policy_input(adapter.observe(go2.state(1)))[:, -12:]
    assert np.array_equal(last, np.clip(action, -0.5, 0.5))
    assert adapter.actions.processed == pytest.approx(
        np.clip(action, -0.5, 0.5) * 0.25 + np.asarray(contract.actions[0].offset), abs=1e-6
    )


def test_last_action_is_zero_after_a_reset(go2: Recording):
    adapter = go2.adapter()
    adapter.reset(go2.state(0))
    adapter.process(go2.arrays["action"][0])
    adapter.reset(go2.state(0), [1])
    last = adapter.policy_input(adapter.observe(go2.state(0)))[:, -12:]
    assert np.array_equal(last[0], go2.arrays["action"][0][0])
    assert not last[1].any()


def test_noise_left_on(go2: Recording):
    """The config of a training run says `enable_corruption: true`; at play it is off."""
    noisy = with_group(go2.contract, enable_corruption=True)
    assert observed(go2, go2.adapter(noisy, noise=True), "joint_vel") > 1.0
    assert observed(go2, go2.adapter(noisy), "joint_vel") < 1e-5


def test_clip_comes_before_scale(go2: Recording):
    contract = with_term(go2.contract, "joint_vel", clip=(-1.0, 1.0), scale=(0.05,))
    adapter = go2.adapter(contract)
    adapter.reset(go2.state(0))
    speeds = go2.arrays["joint_vel"][10]
    assert np.abs(speeds).max() > 2.0
    part = dict(go2.observations())["joint_vel"]
    ours = adapter.policy_input(adapter.observe(go2.state(10)))[:, part]
    assert ours == pytest.approx(np.clip(speeds, -1.0, 1.0) * 0.05, abs=1e-7)
    assert np.abs(ours - np.clip(speeds * 0.05, -1.0, 1.0)).max() > 0.05


# --- history


def history_of(go2: Recording, length: int = 3, **changes: Any) -> Adapter:
    terms = tuple(replace(term, history_length=length) for term in go2.contract.group("policy").terms)
    adapter = go2.adapter(with_group(go2.contract, terms=terms, **changes))
    adapter.reset(go2.state(0))
    return adapter


def pushed(go2: Recording, adapter: Adapter, steps: int = 3) -> Any:
    """The observation after some steps, and the plain ones of each step."""
    plain = go2.adapter()
    plain.reset(go2.state(0))
    samples: list[Any] = []
    last: Any = None
    for step in range(steps):
        for each in (adapter, plain):
            go2.hold_commands(each, step)
        last = adapter.policy_input(adapter.observe(go2.state(step)))
        samples.append(plain.policy_input(plain.observe(go2.state(step))))
        for each in (adapter, plain):
            each.process(go2.arrays["action"][step])
    return last, samples


def test_history_is_term_by_term_oldest_first(go2: Recording):
    last, samples = pushed(go2, history_of(go2))
    parts = [np.concatenate([sample[:, part] for sample in samples], axis=-1) for _, part in go2.observations()]
    assert np.array_equal(last, np.concatenate(parts, axis=-1))


@pytest.mark.parametrize("trap", ["frame by frame", "newest first"])
def test_history_in_another_layout(go2: Recording, trap: str):
    """Frame by frame fell after 0.36 s, newest first after 1.2 s (a published policy)."""
    last, samples = pushed(go2, history_of(go2))
    wrong = np.concatenate(samples, axis=-1)
    if trap == "newest first":
        frames = samples[::-1]
        wrong = np.concatenate([np.concatenate([f[:, p] for f in frames], axis=-1) for _, p in go2.observations()], -1)
    assert np.abs(last - wrong).max() > 0.5


def test_history_of_a_group_in_time_order(go2: Recording):
    last, samples = pushed(go2, history_of(go2, history_order="time", history_length=3))
    assert np.array_equal(last, np.concatenate(samples, axis=-1))


def test_history_with_lags_of_a_deploy_stack(go2: Recording):
    last, samples = pushed(go2, history_of(go2, history_lags=(0, 1, 2)))
    frames = samples[::-1]
    parts = [np.concatenate([f[:, p] for f in frames], axis=-1) for _, p in go2.observations()]
    assert np.array_equal(last, np.concatenate(parts, axis=-1))


def test_the_first_sample_fills_the_whole_history(go2: Recording):
    last, samples = pushed(go2, history_of(go2), steps=1)
    parts = [np.tile(samples[0][:, part], 3) for _, part in go2.observations()]
    assert np.array_equal(last, np.concatenate(parts, axis=-1))
    zeros, _ = pushed(go2, history_of(go2, history_fill="zero"), steps=1)
    assert np.abs(last - zeros).max() > 0.5  # the trap: zeros before the first sample


def test_a_reset_refills_the_history_of_its_environment_alone(go2: Recording):
    adapter = history_of(go2)
    before, _ = pushed(go2, adapter)
    adapter.reset(go2.state(50), [1])
    go2.hold_commands(adapter, 50)
    after = adapter.policy_input(adapter.observe(go2.state(50)))
    rows = after.reshape(2, -1)
    part = slice(6 * 3 + 3 * 3 + 3 * 3, 6 * 3 + 3 * 3 + 3 * 3 + 12 * 3)  # joint_pos, three frames
    newest = rows[:, part].reshape(2, 3, 12)
    assert np.array_equal(newest[1, 0], newest[1, 2])
    assert np.abs(newest[0, 0] - newest[0, 2]).max() > 1e-3
    assert before.shape == after.shape


def test_an_observation_that_is_not_pushed_shows_the_old_history(go2: Recording):
    adapter = history_of(go2)
    last, _ = pushed(go2, adapter)
    looked = adapter.policy_input(adapter.observe(go2.state(20), push=False))
    assert np.array_equal(looked, last)


def test_the_input_size_counts_every_frame(go2: Recording):
    assert history_of(go2).policy_size == 3 * 48


# --- actions and motors


def test_action_without_the_default_pose(go2: Recording):
    wrong = with_actions(go2.contract, offset=(0.0,) * 12, use_default_offset=False)
    assert processed(go2, go2.adapter(wrong)) == pytest.approx(1.5, abs=1e-5)
    assert processed(go2, go2.adapter()) == 0.0


def test_action_clip_comes_after_scale_and_offset(go2: Recording):
    contract = with_actions(go2.contract, clip=((-0.2, 0.2),) * 12)
    adapter = go2.adapter(contract)
    adapter.reset(go2.state(0))
    action = go2.arrays["action"][0]
    adapter.process(action)
    offset = np.asarray(contract.actions[0].offset)
    assert adapter.actions.processed == pytest.approx(np.clip(action * 0.25 + offset, -0.2, 0.2), abs=1e-6)
    assert np.abs(adapter.actions.processed - (np.clip(action, -0.2, 0.2) * 0.25 + offset)).max() > 0.5


def test_motors_computed_once_per_policy_step(go2: Recording):
    """Torques are computed in every physics step; held over the decimation they are off by much."""
    assert applied(go2, go2.adapter(), hold=True) > 5.0
    assert applied(go2, go2.adapter()) == 0.0


def test_relative_targets_creep_with_the_joint(go2: Recording):
    """A relative action adds the position of every physics step, not that of the policy step."""
    contract = with_actions(go2.contract, kind="RelativeJointPositionAction", class_type="", params={})
    adapter = go2.adapter(contract)
    adapter.reset(go2.state(0))
    assert adapter.reads_every_step
    adapter.process(go2.arrays["action"][0])
    targets = [adapter.apply(go2.state(0, substep)).position.copy() for substep in (0, 3)]
    moved = go2.arrays["sub_joint_pos"][0, :, 3] - go2.arrays["sub_joint_pos"][0, :, 0]
    assert targets[1] - targets[0] == pytest.approx(moved, abs=1e-6)
    assert np.abs(moved).max() > 0.01


def test_decimation_and_step_are_the_runs(go2: Recording):
    """A deploy file has the policy's step alone: twice the rate still walks, and nobody notices."""
    adapter = go2.adapter()
    assert adapter.world.step_dt == pytest.approx(go2.meta["step_dt"])
    assert go2.contract.sim.decimation == go2.meta["decimation"]
    assert adapter.max_episode_steps == 1000
    halved = replace(go2.contract, sim=replace(go2.contract.sim, decimation=2))
    assert go2.adapter(halved).max_episode_steps == 2000


def test_an_episode_ends_by_time_after_its_last_step(go2: Recording):
    adapter = go2.adapter()
    adapter.reset(go2.state(0))
    adapter.world.episode_steps[:] = [997, 998]
    assert adapter.step_done(go2.state(0)).truncated.tolist() == [False, False]
    assert adapter.step_done(go2.state(0)).truncated.tolist() == [False, True]


def test_limits_and_gains_taken_in_degrees(h1: Recording):
    """USD states angles and angular gains per degree."""
    degrees = np.rad2deg(h1.adapter().world.defaults.limits)
    assert np.abs(degrees - h1.arrays["const/joint_pos_limits"]).max() > 10.0
    per_degree = tuple(replace(group, stiffness=tuple(np.deg2rad(group.stiffness))) for group in h1.contract.actuators)
    assert applied(h1, h1.adapter(replace(h1.contract, actuators=per_degree))) > 10.0


def test_joints_without_an_action_held_at_their_default(reach: Recording):
    """Targets of joints that no action commands are 0: Reach-Franka closes its fingers."""
    adapter = reach.adapter()
    fingers = [reach.joint_names.index(name) for name in reach.joint_names if "finger" in name]
    default = adapter.world.defaults.joint_pos[fingers]
    assert (default > 0.03).all()
    adapter.reset(reach.state(0))
    adapter.process(reach.arrays["action"][0])
    assert not adapter.apply(reach.state(0)).position[:, fingers].any()
    assert applied(reach, adapter) == 0.0
    trapped = reach.adapter()
    trapped.actions.targets.position[:, fingers] = default
    assert applied(reach, trapped) > 1.0


def test_gains_of_explicit_motors_left_in_the_engines_drive(go2: Recording, h1: Recording):
    """Explicit motors act by effort alone: the engine's own drive has zero gains, or both act."""
    stiffness, damping = go2.adapter().implicit_gains()
    assert set(stiffness.values()) == set(damping.values()) == {0.0}
    assert min(h1.adapter().implicit_gains()[0].values()) > 0.0


def test_an_episode_started_at_zero_joints(go2: Recording):
    """The start is `init_state` and the reset events, not the file's zero pose."""
    start = go2.adapter(seed=3).draw_start([0, 1])
    assert isinstance(start.joint_pos, dict)
    default = dict(zip(go2.joint_names, go2.arrays["const/default_joint_pos"], strict=True))
    for name, value in start.joint_pos.items():
        assert np.abs(value).max() <= abs(default[name]) * 1.5 + 1e-6
        assert np.abs(value).min() >= abs(default[name]) * 0.5 - 1e-6
    assert np.asarray(start.root_pos_w)[:, 2] == pytest.approx(0.4)


def test_a_seed_draws_the_same_start_again(go2: Recording):
    a, b, c = (go2.adapter(seed=seed).draw_start([0, 1]) for seed in (1, 1, 2))
    first, again, other = (np.asarray(start.root_pos_w) for start in (a, b, c))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
