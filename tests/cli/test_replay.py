"""`replay` from the command line: what it prints, writes, and refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from isaaclab_mirror.cli.main import main
from isaaclab_mirror.traces import read_trace

CARTPOLE = "policies/cartpole-isaaclab3-here"
GO2 = "policies/go2-flat-isaaclab3-here"


@pytest.fixture
def cartpole(shared: Path) -> Path:
    pytest.importorskip("onnxruntime", reason="needs the extra `policy`")
    return shared / CARTPOLE


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["replay", *map(str, arguments)]) == 2
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return captured.err


@pytest.mark.shared
def test_a_run_folder_replays_with_no_option_at_all(cartpole: Path, capsys):
    assert main(["replay", str(cartpole)]) == 0
    out = capsys.readouterr().out
    assert "policy.onnx (onnx) in MuJoCo, fidelity physx" in out
    assert "time_out" in out
    assert "1 episode, 0 fell" in out


@pytest.mark.shared
def test_json_has_the_keys_that_scripts_rely_on(cartpole: Path, tmp_path: Path):
    file = tmp_path / "replay.json"
    assert main(["replay", str(cartpole), "--episodes", "3", "--seed", "5", "--json", str(file)]) == 0
    data = json.loads(file.read_text())
    assert (data["schema"], data["command"], data["verdict"], data["sim"]) == (1, "replay", "pass", "mujoco")
    assert [episode["seed"] for episode in data["episodes"]] == [5, 6, 7]
    wanted = {"seconds", "fell", "termination", "return", "command", "mean_lin_vel_b", "mean_ang_vel_b"}
    assert wanted | {"heading_drift_rad", "energy_j"} <= set(data["episodes"][0])
    assert data["summary"]["survival"] == 1.0
    assert data["summary"]["return"] == pytest.approx(4.96, abs=0.1)
    assert data["real_time_factor"] > 0
    assert data["settings"]["timestep_s"] == pytest.approx(1 / 120)


@pytest.mark.shared
def test_a_trace_holds_every_step_by_name(cartpole: Path, tmp_path: Path):
    file = tmp_path / "trace.npz"
    assert main(["replay", str(cartpole), "--episodes", "2", "--seconds", "0.5", "--trace", str(file)]) == 0
    trace = read_trace(file)
    assert trace.joint_names == ("slider_to_cart", "cart_to_pole")
    assert trace.arrays["joint_pos"].shape == (30, 2, 2)
    assert trace.lengths.tolist() == [30, 30]
    # the observation is the state before the step: relative joint positions, default 0
    assert trace.arrays["observation"][..., :2] == pytest.approx(trace.arrays["joint_pos"], abs=1e-6)
    assert trace.meta["seeds"] == [0, 1]


@pytest.mark.shared
@pytest.mark.slow
def test_a_video_is_written_whole(shared: Path, tmp_path: Path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="needs the extra `report`")
    file = tmp_path / "walk.mp4"
    arguments = ["replay", str(shared / GO2), "--command", "0.5", "0", "0", "--seconds", "1", "--video", str(file)]
    assert main(arguments) == 0
    frames, seconds = ffmpeg.count_frames_and_secs(str(file))
    assert frames == 25
    assert seconds == pytest.approx(1.0, abs=0.1)
    assert [found.name for found in tmp_path.iterdir()] == ["walk.mp4"]


@pytest.mark.shared
def test_the_number_of_joints_that_the_policy_needs_is_told_when_another_policy_is_given(
    cartpole: Path, shared, capsys
):
    message = refused(capsys, cartpole, "--policy", shared / GO2 / "exported" / "policy.onnx")
    assert (
        "error E131: the policy takes 48 values, the contract's observation has 4 = joint_pos_rel 2 + joint_vel_rel 2"
        in message
    )


@pytest.mark.shared
def test_a_robot_without_the_policys_joints_is_refused_with_the_joint(cartpole: Path, shared: Path, capsys):
    message = refused(capsys, cartpole, "--robot", shared / "policies/go2-velocity-robot_lab/model.xml")
    assert "slider_to_cart" in message


@pytest.mark.shared
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--episodes", "0"), "0 is no number of episodes"),
        (("--seconds", "nan"), "nan is no length of an episode"),
        (("--seconds", "-1"), "-1.0 is no length"),
        (("--seed", "-3"), "-3 is no seed"),
        (("--command", "1", "0", "0"), "the task has no velocity command"),
        (("--policy", "nowhere.onnx"), "nowhere.onnx"),
        (("--robot", "nowhere.usd"), "nowhere.usd"),
        (("--set", "gravty=1"), "there is no simulator setting 'gravty'"),
        (("--set", "timestep_s=0.001"), "it cannot be changed"),
        (("--plugin", "nowhere.py"), "the plugin is no file"),
        (("--video", "walk.gif"), "no video has the suffix '.gif'"),
    ],
)
def test_a_bad_option_is_one_message(cartpole: Path, capsys, arguments: tuple[str, ...], words: str):
    assert words in refused(capsys, cartpole, *arguments)


def test_a_run_that_is_not_there_is_refused(tmp_path: Path, capsys):
    assert "error E100" in refused(capsys, tmp_path / "nowhere")


@pytest.mark.shared
def test_a_run_without_a_policy_is_refused(cartpole: Path, tmp_path: Path, capsys):
    (tmp_path / "params").mkdir()
    for name in ("env.yaml", "agent.yaml"):
        text = (cartpole / "params" / name).read_text()
        (tmp_path / "params" / name).write_text(text)
    usd = cartpole.parents[1] / "isaaclab-recordings/assets/Isaac/IsaacLab/Robots/Classic/Cartpole/cartpole.usd"
    assert "there is no policy in this run" in refused(capsys, tmp_path, "--robot", usd)


@pytest.mark.shared
def test_a_plugin_adds_a_term_that_the_task_uses(cartpole: Path, tmp_path: Path, capsys):
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from isaaclab_mirror.adapter.registry import observation_term\n"
        "@observation_term('joint_pos_of_mine')\n"
        "def joint_pos_of_mine(world, asset_cfg=None):\n"
        "    return world.robot.joint_pos - world.defaults.joint_pos\n"
    )
    run = tmp_path / "run"
    (run / "params").mkdir(parents=True)
    text = (cartpole / "params/env.yaml").read_text()
    (run / "params/env.yaml").write_text(
        text.replace("isaaclab.envs.mdp.observations:joint_pos_rel", "my_task.mdp:joint_pos_of_mine")
    )
    usd = cartpole.parents[1] / "isaaclab-recordings/assets/Isaac/IsaacLab/Robots/Classic/Cartpole/cartpole.usd"
    given = ["--robot", str(usd), "--policy", str(cartpole / "exported/policy.onnx"), "--seconds", "1"]
    message = refused(capsys, run, *given)
    assert "joint_pos_of_mine" in message
    assert "my_task/mdp.py" in message
    assert main(["replay", str(run), *given, "--plugin", str(plugin)]) == 0


@pytest.mark.shared
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there a missing display is known beforehand")
def test_a_window_without_a_display_is_refused(cartpole: Path, capsys, monkeypatch: pytest.MonkeyPatch):
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    message = refused(capsys, cartpole, "--viewer", "native")
    assert "error E142: no window can be opened: there is no display" in message
    assert "--viewer web" in message


@pytest.mark.shared
def test_physx_asks_for_a_usd_where_the_robot_is_an_mjcf(shared: Path, capsys):
    pytest.importorskip("torch", reason="needs the extra `torch`")
    message = refused(capsys, shared / "policies/h1-velocity-flat-isaaclab", "--sim", "physx")
    assert "PhysX loads USD files" in message or "PhysX is not installed" in message
