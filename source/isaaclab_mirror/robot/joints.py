"""Joints: how a link moves against its parent.

A joint is a pose at rest plus its axes in order. That says every type there is: one hinge, a slide, a ball, several
hinges in a row (MuJoCo's several joints per body, a D6), nothing (fixed), or free.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from isaaclab_mirror.diagnostics import Source
from isaaclab_mirror.robot.drives import Drive
from isaaclab_mirror.rotations import Pose, Vec3


class JointType(StrEnum):
    """What people call it."""

    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    FLOATING = "floating"
    BALL = "ball"
    PLANAR = "planar"
    D6 = "d6"
    """Several axes in a row."""


class AxisKind(StrEnum):
    """What one axis does."""

    HINGE = "hinge"
    SLIDE = "slide"
    BALL = "ball"


@dataclass(frozen=True, slots=True, kw_only=True)
class JointLimits:
    """Where an axis may go: positions [rad or m], effort [N·m or N], velocity [rad/s or m/s]. None is no limit."""

    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None

    @property
    def has_range(self) -> bool:
        """Whether both bounds are there and finite."""
        return (
            self.lower is not None
            and self.upper is not None
            and math.isfinite(self.lower)
            and math.isfinite(self.upper)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JointDynamics:
    """What an axis does without being driven; units per rad or per m."""

    damping: float = 0.0
    """[N·m·s/rad or N·s/m]"""
    static_friction: float = 0.0
    """Effort at which it breaks away [N·m or N]."""
    friction: float = 0.0
    """Effort while it slides [N·m or N]."""
    stiffness: float = 0.0
    """Passive spring [N·m/rad or N/m]."""
    spring_reference: float = 0.0
    """[rad or m]"""
    armature: float = 0.0
    """[kg·m² or kg]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One degree of freedom (three for a ball)."""

    name: str
    kind: AxisKind
    axis: Vec3 = (0.0, 0.0, 1.0)
    """Unit vector in the child link's frame."""
    anchor_m: Vec3 = (0.0, 0.0, 0.0)
    """Point of the axis in the child link's frame."""
    limits: JointLimits = field(default_factory=JointLimits)
    dynamics: JointDynamics = field(default_factory=JointDynamics)
    drives: tuple[Drive, ...] = ()
    """None, one, or one per rotation of a ball."""
    initial_position: float | None = None
    """[rad or m], where the source states one."""
    initial_velocity: float | None = None
    mujoco: Mapping[str, object] = field(default_factory=dict[str, object])
    """Numbers that the source states for MuJoCo: ref, margin, solreflimit, …"""
    source: Source | None = None
    extras: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def dofs(self) -> int:
        """Degrees of freedom."""
        return 3 if self.kind is AxisKind.BALL else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """The one joint between a link and its parent."""

    name: str
    type: JointType
    parent: str | None
    """Name of the parent link; None is the world."""
    child: str
    origin: Pose
    """The child link's frame in the parent's (or the world's), all axes at zero."""
    axes: tuple[Axis, ...] = ()
    source: Source | None = None
    extras: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def dofs(self) -> int:
        """Degrees of freedom."""
        return 6 if self.type is JointType.FLOATING else sum(axis.dofs for axis in self.axes)
