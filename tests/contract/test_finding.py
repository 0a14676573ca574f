"""Which files of a run are the policy and the robot."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import pytest

from isaaclab_mirror.contract.contract import PolicyKind
from isaaclab_mirror.contract.finding import find_policy, find_robot, policy_kind
from isaaclab_mirror.contract.loading import load_contract
from isaaclab_mirror.diagnostics import Diagnostics, InputError
from tests.contract.envs import ROBOT, env, write_run


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("model_50.pt", "model_100.pt", "exported/policy.pt", "exported/policy.onnx"), "exported/policy.onnx"),
        (("model_50.pt", "model_100.pt", "exported/policy.pt"), "exported/policy.pt"),
        (("model_50.pt", "model_100.pt", "model_9.pt"), "model_100.pt"),
        (
            ("checkpoints/agent_800.pt", "checkpoints/agent_1600.pt", "checkpoints/best_agent.pt"),
            "checkpoints/agent_1600.pt",
        ),
        (("checkpoints/best_agent.pt",), "checkpoints/best_agent.pt"),
        (("nn/cartpole.pth",), "nn/cartpole.pth"),
        (("model.zip",), "model.zip"),
        (("walk.pt",), "walk.pt"),
    ],
)
def test_the_exported_policy_comes_first_then_the_newest_checkpoint(tmp_path: Path, names: tuple[str, ...], found: str):
    touch(tmp_path, *names)
    assert find_policy(tmp_path) == tmp_path / found


def test_several_files_without_an_order_ask_for_a_choice(tmp_path: Path):
    touch(tmp_path, "walk.pt", "run.pt")
    with pytest.raises(InputError, match=r"2 files may be the policy: run.pt, walk.pt") as error:
        find_policy(tmp_path)
    assert "--policy" in str(error.value)
    assert find_policy(tmp_path, ["walk.pt"]) == tmp_path / "walk.pt"


def test_a_run_without_a_policy_is_read_and_said(tmp_path: Path):
    contract = load_contract(write_run(tmp_path))
    assert contract.policy is None
    assert "E107" in {d.code for d in contract.diagnostics}
    with pytest.raises(InputError, match="no such policy file"):
        load_contract(tmp_path, policy_file=tmp_path / "policy.onnx")


def test_kinds_are_told_by_what_is_in_the_file_and_nothing_is_unpickled(tmp_path: Path):
    class Bomb:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    with zipfile.ZipFile(tmp_path / "script.pt", "w") as archive:
        archive.writestr("script/code/__torch__.py", "")
        archive.writestr("script/data.pkl", pickle.dumps(Bomb()))
    with zipfile.ZipFile(tmp_path / "model_1.pt", "w") as archive:
        archive.writestr("model_1/data.pkl", pickle.dumps(Bomb()))
    (tmp_path / "agent_1.pt").write_bytes(pickle.dumps(Bomb()))
    assert policy_kind(tmp_path / "script.pt") is PolicyKind.TORCHSCRIPT
    assert policy_kind(tmp_path / "model_1.pt") is PolicyKind.RSL_RL
    assert policy_kind(tmp_path / "agent_1.pt") is PolicyKind.SKRL
    assert policy_kind(tmp_path / "model_1.pt", PolicyKind.SKRL) is PolicyKind.SKRL
    assert policy_kind(tmp_path / "a.onnx") is PolicyKind.ONNX
    assert not (tmp_path / "ran").exists()
    with pytest.raises(InputError, match=r"no policy has the suffix '.txt'"):
        policy_kind(tmp_path / "a.txt")


def test_the_robot_is_looked_for_from_the_run_folder_and_in_the_asset_roots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run, assets = tmp_path / "run", tmp_path / "assets"
    touch(run, "../own/robot.usd")
    touch(assets, "Isaac/IsaacLab/Robots/Unitree/H1/h1_minimal.usd")
    found = Diagnostics()
    run.mkdir(exist_ok=True)
    assert find_robot("../own/robot.usd", run, found, "env.yaml") == (tmp_path / "own/robot.usd").resolve()
    address = "http://host/Assets/Isaac/4.0/Isaac/IsaacLab/Robots/Unitree/H1/h1_minimal.usd"
    assert find_robot(address, run, found, "env.yaml") is None
    for variable in ("ISAACSIM_ASSET_ROOT", "ISAACLAB_MIRROR_ASSETS"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, str(assets))
            assert (
                find_robot(address, run, found, "env.yaml")
                == assets / "Isaac/IsaacLab/Robots/Unitree/H1/h1_minimal.usd"
            )
    assert len(found) == 0


def test_a_robot_beside_the_config_is_taken_and_said(tmp_path: Path):
    (tmp_path / "model.xml").write_text(ROBOT)
    found = Diagnostics()
    assert find_robot("/far/away/go2.usd", tmp_path, found, "env.yaml") == tmp_path / "model.xml"
    assert found.codes() == {"E108"}


def test_without_a_robot_joints_stay_patterns(tmp_path: Path):
    file = write_run(tmp_path, env())
    (tmp_path / "model.xml").unlink()
    contract = load_contract(file)
    assert not contract.is_resolved
    assert contract.actuators[0].joint_patterns == (".*",)
    assert "E108" in {d.code for d in contract.diagnostics}


def test_a_robot_file_that_is_not_there_or_no_robot_is_refused(tmp_path: Path):
    file = write_run(tmp_path)
    with pytest.raises(InputError, match="no such robot file"):
        load_contract(file, robot_file=tmp_path / "go2.usd")
    (tmp_path / "bad.xml").write_text("<mujoco><worldbody/></mujoco>")
    with pytest.raises(InputError, match="no body"):
        load_contract(file, robot_file=tmp_path / "bad.xml")
    (tmp_path / "bad.xml").write_text("<mujoco>")
    with pytest.raises(InputError, match="MuJoCo cannot read it"):
        load_contract(file, robot_file=tmp_path / "bad.xml")
