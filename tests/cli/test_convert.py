"""`isaaclab-mirror convert` and `inspect` as a person or a script calls them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from isaaclab_mirror.cli.main import main

DATA = Path(__file__).resolve().parents[2] / "data"
GO2 = DATA / "unitree_go2/unitree_go2_physx.usda"
CARTPOLE = DATA / "cartpole/cartpole_physx.usda"


@pytest.mark.parametrize("suffix", [".xml", ".urdf"])
def test_a_quadruped_is_converted_and_the_table_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
):
    target = tmp_path / f"go2{suffix}"
    assert main(["convert", str(GO2), str(target)]) == 0
    printed = capsys.readouterr().out
    assert target.is_file()
    assert printed.splitlines()[0].split() == ["concept", "kept", "approximated", "lost", "how", "or", "why"]
    assert "unitree_go2: 13 links, 12 joints, 18 DOF" in printed


def test_json_has_what_scripts_rely_on(tmp_path: Path):
    report = tmp_path / "deep/er/report.json"
    assert main(["convert", str(CARTPOLE), str(tmp_path / "cartpole.xml"), "--json", str(report)]) == 0
    said = json.loads(report.read_text(encoding="utf-8"))
    assert (said["schema"], said["command"], said["verdict"]) == (1, "convert", "pass")  # warnings do not fail
    assert {found["severity"] for found in said["diagnostics"]} >= {"warning"}
    assert set(said["diagnostics"][0]) == {"code", "severity", "where", "message", "hint"}
    assert said["robot"] == {"name": "cartpole", "links": 2, "joints": 2, "dofs": 2}
    assert set(said["fidelity"][0]) == {"concept", "kept", "approximated", "lost", "note"}
    assert said["files"][0] == str(tmp_path / "cartpole.xml")
    assert said["seconds"] > 0
    assert [file.name for file in report.parent.iterdir()] == ["report.json"]


def test_findings_go_to_stderr_and_many_alike_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["convert", str(DATA / "unitree_g1/g1_urdf.usda"), str(tmp_path / "g1.xml")]) == 0
    printed = capsys.readouterr()
    assert "E032" not in printed.out
    assert printed.err.count("E032: acceleration drive") == 3
    assert "and 26 more like these" in printed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "fidelty=nominal"], "next: did you mean fidelity?"),
        (["--set", "zzz=1"], "the keys are strict, prim"),
        (["--set", "fidelity=exact"], "'exact' is not one of nominal, physx, emulate"),
        (["--set", "timestep=fast"], "'fast' is no number"),
        (["--set", "timestep=nan"], "'nan' is no number"),
        (["--set", "substeps=1.5"], "'1.5' is no whole number"),
        (["--set", "fix_base=perhaps"], "'perhaps' is neither true nor false"),
        (["--set", "fidelity"], "write --set NAME=VALUE"),
        (["--variant", "Physics"], "write --variant NAME=VALUE"),
        (["--variant", "Physics=mujoco"], "no variant Physics=mujoco"),
        (["--options", "absent.toml"], "the options file cannot be read"),
        (["--prim", "/nowhere"], "no prim /nowhere"),
    ],
)
def test_a_wrong_option_is_one_message_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
):
    assert main(["convert", str(CARTPOLE), str(tmp_path / "x.xml"), *arguments]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert not (tmp_path / "x.xml").exists()


def test_options_come_from_a_file_flat_or_in_tables_and_set_comes_after_it(tmp_path: Path):
    import mujoco

    options = tmp_path / "mirror.toml"
    options.write_text('timestep = 0.01\n[lowering]\nfidelity = "nominal"\nsubsteps = 2\n', encoding="utf-8")
    for arguments, step in ((), 0.005), (("--set", "substeps=4"), 0.0025):
        target = tmp_path / "cartpole.xml"
        assert main(["convert", str(CARTPOLE), str(target), "--options", str(options), *arguments]) == 0
        assert mujoco.MjModel.from_xml_path(str(target)).opt.timestep == pytest.approx(step)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fidelity nominal", "is no TOML"),
        ("[write]\nscenes = true", "did you mean scene?"),
        ("fidelity = 3", "not one of"),
    ],
)
def test_a_wrong_options_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str):
    options = tmp_path / "mirror.toml"
    options.write_text(text, encoding="utf-8")
    assert main(["convert", str(CARTPOLE), str(tmp_path / "x.xml"), "--options", str(options)]) == 2
    assert message in capsys.readouterr().err


def test_bad_input_is_in_the_json_too(tmp_path: Path):
    report = tmp_path / "report.json"
    assert main(["convert", str(tmp_path / "absent.usda"), str(tmp_path / "x.xml"), "--json", str(report)]) == 2
    said = json.loads(report.read_text(encoding="utf-8"))
    assert said["verdict"] == "fail"
    assert [found["code"] for found in said["diagnostics"]] == ["E010"]


def test_strict_makes_a_warning_an_error_and_leaves_the_old_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    target = tmp_path / "cartpole.xml"
    target.write_text("old", encoding="utf-8")
    assert main(["convert", str(CARTPOLE), str(target), "--strict"]) == 2
    assert "E023" in capsys.readouterr().err
    assert target.read_text(encoding="utf-8") == "old"


def test_a_json_file_that_cannot_be_written_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "file").touch()
    arguments = ["convert", str(CARTPOLE), str(tmp_path / "x.xml"), "--json", str(tmp_path / "file/report.json")]
    assert main(arguments) == 2
    assert "E036" in capsys.readouterr().err


def test_a_bug_is_exit_code_3_and_says_how_to_report_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> None:
        raise RuntimeError("a wire came loose")

    monkeypatch.setattr("isaaclab_mirror.conversion.convert", broken)
    arguments = ["convert", str(CARTPOLE), str(tmp_path / "x.xml")]
    assert main(arguments) == 3
    said = capsys.readouterr().err
    assert "internal error: RuntimeError: a wire came loose" in said
    assert "report it" in said
    assert "Traceback" not in said
    assert main([*arguments, "--debug"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_wrong_usage_is_exit_code_2(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 2
    assert main(["convert"]) == 2
    assert main(["convret", "a", "b"]) == 2
    assert "convret" in capsys.readouterr().err


def test_a_file_with_the_name_of_a_command_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("inspect").mkdir()
    assert main(["convert", str(CARTPOLE), "inspect/cartpole.xml"]) == 0
    assert main(["--debug", "inspect", "inspect"]) == 2


def test_a_scene_has_ground_and_light(tmp_path: Path):
    report = tmp_path / "report.json"
    arguments = ["convert", str(GO2), str(tmp_path / "go2.xml"), "--scene", "--json", str(report)]
    assert main(arguments) == 0
    files = json.loads(report.read_text(encoding="utf-8"))["files"]
    assert any("scene" in Path(file).name for file in files)


def test_inspect_says_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    report = tmp_path / "report.json"
    assert main(["inspect", str(GO2), "--json", str(report)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("unitree_go2: 13 links, 12 joints, 18 DOF, floating base, 15.2064 kg")
    assert "      FL_thigh  (revolute; 1.152 kg" in printed  # below FL_hip, below base
    said = json.loads(report.read_text(encoding="utf-8"))
    assert (said["command"], said["verdict"]) == ("inspect", "pass")
    hip = next(link for link in said["robot"]["tree"] if link["joint"] == "FL_hip_joint")
    assert hip["parent"] == "base"
    assert hip["axes"][0]["drives"][0]["stiffness"] == pytest.approx(40.0, rel=1e-6)


def test_it_runs_as_a_program_and_a_closed_pipe_is_no_error(tmp_path: Path):
    command = [sys.executable, "-m", "isaaclab_mirror", "inspect", str(GO2)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 0
