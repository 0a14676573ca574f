"""`isaaclab-mirror compare`, as people and scripts call it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.cli.main import main
from isaaclab_mirror.comparison.open_loop import divergence
from isaaclab_mirror.traces import read_trace

POLICIES = Path(__file__).parents[2] / "data/policies"
pytest.importorskip("ovphysx")
pytestmark = pytest.mark.physx


@pytest.fixture(scope="module")
def cartpole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    run = ["compare", str(POLICIES / "cartpole"), "--episodes", "3", "--seconds", "2", "--fidelity", "emulate"]
    code = main([*run, "--report", str(folder / "report"), "--no-video", "--json", str(folder / "compare.json")])
    return code, folder, json.loads((folder / "compare.json").read_text())


def test_the_emulated_cartpole_does_what_physx_does_and_passes(cartpole):
    code, _, told = cartpole
    assert code == 0
    assert told["verdict"] == "pass"
    assert told["closed_loop"]["return_ratio"] == pytest.approx(1.0, abs=1e-4)
    assert told["sims"]["physx"]["episodes"] == told["sims"]["mujoco"]["episodes"] == 3


def test_the_same_actions_keep_the_engines_together_as_long_as_physx_stays_with_itself(cartpole):
    _, _, told = cartpole
    apart, noise = told["open_loop"]["joint_rms_rad"], told["open_loop"]["noise_joint_rms_rad"]
    assert len(apart) == len(noise) == len(told["open_loop"]["time_s"]) == 120
    assert apart[60] < 1e-4
    assert apart[60] < noise[60]


def test_traces_and_plots_are_left_in_the_report_and_traces_can_be_compared_again(cartpole):
    _, folder, told = cartpole
    assert {Path(file).name for file in told["files"]} >= {"divergence.png", "physx.npz", "mujoco.npz"}
    physx, follow = (read_trace(folder / "report" / f"{n}.npz") for n in ("physx", "mujoco_open_loop"))
    again = divergence(physx, follow)
    assert np.allclose(again.joint_rms_rad, told["open_loop"]["joint_rms_rad"])


def test_a_gate_that_is_not_kept_is_exit_code_1(tmp_path):
    gate = tmp_path / "gate.toml"
    gate.write_text('[closed_loop]\n"energy" = 0.0\n')
    run = ["compare", str(POLICIES / "cartpole"), "--episodes", "1", "--seconds", "0.5", "--no-noise"]
    code = main([*run, "--fidelity", "nominal", "--gate", str(gate), "--json", str(tmp_path / "told.json")])
    told = json.loads((tmp_path / "told.json").read_text())
    assert code == 1
    assert told["verdict"] == "fail"
    assert [t["name"] for t in told["closed_loop"]["tests"] if not t["passed"]] == ["energy"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[closed_loop]\n"lift" = 1', "no measure 'lift'"),
        ('[closed_loop]\n"return" = "small"', "must be a number"),
        ("[other]\nx = 1", "no table 'other'"),
        ("closed_loop = [", "cannot be read"),
    ],
)
def test_a_gate_that_says_nothing_is_refused_with_a_reason(tmp_path, capsys, text, words):
    gate = tmp_path / "gate.toml"
    gate.write_text(text)
    assert main(["compare", str(POLICIES / "cartpole"), "--gate", str(gate)]) == 2
    assert words in capsys.readouterr().err


def test_more_episodes_than_fit_are_refused(capsys):
    assert main(["compare", str(POLICIES / "cartpole"), "--episodes", "1000"]) == 2
    assert "1000 episodes" in capsys.readouterr().err
