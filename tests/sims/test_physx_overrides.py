"""What the robot model says reaches PhysX, whatever the file says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.robot.materials import CombineMode, ContactMaterial
from isaaclab_mirror.sims.robots import load_robot
from isaaclab_mirror.sims.settings import Ground, resolve_settings

pytest.importorskip("ovphysx")
GO2 = Path(__file__).parents[2] / "data/policies/assets/Isaac/IsaacLab/Robots/Unitree/Go2/go2.usd"
pytestmark = pytest.mark.physx


@pytest.fixture(scope="module")
def spawned():
    """The Go2 as a task spawns it: slippery, slow to turn, with damping."""
    from isaaclab_mirror.sims.physx_sim import PhysxSim

    ice = ContactMaterial(
        name="ice", static_friction=0.11, dynamic_friction=0.07, friction_combine=CombineMode.MULTIPLY
    )
    robot = load_robot(GO2)
    links = [replace(link, max_angular_velocity=2.5, linear_damping=0.4) for link in robot.links]
    geoms = [
        replace(geom, collision=replace(geom.collision, material="ice")) if geom.collision else geom
        for geom in robot.geoms
    ]
    robot = replace(robot, links=tuple(links), geoms=tuple(geoms), contact_materials=(ice,))
    with PhysxSim(
        robot, settings=resolve_settings(robot, ground=Ground(), external_forces_every_iteration=False)
    ) as sim:
        yield sim


def test_colliders_have_the_friction_that_the_model_gives_them(spawned):
    friction = spawned._open().read("SHAPE_FRICTION_AND_RESTITUTION")[0]
    assert friction[:, :2] == pytest.approx(np.tile([0.11, 0.07], (len(friction), 1)), abs=1e-6)


def test_links_spin_no_faster_than_the_model_lets_them(spawned):
    from isaaclab_mirror.sims.state import Start

    spawned.reset(Start(root_pos_w=(0, 0, 3.0), root_ang_vel_w=(0.0, 0.0, 9.0)))
    spawned.step(60)  # a torque on every link slows it: no clamp
    assert np.linalg.norm(spawned.read().root_ang_vel_w[0]) < 2.6


def test_links_fall_with_the_damping_that_the_model_gives_them(spawned):
    from isaaclab_mirror.sims.state import Start

    spawned.reset(Start(root_pos_w=(0, 0, 9.0)))
    spawned.step(100)
    dt, speed = spawned.step_s, 0.0
    for _ in range(100):  # explicit, once per step
        speed += dt * (9.81 * (1.0 - 0.4 * dt) - 0.4 * speed)
    assert -spawned.read().root_com_lin_vel_w[0, 2] == pytest.approx(speed, rel=1e-4)
