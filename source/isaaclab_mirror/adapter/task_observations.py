"""Observations that tasks define beside the base terms: Ant and Humanoid, DrLegs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, euler_xyz, rotate, wrap_to_pi
from isaaclab_mirror.adapter.registry import observation_term
from isaaclab_mirror.adapter.world import ROBOT, Entity, World

FORWARD = np.array([1.0, 0.0, 0.0])


@observation_term("base_yaw_roll", "core.locomotion", "classic.humanoid")
def base_yaw_roll(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """[rad]"""
    roll, _, yaw = euler_xyz(world.asset(asset_cfg.name).root_quat)
    return np.stack([yaw, roll], axis=-1)


@observation_term("base_up_proj", "core.locomotion", "classic.humanoid")
def base_up_proj(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """How much of the base's z axis points up."""
    return -world.asset(asset_cfg.name).projected_gravity[:, 2:]


@observation_term("base_heading_proj", "core.locomotion", "classic.humanoid")
def base_heading_proj(world: World, target_pos: Sequence[float], asset_cfg: Entity = ROBOT) -> Array:
    """How much of the base's x axis points to the target, in the plane."""
    asset = world.asset(asset_cfg.name)
    way = (np.asarray(target_pos) - asset.root_pos)[:, :2]
    way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    forward = rotate(asset.root_quat, np.broadcast_to(FORWARD, asset.root_pos.shape))
    return (forward[:, :2] * way).sum(axis=1, keepdims=True)


@observation_term("base_angle_to_target", "core.locomotion", "classic.humanoid")
def base_angle_to_target(world: World, target_pos: Sequence[float], asset_cfg: Entity = ROBOT) -> Array:
    """From the heading to the target [rad]."""
    asset = world.asset(asset_cfg.name)
    way = np.asarray(target_pos) - asset.root_pos
    return wrap_to_pi(np.arctan2(way[:, 1], way[:, 0]) - asset.heading)[:, None]


@observation_term("joint_position_setpoints", "dr_legs")
def joint_position_setpoints(world: World, action_term_name: str = "joint_pos") -> Array:
    """What an action term made of the last action [rad]."""
    assert world.actions is not None  # noqa: S101 - set before any term runs
    return world.actions.term(action_term_name).processed


@observation_term("gait_phase", "dr_legs")
def gait_phase(world: World, period: float = 1.0, num_harmonics: int = 1) -> Array:
    """sin and cos of the gait clock's harmonics."""
    turn = 2.0 * np.pi * phase(world, period)
    waves = [wave(k * turn) for k in range(1, num_harmonics + 1) for wave in (np.sin, np.cos)]
    return np.stack(waves, axis=-1)


def phase(world: World, period: float) -> Array:
    """Episode time in periods, [0, 1)."""
    return np.mod(world.episode_steps * world.step_dt, period) / period
