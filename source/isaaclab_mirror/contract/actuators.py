"""Per-joint numbers of actuator groups by Isaac Lab's rules: one number for all, by pattern, or the asset's own.

The rules of the generations differ; each function says which. A joint that the patterns of a group's number leave out
has 0 there; a number that is null is the one that the robot's file states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from isaaclab_mirror.contract.contract import ActuatorGroup, ActuatorKind
from isaaclab_mirror.contract.matching import match_names, match_values
from isaaclab_mirror.contract.node import as_number
from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.robots import axis_names, drive_of

PASSIVE_NAME = "(no group)"
"""Group of the joints that the config drives with nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointNumbers:
    """What the robot's file states of one joint: SI, rad or m; inf is no limit."""

    stiffness: float = 0.0
    damping: float = 0.0
    max_effort: float = math.inf
    max_velocity: float = math.inf
    armature: float = 0.0
    static_friction: float = 0.0
    dynamic_friction: float = 0.0
    viscous_friction: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf


def joint_numbers(robot: Robot) -> dict[str, JointNumbers]:
    """By the file's joint names."""
    result: dict[str, JointNumbers] = {}
    for axis in robot.axes():
        drive, limits, dynamics = drive_of(robot, axis), axis.limits, axis.dynamics
        effort = drive.max_effort if drive is not None and drive.max_effort is not None else limits.effort
        bounded = limits.lower is not None and limits.upper is not None and axis.dofs == 1
        numbers = JointNumbers(
            stiffness=0.0 if drive is None else drive.stiffness,
            damping=0.0 if drive is None else drive.damping,
            max_effort=math.inf if effort is None else effort,
            max_velocity=math.inf if limits.velocity is None else limits.velocity,
            armature=dynamics.armature,
            static_friction=dynamics.static_friction,
            dynamic_friction=dynamics.friction,
            viscous_friction=dynamics.damping,
            lower=limits.lower if bounded and limits.lower is not None else -math.inf,
            upper=limits.upper if bounded and limits.upper is not None else math.inf,
        )
        result.update(dict.fromkeys(axis_names(axis), numbers))
    return result


Own = Callable[[JointNumbers], float]
"""Which number of the file stands where the config has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """The robot's numbers by the policy's joint names, and whose they are."""

    joints: Mapping[str, JointNumbers]
    """In the articulation's order."""
    name: str
    """Of the file, for provenance."""
    passive: bool = True
    """Whether joint friction and damping of the file belong to what the policy was trained on."""


class GroupResolver:
    """Resolves one group; says where each number came from."""

    def __init__(self, group: ActuatorGroup, asset: Asset, version: str, where: str, native: bool) -> None:
        self._config = group.config
        self._asset = asset
        self._new = version == "3.x"
        self._native = native
        self._where = f"{where}.actuators.{group.name}"
        self._group = group
        self.joints = match_names(group.joint_patterns, tuple(asset.joints), f"{self._where}.joint_names_expr")
        self.provenance: dict[str, str] = {}

    def resolve(self) -> ActuatorGroup:
        """The group with every per-joint number."""
        group, implicit = self._group, self._group.is_implicit
        stiffness, damping = self._gain("stiffness"), self._gain("damping")
        effort_sim, effort, velocity_sim, velocity = self._limits(implicit)
        friction = self._passive("friction", lambda j: j.static_friction)
        dynamic = self._passive("dynamic_friction", lambda j: j.dynamic_friction)
        if self._config.get("friction") is not None and self._config.get("dynamic_friction") is None:
            dynamic = self._capped(dynamic, friction)
        return replace(
            group,
            joints=self.joints,
            stiffness=stiffness,
            damping=damping,
            effort_limit=effort,
            velocity_limit=velocity,
            effort_limit_sim=effort_sim,
            velocity_limit_sim=velocity_sim,
            armature=self._number("armature", ("armature",), lambda j: j.armature),
            friction=friction,
            dynamic_friction=dynamic,
            viscous_friction=self._passive("viscous_friction", lambda j: j.viscous_friction),
            saturation_effort=self._optional("saturation_effort"),
        )

    def _limits(self, implicit: bool) -> tuple[tuple[float, ...], ...]:
        """Effort and velocity limits: of the solver, of the model, of the solver, of the model."""
        if implicit:
            keys = ("joint_effort_limit", "effort_limit_sim", "actuator_effort_limit", "effort_limit")
            effort_sim = self._number("effort_limit_sim", keys, lambda j: j.max_effort)
            own = ("joint_velocity_limit", "velocity_limit_sim")
            velocity_sim = self._number("velocity_limit_sim", own, lambda j: j.max_velocity)
            model = ("actuator_velocity_limit", "velocity_limit") if self._new else own
            velocity = self._or("velocity_limit", model, velocity_sim)
            self.provenance["effort_limit"] = self.provenance["effort_limit_sim"]
            return effort_sim, effort_sim, velocity_sim, velocity
        solver = ("joint_effort_limit", "effort_limit_sim")
        if self._new or self._stated(solver) is not None:
            effort_sim = self._number("effort_limit_sim", solver, lambda j: j.max_effort)
        else:  # until 2.x explicit actuators lift the solver's own bound
            effort_sim = (math.inf,) * len(self.joints)
            self.provenance["effort_limit_sim"] = "explicit: no bound in the solver"
        effort = self._number("effort_limit", ("actuator_effort_limit", "effort_limit"), lambda j: j.max_effort)
        if self._group.kind is ActuatorKind.REMOTIZED_PD:
            effort = (math.inf,) * len(self.joints)
        velocity_sim = self._number(
            "velocity_limit_sim", ("joint_velocity_limit", "velocity_limit_sim"), lambda j: j.max_velocity
        )
        velocity = self._or("velocity_limit", ("actuator_velocity_limit", "velocity_limit"), velocity_sim)
        return effort_sim, effort, velocity_sim, velocity

    def _gain(self, key: str) -> tuple[float, ...]:
        """Null is the asset's drive; of explicit actuators that run in Newton's kernels (3.x), 0."""
        if self._native and not self._group.is_implicit and self._config.get(key) is None:
            self.provenance[key] = "Isaac Lab 3: null is 0 for explicit actuators"
            return (0.0,) * len(self.joints)
        return self._number(key, (key,), lambda j: j.stiffness if key == "stiffness" else j.damping)

    def _capped(self, dynamic: tuple[float, ...], static: tuple[float, ...]) -> tuple[float, ...]:
        """Sliding friction is not above static friction."""
        return tuple(min(d, s) for d, s in zip(dynamic, static, strict=True))

    def _stated(self, keys: tuple[str, ...]) -> str | None:
        return next((key for key in keys if self._config.get(key) is not None), None)

    def _or(self, name: str, keys: tuple[str, ...], otherwise: tuple[float, ...]) -> tuple[float, ...]:
        key = self._stated(keys)
        if key is None:
            self.provenance[name] = self.provenance["velocity_limit_sim"]
            return otherwise
        return self._values(name, key)

    def _optional(self, key: str) -> tuple[float, ...]:
        return () if self._config.get(key) is None else self._values(key, key)

    def _passive(self, key: str, own: Own) -> tuple[float, ...]:
        """Friction of a joint; what an MJCF in place of the training's USD has of it is MuJoCo modelling."""
        if self._asset.passive or self._config.get(key) is not None:
            return self._number(key, (key,), own)
        self.provenance[key] = f"0: what {self._asset.name} has is not the training's"
        return (0.0,) * len(self.joints)

    def _number(self, name: str, keys: tuple[str, ...], own: Own) -> tuple[float, ...]:
        key = self._stated(keys)
        if key is not None:
            return self._values(name, key)
        self.provenance[name] = self._asset.name
        return tuple(own(self._asset.joints[joint]) for joint in self.joints)

    def _values(self, name: str, key: str) -> tuple[float, ...]:
        self.provenance[name] = f"{self._where}.{key}"
        return joint_values(self._config[key], self.joints, f"{self._where}.{key}")


