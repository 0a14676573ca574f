"""The robot as the task spawns it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from isaaclab_mirror.contract.contract import Contract
from isaaclab_mirror.contract.loading import load_contract
from isaaclab_mirror.contract.robot_edit import robot_of, sim_settings_of
from isaaclab_mirror.contract.robot_file import load_robot_file
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.robot.joints import JointType
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from tests.contract.envs import ROBOT, env, group, write_run

MOTOR = group(
    class_type="isaaclab.actuators.actuator_pd:IdealPDActuator", effort_limit=9.0, effort_limit_sim=12.0, friction=0.2
)
OVPHYSX = {"sim__physx": ..., "sim__physics": {"class_type": "isaaclab_ov.physics.ovphysx_manager:OvPhysxManager"}}
MATERIAL = {
    "func": "isaaclab.envs.mdp.events:randomize_rigid_body_material",
    "mode": "startup",
    "params": {
        "asset_cfg": {"name": "robot", "body_names": ".*"},
        "static_friction_range": [0.8, 0.8],
        "dynamic_friction_range": [0.4, 0.8],
        "restitution_range": [0.0, 0.0],
    },
}


def spawned(tmp_path: Path, robot: str = ROBOT, **changes: Any) -> tuple[Contract, Robot]:
    contract = load_contract(write_run(tmp_path, env(**changes), robot))
    assert contract.robot.file is not None
    return contract, robot_of(contract, load_robot_file(contract.robot.file, contract.robot))


def test_implicit_motors_are_the_engines_drives(tmp_path: Path):
    _, robot = spawned(tmp_path)
    (drive,) = robot.axis("left_hip").drives
    assert (drive.stiffness, drive.damping, drive.max_effort) == (20.0, 0.5, 30.0)
    assert robot.axis("left_knee").drives[0].max_effort is None


def test_explicit_motors_leave_the_drive_nothing_but_its_bound(tmp_path: Path):
    _, robot = spawned(tmp_path, scene__robot__actuators={"legs": MOTOR})
    (drive,) = robot.axis("left_hip").drives
    assert (drive.stiffness, drive.damping, drive.max_effort) == (0.0, 0.0, 12.0)
    assert robot.axis("left_hip").dynamics.static_friction == 0.2


def test_explicit_efforts_are_not_bounded_where_physx_does_not(tmp_path: Path):
    """PhysX of Isaac Lab 3.0.0 (ovphysx 0.6.4) bounds drives by the joint's limit, explicit efforts not."""
    _, robot = spawned(tmp_path, scene__robot__actuators={"legs": MOTOR}, **OVPHYSX)
    assert robot.axis("left_hip").drives[0].max_effort is None


def test_links_and_scene_have_the_spawners_numbers(tmp_path: Path):
    props = {
        "linear_damping": 0.1,
        "angular_damping": 0.2,
        "max_angular_velocity": 1000.0,
        "max_depenetration_velocity": 1.0,
        "disable_gravity": True,
    }
    contract, robot = spawned(
        tmp_path,
        scene__robot__spawn__rigid_props=props,
        scene__robot__spawn__articulation_props__solver_position_iteration_count=8,
        scene__robot__spawn__collision_props={"contact_offset": 0.01, "rest_offset": 0.002},
    )
    link = robot.links[1]
    assert (link.linear_damping, link.angular_damping, link.disable_gravity) == (0.1, 0.2, True)
    assert link.max_angular_velocity == pytest.approx(17.4533)  # Isaac Lab's cfg says degrees
    assert link.max_depenetration_velocity == 1.0
    assert robot.collision_filter.self_collision is False
    collisions = [geom.collision for geom in robot.geoms if geom.collision is not None]
    assert {(c.contact_offset_m, c.rest_offset_m) for c in collisions} == {(0.01, 0.002)}
    settings = sim_settings_of(contract, robot)
    assert (settings.position_iterations, settings.timestep_s, settings.decimation) == (8, 0.005, 4)
    assert not settings.external_forces_every_iteration


def test_the_scenes_material_is_that_of_colliders_without_their_own(tmp_path: Path):
    contract, robot = spawned(tmp_path)
    assert robot.default_contact_material is not None
    assert robot.default_contact_material.dynamic_friction == 1.0
    assert robot.default_contact_material.friction_combine == "multiply"
    ground = sim_settings_of(contract).ground
    assert ground is not None
    assert (ground.material.static_friction, ground.material.friction_combine) == (1.0, "multiply")


def test_friction_drawn_at_startup_has_its_middle_and_keeps_the_combine_mode(tmp_path: Path):
    _, robot = spawned(tmp_path, events={"material": MATERIAL})
    materials = {material.name: material for material in robot.contact_materials}
    used = [materials[g.collision.material or ""] for g in robot.geoms if g.collision is not None]
    (one,) = {(m.static_friction, round(m.dynamic_friction, 9), str(m.friction_combine)) for m in used}
    assert one == (0.8, 0.6, "multiply")


