"""Commands: what the policy is asked to do, drawn anew from time to time (`isaaclab.envs.mdp.commands`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import (
    Array,
    axis_angle,
    combine_frames,
    conjugate,
    multiply,
    quat_from_euler,
    rotate_back,
    uniform,
    unique,
    wrap_to_pi,
    yaw_quat,
)
from isaaclab_mirror.adapter.registry import command_term
from isaaclab_mirror.adapter.world import World
from isaaclab_mirror.contract.contract import Term
from isaaclab_mirror.diagnostics import InputError

Rows = Array | slice


class Command:
    """One command term. `value` is (env_count, size), quaternions in it wxyz."""

    size = 0
    quat_at: int | None = None
    """Where a quaternion begins in `value`."""

    def __init__(self, term: Term, world: World) -> None:
        self.name = term.name
        self.config: Mapping[str, Any] = term.params
        self.rng = world.rng
        self.value = np.zeros((world.env_count, self.size))
        self.time_left = np.zeros(world.env_count)
        self.count = np.zeros(world.env_count, dtype=int)
        """Draws in this episode."""
        self.fixed = np.zeros(world.env_count, dtype=bool)
        bounds = self.config.get("resampling_time_range") or (np.inf, np.inf)
        self._bounds = (float(bounds[0]), float(bounds[1]))

    def reset(self, world: World, env_ids: Rows) -> None:
        """Draw for a new episode; the first observation sees it before any update."""
        rows = np.arange(len(self.fixed))[env_ids]
        self.count[rows] = 0
        self._draw(world, rows)

    def compute(self, world: World, dt: float) -> None:
        """Once per policy step, after resets."""
        self.measure(world)
        self.time_left -= dt
        if self.fixed.all():
            return
        rows = np.flatnonzero((self.time_left <= 0.0) & ~self.fixed)
        if len(rows):
            self._draw(world, rows)
        if self.fixed.any():
            kept = self.value[self.fixed].copy()
            self.update(world)
            self.value[self.fixed] = kept
        else:
            self.update(world)

    def _draw(self, world: World, rows: Array) -> None:
        low, high = self._bounds
        self.time_left[rows] = uniform(self.rng, self._bounds, len(rows)) if np.isfinite(high) else low
        kept = self.value[rows].copy()
        self.resample(world, rows)
        fixed = self.fixed[rows]
        self.value[rows[fixed]] = kept[fixed]
        self.count[rows] += 1

    def fix(self, values: Any, env_ids: Rows) -> None:
        """Hold these values: nothing is drawn or updated any more."""
        row = np.asarray(values, dtype=float)
        if row.shape[-1:] != (self.size,):
            raise InputError("E122", f"command {self.name}", f"{row.shape} values for a command of {self.size}")
        self.value[env_ids] = row
        self.fixed[env_ids] = True

    def observed(self, world: World) -> Array:
        """As the policy sees it: quaternions in its own order."""
        if self.quat_at is None or world.contract.quat_order == "wxyz":
            return self.value
        start, stop = self.quat_at, self.quat_at + 4
        quat = world.policy_quat(self.value[:, start:stop])
        return np.concatenate([self.value[:, :start], quat, self.value[:, stop:]], axis=-1)

    def resample(self, world: World, rows: Array) -> None:
        """Draw `value` of these environments."""
        raise InputError("E122", f"command {self.name}", f"{type(self).__name__} draws nothing")

    def update(self, world: World) -> None:
        """Follow the state, every policy step."""

    def measure(self, world: World) -> None:
        """Look at how well it is followed, every policy step, before it changes."""

    def succeeded(self, world: World) -> Array:
        """Whether the goal is reached, (env_count,)."""
        raise InputError("E122", f"command {self.name}", f"{type(self).__name__} has no success")


def bounds_of(config: Mapping[str, Any], key: str, where: str) -> tuple[float, float]:
    """A range of the command's config."""
    ranges: Mapping[str, Any] = config.get("ranges") or {}
    found = ranges.get(key)
    if found is None:
        raise InputError("E122", f"command {where}.ranges.{key}", "no range is given")
    return float(found[0]), float(found[1])


@command_term("NullCommand")
class NullCommand(Command):
    """Nothing."""

    def resample(self, world: World, rows: Array) -> None:
        """Nothing."""


@command_term("UniformVelocityCommand")
class UniformVelocityCommand(Command):
    """vx, vy [m/s] and ωz [rad/s] in the body frame; ωz may steer to a heading; some environments stand."""

    size = 3

    def __init__(self, term: Term, world: World) -> None:
        super().__init__(term, world)
        count = world.env_count
        self.heading_target = np.zeros(count)
        self.heads = np.zeros(count, dtype=bool)
        self.stands = np.zeros(count, dtype=bool)
        self._steers = bool(self.config.get("heading_command", False))

    def resample(self, world: World, rows: Array) -> None:
        """Uniform in the ranges."""
        for column, key in enumerate(("lin_vel_x", "lin_vel_y", "ang_vel_z")):
            self.value[rows, column] = uniform(self.rng, bounds_of(self.config, key, self.name), len(rows))
        if self._steers:
            self.heading_target[rows] = uniform(self.rng, bounds_of(self.config, "heading", self.name), len(rows))
            self.heads[rows] = self.rng.random(len(rows)) <= float(self.config.get("rel_heading_envs", 1.0))
        self.stands[rows] = self.rng.random(len(rows)) <= float(self.config.get("rel_standing_envs", 0.0))

    def update(self, world: World) -> None:
        """Steer to the heading; stand."""
        if self._steers:
            error = wrap_to_pi(self.heading_target - world.robot.heading)
            turn = float(self.config.get("heading_control_stiffness", 1.0)) * error
            low, high = bounds_of(self.config, "ang_vel_z", self.name)
            self.value[:, 2] = np.where(self.heads, np.clip(turn, low, high), self.value[:, 2])
        self.value[self.stands] = 0.0


