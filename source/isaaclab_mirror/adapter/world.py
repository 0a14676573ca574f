"""World: what a term may ask for. The robot in the policy's own order, the scene, sensors, commands, actions, time.

Positions are in the environment's own frame (Isaac Lab's world minus the environment's origin), quaternions wxyz;
what the policy sees of a quaternion is put into its order by `World.policy_quat`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, matrix_of
from isaaclab_mirror.contract.contract import Contract, EntityKind
from isaaclab_mirror.contract.matching import match_names, no_match
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.state import LinkStates, State

if TYPE_CHECKING:
    from isaaclab_mirror.adapter.action_manager import ActionManager
    from isaaclab_mirror.adapter.commands import Command
    from isaaclab_mirror.adapter.sensors import ContactSensor, FrameTransformer, RayCaster

    Sensor = ContactSensor | FrameTransformer | RayCaster


OF_THE_ROBOT = (EntityKind.IMU, EntityKind.OTHER)
"""Sensors whose bodies are the robot's own: a joint-wrench sensor is one of the others."""


class Scene(Protocol):
    """What the environment offers beside the robot; everything is batched like State."""

    def asset(self, name: str) -> State:
        """An object or another articulation by its name in the scene; an object has no joints and one link."""
        ...

    def heights(self, points_xy: Array) -> Array:
        """Of the ground [m] under points (…, 2) of each environment's frame."""
        ...

    def joint_wrench(self, bodies: Sequence[str]) -> Array:
        """Force and torque that each body's incoming joint transmits, (env_count, bodies, 6)."""
        ...

    def tendon_names(self) -> Sequence[str]:
        """Fixed tendons that take position targets."""
        ...

    def jacobian(self, body: str) -> Array:
        """(env_count, 6, n) of the robot's link origin, world axes, as `Simulator.jacobian`."""
        ...

    def mass_matrix(self) -> Array:
        """(env_count, n, n), as `Simulator.mass_matrix`."""
        ...

    def gravity_forces(self) -> Array:
        """Generalised forces that hold the robot against gravity, (env_count, n)."""
        ...


class EmptyScene:
    """A plane at height 0 and nothing else."""

    def __init__(self, height: float = 0.0) -> None:
        self._height = height

    def asset(self, name: str) -> State:
        """There is none."""
        raise InputError("E124", f"scene.{name}", f"the environment has no {name!r}", "it is not simulated here")

    def heights(self, points_xy: Array) -> Array:
        """The plane."""
        return np.full(points_xy.shape[:-1], self._height)

    def joint_wrench(self, bodies: Sequence[str]) -> Array:
        """Not measured."""
        raise InputError("E124", "scene", "the wrench of a joint is not measured here")

    def tendon_names(self) -> Sequence[str]:
        """None."""
        return ()

    def jacobian(self, body: str) -> Array:
        """Not known without a simulator."""
        raise InputError("E124", "scene", f"the Jacobian of {body!r} is not known here")

    def mass_matrix(self) -> Array:
        """Not known without a simulator."""
        raise InputError("E124", "scene", "the mass matrix is not known here")

    def gravity_forces(self) -> Array:
        """Not known without a simulator."""
        raise InputError("E124", "scene", "the gravity forces are not known here")


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Which names stand where: the policy's order, and the way from the simulator's."""

    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    joints: Array
    """Column of each of the policy's joints in the State."""
    bodies: Array
    """Column of each of the policy's bodies in the State."""
    back: Array
    """Column in the policy's arrays of each of the State's joints; −1: the policy does not know it."""

    @staticmethod
    def of(joint_names: Sequence[str], body_names: Sequence[str], state_joints: Sequence[str], links: Sequence[str]):
        """Match by name; a joint or body that the simulator does not have is refused."""
        for name in joint_names:
            if name not in state_joints:
                raise no_match(name, state_joints, "joint order")
        known = tuple(name for name in body_names if name in links) or tuple(links)
        joints = np.array([list(state_joints).index(name) for name in joint_names], dtype=int)
        back = np.array([joint_names.index(name) if name in joint_names else -1 for name in state_joints], dtype=int)
        bodies = np.array([list(links).index(name) for name in known], dtype=int)
        return Layout(tuple(joint_names), known, joints, bodies, back)


