"""Drives of arms that gravity loads: how far they sag, judged by PhysX's own step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.conversion import inspect_robot
from isaaclab_mirror.physics.dynamics import gravity_efforts, mass_matrix
from isaaclab_mirror.physics.gravity_load import gravity_softening
from isaaclab_mirror.robot.home import home_positions, with_start
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.mujoco_sim import MujocoSim

pytestmark = pytest.mark.shared
SUBSTEP_S = 1 / 800


@pytest.fixture(scope="module")
def franka(shared: Path) -> Robot:
    """Elbow bent, as it usually stands."""
    robot, _, _ = inspect_robot(shared / "corpus" / "franka_panda" / "franka_panda_physx.usda")
    return with_start(robot, {"joint2": -0.57, "joint4": -2.0, "joint6": 2.0})


def sag(robot: Robot, fidelity: str) -> dict[str, float]:
    """How far every joint hangs from its target after two seconds [rad]."""
    with MujocoSim(robot, fidelity=fidelity, contact_forces=False) as sim:
        target = sim.read().joint_pos[0]
        sim.step(400)
        return dict(zip(sim.joint_names, (target - sim.read().joint_pos[0]).tolist(), strict=True))


def test_an_arm_sags_under_the_law_as_under_physx_step_and_less_without(franka: Robot):
    physx, law, stated = (sag(franka, fidelity)["joint2"] for fidelity in ("emulate", "physx", "nominal"))
    assert abs(physx) > 1e-3
    assert law == pytest.approx(physx, rel=0.05)
    assert abs(stated - physx) > 0.1 * abs(physx)


def test_gravity_efforts_are_mujocos(franka: Robot):
    _, names = mass_matrix(franka, home_positions(franka))
    ours = dict(zip(names, gravity_efforts(franka, home_positions(franka)).tolist(), strict=True))
    with MujocoSim(franka, fidelity="nominal", contact_forces=False) as sim:
        theirs = dict(zip(sim.joint_names, sim.bias()[0].tolist(), strict=True))
    assert ours == pytest.approx(theirs, abs=1e-5)


def test_a_floating_robot_has_no_arm_to_soften(shared: Path):
    robot, _, _ = inspect_robot(shared / "corpus" / "unitree_go2" / "unitree_go2_physx.usda")
    assert gravity_softening(robot, substep_s=SUBSTEP_S) == {}


def test_a_joint_that_gravity_does_not_load_keeps_its_gains(franka: Robot):
    shares = gravity_softening(franka, substep_s=SUBSTEP_S)
    assert "joint1" not in shares  # about the vertical
    assert shares["joint2"] < 0.95
    assert np.isfinite(list(shares.values())).all()
