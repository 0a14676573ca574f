"""Events: how an episode begins and what disturbs it (`isaaclab.envs.mdp.events`), as starts for the simulator.

An event of mode reset or interval changes `Drafts`; what comes out is a `sims.state.Start` per asset. Events that
change the robot itself (masses, friction, gains) are declared, and applied only on request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, multiply, quat_from_euler, random_quaternions, uniform
from isaaclab_mirror.adapter.registry import event_term
from isaaclab_mirror.adapter.world import ROBOT, Entity, World
from isaaclab_mirror.contract.contract import EntityKind
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.state import Start, State

AXES = ("x", "y", "z", "roll", "pitch", "yaw")
MOVED = (EntityKind.ARTICULATION, EntityKind.RIGID_OBJECT)


class Draft:
    """The start of one asset in some environments, (count, …), in the policy's joint order."""

    def __init__(self, count: int, joint_names: Sequence[str], joint_pos: Array, joint_vel: Array) -> None:
        self.joint_names = tuple(joint_names)
        self.pos = np.zeros((count, 3))
        self.quat = np.tile(np.array([1.0, 0.0, 0.0, 0.0]), (count, 1))
        self.lin_vel = np.zeros((count, 3))
        """Of the centre of mass, world axes."""
        self.ang_vel = np.zeros((count, 3))
        self.joint_pos = np.broadcast_to(joint_pos, (count, len(self.joint_names))).copy()
        self.joint_vel = np.broadcast_to(joint_vel, (count, len(self.joint_names))).copy()
        self.targets: Array | None = None
        """Position targets that the event sets too; None leaves them, as most events do."""

    def start(self) -> Start:
        """For the simulator."""
        return Start(
            root_pos_w=self.pos,
            root_quat_wxyz=self.quat,
            root_com_lin_vel_w=self.lin_vel,
            root_ang_vel_w=self.ang_vel,
            joint_pos=dict(zip(self.joint_names, self.joint_pos.T, strict=True)),
            joint_vel=dict(zip(self.joint_names, self.joint_vel.T, strict=True)),
        )


class Drafts:
    """Starts of the robot and of the scene's objects, drawn together."""

    def __init__(self, world: World, env_ids: Array, state: State | None = None) -> None:
        self.world = world
        self.env_ids = env_ids
        self.count = len(env_ids)
        self.rng = world.rng
        self.assets: dict[str, Draft] = {}
        self._state = state

    def of(self, name: str) -> Draft:
        """An asset's draft: as it is now where there is a state, else at its default."""
        if name not in self.assets:
            self.assets[name] = self._begin(name)
        return self.assets[name]

    def _begin(self, name: str) -> Draft:
        world = self.world
        if name == world.contract.robot.name:
            if self._state is not None:
                return self._as_it_is(self._state)
            draft = Draft(self.count, world.layout.joint_names, world.defaults.joint_pos, world.defaults.joint_vel)
            draft.pos[:], draft.quat[:] = world.contract.robot.pos, world.contract.robot.quat_wxyz
            draft.lin_vel[:], draft.ang_vel[:] = world.contract.robot.lin_vel, world.contract.robot.ang_vel
            return draft
        try:
            entity = world.contract.entity(name)
        except KeyError:
            raise InputError("E124", f"event on {name!r}", f"the scene has no {name!r}") from None
        draft = Draft(self.count, (), np.zeros(0), np.zeros(0))
        draft.pos[:], draft.quat[:] = entity.pos, entity.quat_wxyz
        return draft

    def _as_it_is(self, state: State) -> Draft:
        rows, robot = self.env_ids, self.world.robot
        names = self.world.layout.joint_names
        draft = Draft(self.count, names, robot.joint_pos[rows], robot.joint_vel[rows])
        draft.pos, draft.quat = state.root_pos_w[rows].copy(), state.root_quat_wxyz[rows].copy()
        draft.lin_vel, draft.ang_vel = state.root_com_lin_vel_w[rows].copy(), state.root_ang_vel_w[rows].copy()
        return draft

    def sample(self, ranges: Mapping[str, Any] | None, keys: Sequence[str] = AXES) -> Array:
        """(count, keys) drawn between the bounds of each key; a key without bounds is 0."""
        ranges = ranges or {}
        bounds = np.array([ranges.get(key) or (0.0, 0.0) for key in keys], dtype=float)
        return uniform(self.rng, (bounds[:, 0], bounds[:, 1]), (self.count, len(keys)))