def test_the_robot_starts_where_the_task_puts_it(tmp_path: Path):
    contract, robot = spawned(tmp_path)
    assert robot.joints[0].origin.pos == (0.0, 0.0, 0.45)
    with MujocoSim(robot, settings=sim_settings_of(contract, robot)) as sim:
        state = sim.read()
    assert state.root_pos_w[0].tolist() == [0.0, 0.0, 0.45]
    found = dict(zip(state.joint_names, state.joint_pos[0].tolist(), strict=True))
    assert found == {"left_hip": 0.1, "left_knee": -0.3, "right_hip": 0.1, "right_knee": -0.3}


def test_a_config_without_a_start_stands_on_the_ground(tmp_path: Path):
    from tests.contract.test_other_configs import DEPLOY, write

    file = write(tmp_path, "deploy.yaml", DEPLOY)
    (tmp_path / "model.xml").write_text(ROBOT.replace('pos="0 0 0.5"', 'pos="0 0 0"'))
    contract = load_contract(file)
    shin = max(0.2 * math.cos(hip) + 0.2 * math.cos(hip + knee) for hip, knee in ((0.1, 0.3), (0.2, 0.4)))
    assert contract.robot.pos[2] == pytest.approx(shin + 0.02)
    assert "standing on the ground" in contract.provenance["robot.pos"]


def test_the_base_is_fixed_or_freed_as_the_task_says(tmp_path: Path):
    _, robot = spawned(tmp_path, scene__robot__spawn__fix_root_link=True)
    assert robot.joints[0].type is JointType.FIXED
    _, robot = spawned(tmp_path)
    assert robot.joints[0].type is JointType.FLOATING


def test_joints_have_the_policys_names(tmp_path: Path):
    suffixed = ROBOT.replace('_hip"', '_hip_joint"').replace('_knee"', '_knee_joint"')
    contract, robot = spawned(tmp_path, suffixed)
    assert {axis.name for axis in robot.axes()} == set(contract.joint_names)
    assert robot.axis("left_hip").drives[0].stiffness == 20.0


def test_a_scaled_robot_and_an_unresolved_contract_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="scales the robot"):
        spawned(tmp_path, scene__robot__spawn__scale=[1.0, 1.0, 0.5])
    contract = load_contract(write_run(tmp_path), resolve=False)
    with pytest.raises(InputError, match="not resolved"):
        robot_of(contract, load_robot_file(tmp_path / "model.xml", contract.robot))


@pytest.mark.shared
def test_the_cartpole_of_a_run_hangs_where_the_live_task_has_it(shared: Path):
    contract = load_contract(shared / "policies" / "cartpole-isaaclab3-here")
    assert contract.robot.file is not None
    robot = robot_of(contract, load_robot_file(contract.robot.file, contract.robot))
    with MujocoSim(robot, settings=sim_settings_of(contract, robot)) as sim:
        assert sim.read().root_pos_w[0].tolist() == [0.0, 0.0, 2.0]
        assert sim.joint_names == contract.joint_names


@pytest.mark.shared
def test_a_usd_made_of_an_mjcf_is_run_as_physx_has_it(shared: Path):
    run = shared / "policies" / "go2-velocity-robot_lab"
    contract = load_contract(run, robot_file=shared / "corpus/unitree_go2/unitree_go2.usda")
    assert contract.robot.file is not None
    source = load_robot_file(contract.robot.file, contract.robot)
    robot = robot_of(contract, source)
    assert (source.dialect, robot.dialect) == ("mujoco", "physx")
    assert {round(axis.dynamics.damping, 6) for axis in source.axes()} == {2.0}
    assert {(axis.dynamics.damping, axis.dynamics.friction) for axis in robot.axes()} == {(0.0, 0.0)}
    assert all(not geom.collision.mujoco for geom in robot.geoms if geom.collision is not None)


@pytest.mark.shared
def test_acceleration_drives_count_on_the_training_asset_alone(shared: Path, tmp_path: Path):
    """Isaac Lab leaves the drive's type; deploy.yaml's gains, N·m/rad, are not those of this importer's drives."""
    usd = shared / "corpus-layered/g1_urdf/g1_urdf.usda"
    other = load_contract(shared / "policies" / "g1-29dof-velocity-unitree_rl_lab", robot_file=usd)
    pose, rename = {".*_knee_joint": 0.3}, {"scene__robot__spawn__usd_path": "http://host/g1_urdf.usda"}
    own = load_contract(write_run(tmp_path, env(scene__robot__init_state__joint_pos=pose, **rename)), robot_file=usd)
    robot = load_robot_file(usd, own.robot)
    assert {str(axis.drives[0].type) for axis in robot_of(other, robot).axes()} == {"force"}
    assert {str(axis.drives[0].type) for axis in robot_of(own, robot).axes()} == {"acceleration"}
