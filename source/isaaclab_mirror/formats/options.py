"""Options of readers and writers that are not physics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from isaaclab_mirror.diagnostics import InputError

MESH_FORMATS = ("auto", "stl", "obj")


class D6Style(StrEnum):
    """What a D6 or spherical joint with three free rotations becomes."""

    BALL = "ball"
    """Exact kinematics: PhysX's coordinates are a rotation vector. Limits of single axes become one cone."""
    HINGES = "hinges"
    """Three hinges: limits of single axes kept, kinematics right to first order."""


class WorldJoint(StrEnum):
    """What a movable joint between the world and the root link becomes."""

    KEEP = "keep"
    """The joint that the author drew (a cart on a rail)."""
    WELD = "weld"
    """What PhysX makes of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How a robot file is read."""

    prim: str | None = None
    """Prim that holds the robot, where the stage holds several."""
    variants: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variant set → variant."""
    fix_base: bool | None = None
    """True or False overrides what the file says; None keeps it."""
    d6: D6Style = D6Style.BALL
    world_joint: WorldJoint = WorldJoint.KEEP
    allow_outside: bool = False
    """Read assets outside the folder of the file (Isaac assets reference `../../`): relative paths up to the
    root given by the file's own references are always followed; absolute paths and remote ones only with this."""
    visuals: bool = True
    """Read visual geometry."""
    cooked: bool = False
    """Mesh colliders as PhysX cooks them: its convex hulls and decompositions, read back from PhysX itself."""

    def __post_init__(self) -> None:
        """Words are taken for the choices that they name."""
        object.__setattr__(self, "d6", D6Style(self.d6))
        object.__setattr__(self, "world_joint", WorldJoint(self.world_joint))


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How a robot file is written."""

    scene: bool = False
    """MJCF: also write `<name>_scene.xml` beside the robot, with ground and light."""
    ground: bool = False
    """Add a ground plane to the robot file itself."""
    package: str | None = None
    """URDF: spell mesh paths `package://<package>/…`."""
    mesh_format: str = "auto"
    """`stl`, `obj` or `auto`: STL, or OBJ where a texture needs coordinates."""
    transmissions: bool = True
    """URDF: write `<transmission>` and `<ros2_control>` for drives."""

    def __post_init__(self) -> None:
        """Refuse a format of meshes that is not written, also where the robot has no mesh."""
        check_mesh_format(self.mesh_format)


def check_mesh_format(mesh_format: str) -> None:
    """Refuse what is none of the formats."""
    if mesh_format not in MESH_FORMATS:
        why = f"mesh_format {mesh_format!r} is not known"
        raise InputError("E043", "options", why, f"use one of {', '.join(MESH_FORMATS)}")
