"""How episodes begin, what is commanded in them, what kicks them, and when they end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from isaaclab_mirror.adapter.adapter import Adapter
from isaaclab_mirror.adapter.world import EmptyScene
from isaaclab_mirror.contract.contract import Contract, Term
from isaaclab_mirror.diagnostics import InputError
from tests.adapter.recordings import Recording, wxyz

COMMANDS = "isaaclab.envs.mdp.commands"


@pytest.fixture
def go2(shared: Path) -> Recording:
    return Recording("Isaac-Velocity-Flat-UnitreeGo2", shared)


@pytest.fixture
def cartpole(shared: Path) -> Recording:
    return Recording("Isaac-Cartpole", shared)


@pytest.fixture
def reach(shared: Path) -> Recording:
    return Recording("Isaac-Reach-Franka", shared)


def recorded_starts(shared: Path, run: str) -> dict[str, Any]:
    """Of the genuine task, 100 episodes."""
    with np.load(shared / "policies" / run / "evaluation.npz") as file:
        return {name.removeprefix("init/"): file[name] for name in file.files if "init/" in name or "origins" in name}


def many(recorded: Recording, count: int, contract: Contract | None = None) -> Adapter:
    return Adapter(
        contract or recorded.contract,
        joint_names=recorded.joint_names,
        link_names=recorded.body_names,
        env_count=count,
        seed=5,
    )


def alike(ours: Any, theirs: Any) -> bool:
    """Whether two samples may come from one distribution (Kolmogorov and Smirnov, one in a thousand)."""
    if np.ptp(theirs) < 1e-6:
        return bool(np.allclose(ours, theirs[0], atol=1e-6))
    return bool(stats.ks_2samp(np.ravel(ours), np.ravel(theirs)).pvalue > 1e-3)


def test_cartpole_starts_as_in_isaac_lab(cartpole: Recording, shared: Path):
    theirs = recorded_starts(shared, "cartpole-isaaclab3-here")
    start = many(cartpole, 1000).draw_start()
    assert isinstance(start.joint_pos, dict)
    assert isinstance(start.joint_vel, dict)
    for column, name in enumerate(cartpole.joint_names):
        assert alike(start.joint_pos[name], theirs["joint_pos"][:, column])
        assert alike(start.joint_vel[name], theirs["joint_vel"][:, column])
        assert np.ptp(start.joint_vel[name]) > 0.5
        assert not alike(np.zeros(1000), theirs["joint_pos"][:, column])


def test_go2_starts_as_in_isaac_lab(go2: Recording, shared: Path):
    theirs = recorded_starts(shared, "go2-flat-isaaclab3-here")
    start = many(go2, 1000).draw_start()
    assert isinstance(start.joint_pos, dict)
    for column, name in enumerate(go2.joint_names):
        assert alike(start.joint_pos[name], theirs["joint_pos"][:, column])
    pose = theirs["root_link_pose_w"]
    pos, quat = np.asarray(start.root_pos_w), np.asarray(start.root_quat_wxyz)
    for axis in range(3):
        assert alike(pos[:, axis], (pose[:, :3] - theirs["env_origins"])[:, axis])
    yaws = [2.0 * np.arctan2(q[:, 3], q[:, 0]) for q in (quat, wxyz(pose[:, 3:]))]
    assert alike(np.cos(yaws[0]), np.cos(yaws[1]))
    velocity = np.concatenate([np.asarray(start.root_com_lin_vel_w), np.asarray(start.root_ang_vel_w)], axis=1)
    for axis in range(6):
        assert alike(velocity[:, axis], theirs["root_com_vel_w"][:, axis])


def test_a_robot_with_motors_in_newtons_kernels_starts_without_joint_speed(go2: Recording):
    """Isaac Lab 3 never fills their soft speed limits, and clamps what reset events draw to them: 0."""
    event = Term(
        name="joints",
        func="isaaclab.envs.mdp.events:reset_joints_by_offset",
        params={"position_range": (0.0, 0.0), "velocity_range": (-2.0, 2.0)},
        mode="reset",
    )
    contract = replace(go2.contract, events=(event,))
    speeds: list[float] = []
    for used in (contract, replace(contract, sim=replace(contract.sim, use_newton_actuators=False))):
        start = many(go2, 20, used).draw_start()
        assert isinstance(start.joint_vel, dict)
        speeds.append(max(float(np.abs(values).max()) for values in start.joint_vel.values()))
    assert speeds[0] == 0.0
    assert speeds[1] > 1.5


def test_pushes_come_in_the_tasks_interval_and_change_the_velocity_alone(go2: Recording):
    push = Term(
        name="push",
        func="isaaclab.envs.mdp.events:push_by_setting_velocity",
        params={"velocity_range": {"x": (0.5, 0.5), "yaw": (-0.25, -0.25)}},
        mode="interval",
        interval_s=(0.1, 0.2),
    )
    adapter = go2.adapter(replace(go2.contract, events=(push,)))
    state = go2.state(20)
    adapter.reset(state)
    gaps: list[int] = []
    last = 0
    for step in range(1, 200):
        adapter.world.update(state)
        for change in adapter.interval_events(state):
            start = change.starts["robot"]
            if 0 in change.env_ids:
                gaps.append(step - last)
                last = step
            rows = change.env_ids
            kick = np.asarray(start.root_com_lin_vel_w) - state.root_com_lin_vel_w[rows]
            turn = np.asarray(start.root_ang_vel_w) - state.root_ang_vel_w[rows]
            assert kick == pytest.approx(np.tile([0.5, 0.0, 0.0], (len(rows), 1)))
            assert turn == pytest.approx(np.tile([0.0, 0.0, -0.25], (len(rows), 1)))
            assert np.array_equal(np.asarray(start.root_pos_w), state.root_pos_w[rows])
            assert isinstance(start.joint_pos, dict)
            assert start.joint_pos["FL_hip_joint"] == pytest.approx(state.joint_pos[rows, 0])
    assert {5, 6, 7, 8, 9, 10} >= set(gaps)
    assert len(gaps) > 15


# --- commands


def steered(go2: Recording, **changes: Any) -> Adapter:
    term = go2.contract.commands[0]
    return go2.adapter(replace(go2.contract, commands=(replace(term, params=dict(term.params) | changes),)))


def test_velocity_commands_are_drawn_from_their_ranges_and_drawn_anew_in_time(go2: Recording):
    ranges = {"lin_vel_x": (0.5, 1.0), "lin_vel_y": (-0.1, 0.1), "ang_vel_z": (-1.0, 1.0), "heading": (-3.0, 3.0)}
    adapter = steered(
        go2, ranges=ranges, heading_command=False, rel_standing_envs=0.0, resampling_time_range=(0.1, 0.1)
    )
    state = go2.state(0)
    adapter.reset(state)
    command = adapter.world.command("base_velocity")
    drawn = [command.value.copy()]
    for _ in range(10):
        adapter.update_commands(state)
        drawn.append(command.value.copy())
    values = np.stack(drawn)
    assert len(np.unique(values[:, 0, 0])) == 3  # every five steps of 0.02 s
    low, high = np.array(list(ranges.values()))[:3].T
    assert (values >= low).all()
    assert (values <= high).all()


def test_a_heading_command_steers_only_after_the_first_observation(go2: Recording):
    """`env.reset()` draws, and does not compute: the first observation has the raw yaw rate."""
    adapter = steered(go2, heading_command=True, rel_heading_envs=1.0, rel_standing_envs=0.0)
    state = go2.state(0)
    adapter.reset(state)
    command: Any = adapter.world.command("base_velocity")
    command.heading_target[:] = adapter.world.robot.heading + np.array([0.2, -3.0])
    raw = command.value[:, 2].copy()
    adapter.update_commands(state)
    stiffness = go2.contract.commands[0].params["heading_control_stiffness"]
    assert command.value[:, 2] == pytest.approx([0.2 * stiffness, -1.0])
    assert np.abs(command.value[:, 2] - raw).max() > 1e-3


def test_a_standing_environment_has_no_command(go2: Recording):
    adapter = steered(go2, rel_standing_envs=1.0)
    adapter.reset(go2.state(0))
    assert adapter.world.command("base_velocity").value.any()
    adapter.update_commands(go2.state(0))
    assert not adapter.world.command("base_velocity").value.any()


def test_a_held_command_stays_whatever_is_drawn(go2: Recording):
    adapter = steered(go2, resampling_time_range=(0.02, 0.02), rel_standing_envs=1.0)
    adapter.reset(go2.state(0))
    adapter.set_command("base_velocity", (0.5, 0.0, 0.1), [1])
    for _ in range(5):
        adapter.update_commands(go2.state(0))
    adapter.reset(go2.state(0))
    command = adapter.world.command("base_velocity")
    assert command.value[1] == pytest.approx([0.5, 0.0, 0.1])
    adapter.release_command("base_velocity")
    adapter.update_commands(go2.state(0))
    assert not command.value.any()


def test_a_command_of_the_wrong_size_or_name_is_refused(go2: Recording):
    adapter = go2.adapter()
    with pytest.raises(InputError, match="for a command of 3"):
        adapter.set_command("base_velocity", (1.0, 0.0))
    with pytest.raises(InputError, match="there are: base_velocity"):
        adapter.set_command("velocity", (1.0, 0.0, 0.0))


def test_pose_commands_are_drawn_in_the_root_frame_and_held(reach: Recording):
    adapter = many(reach, 500)
    start = replace(
        reach.state(0),
        **{
            name: np.repeat(getattr(reach.state(0), name)[:1], 500, axis=0)
            for name in ("time_s", "root_pos_w", "root_quat_wxyz", "joint_pos", "joint_vel")
        },
    )
    adapter.reset(start)
    value = adapter.world.command("ee_pose").value
    ranges = reach.contract.commands[0].params["ranges"]
    for axis, key in enumerate(("pos_x", "pos_y", "pos_z")):
        low, high = ranges[key]
        assert value[:, axis].min() >= low
        assert value[:, axis].max() <= high
        assert high == low or np.ptp(value[:, axis]) > 0.9 * (high - low)
    assert np.linalg.norm(value[:, 3:], axis=1) == pytest.approx(1.0)
    assert np.array_equal(reach.arrays["command/ee_pose"][0], reach.arrays["command/ee_pose"][50])


def test_a_place_to_go_to_is_seen_from_the_robot(go2: Recording):
    params = {"resampling_time_range": (8.0, 8.0), "simple_heading": False}
    params["ranges"] = {"pos_x": (2.0, 2.0), "pos_y": (1.0, 1.0), "heading": (0.5, 0.5)}
    term = Term(name="place", func=f"{COMMANDS}.pose_2d_command:UniformPose2dCommand", params=params)
    adapter = go2.adapter(replace(go2.contract, commands=(*go2.contract.commands, term)))
    state = go2.state(30)
    adapter.reset(state)
    adapter.update_commands(state)
    seen, robot = adapter.world.command("place").value, adapter.world.robot
    yaw = robot.heading
    way = np.array([2.0, 1.0]) - robot.root_pos[:, :2]
    ahead = np.cos(yaw) * way[:, 0] + np.sin(yaw) * way[:, 1]
    assert seen[:, 0] == pytest.approx(ahead, abs=1e-6)  # the recorded quaternions are float32
    assert seen[:, 3] == pytest.approx(0.5 - yaw, abs=1e-6)


# --- sensors


def test_a_height_scan_is_from_the_link_though_its_rays_start_far_above(shared: Path, go2: Recording):
    """The scanner's offset of 20 m is where its rays begin; its height is the link's."""
    rough = Recording("Isaac-Velocity-Rough-UnitreeGo2", shared)
    rough.__dict__["robot_file"] = go2.robot_file
    assert rough.contract.entity("height_scanner").config["offset"]["pos"][2] == 20.0
    adapter = Adapter(rough.contract, joint_names=go2.joint_names, link_names=go2.body_names, env_count=2)
    state = go2.state(40)
    adapter.reset(state)
    scan = adapter.policy_input(adapter.observe(state))[:, -187:]
    height = state.link_pos_w[:, state.link_index("base"), 2]
    assert scan == pytest.approx(np.tile(height[:, None] - 0.5, (1, 187)), abs=1e-6)


def test_a_height_scan_turns_with_the_heading_and_does_not_tilt(shared: Path, go2: Recording):
    rough = Recording("Isaac-Velocity-Rough-UnitreeGo2", shared)
    rough.__dict__["robot_file"] = go2.robot_file
    asked: list[Any] = []

    class Slope(EmptyScene):
        def heights(self, points_xy: Any) -> Any:
            asked.append(points_xy)
            return 0.1 * points_xy[..., 0]

    adapter = Adapter(
        rough.contract, joint_names=go2.joint_names, link_names=go2.body_names, env_count=2, scene=Slope()
    )
    state = go2.state(60)
    adapter.reset(state)
    adapter.observe(state)
    points = asked[-1]
    base = state.link_pos_w[:, state.link_index("base"), :2]
    yaw = adapter.world.robot.heading
    ahead = np.stack([np.cos(yaw), np.sin(yaw)], axis=-1)
    first, last = points[:, 0] - base, points[:, -1] - base
    assert (first * ahead).sum(axis=1) == pytest.approx(-0.8, abs=1e-6)  # x fastest: from the back right corner
    assert (last * ahead).sum(axis=1) == pytest.approx(0.8, abs=1e-6)
    assert np.linalg.norm(points[:, 1] - points[:, 0], axis=1) == pytest.approx(0.1, abs=1e-6)


def test_contact_times_count_physics_steps(go2: Recording):
    """Air time is kept when a foot lands, contact time when it leaves: with the step that ends them."""
    adapter = go2.adapter()
    given = go2.state(0)
    adapter.reset(given)
    sensor: Any = adapter.world.sensors["contact_forces"]
    foot = sensor.body_names.index("FL_foot")
    touches = [False] * 3 + [True] * 4 + [False] * 2
    for touching in touches:
        forces = np.zeros((2, len(go2.body_names), 3))
        forces[:, go2.body_names.index("FL_foot"), 2] = 20.0 * touching
        adapter.physics_stepped(replace(given, find_contacts=lambda forces=forces: forces))
    dt = 0.005
    assert sensor.last_air_time[:, foot] == pytest.approx([4 * dt] * 2)
    assert sensor.last_contact_time[:, foot] == pytest.approx([5 * dt] * 2)
    assert sensor.current_air_time[:, foot] == pytest.approx([2 * dt] * 2)
    assert sensor.current_contact_time[:, foot] == pytest.approx([0.0] * 2)
    assert sensor.strongest()[:, foot] == pytest.approx([20.0] * 2)  # within the history of three steps
    adapter.physics_stepped(replace(given, find_contacts=lambda: np.zeros((2, len(go2.body_names), 3))))
    assert not sensor.strongest()[:, foot].any()
    adapter.reset(given, [0])
    assert sensor.current_air_time[:, foot] == pytest.approx([0.0, 3 * dt])
