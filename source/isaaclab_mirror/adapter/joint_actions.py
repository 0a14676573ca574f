"""Joint actions: the policy's numbers to position, velocity and effort targets (`isaaclab.envs.mdp.actions`).

`process` runs once per policy step, `apply` in every physics step: relative targets creep over the decimation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, clipped, heading
from isaaclab_mirror.adapter.registry import action_term
from isaaclab_mirror.adapter.world import World
from isaaclab_mirror.contract.contract import ActionTerm
from isaaclab_mirror.contract.matching import match_names, match_values
from isaaclab_mirror.diagnostics import InputError

F32 = np.float32


@dataclass(slots=True, eq=False)
class Targets:
    """What the actuators are told, (env_count, joints) in the policy's order; joints no term commands stay at 0."""

    position: Array
    velocity: Array
    effort: Array
    tendons: dict[str, Array] = field(default_factory=dict[str, Array])
    """Position targets of fixed tendons by name, (env_count,)."""

    @staticmethod
    def zeros(env_count: int, joints: int) -> Targets:
        """As Isaac Lab's buffers start: zero, not the default pose."""
        position, velocity, effort = (np.zeros((env_count, joints), dtype=F32) for _ in range(3))
        return Targets(position, velocity, effort)


class Action:
    """One action term: takes `size` numbers of the action vector."""

    reads_state = False
    """Whether `apply` must see the state of every physics step."""

    def __init__(self, term: ActionTerm, world: World) -> None:
        self.term = term
        self.name = term.name
        names = world.layout.joint_names
        self.joint_names = term.joints or self._matched(term, names)
        self.joints = np.array([self._index(name, names) for name in self.joint_names], dtype=int)
        self.size = self.value_count()
        self.raw = np.zeros((world.env_count, self.size), dtype=F32)
        self.processed: Array = np.zeros((world.env_count, self.size), dtype=F32)
        self.scale = self._values(term.scale, 1.0)
        self.offset = self.find_offset(world)
        self.bounds = np.asarray(term.clip, dtype=F32).reshape(-1, 2).T if term.clip else None

    def _matched(self, term: ActionTerm, names: tuple[str, ...]) -> tuple[str, ...]:
        if not term.joint_patterns:
            return ()
        where = f"action {term.name}"
        return match_names(term.joint_patterns, names, where, preserve_order=term.preserve_order)

    def _index(self, name: str, names: tuple[str, ...]) -> int:
        if name not in names:
            raise InputError("E101", f"action {self.name}", f"the robot has no joint {name!r}")
        return names.index(name)

    def _values(self, values: tuple[float, ...], default: float) -> Array:
        if not values:
            return np.full(self.size, default, dtype=F32)
        return np.broadcast_to(np.asarray(values, dtype=F32), (self.size,)).copy()

    def value_count(self) -> int:
        """Numbers taken from the action vector."""
        return len(self.joint_names)

    def find_offset(self, world: World) -> Array:
        """Added after the scale."""
        return self._values(self.term.offset, 0.0)

    def reset(self, world: World, env_ids: Array | slice) -> None:
        """Raw actions are 0 after a reset; the processed ones stay until the next step."""
        self.raw[env_ids] = 0.0

    def process(self, world: World, values: Array) -> None:
        """raw · scale + offset, then clip."""
        self.raw[:] = values
        self.processed = self.raw * self.scale + self.offset
        if self.bounds is not None:
            self.processed = clipped(self.processed, self.bounds[0], self.bounds[1])

    def apply(self, world: World, targets: Targets) -> None:
        """Write the targets of one physics step."""
        raise NotImplementedError


@action_term("JointPositionAction")
class JointPosition(Action):
    """Position targets around the default pose."""

    def find_offset(self, world: World) -> Array:
        """The default pose, unless the config says another."""
        if self.term.use_default_offset and not self.term.offset:
            return world.defaults.joint_pos[self.joints].astype(F32)
        return super().find_offset(world)

    def apply(self, world: World, targets: Targets) -> None:
        """Held over the decimation."""
        targets.position[:, self.joints] = self.processed


@action_term("JointVelocityAction")
class JointVelocity(Action):
    """Velocity targets."""

    def find_offset(self, world: World) -> Array:
        """The default velocity, unless the config says another."""
        if self.term.use_default_offset and not self.term.offset:
            return world.defaults.joint_vel[self.joints].astype(F32)
        return super().find_offset(world)

    def apply(self, world: World, targets: Targets) -> None:
        """Held over the decimation."""
        targets.velocity[:, self.joints] = self.processed


@action_term("JointEffortAction")
class JointEffort(Action):
    """Efforts."""

    def apply(self, world: World, targets: Targets) -> None:
        """Held over the decimation."""
        targets.effort[:, self.joints] = self.processed


@action_term("RelativeJointPositionAction")
class RelativeJointPosition(Action):
    """Position targets relative to where the joint is now, read anew in every physics step."""

    reads_state = True

    def find_offset(self, world: World) -> Array:
        """None where `use_zero_offset` is on (the default)."""
        if self.term.params.get("use_zero_offset", True):
            return np.zeros(self.size, dtype=F32)
        return super().find_offset(world)

    def apply(self, world: World, targets: Targets) -> None:
        """From the position of this physics step."""
        targets.position[:, self.joints] = self.processed + world.robot.joint_pos[:, self.joints].astype(F32)


