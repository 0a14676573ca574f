"""World: what a term may ask for. The robot in the policy's own order, the scene, sensors, commands, actions, time.

Positions are in the environment's own frame (Isaac Lab's world minus the environment's origin), quaternions wxyz;
what the policy sees of a quaternion is put into its order by `World.policy_quat`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.assets import Asset, Defaults, Layout, defaults_of, plain_defaults, rest_state
from isaaclab_mirror.adapter.scene import EmptyScene, Scene
from isaaclab_mirror.contract.contract import Contract, EntityKind
from isaaclab_mirror.contract.matching import match_names
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.state import State

if TYPE_CHECKING:
    from isaaclab_mirror.adapter.action_manager import ActionManager
    from isaaclab_mirror.adapter.commands import Command
    from isaaclab_mirror.adapter.sensors import ContactSensor, FrameTransformer, RayCaster

    Sensor = ContactSensor | FrameTransformer | RayCaster


__all__ = [
    "ROBOT",
    "Asset",
    "Defaults",
    "EmptyScene",
    "Entity",
    "Layout",
    "Scene",
    "World",
    "is_entity",
    "resolve_params",
    "rest_state",
]

OF_THE_ROBOT = (EntityKind.IMU, EntityKind.OTHER)
"""Sensors whose bodies are the robot's own: a joint-wrench sensor is one of the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Entity:
    """A SceneEntityCfg, resolved: the asset or sensor, and which of its joints and bodies."""

    name: str
    joints: Any
    """Indices in the asset's order, or slice(None)."""
    bodies: Any
    joint_names: tuple[str, ...] = ()
    body_names: tuple[str, ...] = ()

    @property
    def body(self) -> int:
        """The first of the bodies."""
        return 0 if isinstance(self.bodies, slice) else int(self.bodies[0])


ROBOT = Entity("robot", slice(None), slice(None))
"""All of the robot: the default of Isaac Lab's terms."""


