"""env.yaml of Isaac Lab 1.x, 2.x and 3.x."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from isaaclab_mirror.contract.contract import ActuatorKind, Contract, EntityKind, SourceKind
from isaaclab_mirror.contract.loading import load_contract
from isaaclab_mirror.diagnostics import InputError
from tests.contract.envs import env, write_run


def loaded(tmp_path: Path, **changes: Any) -> Contract:
    return load_contract(write_run(tmp_path, env(**changes)))


def refused(tmp_path: Path, **changes: Any) -> str:
    with pytest.raises(InputError) as error:
        loaded(tmp_path, **changes)
    return str(error.value)


@pytest.mark.shared
def test_every_shipped_task_loads_and_says_what_it_is(shared: Path):
    folders = sorted(folder for folder in (shared / "isaaclab-configs").iterdir() if (folder / "env.yaml").is_file())
    assert len(folders) == 75
    contracts = {folder.name: load_contract(folder, resolve=False) for folder in folders}
    assert all(c.source.version == "3.x" and c.quat_order == "xyzw" for c in contracts.values())
    assert all(c.observations and c.actions and c.actuators for c in contracts.values())
    assert sum(c.sim.backend == "ovphysx" for c in contracts.values()) == 33
    assert sum(c.sim.terrain.kind == "generator" for c in contracts.values()) == 11
    kinds = {group.kind for c in contracts.values() for group in c.actuators}
    assert kinds == set(ActuatorKind) - {ActuatorKind.PASSIVE, ActuatorKind.OTHER}


@pytest.mark.shared
def test_go2_of_isaac_lab_3_is_read_to_the_number(shared: Path):
    c = load_contract(shared / "isaaclab-configs" / "Isaac-Velocity-Flat-UnitreeGo2", resolve=False)
    assert (c.sim.dt, c.sim.decimation, c.sim.step_dt) == (0.005, 4, 0.02)
    assert c.sim.external_forces_every_iteration
    assert c.sim.use_newton_actuators
    assert (c.sim.material.static_friction, c.sim.material.friction_combine) == (1.0, "multiply")
    assert (c.robot.position_iterations, c.robot.velocity_iterations) == (4, 0)
    assert c.robot.self_collisions is False
    assert c.robot.max_angular_velocity == pytest.approx(math.radians(1000.0))
    assert c.robot.max_linear_velocity == 1000.0
    assert (c.robot.pos, c.robot.quat_wxyz) == ((0.0, 0.0, 0.4), (1.0, 0.0, 0.0, 0.0))
    assert [t.func_name for t in c.group("policy").terms][:3] == ["base_lin_vel", "base_ang_vel", "projected_gravity"]
    assert c.entity("contact_forces").kind is EntityKind.CONTACT_SENSOR
    assert c.command("base_velocity").func_name == "UniformVelocityCommand"


@pytest.mark.shared
def test_the_run_folder_of_isaac_lab_3_takes_its_joint_order_from_the_io_descriptor(shared: Path):
    c = load_contract(shared / "policies" / "go2-flat-isaaclab3-here")
    assert c.source.kind is SourceKind.ISAACLAB_RUN
    assert c.source.task == "Isaac-Velocity-Flat-UnitreeGo2"
    assert c.joints.source.value == "recording"
    assert c.joint_names[:5] == ("FL_hip_joint", "FR_hip_joint", "RL_hip_joint", "RR_hip_joint", "FL_thigh_joint")
    assert c.policy is not None
    assert c.policy.file.name == "policy.onnx"
    assert not [d for d in c.diagnostics if d.severity != "info"]


@pytest.mark.shared
def test_h1_of_isaac_lab_1_has_quaternions_wxyz(shared: Path):
    c = load_contract(shared / "policies" / "h1-velocity-flat-isaaclab")
    assert (c.source.version, c.quat_order) == ("1.x", "wxyz")
    assert c.robot.quat_wxyz == (1.0, 0.0, 0.0, 0.0)
    assert not c.sim.external_forces_every_iteration


@pytest.mark.parametrize(
    ("changes", "version", "order"),
    [
        ({}, "2.x", "wxyz"),
        ({"sim__physx": ..., "sim__physics": {"class_type": "isaaclab_ov.physics:OvPhysxManager"}}, "3.x", "xyzw"),
        ({"scene__robot__class_type": "omni.isaac.lab.assets.articulation:Articulation"}, "1.x", "wxyz"),
    ],
)
def test_quaternions_are_read_in_the_order_of_their_generation(
    tmp_path: Path, changes: dict[str, Any], version: str, order: str
):
    quarter = (
        [math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)] if order == "wxyz" else [0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)]
    )
    c = loaded(tmp_path, scene__robot__init_state__rot=quarter, **changes)
    assert (c.source.version, c.quat_order) == (version, order)
    assert c.robot.quat_wxyz == pytest.approx((math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)))


def test_without_a_trace_of_the_generation_identity_rotations_decide_and_it_is_said(tmp_path: Path):
    changes = {"sim__physx": ..., "scene__robot__class_type": None, "scene__terrain": None}
    c = loaded(tmp_path, scene__robot__init_state__rot=[0.0, 0.0, 0.0, 1.0], **changes)
    assert (c.source.version, c.quat_order) == ("unknown", "xyzw")
    assert "E112" in {d.code for d in c.diagnostics}


def test_a_groups_history_overrides_its_terms(tmp_path: Path):
    c = loaded(tmp_path, observations__policy__history_length=3, observations__policy__flatten_history_dim=True)
    assert [t.history_length for t in c.group("policy").terms] == [3, 3]
    c = loaded(tmp_path, observations__policy__joint_pos__history_length=5)
    assert [t.history_length for t in c.group("policy").terms] == [5, 0]


def test_null_terms_are_switched_off(tmp_path: Path):
    c = loaded(tmp_path, observations__policy__height_scan=None, events={"push": None}, commands={"c": None})
    assert [t.name for t in c.group("policy").terms] == ["joint_pos", "actions"]
    assert c.events == ()
    assert c.commands == ()


def test_properties_for_other_engines_are_left_out(tmp_path: Path):
    props = [
        {"_usd_namespace": "physxArticulation", "enabled_self_collisions": True, "solver_position_iteration_count": 8},
        {"_usd_namespace": "newton", "enabled_self_collisions": False},
    ]
    c = loaded(tmp_path, scene__robot__spawn__articulation_props=props)
    assert (c.robot.self_collisions, c.robot.position_iterations) == (True, 8)


def test_the_agent_says_which_groups_the_policy_sees_and_what_is_clipped(tmp_path: Path):
    write_run(tmp_path, env(observations__history={"actions": {"func": "m:last_action"}}))
    (tmp_path / "agent.yaml").write_text(
        "num_steps_per_env: 24\nclip_actions: 5\nobs_groups: {actor: [policy, history]}"
    )
    c = load_contract(tmp_path)
    assert c.policy_groups == ("policy", "history")
    assert c.wrapper.clip_actions == ((-5.0, 5.0),)
    (tmp_path / "agent.yaml").write_text("num_steps_per_env: 24\nobs_groups: {actor: [nothing]}")
    with pytest.raises(InputError, match="no observation group 'nothing'"):
        load_contract(tmp_path)


def test_the_newton_backend_is_said(tmp_path: Path):
    c = loaded(tmp_path, sim__physx=..., sim__physics={"class_type": "isaaclab_newton.physics:NewtonMJWarpManager"})
    assert c.sim.backend == "newton"
    assert "E110" in {d.code for d in c.diagnostics}
    assert c.joint_names == ("left_hip", "left_knee", "right_hip", "right_knee")


@pytest.mark.parametrize(("functions", "kind"), [(("flat",), "plane"), (("flat", "random_grid"), "generator")])
def test_a_generator_of_flat_ground_alone_is_a_plane(tmp_path: Path, functions: tuple[str, ...], kind: str):
    subs = {name: {"function": f"isaaclab.terrains.trimesh:{name}_terrain", "proportion": 1.0} for name in functions}
    changes = {"terrain_type": "generator", "terrain_generator": {"sub_terrains": subs}}
    c = loaded(tmp_path, **{f"scene__terrain__{key}": value for key, value in changes.items()})
    assert c.sim.terrain.kind == kind


def test_the_newton_branch_between_2_and_3_has_quaternions_wxyz(tmp_path: Path):
    c = loaded(tmp_path, sim__physx=..., sim__newton_cfg={"solver_cfg": {"solver_type": "mujoco_warp"}})
    assert (c.sim.backend, c.source.version, c.quat_order) == ("newton", "2.x", "wxyz")


@pytest.mark.parametrize(
    ("changes", "key", "part"),
    [
        ({"sim__dt": "fast"}, "env.yaml:sim.dt", "'fast' is not a finite number"),
        ({"sim__dt": float("nan")}, "env.yaml:sim.dt", "not a finite number"),
        ({"sim__dt": 0}, "env.yaml:sim.dt", "positive"),
        ({"sim__dt": ...}, "env.yaml:sim.dt", "missing"),
        ({"decimation": 2.5}, "env.yaml:decimation", "whole number"),
        ({"decimation": 0}, "env.yaml:decimation", "whole number"),
        ({"sim__gravity": [0, 0]}, "env.yaml:sim.gravity", "3 finite numbers"),
        ({"observations": None}, "env.yaml:observations", "manager-based"),
        ({"actions__joint_pos__class_type": None}, "env.yaml:actions.joint_pos.class_type", "text"),
        ({"actions__joint_pos": 3, "actions": {"joint_pos": {}}}, "env.yaml:actions.joint_pos.class_type", "missing"),
        ({"scene__robot__actuators__legs__stiffness": [1, 2]}, "stiffness", "finite number"),
        ({"scene__robot__actuators__legs__stiffness": {".*": "x"}}, "stiffness..*", "finite number"),
        ({"scene__robot__actuators": ...}, "env.yaml:scene.robot", "no articulation"),
        ({"scene__robot__init_state__joint_pos": {".*_hip": [1]}}, "joint_pos..*_hip", "finite number"),
        ({"scene__robot__init_state__rot": [0, 0, 0, 0]}, "init_state.rot", "quaternion"),
        ({"sim__physics_material__friction_combine_mode": "sum"}, "friction_combine_mode", "one of average"),
        ({"observations__policy__joint_pos__clip": [1, -1]}, "observations.policy.joint_pos.clip", "lower first"),
        ({"observations__policy__joint_pos__scale": "big"}, "observations.policy.joint_pos.scale", "finite number"),
        ({"observations__policy__joint_pos__func": 7}, "observations.policy.joint_pos.func", "text"),
        ({"scene": {"robot": 3}}, "env.yaml:scene", "no articulation"),
    ],
)
def test_a_wrong_value_is_refused_with_its_key(tmp_path: Path, changes: dict[str, Any], key: str, part: str):
    message = refused(tmp_path, **changes)
    assert key in message
    assert part in message


def test_a_file_of_another_kind_is_refused(tmp_path: Path):
    file = write_run(tmp_path, "robots: [a, b]\n")
    with pytest.raises(InputError, match="its keys are those of no config") as error:
        load_contract(file)
    assert error.value.diagnostic.code == "E100"


def test_a_folder_without_a_config_and_a_path_that_is_not_there_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="no config of a policy is in this folder"):
        load_contract(tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        load_contract(tmp_path / "run")