@action_term("JointPositionToLimitsAction")
class JointPositionToLimits(Action):
    """−1 … 1 over the soft limits."""

    def process(self, world: World, values: Array) -> None:
        """Scale, clip, then stretch over the limits."""
        self.raw[:] = values
        processed = self.raw * self.scale
        if self.bounds is not None:
            processed = clipped(processed, self.bounds[0], self.bounds[1])
        if self.term.params.get("rescale_to_limits", True):
            low, high = self._limits(world)
            processed = clipped(processed, F32(-1.0), F32(1.0)) * ((high - low) * F32(0.5)) + (low + high) * F32(0.5)
        self.processed = processed.astype(F32)

    def _limits(self, world: World) -> tuple[Array, Array]:
        limits = world.defaults.soft_limits[self.joints].astype(F32)
        return limits[:, 0], limits[:, 1]

    def apply(self, world: World, targets: Targets) -> None:
        """Held over the decimation."""
        targets.position[:, self.joints] = self.processed


@action_term("EMAJointPositionToLimitsAction")
class EMAJointPositionToLimits(JointPositionToLimits):
    """The same, as a moving average α·new + (1 − α)·last, within the soft limits; begins at the joint's position."""

    def __init__(self, term: ActionTerm, world: World) -> None:
        super().__init__(term, world)
        self._alpha = self._alphas(term.params.get("alpha", 1.0))
        self._last: Array = np.zeros((world.env_count, self.size), dtype=F32)

    def _alphas(self, alpha: Any) -> Array:
        if isinstance(alpha, int | float):
            return np.full(self.size, alpha, dtype=F32)
        found = match_values(dict(alpha), self.joint_names, f"action {self.name}.alpha")
        return np.array([found.get(name, 1.0) for name in self.joint_names], dtype=F32)

    def reset(self, world: World, env_ids: Array | slice) -> None:
        """Begin at the joint's position."""
        super().reset(world, env_ids)
        self._last[env_ids] = world.robot.joint_pos[env_ids][:, self.joints]

    def process(self, world: World, values: Array) -> None:
        """Average, then within the limits."""
        super().process(world, values)
        low, high = self._limits(world)
        mixed = self._alpha * self.processed + (F32(1.0) - self._alpha) * self._last
        self.processed = clipped(mixed, low, high)
        self._last[:] = self.processed


@action_term("BinaryJointPositionAction")
class BinaryJointPosition(Action):
    """One number: negative closes, else opens."""

    def __init__(self, term: ActionTerm, world: World) -> None:
        super().__init__(term, world)
        self._open = self._command("open_command_expr")
        self._close = self._command("close_command_expr")
        self.processed = np.zeros((world.env_count, len(self.joint_names)), dtype=F32)

    def value_count(self) -> int:
        """One for all joints."""
        return 1

    def _command(self, key: str) -> Array:
        found = match_values(dict(self.term.params.get(key) or {}), self.joint_names, f"action {self.name}.{key}")
        missing = [name for name in self.joint_names if name not in found]
        if missing:
            raise InputError("E122", f"action {self.name}.{key}", f"no value for joint {missing[0]!r}")
        return np.array([found[name] for name in self.joint_names], dtype=F32)

    def closes(self) -> Array:
        """Which environments close."""
        return self.raw[:, :1] < 0.0

    def process(self, world: World, values: Array) -> None:
        """Choose, then clip."""
        self.raw[:] = values
        self.processed = np.where(self.closes(), self._close, self._open)
        if self.bounds is not None:
            self.processed = clipped(self.processed, self.bounds[0], self.bounds[1])

    def apply(self, world: World, targets: Targets) -> None:
        """Held over the decimation."""
        targets.position[:, self.joints] = self.processed


@action_term("BinaryJointVelocityAction")
class BinaryJointVelocity(BinaryJointPosition):
    """The same for velocity targets."""

    def apply(self, world: World, targets: Targets) -> None:
        """Held over the decimation."""
        targets.velocity[:, self.joints] = self.processed


@action_term("AbsBinaryJointPositionAction")
class AbsBinaryJointPosition(BinaryJointPosition):
    """One number against a threshold: above it opens (or below, with positive_threshold off)."""

    def closes(self) -> Array:
        """Which environments close."""
        threshold = float(self.term.params.get("threshold", 0.5))
        if self.term.params.get("positive_threshold", True):
            return ~(self.raw[:, :1] > threshold)
        return ~(self.raw[:, :1] < threshold)


@action_term("NonHolonomicAction")
class NonHolonomic(Action):
    """Forward and turning speed of a base whose x, y and yaw are joints."""

    reads_state = True

    def __init__(self, term: ActionTerm, world: World) -> None:
        super().__init__(term, world)
        keys = ("x_joint_name", "y_joint_name", "yaw_joint_name")
        names = world.layout.joint_names
        self.joints = np.array([self._index(str(term.params[key]), names) for key in keys], dtype=int)
        self._body = world.layout.body_names.index(str(term.params["body_name"]))

    def value_count(self) -> int:
        """Forward and turn."""
        return 2

    def apply(self, world: World, targets: Targets) -> None:
        """Along the body's heading of this physics step."""
        yaw = heading(world.robot.body_quat[:, self._body])
        forward, turn = self.processed.T
        targets.velocity[:, self.joints] = np.stack([np.cos(yaw) * forward, np.sin(yaw) * forward, turn], axis=-1)
