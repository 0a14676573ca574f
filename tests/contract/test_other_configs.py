"""deploy.yaml, unitree_rl_gym, rl_sar and ONNX metadata: what is wrong in them is said, nothing is guessed silently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from isaaclab_mirror.contract.contract import Contract, ObservationGroup, SourceKind
from isaaclab_mirror.contract.loaders.onnx_metadata import read_metadata
from isaaclab_mirror.contract.loading import load_contract
from isaaclab_mirror.diagnostics import InputError
from tests.contract.envs import ROBOT, put

DEPTH_FIRST = ("left_hip", "left_knee", "right_hip", "right_knee")
DEPLOY: dict[str, Any] = {
    "joint_ids_map": [0, 2, 1, 3],
    "step_dt": 0.02,
    "stiffness": [10.0, 20.0, 30.0, 40.0],
    "damping": [1.0, 2.0, 3.0, 4.0],
    "default_joint_pos": [0.1, 0.2, 0.3, 0.4],
    "commands": {"base_velocity": {"ranges": {"lin_vel_x": [-0.5, 1.0], "lin_vel_y": [0, 0], "ang_vel_z": [-1, 1]}}},
    "actions": {"JointPositionAction": {"clip": None, "scale": [0.25] * 4, "offset": [0.1, 0.2, 0.3, 0.4]}},
    "observations": {"base_ang_vel": {"params": {}, "clip": None, "scale": [0.2] * 3, "history_length": 5}},
}
GYM: dict[str, Any] = {
    "policy_path": "{ROOT}/motion.pt",
    "xml_path": "{ROOT}/model.xml",
    "simulation_dt": 0.002,
    "control_decimation": 10,
    "kps": [1, 2, 3, 4],
    "kds": [1, 1, 1, 1],
    "default_angles": [0.1, 0.2, 0.3, 0.4],
    "ang_vel_scale": 0.25,
    "dof_pos_scale": 1.0,
    "dof_vel_scale": 0.05,
    "action_scale": 0.25,
    "cmd_scale": [2, 2, 0.25],
    "num_actions": 4,
    "num_obs": 23,
}
SAR: dict[str, Any] = {
    "model_name": "policy.pt",
    "num_observations": 15,
    "observations": ["ang_vel", "dof_pos", "dof_vel", "actions"],
    "observations_history": [],
    "observations_history_priority": "time",
    "clip_obs": 100.0,
    "clip_actions_lower": [-1.0, -2.0, -3.0, -4.0],
    "clip_actions_upper": [1.0, 2.0, 3.0, 4.0],
    "rl_kp": [1.0, 2.0, 3.0, 4.0],
    "rl_kd": [0.5] * 4,
    "num_of_dofs": 4,
    "action_scale": [0.125, 0.25, 0.25, 0.25],
    "ang_vel_scale": 0.25,
    "dof_pos_scale": 1.0,
    "dof_vel_scale": 0.05,
    "torque_limits": [23.5] * 4,
    "default_dof_pos": [0.1, 0.2, 0.3, 0.4],
    "joint_mapping": [2, 3, 0, 1],
}
BASE = {"dt": 0.005, "decimation": 4, "joint_names": list(DEPTH_FIRST)}


def write(folder: Path, name: str, document: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.xml").write_text(ROBOT)
    file = folder / name
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return file


def changed(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    result = yaml.safe_load(yaml.safe_dump(document))
    for key, value in changes.items():
        put(result, key.split("__"), value)
    return result


def sar(folder: Path, base: dict[str, Any] | None = None, **changes: Any) -> Contract:
    write(folder, "base.yaml", {"dog": BASE if base is None else base})
    return load_contract(write(folder, "config.yaml", {"dog/lab": changed(SAR, **changes)}))


def refused(call: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(InputError) as error:
        call(*args, **kwargs)
    return str(error.value)


def test_deploy_yaml_numbers_motors_depth_first_and_the_policy_by_its_map(tmp_path: Path):
    contract = load_contract(write(tmp_path, "deploy.yaml", DEPLOY))
    assert contract.joint_names == ("left_hip", "right_hip", "left_knee", "right_knee")
    assert contract.joint_values("stiffness") == (10.0, 30.0, 20.0, 40.0)
    assert contract.default_joint_pos == (0.1, 0.2, 0.3, 0.4)
    (term,) = contract.group("policy").terms
    assert (term.history_length, term.scale, term.size) == (5, (0.2, 0.2, 0.2), 3)
    assert contract.command("base_velocity").params["ranges"]["lin_vel_x"] == (-0.5, 1.0)
    assert {d.code for d in contract.diagnostics} >= {"E105", "E107", "E110"}


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"joint_ids_map": [0, 1, 1, 3]}, "each motor's number once"),
        ({"joint_ids_map": [0, 1, 2]}, "3 finite numbers"),
        ({"joint_ids_map": [-1, 0, 1, 2]}, "each motor's number once"),
        ({"joint_ids_map": []}, "each motor's number once"),
        ({"step_dt": 0.0173}, "multiple of the physics step"),
        ({"stiffness": [1.0]}, "4 finite numbers"),
        ({"default_joint_pos": ["a", 1, 2, 3]}, "4 finite numbers"),
        ({"actions__JointPositionAction__clip": [[1, -1]] * 4}, "lower first"),
        ({"actions": {"Walk": {"scale": [1.0]}}}, "is not read from deploy.yaml"),
    ],
)
def test_a_deploy_yaml_that_does_not_add_up_is_refused(tmp_path: Path, changes: dict[str, Any], part: str):
    file = write(tmp_path, "deploy.yaml", changed(DEPLOY, **changes))
    message = refused(load_contract, file)
    assert "deploy.yaml:" in message
    assert part in message


def test_a_robot_with_other_joints_than_the_config_numbers_is_refused(tmp_path: Path):
    document = changed(DEPLOY, joint_ids_map=[0, 1], stiffness=[1, 1], damping=[1, 1], default_joint_pos=[0, 0])
    put(document, ["actions", "JointPositionAction"], {"scale": [1, 1], "offset": [0, 0]})
    message = refused(load_contract, write(tmp_path, "deploy.yaml", document))
    assert "numbers 2 joints, the robot's file has 4" in message


def test_the_gait_clock_of_deploy_yaml_is_isaac_labs(tmp_path: Path):
    clock = {"params": {"period": 0.6}, "scale": [1.0, 1.0], "history_length": 1}
    contract = load_contract(write(tmp_path, "deploy.yaml", changed(DEPLOY, observations__gait_phase=clock)))
    term = contract.group("policy").terms[-1]
    assert (term.func_name, term.params, term.size, term.history_length) == ("gait_phase", {"period": 0.6}, 2, 0)


def test_a_robot_without_some_of_the_familys_motors_leaves_numbers_out(tmp_path: Path):
    """Unitree's 23-joint G1 has motors up to 26: gains of all of them, or of its own alone."""
    family = [10.0, 20.0, 0.0, 0.0, 30.0, 0.0, 40.0]
    for stiffness in (family, [10.0, 20.0, 30.0, 40.0]):
        document = changed(DEPLOY, joint_ids_map=[0, 4, 1, 6], stiffness=stiffness)
        contract = load_contract(write(tmp_path, "deploy.yaml", document))
        assert contract.joint_names == ("left_hip", "right_hip", "left_knee", "right_knee")
        assert contract.joint_values("stiffness") == (10.0, 30.0, 20.0, 40.0)


