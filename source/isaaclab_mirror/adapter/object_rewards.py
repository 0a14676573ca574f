"""Rewards of the lift, cabinet and in-hand tasks."""

from __future__ import annotations

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, error_angle, matrices, rotate
from isaaclab_mirror.adapter.object_observations import EE_FRAME, OBJECT, frame
from isaaclab_mirror.adapter.registry import reward_term
from isaaclab_mirror.adapter.world import ROBOT, Entity, World

LIFT = ("contrib.lift", "manipulation.lift")
IN_HAND = ("reorient", "inhand")

# --- lift


@reward_term("object_is_lifted", *LIFT, needs=("objects",))
def object_is_lifted(world: World, minimal_height: float, object_cfg: Entity = OBJECT) -> Array:
    """1 above a height [m]."""
    return (world.asset(object_cfg.name).root_pos[:, 2] > minimal_height).astype(float)


@reward_term("object_ee_distance", *LIFT, needs=("objects",))
def object_ee_distance(world: World, std: float, object_cfg: Entity = OBJECT, ee_frame_cfg: Entity = EE_FRAME) -> Array:
    """1 − tanh(distance/std) between hand and object."""
    hand, _ = frame(world, ee_frame_cfg.name)
    return 1.0 - np.tanh(np.linalg.norm(world.asset(object_cfg.name).root_pos - hand, axis=1) / std)


@reward_term("object_goal_distance", *LIFT, needs=("objects",))
def object_goal_distance(
    world: World,
    std: float,
    minimal_height: float,
    command_name: str,
    robot_cfg: Entity = ROBOT,
    object_cfg: Entity = OBJECT,
    success_threshold: float | None = None,
) -> Array:
    """1 − tanh(distance/std) of a lifted object to the commanded position."""
    robot, pos = world.asset(robot_cfg.name), world.asset(object_cfg.name).root_pos
    goal = robot.root_pos + rotate(robot.root_quat, world.command(command_name).value[:, :3])
    distance = np.linalg.norm(goal - pos, axis=1)
    return np.where(pos[:, 2] > minimal_height, 1.0 - np.tanh(distance / std), 0.0)


# --- cabinet


def _hand_and_handle(world: World) -> tuple[Array, Array]:
    return frame(world, "ee_frame")[0], frame(world, "cabinet_frame")[0]


def _fingers(world: World) -> tuple[Array, Array]:
    return frame(world, "ee_frame", 1)[0], frame(world, "ee_frame", 2)[0]


@reward_term("approach_ee_handle", "cabinet", needs=("objects",))
def approach_ee_handle(world: World, threshold: float) -> Array:
    """(1 / (1 + d²))², twice that when near."""
    hand, handle = _hand_and_handle(world)
    distance = np.linalg.norm(handle - hand, axis=1)
    value: Array = (1.0 / (1.0 + distance**2)) ** 2
    return np.where(distance <= threshold, 2.0 * value, value)


@reward_term("align_ee_handle", "cabinet", needs=("objects",))
def align_ee_handle(world: World) -> Array:
    """The hand's z against the handle's x, its x against the handle's y."""
    hand, handle = (matrices(frame(world, name)[1]) for name in ("ee_frame", "cabinet_frame"))
    z = -(hand[:, :, 2] * handle[:, :, 0]).sum(axis=1)
    x = -(hand[:, :, 0] * handle[:, :, 1]).sum(axis=1)
    return 0.5 * (np.sign(z) * z**2 + np.sign(x) * x**2)


@reward_term("align_grasp_around_handle", "cabinet", needs=("objects",))
def align_grasp_around_handle(world: World) -> Array:
    """1 with the left finger above the handle and the right one below."""
    (left, right), handle = _fingers(world), frame(world, "cabinet_frame")[0]
    return ((right[:, 2] < handle[:, 2]) & (left[:, 2] > handle[:, 2])).astype(float)


@reward_term("approach_gripper_handle", "cabinet", needs=("objects",))
def approach_gripper_handle(world: World, offset: float = 0.04) -> Array:
    """How near the fingers are to a handle between them."""
    (left, right), handle = _fingers(world), frame(world, "cabinet_frame")[0]
    apart = np.abs(left[:, 2] - handle[:, 2]) + np.abs(right[:, 2] - handle[:, 2])
    return align_grasp_around_handle(world) * (2.0 * offset - apart)


@reward_term("grasp_handle", "cabinet", needs=("objects",))
def grasp_handle(world: World, threshold: float, open_joint_pos: float, asset_cfg: Entity) -> Array:
    """Fingers closed near the handle."""
    hand, handle = _hand_and_handle(world)
    near = np.linalg.norm(handle - hand, axis=1) <= threshold
    closed = open_joint_pos - world.asset(asset_cfg.name).joint_pos[:, asset_cfg.joints]
    return near * closed.sum(axis=1)


def _drawer(world: World, asset_cfg: Entity) -> Array:
    return world.asset(asset_cfg.name).joint_pos[:, asset_cfg.joints][:, 0]


@reward_term("open_drawer_bonus", "cabinet", needs=("objects",))
def open_drawer_bonus(world: World, asset_cfg: Entity, success_threshold: float = 0.0) -> Array:
    """How far the drawer is open, twice that with the grasp around the handle."""
    return (align_grasp_around_handle(world) + 1.0) * _drawer(world, asset_cfg)


@reward_term("multi_stage_open_drawer", "cabinet", needs=("objects",))
def multi_stage_open_drawer(world: World, asset_cfg: Entity) -> Array:
    """Three stages of opening."""
    drawer, held = _drawer(world, asset_cfg), align_grasp_around_handle(world)
    return (drawer > 0.01) * 0.5 + (drawer > 0.2) * held + (drawer > 0.3) * held


# --- in hand


def _goal_angle(world: World, command_name: str, object_cfg: Entity) -> Array:
    return error_angle(world.asset(object_cfg.name).root_quat, world.command(command_name).value[:, 3:])


@reward_term("success_bonus", *IN_HAND, needs=("objects",))
def success_bonus(world: World, command_name: str, object_cfg: Entity = OBJECT) -> Array:
    """1 at the goal's orientation."""
    limit = float(world.command(command_name).config["orientation_success_threshold"])
    return (_goal_angle(world, command_name, object_cfg) <= limit).astype(float)


@reward_term("track_pos_l2", *IN_HAND, needs=("objects",))
def track_pos_l2(world: World, command_name: str, object_cfg: Entity = OBJECT) -> Array:
    """Distance to the goal [m]."""
    return np.linalg.norm(world.command(command_name).value[:, :3] - world.asset(object_cfg.name).root_pos, axis=1)


@reward_term("track_orientation_inv_l2", *IN_HAND, needs=("objects",))
def track_orientation_inv_l2(
    world: World, command_name: str, object_cfg: Entity = OBJECT, rot_eps: float = 1e-3
) -> Array:
    """1 / (angle + ε)."""
    return 1.0 / (_goal_angle(world, command_name, object_cfg) + rot_eps)
