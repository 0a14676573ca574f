"""Terminations that tasks define: objects out of bounds, cubes stacked, a terrain's edge."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, any_of, rotate
from isaaclab_mirror.adapter.object_observations import CUBES, EE_FRAME, OBJECT, body_index, frame, gripper_open
from isaaclab_mirror.adapter.registry import termination_term
from isaaclab_mirror.adapter.world import ROBOT, Entity, World


@termination_term("terrain_out_of_bounds", "velocity.mdp")
def terrain_out_of_bounds(world: World, asset_cfg: Entity = ROBOT, distance_buffer: float = 3.0) -> Array:
    """Near the edge of generated terrain; a plane has none."""
    terrain = world.contract.sim.terrain
    if terrain.kind != "generator":
        return np.zeros(world.env_count, dtype=bool)
    config = terrain.config.get("terrain_generator") or terrain.config
    border = 2.0 * float(config["border_width"])
    sides = np.array([config["num_rows"] * config["size"][0] + border, config["num_cols"] * config["size"][1] + border])
    return any_of(np.abs(world.asset(asset_cfg.name).root_pos[:, :2]) > 0.5 * sides - distance_buffer)


@termination_term("out_of_bound", "core.lift", needs=("objects",))
def out_of_bound(
    world: World, asset_cfg: Entity = OBJECT, in_bound_range: Mapping[str, Sequence[float]] | None = None
) -> Array:
    """The object left a box, or is not finite."""
    asset = world.asset(asset_cfg.name)
    ranges = in_bound_range or {}
    bounds = np.array([ranges.get(key, (0.0, 0.0)) for key in "xyz"], dtype=float)
    broken = ~np.isfinite(asset.root_pos).all(axis=1) | ~np.isfinite(asset.root_lin_vel_w).all(axis=1)
    return broken | any_of((asset.root_pos < bounds[:, 0]) | (asset.root_pos > bounds[:, 1]))


@termination_term("abnormal_robot_state", "core.lift")
def abnormal_robot_state(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """A joint is more than twice as fast as the solver allows."""
    return joint_speeds_beyond(world, asset_cfg, 2.0)


@termination_term("joint_vel_out_of_sim_limit", "core.lift")
def joint_vel_out_of_sim_limit(world: World, asset_cfg: Entity = ROBOT) -> Array:
    """A joint is faster than the solver allows."""
    return joint_speeds_beyond(world, asset_cfg, 1.0)


def joint_speeds_beyond(world: World, asset_cfg: Entity, factor: float) -> Array:
    """Against the solver's limits."""
    limits = world.defaults.solver_velocity_limits[asset_cfg.joints] * factor
    return any_of(np.abs(world.asset(asset_cfg.name).joint_vel[:, asset_cfg.joints]) > limits)


@termination_term("ee_below_minimum", "core.lift")
def ee_below_minimum(world: World, minimum_height: float, ee_frame_cfg: Entity = EE_FRAME) -> Array:
    """The hand is lower than [m]."""
    return frame(world, ee_frame_cfg.name)[0][:, 2] < minimum_height


@termination_term("object_reached_goal", "lift", needs=("objects",))
def object_reached_goal(
    world: World,
    command_name: str = "object_pose",
    threshold: float = 0.02,
    robot_cfg: Entity = ROBOT,
    object_cfg: Entity = OBJECT,
) -> Array:
    """The object is at the commanded position."""
    robot = world.asset(robot_cfg.name)
    goal = robot.root_pos + rotate(robot.root_quat, world.command(command_name).value[:, :3])
    return np.linalg.norm(goal - world.asset(object_cfg.name).root_pos, axis=1) < threshold


@termination_term("object_away_from_goal", "reorient", "inhand", needs=("objects",))
def object_away_from_goal(world: World, threshold: float, command_name: str, object_cfg: Entity = OBJECT) -> Array:
    """The object left the hand."""
    way = world.asset(object_cfg.name).root_pos - world.command(command_name).value[:, :3]
    return np.linalg.norm(way, axis=1) > threshold


@termination_term("cubes_stacked", "stack", needs=("objects",))
def cubes_stacked(
    world: World,
    robot_cfg: Entity = ROBOT,
    cube_1_cfg: Entity = CUBES[0],
    cube_2_cfg: Entity = CUBES[1],
    cube_3_cfg: Entity | None = CUBES[2],
    xy_threshold: float = 0.04,
    height_threshold: float = 0.005,
    height_diff: float = 0.0468,
    atol: float = 0.0001,
    rtol: float = 0.0001,
    max_lin_vel: float | None = 0.05,
) -> Array:
    """Cubes one on another, released and at rest."""
    cubes = [world.asset(cube.name) for cube in (cube_1_cfg, cube_2_cfg, cube_3_cfg) if cube is not None]
    stacked = gripper_open(world, atol, rtol)
    for lower, upper in itertools.pairwise(cubes):
        way = lower.root_pos - upper.root_pos
        stacked &= np.linalg.norm(way[:, :2], axis=1) < xy_threshold
        stacked &= (np.abs(way[:, 2]) - height_diff < height_threshold) & (way[:, 2] < 0.0)
    if max_lin_vel is not None:
        for cube in cubes:
            stacked &= np.linalg.norm(cube.root_lin_vel_w, axis=1) < max_lin_vel
    return stacked


@termination_term("task_done_pick_place", "pick_place", needs=("objects",))
def task_done_pick_place(
    world: World,
    task_link_name: str,
    object_cfg: Entity = OBJECT,
    right_wrist_max_x: float = 0.26,
    min_x: float = 0.40,
    max_x: float = 0.85,
    min_y: float = 0.35,
    max_y: float = 0.60,
    max_height: float = 1.10,
    min_vel: float = 0.20,
) -> Array:
    """The object rests in a box of the table and the wrist is back."""
    asset = world.asset(object_cfg.name)
    x, y, z = asset.root_pos.T
    wrist = world.robot.body_pos[:, body_index(world, task_link_name), 0]
    inside = (x > min_x) & (x < max_x) & (y > min_y) & (y < max_y) & (z < max_height)
    return inside & (wrist < right_wrist_max_x) & (np.abs(asset.root_lin_vel_w) < min_vel).all(axis=1)
