"""Drives and actuators: what pushes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from isaaclab_mirror.diagnostics import Source


class DriveType(StrEnum):
    """What a PhysX drive's gains act on."""

    FORCE = "force"
    ACCELERATION = "acceleration"
    """Gains times the effective inertia at the current pose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A PD drive of one axis, SI units per rad or per m: effort = k (q* − q) + d (v* − v), bounded."""

    stiffness: float
    """[N·m/rad or N/m]; of an acceleration drive [1/s²]."""
    damping: float
    """[N·m·s/rad or N·s/m]; of an acceleration drive [1/s]."""
    max_effort: float | None = None
    """[N·m or N]; None is no bound. 0 is a dead drive, as in PhysX."""
    target_position: float = 0.0
    target_velocity: float = 0.0
    type: DriveType = DriveType.FORCE
    rotation: int = 0
    """For a ball: which component of the rotation vector it drives."""
    source: Source | None = None
    extras: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def is_dead(self) -> bool:
        """PhysX: a bound of zero or less leaves nothing to push with."""
        return self.max_effort is not None and self.max_effort <= 0.0


class Transmission(StrEnum):
    """What an actuator acts on."""

    JOINT = "joint"
    JOINT_IN_PARENT = "jointinparent"
    TENDON = "tendon"
    SITE = "site"
    BODY = "body"
    SLIDER_CRANK = "slidercrank"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actuator:
    """An actuator that the source states as such (MuJoCo's general actuator): kept to the number."""

    name: str
    transmission: Transmission
    target: str
    """Name of the axis, tendon, site or link."""
    gear: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    gain_type: str = "fixed"
    bias_type: str = "none"
    dyn_type: str = "none"
    gain: tuple[float, ...] = (1.0,)
    bias: tuple[float, ...] = ()
    dyn: tuple[float, ...] = (1.0,)
    control_range: tuple[float, float] | None = None
    force_range: tuple[float, float] | None = None
    activation_range: tuple[float, float] | None = None
    reference_site: str | None = None
    slider_site: str | None = None
    mujoco: Mapping[str, object] = field(default_factory=dict[str, object])
    """group, actdim, actearly, cranklength, inheritrange, lengthrange, explicit *limited flags."""
    source: Source | None = None
