"""Reset events that tasks define: Spot, the stack and in-hand tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import quat_from_euler, uniform
from isaaclab_mirror.adapter.events import Drafts, put_joints
from isaaclab_mirror.adapter.object_observations import gripper_joints
from isaaclab_mirror.adapter.registry import event_term
from isaaclab_mirror.adapter.world import ROBOT, Entity


@event_term("reset_joints_around_default", "config.spot")
def reset_joints_around_default(
    drafts: Drafts, position_range: Sequence[float], velocity_range: Sequence[float], asset_cfg: Entity = ROBOT
) -> None:
    """Uniform around the default, the bounds themselves within the limits."""
    defaults, draft = drafts.world.defaults, drafts.of(asset_cfg.name)
    low, high = defaults.soft_limits.T
    fastest = defaults.velocity_limits
    shape = draft.joint_pos.shape
    bounds = [np.clip(defaults.joint_pos + edge, low, high) for edge in position_range]
    speeds = [np.clip(defaults.joint_vel + edge, -fastest, fastest) for edge in velocity_range]
    draft.joint_pos = uniform(drafts.rng, bounds, shape)
    draft.joint_vel = uniform(drafts.rng, speeds, shape)


@event_term("reset_joints_shared_offset", "core.lift")
def reset_joints_shared_offset(drafts: Drafts, position_range: Sequence[float], asset_cfg: Entity) -> None:
    """One offset for all of the joints."""
    default = drafts.world.defaults.joint_pos[asset_cfg.joints]
    pos = default + uniform(drafts.rng, position_range, (drafts.count, 1))
    put_joints(drafts, asset_cfg, pos, np.zeros_like(pos))


@event_term("randomize_joint_by_gaussian_offset", "stack", "franka_stack_events")
def randomize_joint_by_gaussian_offset(drafts: Drafts, mean: float, std: float, asset_cfg: Entity = ROBOT) -> None:
    """Normal around the default but for the gripper; targets follow."""
    world, draft = drafts.world, drafts.of(asset_cfg.name)
    default = world.defaults.joint_pos
    pos = default + mean + std * drafts.rng.standard_normal(draft.joint_pos.shape)
    pos = np.clip(pos, *world.defaults.soft_limits.T)
    named = world.contract.extras.get("gripper_joint_names")
    held = slice(-2, None) if named is None else gripper_joints(world) if named else slice(0, 0)
    pos[:, held] = default[held]
    draft.joint_pos = pos
    draft.joint_vel[:] = world.defaults.joint_vel
    draft.targets = pos.copy()


@event_term("randomize_object_pose", "stack", "franka_stack_events", needs=("objects",))
def randomize_object_pose(
    drafts: Drafts,
    asset_cfgs: Sequence[Entity],
    min_separation: float = 0.0,
    pose_range: Mapping[str, Any] | None = None,
    max_sample_tries: int = 5000,
) -> None:
    """Objects anywhere in a box, apart from each other."""
    placed: list[np.ndarray[Any, Any]] = []
    for entity in asset_cfgs:
        draft = drafts.of(entity.name)
        pose = drafts.sample(pose_range)
        for _ in range(max_sample_tries - 1):
            gaps = [np.linalg.norm(pose[:, :3] - other[:, :3], axis=1) <= min_separation for other in placed]
            near = np.any(gaps, axis=0) if gaps else np.zeros(drafts.count, dtype=bool)
            if not near.any():
                break
            pose[near] = drafts.sample(pose_range)[near]
        placed.append(pose)
        draft.pos, draft.quat = pose[:, :3].copy(), quat_from_euler(*pose[:, 3:].T)
        draft.lin_vel[:], draft.ang_vel[:] = 0.0, 0.0


@event_term("reset_reorient_hand", "reorient")
def reset_reorient_hand(
    drafts: Drafts, joint_position_noise: float, joint_velocity_noise: float, robot_cfg: Entity = ROBOT
) -> None:
    """Between the default pose and anywhere within the hard limits; targets follow."""
    defaults, draft = drafts.world.defaults, drafts.of(robot_cfg.name)
    low, high = defaults.limits.T
    shape = draft.joint_pos.shape
    anywhere = low + (high - low) * drafts.rng.random(shape)
    pos = defaults.joint_pos + joint_position_noise * (anywhere - defaults.joint_pos)
    draft.joint_pos = np.clip(pos, low, high)
    draft.joint_vel = defaults.joint_vel + joint_velocity_noise * uniform(drafts.rng, (-1.0, 1.0), shape)
    draft.targets = draft.joint_pos.copy()
