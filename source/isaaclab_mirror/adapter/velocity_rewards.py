"""Rewards of the velocity tasks: feet, gaits and tracking in other frames; Spot's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, rotate_back, yaw_quat
from isaaclab_mirror.adapter.registry import reward_term
from isaaclab_mirror.adapter.rewards import actions, joint_deviation_l1, square_sum, strongest
from isaaclab_mirror.adapter.sensors import ContactSensor
from isaaclab_mirror.adapter.world import ROBOT, Entity, World
from isaaclab_mirror.contract.matching import match_names

VELOCITY = "velocity.mdp"
SPOT = "config.spot"


def _sensor(world: World, sensor_cfg: Entity) -> ContactSensor:
    return world.sensor(sensor_cfg.name, ContactSensor)


def _moves(world: World, command_name: str) -> Array:
    """Whether the commanded velocity is more than 0.1 m/s."""
    return np.linalg.norm(world.command(command_name).value[:, :2], axis=1) > 0.1


@reward_term("feet_air_time", VELOCITY, needs=("contacts", "air time"))
def feet_air_time(world: World, command_name: str, sensor_cfg: Entity, threshold: float) -> Array:
    """Time in the air beyond a threshold, when a foot lands [s]."""
    sensor = _sensor(world, sensor_cfg)
    landed = sensor.first_contact(world.step_dt)[:, sensor_cfg.bodies]
    air = sensor.last_air_time[:, sensor_cfg.bodies]
    return ((air - threshold) * landed).sum(axis=1) * _moves(world, command_name)


@reward_term("feet_air_time_positive_biped", VELOCITY, needs=("contacts", "air time"))
def feet_air_time_positive_biped(world: World, command_name: str, threshold: float, sensor_cfg: Entity) -> Array:
    """Time on one foot, at most a threshold [s]."""
    sensor = _sensor(world, sensor_cfg)
    air = sensor.current_air_time[:, sensor_cfg.bodies]
    contact = sensor.current_contact_time[:, sensor_cfg.bodies]
    touching = contact > 0.0
    single = touching.sum(axis=1) == 1
    mode = np.where(touching, contact, air)
    shortest = np.where(single[:, None], mode, 0.0).min(axis=1)
    return np.minimum(shortest, threshold) * _moves(world, command_name)


def _spread(sensor: ContactSensor, bodies: Any, longest: float) -> Array:
    air = np.minimum(sensor.last_air_time[:, bodies], longest)
    contact = np.minimum(sensor.last_contact_time[:, bodies], longest)
    return air.var(axis=1, ddof=1) + contact.var(axis=1, ddof=1)


@reward_term("feet_air_time_variance", VELOCITY, needs=("contacts", "air time"))
def feet_air_time_variance(world: World, command_name: str, sensor_cfg: Entity, max_time: float = 0.5) -> Array:
    """How unlike the feet swing and stand [s²]."""
    return _spread(_sensor(world, sensor_cfg), sensor_cfg.bodies, max_time) * _moves(world, command_name)


@reward_term("feet_slide", VELOCITY, needs=("contacts",))
def feet_slide(world: World, sensor_cfg: Entity, asset_cfg: Entity = ROBOT) -> Array:
    """Speed of feet that touch [m/s]."""
    touching = strongest(world, sensor_cfg) > 1.0
    speed = np.linalg.norm(world.asset(asset_cfg.name).body_lin_vel_w[:, asset_cfg.bodies, :2], axis=-1)
    return (speed * touching).sum(axis=1)


@reward_term("track_lin_vel_xy_yaw_frame_exp", VELOCITY)
def track_lin_vel_xy_yaw_frame_exp(world: World, std: float, command_name: str, asset_cfg: Entity = ROBOT) -> Array:
    """exp(−error²/std²) of the velocity along the heading."""
    asset = world.asset(asset_cfg.name)
    velocity = rotate_back(yaw_quat(asset.root_quat), asset.root_lin_vel_w)
    return np.exp(-square_sum(world.command(command_name).value[:, :2] - velocity[:, :2]) / std**2)


@reward_term("track_ang_vel_z_world_exp", VELOCITY)
def track_ang_vel_z_world_exp(world: World, command_name: str, std: float, asset_cfg: Entity = ROBOT) -> Array:
    """exp(−error²/std²) of the yaw rate about the world's z."""
    error = world.command(command_name).value[:, 2] - world.asset(asset_cfg.name).root_ang_vel_w[:, 2]
    return np.exp(-(error**2) / std**2)


