"""Rewards of Ant and Humanoid, the four-bar pole and DrLegs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, conjugate, multiply, yaw_quat
from isaaclab_mirror.adapter.registry import reward_term
from isaaclab_mirror.adapter.rewards import actions, square_sum, target_way
from isaaclab_mirror.adapter.sensors import ContactSensor
from isaaclab_mirror.adapter.task_observations import base_heading_proj, base_up_proj, phase
from isaaclab_mirror.adapter.world import ROBOT, Entity, World
from isaaclab_mirror.contract.matching import match_values

WALKERS = ("core.locomotion", "classic.humanoid")
DR_LEGS = "dr_legs"

# --- Ant, Humanoid


@reward_term("upright_posture_bonus", *WALKERS)
def upright_posture_bonus(world: World, threshold: float, asset_cfg: Entity = ROBOT) -> Array:
    """1 where upright."""
    return (base_up_proj(world, asset_cfg)[:, 0] > threshold).astype(float)


@reward_term("move_to_target_bonus", *WALKERS)
def move_to_target_bonus(
    world: World, threshold: float, target_pos: Sequence[float], asset_cfg: Entity = ROBOT
) -> Array:
    """1 where heading to the target."""
    heading = base_heading_proj(world, target_pos, asset_cfg)[:, 0]
    return np.where(heading > threshold, 1.0, heading / threshold)


@reward_term("progress_reward", *WALKERS)
class ProgressReward:
    """How much nearer the target came in this step, per second [m/s]."""

    def __init__(self, world: World, params: Mapping[str, Any]) -> None:
        self._world, self._target = world, params["target_pos"]
        self._distance = np.zeros(world.env_count)

    def reset(self, env_ids: Array | slice) -> None:
        """The first step counts from here."""
        self._distance[env_ids] = self._now(self._world, self._target, ROBOT)[env_ids]

    @staticmethod
    def _now(world: World, target_pos: Sequence[float], asset_cfg: Entity) -> Array:
        return np.linalg.norm(target_way(world, target_pos, asset_cfg)[:, :2], axis=1)

    def __call__(self, world: World, target_pos: Sequence[float], asset_cfg: Entity = ROBOT) -> Array:
        """Progress since the last call."""
        distance = self._now(world, target_pos, asset_cfg)
        progress = (self._distance - distance) / world.step_dt
        self._distance = distance
        return progress


def _gears(world: World, gear_ratio: Mapping[str, float], where: str) -> Array:
    names = world.layout.joint_names
    found = match_values(gear_ratio, names, where)
    gears = np.array([found.get(name, 1.0) for name in names])
    return gears / gears.max()


@reward_term("joint_pos_limits_penalty_ratio", *WALKERS)
class JointPosLimitsPenaltyRatio:
    """How far joints are into the last part of their range, weighted by gear."""

    def __init__(self, world: World, params: Mapping[str, Any]) -> None:
        self._gears = _gears(world, params["gear_ratio"], "joint_pos_limits_penalty_ratio.gear_ratio")

    def __call__(
        self, world: World, threshold: float, gear_ratio: Mapping[str, float], asset_cfg: Entity = ROBOT
    ) -> Array:
        """Sum over the joints."""
        asset = world.asset(asset_cfg.name)
        low, high = asset.defaults.soft_limits.T
        part = np.abs(2.0 * (asset.joint_pos - (low + high) / 2.0) / (high - low))
        return ((part > threshold) * (part - threshold) / (1.0 - threshold) * self._gears).sum(axis=1)


@reward_term("power_consumption", *WALKERS)
class PowerConsumption:
    """|action · speed · gear|."""

    def __init__(self, world: World, params: Mapping[str, Any]) -> None:
        self._gears = _gears(world, params["gear_ratio"], "power_consumption.gear_ratio")

    def __call__(self, world: World, gear_ratio: Mapping[str, float], asset_cfg: Entity = ROBOT) -> Array:
        """Sum over the joints."""
        return np.abs(actions(world)[0] * world.asset(asset_cfg.name).joint_vel * self._gears).sum(axis=1)


# --- four-bar pole


@reward_term("pole_upright", "fourbar_pole")
def pole_upright(world: World, asset_cfg: Entity, success_threshold: float, hold_time_s: float = 0.5) -> Array:
    """Σ cos q; the other two only make a metric."""
    return np.cos(world.asset(asset_cfg.name).joint_pos[:, asset_cfg.joints]).sum(axis=1)


# --- DrLegs


def bell(error: Array, sigma: float) -> Array:
    """exp(−error / 2σ²)."""
    return np.exp(-error / (2.0 * sigma * sigma))


def _tilt(quat: Array) -> Array:
    """Squared imaginary part of what is left of an orientation without its yaw."""
    return square_sum(multiply(conjugate(yaw_quat(quat)), quat)[..., 1:])


def _touching(world: World, sensor_cfg: Entity, threshold: float) -> Array:
    sensor: ContactSensor = world.sensor(sensor_cfg.name, ContactSensor)
    return np.linalg.norm(sensor.force[:, sensor_cfg.bodies], axis=-1) > threshold


@reward_term("joint_pos_tracking_exp", DR_LEGS)
def joint_pos_tracking_exp(world: World, asset_cfg: Entity = ROBOT, std: float = 0.5) -> Array:
    """Near the default pose."""
    asset = world.asset(asset_cfg.name)
    error = asset.joint_pos[:, asset_cfg.joints] - asset.defaults.joint_pos[asset_cfg.joints]
    return np.exp(-square_sum(error) / std**2)


@reward_term("base_lin_vel_l2", DR_LEGS)
def base_lin_vel_l2(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """[m²/s²]"""
    return square_sum(world.asset(asset_cfg.name).root_lin_vel_b)


@reward_term("base_ang_vel_l2", DR_LEGS)
def base_ang_vel_l2(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """[rad²/s²]"""
    return square_sum(world.asset(asset_cfg.name).root_ang_vel_b)


@reward_term("joint_pd_command_l2", DR_LEGS)
def joint_pd_command_l2(world: World, asset_cfg: Entity = ROBOT, stiffness: float = 5.0, damping: float = 0.2) -> Array:
    """What a PD of these gains would command, squared."""
    assert world.actions is not None  # noqa: S101 - set before any term runs
    asset, joints = world.asset(asset_cfg.name), asset_cfg.joints
    error = world.actions.targets.position[:, joints] - asset.joint_pos[:, joints]
    return square_sum(stiffness * error - damping * asset.joint_vel[:, joints])


@reward_term("ActionRate2L2", DR_LEGS)
class ActionRate2L2:
    """Second difference of the raw action, squared."""

    def __init__(self, world: World, params: Mapping[str, Any]) -> None:
        self._last = np.zeros_like(actions(world)[0])
        self._before = np.zeros_like(self._last)

    def reset(self, env_ids: Array | slice) -> None:
        """Forget."""
        self._last[env_ids] = 0.0
        self._before[env_ids] = 0.0

    def __call__(self, world: World) -> Array:
        """Of this step."""
        now = actions(world)[0]
        value = square_sum(now - 2.0 * self._last + self._before)
        self._before[:] = self._last
        self._last[:] = now
        return value


def _reference(world: World, period: float) -> Array:
    clock = phase(world, period)
    return np.stack([clock < 0.5, clock >= 0.5], axis=1)


@reward_term("contact_matching", DR_LEGS, needs=("contacts",))
def contact_matching(world: World, sensor_cfg: Entity, threshold: float = 1.0, gait_period: float = 1.0) -> Array:
    """Feet that touch when the gait's clock says so."""
    matching = _touching(world, sensor_cfg, threshold) == _reference(world, gait_period)
    return matching.sum(axis=1) - 1.0


