"""What becomes of patterns and nulls once a robot is known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from isaaclab_mirror.contract.contract import Contract, OrderSource
from isaaclab_mirror.contract.loading import load_contract
from isaaclab_mirror.contract.orders import depth_first_orders, physx_orders
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.mjcf_robot import mjcf_robot
from tests.contract.envs import JOINTS, ROBOT, action, env, group, write_run

V3 = {"sim__physx": ..., "sim__physics": {"class_type": "isaaclab_ov.physics.ovphysx_manager:OvPhysxManager"}}


def loaded(tmp_path: Path, robot: str = ROBOT, **changes: Any) -> Contract:
    return load_contract(write_run(tmp_path, env(**changes), robot))


def legs(tmp_path: Path, version: dict[str, Any] | None = None, **changes: Any) -> Any:
    contract = loaded(tmp_path, scene__robot__actuators={"legs": group(**changes)}, **(version or {}))
    return contract.actuators[0]


def test_joints_stand_breadth_first_with_siblings_by_name(tmp_path: Path):
    contract = loaded(tmp_path)
    assert contract.joint_names == JOINTS
    assert contract.body_names == ("base", "left_thigh", "right_thigh", "left_shin", "right_shin")
    assert contract.joints.source is OrderSource.GUESS
    assert "E105" in {d.code for d in contract.diagnostics}


def test_the_two_rules_differ_on_legs(tmp_path: Path):
    write_run(tmp_path)
    robot = mjcf_robot(tmp_path / "model.xml")
    assert physx_orders(robot).joints == JOINTS
    assert depth_first_orders(robot).joints == ("left_hip", "left_knee", "right_hip", "right_knee")


@pytest.mark.parametrize(
    ("ordering", "names"),
    [
        ("mjwarp", ("left_hip", "left_knee", "right_hip", "right_knee")),
        ("physx", JOINTS),
        (["right_knee", "left_hip", "right_hip", "left_knee"], ("right_knee", "left_hip", "right_hip", "left_knee")),
    ],
)
def test_the_configs_joint_ordering_decides(tmp_path: Path, ordering: Any, names: tuple[str, ...]):
    contract = loaded(tmp_path, scene__robot__joint_ordering=ordering)
    assert contract.joint_names == names
    assert contract.joints.source is OrderSource.CONFIG
    assert contract.actions[0].joints == names


def test_an_ordering_that_nobody_knows_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="robot schema"):
        loaded(tmp_path, scene__robot__joint_ordering="robot_schema")
    with pytest.raises(InputError, match="left_foot"):
        loaded(tmp_path, scene__robot__joint_ordering=["left_foot", "right_hip", "left_knee", "right_knee"])


def test_joints_that_a_dictionary_leaves_out_have_zero(tmp_path: Path):
    assert legs(tmp_path, stiffness={".*_hip": 30.0}).stiffness == (30.0, 30.0, 0.0, 0.0)


def test_null_is_the_number_of_the_robots_file(tmp_path: Path):
    found = legs(tmp_path)
    assert found.armature == (0.02,) * 4
    assert found.effort_limit_sim == (30.0, math.inf, math.inf, math.inf)
    assert found.effort_limit == found.effort_limit_sim


def test_friction_and_damping_of_a_stand_in_are_left_out_and_said(tmp_path: Path):
    contract = loaded(tmp_path)
    assert contract.joint_values("friction") == (0.0,) * 4
    assert contract.joint_values("viscous_friction") == (0.0,) * 4
    assert contract.provenance["actuators.legs.friction"] == "0: what model.xml has is not the training's"
    assert "E108" in {d.code for d in contract.diagnostics}


def test_every_number_says_where_it_came_from(tmp_path: Path):
    said = loaded(tmp_path).provenance
    assert said["sim.dt"] == "env.yaml:sim.dt"
    assert said["actuators.legs.stiffness"] == "env.yaml:scene.robot.actuators.legs.stiffness"
    assert said["actuators.legs.armature"] == "model.xml"


def test_implicit_limits_of_isaac_lab_2(tmp_path: Path):
    found = legs(tmp_path, effort_limit=7.0, velocity_limit=3.0)
    assert (found.effort_limit_sim[0], found.effort_limit[0]) == (7.0, 7.0)
    assert found.velocity_limit_sim[0] == math.inf  # velocity_limit is ignored there


def test_implicit_limits_of_isaac_lab_3(tmp_path: Path):
    found = legs(tmp_path, V3, joint_effort_limit=7.0, actuator_velocity_limit=3.0, joint_velocity_limit=9.0)
    assert (found.effort_limit_sim[0], found.velocity_limit_sim[0], found.velocity_limit[0]) == (7.0, 9.0, 3.0)


def test_explicit_motors_are_unbounded_in_the_solver_of_isaac_lab_2_and_keep_the_files_bound_in_3(tmp_path: Path):
    motor = {"class_type": "isaaclab.actuators.actuator_pd:IdealPDActuator", "effort_limit": 5.0}
    assert legs(tmp_path, **motor).effort_limit_sim == (math.inf,) * 4
    found = legs(tmp_path, V3, **motor)
    assert found.effort_limit_sim[0] == 30.0
    assert found.effort_limit == (5.0,) * 4


def test_null_gains_of_explicit_motors_are_zero_in_newtons_kernels(tmp_path: Path):
    motor = {"class_type": "isaaclab.actuators.actuator_pd:IdealPDActuator", "stiffness": None}
    found = legs(tmp_path, {**V3, "sim__use_newton_actuators": True}, **motor)
    assert found.stiffness == (0.0,) * 4


def test_joints_in_no_group_keep_the_drive_of_the_file(tmp_path: Path):
    contract = loaded(tmp_path, scene__robot__actuators={"hips": group(joint_names_expr=[".*_hip"])})
    passive = contract.actuators[-1]
    assert (passive.kind.value, passive.joints) == ("none", ("left_knee", "right_knee"))
    assert passive.armature == (0.02, 0.02)


def test_a_joint_in_two_groups_is_refused_in_3_and_the_later_wins_in_2(tmp_path: Path):
    two = {"a": group(stiffness=1.0), "b": group(joint_names_expr=[".*_hip"], stiffness=2.0)}
    contract = loaded(tmp_path, scene__robot__actuators=two)
    assert contract.joint_values("stiffness") == (2.0, 2.0, 1.0, 1.0)
    assert "E110" in {d.code for d in contract.diagnostics}
    with pytest.raises(InputError, match="in the groups 'a' and 'b'"):
        loaded(tmp_path, scene__robot__actuators=two, **V3)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"scene__robot__init_state__joint_pos": {"left_ankle": 0.1}}, "nothing in the robot matches 'left_ankle'"),
        ({"scene__robot__init_state__joint_pos": {".*_hip": 0.1, "left_.*": 0.2}}, "matched by both"),
        (
            {"scene__robot__actuators": {"a": group(joint_names_expr=["arm_.*"])}},
            "nothing in the robot matches 'arm_.*'",
        ),
        ({"scene__robot__actuators": {"a": group(stiffness={"(": 1.0})}}, "no pattern"),
        ({"actions": {"a": action(joint_names=["tail"])}}, "nothing in the robot matches 'tail'"),
        ({"actions": {"a": action(scale={"tail": 1.0})}}, "nothing in the robot matches 'tail'"),
    ],
)
def test_a_pattern_that_does_not_fit_the_robot_is_refused(tmp_path: Path, changes: dict[str, Any], part: str):
    with pytest.raises(InputError) as error:
        loaded(tmp_path, **changes)
    assert part in str(error.value)
    assert "env.yaml" in str(error.value)


def test_an_action_keeps_the_articulations_order_unless_told_otherwise(tmp_path: Path):
    names = ["right_knee", "left_hip"]
    assert loaded(tmp_path, actions={"a": action(joint_names=names)}).actions[0].joints == ("left_hip", "right_knee")
    kept = loaded(tmp_path, actions={"a": action(joint_names=names, preserve_order=True)}).actions[0]
    assert kept.joints == ("right_knee", "left_hip")
    assert kept.offset == (-0.3, 0.1)


def test_to_limits_actions_of_isaac_lab_2_forget_the_order_of_all_joints(tmp_path: Path):
    kind = "isaaclab.envs.mdp.actions.joint_actions_to_limits:JointPositionToLimitsAction"
    names = ["right_knee", "left_knee", "right_hip", "left_hip"]
    term = action(class_type=kind, joint_names=names, preserve_order=True)
    assert loaded(tmp_path, actions={"a": term}).actions[0].joints == JOINTS
    assert loaded(tmp_path, actions={"a": term}, **V3).actions[0].joints == tuple(names)


def test_scale_offset_and_clip_are_per_joint(tmp_path: Path):
    term = action(
        scale={".*_hip": 0.25}, clip={"left_.*": [-1.0, 1.0]}, use_default_offset=False, offset={".*_knee": 0.5}
    )
    found = loaded(tmp_path, actions={"a": term}).actions[0]
    assert found.scale == (0.25, 0.25, 1.0, 1.0)  # joints that no pattern names keep 1
    assert found.offset == (0.0, 0.0, 0.5, 0.5)
    assert found.clip == ((-1.0, 1.0), (-math.inf, math.inf), (-1.0, 1.0), (-math.inf, math.inf))


def test_a_default_outside_the_limits_is_said(tmp_path: Path):
    contract = loaded(tmp_path, scene__robot__init_state__joint_pos={".*_hip": 1.5, ".*_knee": 0.0})
    assert "E109" in {d.code for d in contract.diagnostics}


def test_joints_that_differ_by_a_suffix_are_matched_and_said(tmp_path: Path):
    suffixed = ROBOT.replace('_hip"', '_hip_joint"').replace('_knee"', '_knee_joint"')
    contract = loaded(tmp_path, suffixed)
    assert contract.joint_names == JOINTS
    assert contract.robot.joint_aliases["left_hip"] == "left_hip_joint"
    assert contract.default_joint_pos == (0.1, 0.1, -0.3, -0.3)
    assert "E106" in {d.code for d in contract.diagnostics}


def test_a_number_that_an_importer_added_is_not_part_of_the_name(tmp_path: Path):
    pose = {".*_hip": 0.1, "left_knee": -0.3, "right_knee": -0.3}
    contract = loaded(tmp_path, ROBOT.replace('"left_knee"', '"left_knee_1"'), scene__robot__init_state__joint_pos=pose)
    assert contract.joint_names == JOINTS
    assert contract.robot.joint_aliases == {"left_knee": "left_knee_1"}


def test_joints_without_the_policys_suffix_are_matched_too(tmp_path: Path):
    pose = {".*_hip_joint": 0.1, ".*_knee_joint": -0.3}
    contract = loaded(tmp_path, scene__robot__init_state__joint_pos=pose)
    assert contract.joint_names == tuple(f"{name}_joint" for name in JOINTS)
    assert contract.robot.joint_aliases["right_knee_joint"] == "right_knee"


URDF = """\
<robot name="legs">
 <link name="base"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
 {links}
 <joint name="mount" type="fixed"><parent link="base"/><child link="plate"/></joint>
 <joint name="a_hip" type="revolute"><parent link="plate"/><child link="a1"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="3"/></joint>
 <joint name="b_hip" type="revolute"><parent link="base"/><child link="b1"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="3"/></joint>
 <joint name="b_knee" type="revolute"><parent link="b1"/><child link="b2"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="3"/></joint>
