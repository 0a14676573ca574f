"""`isaaclab-mirror contract` as a person or a script calls it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from isaaclab_mirror.cli.main import main
from isaaclab_mirror.contract.loading import load_contract
from tests.contract.envs import env, write_run


@pytest.mark.shared
def test_contract_prints_rates_orders_motors_and_sums(shared: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["contract", str(shared / "policies" / "go2-flat-isaaclab3-here")]) == 0
    said = capsys.readouterr()
    assert "physics 0.005 s × 4 = policy 0.02 s (50 Hz)" in said.out
    assert "12 joints, order: recording (IO_descriptors.yaml: articulations.robot.joint_names)" in said.out
    assert "3 + 3 + 3 + 3 + 12 + 12 + 12 = 48 values" in said.out
    assert "policy.onnx (onnx): 48 → 12" in said.out
    assert "env.yaml:scene.robot.actuators.base_legs: stiffness, damping" in said.out
    assert said.err == ""


@pytest.mark.shared
def test_contract_writes_json_and_a_file_that_reads_the_same(shared: Path, tmp_path: Path):
    run = shared / "policies" / "g1-29dof-velocity-unitree_rl_lab"
    report, file = tmp_path / "report.json", tmp_path / "contract.toml"
    assert main(["contract", str(run), "--json", str(report), "-o", str(file)]) == 0
    said = json.loads(report.read_text())
    assert (said["command"], said["verdict"], said["policy_input"], said["policy_output"]) == (
        "contract",
        "pass",
        480,
        29,
    )
    assert sum(said["observation_sizes"]["policy"].values()) == 480
    contract = said["contract"]
    assert contract["resolved"]
    assert contract["joint_names"][:3] == ["left_hip_pitch_joint", "right_hip_pitch_joint", "waist_yaw_joint"]
    assert contract["provenance"]["actuators.joints.stiffness"] == "deploy.yaml:stiffness"
    assert contract["actuators"][0]["velocity_limit"][0] is None  # no bound
    assert [d["code"] for d in said["diagnostics"]][:2] == ["E110", "E105"]
    assert main(["contract", str(file)]) == 0
    assert load_contract(file).joint_values("stiffness") == load_contract(run).joint_values("stiffness")


@pytest.mark.shared
def test_a_policy_of_another_size_is_refused_and_the_sum_is_told(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    run = tmp_path / "run"
    shutil.copytree(shared / "policies" / "go2-flat-isaaclab3-here", run)
    file = run / "params" / "env.yaml"
    file.write_text(file.read_text().replace("    base_lin_vel:\n      func", "    base_lin_vel_off:\n      off"))
    robot = shared / "isaaclab-recordings/assets/Isaac/IsaacLab/Robots/Unitree/Go2/go2.usd"
    assert main(["contract", str(run), "--robot", str(robot)]) == 2
    message = capsys.readouterr().err
    assert (
        "the policy takes 48 values, the contract's observation has 45 = base_ang_vel 3 + projected_gravity 3"
        in message
    )


def test_contract_of_an_env_yaml_alone_says_what_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write_run(tmp_path)
    (tmp_path / "model.xml").unlink()
    assert main(["contract", str(tmp_path / "env.yaml"), "--json", str(tmp_path / "report.json")]) == 0
    said = capsys.readouterr()
    assert "joints stay patterns: no robot file is known" in said.out
    assert "warning E107" in said.err
    assert "warning E108" in said.err
    assert json.loads((tmp_path / "report.json").read_text())["contract"]["resolved"] is False


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("sim:\n  dt: !!python/object/apply:os.system ['touch ran']\n", "E103"),
        ("a: [1\n", "E103"),
        ("", "E103"),
        ("robots: {}\n", "E100"),
        (yaml.safe_dump(env(sim__dt=".nan")), "E104"),
        (yaml.safe_dump(env(scene__robot__init_state__joint_pos={"tail": 0.0})), "E101"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, code: str
):
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path, env())
    (tmp_path / "env.yaml").write_text(text)
    assert main(["contract", "env.yaml", "--json", "report.json"]) == 2
    said = capsys.readouterr()
    assert f"error {code}" in said.err
    assert "Traceback" not in said.err
    assert json.loads(Path("report.json").read_text())["diagnostics"][0]["code"] == code
    assert not Path("ran").exists()


@pytest.mark.shared
@pytest.mark.parametrize(
    ("task", "total"),
    [
        ("IsaacContrib-Lift-Cube-Franka", "9 + 9 + 3 + 7 + 8 = 36"),
        ("Isaac-Open-Drawer-Franka", "9 + 9 + 1 + 1 + 3 + 8 = 31"),
    ],
)
def test_tasks_with_objects_add_up_too(
    shared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], task: str, total: str
):
    monkeypatch.setenv("ISAACLAB_MIRROR_ASSETS", str(shared / "isaaclab-recordings" / "assets"))
    assert main(["contract", str(shared / "isaaclab-configs" / task)]) == 0
    assert f"{total} values" in capsys.readouterr().out
