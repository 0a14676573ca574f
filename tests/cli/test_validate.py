"""`validate` from the command line."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from isaaclab_mirror.cli.main import main

needs_physx = pytest.mark.skipif(find_spec("ovphysx") is None, reason="the extra physx is not installed")


def test_two_files_of_one_robot_pass_and_the_json_lists_the_tests(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    target, out = tmp_path / "arm.xml", tmp_path / "out.json"
    assert main(["convert", str(data / "ur5e/ur5e.usda"), str(target)]) == 0
    capsys.readouterr()
    assert main(["validate", str(data / "ur5e/ur5e.usda"), str(target), "--json", str(out)]) == 0
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["command"] == "validate"
    assert told["verdict"] == "pass"
    assert {test["name"] for test in told["tests"]} >= {"joint limits", "Jacobian", "mass matrix", "inverse kinematics"}
    assert all({"name", "value", "limit", "unit", "passed", "code", "where"} <= test.keys() for test in told["tests"])
    assert "ur5e.usda and arm.xml: pass" in capsys.readouterr().out


def test_files_that_differ_end_with_one_and_a_diagnostic(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    target = tmp_path / "arm.xml"
    main(["convert", str(data / "ur5e/ur5e.usda"), str(target)])
    target.write_text(target.read_text(encoding="utf-8").replace('mass="8.393"', 'mass="9"'), encoding="utf-8")
    assert main(["validate", str(data / "ur5e/ur5e.usda"), str(target)]) == 1
    told = capsys.readouterr()
    assert "error V002: link masses" in told.err
    assert "upper_arm_link" in told.err


def test_a_round_trip_through_urdf_passes(data: Path):
    assert main(["validate", str(data / "ur5e/ur5e.usda"), "--round-trip", "urdf"]) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no_such.usda"], "E010"),
        (["FILE", "OTHER", "--round-trip", "mjcf"], "E091"),
        (["FILE", "--only", "statics"], "'statics'"),
        (["FILE", "--set", "timestep_s=-1"], "timestep_s"),
        (["FILE", "--set", "timestep=x"], "timestep"),
        (["FILE", "--set", "no_such_setting=1"], "E090"),
    ],
)
def test_bad_arguments_are_one_message_and_exit_code_two(
    data: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
):
    robot = str(data / "ur5e/ur5e.usda")
    words = [robot if word in ("FILE", "OTHER") else word for word in arguments]
    assert main(["validate", *words]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert "Traceback" not in told


@pytest.mark.physx
@needs_physx
def test_one_file_is_tested_in_both_engines_and_drawn(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out, plots = tmp_path / "out.json", tmp_path / "plots"
    words = ["validate", str(data / "ur5e/ur5e.usda"), "--only", "static,drives"]
    assert main([*words, "--json", str(out), "--plots", str(plots)]) == 0
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["verdict"] == "pass"
    assert told["settings"]["physx"]["solver"] == "TGS"
    assert told["settings"]["mujoco"]["fidelity"] == "physx"
    (tracking,) = [test for test in told["tests"] if test["name"] == "tracking"]
    assert set(tracking["parts"]) >= {"elbow_joint", "wrist_3_joint"}
    assert {Path(file).name for file in told["plots"]} == {"step.png", "tracking.png"}
    assert (plots / "tracking.png").read_bytes().startswith(b"\x89PNG")
    assert "required tests passed" in capsys.readouterr().out