def test_a_map_that_leads_to_physxs_own_order_is_confirmed_and_another_one_is_doubted(tmp_path: Path):
    def severity(**changes: Any) -> str:
        contract = load_contract(write(tmp_path, "deploy.yaml", changed(DEPLOY, **changes)))
        return next(str(d.severity) for d in contract.diagnostics if d.code == "E105")

    assert severity() == "info"
    assert severity(joint_ids_map=[3, 1, 2, 0]) == "warning"


def test_unitree_rl_gym_has_the_authors_layout_and_dynamics(tmp_path: Path):
    contract = load_contract(write(tmp_path, "dog.yaml", GYM))
    assert contract.source.kind is SourceKind.UNITREE_RL_GYM
    assert contract.joint_names == DEPTH_FIRST
    assert sum(term.size or 0 for term in contract.group("policy").terms) == 23
    assert contract.group("policy").terms[-1].params == {"period": 0.8}
    assert contract.joint_values("friction")[0] == 0.3  # the config names the author's own MJCF
    without = load_contract(write(tmp_path, "dog.yaml", changed(GYM, num_obs=21)))
    assert [t.name for t in without.group("policy").terms][-1] == "actions"
    assert "21, or 23" in refused(load_contract, write(tmp_path, "dog.yaml", changed(GYM, num_obs=48)))


