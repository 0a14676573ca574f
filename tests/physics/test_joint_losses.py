"""Damping of links and friction of joints, as MuJoCo's joints can hold them."""

from __future__ import annotations

from pathlib import Path

import pytest

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.physics.damping import joint_damping
from isaaclab_mirror.physics.lower import lower
from isaaclab_mirror.physics.lowered import Engine, Lowered
from isaaclab_mirror.physics.options import LoweringOptions
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.robots import load_robot, locked


@pytest.fixture(scope="module")
def arm(data: Path) -> Robot:
    return load_robot(data / "ur5e/ur5e.usda")


@pytest.fixture(scope="module")
def quadruped(data: Path) -> Robot:
    return load_robot(data / "unitree_go2/unitree_go2_physx.usda")


def lowered(robot: Robot, fidelity: str) -> Lowered:
    options = LoweringOptions(fidelity=fidelity)  # type: ignore[arg-type]
    return lower(robot, Engine.MUJOCO, options, Diagnostics(), Fidelity())


def test_the_last_joint_of_an_arm_is_damped_by_what_slows_its_one_link(arm: Robot):
    link = arm.link("wrist_3_link")
    assert link.angular_damping == 0.05, "PhysX's default"
    axis = arm.axis("wrist_3_joint").axis
    tensor = link.inertia.tensor()
    about = sum(axis[i] * tensor[i][k] * axis[k] for i in range(3) for k in range(3))
    assert joint_damping(arm)["wrist_3_joint"] == pytest.approx(0.05 * about, rel=1e-6)


def test_a_joint_feels_every_link_that_it_carries(arm: Robot):
    damping = joint_damping(arm)
    assert damping["shoulder_lift_joint"] > damping["elbow_joint"] > damping["wrist_1_joint"] > 0
    alone = joint_damping(locked(arm, {"elbow_joint"}))
    assert alone == {"elbow_joint": pytest.approx(damping["elbow_joint"])}


def test_only_numbers_that_shall_move_as_physx_carry_the_damping_of_links(arm: Robot):
    own = arm.axis("elbow_joint").dynamics.damping
    assert lowered(arm, "nominal").axes["elbow_joint"].damping == own
    more = lowered(arm, "physx").axes["elbow_joint"].damping - own
    assert more == pytest.approx(joint_damping(arm)["elbow_joint"])


def test_joint_friction_is_as_rigid_as_physx_has_it(quadruped: Robot):
    axis = quadruped.axis("FL_hip_joint")
    assert axis.dynamics.friction > 0
    rigid = lowered(quadruped, "physx").axes["FL_hip_joint"]
    assert rigid.solimp_friction is not None
    assert rigid.solimp_friction[0] == 0.9999
    assert rigid.solref_friction[0] == pytest.approx(2 * 0.005)
    assert lowered(quadruped, "nominal").axes["FL_hip_joint"].solimp_friction is None
