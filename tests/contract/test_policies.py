"""Policies of others, from their author's config alone: the contract that replay has proven, to the number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from isaaclab_mirror.contract.contract import ActuatorKind, Contract, OrderSource, PolicyKind, SourceKind
from isaaclab_mirror.contract.loading import load_contract

pytestmark = pytest.mark.shared
FOLDERS = {
    "g1-29dof-velocity-unitree_rl_lab": SourceKind.UNITREE_DEPLOY,
    "h1-velocity-flat-isaaclab": SourceKind.ISAACLAB_ENV,
    "go2-velocity-robot_lab": SourceKind.RL_SAR,
    "g1-12dof-lstm-unitree_rl_gym": SourceKind.UNITREE_RL_GYM,
}
NAMES = {"generated_commands": "velocity_commands", "gait_phase": "gait_phase_sin_cos"}
"""Isaac Lab's function → its name in contract.json."""
SIZES = {"base_ang_vel": 3, "base_lin_vel": 3, "projected_gravity": 3, "generated_commands": 3, "gait_phase": 2}


@pytest.fixture(params=sorted(FOLDERS))
def pair(request: pytest.FixtureRequest, shared: Path) -> tuple[Contract, dict[str, Any]]:
    folder = shared / "policies" / str(request.param)
    contract = load_contract(folder)
    assert contract.source.kind is FOLDERS[folder.name]
    return contract, json.loads((folder / "contract.json").read_text())


def test_joints_and_default_pose_are_the_proven_ones(pair: tuple[Contract, dict[str, Any]]):
    contract, proven = pair
    assert list(contract.joint_names) == proven["joint_names"]
    assert list(contract.default_joint_pos) == proven["default_joint_pos"]
    assert len(contract.body_names) > len(contract.joint_names)


def test_gains_and_kinds_of_motors_are_the_proven_ones(pair: tuple[Contract, dict[str, Any]]):
    contract, proven = pair
    assert list(contract.joint_values("stiffness")) == proven["actuators"]["stiffness"]
    assert list(contract.joint_values("damping")) == proven["actuators"]["damping"]
    implicit = [contract.actuator_of(name)[0].is_implicit for name in contract.joint_names]
    assert implicit == [kind == "implicit" for kind in proven["actuators"]["type"]]


def test_friction_is_the_proven_one(pair: tuple[Contract, dict[str, Any]]):
    contract, proven = pair
    assert list(contract.joint_values("friction")) == proven["actuators"]["friction"]


def test_rates_and_the_action_are_the_proven_ones(pair: tuple[Contract, dict[str, Any]]):
    contract, proven = pair
    assert (contract.sim.dt, contract.sim.decimation) == (proven["sim"]["dt"], proven["sim"]["decimation"])
    (action,) = contract.actions
    assert list(action.joints) == proven["joint_names"]
    assert list(action.scale) == proven["action"]["scale"]
    assert list(action.offset) == proven["default_joint_pos"]
    clip = proven["action"]["clip"]
    assert [list(pair) for pair in set(contract.wrapper.clip_actions)] == ([clip] if clip else [])


def test_observations_are_the_proven_ones(pair: tuple[Contract, dict[str, Any]]):
    contract, proven = pair
    (group,) = contract.policy_observations
    joints = len(contract.joint_names)
    found = []
    for term in group.terms:
        size = SIZES.get(term.func_name, joints)
        scale: Any = list(term.scale) or [1.0]
        found.append(
            {
                "name": NAMES.get(term.func_name, term.func_name),
                "dim": size if term.size is None else term.size,
                "scale": scale[0] if len(set(scale)) == 1 else scale,
            }
        )
    assert found == proven["observations"]
    length = proven["history"]["length"]
    assert {term.history_length for term in group.terms} == {length if length > 1 else 0}
    assert (group.history_order, group.history_fill) == ("term", "first")


def test_deploy_yaml_has_gains_in_the_motors_order_and_the_rest_in_the_policys(shared: Path):
    """Read in the policy's order, the left hip's 100 N·m/rad would stand on the waist."""
    contract = load_contract(shared / "policies" / "g1-29dof-velocity-unitree_rl_lab")
    stiffness = dict(zip(contract.joint_names, contract.joint_values("stiffness"), strict=True))
    assert (stiffness["waist_yaw_joint"], stiffness["left_knee_joint"], stiffness["left_elbow_joint"]) == (200, 150, 40)
    assert contract.robot.default_joint_pos["left_elbow_joint"] == 0.97
    assert contract.joints.source is OrderSource.RECORDING


def test_policy_files_are_told_apart_without_being_loaded(shared: Path):
    kinds = {
        folder: contract.policy.kind
        for folder in (*FOLDERS, "go2-flat-isaaclab3-here")
        if (contract := load_contract(shared / "policies" / folder, resolve=False)).policy is not None
    }
    assert kinds["g1-29dof-velocity-unitree_rl_lab"] is PolicyKind.ONNX
    assert kinds["h1-velocity-flat-isaaclab"] is PolicyKind.TORCHSCRIPT
    assert kinds["go2-velocity-robot_lab"] is PolicyKind.TORCHSCRIPT
    given = shared / "policies" / "go2-flat-isaaclab3-here"
    contract = load_contract(given, policy_file=given / "model_1100.pt", resolve=False)
    assert contract.policy is not None
    assert contract.policy.kind is PolicyKind.RSL_RL
    assert contract.policy.config["actor"]["hidden_dims"] == (128, 128, 128)


def test_an_io_descriptor_alone_has_the_order_the_gains_and_the_terms(shared: Path):
    run = shared / "policies" / "cartpole-isaaclab3-here"
    robot = shared / "isaaclab-recordings/assets/Isaac/IsaacLab/Robots/Classic/Cartpole/cartpole.usd"
    contract = load_contract(run / "io_descriptors" / "IO_descriptors.yaml", robot_file=robot)
    assert contract.source.kind is SourceKind.IO_DESCRIPTOR
    assert contract.joint_names == ("slider_to_cart", "cart_to_pole")
    assert contract.joint_values("damping") == (10.0, 0.0)
    assert [(t.func_name, t.size) for t in contract.group("policy").terms] == [
        ("joint_pos_rel", 2),
        ("joint_vel_rel", 2),
    ]
    (action,) = contract.actions
    assert (action.kind, action.joints, action.scale) == ("JointEffortAction", ("slider_to_cart",), (100.0,))
    assert "E110" in {d.code for d in contract.diagnostics}


def test_another_robot_file_gives_the_same_contract(shared: Path):
    run = shared / "policies" / "h1-velocity-flat-isaaclab"
    usd = shared / "isaaclab-recordings/assets/Isaac/IsaacLab/Robots/Unitree/H1/h1_minimal.usd"
    mjcf, trained = load_contract(run), load_contract(run, robot_file=usd)
    assert trained.joints.source is OrderSource.PHYSX_RULE
    assert trained.joint_names == mjcf.joint_names
    assert trained.joint_values("stiffness") == mjcf.joint_values("stiffness")
    assert set(trained.joint_values("armature")) == {0.0}
    assert {group.kind for group in trained.actuators} == {ActuatorKind.IMPLICIT}
