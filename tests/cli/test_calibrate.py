"""`isaaclab-mirror calibrate`: refusals in one message, what is printed and written."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import mujoco
import pytest

from isaaclab_mirror.cli.main import main

needs_physx = pytest.mark.skipif(find_spec("ovphysx") is None, reason="needs PhysX (extra `physx`)")


@pytest.fixture
def cartpole(data: Path) -> str:
    return str(data / "cartpole" / "cartpole_physx.usda")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("-o", "fitted.urdf"), "E037", "a fitted robot is written as MJCF"),
        (("--start", "hinge_1"), "E091", "'hinge_1' is no start of a joint"),
        (("--start", "hinge_1=soon"), "E091", "write --start JOINT=NUMBER"),
        (("--start", "hinge_1=nan"), "E091", "write --start JOINT=NUMBER"),
        (("--start", "(=1"), "E091", "is no pattern"),
        (("--start", "pole=1"), "E051", "there is no joint 'pole'"),
        (("--seconds", "0"), "E091", "0 s is no length of a trial"),
        (("--steps", "0"), "E091", "one round is the least"),
    ],
)
def test_a_wrong_argument_is_one_message_and_exit_code_2(
    cartpole: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: str, said: str
):
    assert main(["calibrate", cartpole, *arguments]) == 2
    text = capsys.readouterr().err
    assert code in text
    assert said in text
    assert "Traceback" not in text


def test_a_missing_robot_leaves_no_file_and_says_so_in_json(tmp_path: Path):
    out, report = tmp_path / "fitted.xml", tmp_path / "result.json"
    assert main(["calibrate", str(tmp_path / "no.usda"), "-o", str(out), "--json", str(report)]) == 2
    assert not out.exists()
    document = json.loads(report.read_text(encoding="utf-8"))
    assert document["verdict"] == "fail"
    assert document["diagnostics"][0]["code"] == "E010"


@needs_physx
@pytest.mark.physx
@pytest.mark.slow
def test_a_calibration_prints_before_and_after_and_writes_a_robot_that_opens(
    cartpole: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out, report = tmp_path / "fitted.xml", tmp_path / "result.json"
    start = ("--start", "hinge_1=2.6", "--seconds", "1", "--steps", "4")
    assert main(["calibrate", cartpole, *start, "-o", str(out), "--json", str(report)]) == 0
    printed = capsys.readouterr().out
    assert "held out" in printed
    assert "gap to PhysX on trials that were not fitted" in printed
    document = json.loads(report.read_text(encoding="utf-8"))
    assert document["verdict"] == "pass"
    assert document["held_out"]["after_rad"] < document["held_out"]["before_rad"]
    assert document["files"][0] == str(out)
    assert {"kind", "joint", "at_bound"} <= set(document["parameters"][0])
    assert mujoco.MjModel.from_xml_path(str(out)).nu == 1
