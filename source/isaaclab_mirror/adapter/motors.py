"""All motor groups of a robot: targets to what the simulator is told, once per physics step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.joint_actions import F32, Targets
from isaaclab_mirror.adapter.motor_models import DelayedPD, MotorInput, MotorModel
from isaaclab_mirror.adapter.registry import ACTUATORS
from isaaclab_mirror.adapter.world import World
from isaaclab_mirror.contract.contract import ActuatorGroup, ActuatorKind

Index = Array | slice


@dataclass(frozen=True, slots=True, eq=False)
class Commands:
    """What the simulator is told in one physics step, (env_count, joints) in the simulator's order.

    Joints with an explicit motor have their effort here and zero gains in the simulator; the others their targets.
    """

    position: Array
    """[rad or m]"""
    velocity: Array
    """[rad/s or m/s]"""
    effort: Array
    """[N·m or N]"""
    tendons: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Position targets of fixed tendons by name, (env_count,)."""


class Motors:
    """The contract's actuator groups."""

    def __init__(self, world: World) -> None:
        self._world = world
        names = world.layout.joint_names
        self.models: list[tuple[MotorModel, Index]] = []
        for group in world.contract.actuators:
            if not group.joints:
                continue
            name = group.kind if group.kind is not ActuatorKind.OTHER else group.class_type
            model: MotorModel = ACTUATORS.get(str(name), f"actuator {group.name}").make(
                group, world.env_count, world.rng
            )
            if isinstance(model, DelayedPD):
                model.constant_delay = world.contract.sim.use_newton_actuators
            columns = [names.index(joint) for joint in group.joints]
            whole = columns == list(range(len(names)))
            self.models.append((model, slice(None) if whole else np.array(columns, dtype=int)))
        self.explicit = [(model, index) for model, index in self.models if not model.implicit]
        self._back = world.layout.back
        self._known = np.flatnonzero(self._back >= 0)
        self._from = self._back[self._known]
        self._same = bool(len(self._known) == len(self._back) and (self._from == np.arange(len(self._back))).all())
        shape = (world.env_count, len(self._back))
        self._out = Commands(np.zeros(shape), np.zeros(shape), np.zeros(shape), {})
        self._effort = np.zeros((world.env_count, len(names)), dtype=F32)

    def reset(self, env_ids: Array | slice) -> None:
        """Forget these environments' past."""
        for model, _ in self.models:
            model.reset(env_ids)

    def compute(self, targets: Targets, *, telemetry: bool) -> Commands:
        """The simulator's commands from the policy's targets and the state now.

        `telemetry`: also what Isaac Lab reports for implicit motors.
        """
        effort = self._effort
        np.copyto(effort, targets.effort)
        models = self.models if telemetry else self.explicit
        if models:
            robot = self._world.robot
            joint_pos, joint_vel = robot.joint_pos.astype(F32), robot.joint_vel.astype(F32)
            for model, index in models:
                now = MotorInput(
                    targets.position[:, index],
                    targets.velocity[:, index],
                    targets.effort[:, index],
                    joint_pos[:, index],
                    joint_vel[:, index],
                )
                computed, applied = model(now)
                self._world.computed_effort[:, index] = computed
                self._world.applied_effort[:, index] = applied
                if not model.implicit:
                    effort[:, index] = applied
        out = self._out
        self._to_simulator(targets.position, out.position)
        self._to_simulator(targets.velocity, out.velocity)
        self._to_simulator(effort, out.effort)
        return replace(out, tendons=dict(targets.tendons)) if targets.tendons else out

    def _to_simulator(self, values: Array, into: Array) -> None:
        if self._same:
            into[:] = values
        else:
            into[:, self._known] = values[:, self._from]

    def implicit_gains(self) -> tuple[dict[str, float], dict[str, float]]:
        """Stiffness and damping of the simulator's own drives by joint: zero where an explicit motor acts.

        Joints in no group, and those whose gains the contract leaves open, are absent: the robot's file has them.
        """
        stiffness: dict[str, float] = {}
        damping: dict[str, float] = {}
        for model, _ in self.models:
            group = model.group
            if group.kind is ActuatorKind.PASSIVE:
                continue
            stiffness.update(gains_of(group, group.stiffness, model.implicit))
            damping.update(gains_of(group, group.damping, model.implicit))
        return stiffness, damping


def gains_of(group: ActuatorGroup, values: tuple[float, ...], implicit: bool) -> dict[str, float]:
    """Gains of one group by joint."""
    if not implicit:
        return dict.fromkeys(group.joints, 0.0)
    return dict(zip(group.joints, values, strict=True)) if values else {}
