"""Traces: what is written is read again, by name; anything else is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.traces import FIELDS, Trace, read_trace, write_trace

JOINTS, LINKS = ("hip", "knee"), ("base", "thigh", "shank")


@pytest.fixture
def trace() -> Trace:
    rng = np.random.default_rng(0)
    sizes = {"": (), "3": (3,), "4": (4,), "joints": (2,), "links, 3": (3, 3), "observations": (7,), "actions": (2,)}
    arrays = {
        name: rng.standard_normal((5, 2, *sizes[shape])).astype(np.float32) for name, (shape, _) in FIELDS.items()
    }
    return Trace(
        joint_names=JOINTS,
        link_names=LINKS,
        step_dt=0.02,
        lengths=np.array([5, 3]),
        arrays=arrays,
        meta={"engine": "MuJoCo", "seeds": [4, 5]},
    )


@pytest.fixture
def file(trace: Trace, tmp_path: Path) -> Path:
    write_trace(trace, tmp_path / "walk.npz")
    return tmp_path / "walk.npz"


def rewritten(file: Path, **changes: object) -> Path:
    with np.load(file) as data:
        arrays = {name: data[name] for name in data.files}
    arrays.update(changes)
    np.savez(file, **{name: value for name, value in arrays.items() if value is not None})
    return file


def test_what_is_written_is_read_again(trace: Trace, file: Path):
    again = read_trace(file)
    assert (again.joint_names, again.link_names, again.step_dt) == (JOINTS, LINKS, 0.02)
    assert again.lengths.tolist() == [5, 3]
    assert again.meta == {"engine": "MuJoCo", "seeds": [4, 5]}
    for name in FIELDS:
        np.testing.assert_array_equal(again.arrays[name], trace.arrays[name])


def test_joints_are_found_by_name_in_any_order(trace: Trace):
    np.testing.assert_array_equal(trace.joint("knee"), trace.arrays["joint_pos"][..., 1])
    np.testing.assert_array_equal(trace.in_order(("knee", "hip"), "joint_vel"), trace.arrays["joint_vel"][..., ::-1])
    with pytest.raises(InputError, match=r"there is no joint 'ankle'[\s\S]*hip, knee"):
        trace.joint("ankle")


def test_nothing_else_is_left_in_the_folder(file: Path):
    assert [found.name for found in file.parent.iterdir()] == ["walk.npz"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"joint_pos": None}, "it has no joint_pos"),
        ({"joint_pos": np.zeros((5, 2, 3))}, "joint_pos has the shape (5, 2, 3)"),
        ({"reward": np.zeros((4, 2))}, "does not fit"),
        ({"lengths": np.array([5, 9])}, "lengths reach to 9 of 5 steps"),
        ({"meta_json": np.array(json.dumps({"schema": 7}))}, "schema 7 where 1 is expected"),
        ({"meta_json": np.array("no json")}, "no trace"),
        ({"meta_json": None}, "no trace"),
        ({"action": np.array([{"an": "object"}], dtype=object)}, "no trace"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(file: Path, change: dict[str, object], words: str):
    with pytest.raises(InputError) as caught:
        read_trace(rewritten(file, **change))
    assert words in str(caught.value)
    assert "error E140" in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"garbage", b"PK\x03\x04cut"])
def test_garbage_is_refused(tmp_path: Path, data: bytes):
    (tmp_path / "walk.npz").write_bytes(data)
    with pytest.raises(InputError, match="error E140: no trace"):
        read_trace(tmp_path / "walk.npz")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="there is no such trace file"):
        read_trace(tmp_path / "walk.npz")
