"""Shapes, meshes, and the geometry of links: what is seen and what collides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import Source
from isaaclab_mirror.rotations import Pose, Vec3

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Box:
    """A box about its centre."""

    half_extents_m: Vec3


@dataclass(frozen=True, slots=True)
class Sphere:
    """A sphere about its centre."""

    radius_m: float


@dataclass(frozen=True, slots=True)
class Cylinder:
    """A cylinder along z about its centre."""

    radius_m: float
    half_length_m: float


@dataclass(frozen=True, slots=True)
class Capsule:
    """A capsule along z about its centre; the half length is that of the straight part."""

    radius_m: float
    half_length_m: float


@dataclass(frozen=True, slots=True)
class Ellipsoid:
    """An ellipsoid about its centre."""

    radii_m: Vec3


@dataclass(frozen=True, slots=True)
class Cone:
    """A cone along z: base at −half_length, tip at +half_length."""

    radius_m: float
    half_length_m: float


@dataclass(frozen=True, slots=True)
class Plane:
    """The plane z = 0 with normal +z; sizes are for show, a collider is infinite."""

    half_size_m: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class HeightField:
    """Heights [m] on a regular grid, rows along y, columns along x, centred."""

    heights_m: NDArray[np.float64]
    half_size_m: tuple[float, float]


@dataclass(frozen=True, slots=True)
class MeshShape:
    """A mesh asset, by name. Scale and mirroring are baked into the asset's vertices."""

    mesh: str


@dataclass(frozen=True, slots=True)
class Compound:
    """Several shapes that act as one, each with its pose."""

    parts: tuple[tuple[Pose, Shape], ...]


Shape = Box | Sphere | Cylinder | Capsule | Ellipsoid | Cone | Plane | HeightField | MeshShape | Compound


@dataclass(frozen=True, slots=True, eq=False)
class MeshAsset:
    """Triangles, in the frame of the geom that uses them."""

    name: str
    vertices_m: NDArray[np.float32]
    """(n, 3)"""
    faces: NDArray[np.int32]
    """(m, 3) vertex indices, counter-clockwise seen from outside."""
    texcoords: NDArray[np.float32] | None = None
    """(3·m, 2): one per corner of each face, or None."""
    source: Source | None = None


class Approximation(StrEnum):
    """What a collision mesh is for the solver."""

    CONVEX_HULL = "convexHull"
    CONVEX_DECOMPOSITION = "convexDecomposition"
    BOUNDING_BOX = "boundingCube"
    BOUNDING_SPHERE = "boundingSphere"
    SPHERE_FILL = "sphereFill"
    SDF = "sdf"
    TRIANGLES = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """What makes a geom collide, and how."""

    material: str | None = None
    """Name of the contact material; None is the engine's default."""
    approximation: Approximation = Approximation.CONVEX_HULL
    max_hull_vertices: int | None = None
    contact_offset_m: float | None = None
    rest_offset_m: float | None = None
    density_kgm3: float | None = None
    mass_kg: float | None = None
    mujoco: Mapping[str, object] = field(default_factory=dict[str, object])
    """Numbers that the source states for MuJoCo: solref, solimp, condim, priority, margin, gap, solmix, group, …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Geom:
    """A shape on a link (or on the world), seen, colliding, or both."""

    name: str
    link: str | None
    """None is the world: static geometry."""
    shape: Shape
    pose: Pose
    """In the link's frame."""
    visible: bool = True
    material: str | None = None
    """Name of the visual material."""
    rgba: tuple[float, float, float, float] | None = None
    """Colour where no material says it."""
    collision: Collision | None = None
    source: Source | None = None
    mujoco: Mapping[str, object] = field(default_factory=dict[str, object])
    extras: Mapping[str, object] = field(default_factory=dict[str, object])


def area_vectors(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of triangles (m, 3, 3) a vector along each normal, twice as long as the area; np.cross takes thrice the time."""
    import numpy as np

    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    result = np.empty_like(a)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        result[:, k] = a[:, i] * b[:, j] - a[:, j] * b[:, i]
    return result
