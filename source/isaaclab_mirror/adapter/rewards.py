"""Isaac Lab's base reward terms (`isaaclab.envs.mdp.rewards`): each gives (env_count,), before weight and step time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, combine_frames, error_angle, multiply, wrap_to_pi
from isaaclab_mirror.adapter.registry import reward_term
from isaaclab_mirror.adapter.sensors import ContactSensor, RayCaster
from isaaclab_mirror.adapter.world import ROBOT, Entity, World
from isaaclab_mirror.contract.matching import match_names


def square_sum(values: Array) -> Array:
    """Σ v² over the last axis."""
    return np.einsum("...i,...i->...", values, values)


def actions(world: World) -> tuple[Array, Array]:
    """The raw action and the one before."""
    assert world.actions is not None  # noqa: S101 - set before any term runs
    return world.actions.action, world.actions.previous


# --- life


@reward_term("is_alive")
def is_alive(world: World) -> Array:
    """1 while not terminated."""
    return (~world.terminated).astype(float)


@reward_term("is_terminated")
def is_terminated(world: World) -> Array:
    """1 where terminated, not by time."""
    return world.terminated.astype(float)


@reward_term("terminated_penalty")
def terminated_penalty(world: World) -> Array:
    """The same whatever the step time."""
    return world.terminated / world.step_dt


@reward_term("is_terminated_term")
class IsTerminatedTerm:
    """How many of some termination terms fired, unless time ran out."""

    def __init__(self, world: World, params: Mapping[str, Any]) -> None:
        keys = params.get("term_keys", ".*")
        self._names = match_names(keys, tuple(world.ends), "is_terminated_term.term_keys")

    def __call__(self, world: World, term_keys: Any = ".*") -> Array:
        """Their number."""
        fired = np.sum([world.ends[name] for name in self._names], axis=0)
        return fired * ~world.time_outs


@reward_term("survival_success_rate")
def survival_success_rate(world: World) -> Array:
    """A metric, no reward."""
    return np.zeros(world.env_count)


# --- root


@reward_term("lin_vel_z_l2")
def lin_vel_z_l2(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Vertical speed in the root's axes, squared."""
    return world.asset(asset_cfg.name).root_lin_vel_b[:, 2] ** 2


