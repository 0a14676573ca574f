"""The deploy tasks: which gear an episode is about, when it is lost, and keypoint rewards of reaching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, conjugate, euler_xyz, multiply, rotate
from isaaclab_mirror.adapter.events import Drafts
from isaaclab_mirror.adapter.object_observations import GEARS, active_gear, body_index, gear_pose
from isaaclab_mirror.adapter.registry import event_term, reward_term, termination_term
from isaaclab_mirror.adapter.sensors import FrameTransformer
from isaaclab_mirror.adapter.world import ROBOT, Entity, World

DEPLOY = "deploy"


@event_term("randomize_gear_type", DEPLOY)
def randomize_gear_type(drafts: Drafts, gear_types: Sequence[str] = GEARS) -> None:
    """One of the gears for each episode."""
    world = drafts.world
    drawn = world.drawn.setdefault("gear_type", np.full(world.env_count, GEARS.index(gear_types[0])))
    choices = np.array([GEARS.index(name) for name in gear_types])
    drawn[drafts.env_ids] = drafts.rng.choice(choices, drafts.count)


@termination_term("reset_when_gear_dropped", DEPLOY, needs=("objects",))
def reset_when_gear_dropped(
    world: World,
    gear_offsets_grasp: Mapping[str, Any],
    end_effector_body_name: str,
    grasp_rot_offset: Sequence[float],
    distance_threshold: float = 0.1,
    robot_asset_cfg: Entity = ROBOT,
) -> Array:
    """The gear's grasp point is far from the hand [m]."""
    pos, quat = gear_pose(world)
    turned = multiply(quat, np.broadcast_to(world.config_quat(grasp_rot_offset), quat.shape))
    offsets = np.array([gear_offsets_grasp[name] for name in GEARS], dtype=float)[active_gear(world)]
    hand = world.robot.body_pos[:, body_index(world, end_effector_body_name)]
    return np.linalg.norm(pos + rotate(turned, offsets) - hand, axis=-1) > distance_threshold


@termination_term("reset_when_gear_orientation_exceeds_threshold", DEPLOY, needs=("objects",))
def reset_when_gear_orientation_exceeds_threshold(
    world: World,
    end_effector_body_name: str,
    grasp_rot_offset: Sequence[float],
    roll_threshold_deg: float = 30.0,
    pitch_threshold_deg: float = 30.0,
    yaw_threshold_deg: float = 180.0,
    robot_asset_cfg: Entity = ROBOT,
) -> Array:
    """The gear is turned in the hand."""
    _, quat = gear_pose(world)
    turned = multiply(quat, np.broadcast_to(world.config_quat(grasp_rot_offset), quat.shape))
    hand = world.robot.body_quat[:, body_index(world, end_effector_body_name)]
    angles = np.stack(euler_xyz(multiply(turned, conjugate(hand))))
    limits = np.deg2rad([roll_threshold_deg, pitch_threshold_deg, yaw_threshold_deg])
    return np.logical_or.reduce(np.abs(angles) > limits[:, None], axis=0)


def _keypoint_distances(world: World, command_name: str, frame: str, scale: float, centre: bool) -> Array:
    """Of six points around the goal (and its centre) and around the frame, (env_count, points) [m]."""
    sensor: FrameTransformer = world.sensor(frame, FrameTransformer)
    pos, quat = sensor.in_source(world, 0)
    goal = world.command(command_name).value
    corners = (
        np.concatenate([np.eye(3), -np.eye(3)] if not centre else [np.zeros((1, 3)), np.eye(3), -np.eye(3)]) * scale
    )
    shape = (world.env_count, len(corners), 3)
    points = np.broadcast_to(corners, shape)
    ours = pos[:, None] + rotate(quat[:, None], points)
    wanted = goal[:, None, :3] + rotate(goal[:, None, 3:7], points)
    return np.linalg.norm(wanted - ours, axis=-1)


@reward_term("keypoint_command_error", DEPLOY)
def keypoint_command_error(
    world: World, command_name: str, asset_cfg: Entity, keypoint_scale: float = 1.0, add_cube_center_kp: bool = True
) -> Array:
    """Mean distance of the keypoints [m]."""
    return _keypoint_distances(world, command_name, asset_cfg.name, keypoint_scale, add_cube_center_kp).mean(axis=-1)


@reward_term("keypoint_command_error_exp", DEPLOY)
def keypoint_command_error_exp(
    world: World,
    command_name: str,
    asset_cfg: Entity,
    kp_exp_coeffs: Sequence[Sequence[float]] = ((1.0, 0.1),),
    kp_use_sum_of_exps: bool = True,
    keypoint_scale: float = 1.0,
    add_cube_center_kp: bool = True,
) -> Array:
    """Σ 1 / (eᵃᵈ + b + e⁻ᵃᵈ)."""
    distance = _keypoint_distances(world, command_name, asset_cfg.name, keypoint_scale, add_cube_center_kp)
    if not kp_use_sum_of_exps:
        distance = distance.mean(axis=-1, keepdims=True)
    result = np.zeros(world.env_count)
    with np.errstate(over="ignore"):  # as far away as that it is 0
        for a, b in kp_exp_coeffs:
            result += (1.0 / (np.exp(a * distance) + b + np.exp(-a * distance))).mean(axis=-1)
    return result
