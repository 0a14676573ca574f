"""Contract: what a policy expects of the world it runs in, in one typed and serialisable form.

SI units, radians, z up, quaternions wxyz in every typed field. What a config says of a term beyond the typed fields is
kept as data in `params` or `config`, with the quaternions of `Contract.quat_order`. Joints and bodies are named, never
numbered; `Contract.joint_names` is the order of the policy's own arrays (Isaac Lab: that of the articulation).

A contract is *resolved* once a robot is known: patterns (`.*_hip_joint`) have become joints, and what the config left
open (`armature: null`) has the number that the robot's file states. Unresolved, the per-joint tuples are empty and the
patterns are still there: `isaaclab_mirror.contract.resolve.resolve_contract(contract, robot)` fills them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from isaaclab_mirror.diagnostics import Diagnostic
from isaaclab_mirror.rotations import IDENTITY_QUAT, Quat, Vec3

SCHEMA = 1
"""Of contract.toml; a file of a later schema is refused."""

Data = Mapping[str, Any]
"""Plain data as a config holds it: mappings, tuples, strings, numbers, booleans, None. Never objects."""


class SourceKind(StrEnum):
    """Who wrote the files a contract was read from."""

    ISAACLAB_RUN = "isaaclab_run"
    """A run folder: params/env.yaml and a policy."""
    ISAACLAB_ENV = "isaaclab_env"
    """An env.yaml alone or beside a policy."""
    IO_DESCRIPTOR = "io_descriptor"
    LEAPP = "leapp"
    UNITREE_DEPLOY = "unitree_deploy"
    """deploy.yaml of unitree_rl_lab."""
    UNITREE_RL_GYM = "unitree_rl_gym"
    RL_SAR = "rl_sar"
    ONNX_METADATA = "onnx_metadata"
    """An ONNX file that says it all in its metadata (mjlab, BeyondMimic)."""
    CONTRACT = "contract"
    """Our own contract.toml."""


class OrderSource(StrEnum):
    """How the order of joints or bodies was found, the surest first."""

    RECORDING = "recording"
    """Written down by the training run: IO descriptor, recording, ONNX metadata, deploy config."""
    CONFIG = "config"
    """`joint_ordering`/`body_ordering` of the robot's config, or a list of names there."""
    PHYSX_RULE = "physx_rule"
    """PhysX's own rule on this USD: breadth first, children by joint path."""
    GUESS = "guess"
    """A rule on a robot file that is not the training asset; a diagnostic says so."""
    UNKNOWN = "unknown"
    """No robot yet."""


class ActuatorKind(StrEnum):
    """Isaac Lab's actuator classes."""

    IMPLICIT = "ImplicitActuator"
    IDEAL_PD = "IdealPDActuator"
    DC_MOTOR = "DCMotor"
    DELAYED_PD = "DelayedPDActuator"
    REMOTIZED_PD = "RemotizedPDActuator"
    NET_MLP = "ActuatorNetMLP"
    NET_LSTM = "ActuatorNetLSTM"
    THRUSTER = "Thruster"
    PASSIVE = "none"
    """Joints in no group: the drive that the robot's file states stays, its target is 0."""
    OTHER = "other"
    """A class of the user's own: see `class_type`."""


class EntityKind(StrEnum):
    """What a scene entity is."""

    ARTICULATION = "articulation"
    RIGID_OBJECT = "rigid_object"
    RIGID_OBJECT_COLLECTION = "rigid_object_collection"
    DEFORMABLE = "deformable"
    CONTACT_SENSOR = "contact_sensor"
    RAY_CASTER = "ray_caster"
    FRAME_TRANSFORMER = "frame_transformer"
    IMU = "imu"
    CAMERA = "camera"
    TERRAIN = "terrain"
    OTHER = "other"
    """Lights, markers, tables without physics of their own, classes we do not know."""


