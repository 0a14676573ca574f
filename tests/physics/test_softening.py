"""Static laws of legs: whose drives the ground loads, how soft PhysX makes them, in how many steps."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.conversion import inspect_robot
from isaaclab_mirror.physics.contact import default_contact_offset
from isaaclab_mirror.physics.dynamics import mass_matrix
from isaaclab_mirror.physics.physx_contacts import contact_parameters, link_parameters
from isaaclab_mirror.physics.softening import SHARE, best_substeps, leg_inertias, softening
from isaaclab_mirror.robot.drives import Drive, DriveType
from isaaclab_mirror.robot.home import home_positions, with_start
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.settings import Ground, resolve_settings
from isaaclab_mirror.sims.state import Start

STANCE = {"hip": 0.1, "thigh": 0.8, "calf": -1.5}


@pytest.fixture(scope="module")
def go2() -> Robot:
    """Go2 as its USD says, standing."""
    file = Path(__file__).parents[2] / "data" / "unitree_go2" / "unitree_go2_physx.usda"
    robot, _, _ = inspect_robot(file)
    stand = {axis.name: next(v for part, v in STANCE.items() if part in axis.name) for axis in robot.axes()}
    return with_start(robot, stand)


def test_mass_matrix_where_a_robot_stands_is_mujocos(go2: Robot):
    matrix, names = mass_matrix(go2, home_positions(go2))
    rows = [names.index(axis.name) for axis in go2.axes()]
    with MujocoSim(go2, fidelity="nominal") as sim:
        theirs = sim.mass_matrix()[0][6:, 6:]
    np.testing.assert_allclose(matrix[np.ix_(rows, rows)], theirs, rtol=1e-6, atol=1e-9)


def test_legs_are_what_stands_on_the_ground(go2: Robot):
    assert set(leg_inertias(go2)) == {axis.name for axis in go2.axes()}


def test_arms_of_a_humanoid_carry_no_ground(data: Path):
    robot, _, _ = inspect_robot(data / "unitree_g1" / "g1_urdf.usda")
    legs = set(leg_inertias(robot))
    assert {name for name in legs if any(part in name for part in ("hip", "knee", "ankle"))} == legs
    assert any("ankle" in name for name in legs)


def test_nothing_bears_a_fixed_arm(data: Path):
    robot, _, _ = inspect_robot(data / "ur5e" / "ur5e.usda")
    assert leg_inertias(robot) == {}
    assert best_substeps(robot, 4) == 1


def test_calf_of_a_quadruped_sags_as_in_physx():
    # kp 60, kd 2, (M⁻¹)jj 235: MuJoCo sags 95 mrad under the load; PhysX 124 at N = 8, 109 at 16, 102 at 32
    drive = Drive(stiffness=60.0, damping=2.0)
    for iterations, physx in ((8, 124), (16, 109), (32, 102)):
        s = softening(drive, substep_s=0.005 / iterations, inertia=1 / 235)
        whole = 1 + (1 / s - 1) / SHARE
        assert 95 * whole == pytest.approx(physx, rel=0.01)


def test_acceleration_drive_softens_by_its_own_gains():
    drive = Drive(stiffness=400.0, damping=20.0, type=DriveType.ACCELERATION)
    h = 0.00125
    assert softening(drive, substep_s=h, inertia=123.0) == pytest.approx(1 / (1 + SHARE * h * (h * 400 + 20)))


def test_gains_follow_the_stance_that_a_robot_is_started_in(go2: Robot):
    straight = with_start(go2, dict.fromkeys(home_positions(go2), 0.0))
    settings = resolve_settings(go2, ground=Ground())
    with MujocoSim(go2, settings=settings) as told, MujocoSim(straight, settings=settings) as late:
        told.set_gains(60.0, 2.0)
        late.set_gains(60.0, 2.0)
        before = late.model.actuator_gainprm[:, 0].copy()
        late.reset(Start(joint_pos=home_positions(go2), root_pos_w=(0.0, 0.0, 0.4)))
        assert not np.allclose(before, late.model.actuator_gainprm[:, 0], rtol=1e-3)
        np.testing.assert_allclose(late.model.actuator_gainprm[:, 0], told.model.actuator_gainprm[:, 0], rtol=1e-9)


def test_legged_robot_is_stepped_once_per_iteration_unless_the_caller_says_otherwise(go2: Robot):
    for stated, fidelity, steps in ((None, "physx", 4), (None, "nominal", 1), (2, "physx", 2)):
        settings = resolve_settings(go2, mujoco_substeps=stated, position_iterations=4)
        with MujocoSim(go2, settings=settings, fidelity=fidelity) as sim:
            assert sim.settings.mujoco_substeps == steps
            assert sim.model.opt.timestep == pytest.approx(0.005 / steps)


@pytest.mark.parametrize(
    ("extent_m", "step_s", "physx_m"),
    [(0.0935, 0.005, 0.00187), (0.044, 0.005, 0.00088), (0.0245, 0.005, 0.00049), (0.028, 1 / 60, 0.00545)],
)
def test_contact_offset_that_nobody_states_is_physxs(extent_m: float, step_s: float, physx_m: float):
    assert default_contact_offset(extent_m, 9.81, step_s) == pytest.approx(physx_m, abs=6e-6)


def test_colliders_and_links_of_a_robot_have_physxs_numbers(go2: Robot):
    contacts = contact_parameters(go2, 9.81, 0.005)
    foot = next(geom for geom in go2.geoms if geom.name == "FL")
    assert contacts.contact_offset_m["FL"] == pytest.approx(0.00088)
    assert set(contacts.static_friction) == {geom.name for geom in go2.geoms if geom.collision is not None}
    assert foot.collision is not None
    stated = replace(foot, collision=replace(foot.collision, contact_offset_m=0.01, rest_offset_m=0.002))
    own = contact_parameters(replace(go2, geoms=(stated,)), 9.81, 0.005)
    assert (own.contact_offset_m["FL"], own.rest_offset_m["FL"]) == (0.01, 0.002)
    links = link_parameters(go2)
    assert set(links.max_angular_speed.values()) == {100.0}
    assert set(links.angular_damping.values()) == {0.05}
    assert math.isfinite(sum(links.max_depenetration_speed.values()))
