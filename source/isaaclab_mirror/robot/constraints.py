"""What ties links beyond the tree: loops, welds, mimics, tendons; and which links do not collide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from isaaclab_mirror.diagnostics import Source
from isaaclab_mirror.robot.drives import Drive
from isaaclab_mirror.rotations import Pose


class LoopType(StrEnum):
    """What a loop constraint keeps."""

    CONNECT = "connect"
    """Two points together."""
    WELD = "weld"
    """Two frames together."""
    HINGE = "hinge"
    """Two frames together but for the rotation about z of the frames."""
    SLIDE = "slide"
    """Two frames together but for the translation along z of the frames."""
    DISTANCE = "distance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A constraint between two links (None is the world), at a frame in each."""

    name: str
    type: LoopType
    link0: str | None
    link1: str | None
    frame0: Pose
    frame1: Pose
    active: bool = True
    by_site: tuple[str, str] | None = None
    """The two sites that the source names instead of links."""
    mujoco: Mapping[str, object] = field(default_factory=dict[str, object])
    source: Source | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mimic:
    """follower = Σ coefficients[k] · leader^k, both [rad or m]."""

    name: str
    follower: str
    leader: str
    coefficients: tuple[float, ...]
    active: bool = True
    natural_frequency_hz: float | None = None
    """None is rigid."""
    damping_ratio: float | None = None
    mujoco: Mapping[str, object] = field(default_factory=dict[str, object])
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class TendonPoint:
    """One element of a tendon's path: an axis with its coefficient, a site, a wrapping geom, or a pulley."""

    kind: str
    """`joint`, `site`, `geom` or `pulley`."""
    target: str
    coefficient: float = 1.0
    """Of a joint; of a pulley, its divisor."""
    side_site: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tendon:
    """A fixed tendon (weighted axes) or a spatial one (a path through sites)."""

    name: str
    path: tuple[TendonPoint, ...]
    stiffness: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    rest_length: tuple[float, float] | None = None
    """Dead band of the spring [m or rad]; None is the length at rest."""
    limits: tuple[float, float] | None = None
    limit_stiffness: float | None = None
    drive: Drive | None = None
    mujoco: Mapping[str, object] = field(default_factory=dict[str, object])
    source: Source | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CollisionFilter:
    """Which geoms never touch, beyond what every engine filters by itself."""

    self_collision: bool = True
    """False: geoms of the robot collide with the world alone."""
    link_pairs: frozenset[frozenset[str]] = frozenset()
    geom_pairs: frozenset[frozenset[str]] = frozenset()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Collision group → geoms in it."""
    filtered_groups: frozenset[frozenset[str]] = frozenset()
    """Pairs of groups that do not collide; one name alone is a group against itself."""
    adjacent_collide: bool = False
    """Whether a link and its parent may touch. PhysX: never; MuJoCo's rule differs for the world's children."""
    parent_rule: str = "physx"
    """Whose rule for neighbours the source was written under: `physx` or `mujoco`."""
