"""Two files of one robot, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from isaaclab_mirror.comparison.parity import validate_files, validate_round_trip
from isaaclab_mirror.comparison.rows import Validation
from isaaclab_mirror.conversion import convert


def values(result: Validation) -> dict[str, float]:
    return {row.name: row.value for row in result.rows}


@pytest.mark.parametrize("robot", ["ur5e/ur5e.usda", "unitree_go2/unitree_go2_physx.usda"])
def test_mjcf_says_what_the_usd_says(data: Path, robot: str):
    result = validate_round_trip(data / robot, "mjcf")
    assert result.passed, result.diagnostics
    assert values(result)["forward kinematics, position"] < 1e-9
    assert values(result)["mass matrix"] < 1e-9


def test_urdf_says_what_the_usd_says_but_for_what_it_has_no_words_for(data: Path):
    result = validate_round_trip(data / "unitree_go2/unitree_go2_physx.usda", "urdf")
    assert result.passed, result.diagnostics
    assert {skip.name for skip in result.skipped} >= {"driven joints", "armature"}


def test_a_link_made_heavier_by_a_hand_is_found_by_name(data: Path, tmp_path: Path):
    target = tmp_path / "arm.xml"
    convert(data / "ur5e/ur5e.usda", target)
    text = target.read_text(encoding="utf-8")
    assert 'mass="8.393"' in text, "the upper arm's"
    target.write_text(text.replace('mass="8.393"', 'mass="8.5"'), encoding="utf-8")
    result = validate_files(data / "ur5e/ur5e.usda", target)
    assert not result.passed
    (row,) = [row for row in result.rows if row.name == "link masses"]
    assert row.where == "upper_arm_link"
    assert row.value == pytest.approx((8.5 - 8.393) / 8.5, rel=1e-6)
    assert row.code == "V002"


def test_a_joint_that_one_file_calls_otherwise_is_named(data: Path, tmp_path: Path):
    target = tmp_path / "arm.xml"
    convert(data / "ur5e/ur5e.usda", target)
    target.write_text(target.read_text(encoding="utf-8").replace("elbow_joint", "knee_joint"), encoding="utf-8")
    result = validate_files(data / "ur5e/ur5e.usda", target)
    (row,) = [row for row in result.rows if row.name == "links, joints, base"]
    assert row.code == "V001"
    assert "elbow_joint only in ur5e.usda" in row.where
    assert "knee_joint only in arm.xml" in row.where


def test_links_welded_together_in_one_file_alone_are_the_same_robot(tmp_path: Path):
    body = (
        '<mujoco><worldbody><body name="base"><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>'
        '<body name="arm"><joint name="j" axis="0 1 0"/>{arm}</body></body></worldbody></mujoco>'
    )
    two = (
        '<inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>'
        '<body name="tool" pos="0 0 1"><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/></body>'
    )
    one = '<inertial pos="0 0 .5" mass="2" diaginertia=".52 .52 .02"/>'
    files = [tmp_path / "two.xml", tmp_path / "one.xml"]
    for file, arm in zip(files, (two, one), strict=True):
        file.write_text(body.format(arm=arm), encoding="utf-8")
    result = validate_files(*files)
    assert result.passed, result.diagnostics
