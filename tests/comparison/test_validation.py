"""PhysX against MuJoCo on robots of the repository."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.comparison.apart import validate_apart
from isaaclab_mirror.comparison.engines import Engines, physx_in_process
from isaaclab_mirror.comparison.groups import ValidationOptions
from isaaclab_mirror.comparison.rows import Row, Validation
from isaaclab_mirror.comparison.validation import validate_robot
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.sims.mujoco_bottom import lowest_point
from isaaclab_mirror.sims.settings import resolve_settings

pytestmark = [
    pytest.mark.physx,
    pytest.mark.skipif(find_spec("ovphysx") is None, reason="the extra physx is not installed"),
]
ONCE = {"external_forces_every_iteration": False, "position_iterations": 4, "velocity_iterations": 0}


def rows(result: Validation) -> dict[str, Row]:
    return {row.name: row for row in result.rows}


def validated(file: Path, *groups: str, **options: object) -> Validation:
    return validate_robot(file, ValidationOptions(groups=groups, stated=ONCE, **options))  # type: ignore[arg-type]


def test_kinematics_and_inertia_of_a_quadruped_equal_physx_to_the_digits_of_float32(data: Path):
    result = validated(data / "unitree_go2/unitree_go2_physx.usda", "static", configurations=8)
    found = rows(result)
    assert result.passed, result.diagnostics
    assert found["forward kinematics, position"].value < 1e-6
    assert found["Jacobian"].value < 2e-6
    assert found["mass matrix"].value < 1e-5
    assert found["inverse kinematics"].value < 1e-5
    assert found["total mass"].note == "15.2064 and 15.2064 kg"


def test_an_arm_falls_swings_and_follows_as_in_physx(data: Path):
    result = validated(data / "ur5e/ur5e.usda", "fall", "swing", "drives")
    found = rows(result)
    assert result.passed, result.diagnostics
    assert found["free fall, velocity"].value < 1e-5, "the arm's base is freed for it"
    assert found["passive swing"].value < 1e-3
    assert found["tracking"].value < 0.005


@pytest.mark.skipif(find_spec("numba") is None, reason="the extra emulate is not installed")
def test_an_emulated_arm_follows_to_a_hundredth_of_a_milliradian(data: Path):
    result = validated(data / "ur5e/ur5e.usda", "drives", fidelity=Fidelity.EMULATE)
    found = rows(result)
    assert found["tracking"].value < 1e-5
    assert found["step response"].value < 1e-5


def test_a_quadruped_rests_with_its_weight_in_both_engines(data: Path):
    result = validated(data / "unitree_go2/unitree_go2_physx.usda", "stand")
    assert rows(result)["resting contact force"].value < 0.01
    (pair,) = result.pairs
    last = pair.physx.time_s > pair.physx.time_s[-1] - 1.0
    assert pair.mujoco.force_w[last, 2].mean() == pytest.approx(15.2064 * 9.81, rel=0.01)


def test_what_a_fixed_arm_cannot_do_is_skipped_with_a_reason(data: Path):
    result = validated(data / "ur5e/ur5e.usda", "stand", "slip")
    assert not result.rows
    assert {skip.name: skip.reason for skip in result.skipped} == {
        "drop and stand": "the base is fixed",
        "incline slip": "the base is fixed",
    }


def test_the_settings_of_both_engines_are_part_of_the_result(data: Path):
    settings = validated(data / "cartpole/cartpole_physx.usda", "fall").settings
    assert settings["physx"]["external_forces_every_iteration"] is False
    assert settings["physx"]["provenance"]["external_forces_every_iteration"] == "caller"
    assert settings["mujoco"]["fidelity"] == "physx"
    assert settings["mujoco"]["timestep_s"] == settings["physx"]["timestep_s"]


def test_an_engine_that_refuses_is_a_failed_row_with_its_message(data: Path):
    def refuse(*_: object) -> None:
        raise InputError("E058", "arm.usda", "PhysX makes no articulation of it")

    result = validated(data / "ur5e/ur5e.usda", "static", "fall", open_physx=refuse)
    assert [row.passed for row in result.rows] == [False, False]
    assert all("PhysX makes no articulation" in row.note for row in result.rows)
    assert not result.passed


def test_without_physx_nothing_is_validated(data: Path):
    def missing(*_: object) -> None:
        raise InputError("E056", "PhysX", "PhysX is not installed")

    with pytest.raises(InputError, match="not installed"):
        validated(data / "ur5e/ur5e.usda", "static", open_physx=missing)


def test_a_child_that_dies_costs_the_group_at_hand_alone(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("isaaclab_mirror.comparison.apart.WORKER", "json.tool")  # ends without a word
    options = ValidationOptions(groups=("static", "fall"), stated=ONCE)
    result = validate_apart(data / "ur5e/ur5e.usda", options)
    assert [row.passed for row in result.rows] == [False, False]
    assert all("E057" in row.note for row in result.rows)


def test_a_child_finds_what_this_process_finds(data: Path):
    options = ValidationOptions(groups=("fall", "drives"), stated=ONCE)
    file = data / "cartpole/cartpole_physx.usda"
    here, there = validate_robot(file, options), validate_apart(file, options)
    assert {r.name: r.value for r in here.rows} == pytest.approx({r.name: r.value for r in there.rows})
    assert [pair.trial for pair in here.pairs] == [pair.trial for pair in there.pairs]
    for ours, theirs in zip(here.pairs, there.pairs, strict=True):
        np.testing.assert_allclose(ours.physx.joint_pos, theirs.physx.joint_pos)


def test_a_held_quadruped_hangs_two_metres_up_and_a_falling_arm_is_untied(data: Path):
    with Engines(
        data / "unitree_go2/unitree_go2_physx.usda", ReadOptions(), Fidelity.PHYSX, physx_in_process
    ) as engines:
        held = engines.held(resolve_settings(engines.robot))
        with engines.open_mujoco(held) as sim:
            assert sim.fixed_base
            assert lowest_point(sim.model, sim.robot.home_qpos) is None, "nothing touches"
            assert sim.read().link_pos_w[0, :, 2].min() > 1.0
    with Engines(data / "ur5e/ur5e.usda", ReadOptions(), Fidelity.PHYSX, physx_in_process) as engines:
        falling = engines.falling(resolve_settings(engines.robot))
        with engines.open_mujoco(falling) as sim:
            sim.step(20)
            assert sim.read().root_lin_vel_w[0, 2] == pytest.approx(-9.81 * 20 * sim.step_s, rel=1e-6)
