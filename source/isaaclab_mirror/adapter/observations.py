"""Isaac Lab's base observation terms (`isaaclab.envs.mdp.observations`): the state as the policy sees it.

Each takes the World and the term's parameters and gives (env_count, …), before clip and scale.
"""

from __future__ import annotations

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, rotate_back, unique
from isaaclab_mirror.adapter.registry import observation_term
from isaaclab_mirror.adapter.sensors import RayCaster
from isaaclab_mirror.adapter.world import ROBOT, Entity, World


def flat(value: Array) -> Array:
    """(env_count, everything else)."""
    return value.reshape(len(value), -1)


@observation_term("base_pos_z")
def base_pos_z(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Height of the root link [m]."""
    return world.asset(asset_cfg.name).root_pos[:, 2:]


@observation_term("base_lin_vel")
def base_lin_vel(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Of the root's centre of mass, in the root link's axes [m/s]."""
    return world.asset(asset_cfg.name).root_lin_vel_b


@observation_term("base_ang_vel")
def base_ang_vel(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """In the root link's axes [rad/s]."""
    return world.asset(asset_cfg.name).root_ang_vel_b


@observation_term("projected_gravity")
def projected_gravity(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Unit vector of gravity in the root link's axes."""
    return world.asset(asset_cfg.name).projected_gravity


@observation_term("body_projected_gravity_b")
def body_projected_gravity_b(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """The same in the axes of bodies."""
    quat = world.asset(asset_cfg.name).body_quat[:, asset_cfg.bodies]
    return flat(rotate_back(quat, np.broadcast_to(world.gravity, (*quat.shape[:-1], 3))))


@observation_term("root_pos_w")
def root_pos_w(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Of the root link in the environment [m]."""
    return world.asset(asset_cfg.name).root_pos


@observation_term("root_quat_w")
def root_quat_w(world: World, make_quat_unique: bool = False, asset_cfg: Entity = ROBOT) -> Array:
    """Of the root link."""
    quat = world.asset(asset_cfg.name).root_quat
    return world.policy_quat(unique(quat) if make_quat_unique else quat)


@observation_term("root_lin_vel_w")
def root_lin_vel_w(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Of the root's centre of mass, world axes [m/s]."""
    return world.asset(asset_cfg.name).root_lin_vel_w


@observation_term("root_ang_vel_w")
def root_ang_vel_w(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """World axes [rad/s]."""
    return world.asset(asset_cfg.name).root_ang_vel_w


@observation_term("body_pose_w")
def body_pose_w(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Position [m] and quaternion of bodies, body by body."""
    asset = world.asset(asset_cfg.name)
    quat = world.policy_quat(asset.body_quat[:, asset_cfg.bodies])
    return flat(np.concatenate([asset.body_pos[:, asset_cfg.bodies], quat], axis=-1))


@observation_term("joint_pos")
def joint_pos(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """[rad or m]"""
    return world.asset(asset_cfg.name).joint_pos[:, asset_cfg.joints]


@observation_term("joint_pos_rel")
def joint_pos_rel(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """From the default pose [rad or m]."""
    asset = world.asset(asset_cfg.name)
    return (asset.joint_pos - asset.defaults.joint_pos)[:, asset_cfg.joints]


@observation_term("joint_pos_limit_normalized")
def joint_pos_limit_normalized(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """−1 … 1 over the soft limits."""
    asset = world.asset(asset_cfg.name)
    low, high = asset.defaults.soft_limits.T
    return (2.0 * (asset.joint_pos - (low + high) / 2.0) / (high - low))[:, asset_cfg.joints]


@observation_term("joint_vel")
def joint_vel(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """[rad/s or m/s]"""
    return world.asset(asset_cfg.name).joint_vel[:, asset_cfg.joints]


@observation_term("joint_vel_rel")
def joint_vel_rel(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """From the default velocity [rad/s or m/s]."""
    asset = world.asset(asset_cfg.name)
    return (asset.joint_vel - asset.defaults.joint_vel)[:, asset_cfg.joints]


@observation_term("joint_effort")
def joint_effort(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """Applied by the motors [N·m or N]."""
    return world.applied_effort[:, asset_cfg.joints]


@observation_term("joint_pos_cos", "fourbar_pole")
def joint_pos_cos(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """cos q."""
    return np.cos(joint_pos(world, asset_cfg))


@observation_term("joint_pos_sin", "fourbar_pole")
def joint_pos_sin(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """sin q."""
    return np.sin(joint_pos(world, asset_cfg))


@observation_term("last_action")
def last_action(world: World, action_name: str | None = None) -> Array:
    """The raw action as the environment got it: before scale and offset, after the wrapper's clip; 0 after reset."""
    assert world.actions is not None  # noqa: S101 - set before any term runs
    return world.actions.action if action_name is None else world.actions.term(action_name).raw


@observation_term("generated_commands")
def generated_commands(world: World, command_name: str) -> Array:
    """A command term's output."""
    return world.command(command_name).observed(world)


@observation_term("height_scan", needs=("terrain heights",))
def height_scan(world: World, sensor_cfg: Entity, offset: float = 0.5) -> Array:
    """Height of the sensor above the ground under each ray, less the offset [m]."""
    sensor: RayCaster = world.sensor(sensor_cfg.name, RayCaster)
    return sensor.heights_above(world) - offset


@observation_term("body_incoming_wrench", needs=("joint wrenches",))
def body_incoming_wrench(world: World, sensor_cfg: Entity | None = None, asset_cfg: Entity = ROBOT) -> Array:
    """Force and torque through each body's incoming joint, body by body [N, N·m]."""
    names = (sensor_cfg or asset_cfg).body_names or world.layout.body_names
    return flat(world.scene.joint_wrench(names))


@observation_term("current_time_s")
def current_time_s(world: World) -> Array:
    """Since the episode began [s]."""
    return (world.episode_steps * world.step_dt)[:, None]


@observation_term("remaining_time_s")
def remaining_time_s(world: World) -> Array:
    """Until the episode's end [s]."""
    return world.contract.sim.episode_length_s - current_time_s(world)