def test_rl_sar_has_its_own_joint_order_scales_and_clips(tmp_path: Path):
    contract = sar(tmp_path)
    assert contract.joint_names == ("right_hip", "right_knee", "left_hip", "left_knee")
    assert contract.actions[0].scale == (0.125, 0.25, 0.25, 0.25)
    assert contract.wrapper.clip_actions[1] == (-2.0, 2.0)
    assert contract.wrapper.clip_observations == 100.0
    assert contract.actuator_of("left_knee")[0].effort_limit == (23.5,) * 4


def test_rl_sars_history_lists_lags_frame_by_frame(tmp_path: Path):
    contract = sar(tmp_path, observations_history=[0, 1, 2], num_observations=45)
    group: ObservationGroup = contract.group("policy")
    assert (group.history_lags, group.history_order) == ((0, 1, 2), "time")
    assert {term.history_length for term in group.terms} == {3}


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"observations": ["ang_vel", "smell"]}, "'smell' is not known"),
        ({"num_observations": 48}, "15, what the observations add up to (ang_vel 3, dof_pos 4, dof_vel 4, actions 4)"),
        ({"rl_kp": [1.0]}, "4 finite numbers"),
        ({"joint_mapping": [0, 0, 1, 2]}, "each joint's number once"),
    ],
)
def test_an_rl_sar_config_that_does_not_add_up_is_refused(tmp_path: Path, changes: dict[str, Any], part: str):
    assert part in refused(sar, tmp_path, **changes)


def test_wheels_of_rl_sar_are_driven_by_velocity_and_seen_at_zero(tmp_path: Path):
    contract = sar(tmp_path, wheel_indices=[2, 3], joint_mapping=[0, 1, 2, 3])
    legs, wheels = contract.actions
    assert (legs.kind, legs.joints, legs.size) == ("JointPositionAction", ("left_hip", "left_knee"), 2)
    assert (wheels.kind, wheels.joints, wheels.scale) == (
        "JointVelocityAction",
        ("right_hip", "right_knee"),
        (0.25, 0.25),
    )
    assert contract.group("policy").terms[1].func_name == "joint_pos_rel_without_wheel"
    assert "the last joints" in refused(sar, tmp_path, wheel_indices=[0, 1])


def test_rl_sar_without_joint_names_asks_for_base_yaml(tmp_path: Path):
    assert "base.yaml" in refused(sar, tmp_path, {"dt": 0.005, "decimation": 4})


def onnx(file: Path, metadata: dict[str, str]) -> Path:
    """The wire format of ModelProto.metadata_props, after a graph-like field that is skipped."""

    def field(number: int, data: bytes) -> bytes:
        assert len(data) < 2**14
        size = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 0x7F | 0x80, len(data) >> 7])
        return bytes([number << 3 | 2]) + size + data

    entries = [field(14, field(1, k.encode()) + field(2, v.encode())) for k, v in metadata.items()]
    file.write_bytes(b"\x08\x07" + field(7, b"graph") + b"".join(entries))
    return file


METADATA = {
    "run_path": "team/run",
    "joint_names": "right_hip,left_hip,right_knee,left_knee",
    "joint_stiffness": "10.000,20.000,30.000,40.000",
    "joint_damping": "1.000,1.000,1.000,1.000",
    "default_joint_pos": "0.100,0.100,-0.300,-0.300",
    "command_names": "twist",
    "observation_names": "base_ang_vel,projected_gravity,joint_pos,joint_vel,actions,command",
    "action_scale": "0.548,0.548,0.350,0.350",
}


