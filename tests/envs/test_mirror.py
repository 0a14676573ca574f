"""The loop itself, on a pendulum whose motion is known, and episodes of policies in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from isaaclab_mirror.adapter.arrays import rotate
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.envs.episodes import Plan, run_episodes
from isaaclab_mirror.envs.measuring import feet_of
from isaaclab_mirror.envs.opening import open_mirror
from isaaclab_mirror.envs.rows import nominal_start
from isaaclab_mirror.sims.state import Start

STILL = [[0.0], [0.0], [0.0]]


def test_an_action_of_zero_holds_the_default_pose_and_an_action_moves_by_its_scale(pendulum):
    mirror = pendulum()
    mirror.starts = nominal_start(mirror.contract)
    mirror.reset()
    for _ in range(100):
        mirror.step(np.array([[0.0]]))
    rest = mirror.state.joint_pos[0, 0]
    for _ in range(100):
        mirror.step(np.array([[0.4]]))
    # stiffness 20 N·m/rad against gravity: m g l sin q with m = 1 kg, l ≈ 0.25 m
    balance = lambda q, target: 20.0 * (target - q) - 9.81 * 0.25 * np.sin(q)  # noqa: E731
    assert balance(rest, 0.3) == pytest.approx(0.0, abs=0.02)
    assert balance(mirror.state.joint_pos[0, 0], 0.3 + 0.5 * 0.4) == pytest.approx(0.0, abs=0.02)


def test_the_observation_is_relative_to_the_default_with_the_last_action_raw_and_no_noise(pendulum):
    mirror = pendulum()
    mirror.starts = Start(joint_pos={"swing": 0.5})
    mirror.reset()
    np.testing.assert_allclose(mirror.observe(), [[0.2, 0.0, 0.0]], atol=1e-6)
    mirror.step(np.array([[0.7]]))
    mirror.follow_up()
    assert mirror.observe()[0, 2] == pytest.approx(0.7)


def test_noise_is_there_on_request(pendulum):
    mirror = pendulum(noise=True, env_count=200)
    mirror.starts = nominal_start(mirror.contract)
    mirror.reset()
    noise = mirror.observe()[:, 0]
    assert noise.std() == pytest.approx(0.5 / 3**0.5, rel=0.2)
    assert np.abs(noise).max() <= 0.5 + 1e-6


def test_the_episode_ends_after_its_length_and_the_reward_is_weight_times_step(pendulum, linear):
    episode = run_episodes(pendulum(), linear(STILL))[0]
    assert (episode.seconds, episode.termination, episode.fell) == (pytest.approx(1.0), "time_out", False)
    assert episode.total_return == pytest.approx(1.0)
    assert episode.reward_terms == {"alive": pytest.approx(1.0)}


def test_a_termination_of_the_task_is_a_fall_with_its_name(pendulum, linear):
    episode = run_episodes(pendulum(), linear([[0.0], [0.0], [1.0]]), Plan(starts=Start(joint_pos={"swing": 2.5})))[0]
    assert (episode.fell, episode.termination, episode.seconds) == (True, "far", pytest.approx(0.02))


def test_episodes_begin_in_the_tasks_own_range_each_from_its_seed(pendulum, linear):
    begins = {}
    for count in (1, 4):

        class Watch:
            def begin(self, mirror, episodes):
                for row, number in enumerate(episodes):
                    begins.setdefault(count, {})[number] = float(mirror.state.joint_pos[row, 0])  # noqa: B023

            def add(self, mirror, moment):
                pass

        run_episodes(
            pendulum(env_count=count), linear(STILL), Plan(episodes=6, seconds=0.1, seed=7), recorders=[Watch()]
        )
    assert begins[1] == pytest.approx(begins[4])
    values = np.array(list(begins[1].values()))
    assert len(set(values.round(6))) == 6
    assert ((values > 0.1 - 1e-6) & (values < 0.5 + 1e-6)).all()


def test_the_same_plan_gives_the_same_episodes_to_the_last_bit(pendulum, linear):
    policy = linear([[0.5], [-0.1], [0.2]])
    first, second = (run_episodes(pendulum(env_count=2), policy, Plan(episodes=3, seed=5)) for _ in range(2))
    assert [e.to_json() for e in first] == [e.to_json() for e in second]


def test_given_starts_are_used_row_by_row_whatever_the_number_of_environments(pendulum, linear):
    starts = Start(joint_pos={"swing": np.array([0.1, 0.2, 2.5])}, joint_vel={"swing": 0.0})
    for count in (1, 2, 3):
        ends = [
            e.termination
            for e in run_episodes(pendulum(env_count=count), linear(STILL), Plan(episodes=3, starts=starts))
        ]
        assert ends == ["time_out", "time_out", "far"]


def test_an_observation_that_is_not_finite_fails_its_episode_and_names_its_term(pendulum, linear):
    mirror = pendulum(env_count=2)
    compute = mirror.adapter.observe
    steps = iter(range(100))

    def broken(state, **kwargs):
        groups = compute(state, **kwargs)
        if next(steps) == 5:
            groups["policy"][1, 1] = np.nan
        return groups

    mirror.adapter.observe = broken
    good, bad = run_episodes(mirror, linear(STILL), Plan(episodes=2))
    assert (good.termination, good.failed) == ("time_out", False)
    assert (bad.termination, bad.failed, bad.seconds) == ("nan observation", True, pytest.approx(0.1))
    assert "observation 'v' is nan after 5 steps" in bad.message


def test_physics_that_explodes_fails_its_episode_and_leaves_the_others_as_they_were(pendulum, linear):
    policy = linear([[0.5], [-0.1], [0.2]])
    alone = run_episodes(pendulum(), policy, Plan(starts=Start(joint_pos={"swing": 0.1}), seconds=0.5))[0]
    mirror = pendulum(env_count=2)
    step, calls = mirror.simulator.step, iter(range(100))

    def thrown(count=1):
        if next(calls) == 6:
            mirror.simulator._batch.qvel[1] = 1e9
        step(count)

    mirror.simulator.step = thrown
    starts = Start(joint_pos={"swing": 0.1})
    good, bad = run_episodes(mirror, policy, Plan(episodes=2, starts=starts, seconds=0.5))
    assert (bad.termination, bad.failed, bad.fell, bad.seconds) == ("exploded", True, False, pytest.approx(0.14))
    assert "the state exploded at joint 'swing'" in bad.message
    assert good.total_return == pytest.approx(alone.total_return, rel=1e-9)
    assert good.energy_j == pytest.approx(alone.energy_j, rel=1e-6)


def test_a_policy_of_another_size_is_refused_with_the_terms(pendulum, linear):
    with pytest.raises(InputError, match=r"takes 2 values, the contract's observation has 3 = q 1 \+ v 1 \+ last 1"):
        run_episodes(pendulum(), linear([[0.0], [0.0]]))


def test_rates_are_the_policys_and_cannot_be_set(pendulum):
    with pytest.raises(InputError, match=r"timestep_s is what the policy was trained at"):
        pendulum(settings={"timestep_s": 0.001})


def test_a_velocity_command_for_a_task_without_one_is_refused(pendulum):
    with pytest.raises(InputError, match=r"the task has no velocity command[\s\S]*leave --command out"):
        pendulum(commands={"velocity": (0.5, 0.0, 0.0)})


def test_an_unknown_simulator_is_refused_with_those_that_are_known(pendulum):
    with pytest.raises(InputError, match=r"'bullet' is no simulator[\s\S]*mujoco, physx"):
        pendulum(sim="bullet")


def test_pushes_are_left_out_unless_asked_for(contract, pendulum):
    from isaaclab_mirror.contract.contract import Term

    push = Term(
        name="push", func="isaaclab.envs.mdp.events:push_by_setting_velocity", mode="interval", interval_s=(0.1, 0.1)
    )
    events = (*contract.events, replace(push, params={"velocity_range": {"x": (0.5, 0.5)}}))
    quiet, loud = (pendulum(contract={"events": events}, pushes=pushes) for pushes in (False, True))
    assert [len(m.contract.events) for m in (quiet, loud)] == [1, 2]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("folder", "feet"),
    [
        ("go2-velocity-robot_lab", {"FL_calf", "FR_calf", "RL_calf", "RR_calf"}),
        ("h1-velocity-flat-isaaclab", {"left_ankle_link", "right_ankle_link"}),
    ],
)
def test_feet_are_the_ends_of_chains_with_the_middle_of_their_lowest_shape(shared, folder: str, feet: set[str]):
    with open_mirror(shared / "policies" / folder) as mirror:
        mirror.starts = nominal_start(mirror.contract)
        mirror.reset()
        found = feet_of(mirror)
        assert {mirror.simulator.link_names[column] for column in found} == feet
        for column, point in found.items():
            place = rotate(mirror.state.link_quat_wxyz[0, column], np.array(point)) + mirror.state.link_pos_w[0, column]
            assert place[2] < 0.2  # the quadruped is dropped from 0.11 m
