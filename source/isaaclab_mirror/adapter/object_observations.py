"""Observations of objects and frames: the lift, stack, cabinet, pick-and-place, gear and in-hand tasks.

Positions are in the environment's own frame; Isaac Lab's stack task gives cube positions in the world of all
environments instead, which is the same for one environment at the origin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import (
    Array,
    all_of,
    conjugate,
    multiply,
    rotate,
    rotate_back,
    subtract_frames,
    unique,
)
from isaaclab_mirror.adapter.observations import flat
from isaaclab_mirror.adapter.registry import observation_term
from isaaclab_mirror.adapter.sensors import FrameTransformer
from isaaclab_mirror.adapter.world import ROBOT, Entity, World
from isaaclab_mirror.contract.matching import match_names
from isaaclab_mirror.diagnostics import InputError

OBJECT = Entity("object", slice(None), slice(None))
EE_FRAME = Entity("ee_frame", slice(None), slice(None))
CUBES = tuple(Entity(f"cube_{k}", slice(None), slice(None)) for k in (1, 2, 3))


def frame(world: World, name: str, index: int = 0) -> tuple[Array, Array]:
    """Position and orientation of one target of a FrameTransformer."""
    sensor: FrameTransformer = world.sensor(name, FrameTransformer)
    return sensor.target(world, index)


def joined(*parts: Array) -> Array:
    """Side by side."""
    return np.concatenate(parts, axis=-1)


# --- lift


@observation_term("object_position_in_robot_root_frame", "lift", needs=("objects",))
def object_position_in_robot_root_frame(world: World, robot_cfg: Entity = ROBOT, object_cfg: Entity = OBJECT) -> Array:
    """[m]"""
    robot, other = world.asset(robot_cfg.name), world.asset(object_cfg.name)
    return rotate_back(robot.root_quat, other.root_pos - robot.root_pos)


@observation_term("object_quat_b", "lift", needs=("objects",))
def object_quat_b(world: World, robot_cfg: Entity = ROBOT, object_cfg: Entity = OBJECT) -> Array:
    """Orientation of the object in the robot's root frame."""
    robot, other = world.asset(robot_cfg.name), world.asset(object_cfg.name)
    return world.policy_quat(multiply(conjugate(robot.root_quat), other.root_quat))


@observation_term("body_state_b", "lift")
def body_state_b(world: World, body_asset_cfg: Entity, base_asset_cfg: Entity, include_vel: bool = True) -> Array:
    """Pose and (world) velocity of bodies in the axes of a root link, body by body."""
    asset, base = world.asset(body_asset_cfg.name), world.asset(base_asset_cfg.name)
    bodies = body_asset_cfg.bodies
    root_pos, root_quat = base.root_pos[:, None], base.root_quat[:, None]
    pos, quat = subtract_frames(root_pos, root_quat, asset.body_pos[:, bodies], asset.body_quat[:, bodies])
    parts = [pos, world.policy_quat(quat)]
    if include_vel:
        parts += [rotate_back(root_quat, asset.body_lin_vel_w[:, bodies])]
        parts += [rotate_back(root_quat, asset.body_ang_vel_w[:, bodies])]
    return flat(joined(*parts))


# --- stack


@observation_term("cube_positions_in_world_frame", "stack", needs=("objects",))
def cube_positions_in_world_frame(
    world: World, cube_1_cfg: Entity = CUBES[0], cube_2_cfg: Entity = CUBES[1], cube_3_cfg: Entity = CUBES[2]
) -> Array:
    """[m], cube by cube."""
    return joined(*(world.asset(cube.name).root_pos for cube in (cube_1_cfg, cube_2_cfg, cube_3_cfg)))


@observation_term("cube_orientations_in_world_frame", "stack", needs=("objects",))
def cube_orientations_in_world_frame(
    world: World, cube_1_cfg: Entity = CUBES[0], cube_2_cfg: Entity = CUBES[1], cube_3_cfg: Entity = CUBES[2]
) -> Array:
    """Cube by cube."""
    cubes = (cube_1_cfg, cube_2_cfg, cube_3_cfg)
    return joined(*(world.policy_quat(world.asset(cube.name).root_quat) for cube in cubes))


@observation_term("object_obs", "stack", needs=("objects",))
def stack_object_obs(
    world: World,
    cube_1_cfg: Entity = CUBES[0],
    cube_2_cfg: Entity = CUBES[1],
    cube_3_cfg: Entity = CUBES[2],
    ee_frame_cfg: Entity = EE_FRAME,
) -> Array:
    """Poses of three cubes, the way from the gripper to each, and between them."""
    cubes = [world.asset(cube.name) for cube in (cube_1_cfg, cube_2_cfg, cube_3_cfg)]
    hand, _ = frame(world, ee_frame_cfg.name)
    poses = [part for cube in cubes for part in (cube.root_pos, world.policy_quat(cube.root_quat))]
    ways = [cube.root_pos - hand for cube in cubes]
    between = [cubes[a].root_pos - cubes[b].root_pos for a, b in ((0, 1), (1, 2), (0, 2))]
    return joined(*poses, *ways, *between)