@event_term("reset_root_state_uniform")
def reset_root_state_uniform(
    drafts: Drafts, pose_range: Mapping[str, Any], velocity_range: Mapping[str, Any], asset_cfg: Entity = ROBOT
) -> None:
    """Default pose and velocity, plus uniform."""
    draft = drafts.of(asset_cfg.name)
    default = Drafts(drafts.world, drafts.env_ids).of(asset_cfg.name)
    pose, velocity = drafts.sample(pose_range), drafts.sample(velocity_range)
    draft.pos = default.pos + pose[:, :3]
    draft.quat = multiply(default.quat, quat_from_euler(*pose[:, 3:].T))
    draft.lin_vel, draft.ang_vel = default.lin_vel + velocity[:, :3], default.ang_vel + velocity[:, 3:]


@event_term("reset_root_state_with_random_orientation")
def reset_root_state_with_random_orientation(
    drafts: Drafts, pose_range: Mapping[str, Any], velocity_range: Mapping[str, Any], asset_cfg: Entity = ROBOT
) -> None:
    """The same with any orientation."""
    reset_root_state_uniform(drafts, {key: pose_range.get(key) for key in "xyz"}, velocity_range, asset_cfg)
    drafts.of(asset_cfg.name).quat = random_quaternions(drafts.rng, drafts.count)


@event_term("reset_joints_by_scale")
def reset_joints_by_scale(
    drafts: Drafts, position_range: Sequence[float], velocity_range: Sequence[float], asset_cfg: Entity = ROBOT
) -> None:
    """Default times uniform, within the soft limits."""
    defaults = drafts.world.defaults
    shape = (drafts.count, len(defaults.joint_pos[asset_cfg.joints]))
    pos = defaults.joint_pos[asset_cfg.joints] * uniform(drafts.rng, position_range, shape)
    vel = defaults.joint_vel[asset_cfg.joints] * uniform(drafts.rng, velocity_range, shape)
    put_joints(drafts, asset_cfg, pos, vel)


@event_term("reset_joints_by_offset")
def reset_joints_by_offset(
    drafts: Drafts, position_range: Sequence[float], velocity_range: Sequence[float], asset_cfg: Entity = ROBOT
) -> None:
    """Default plus uniform, within the soft limits."""
    defaults = drafts.world.defaults
    shape = (drafts.count, len(defaults.joint_pos[asset_cfg.joints]))
    pos = defaults.joint_pos[asset_cfg.joints] + uniform(drafts.rng, position_range, shape)
    vel = defaults.joint_vel[asset_cfg.joints] + uniform(drafts.rng, velocity_range, shape)
    put_joints(drafts, asset_cfg, pos, vel)


def put_joints(drafts: Drafts, asset_cfg: Entity, pos: Array, vel: Array) -> None:
    """Write joint values within the soft limits."""
    if asset_cfg.name != drafts.world.contract.robot.name:
        raise InputError("E124", f"event on {asset_cfg.name!r}", "only the robot's joints can be set")
    draft, defaults = drafts.of(asset_cfg.name), drafts.world.defaults
    low, high = defaults.soft_limits[asset_cfg.joints].T
    fastest = defaults.velocity_limits[asset_cfg.joints]
    draft.joint_pos[:, asset_cfg.joints] = np.clip(pos, low, high)
    draft.joint_vel[:, asset_cfg.joints] = np.clip(vel, -fastest, fastest)


@event_term("reset_scene_to_default")
def reset_scene_to_default(drafts: Drafts, reset_joint_targets: bool = False) -> None:
    """Every asset at its default."""
    drafts.assets.clear()
    fresh = Drafts(drafts.world, drafts.env_ids)
    contract = drafts.world.contract
    names = [contract.robot.name, *(entity.name for entity in contract.scene if entity.kind in MOVED)]
    for name in names:
        drafts.assets[name] = fresh.of(name)
    if reset_joint_targets:
        draft = drafts.of(contract.robot.name)
        draft.targets = draft.joint_pos.copy()


@event_term("push_by_setting_velocity")
def push_by_setting_velocity(drafts: Drafts, velocity_range: Mapping[str, Any], asset_cfg: Entity = ROBOT) -> None:
    """A kick: uniform on top of the root's velocity."""
    draft, kick = drafts.of(asset_cfg.name), drafts.sample(velocity_range)
    draft.lin_vel = draft.lin_vel + kick[:, :3]
    draft.ang_vel = draft.ang_vel + kick[:, 3:]
