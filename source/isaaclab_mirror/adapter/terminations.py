"""When an episode ends (`isaaclab.envs.mdp.terminations`): each term gives (env_count,) booleans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, any_of
from isaaclab_mirror.adapter.registry import termination_term
from isaaclab_mirror.adapter.sensors import ContactSensor
from isaaclab_mirror.adapter.world import ROBOT, Entity, World


@termination_term("time_out")
def time_out(world: World) -> Array:
    """The episode's length is reached."""
    return world.episode_steps >= world.max_episode_steps


@termination_term("command_resample")
def command_resample(world: World, command_name: str, num_resamples: int = 1) -> Array:
    """A command was drawn often enough."""
    command = world.command(command_name)
    return (command.time_left <= world.step_dt) & (command.count == num_resamples)


@termination_term("pose_command_success")
def pose_command_success(world: World, command_name: str) -> Array:
    """The pose is reached."""
    return world.command(command_name).succeeded(world)


@termination_term("bad_orientation")
def bad_orientation(world: World, limit_angle: float, asset_cfg: Entity = ROBOT) -> Array:
    """Tilted beyond an angle [rad]."""
    upright = -world.asset(asset_cfg.name).projected_gravity[:, 2]
    return np.arccos(np.clip(upright, -1.0, 1.0)) > limit_angle


@termination_term("root_height_below_minimum")
def root_height_below_minimum(world: World, minimum_height: float, asset_cfg: Entity = ROBOT) -> Array:
    """The root link is lower than [m]."""
    return world.asset(asset_cfg.name).root_pos[:, 2] < minimum_height


@termination_term("joint_pos_out_of_limit")
def joint_pos_out_of_limit(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """A joint is beyond its soft limits."""
    asset = world.asset(asset_cfg.name)
    low, high = asset.defaults.soft_limits[asset_cfg.joints].T
    pos = asset.joint_pos[:, asset_cfg.joints]
    return any_of((pos > high) | (pos < low))


@termination_term("joint_pos_out_of_manual_limit")
def joint_pos_out_of_manual_limit(world: World, bounds: Sequence[float], asset_cfg: Entity = ROBOT) -> Array:
    """A joint is beyond these bounds [rad or m]."""
    pos = world.asset(asset_cfg.name).joint_pos[:, asset_cfg.joints]
    return any_of((pos > bounds[1]) | (pos < bounds[0]))


@termination_term("joint_vel_out_of_limit")
def joint_vel_out_of_limit(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """A joint is faster than its soft limit."""
    asset = world.asset(asset_cfg.name)
    limits = asset.defaults.velocity_limits[asset_cfg.joints]
    return any_of(np.abs(asset.joint_vel[:, asset_cfg.joints]) > limits)


@termination_term("joint_vel_out_of_manual_limit")
def joint_vel_out_of_manual_limit(world: World, max_velocity: float, asset_cfg: Entity = ROBOT) -> Array:
    """A joint is faster than [rad/s or m/s], or not finite."""
    vel = world.asset(asset_cfg.name).joint_vel[:, asset_cfg.joints]
    return any_of(~np.isfinite(vel) | (np.abs(vel) > max_velocity))


@termination_term("joint_effort_out_of_limit", needs=("effort",))
def joint_effort_out_of_limit(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """A motor's bound was reached."""
    computed, applied = world.computed_effort[:, asset_cfg.joints], world.applied_effort[:, asset_cfg.joints]
    return any_of(~np.isclose(computed, applied, rtol=1e-5, atol=1e-8))


@termination_term("illegal_contact", needs=("contacts",))
def illegal_contact(world: World, threshold: float, sensor_cfg: Entity) -> Array:
    """A link that must not touch did, within the sensor's history [N]."""
    sensor: ContactSensor = world.sensor(sensor_cfg.name, ContactSensor)
    return any_of(sensor.strongest()[:, sensor_cfg.bodies] > threshold)