@observation_term("ee_frame_pos", "stack")
def ee_frame_pos(world: World, ee_frame_cfg: Entity = EE_FRAME) -> Array:
    """Of the first target [m]."""
    return frame(world, ee_frame_cfg.name)[0]


@observation_term("ee_frame_quat", "stack")
def ee_frame_quat(world: World, ee_frame_cfg: Entity = EE_FRAME) -> Array:
    """Of the first target."""
    return world.policy_quat(frame(world, ee_frame_cfg.name)[1])


def gripper_joints(world: World) -> Array:
    """Columns of the joints that the task's config names as the gripper's."""
    if world.contract.extras.get("surface_grippers"):
        raise InputError("E124", "gripper", "surface grippers are not simulated here")
    patterns = world.contract.extras.get("gripper_joint_names")
    if not patterns:
        raise InputError("E122", "gripper_joint_names", "the task's config does not name the gripper's joints")
    names = world.layout.joint_names
    matched = match_names(tuple(patterns), names, "gripper_joint_names")
    return np.array([names.index(name) for name in matched], dtype=int)


def gripper_open(world: World, atol: float, rtol: float) -> Array:
    """Whether every jaw is at its open value."""
    value = float(world.contract.extras["gripper_open_val"])
    return all_of(np.isclose(world.robot.joint_pos[:, gripper_joints(world)], value, atol=atol, rtol=rtol))


@observation_term("gripper_pos", "stack")
def gripper_pos(world: World, robot_cfg: Entity = ROBOT) -> Array:
    """One jaw, or two with the second mirrored [m or rad]."""
    columns = gripper_joints(world)
    pos = world.robot.joint_pos[:, columns]
    if len(columns) == 1:
        return pos
    if len(columns) != 2:
        raise InputError("E122", "gripper_joint_names", f"{len(columns)} gripper joints, one or two are expected")
    return pos * np.array([1.0, -1.0])


@observation_term("object_grasped", "stack", needs=("objects",))
def object_grasped(
    world: World, robot_cfg: Entity, ee_frame_cfg: Entity, object_cfg: Entity, diff_threshold: float = 0.06
) -> Array:
    """Whether the hand is at the object and every jaw has left its open position."""
    hand, _ = frame(world, ee_frame_cfg.name)
    near = np.linalg.norm(world.asset(object_cfg.name).root_pos - hand, axis=1) < diff_threshold
    extras = world.contract.extras
    travel = np.abs(world.robot.joint_pos[:, gripper_joints(world)] - float(extras["gripper_open_val"]))
    return (near & (travel > float(extras["gripper_threshold"])).all(axis=1))[:, None]


@observation_term("object_stacked", "stack", needs=("objects",))
def object_stacked(
    world: World,
    robot_cfg: Entity,
    upper_object_cfg: Entity,
    lower_object_cfg: Entity,
    xy_threshold: float = 0.05,
    height_threshold: float = 0.005,
    height_diff: float = 0.0468,
) -> Array:
    """Whether one object stands on another and the gripper is open."""
    way = world.asset(upper_object_cfg.name).root_pos - world.asset(lower_object_cfg.name).root_pos
    above = np.abs(way[:, 2]) - height_diff < height_threshold
    stacked = (np.linalg.norm(way[:, :2], axis=1) < xy_threshold) & above
    return (stacked & gripper_open(world, 1e-4, 1e-4))[:, None]


# --- cabinet


@observation_term("rel_ee_drawer_distance", "cabinet", needs=("objects",))
def rel_ee_drawer_distance(world: World) -> Array:
    """From the hand to the drawer's handle, world axes [m]."""
    return frame(world, "cabinet_frame")[0] - frame(world, "ee_frame")[0]


@observation_term("ee_pos", "cabinet")
def ee_pos(world: World) -> Array:
    """Of the hand [m]."""
    return frame(world, "ee_frame")[0]


@observation_term("ee_quat", "cabinet")
def ee_quat(world: World, make_quat_unique: bool = True) -> Array:
    """Of the hand."""
    quat = frame(world, "ee_frame")[1]
    return world.policy_quat(unique(quat) if make_quat_unique else quat)


@observation_term("fingertips_pos", "cabinet")
def fingertips_pos(world: World) -> Array:
    """Of the targets after the first [m]."""
    sensor: FrameTransformer = world.sensor("ee_frame", FrameTransformer)
    return joined(*(sensor.target(world, index)[0] for index in range(1, sensor.count)))


# --- pick and place


def body_index(world: World, name: str) -> int:
    """Column of one of the robot's links."""
    names = world.layout.body_names
    if name not in names:
        raise InputError("E101", f"link {name}", f"the robot has no link {name!r}")
    return names.index(name)


@observation_term("get_eef_pos", "pick_place")
def get_eef_pos(world: World, link_name: str) -> Array:
    """Of a link [m]."""
    return world.robot.body_pos[:, body_index(world, link_name)]