@reward_term("ang_vel_xy_l2")
def ang_vel_xy_l2(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Rolling and pitching, squared."""
    return square_sum(world.asset(asset_cfg.name).root_ang_vel_b[:, :2])


@reward_term("flat_orientation_l2")
def flat_orientation_l2(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Tilt, squared sine."""
    return square_sum(world.asset(asset_cfg.name).projected_gravity[:, :2])


@reward_term("base_height_l2")
def base_height_l2(
    world: World, target_height: float, asset_cfg: Entity = ROBOT, sensor_cfg: Entity | None = None
) -> Array:
    """Height of the root link against a target above the ground, squared [m²]."""
    height = world.asset(asset_cfg.name).root_pos[:, 2]
    if sensor_cfg is not None:
        sensor: RayCaster = world.sensor(sensor_cfg.name, RayCaster)
        height = height - sensor.ground(world).mean(axis=1)
    return (height - target_height) ** 2


# --- joints


@reward_term("joint_torques_l2", needs=("effort",))
def joint_torques_l2(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Applied efforts, squared."""
    return square_sum(world.applied_effort[:, asset_cfg.joints])


@reward_term("joint_vel_l1")
def joint_vel_l1(world: World, asset_cfg: Entity) -> Array:
    """Speeds."""
    return np.abs(world.asset(asset_cfg.name).joint_vel[:, asset_cfg.joints]).sum(axis=1)


@reward_term("joint_vel_l2")
def joint_vel_l2(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Speeds, squared."""
    return square_sum(world.asset(asset_cfg.name).joint_vel[:, asset_cfg.joints])


@reward_term("joint_acc_l2", needs=("joint_acc",))
def joint_acc_l2(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Accelerations over the last physics step, squared."""
    return square_sum(world.joint_acc[:, asset_cfg.joints])


@reward_term("joint_deviation_l1")
def joint_deviation_l1(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """From the default pose."""
    asset = world.asset(asset_cfg.name)
    away = asset.joint_pos[:, asset_cfg.joints] - asset.defaults.joint_pos[asset_cfg.joints]
    return np.abs(away).sum(axis=1)


@reward_term("joint_pos_target_l2")
def joint_pos_target_l2(world: World, target: float, asset_cfg: Entity) -> Array:
    """From a target, wrapped, squared."""
    pos = wrap_to_pi(world.asset(asset_cfg.name).joint_pos[:, asset_cfg.joints])
    return square_sum(pos - target)


@reward_term("joint_pos_limits")
def joint_pos_limits(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Beyond the soft limits."""
    asset = world.asset(asset_cfg.name)
    low, high = asset.defaults.soft_limits[asset_cfg.joints].T
    pos = asset.joint_pos[:, asset_cfg.joints]
    return (np.maximum(low - pos, 0.0) + np.maximum(pos - high, 0.0)).sum(axis=1)


@reward_term("joint_vel_limits")
def joint_vel_limits(world: World, soft_ratio: float, asset_cfg: Entity = ROBOT) -> Array:
    """Beyond a part of the soft speed limits, at most 1 per joint."""
    asset = world.asset(asset_cfg.name)
    limits = asset.defaults.velocity_limits[asset_cfg.joints] * soft_ratio
    return np.clip(np.abs(asset.joint_vel[:, asset_cfg.joints]) - limits, 0.0, 1.0).sum(axis=1)


# --- actions


@reward_term("applied_torque_limits", needs=("effort",))
def applied_torque_limits(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """What the motors' bounds cut off."""
    cut = world.applied_effort[:, asset_cfg.joints] - world.computed_effort[:, asset_cfg.joints]
    return np.abs(cut).sum(axis=1)


@reward_term("action_rate_l2")
def action_rate_l2(world: World) -> Array:
    """Change of the raw action, squared."""
    now, before = actions(world)
    return square_sum(now - before)


@reward_term("action_l2")
def action_l2(world: World) -> Array:
    """The raw action, squared."""
    return square_sum(actions(world)[0])


# --- contacts


def strongest(world: World, sensor_cfg: Entity) -> Array:
    """Largest force of the sensor's bodies over its history [N]."""
    sensor: ContactSensor = world.sensor(sensor_cfg.name, ContactSensor)
    return sensor.strongest()[:, sensor_cfg.bodies]


@reward_term("undesired_contacts", needs=("contacts",))
def undesired_contacts(world: World, threshold: float, sensor_cfg: Entity) -> Array:
    """How many bodies touch."""
    return (strongest(world, sensor_cfg) > threshold).sum(axis=1)


@reward_term("desired_contacts", needs=("contacts",))
def desired_contacts(world: World, sensor_cfg: Entity, threshold: float = 1.0) -> Array:
    """1 where none touches."""
    return (strongest(world, sensor_cfg) <= threshold).all(axis=1).astype(float)


@reward_term("contact_forces", needs=("contacts",))
def contact_forces(world: World, threshold: float, sensor_cfg: Entity) -> Array:
    """Forces beyond a threshold [N]."""
    return np.maximum(strongest(world, sensor_cfg) - threshold, 0.0).sum(axis=1)


# --- commands


@reward_term("track_lin_vel_xy_exp")
def track_lin_vel_xy_exp(world: World, std: float, command_name: str, asset_cfg: Entity = ROBOT) -> Array:
    """exp(−error²/std²) of the velocity in the root's axes."""
    wanted = world.command(command_name).value[:, :2]
    return np.exp(-square_sum(wanted - world.asset(asset_cfg.name).root_lin_vel_b[:, :2]) / std**2)


@reward_term("track_ang_vel_z_exp")
def track_ang_vel_z_exp(world: World, std: float, command_name: str, asset_cfg: Entity = ROBOT) -> Array:
    """exp(−error²/std²) of the yaw rate in the root's axes."""
    wanted = world.command(command_name).value[:, 2]
    return np.exp(-((wanted - world.asset(asset_cfg.name).root_ang_vel_b[:, 2]) ** 2) / std**2)


@reward_term("position_command_error")
def position_command_error(world: World, command_name: str, asset_cfg: Entity) -> Array:
    """Distance of a body to the commanded position [m]."""
    asset, command = world.asset(asset_cfg.name), world.command(command_name).value
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    goal, _ = combine_frames(asset.root_pos, asset.root_quat, command[:, :3], identity)
    return np.linalg.norm(asset.body_pos[:, asset_cfg.body] - goal, axis=1)


@reward_term("position_command_error_tanh")
def position_command_error_tanh(world: World, std: float, command_name: str, asset_cfg: Entity) -> Array:
    """1 − tanh(distance/std)."""
    return 1.0 - np.tanh(position_command_error(world, command_name, asset_cfg) / std)


@reward_term("orientation_command_error")
def orientation_command_error(world: World, command_name: str, asset_cfg: Entity) -> Array:
    """Angle of a body to the commanded orientation [rad]."""
    asset, command = world.asset(asset_cfg.name), world.command(command_name).value
    goal = multiply(asset.root_quat, command[:, 3:7])
    return error_angle(asset.body_quat[:, asset_cfg.body], goal)


# --- navigation


@reward_term("position_command_error_tanh", "navigation")
def navigation_position_error(world: World, std: float, command_name: str) -> Array:
    """1 − tanh(distance/std) of a goal that the command gives in the robot's frame."""
    distance = np.linalg.norm(world.command(command_name).value[:, :3], axis=1)
    return 1.0 - np.tanh(distance / std)


@reward_term("heading_command_error_abs", "navigation")
def heading_command_error_abs(world: World, command_name: str) -> Array:
    """[rad]"""
    return np.abs(world.command(command_name).value[:, 3])


def target_way(world: World, target_pos: Sequence[float], asset_cfg: Entity = ROBOT) -> Array:
    """From an asset to a point of the environment [m]."""
    return np.asarray(target_pos) - world.asset(asset_cfg.name).root_pos