@reward_term("stand_still_joint_deviation_l1", VELOCITY)
def stand_still_joint_deviation_l1(
    world: World, command_name: str, command_threshold: float = 0.06, asset_cfg: Entity = ROBOT
) -> Array:
    """From the default pose, where hardly any velocity is commanded."""
    slow = np.linalg.norm(world.command(command_name).value[:, :2], axis=1) < command_threshold
    return joint_deviation_l1(world, asset_cfg) * slow


# --- Spot


def _command(world: World) -> Array:
    return world.command("base_velocity").value


def _busy(world: World, asset_cfg: Entity, threshold: float) -> Array:
    """Whether a command is given or the base moves."""
    speed = np.linalg.norm(world.asset(asset_cfg.name).root_lin_vel_b[:, :2], axis=1)
    return (np.linalg.norm(_command(world), axis=1) > 0.0) | (speed > threshold)


@reward_term("air_time_reward", SPOT, needs=("contacts", "air time"))
def air_time_reward(
    world: World, asset_cfg: Entity, sensor_cfg: Entity, mode_time: float, velocity_threshold: float
) -> Array:
    """Swing and stance of about `mode_time` while moving, stance while not."""
    sensor = _sensor(world, sensor_cfg)
    air = sensor.current_air_time[:, sensor_cfg.bodies]
    contact = sensor.current_contact_time[:, sensor_cfg.bodies]
    longest = np.maximum(air, contact)
    moving = np.where(longest < mode_time, np.minimum(longest, mode_time), 0.0)
    standing = np.clip(contact - air, -mode_time, mode_time)
    return np.where(_busy(world, asset_cfg, velocity_threshold)[:, None], moving, standing).sum(axis=1)


@reward_term("base_angular_velocity_reward", SPOT)
def base_angular_velocity_reward(world: World, asset_cfg: Entity, std: float) -> Array:
    """exp(−|error|/std) of the yaw rate."""
    return np.exp(-np.abs(_command(world)[:, 2] - world.asset(asset_cfg.name).root_ang_vel_b[:, 2]) / std)


@reward_term("base_linear_velocity_reward", SPOT)
def base_linear_velocity_reward(
    world: World, asset_cfg: Entity, std: float, ramp_at_vel: float = 1.0, ramp_rate: float = 0.5
) -> Array:
    """exp(−|error|/std) of the velocity, more for fast commands."""
    wanted = _command(world)[:, :2]
    error = np.linalg.norm(wanted - world.asset(asset_cfg.name).root_lin_vel_b[:, :2], axis=1)
    more = np.maximum(1.0 + ramp_rate * (np.linalg.norm(wanted, axis=1) - ramp_at_vel), 1.0)
    return np.exp(-error / std) * more


@reward_term("GaitReward", SPOT, needs=("contacts", "air time"))
class GaitReward:
    """Two pairs of feet in step, the pairs out of step."""

    def __init__(self, world: World, params: Mapping[str, Any]) -> None:
        sensor = _sensor(world, params["sensor_cfg"])
        names = sensor.body_names
        self._pairs = [
            [names.index(name) for name in match_names(tuple(pair), names, "GaitReward.synced_feet_pair_names")]
            for pair in params["synced_feet_pair_names"]
        ]

    def __call__(
        self,
        world: World,
        std: float,
        max_err: float,
        velocity_threshold: float,
        synced_feet_pair_names: Sequence[Sequence[str]],
        asset_cfg: Entity,
        sensor_cfg: Entity,
    ) -> Array:
        """Product of the six comparisons."""
        sensor = _sensor(world, sensor_cfg)
        air, contact = sensor.current_air_time, sensor.current_contact_time

        def alike(a: Array, b: Array) -> Array:
            return np.minimum((a - b) ** 2, max_err**2)

        def synced(a: int, b: int) -> Array:
            return np.exp(-(alike(air[:, a], air[:, b]) + alike(contact[:, a], contact[:, b])) / std)

        def opposed(a: int, b: int) -> Array:
            return np.exp(-(alike(air[:, a], contact[:, b]) + alike(contact[:, a], air[:, b])) / std)

        (a, b), (c, d) = self._pairs
        gait = synced(a, b) * synced(c, d) * opposed(a, c) * opposed(b, d) * opposed(a, d) * opposed(c, b)
        return np.where(_busy(world, asset_cfg, velocity_threshold), gait, 0.0)