@observation_term("get_eef_quat", "pick_place")
def get_eef_quat(world: World, link_name: str) -> Array:
    """Of a link."""
    return world.policy_quat(world.robot.body_quat[:, body_index(world, link_name)])


@observation_term("get_robot_joint_state", "pick_place")
def get_robot_joint_state(world: World, joint_names: Sequence[str]) -> Array:
    """Positions of the matching joints, in the articulation's order [rad or m]."""
    names = world.layout.joint_names
    matched = match_names(tuple(joint_names), names, "get_robot_joint_state")
    return world.robot.joint_pos[:, [names.index(name) for name in matched]]


@observation_term("get_all_robot_link_state", "pick_place")
def get_all_robot_link_state(world: World) -> Array:
    """(env_count, links, 13): pose and velocity of every link's origin."""
    robot = world.robot
    quat = world.policy_quat(robot.body_quat)
    return joined(robot.body_pos, quat, robot.body_link_lin_vel_w, robot.body_ang_vel_w)


@observation_term("object_obs", "pick_place", needs=("objects",))
def pick_place_object_obs(world: World, left_eef_link_name: str, right_eef_link_name: str) -> Array:
    """The object's pose, and the way to it from both hands."""
    other, robot = world.asset("object"), world.robot
    hands = [robot.body_pos[:, body_index(world, name)] for name in (left_eef_link_name, right_eef_link_name)]
    ways = [other.root_pos - hand for hand in hands]
    return joined(other.root_pos, world.policy_quat(other.root_quat), *ways)


# --- in hand


@observation_term("goal_quat_diff", "reorient", "inhand", needs=("objects",))
def goal_quat_diff(world: World, asset_cfg: Entity, command_name: str, make_quat_unique: bool) -> Array:
    """object · goal⁻¹."""
    goal = world.command(command_name).value[:, 3:]
    quat = multiply(world.asset(asset_cfg.name).root_quat, conjugate(goal))
    return world.policy_quat(unique(quat) if make_quat_unique else quat)


@observation_term("fingertip_pos", "reorient", "inhand")
def fingertip_pos(world: World, asset_cfg: Entity) -> Array:
    """Of bodies [m]."""
    return flat(world.asset(asset_cfg.name).body_pos[:, asset_cfg.bodies])


@observation_term("fingertip_vel", "reorient", "inhand")
def fingertip_vel(world: World, asset_cfg: Entity) -> Array:
    """Of the centres of mass of bodies, and their angular velocity, world axes."""
    asset = world.asset(asset_cfg.name)
    return flat(joined(asset.body_lin_vel_w[:, asset_cfg.bodies], asset.body_ang_vel_w[:, asset_cfg.bodies]))


# --- gears

GEARS = ("gear_small", "gear_medium", "gear_large")


def active_gear(world: World) -> Array:
    """Index into GEARS per environment: which gear this episode is about, as the scene's events drew it."""
    drawn = world.drawn.get("gear_type")
    if drawn is None:
        raise InputError("E124", "gear type", "the task has no event randomize_gear_type that chooses a gear")
    return drawn


@observation_term("gear_shaft_pos_w", "deploy", needs=("objects",))
def gear_shaft_pos_w(
    world: World,
    asset_cfg: Entity = Entity("factory_gear_base", slice(None), slice(None)),  # noqa: B008 - frozen
    gear_offsets: Mapping[str, Any] | None = None,
) -> Array:
    """Where the active gear's shaft is [m]."""
    if gear_offsets is None:
        raise InputError("E122", "gear_shaft_pos_w", "gear_offsets is not given")
    offsets = np.array([gear_offsets[name] for name in GEARS], dtype=float)[active_gear(world)]
    base = world.asset(asset_cfg.name)
    return base.root_pos + rotate(base.root_quat, offsets)


@observation_term("gear_shaft_quat_w", "deploy", needs=("objects",))
def gear_shaft_quat_w(
    world: World,
    asset_cfg: Entity = Entity("factory_gear_base", slice(None), slice(None)),  # noqa: B008 - frozen
) -> Array:
    """Orientation of the gears' base, w ≥ 0."""
    return world.policy_quat(unique(world.asset(asset_cfg.name).root_quat))


def gear_pose(world: World) -> tuple[Array, Array]:
    """Of the active gear [m]."""
    gears = [world.asset(f"factory_{name}") for name in GEARS]
    rows, chosen = np.arange(world.env_count), active_gear(world)
    pos, quat = (
        np.stack([gear.root_pos for gear in gears], axis=1),
        np.stack([gear.root_quat for gear in gears], axis=1),
    )
    return pos[rows, chosen], quat[rows, chosen]


@observation_term("gear_pos_w", "deploy", needs=("objects",))
def gear_pos_w(world: World) -> Array:
    """Of the active gear [m]."""
    return gear_pose(world)[0]


@observation_term("gear_quat_w", "deploy", needs=("objects",))
def gear_quat_w(world: World) -> Array:
    """Of the active gear, w ≥ 0."""
    return world.policy_quat(unique(gear_pose(world)[1]))