@reward_term("foot_clearance", DR_LEGS)
def foot_clearance(
    world: World, asset_cfg: Entity, target_height: float = 0.065, sigma: float = 0.01, gait_period: float = 1.0
) -> Array:
    """The swinging foot at its height."""
    height = world.asset(asset_cfg.name).body_pos[:, asset_cfg.bodies, 2]
    clock = phase(world, gait_period)
    result = np.zeros(world.env_count)
    for foot, shift in ((0, 0.5), (1, 0.0)):
        goal = target_height * np.maximum(np.sin(2.0 * np.pi * (clock - shift)), 0.0)
        result += (goal > 0.0) * bell((goal - height[:, foot]) ** 2, sigma)
    return result


@reward_term("feet_parallel", DR_LEGS)
def feet_parallel(world: World, asset_cfg: Entity, sigma: float = 0.2) -> Array:
    """Both feet in one direction."""
    quat = yaw_quat(world.asset(asset_cfg.name).body_quat[:, asset_cfg.bodies])
    return bell(square_sum(multiply(conjugate(quat[:, 0]), quat[:, 1])[:, 1:]), sigma)


@reward_term("feet_flat", DR_LEGS)
def feet_flat(world: World, asset_cfg: Entity, sigma: float = 0.2) -> Array:
    """Feet level."""
    return bell(_tilt(world.asset(asset_cfg.name).body_quat[:, asset_cfg.bodies]), sigma).mean(axis=1)


@reward_term("feet_touchdown_vel", DR_LEGS, needs=("contacts",))
def feet_touchdown_vel(world: World, asset_cfg: Entity, sensor_cfg: Entity, threshold: float = 1.0) -> Array:
    """Downward speed of feet that touch [m/s]."""
    falling = np.maximum(-world.asset(asset_cfg.name).body_lin_vel_w[:, asset_cfg.bodies, 2], 0.0)
    return (_touching(world, sensor_cfg, threshold) * falling).sum(axis=1)


@reward_term("root_orientation_exp", DR_LEGS)
def root_orientation_exp(world: World, asset_cfg: Entity = ROBOT, sigma: float = 0.2) -> Array:
    """Root level."""
    return bell(_tilt(world.asset(asset_cfg.name).root_quat), sigma)


@reward_term("walk_success_rate", DR_LEGS)
def walk_success_rate(world: World, **_: Any) -> Array:
    """A metric, no reward."""
    return np.zeros(world.env_count)
