"""What robots are asked to do stays within what they can do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.comparison.excitation import SWEEP_HZ, JointFacts, chirp, joint_facts, step, within_reach
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.robots import load_robot


@pytest.fixture(scope="module")
def arm(data: Path) -> tuple[JointFacts, MujocoSim]:
    robot = load_robot(data / "ur5e/ur5e.usda")
    sim = MujocoSim(robot)
    return joint_facts(robot, sim, sim.joint_names), sim


@pytest.fixture(scope="module")
def quadruped(data: Path) -> JointFacts:
    robot = load_robot(data / "unitree_go2/unitree_go2_physx.usda")
    with MujocoSim(robot) as sim:
        return joint_facts(robot, sim, sim.joint_names)


def test_a_sweep_never_leaves_the_joint_limits(quadruped: JointFacts):
    position, _ = chirp(quadruped, 5.0)
    asked = np.array([position(t) for t in np.linspace(0.0, 5.0, 400)])
    assert (asked >= quadruped.lower).all()
    assert (asked <= quadruped.upper).all()
    assert (np.ptp(asked, axis=0) > 0.1).all(), "every joint moves"


def test_a_sweep_starts_at_the_centre_and_ends_at_two_hertz(quadruped: JointFacts):
    position, _ = chirp(quadruped, 5.0)
    assert position(0.0) == pytest.approx(quadruped.centre)
    late = np.linspace(4.0, 5.0, 2000)
    signal = np.array([position(t)[0] for t in late]) - quadruped.centre[0]
    crossings = (np.diff(np.sign(signal)) != 0).sum()
    assert crossings / 2 == pytest.approx(SWEEP_HZ[1], abs=0.6)


def test_a_step_jumps_once_and_holds(quadruped: JointFacts):
    position, _ = step(quadruped)
    assert position(0.05) == pytest.approx(quadruped.centre)
    assert (position(0.2) == position(1.0)).all()
    assert not np.allclose(position(0.2), quadruped.centre)


def test_a_sweep_asks_for_less_than_the_drives_of_an_arm_can_give(arm: tuple[JointFacts, MujocoSim]):
    facts, sim = arm
    slow = within_reach(facts, sim)
    assert (slow.amplitude <= facts.amplitude).all()
    sim.reset()
    inertia = np.diag(sim.mass_matrix()[0])
    asked = inertia * slow.amplitude * (2 * np.pi * SWEEP_HZ[1]) ** 2
    assert (asked < facts.effort_limit).all()
    assert (slow.amplitude > 1e-3).all()
