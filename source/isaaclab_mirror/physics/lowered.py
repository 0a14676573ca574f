"""Lowered: a robot with every number chosen for one engine. Writers take this type and only spell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

from isaaclab_mirror.physics.options import LoweringOptions
from isaaclab_mirror.robot.drives import Actuator
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Vec3

Range = tuple[float, float]


def floats(stated: object) -> tuple[float, ...] | None:
    """Numbers that a source states for MuJoCo, or None where it states none."""
    return tuple(float(x) for x in cast("tuple[float, ...]", stated)) if isinstance(stated, tuple) else None


class Engine(StrEnum):
    """Whose numbers a lowered robot carries."""

    MUJOCO = "mujoco"
    NEUTRAL = "neutral"
    """No engine in particular (URDF, SDF): the nominal numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweredAxis:
    """One axis, per rad or per m."""

    name: str
    range: Range | None = None
    """[rad or m]; None is unlimited."""
    effort_limit: float | None = None
    """Largest effort of its drive [N·m or N]; None is unbounded or unsaid."""
    velocity_limit: float | None = None
    """[rad/s or m/s]; no MJCF attribute can hold it."""
    damping: float = 0.0
    frictionloss: float = 0.0
    stiffness: float = 0.0
    springref: float = 0.0
    armature: float = 0.0
    ref: float = 0.0
    margin: float = 0.0
    actuator_force_range: Range | None = None
    actuator_gravcomp: bool = False
    group: int = 0
    solref_limit: tuple[float, ...] | None = None
    """None is MuJoCo's default."""
    solimp_limit: tuple[float, ...] | None = None
    solref_friction: tuple[float, ...] | None = None
    solimp_friction: tuple[float, ...] | None = None
    springdamper: Range | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweredContact:
    """How one collider touches."""

    friction: Vec3 = (1.0, 0.005, 0.0001)
    """Sliding, torsional [m], rolling [m]."""
    condim: int = 3
    solref: tuple[float, ...] | None = None
    solimp: tuple[float, ...] | None = None
    margin: float = 0.0
    gap: float = 0.0
    priority: int = 0
    solmix: float = 1.0
    contype: int = 1
    conaffinity: int = 1
    group: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweredPair:
    """An explicit contact pair of two geoms."""

    geom1: str
    geom2: str
    friction: tuple[float, ...] | None = None
    condim: int | None = None
    solref: tuple[float, ...] | None = None
    solimp: tuple[float, ...] | None = None


class EqualityType(StrEnum):
    """MuJoCo's kinds."""

    CONNECT = "connect"
    WELD = "weld"
    JOINT = "joint"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweredEquality:
    """One equality constraint."""

    name: str
    type: EqualityType
    name1: str
    """Link, site or axis; the world is `world`."""
    name2: str | None
    data: tuple[float, ...] = ()
    """connect: anchor in link 1; weld: anchor in link 2, relative pose; joint: polynomial coefficients."""
    by_site: bool = False
    active: bool = True
    solref: tuple[float, ...] | None = None
    solimp: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweredSolver:
    """Options of the simulation."""

    timestep_s: float
    gravity: Vec3
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    """MuJoCo option names → values: integrator, cone, solver, iterations, …"""
    disable_flags: frozenset[str] = frozenset()
    enable_flags: frozenset[str] = frozenset()
    compiler: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, kw_only=True)
class Lowered:
    """A robot with the numbers of one engine. Made by `lower` alone, so that nothing is lowered twice."""

    robot: Robot
    engine: Engine
    options: LoweringOptions
    axes: Mapping[str, LoweredAxis]
    """By axis name."""
    actuators: tuple[Actuator, ...]
    """Drives and authored actuators alike, in MuJoCo's general form."""
    contacts: Mapping[str, LoweredContact]
    """By geom name; only colliders."""
    pairs: tuple[LoweredPair, ...] = ()
    excludes: tuple[tuple[str, str], ...] = ()
    """Link names; the world is `world`."""
    equalities: tuple[LoweredEquality, ...] = ()
    solver: LoweredSolver
