"""MujocoSim with fidelity `emulate`: what it says, what it refuses, that environments do not know of each other."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.physics.emulation.laws import Laws
from isaaclab_mirror.robot.home import with_start
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.robots import load_robot
from isaaclab_mirror.sims.settings import Ground, resolve_settings
from isaaclab_mirror.sims.state import Start

pytest.importorskip("numba", reason="without the extra `emulate` the laws run as plain Python: minutes")

STANCE = {"hip": 0.1, "thigh": 0.8, "calf": -1.5}


@pytest.fixture(scope="module")
def go2() -> Robot:
    """Standing above the ground."""
    file = Path(__file__).parents[2] / "data" / "unitree_go2" / "unitree_go2_physx.usda"
    robot = load_robot(file, base_pose=Pose((0.0, 0.0, 0.36)))
    stand = {axis.name: next(v for part, v in STANCE.items() if part in axis.name) for axis in robot.axes()}
    return with_start(robot, stand)


def emulated(robot: Robot | Path, **options: Any) -> MujocoSim:
    """On a plane."""
    settings = resolve_settings(robot if isinstance(robot, Robot) else None, ground=Ground())
    return MujocoSim(robot, fidelity="emulate", settings=settings, **options)


def test_what_is_left_out_and_what_is_near_is_said(data: Path):
    with emulated(load_robot(data / "anymal_c" / "anymal_c_physx.usda")) as sim:
        said = {found.code: found for found in sim.diagnostics}
    assert "own links" in said["E061"].message
    assert "more" in said["E061"].where  # of many pairs a few are named


def test_standing_robot_presses_with_its_weight_on_its_feet(go2: Robot):
    with emulated(go2) as sim:
        sim.set_gains(60.0, 2.0)
        sim.step(400)
        state = sim.read()
        forces = state.contact_force_w[0, :, 2]
        assert forces.sum() == pytest.approx(go2.mass_kg * 9.81, rel=0.01)
        feet = [name for name, force in zip(sim.link_names, forces, strict=True) if force > 1.0]
        assert sorted(feet) == ["FL_calf", "FR_calf", "RL_calf", "RR_calf"]


def test_environments_do_not_know_of_each_other(go2: Robot):
    heights = np.array([[0.0, 0.0, 0.34], [0.0, 0.0, 0.36], [0.0, 0.0, 0.4]])
    with emulated(go2, env_count=3) as many:
        many.reset(Start(root_pos_w=heights))
        many.step(150)
        together = many.read()
    for row, height in enumerate(heights):
        with emulated(go2) as one:
            one.reset(Start(root_pos_w=height))
            one.step(150)
            alone = one.read()
        np.testing.assert_array_equal(together.joint_pos[row], alone.joint_pos[0])
        np.testing.assert_array_equal(together.root_pos_w[row], alone.root_pos_w[0])


def test_reset_forgets_what_friction_remembers(go2: Robot):
    runs = []
    with emulated(go2) as sim:
        for _ in range(2):
            sim.reset()
            sim.step(200)
            runs.append(sim.read().joint_pos)
    np.testing.assert_array_equal(runs[0], runs[1])


def test_gains_targets_and_efforts_reach_the_emulation(go2: Robot):
    name = go2.joints[2].axes[0].name
    ends = []
    for stiffness, effort in ((20.0, 0.0), (60.0, 0.0), (60.0, 3.0)):
        with emulated(go2) as sim:
            sim.set_gains(stiffness, 1.0)
            sim.set_position_targets({name: 0.3})
            sim.set_efforts({name: effort})
            sim.step(20)
            ends.append(float(sim.read().joint_pos[0, sim.joint_names.index(name)]))
    assert len({round(end, 4) for end in ends}) == 3


def test_a_law_can_be_switched_off_by_name(go2: Robot):
    with emulated(go2, laws=Laws().without("contacts")) as sim:
        sim.step(200)
        assert float(sim.read().root_pos_w[0, 2]) < -1.0
    with pytest.raises(ValueError, match="no law 'gravity'"):
        Laws().without("gravity")


def test_ball_joints_are_refused_with_what_to_do(tmp_path: Path):
    file = tmp_path / "ball.xml"
    file.write_text(
        '<mujoco><worldbody><body name="b"><joint name="hip" type="ball"/><geom size=".1"/></body></worldbody></mujoco>',
        encoding="utf-8",
    )
    with pytest.raises(InputError, match=r"E060.*'hip' is a ball") as refused:
        emulated(file)
    assert "fidelity physx" in str(refused.value)


def test_missing_extra_is_named(go2: Robot, monkeypatch: pytest.MonkeyPatch):
    real = importlib.import_module

    def without(name: str, package: str | None = None) -> Any:
        if name.endswith("emulated_stepper"):
            raise ModuleNotFoundError("No module named 'numba'")
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(InputError, match=r"E059.*numba") as refused:
        emulated(go2)
    assert "isaaclab-mirror[emulate]" in str(refused.value)