class Asset:
    """One moment of an articulation or object, in the policy's order: Isaac Lab's `asset.data`."""

    def __init__(self, state: State, layout: Layout, gravity: Array, defaults: Defaults | None = None) -> None:
        self.state = state
        self.layout = layout
        self._gravity = gravity
        self._defaults = defaults

    @property
    def joint_names(self) -> tuple[str, ...]:
        """In the policy's order."""
        return self.layout.joint_names

    @property
    def body_names(self) -> tuple[str, ...]:
        """In the policy's order."""
        return self.layout.body_names

    @property
    def defaults(self) -> Defaults:
        """Default joint values and limits."""
        if self._defaults is None:
            raise InputError("E124", "scene", "the default joint values of this asset are not known")
        return self._defaults

    @cached_property
    def joint_pos(self) -> Array:
        """[rad or m], (env_count, joints)"""
        return self.state.joint_pos[:, self.layout.joints]

    @cached_property
    def joint_vel(self) -> Array:
        """[rad/s or m/s]"""
        return self.state.joint_vel[:, self.layout.joints]

    @property
    def root_pos(self) -> Array:
        """Of the root link [m], (env_count, 3)."""
        return self.state.root_pos_w

    @property
    def root_quat(self) -> Array:
        """Of the root link, wxyz."""
        return self.state.root_quat_wxyz

    @property
    def root_lin_vel_w(self) -> Array:
        """Of the root's centre of mass [m/s]."""
        return self.state.root_com_lin_vel_w

    @property
    def root_ang_vel_w(self) -> Array:
        """[rad/s]"""
        return self.state.root_ang_vel_w

    @cached_property
    def root_matrix(self) -> Array:
        """From the root link's axes to the world's, (env_count, 3, 3)."""
        return matrix_of(self.root_quat)

    @cached_property
    def root_lin_vel_b(self) -> Array:
        """Of the root's centre of mass, in the root link's axes [m/s]."""
        return np.einsum("nij,ni->nj", self.root_matrix, self.root_lin_vel_w)

    @cached_property
    def root_ang_vel_b(self) -> Array:
        """[rad/s]"""
        return np.einsum("nij,ni->nj", self.root_matrix, self.root_ang_vel_w)

    @cached_property
    def projected_gravity(self) -> Array:
        """Unit vector of gravity in the root link's axes."""
        return self._gravity @ self.root_matrix

    @cached_property
    def heading(self) -> Array:
        """Direction of the root's x axis in the world's xy plane [rad], (env_count,)."""
        return np.arctan2(self.root_matrix[:, 1, 0], self.root_matrix[:, 0, 0])

    @cached_property
    def body_pos(self) -> Array:
        """Of every link [m], (env_count, bodies, 3)."""
        return self.state.link_pos_w[:, self.layout.bodies]

    @cached_property
    def body_quat(self) -> Array:
        """wxyz, (env_count, bodies, 4)"""
        return self.state.link_quat_wxyz[:, self.layout.bodies]

    @cached_property
    def body_lin_vel_w(self) -> Array:
        """Of every centre of mass [m/s]."""
        return self.state.link_com_lin_vel_w[:, self.layout.bodies]

    @cached_property
    def body_link_lin_vel_w(self) -> Array:
        """Of every link's origin [m/s]."""
        return self.state.link_lin_vel_w[:, self.layout.bodies]

    @cached_property
    def body_ang_vel_w(self) -> Array:
        """[rad/s]"""
        return self.state.link_ang_vel_w[:, self.layout.bodies]