@reward_term("foot_clearance_reward", SPOT)
def foot_clearance_reward(world: World, asset_cfg: Entity, target_height: float, std: float, tanh_mult: float) -> Array:
    """Feet that move are at a height."""
    asset = world.asset(asset_cfg.name)
    error = (asset.body_pos[:, asset_cfg.bodies, 2] - target_height) ** 2
    speed = np.linalg.norm(asset.body_lin_vel_w[:, asset_cfg.bodies, :2], axis=2)
    return np.exp(-(error * np.tanh(tanh_mult * speed)).sum(axis=1) / std)


@reward_term("action_smoothness_penalty", SPOT)
def action_smoothness_penalty(world: World) -> Array:
    """Change of the raw action."""
    now, before = actions(world)
    return np.linalg.norm(now - before, axis=1)


@reward_term("air_time_variance_penalty", SPOT, needs=("contacts", "air time"))
def air_time_variance_penalty(world: World, sensor_cfg: Entity) -> Array:
    """How unlike the feet swing and stand [s²]."""
    return _spread(_sensor(world, sensor_cfg), sensor_cfg.bodies, 0.5)


@reward_term("base_motion_penalty", SPOT)
def base_motion_penalty(world: World, asset_cfg: Entity) -> Array:
    """Bouncing, rolling and pitching."""
    asset = world.asset(asset_cfg.name)
    return 0.8 * asset.root_lin_vel_b[:, 2] ** 2 + 0.2 * np.abs(asset.root_ang_vel_b[:, :2]).sum(axis=1)


@reward_term("base_orientation_penalty", SPOT)
def base_orientation_penalty(world: World, asset_cfg: Entity) -> Array:
    """Tilt."""
    return np.linalg.norm(world.asset(asset_cfg.name).projected_gravity[:, :2], axis=1)


@reward_term("foot_slip_penalty", SPOT, needs=("contacts",))
def foot_slip_penalty(world: World, asset_cfg: Entity, sensor_cfg: Entity, threshold: float) -> Array:
    """Speed of feet that touch [m/s]."""
    touching = strongest(world, sensor_cfg) > threshold
    speed = np.linalg.norm(world.asset(asset_cfg.name).body_lin_vel_w[:, asset_cfg.bodies, :2], axis=2)
    return (touching * speed).sum(axis=1)


@reward_term("joint_acceleration_penalty", SPOT, needs=("joint_acc",))
def joint_acceleration_penalty(world: World, asset_cfg: Entity) -> Array:
    """[rad/s²]"""
    return np.linalg.norm(world.joint_acc, axis=1)


@reward_term("joint_position_penalty", SPOT)
def joint_position_penalty(
    world: World, asset_cfg: Entity, stand_still_scale: float, velocity_threshold: float
) -> Array:
    """From the default pose [rad]."""
    asset = world.asset(asset_cfg.name)
    away: Array = np.linalg.norm(asset.joint_pos - asset.defaults.joint_pos, axis=1)
    return np.where(_busy(world, asset_cfg, velocity_threshold), away, stand_still_scale * away)


@reward_term("joint_torques_penalty", SPOT, needs=("effort",))
def joint_torques_penalty(world: World, asset_cfg: Entity) -> Array:
    """[N·m]"""
    return np.linalg.norm(world.applied_effort, axis=1)


@reward_term("joint_velocity_penalty", SPOT)
def joint_velocity_penalty(world: World, asset_cfg: Entity) -> Array:
    """[rad/s]"""
    return np.linalg.norm(world.asset(asset_cfg.name).joint_vel, axis=1)
