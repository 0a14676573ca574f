"""What the caller states: solver settings, joints, links. SI units, rad or m."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, cast

import numpy as np

from isaaclab_mirror.physics.emulation.vectors import Floats

Numbers = float | Sequence[float] | Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """PhysX's scene, articulation and link settings; the defaults are Isaac Lab's on Isaac Sim (`PhysxCfg`)."""

    step_s: float = 1 / 200
    position_iterations: int = 4
    velocity_iterations: int = 0
    external_forces_every_iteration: bool = False
    """Isaac Lab's `PhysxCfg` says False, its `OvPhysxCfg` and the USD schema True."""
    max_depenetration_speed: float = 3.0
    """[m/s]; USD's default, Isaac Lab's configurations often say 1. These four: of links for which none is given."""
    max_angular_speed: float = math.inf
    """[rad/s]. USD states degrees: Isaac Lab's 1000 is 17.45 rad/s."""
    linear_damping: float = 0.0
    """[1/s]"""
    angular_damping: float = 0.0
    """[1/s]; USD's default is 0.05."""
    contact_offset_m: float = 0.02
    """Of a shape for which none is given; a pair has the sum of its two."""
    friction_offset_threshold_m: float = 0.04
    """Points farther away than this do not become friction anchors."""
    friction_correlation_m: float = 0.025
    """Anchors that have come apart by more are made anew."""

    def __post_init__(self) -> None:
        """Refuse what no step can be made of."""
        if not (self.step_s > 0 and math.isfinite(self.step_s)):
            raise ValueError(f"step_s must be positive, not {self.step_s}")
        if self.position_iterations < 1 or self.velocity_iterations < 0:
            raise ValueError("at least one position iteration and no negative count of velocity iterations")


@dataclass(frozen=True, kw_only=True)
class JointParameters:
    """The joints of a robot by name; every number is one for all or one for each, in the order of `names`."""

    names: tuple[str, ...]
    stiffness: Numbers = 0.0
    """[N·m/rad or N/m]; of an acceleration drive [1/s²]."""
    damping: Numbers = 0.0
    """[N·m·s/rad or N·s/m]; of an acceleration drive [1/s]."""
    max_effort: Numbers = math.inf
    """Bounds drive and explicit effort together [N·m or N]."""
    acceleration: bool | Sequence[bool] = False
    """Whether the drive's type is `acceleration`."""
    lower: Numbers = -math.inf
    upper: Numbers = math.inf
    velocity_limit: Numbers = math.inf
    """[rad/s or m/s]"""
    static_friction: Numbers = 0.0
    """Effort at which it breaks away [N·m or N]."""
    dynamic_friction: Numbers = 0.0
    viscous_friction: Numbers = 0.0
    """[N·m·s/rad or N·s/m]"""

    def ordered(self, names: Sequence[str]) -> dict[str, Floats]:
        """Every number for the joints of a model in its order. Joints that are not named here are free."""
        unknown = sorted(set(self.names) - set(names))
        if unknown:
            raise ValueError(f"no joint {unknown[0]!r} in the model; it has {', '.join(names)}")
        if len(set(self.names)) != len(self.names):
            raise ValueError("a joint is named twice")
        rows = np.array([names.index(name) for name in self.names], dtype=np.int64)
        result: dict[str, Floats] = {}
        for field_ in fields(self):
            if field_.name == "names":
                continue
            full = np.full(len(names), float(cast("Any", field_.default)))
            full[rows] = np.broadcast_to(np.asarray(getattr(self, field_.name), dtype=np.float64), rows.shape)
            if np.isnan(full).any():
                raise ValueError(f"{field_.name} of joint {names[int(np.isnan(full).argmax())]!r} is not a number")
            result[field_.name] = full
        return result


@dataclass(frozen=True, kw_only=True)
class LinkParameters:
    """Links by body name. What is not named has the settings' numbers."""

    linear_damping: dict[str, float] = field(default_factory=dict[str, float])
    angular_damping: dict[str, float] = field(default_factory=dict[str, float])
    max_angular_speed: dict[str, float] = field(default_factory=dict[str, float])
    max_depenetration_speed: dict[str, float] = field(default_factory=dict[str, float])

    def ordered(self, names: Sequence[str], settings: Settings) -> dict[str, Floats]:
        """Every number for the bodies of a model in its order."""
        result: dict[str, Floats] = {}
        for field_ in fields(self):
            stated: dict[str, float] = getattr(self, field_.name)
            unknown = sorted(set(stated) - set(names))
            if unknown:
                raise ValueError(f"no body {unknown[0]!r} in the model; it has {', '.join(names)}")
            default = float(getattr(settings, field_.name))
            result[field_.name] = np.array([stated.get(name, default) for name in names])
        return result


@dataclass(frozen=True, kw_only=True)
class ContactParameters:
    """Colliders by geom name. What is not named has MuJoCo's friction of the pair and the settings' contact offset."""

    static_friction: dict[str, float] = field(default_factory=dict[str, float])
    dynamic_friction: dict[str, float] = field(default_factory=dict[str, float])
    combine: dict[str, str] = field(default_factory=dict[str, str])
    """`average`, `min`, `multiply` or `max`; of a pair the stronger."""
    contact_offset_m: dict[str, float] = field(default_factory=dict[str, float])
    rest_offset_m: dict[str, float] = field(default_factory=dict[str, float])