@dataclass(slots=True, eq=False)
class Defaults:
    """Of the robot's joints in the policy's order."""

    joint_pos: Array
    joint_vel: Array
    limits: Array
    """(joints, 2) [rad or m]"""
    soft_limits: Array
    velocity_limits: Array
    """Soft: what terms compare speeds with and reset events clamp them to [rad/s or m/s]."""
    solver_velocity_limits: Array
    """What the engine enforces."""


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
        self.sensors: dict[str, Sensor] = {}
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
            self._others[name] = Asset(state, layout, self.gravity)
        return self._others[name]

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
        if wanted_bodies is not None:
            names = match_names(_listed(wanted_bodies), body_names, where, preserve_order=ordered)
            if names != body_names:
                bodies = np.array([body_names.index(one) for one in names], dtype=int)
            body_names = names
        return Entity(name, joints, bodies, joint_names, body_names)

    def _names_of(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if name == self.contract.robot.name:
            return self.layout.joint_names, self.layout.body_names
        if name in self.sensors:
            return (), self.sensors[name].body_names
        if any(entity.name == name and entity.kind in OF_THE_ROBOT for entity in self.contract.scene):
            return self.layout.joint_names, self.layout.body_names
        state = self.scene.asset(name)
        return state.joint_names, state.link_names

    def command(self, name: str) -> Command:
        """A command term by name."""
        if name not in self.commands:
            known = ", ".join(self.commands) or "none"
            raise InputError("E122", f"command {name}", f"there is no command {name!r}", f"there are: {known}")
        return self.commands[name]

    def sensor(self, name: str, kind: type[Any]) -> Any:
        """A sensor by name, of the kind that a term needs."""
        found = self.sensors.get(name)
        if not isinstance(found, kind):
            raise InputError("E122", f"sensor {name}", f"there is no {kind.__name__} {name!r} in the scene")
        return found


def _listed(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def defaults_of(contract: Contract, layout: Layout) -> Defaults:
    """Of the robot's joints in the policy's order; joints without a limit have ±inf."""
    robot, names = contract.robot, layout.joint_names
    limits = np.array([robot.joint_limits.get(name, (-np.inf, np.inf)) for name in names], dtype=float).reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        middle, half = limits.mean(axis=1), (limits[:, 1] - limits[:, 0]) / 2.0 * robot.soft_joint_pos_limit_factor
        soft = np.stack([middle - half, middle + half], axis=1)
    soft = np.where(np.isfinite(limits).all(axis=1, keepdims=True), soft, limits)
    speeds = contract.joint_values("velocity_limit", np.inf) if contract.joint_names == names else ()
    soft_speeds = np.array(speeds) if speeds else np.full(len(names), np.inf)
    if contract.sim.use_newton_actuators and any(not group.is_implicit for group in contract.actuators):
        soft_speeds = np.zeros(len(names))  # Isaac Lab 3 never fills them for a robot with motors in Newton's kernels
    solver = contract.joint_values("velocity_limit_sim", np.inf) if contract.joint_names == names else ()
    return Defaults(
        joint_pos=np.array([robot.default_joint_pos.get(name, 0.0) for name in names]),
        joint_vel=np.array([robot.default_joint_vel.get(name, 0.0) for name in names]),
        limits=limits,
        soft_limits=soft,
        velocity_limits=soft_speeds,
        solver_velocity_limits=np.array(solver) if solver else np.full(len(names), np.inf),
    )


def rest_state(layout: Layout, env_count: int) -> State:
    """Zero everywhere, upright."""
    joints, links = len(layout.back), int(layout.bodies.max(initial=0)) + 1
    upright = np.array([1.0, 0.0, 0.0, 0.0])
    zeros, link_zeros = np.zeros((env_count, 3)), np.zeros((env_count, links, 3))
    at_rest = LinkStates(
        pos_w=link_zeros,
        quat_wxyz=np.broadcast_to(upright, (env_count, links, 4)),
        lin_vel_w=link_zeros,
        com_lin_vel_w=link_zeros,
        ang_vel_w=link_zeros,
    )
    return State(
        time_s=np.zeros(env_count),
        root_pos_w=zeros,
        root_quat_wxyz=np.broadcast_to(upright, (env_count, 4)),
        root_lin_vel_w=zeros,
        root_com_lin_vel_w=zeros,
        root_ang_vel_w=zeros,
        joint_names=(),
        joint_pos=np.zeros((env_count, joints)),
        joint_vel=np.zeros((env_count, joints)),
        link_names=(),
        find_torque=lambda: np.zeros((env_count, joints)),
        find_contacts=lambda: link_zeros,
        find_links=lambda: at_rest,
    )


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