def test_an_onnx_file_that_describes_itself_is_a_contract(tmp_path: Path):
    onnx(tmp_path / "policy.onnx", METADATA)
    (tmp_path / "model.xml").write_text(ROBOT)
    contract = load_contract(tmp_path)
    assert contract.source.kind is SourceKind.ONNX_METADATA
    assert contract.joint_names == ("right_hip", "left_hip", "right_knee", "left_knee")
    assert contract.joint_values("stiffness") == (10.0, 20.0, 30.0, 40.0)
    assert contract.actions[0].scale == (0.548, 0.548, 0.35, 0.35)
    terms = contract.group("policy").terms
    assert [t.func_name for t in terms][2:] == ["joint_pos_rel", "joint_vel_rel", "last_action", "generated_commands"]
    assert terms[-1].params == {"command_name": "twist"}
    assert contract.policy is not None
    assert contract.policy.file == tmp_path / "policy.onnx"
    assert load_contract(tmp_path / "policy.onnx") == contract


def test_an_onnx_file_without_metadata_says_what_is_missing(tmp_path: Path):
    assert read_metadata(onnx(tmp_path / "policy.onnx", {})) == {}
    assert "joint_names is missing" in refused(load_contract, tmp_path / "policy.onnx")
    (tmp_path / "policy.onnx").write_bytes(b"no protobuf at all")
    assert "no ONNX file" in refused(load_contract, tmp_path / "policy.onnx")


@pytest.mark.shared
def test_metadata_are_found_behind_a_real_graph(tmp_path: Path, shared: Path):
    model = (shared / "policies/g1-29dof-velocity-unitree_rl_lab/policy.onnx").read_bytes()
    assert read_metadata(shared / "policies/g1-29dof-velocity-unitree_rl_lab/policy.onnx") == {}
    tail = onnx(tmp_path / "tail.onnx", {"joint_names": "a,b"}).read_bytes()[2 + 7 :]
    (tmp_path / "policy.onnx").write_bytes(model + tail)
    assert read_metadata(tmp_path / "policy.onnx") == {"joint_names": "a,b"}


LEAPP: dict[str, Any] = {
    "models": {
        "walk": {
            "inputs": [
                {
                    "name": "joint_pos",
                    "shape": [1, 4],
                    "isaaclab_connection": "state:robot:joint_pos",
                    "element_names": [list(DEPTH_FIRST)],
                },
                {"name": "root_quat", "shape": [1, 4], "isaaclab_connection": "state:robot:root_quat_w"},
                {"name": "command", "shape": [1, 3], "isaaclab_connection": "command:base_velocity"},
                {"name": "last_action_in", "shape": [1, 4]},
            ],
            "outputs": [
                {
                    "name": "targets",
                    "shape": [1, 4],
                    "isaaclab_connection": "write:robot:set_joint_position_target",
                    "element_names": [list(DEPTH_FIRST)],
                },
                {"name": "last_action_out", "shape": [1, 4]},
            ],
            "parameters": {"model_path": "walk.onnx", "backend": "onnx"},
        }
    },
    "pipeline": {"configs": {"frequency": 50.0}, "feedback_flow": {"walk/last_action_out": ["walk/last_action_in"]}},
}


def test_a_leapp_bundle_says_rates_joints_and_what_goes_in_and_out(tmp_path: Path):
    contract = load_contract(write(tmp_path, "walk.yaml", LEAPP).parent)
    assert contract.source.kind is SourceKind.LEAPP
    assert (contract.sim.dt, contract.sim.decimation) == (0.005, 4)
    assert contract.joint_names == DEPTH_FIRST
    assert [(t.name, t.size) for t in contract.group("policy").terms] == [
        ("joint_pos", 4),
        ("root_quat", 4),
        ("command", 3),
    ]
    (action,) = contract.actions
    assert (action.kind, action.joints) == ("set_joint_position_target", DEPTH_FIRST)
    assert contract.command("base_velocity")


def test_a_leapp_bundle_that_leaves_its_folder_is_refused(tmp_path: Path):
    wrong = changed(LEAPP, models__walk__parameters__model_path="../../walk.onnx")
    assert "leaves the bundle's folder" in refused(load_contract, write(tmp_path, "walk.yaml", wrong))
    wrong = changed(LEAPP, pipeline__configs__frequency=0.0)
    assert "positive number of Hz" in refused(load_contract, write(tmp_path, "walk.yaml", wrong))
