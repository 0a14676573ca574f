"""Motor models: joint targets and state to effort, once per physics step, as Isaac Lab's actuator classes compute it.

float32 in Isaac Lab's order of operations, so that results agree to the last digits. Arrays are (env_count, joints of
the group). Implicit motors are the engine's own drive: what is computed here is only what Isaac Lab reports for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, clipped
from isaaclab_mirror.adapter.history import Delay
from isaaclab_mirror.adapter.registry import actuator
from isaaclab_mirror.contract.contract import ActuatorGroup

F32 = np.float32


@dataclass(slots=True)
class MotorInput:
    """Targets and measured state at one physics step."""

    position: Array
    """Target [rad or m]."""
    velocity: Array
    """Target [rad/s or m/s]."""
    effort: Array
    """Feed-forward [N·m or N]."""
    joint_pos: Array
    joint_vel: Array


def per_joint(values: tuple[float, ...], count: int, default: float) -> Array:
    """A row of the group's numbers; one number for all, or the default where there are none."""
    if not values:
        return np.full(count, default, dtype=F32)
    return np.broadcast_to(np.asarray(values, dtype=F32), (count,)).copy()


class MotorModel:
    """What all models share: PD with feed-forward, gains and limits per joint (and per environment once randomised)."""

    implicit = False

    def __init__(self, group: ActuatorGroup, env_count: int, rng: np.random.Generator) -> None:
        self.group = group
        self.env_count = env_count
        self.rng = rng
        self.joint_count = count = len(group.joints)
        self.stiffness = per_joint(group.stiffness, count, 0.0)
        self.damping = per_joint(group.damping, count, 0.0)
        self.effort_limit = per_joint(group.effort_limit, count, np.inf)
        self.velocity_limit = per_joint(group.velocity_limit, count, np.inf)

    def reset(self, env_ids: Array | slice) -> None:
        """Forget these environments' past."""

    def pd(self, now: MotorInput) -> Array:
        """kp (q* − q) + kd (v* − v) + feed-forward."""
        error = now.position - now.joint_pos
        error_vel = now.velocity - now.joint_vel
        return self.stiffness * error + self.damping * error_vel + now.effort

    def __call__(self, now: MotorInput) -> tuple[Array, Array]:
        """Effort before and after the model's bounds."""
        computed = self.pd(now)
        return computed, clipped(computed, -self.effort_limit, self.effort_limit)


@actuator("IdealPDActuator")
class IdealPD(MotorModel):
    """PD within the effort limit."""


@actuator("ImplicitActuator")
class Implicit(MotorModel):
    """The engine's drive; the numbers are telemetry."""

    implicit = True


@actuator("none")
class Passive(Implicit):
    """Joints in no group: the drive of the robot's file, target 0."""


@actuator("DCMotor")
class DCMotor(MotorModel):
    """PD within the torque-speed curve of a DC motor, in all four quadrants."""

    def __init__(self, group: ActuatorGroup, env_count: int, rng: np.random.Generator) -> None:
        super().__init__(group, env_count, rng)
        self.saturation = per_joint(group.saturation_effort, self.joint_count, np.inf)
        with np.errstate(invalid="ignore"):
            ratio = np.where(np.isfinite(self.saturation), self.effort_limit / self.saturation, F32(0.0))
        self._corner = (self.velocity_limit * (F32(1.0) + ratio)).astype(F32)
        """Speed at which the curve meets the effort limit in braking."""
        self._curved = bool(np.isfinite(self.velocity_limit).all())

    def clip(self, effort: Array, joint_vel: Array) -> Array:
        """To what the motor can give at that speed."""
        if not self._curved:
            return clipped(effort, -self.effort_limit, self.effort_limit)
        part = clipped(joint_vel, -self._corner, self._corner) / self.velocity_limit
        high = np.minimum(self.saturation * (F32(1.0) - part), self.effort_limit)
        low = np.maximum(self.saturation * (F32(-1.0) - part), -self.effort_limit)
        return clipped(effort, low, high)

    def __call__(self, now: MotorInput) -> tuple[Array, Array]:
        """Effort before and after the curve."""
        computed = self.pd(now)
        return computed, self.clip(computed, now.joint_vel)


@actuator("DelayedPDActuator")
class DelayedPD(MotorModel):
    """PD on targets that are some physics steps old; the lag is drawn per environment at each reset.

    Isaac Lab 3 runs it in Newton's kernels by default, where the lag is always the largest: `constant_delay`.
    """

    def __init__(self, group: ActuatorGroup, env_count: int, rng: np.random.Generator) -> None:
        super().__init__(group, env_count, rng)
        self.constant_delay = False
        self.delay = Delay(env_count, group.max_delay, 3 * self.joint_count)
        self._drawn = False

    def reset(self, env_ids: Array | slice) -> None:
        """Forget old targets, draw a new lag."""
        count = len(self.delay.lags[env_ids])
        low, high = self.group.min_delay, self.group.max_delay
        self.delay.reset(env_ids, high if self.constant_delay else self.rng.integers(low, high + 1, count))

    def late(self, now: MotorInput) -> MotorInput:
        """The same with old targets."""
        targets = np.concatenate([now.position, now.velocity, now.effort], axis=-1)
        position, velocity, effort = np.split(self.delay(targets), 3, axis=-1)
        return MotorInput(position, velocity, effort, now.joint_pos, now.joint_vel)

    def __call__(self, now: MotorInput) -> tuple[Array, Array]:
        """Effort before and after the limit."""
        return super().__call__(self.late(now))


@actuator("RemotizedPDActuator")
class RemotizedPD(DelayedPD):
    """Delayed PD whose torque limit is a table over the joint's angle, constant beyond its ends."""

    def __init__(self, group: ActuatorGroup, env_count: int, rng: np.random.Generator) -> None:
        super().__init__(group, env_count, rng)
        rows = np.asarray(group.lookup, dtype=float)
        order = np.argsort(rows[:, 0], kind="stable")
        self._angles, self._torques = rows[order, 0], rows[order, 2]

    def __call__(self, now: MotorInput) -> tuple[Array, Array]:
        """Effort before and after the table."""
        computed = self.pd(self.late(now))
        limit: Array = np.asarray(np.interp(now.joint_pos, self._angles, self._torques), dtype=F32)
        return computed, clipped(computed, -limit, limit)