</robot>
"""


@pytest.mark.parametrize(
    ("merge", "names"), [(False, ("b_hip", "b_knee", "a_hip")), (True, ("a_hip", "b_hip", "b_knee"))]
)
def test_links_that_the_importer_merged_do_not_count_for_the_order(tmp_path: Path, merge: bool, names: tuple[str, ...]):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in ("plate", "a1", "b1", "b2"))
    spawn = {"asset_path": "C:\\\\robots/legs.urdf", "merge_fixed_joints": merge, "fix_base": False}
    file = write_run(tmp_path, env(scene__robot__spawn=spawn, scene__robot__init_state__joint_pos={".*": 0.0}))
    (tmp_path / "model.xml").unlink()
    (tmp_path / "legs.urdf").write_text(URDF.format(links=links))
    contract = load_contract(file)
    assert contract.joint_names == names
    assert contract.joints.source is OrderSource.PHYSX_RULE
    assert "E105" not in {d.code for d in contract.diagnostics}


@pytest.mark.shared
def test_on_the_training_usd_every_number_is_that_of_the_live_task(shared: Path, monkeypatch: pytest.MonkeyPatch):
    """Golden: PhysX's own values of five running Isaac Lab 3.0.0 tasks, `const/*` of the recordings."""
    import json

    import numpy as np

    monkeypatch.setenv("ISAACLAB_MIRROR_ASSETS", str(shared / "isaaclab-recordings" / "assets"))
    for task in (
        "Isaac-Cartpole",
        "Isaac-Velocity-Flat-UnitreeGo2",
        "Isaac-Velocity-Flat-H1",
        "Isaac-Reach-Franka",
        "Isaac-Reach-Franka-OSC",
    ):
        with np.load(shared / "isaaclab-recordings" / f"{task}.npz") as live:
            known = {key.removeprefix("const/"): live[key] for key in live.files if key.startswith("const/")}
            meta = json.loads(str(live["meta_json"]))
        contract = load_contract(shared / "isaaclab-configs" / task)
        assert list(contract.joint_names) == meta["joint_names"], task
        assert list(contract.body_names) == meta["body_names"], task
        assert contract.joints.source is OrderSource.PHYSX_RULE
        drives = [float(contract.actuator_of(name)[0].is_implicit) for name in contract.joint_names]
        ours = {
            "joint_stiffness": np.multiply(contract.joint_values("stiffness"), drives),
            "joint_damping": np.multiply(contract.joint_values("damping"), drives),
            "joint_effort_limits": contract.joint_values("effort_limit_sim"),
            "joint_vel_limits": contract.joint_values("velocity_limit_sim"),
            "joint_armature": contract.joint_values("armature"),
            "joint_friction_coeff": contract.joint_values("friction"),
            "default_joint_pos": contract.default_joint_pos,
            "joint_pos_limits": [contract.robot.joint_limits[name] for name in contract.joint_names],
        }
        for key, value in ours.items():
            expected = np.where(np.abs(known[key]) > 1e30, np.copysign(np.inf, known[key]), known[key])
            np.testing.assert_allclose(value, expected, rtol=1e-6, atol=1e-6, err_msg=f"{task} {key}")