def joint_values(value: Any, joints: tuple[str, ...], where: str, default: float = 0.0) -> tuple[float, ...]:
    """One number for all, one each, or by pattern (`default` for joints that none matches)."""
    if isinstance(value, Mapping):
        numbers = {pattern: _number(v, f"{where}.{pattern}") for pattern, v in cast(Mapping[str, Any], value).items()}
        found = match_values(numbers, joints, where)
        return tuple(found.get(joint, default) for joint in joints)
    if isinstance(value, tuple):
        items = cast(tuple[Any, ...], value)
        if len(items) != len(joints):
            raise InputError("E104", where, f"{len(items)} numbers for {len(joints)} joints")
        return tuple(_number(item, where) for item in items)
    return (_number(value, where),) * len(joints)


def _number(value: Any, where: str) -> float:
    number = as_number(value)
    if number is None or math.isnan(number):
        raise InputError("E104", where, f"{value!r} is not a number")
    return number


def passive_group(asset: Asset, driven: set[str]) -> ActuatorGroup | None:
    """Joints in no group: the drive of the robot's file stays."""
    joints = tuple(name for name in asset.joints if name not in driven)
    if not joints:
        return None
    numbers = [asset.joints[name] for name in joints]
    friction = [(j.static_friction, j.dynamic_friction, j.viscous_friction) for j in numbers]
    static, dynamic, viscous = zip(*(f if asset.passive else (0.0, 0.0, 0.0) for f in friction), strict=True)
    return ActuatorGroup(
        name=PASSIVE_NAME,
        kind=ActuatorKind.PASSIVE,
        joint_patterns=joints,
        joints=joints,
        stiffness=tuple(j.stiffness for j in numbers),
        damping=tuple(j.damping for j in numbers),
        effort_limit=tuple(j.max_effort for j in numbers),
        velocity_limit=tuple(j.max_velocity for j in numbers),
        effort_limit_sim=tuple(j.max_effort for j in numbers),
        velocity_limit_sim=tuple(j.max_velocity for j in numbers),
        armature=tuple(j.armature for j in numbers),
        friction=static,
        dynamic_friction=dynamic,
        viscous_friction=viscous,
    )


def check_groups(groups: tuple[ActuatorGroup, ...], version: str, where: str, found: Diagnostics) -> None:
    """A joint in two groups: refused in 3.x, the later group wins before."""
    owner: dict[str, str] = {}
    for group in groups:
        for joint in group.joints:
            if joint not in owner:
                owner[joint] = group.name
                continue
            message = f"joint {joint!r} is in the groups {owner[joint]!r} and {group.name!r}"
            if version == "3.x":
                raise InputError("E104", f"{where}.actuators", message)
            found.warn("E110", f"{where}.actuators", f"{message}: the later one wins, as in Isaac Lab 2")
