"""Terms of the shipped tasks against the genuine functions of Isaac Lab 3, on random states, without a simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.isaaclab.genuine import ENVS, Both

pytestmark = pytest.mark.isaaclab

CORE, CONTRIB = "isaaclab_tasks.core", "isaaclab_tasks.contrib"
VELOCITY = f"{CORE}.velocity.mdp.rewards"
SPOT = f"{CONTRIB}.velocity.config.spot.mdp.rewards"
LEGS = f"{CONTRIB}.dr_legs.mdp.rewards"
CABINET = f"{CORE}.cabinet.mdp"
BASE = "isaaclab.envs.mdp"


@pytest.fixture(scope="module")
def both(isaaclab_version: str) -> Both:
    if isaaclab_version != "3.0.0":
        pytest.skip("needs Isaac Lab 3.0.0")
    return Both(np.random.default_rng(0))


FEET = {"name": "robot", "body_names": [".*_foot"]}
SENSED = {"name": "contacts", "body_names": [".*_foot"]}
HAND = {"name": "robot", "body_names": ["right_hand"]}
FINGERS = {"name": "robot", "joint_names": ["finger_joint.*"]}
LEGS_ONLY = {"name": "robot", "joint_names": ["hip", "knee"]}
DRAWER = {"name": "cabinet", "joint_names": ["drawer"]}
TRACK = {"std": 0.5, "command_name": "base_velocity"}
DEPLOY = f"{CONTRIB}.deploy.mdp"
SHAFTS = {"gear_small": [0.1, 0.2, 0.3], "gear_medium": [-0.1, 0.0, 0.2], "gear_large": [0.3, -0.2, 0.0]}
GRASP = {
    "end_effector_body_name": "right_hand",
    "grasp_rot_offset": [0.6, 0.0, 0.0, 0.8],
    "robot_asset_cfg": {"name": "robot"},
}
KEYPOINTS = {
    "command_name": "pose",
    "asset_cfg": {"name": "ee_frame"},
    "keypoint_scale": 0.45,
    "add_cube_center_kp": True,
}
FAR = (1000.0, 3.0, 0.0)

OBSERVATIONS: list[tuple[str, dict[str, Any]]] = [
    *((f"{BASE}.observations:{name}", {}) for name in ("base_pos_z", "base_lin_vel", "base_ang_vel", "root_pos_w")),
    *((f"{BASE}.observations:{name}", {}) for name in ("root_lin_vel_w", "root_ang_vel_w", "projected_gravity")),
    (f"{BASE}.observations:root_quat_w", {"make_quat_unique": True}),
    (f"{BASE}.observations:body_pose_w", {"asset_cfg": FEET}),
    (f"{BASE}.observations:body_projected_gravity_b", {}),
    (f"{BASE}.observations:joint_pos_limit_normalized", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.observations:joint_pos_rel", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.observations:joint_vel_rel", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.observations:joint_effort", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.observations:current_time_s", {}),
    (f"{BASE}.observations:remaining_time_s", {}),
    (f"{CORE}.locomotion.mdp.observations:base_yaw_roll", {}),
    (f"{CORE}.locomotion.mdp.observations:base_up_proj", {}),
    (f"{CORE}.locomotion.mdp.observations:base_heading_proj", {"target_pos": FAR}),
    (f"{CORE}.locomotion.mdp.observations:base_angle_to_target", {"target_pos": FAR}),
    (f"{CONTRIB}.lift.mdp.observations:object_position_in_robot_root_frame", {}),
    (f"{CORE}.lift.mdp.observations:object_quat_b", {}),
    (f"{CORE}.lift.mdp.observations:body_state_b", {"body_asset_cfg": FEET, "base_asset_cfg": {"name": "robot"}}),
    *(
        (f"{CONTRIB}.stack.mdp.observations:{name}", {})
        for name in ("cube_positions_in_world_frame", "cube_orientations_in_world_frame", "object_obs")
    ),
    *((f"{CONTRIB}.stack.mdp.observations:{name}", {}) for name in ("ee_frame_pos", "ee_frame_quat", "gripper_pos")),
    (
        f"{CONTRIB}.stack.mdp.observations:object_grasped",
        {
            "robot_cfg": {"name": "robot"},
            "ee_frame_cfg": {"name": "ee_frame"},
            "object_cfg": {"name": "cube_2"},
            "diff_threshold": 1.2,
        },
    ),
    (
        f"{CONTRIB}.stack.mdp.observations:object_stacked",
        {
            "robot_cfg": {"name": "robot"},
            "upper_object_cfg": {"name": "cube_2"},
            "lower_object_cfg": {"name": "cube_1"},
            "xy_threshold": 2.0,
        },
    ),
    *(
        (f"{CABINET}.observations:{name}", {})
        for name in ("rel_ee_drawer_distance", "fingertips_pos", "ee_pos", "ee_quat")
    ),
    (f"{CONTRIB}.pick_place.mdp.observations:get_eef_pos", {"link_name": "right_hand"}),
    (f"{CONTRIB}.pick_place.mdp.observations:get_eef_quat", {"link_name": "right_hand"}),
    (f"{CONTRIB}.pick_place.mdp.observations:get_robot_joint_state", {"joint_names": ["finger.*", "hip"]}),
    (f"{CONTRIB}.pick_place.mdp.observations:get_all_robot_link_state", {}),
    (
        f"{CONTRIB}.pick_place.mdp.observations:object_obs",
        {"left_eef_link_name": "left_hand_back", "right_eef_link_name": "right_hand"},
    ),
    (
        f"{CORE}.reorient.mdp.observations:goal_quat_diff",
        {"asset_cfg": {"name": "object"}, "command_name": "goal", "make_quat_unique": True},
    ),
    (f"{CORE}.reorient.mdp.observations:fingertip_pos", {"asset_cfg": FEET}),
    (f"{CORE}.reorient.mdp.observations:fingertip_vel", {"asset_cfg": FEET}),
    (f"{CONTRIB}.dr_legs.mdp.observations:joint_position_setpoints", {}),
    (f"{CONTRIB}.dr_legs.mdp.observations:gait_phase", {"period": 0.7, "num_harmonics": 2}),
    (f"{DEPLOY}.observations:gear_shaft_pos_w", {"asset_cfg": {"name": "factory_gear_base"}, "gear_offsets": SHAFTS}),
    (f"{DEPLOY}.observations:gear_shaft_quat_w", {"asset_cfg": {"name": "factory_gear_base"}}),
    (f"{DEPLOY}.observations:gear_pos_w", {}),
    (f"{DEPLOY}.observations:gear_quat_w", {}),
    (f"{CORE}.fourbar_pole.mdp.observations:joint_pos_cos", {"asset_cfg": LEGS_ONLY}),
    (f"{CORE}.fourbar_pole.mdp.observations:joint_pos_sin", {"asset_cfg": LEGS_ONLY}),
]

REWARDS: list[tuple[str, dict[str, Any]]] = [
    *((f"{BASE}.rewards:{name}", {}) for name in ("is_alive", "is_terminated", "terminated_penalty", "lin_vel_z_l2")),
    *((f"{BASE}.rewards:{name}", {}) for name in ("ang_vel_xy_l2", "flat_orientation_l2", "joint_torques_l2")),
    *((f"{BASE}.rewards:{name}", {}) for name in ("joint_acc_l2", "joint_deviation_l1", "joint_pos_limits")),
    *((f"{BASE}.rewards:{name}", {}) for name in ("applied_torque_limits", "action_rate_l2", "action_l2")),
    (f"{BASE}.rewards:is_terminated_term", {"term_keys": ["fell"]}),
    (f"{BASE}.rewards:base_height_l2", {"target_height": 0.4}),
    (f"{BASE}.rewards:joint_vel_l1", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.rewards:joint_vel_l2", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.rewards:joint_pos_target_l2", {"target": 0.2, "asset_cfg": LEGS_ONLY}),
    (f"{BASE}.rewards:joint_vel_limits", {"soft_ratio": 0.5}),
    (f"{BASE}.rewards:undesired_contacts", {"threshold": 2.0, "sensor_cfg": SENSED}),
    (f"{BASE}.rewards:desired_contacts", {"threshold": 2.5, "sensor_cfg": SENSED}),
    (f"{BASE}.rewards:contact_forces", {"threshold": 1.0, "sensor_cfg": SENSED}),
    (f"{BASE}.rewards:track_lin_vel_xy_exp", TRACK),
    (f"{BASE}.rewards:track_ang_vel_z_exp", TRACK),
    (f"{BASE}.rewards:position_command_error", {"command_name": "pose", "asset_cfg": HAND}),
    (f"{BASE}.rewards:position_command_error_tanh", {"std": 0.3, "command_name": "pose", "asset_cfg": HAND}),
    (f"{BASE}.rewards:orientation_command_error", {"command_name": "pose", "asset_cfg": HAND}),
    (f"{CONTRIB}.navigation.mdp.rewards:position_command_error_tanh", {"std": 0.3, "command_name": "place"}),
    (f"{CONTRIB}.navigation.mdp.rewards:heading_command_error_abs", {"command_name": "place"}),
    (f"{VELOCITY}:feet_air_time", {"command_name": "base_velocity", "sensor_cfg": SENSED, "threshold": 0.2}),
    (
        f"{VELOCITY}:feet_air_time_positive_biped",
        {"command_name": "base_velocity", "sensor_cfg": SENSED, "threshold": 0.4},
    ),
    (f"{VELOCITY}:feet_air_time_variance", {"command_name": "base_velocity", "sensor_cfg": SENSED}),
    (f"{VELOCITY}:feet_slide", {"sensor_cfg": SENSED, "asset_cfg": FEET}),
    (f"{VELOCITY}:track_lin_vel_xy_yaw_frame_exp", TRACK),
    (f"{VELOCITY}:track_ang_vel_z_world_exp", TRACK),
    (f"{VELOCITY}:stand_still_joint_deviation_l1", {"command_name": "base_velocity"}),
    (f"{SPOT}:base_angular_velocity_reward", {"asset_cfg": {"name": "robot"}, "std": 2.0}),
    (f"{SPOT}:base_linear_velocity_reward", {"asset_cfg": {"name": "robot"}, "std": 1.0}),
    (f"{SPOT}:foot_clearance_reward", {"asset_cfg": FEET, "target_height": 0.1, "std": 0.05, "tanh_mult": 2.0}),
    (f"{SPOT}:action_smoothness_penalty", {}),
    (f"{SPOT}:air_time_variance_penalty", {"sensor_cfg": SENSED}),
    (f"{SPOT}:base_motion_penalty", {"asset_cfg": {"name": "robot"}}),
    (f"{SPOT}:base_orientation_penalty", {"asset_cfg": {"name": "robot"}}),
    (f"{SPOT}:foot_slip_penalty", {"asset_cfg": FEET, "sensor_cfg": SENSED, "threshold": 1.0}),
    (f"{SPOT}:joint_acceleration_penalty", {"asset_cfg": {"name": "robot"}}),
    (
        f"{SPOT}:joint_position_penalty",
        {"asset_cfg": {"name": "robot"}, "stand_still_scale": 5.0, "velocity_threshold": 0.5},
    ),
    (f"{SPOT}:joint_torques_penalty", {"asset_cfg": {"name": "robot"}}),
    (f"{SPOT}:joint_velocity_penalty", {"asset_cfg": {"name": "robot"}}),
    (
        f"{SPOT}:GaitReward",
        {
            "std": 0.1,
            "max_err": 0.2,
            "velocity_threshold": 0.5,
            "synced_feet_pair_names": (("left_foot", "right_hand"), ("right_foot", "left_hand_back")),
            "asset_cfg": {"name": "robot"},
            "sensor_cfg": {"name": "contacts"},
        },
    ),
    (f"{CORE}.locomotion.mdp.rewards:upright_posture_bonus", {"threshold": 0.2}),
    (f"{CORE}.locomotion.mdp.rewards:move_to_target_bonus", {"threshold": 0.8, "target_pos": FAR}),
    (f"{CORE}.locomotion.mdp.rewards:power_consumption", {"gear_ratio": {"hip": 2.0}, "asset_cfg": {"name": "robot"}}),
    (
        f"{CORE}.locomotion.mdp.rewards:joint_pos_limits_penalty_ratio",
        {"threshold": 0.6, "gear_ratio": {"hip|knee": 3.0}, "asset_cfg": {"name": "robot"}},
    ),
    (
        f"{CORE}.fourbar_pole.mdp.rewards:pole_upright",
        {"asset_cfg": LEGS_ONLY, "success_threshold": 0.9, "hold_time_s": 0.5},
    ),
    (f"{DEPLOY}.rewards:keypoint_command_error", KEYPOINTS),
    (
        f"{DEPLOY}.rewards:keypoint_command_error_exp",
        KEYPOINTS | {"kp_exp_coeffs": [(1.0, 0.1), (3.0, 0.01)], "kp_use_sum_of_exps": True},
    ),
    (
        f"{DEPLOY}.rewards:keypoint_command_error_exp",
        KEYPOINTS | {"kp_exp_coeffs": [(2.0, 0.1)], "kp_use_sum_of_exps": False},
    ),
    (f"{LEGS}:joint_pos_tracking_exp", {}),
    (f"{LEGS}:base_lin_vel_l2", {}),
    (f"{LEGS}:base_ang_vel_l2", {}),
    (f"{LEGS}:joint_pd_command_l2", {"asset_cfg": LEGS_ONLY}),
    (f"{LEGS}:ActionRate2L2", {}),
    (f"{LEGS}:contact_matching", {"sensor_cfg": SENSED, "threshold": 1.5, "gait_period": 0.7}),
    (f"{LEGS}:foot_clearance", {"asset_cfg": FEET, "sigma": 0.5, "gait_period": 0.7}),
    (f"{LEGS}:feet_parallel", {"asset_cfg": FEET}),
    (f"{LEGS}:feet_flat", {"asset_cfg": FEET}),
    (f"{LEGS}:feet_touchdown_vel", {"asset_cfg": FEET, "sensor_cfg": SENSED}),
    (f"{LEGS}:root_orientation_exp", {}),
    (f"{CONTRIB}.lift.mdp.rewards:object_is_lifted", {"minimal_height": 0.0}),
    (f"{CONTRIB}.lift.mdp.rewards:object_ee_distance", {"std": 0.5}),
    (
        f"{CONTRIB}.lift.mdp.rewards:object_goal_distance",
        {"std": 0.5, "minimal_height": 0.0, "command_name": "pose", "success_threshold": None},
    ),
    (f"{CABINET}.rewards:approach_ee_handle", {"threshold": 1.0}),
    (f"{CABINET}.rewards:align_ee_handle", {}),
    (f"{CABINET}.rewards:align_grasp_around_handle", {}),
    (f"{CABINET}.rewards:approach_gripper_handle", {"offset": 0.04}),
    (f"{CABINET}.rewards:grasp_handle", {"threshold": 1.0, "open_joint_pos": 0.04, "asset_cfg": FINGERS}),
    (f"{CABINET}.rewards:open_drawer_bonus", {"asset_cfg": DRAWER, "success_threshold": 0.2}),
    (f"{CABINET}.rewards:multi_stage_open_drawer", {"asset_cfg": DRAWER}),
    (f"{CORE}.reorient.mdp.rewards:success_bonus", {"command_name": "goal"}),
    (f"{CORE}.reorient.mdp.rewards:track_pos_l2", {"command_name": "goal"}),
    (f"{CORE}.reorient.mdp.rewards:track_orientation_inv_l2", {"command_name": "goal"}),
]

TERMINATIONS: list[tuple[str, dict[str, Any]]] = [
    (f"{BASE}.terminations:time_out", {}),
    (f"{BASE}.terminations:bad_orientation", {"limit_angle": 1.2}),
    (f"{BASE}.terminations:root_height_below_minimum", {"minimum_height": 0.1}),
    (f"{BASE}.terminations:joint_pos_out_of_limit", {}),
    (f"{BASE}.terminations:joint_pos_out_of_manual_limit", {"bounds": (-0.8, 0.8), "asset_cfg": LEGS_ONLY}),
    (f"{BASE}.terminations:joint_vel_out_of_limit", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.terminations:joint_vel_out_of_manual_limit", {"max_velocity": 2.5}),
    (f"{BASE}.terminations:joint_effort_out_of_limit", {}),
    (f"{BASE}.terminations:illegal_contact", {"threshold": 2.2, "sensor_cfg": SENSED}),
    (f"{CORE}.lift.mdp.terminations:abnormal_robot_state", {}),
    (f"{CORE}.lift.mdp.terminations:joint_vel_out_of_sim_limit", {"asset_cfg": LEGS_ONLY}),
    (f"{CORE}.lift.mdp.terminations:ee_below_minimum", {"minimum_height": 0.0}),
    (
        f"{CORE}.lift.mdp.terminations:out_of_bound",
        {"asset_cfg": {"name": "object"}, "in_bound_range": {"x": (-0.8, 0.8), "y": (-0.8, 0.8), "z": (-0.9, 0.9)}},
    ),
    (
        f"{CORE}.lift.mdp.terminations:object_reached_goal",
        {"command_name": "pose", "threshold": 1.5},
    ),
    (
        f"{DEPLOY}.terminations:reset_when_gear_dropped",
        GRASP | {"gear_offsets_grasp": SHAFTS, "distance_threshold": 1.2},
    ),
    (
        f"{DEPLOY}.terminations:reset_when_gear_orientation_exceeds_threshold",
        GRASP | {"roll_threshold_deg": 90.0, "pitch_threshold_deg": 60.0, "yaw_threshold_deg": 120.0},
    ),
    (f"{CORE}.reorient.mdp.terminations:object_away_from_goal", {"threshold": 1.2, "command_name": "goal"}),
    (
        f"{CONTRIB}.stack.mdp.terminations:cubes_stacked",
        {"xy_threshold": 3.0, "height_threshold": 3.0, "atol": 2.0, "max_lin_vel": 3.0},
    ),
    (
        f"{CONTRIB}.pick_place.mdp.terminations:task_done_pick_place",
        {
            "task_link_name": "right_hand",
            "right_wrist_max_x": 0.9,
            "min_x": -0.9,
            "max_x": 0.9,
            "min_y": -0.9,
            "max_y": 0.9,
            "min_vel": 0.9,
        },
    ),
]


def compare(both: Both, kind: str, func: str, params: dict[str, Any]) -> Any:
    from isaaclab_mirror.adapter import registry

    theirs = both.genuine(func, params)
    ours = both.ours(getattr(registry, kind), func, params)
    if theirs.ndim + 1 == ours.ndim:
        theirs = theirs[:, None]  # one value per environment: Isaac Lab's observation manager adds the axis
    assert ours.shape == theirs.shape
    assert ours == pytest.approx(theirs, rel=2e-5, abs=2e-5)
    return ours


def named(cases: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    return [pytest.param(func, params, id=func.removeprefix("isaaclab_tasks.")) for func, params in cases]


@pytest.mark.parametrize(("func", "params"), named(OBSERVATIONS))
def test_observations_are_the_genuine_ones(both: Both, func: str, params: dict[str, Any]):
    compare(both, "OBSERVATIONS", func, params)


@pytest.mark.parametrize(("func", "params"), named(REWARDS))
def test_rewards_are_the_genuine_ones(both: Both, func: str, params: dict[str, Any]):
    compare(both, "REWARDS", func, params)


@pytest.mark.parametrize(("func", "params"), named(TERMINATIONS))
def test_terminations_are_the_genuine_ones(both: Both, func: str, params: dict[str, Any]):
    compare(both, "TERMINATIONS", func, params)


def test_most_terminations_are_asked_where_environments_differ(both: Both):
    mixed = 0
    for func, params in TERMINATIONS:
        ended = compare(both, "TERMINATIONS", func, params)
        mixed += 0 < ended.sum() < ENVS
    assert mixed >= 10