@command_term("NormalVelocityCommand")
class NormalVelocityCommand(UniformVelocityCommand):
    """The same from normal distributions of either sign, each axis zero with some probability; no heading."""

    def __init__(self, term: Term, world: World) -> None:
        super().__init__(term, world)
        self._zero = np.zeros((world.env_count, 3), dtype=bool)

    def resample(self, world: World, rows: Array) -> None:
        """Normal, the sign flipped by chance."""
        ranges: Mapping[str, Any] = self.config["ranges"]
        mean, std = np.asarray(ranges["mean_vel"]), np.asarray(ranges["std_vel"])
        sign = np.where(self.rng.random((len(rows), 3)) <= 0.5, 1.0, -1.0)
        self.value[rows] = sign * (mean + std * self.rng.standard_normal((len(rows), 3)))
        self._zero[rows] = self.rng.random((len(rows), 3)) <= np.asarray(ranges["zero_prob"])
        self.stands[rows] = self.rng.random(len(rows)) <= float(self.config.get("rel_standing_envs", 0.0))

    def update(self, world: World) -> None:
        """Stand; axes without a command."""
        self.value[self.stands] = 0.0
        self.value[self._zero] = 0.0


@command_term("UniformPoseCommand")
class UniformPoseCommand(Command):
    """Position [m] and orientation in the robot's root frame, held until drawn anew."""

    size = 7
    quat_at = 3

    def __init__(self, term: Term, world: World) -> None:
        super().__init__(term, world)
        self.value[:, 3] = 1.0
        self._body: int | None = None
        body = self.config.get("body_name")
        if body is not None:
            self._body = world.entity(
                {"name": world.contract.robot.name, "body_names": body}, f"command {term.name}"
            ).body

    def resample(self, world: World, rows: Array) -> None:
        """Uniform position and roll, pitch, yaw."""
        for column, key in enumerate(("pos_x", "pos_y", "pos_z")):
            self.value[rows, column] = uniform(self.rng, bounds_of(self.config, key, self.name), len(rows))
        angles = [
            uniform(self.rng, bounds_of(self.config, key, self.name), len(rows)) for key in ("roll", "pitch", "yaw")
        ]
        quat = quat_from_euler(*angles)
        self.value[rows, 3:] = unique(quat) if self.config.get("make_quat_unique") else quat

    def goal_w(self, world: World) -> tuple[Array, Array]:
        """The goal in the environment's frame."""
        robot = world.robot
        return combine_frames(robot.root_pos, robot.root_quat, self.value[:, :3], self.value[:, 3:])

    def tracked(self, world: World) -> tuple[Array, Array]:
        """Pose that should reach the goal."""
        if self._body is None:
            raise InputError("E122", f"command {self.name}", "no body_name: nothing is to reach this pose")
        return world.robot.body_pos[:, self._body], world.robot.body_quat[:, self._body]

    def errors(self, world: World) -> tuple[Array, Array]:
        """Distance [m] and angle [rad] to the goal."""
        (goal_pos, goal_quat), (pos, quat) = self.goal_w(world), self.tracked(world)
        turn = axis_angle(multiply(quat, conjugate(goal_quat)))
        return np.linalg.norm(pos - goal_pos, axis=-1), np.linalg.norm(turn, axis=-1)

    def succeeded(self, world: World) -> Array:
        """Within every threshold of the config; without one, never."""
        limits = [self.config.get(f"{key}_success_threshold") for key in ("position", "orientation")]
        if limits[0] is None and limits[1] is None:
            return np.zeros(world.env_count, dtype=bool)
        result = np.ones(world.env_count, dtype=bool)
        for error, limit in zip(self.errors(world), limits, strict=True):
            if limit is not None:
                result &= error < float(limit)
        return result


@command_term("UniformPose2dCommand")
class UniformPose2dCommand(Command):
    """A place on the ground and a heading, as the robot sees them: x, y, z [m], heading [rad]."""

    size = 4

    def __init__(self, term: Term, world: World) -> None:
        super().__init__(term, world)
        self.goal_pos = np.zeros((world.env_count, 3))
        self.goal_heading = np.zeros(world.env_count)

    def resample(self, world: World, rows: Array) -> None:
        """Uniform around the environment's origin, at the robot's default height."""
        for column, key in enumerate(("pos_x", "pos_y")):
            self.goal_pos[rows, column] = uniform(self.rng, bounds_of(self.config, key, self.name), len(rows))
        self.goal_pos[rows, 2] = world.contract.robot.pos[2]
        if not self.config.get("simple_heading"):
            self.goal_heading[rows] = uniform(self.rng, bounds_of(self.config, "heading", self.name), len(rows))
            return
        way = self.goal_pos[rows] - world.robot.root_pos[rows]
        towards = np.arctan2(way[:, 1], way[:, 0])
        away = wrap_to_pi(towards + np.pi)
        now = world.robot.heading[rows]
        nearer = np.abs(wrap_to_pi(towards - now)) < np.abs(wrap_to_pi(away - now))
        self.goal_heading[rows] = np.where(nearer, towards, away)

    def update(self, world: World) -> None:
        """Where the goal is now."""
        robot = world.robot
        self.value[:, :3] = rotate_back(yaw_quat(robot.root_quat), self.goal_pos - robot.root_pos)
        self.value[:, 3] = wrap_to_pi(self.goal_heading - robot.heading)
