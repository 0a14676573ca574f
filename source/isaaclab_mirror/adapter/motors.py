"""All motor groups of a robot: targets to what the simulator is told, once per physics step."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.joint_actions import F32, Targets
from isaaclab_mirror.adapter.motor_models import DelayedPD, MotorInput, MotorModel
from isaaclab_mirror.adapter.motor_networks import with_network
from isaaclab_mirror.adapter.registry import ACTUATORS
from isaaclab_mirror.adapter.world import World
from isaaclab_mirror.contract.contract import ActuatorGroup, ActuatorKind, Contract
from isaaclab_mirror.contract.matching import no_match

Index = Array | slice

PER_JOINT = (
    "stiffness",
    "damping",
    "effort_limit",
    "velocity_limit",
    "effort_limit_sim",
    "velocity_limit_sim",
    "armature",
    "friction",
    "dynamic_friction",
    "viscous_friction",
    "saturation_effort",
)
"""Fields of an ActuatorGroup that have one number per joint."""


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
    """The contract's actuator groups. Everything is in the simulator's joint order."""

    def __init__(self, world: World, state_joints: Sequence[str]) -> None:
        self._world = world
        self.models: list[tuple[MotorModel, Index]] = []
        for group in world.contract.actuators:
            if group.joints:
                found = with_network(group, places_of(world.contract))
                self.models.append(_model(in_order(found, state_joints), world, state_joints))
        self.explicit = [(model, index) for model, index in self.models if not model.implicit]
        back = world.layout.back
        self._known = np.flatnonzero(back >= 0)
        self._from = back[self._known]
        self._same = bool(len(self._known) == len(back) and (self._from == np.arange(len(back))).all())
        shape = (world.env_count, len(back))
        self._targets = Targets.zeros(*shape)
        self._out = Commands(np.zeros(shape), np.zeros(shape), np.zeros(shape), {})

    def reset(self, env_ids: Array | slice) -> None:
        """Forget these environments' past."""
        for model, _ in self.models:
            model.reset(env_ids)

    def take(self, targets: Targets) -> None:
        """New targets of the policy's joints, (env_count, joints) in its order."""
        ours, out = self._targets, self._out
        for values, into, told in (
            (targets.position, ours.position, out.position),
            (targets.velocity, ours.velocity, out.velocity),
            (targets.effort, ours.effort, out.effort),
        ):
            if self._same:
                into[:] = values
            else:
                into[:, self._known] = values[:, self._from]
            told[:] = into
        ours.tendons = targets.tendons

    def compute(self, *, telemetry: bool) -> Commands:
        """The simulator's commands from the targets and the state now.

        `telemetry`: also what Isaac Lab reports for implicit motors.
        """
        world, targets, out = self._world, self._targets, self._out
        models = self.models if telemetry else self.explicit
        if models:
            state = world.robot.state
            joint_pos, joint_vel = state.joint_pos.astype(F32), state.joint_vel.astype(F32)
            for model, index in models:
                now = MotorInput(
                    targets.position[:, index],
                    targets.velocity[:, index],
                    targets.effort[:, index],
                    joint_pos[:, index],
                    joint_vel[:, index],
                )
                computed, applied = model(now)
                world.computed[:, index], world.applied[:, index] = computed, applied
                if not model.implicit:
                    out.effort[:, index] = applied
        return replace(out, tendons=dict(targets.tendons)) if targets.tendons else out

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


def _model(group: ActuatorGroup, world: World, state_joints: Sequence[str]) -> tuple[MotorModel, Index]:
    name = group.kind if group.kind is not ActuatorKind.OTHER else group.class_type
    make = ACTUATORS.get(str(name), f"actuator {group.name}").make
    model: MotorModel = make(group, world.env_count, world.rng)
    if isinstance(model, DelayedPD):
        model.constant_delay = world.contract.sim.use_newton_actuators
    columns = [list(state_joints).index(joint) for joint in group.joints]
    whole = columns == list(range(len(state_joints)))
    return model, slice(None) if whole else np.array(columns, dtype=int)


def places_of(contract: Contract) -> list[Path]:
    """Where files that a config names may stand: beside it, in the run's folder, beside the robot."""
    files = [*contract.source.files, *([contract.robot.file] if contract.robot.file else [])]
    return [folder for file in files for folder in (file.parent, file.parent.parent)]


def in_order(group: ActuatorGroup, names: Sequence[str]) -> ActuatorGroup:
    """The same group with its joints, and every number per joint, in the order of `names`."""
    for joint in group.joints:
        if joint not in names:
            raise no_match(joint, names, f"actuator {group.name}")
    order = sorted(range(len(group.joints)), key=lambda column: list(names).index(group.joints[column]))
    values = {key: getattr(group, key) for key in PER_JOINT}
    changed = {key: tuple(row[column] for column in order) for key, row in values.items() if len(row) == len(order)}
    return dataclasses.replace(group, joints=tuple(group.joints[column] for column in order), **changed)


def gains_of(group: ActuatorGroup, values: tuple[float, ...], implicit: bool) -> dict[str, float]:
    """Gains of one group by joint."""
    if not implicit:
        return dict.fromkeys(group.joints, 0.0)
    return dict(zip(group.joints, values, strict=True)) if values else {}