class PolicyKind(StrEnum):
    """What a policy file is."""

    ONNX = "onnx"
    TORCHSCRIPT = "torchscript"
    RSL_RL = "rsl_rl"
    SKRL = "skrl"
    RL_GAMES = "rl_games"
    SB3 = "sb3"
    LEAPP = "leapp"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInfo:
    """Where a contract came from."""

    kind: SourceKind
    files: tuple[Path, ...] = ()
    framework: str = "isaaclab"
    """`isaaclab`, `isaacgym`, `mjlab`, …"""
    version: str = "unknown"
    """Generation of the framework: `1.x`, `2.x`, `3.x`, or `unknown`."""
    task: str = ""
    """Registered id, where the run states it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Names in the policy's order, and how that order was found."""

    names: tuple[str, ...] = ()
    source: OrderSource = OrderSource.UNKNOWN
    note: str = ""
    """Where exactly: file and key, or the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotSpec:
    """The robot: which file, where it starts, and what the task changes in it when it is spawned."""

    name: str = "robot"
    """Its key in the scene."""
    reference: str = ""
    """As the config has it: a USD, URDF or MJCF path, or a Nucleus address."""
    file: Path | None = None
    """The local file found for it."""
    prim: str | None = None
    variants: Mapping[str, str] = field(default_factory=dict[str, str])
    scale: Vec3 | None = None
    fix_base: bool | None = None
    """True welds the root link to the world, False frees it, None leaves it as the file has it."""
    pos: Vec3 = (0.0, 0.0, 0.0)
    """Start of the root link [m], environment frame."""
    quat_wxyz: Quat = IDENTITY_QUAT
    lin_vel: Vec3 = (0.0, 0.0, 0.0)
    """Of the centre of mass [m/s], world axes."""
    ang_vel: Vec3 = (0.0, 0.0, 0.0)
    """[rad/s], world axes."""
    default_joint_pos: Mapping[str, float] = field(default_factory=dict[str, float])
    """By joint name [rad or m], every joint of `Contract.joint_names` once resolved."""
    default_joint_vel: Mapping[str, float] = field(default_factory=dict[str, float])
    """[rad/s or m/s]"""
    joint_pos_patterns: Mapping[str, float] = field(default_factory=dict[str, float])
    """As the config has it, by pattern; full match, joints that none matches are 0."""
    joint_vel_patterns: Mapping[str, float] = field(default_factory=dict[str, float])
    joint_ordering: tuple[str, ...] = ()
    """As the config has it: nothing (the engine's own), a convention (`physx`, `mjwarp`, `robot_schema`) or names."""
    body_ordering: tuple[str, ...] = ()
    joint_places: tuple[int, ...] = ()
    """Sources that number joints instead of naming them: where the policy's joints stand in the robot file's
    depth-first order. Until a robot is known they are called `#0`, `#1`, … in the policy's order."""
    joint_aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Joint of the policy → its name in the robot's file, where a suffix makes the difference."""
    joint_limits: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    """Hard limits by joint name [rad or m], ±inf where there is none."""
    soft_joint_pos_limit_factor: float = 1.0
    """Soft limits are the middle ± this times half the range."""
    position_iterations: int | None = None
    """Of PhysX's articulation solver; None leaves the file's."""
    velocity_iterations: int | None = None
    self_collisions: bool | None = None
    disable_gravity: bool | None = None
    linear_damping: float | None = None
    """[1/s], of every link."""
    angular_damping: float | None = None
    max_linear_velocity: float | None = None
    """[m/s], of every link."""
    max_angular_velocity: float | None = None
    """[rad/s], of every link (USD says degrees; this is converted)."""
    max_depenetration_velocity: float | None = None
    """[m/s]"""
    contact_offset: float | None = None
    """[m]"""
    rest_offset: float | None = None
    spawn: Data = field(default_factory=dict[str, Any])
    """Every property override of the spawner, as data: rigid_props, articulation_props, collision_props, …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterialSpec:
    """Friction and restitution of a surface; combine modes `average`, `min`, `multiply`, `max`."""

    static_friction: float = 0.5
    dynamic_friction: float = 0.5
    restitution: float = 0.0
    friction_combine: str = "average"
    restitution_combine: str = "average"


@dataclass(frozen=True, slots=True, kw_only=True)
class TerrainSpec:
    """What the robot stands on."""

    kind: str = "plane"
    """`plane`, `generator` (rough terrain, made at run time), `usd`, or `none`."""
    height: float = 0.0
    """Of the plane [m]."""
    material: MaterialSpec = field(default_factory=MaterialSpec)
    config: Data = field(default_factory=dict[str, Any])
    """The terrain generator's settings, as data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimSpec:
    """How the world is stepped."""

    dt: float
    """Physics step [s]."""
    decimation: int
    """Physics steps per action; the policy runs every `dt · decimation` seconds."""
    gravity: Vec3 = (0.0, 0.0, -9.81)
    """[m/s²]"""
    backend: str = "unknown"
    """`ovphysx`, `isaacsim` (PhysX inside Isaac Sim), `newton`, `isaacgym`, or `unknown`."""
    external_forces_every_iteration: bool = False
    """PhysX: whether gravity and efforts enter at every iteration of the solver or once per step."""
    solver: str = "TGS"
    """`TGS` or `PGS`."""
    min_position_iterations: int = 1
    max_position_iterations: int = 255
    min_velocity_iterations: int = 0
    max_velocity_iterations: int = 255
    bounce_threshold: float = 0.5
    """[m/s]"""
    friction_offset_threshold: float = 0.04
    """[m]"""
    friction_correlation_distance: float = 0.025
    """[m]"""
    use_newton_actuators: bool = False
    """Isaac Lab 3: explicit actuators run in Newton's kernels, where a delay is constant (`max_delay`)."""
    material: MaterialSpec = field(default_factory=MaterialSpec)
    """Of every collider that has none of its own: Isaac Lab binds it to the physics scene."""
    terrain: TerrainSpec = field(default_factory=TerrainSpec)
    episode_length_s: float = math.inf
    config: Data = field(default_factory=dict[str, Any])
    """The backend's own settings, as data."""

    @property
    def step_dt(self) -> float:
        """Seconds between two actions."""
        return self.dt * self.decimation


@dataclass(frozen=True, slots=True, kw_only=True)
class ActuatorGroup:
    """Joints that share a motor model. Per-joint tuples stand in the order of `joints`; empty while unresolved.

    `effort_limit` and `velocity_limit` bound the motor model; `effort_limit_sim` and `velocity_limit_sim` are what the
    engine's solver enforces on the joint. For implicit actuators both efforts are the same number. inf is no limit.
    """

    name: str
    kind: ActuatorKind
    class_type: str = ""
    """As the config has it: `module:Class`."""
    joint_patterns: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    """In the articulation's order."""
    stiffness: tuple[float, ...] = ()
    """[N·m/rad or N/m]"""
    damping: tuple[float, ...] = ()
    """[N·m·s/rad or N·s/m]"""
    effort_limit: tuple[float, ...] = ()
    """Of the motor model [N·m or N]."""
    velocity_limit: tuple[float, ...] = ()
    """Of the motor model [rad/s or m/s]."""
    effort_limit_sim: tuple[float, ...] = ()
    velocity_limit_sim: tuple[float, ...] = ()
    armature: tuple[float, ...] = ()
    """[kg·m² or kg]"""
    friction: tuple[float, ...] = ()
    """Static [N·m or N]."""
    dynamic_friction: tuple[float, ...] = ()
    viscous_friction: tuple[float, ...] = ()
    """[N·m·s/rad or N·s/m]"""
    saturation_effort: tuple[float, ...] = ()
    """DCMotor and the networks: stall torque [N·m]."""
    min_delay: int = 0
    """DelayedPD, RemotizedPD: lag in physics steps, drawn at each reset between these two."""
    max_delay: int = 0
    lookup: tuple[tuple[float, ...], ...] = ()
    """RemotizedPD: rows (angle [rad], transmission ratio, largest torque [N·m])."""
    network_file: str = ""
    """Networks: as the config has it."""
    network_path: Path | None = None
    """The local file found for it."""
    pos_scale: float = 1.0
    vel_scale: float = 1.0
    torque_scale: float = 1.0
    input_order: str = "pos_vel"
    input_idx: tuple[int, ...] = ()
    config: Data = field(default_factory=dict[str, Any])
    """The whole group as the config has it, for what is not above."""

    @property
    def is_implicit(self) -> bool:
        """Whether the engine's own drive does the PD."""
        return self.kind in (ActuatorKind.IMPLICIT, ActuatorKind.PASSIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A command, termination, reward, event or curriculum term: what to call, with what."""

    name: str
    func: str
    """`module:name` of the function, or of the class of a command."""
    params: Data = field(default_factory=dict[str, Any])
    """Of a command: its whole config."""
    mode: str = ""
    """Events: prestartup, startup, reset, interval."""
    interval_s: tuple[float, float] | None = None
    """Events of mode interval: seconds between two, drawn from this range."""
    weight: float = 0.0
    """Rewards."""
    time_out: bool = False
    """Terminations: whether it truncates instead of terminating."""
    config: Data = field(default_factory=dict[str, Any])
    """Further fields of the term's config (is_global_time, min_step_count_between_reset, …)."""

    @property
    def func_name(self) -> str:
        """The bare name, without its module."""
        return bare_name(self.func)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationTerm:
    """One observation: function → modifiers → noise → clip → scale → delay → history, in that order."""

    name: str
    func: str
    """`module:name`."""
    params: Data = field(default_factory=dict[str, Any])
    scale: tuple[float, ...] = ()
    """Empty: none. One number for all, or one per value."""
    clip: tuple[float, float] | None = None
    noise: Data | None = None
    """As data: func, operation and its parameters. Applied only where the group's `enable_corruption` is on."""
    modifiers: tuple[Data, ...] = ()
    delay_min_lag: int = 0
    """[policy steps]"""
    delay_max_lag: int = 0
    delay_hold_prob: float = 1.0
    history_length: int = 0
    """Effective: the group's, where it has one. 0 is none."""
    flatten_history: bool = True
    """Effective."""
    size: int | None = None
    """Values of one sample, where the source states it (IO descriptor, deploy config); None: ask the adapter."""

    @property
    def func_name(self) -> str:
        """The bare name, without its module."""
        return bare_name(self.func)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationGroup:
    """Terms in order."""

    name: str
    terms: tuple[ObservationTerm, ...] = ()
    concatenate: bool = True
    """False: a mapping from term names instead of one array."""
    concatenate_dim: int = -1
    enable_corruption: bool = False
    """What training ran with; a replay leaves noise off unless asked for."""
    history_length: int | None = None
    """As the config has it; the terms' own are effective already."""
    flatten_history: bool = True
    history_order: str = "term"
    """`term`: per term, its frames; `time`: per frame, all terms."""
    history_lags: tuple[int, ...] = ()
    """Lags in the order in which frames stand, 0 the newest. Empty is Isaac Lab's: n−1 … 0, the oldest first."""
    history_fill: str = "first"
    """What the history holds after a reset: `first` (the first sample everywhere) or `zero`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionTerm:
    """One action term: the part of the action vector that it takes, and what it makes of it."""

    name: str
    kind: str
    """Isaac Lab's class: `JointPositionAction`, `DifferentialInverseKinematicsAction`, …"""
    class_type: str = ""
    """`module:Class`."""
    asset: str = "robot"
    joint_patterns: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    """In the order of the action's values; empty while unresolved or where the term has no joints."""
    preserve_order: bool = False
    scale: tuple[float, ...] = ()
    """One per joint once resolved."""
    offset: tuple[float, ...] = ()
    """One per joint once resolved; the default pose where `use_default_offset` is on."""
    use_default_offset: bool = False
    clip: tuple[tuple[float, float], ...] = ()
    """One per joint once resolved, after scale and offset; empty: none."""
    size: int | None = None
    """Values taken from the action vector, where known."""
    params: Data = field(default_factory=dict[str, Any])
    """The whole term as the config has it (controller, body_name, open_command_expr, alpha, …)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneEntity:
    """An object, sensor or other articulation of the scene, kept as data."""

    name: str
    kind: EntityKind
    class_type: str = ""
    prim_path: str = ""
    reference: str = ""
    """Asset file as the config has it."""
    file: Path | None = None
    pos: Vec3 = (0.0, 0.0, 0.0)
    """Start [m], environment frame."""
    quat_wxyz: Quat = IDENTITY_QUAT
    config: Data = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """What stands between policy and environment."""

    clip_actions: tuple[tuple[float, float], ...] = ()
    """Bounds of the raw action before the environment (and `last_action`) sees it: none, one for all, or one each."""
    clip_observations: float | None = None
    """±bound of the whole observation before the policy sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySpec:
    """The policy's file, and what is needed to rebuild a checkpoint."""

    file: Path
    kind: PolicyKind
    config: Data = field(default_factory=dict[str, Any])
    """agent.yaml, as data."""


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Everything a policy expects. See the module's docstring for units, orders and what resolved means."""

    name: str
    source: SourceInfo
    sim: SimSpec
    robot: RobotSpec = field(default_factory=RobotSpec)
    joints: Order = field(default_factory=Order)
    bodies: Order = field(default_factory=Order)
    quat_order: str = "wxyz"
    """Of the quaternions that the policy itself sees and of those in `params` and `config`: `wxyz` or `xyzw`."""
    actuators: tuple[ActuatorGroup, ...] = ()
    observations: tuple[ObservationGroup, ...] = ()
    policy_groups: tuple[str, ...] = ("policy",)
    """Observation groups that make the policy's input, concatenated in this order."""
    actions: tuple[ActionTerm, ...] = ()
    """In the order in which they take their values from the action vector."""
    commands: tuple[Term, ...] = ()
    terminations: tuple[Term, ...] = ()
    rewards: tuple[Term, ...] = ()
    events: tuple[Term, ...] = ()
    curriculum: tuple[Term, ...] = ()
    scene: tuple[SceneEntity, ...] = ()
    """Beside the robot."""
    wrapper: Wrapper = field(default_factory=Wrapper)
    policy: PolicySpec | None = None
    extras: Data = field(default_factory=dict[str, Any])
    """Further fields of the task's config that terms ask for (gripper_joint_names, …)."""
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])
    """Dotted field (`sim.dt`, `actuators.legs.armature`) → where its number came from."""
    diagnostics: tuple[Diagnostic, ...] = ()
    schema: int = SCHEMA

    @property
    def joint_names(self) -> tuple[str, ...]:
        """In the policy's order; empty while unresolved."""
        return self.joints.names

    @property
    def body_names(self) -> tuple[str, ...]:
        """In the policy's order; empty while unresolved."""
        return self.bodies.names

    @property
    def is_resolved(self) -> bool:
        """Whether the robot's joints are known and every per-joint number is filled in."""
        known = self.robot.default_joint_pos
        return bool(self.joints.names) and all(name in known for name in self.joints.names)

    @property
    def default_joint_pos(self) -> tuple[float, ...]:
        """In the order of `joint_names` [rad or m]."""
        return tuple(self.robot.default_joint_pos[name] for name in self.joint_names)

    @property
    def policy_observations(self) -> tuple[ObservationGroup, ...]:
        """The groups of the policy's input, in order."""
        return tuple(self.group(name) for name in self.policy_groups)

    def group(self, name: str) -> ObservationGroup:
        """The observation group of that name; KeyError where there is none."""
        return _named(self.observations, name)

    def entity(self, name: str) -> SceneEntity:
        """The scene entity of that name; KeyError where there is none."""
        return _named(self.scene, name)

    def command(self, name: str) -> Term:
        """The command term of that name; KeyError where there is none."""
        return _named(self.commands, name)

    def actuator_of(self, joint: str) -> tuple[ActuatorGroup, int]:
        """The group that drives a joint and the joint's place in it; KeyError where none does.

        Where two groups claim it the later wins, as in Isaac Lab 2.
        """
        for group in reversed(self.actuators):
            if joint in group.joints:
                return group, group.joints.index(joint)
        raise KeyError(joint)

    def joint_values(self, field_name: str, default: float = 0.0) -> tuple[float, ...]:
        """One of the actuator groups' per-joint fields (`stiffness`, …) in the order of `joint_names`."""
        values: dict[str, float] = {}
        for group in self.actuators:
            numbers: tuple[float, ...] = getattr(group, field_name)
            values.update(zip(group.joints, numbers, strict=False))
        return tuple(values.get(name, default) for name in self.joint_names)


def _named(items: tuple[Any, ...], name: str) -> Any:
    for item in items:
        if item.name == name:
            return item
    raise KeyError(name)


def bare_name(func: str) -> str:
    """`pkg.module:name` or `pkg.module.name` → `name`."""
    return func.rpartition(":")[2].rpartition(".")[2]