class World:
    """Everything that terms read. One per adapter; `update` moves it to another moment."""

    def __init__(self, contract: Contract, layout: Layout, env_count: int, scene: Scene, rng: np.random.Generator):
        self.contract = contract
        self.layout = layout
        self.env_count = env_count
        self.scene = scene
        self.rng = rng
        gravity = np.asarray(contract.sim.gravity, dtype=float)
        length = float(np.linalg.norm(gravity))
        self.gravity = gravity / length if length else np.array([0.0, 0.0, -1.0])
        self.defaults = defaults_of(contract, layout)
        self.step_dt = contract.sim.step_dt
        self.physics_dt = contract.sim.dt
        self.episode_steps = np.zeros(env_count, dtype=int)
        self.commands: dict[str, Command] = {}
        self.broken_commands: dict[str, InputError] = {}
        """Those of the task that cannot be offered, and why."""
        self.sensors: dict[str, Sensor] = {}
        self.broken_sensors: dict[str, InputError] = {}
        """Those of the scene that cannot be offered, and why."""
        self.actions: ActionManager | None = None
        length = contract.sim.episode_length_s
        self.max_episode_steps = math.ceil(length / self.step_dt - 1e-9) if math.isfinite(length) else 2**31
        self.terminated = np.zeros(env_count, dtype=bool)
        self.time_outs = np.zeros(env_count, dtype=bool)
        self.ends: dict[str, Array] = {}
        """Each termination term at the end of the last policy step."""
        self.drawn: dict[str, Array] = {}
        """What events drew for a whole episode, by name, (env_count,)."""
        self.computed = np.zeros((env_count, len(layout.back)), dtype=np.float32)
        """Motors' efforts before their bounds, in the simulator's joint order."""
        self.applied = np.zeros_like(self.computed)
        """After their bounds."""
        self.speeds: tuple[Array, Array, float] | None = None
        """Joint speeds before and after the last physics step, in the simulator's order, and its length [s]."""
        self._robot: Asset | None = None
        self._others: dict[str, Asset] = {}
        self._other_defaults: dict[str, Defaults | None] = {}

    @property
    def computed_effort(self) -> Array:
        """Of the last physics step, before the motors' bounds [N·m or N], (env_count, joints)."""
        return self.computed[:, self.layout.joints]

    @property
    def applied_effort(self) -> Array:
        """Of the last physics step, within the motors' bounds [N·m or N]."""
        return self.applied[:, self.layout.joints]

    @property
    def joint_acc(self) -> Array:
        """From the speeds before and after the last physics step [rad/s² or m/s²]."""
        if self.speeds is None:
            return np.zeros((self.env_count, len(self.layout.joint_names)))
        before, after, elapsed_s = self.speeds
        return ((after - before) / elapsed_s)[:, self.layout.joints]

    def update(self, state: State) -> None:
        """Move to this state."""
        if self._robot is not None and self._robot.state is state:
            return
        self._robot = Asset(state, self.layout, self.gravity, self.defaults)
        self._others.clear()

    @contextlib.contextmanager
    def imagined(self) -> Generator[None]:
        """For a moment, the robot at rest in its default pose at the origin: to ask a term for its size."""
        kept = self._robot
        self.update(rest_state(self.layout, self.env_count))
        try:
            yield
        finally:
            self._robot = kept
            self._others.clear()

    @property
    def robot(self) -> Asset:
        """The robot now."""
        if self._robot is None:
            raise InputError("E124", "adapter", "no state yet: call update first")
        return self._robot

    def asset(self, name: str) -> Asset:
        """The robot, an object or another articulation by its name in the scene."""
        if name == self.contract.robot.name:
            return self.robot
        if name not in self._others:
            state = self.scene.asset(name)
            layout = Layout.of(state.joint_names, state.link_names, state.joint_names, state.link_names)
            self._others[name] = Asset(state, layout, self.gravity, self._defaults_of(name, state))
        return self._others[name]

    def _defaults_of(self, name: str, state: State) -> Defaults | None:
        """Of another articulation, as its config in the scene has them."""
        if name not in self._other_defaults:
            found = [entity for entity in self.contract.scene if entity.name == name]
            config: Mapping[str, Any] = (found[0].config.get("init_state") or {}) if found else {}
            self._other_defaults[name] = plain_defaults(config, state.joint_names, f"scene.{name}.init_state")
        return self._other_defaults[name]

    def policy_quat(self, quat: Array) -> Array:
        """A quaternion wxyz in the order that the policy was trained with."""
        return quat[..., [1, 2, 3, 0]] if self.contract.quat_order == "xyzw" else quat

    def config_quat(self, values: Sequence[float] | None) -> Array:
        """A quaternion of the contract's data as wxyz."""
        if values is None:
            return np.array([1.0, 0.0, 0.0, 0.0])
        quat = np.asarray(values, dtype=float)
        return quat[[3, 0, 1, 2]] if self.contract.quat_order == "xyzw" else quat

    def entity(self, config: Any, where: str) -> Entity:
        """A SceneEntityCfg of the config, resolved once."""
        if isinstance(config, Entity):
            return config
        if isinstance(config, str):
            return Entity(config, slice(None), slice(None))
        name = str(config.get("name", self.contract.robot.name))
        ordered = bool(config.get("preserve_order", False))
        joint_names, body_names = self._names_of(name)
        wanted_joints, wanted_bodies = config.get("joint_names"), config.get("body_names")
        joints: Any = slice(None)
        bodies: Any = slice(None)
        if wanted_joints is not None:
            names = match_names(_listed(wanted_joints), joint_names, where, preserve_order=ordered)
            if names != joint_names:
                joints = np.array([joint_names.index(one) for one in names], dtype=int)
            joint_names = names
        single = name != self.contract.robot.name and name not in self.sensors and len(body_names) <= 1
        if wanted_bodies is not None and not single:
            names = match_names(_listed(wanted_bodies), body_names, where, preserve_order=ordered)
            if names != body_names:
                bodies = np.array([body_names.index(one) for one in names], dtype=int)
            body_names = names
        return Entity(name, joints, bodies, joint_names, body_names)

    def _names_of(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if name == self.contract.robot.name:
            return self.layout.joint_names, self.layout.body_names
        if name in self.broken_sensors:
            raise self.broken_sensors[name]
        if name in self.sensors:
            return (), self.sensors[name].body_names
        if any(entity.name == name and entity.kind in OF_THE_ROBOT for entity in self.contract.scene):
            return self.layout.joint_names, self.layout.body_names
        state = self.scene.asset(name)
        return state.joint_names, state.link_names

    def command(self, name: str) -> Command:
        """A command term by name."""
        if name in self.broken_commands:
            raise self.broken_commands[name]
        if name not in self.commands:
            known = ", ".join(self.commands) or "none"
            raise InputError("E122", f"command {name}", f"there is no command {name!r}", f"there are: {known}")
        return self.commands[name]

    def sensor(self, name: str, kind: type[Any]) -> Any:
        """A sensor by name, of the kind that a term needs."""
        if name in self.broken_sensors:
            raise self.broken_sensors[name]
        found = self.sensors.get(name)
        if not isinstance(found, kind):
            raise InputError("E122", f"sensor {name}", f"there is no {kind.__name__} {name!r} in the scene")
        return found


def _listed(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def is_entity(value: Any) -> bool:
    """Whether data of a config are a SceneEntityCfg."""
    return isinstance(value, Mapping) and "name" in value and ("joint_names" in value or "body_names" in value)


def resolve_params(params: Mapping[str, Any], world: World, where: str) -> dict[str, Any]:
    """A term's parameters with every SceneEntityCfg resolved (also inside lists and mappings)."""
    return {key: _resolved(value, world, f"{where}.{key}") for key, value in params.items()}


def _resolved(value: Any, world: World, where: str) -> Any:
    if is_entity(value):
        return world.entity(value, where)
    if isinstance(value, Mapping):
        return {key: _resolved(inner, world, where) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return tuple(_resolved(inner, world, where) for inner in value)  # pyright: ignore[reportUnknownVariableType]
    return value
