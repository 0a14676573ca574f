"""Mass properties: what a link has, what a shape of a given density has, and how several become one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from isaaclab_mirror.robot.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, MeshAsset, Shape, Sphere
from isaaclab_mirror.rotations import IDENTITY_QUAT, Pose, Quat, Vec3, matrix_from_quat, quat_from_matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Matrix3 = tuple[Vec3, Vec3, Vec3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inertia:
    """Mass distribution of one link."""

    mass_kg: float
    com_m: Vec3 = (0.0, 0.0, 0.0)
    """Centre of mass in the link frame."""
    diagonal_kgm2: Vec3 = (0.0, 0.0, 0.0)
    """Principal moments about the centre of mass."""
    principal_wxyz: Quat = IDENTITY_QUAT
    """Principal axes in the link frame."""
    origin: str = "authored"
    """Where it comes from: `authored`, `colliders`, `default`, …"""

    def tensor(self) -> Matrix3:
        """About the centre of mass, in link axes [kg·m²]."""
        return rotated_diagonal(self.diagonal_kgm2, self.principal_wxyz)

    @property
    def is_physical(self) -> bool:
        """Positive moments that obey the triangle inequality, as those of every real body do."""
        a, b, c = sorted(self.diagonal_kgm2)
        return a > 0.0 and a + b >= c


def rotated_diagonal(diagonal: Vec3, quat: Quat) -> Matrix3:
    """R · diag · Rᵀ."""
    r = matrix_from_quat(quat)
    rows = [tuple(sum(r[i][k] * diagonal[k] * r[j][k] for k in range(3)) for j in range(3)) for i in range(3)]
    return (rows[0], rows[1], rows[2])  # type: ignore[return-value]


def diagonalize(tensor: Matrix3) -> tuple[Vec3, Quat]:
    """Principal moments and axes of a symmetric tensor; a diagonal one is left as it is."""
    off = max(abs(tensor[0][1]), abs(tensor[0][2]), abs(tensor[1][2]))
    size = max(abs(tensor[0][0]), abs(tensor[1][1]), abs(tensor[2][2]))
    if off <= 1e-12 * size:
        return (tensor[0][0], tensor[1][1], tensor[2][2]), IDENTITY_QUAT
    import numpy as np

    values, vectors = np.linalg.eigh(np.array(tensor, dtype=float))
    # Each axis of the frame goes to the principal axis closest to it, as PhysX's Jacobi sweeps leave it.
    order = max(permutations(range(3)), key=lambda p: sum(abs(vectors[k, p[k]]) for k in range(3)))
    values, vectors = values[list(order)], vectors[:, list(order)]
    vectors *= np.where(np.diag(vectors) < 0, -1.0, 1.0)
    if np.linalg.det(vectors) < 0:
        vectors[:, int(np.argmin(np.abs(np.diag(vectors))))] *= -1
    rows = tuple(tuple(float(x) for x in row) for row in vectors)
    return (float(values[0]), float(values[1]), float(values[2])), quat_from_matrix(rows)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class MassProperties:
    """Mass, first and second moments of a solid, about its own centre of mass, in the axes of its frame."""

    mass_kg: float
    com_m: Vec3
    tensor_kgm2: Matrix3

    def scaled(self, mass_kg: float) -> MassProperties:
        """The same shape with another mass."""
        k = mass_kg / self.mass_kg if self.mass_kg > 0.0 else 0.0
        rows = tuple(tuple(x * k for x in row) for row in self.tensor_kgm2)
        return MassProperties(mass_kg, self.com_m, rows)  # type: ignore[arg-type]

    def moved(self, pose: Pose) -> MassProperties:
        """The same solid, seen from the frame in which `pose` stands."""
        r = matrix_from_quat(pose.quat_wxyz)
        t = self.tensor_kgm2
        half = [[sum(r[i][k] * t[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        rows = tuple(tuple(sum(half[i][k] * r[j][k] for k in range(3)) for j in range(3)) for i in range(3))
        return MassProperties(self.mass_kg, pose.apply(self.com_m), rows)  # type: ignore[arg-type]


def parallel_axis(mass_kg: float, offset: Vec3) -> Matrix3:
    """What moving the reference point by `offset` adds to a tensor about the centre of mass."""
    x, y, z = offset
    return (
        (mass_kg * (y * y + z * z), -mass_kg * x * y, -mass_kg * x * z),
        (-mass_kg * x * y, mass_kg * (x * x + z * z), -mass_kg * y * z),
        (-mass_kg * x * z, -mass_kg * y * z, mass_kg * (x * x + y * y)),
    )


def add_tensors(a: Matrix3, b: Matrix3) -> Matrix3:
    """Element by element."""
    return tuple(tuple(p + q for p, q in zip(u, v, strict=True)) for u, v in zip(a, b, strict=True))  # type: ignore[return-value]


def combined(parts: Iterable[MassProperties]) -> MassProperties:
    """Several solids in one frame as one."""
    parts = list(parts)
    mass = sum(p.mass_kg for p in parts)
    if mass <= 0.0:
        return MassProperties(0.0, (0.0, 0.0, 0.0), ((0.0,) * 3,) * 3)  # type: ignore[arg-type]
    com = tuple(sum(p.mass_kg * p.com_m[k] for p in parts) / mass for k in range(3))
    tensor: Matrix3 = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for p in parts:
        offset = (p.com_m[0] - com[0], p.com_m[1] - com[1], p.com_m[2] - com[2])
        tensor = add_tensors(tensor, add_tensors(p.tensor_kgm2, parallel_axis(p.mass_kg, offset)))
    return MassProperties(mass, com, tensor)  # type: ignore[arg-type]


def shape_properties(shape: Shape, density_kgm3: float, mesh: MeshAsset | None = None) -> MassProperties | None:
    """Mass properties of a solid shape in its own frame; None where a shape has no volume (planes, height fields)."""
    if isinstance(shape, Box):
        x, y, z = shape.half_extents_m
        m = density_kgm3 * 8 * x * y * z
        return _diagonal(m, (m / 3 * (y * y + z * z), m / 3 * (x * x + z * z), m / 3 * (x * x + y * y)))
    if isinstance(shape, Sphere):
        m = density_kgm3 * 4 / 3 * math.pi * shape.radius_m**3
        i = 0.4 * m * shape.radius_m**2
        return _diagonal(m, (i, i, i))
    if isinstance(shape, Ellipsoid):
        x, y, z = shape.radii_m
        m = density_kgm3 * 4 / 3 * math.pi * x * y * z
        return _diagonal(m, (m / 5 * (y * y + z * z), m / 5 * (x * x + z * z), m / 5 * (x * x + y * y)))
    if isinstance(shape, Cylinder):
        r, h = shape.radius_m, 2 * shape.half_length_m
        m = density_kgm3 * math.pi * r * r * h
        side = m / 12 * (3 * r * r + h * h)
        return _diagonal(m, (side, side, m * r * r / 2))
    if isinstance(shape, Capsule):
        return _capsule(shape, density_kgm3)
    if isinstance(shape, Cone):
        r, h = shape.radius_m, 2 * shape.half_length_m
        m = density_kgm3 * math.pi * r * r * h / 3
        side = m * (3 / 20 * r * r + 3 / 80 * h * h)
        return MassProperties(
            m, (0.0, 0.0, -shape.half_length_m / 2), ((side, 0.0, 0.0), (0.0, side, 0.0), (0.0, 0.0, 0.3 * m * r * r))
        )
    if mesh is not None:
        return mesh_properties(mesh.vertices_m, mesh.faces, density_kgm3)
    return None


def _diagonal(mass_kg: float, d: Vec3) -> MassProperties:
    return MassProperties(mass_kg, (0.0, 0.0, 0.0), ((d[0], 0.0, 0.0), (0.0, d[1], 0.0), (0.0, 0.0, d[2])))


def _capsule(shape: Capsule, density_kgm3: float) -> MassProperties:
    """A cylinder and two half spheres."""
    r, h = shape.radius_m, 2 * shape.half_length_m
    tube = density_kgm3 * math.pi * r * r * h
    balls = density_kgm3 * 4 / 3 * math.pi * r**3
    side = tube * (h * h / 12 + r * r / 4) + balls * (0.4 * r * r + h * h / 4 + 3 / 8 * h * r)
    return _diagonal(tube + balls, (side, side, tube * r * r / 2 + balls * 0.4 * r * r))


def mesh_properties(
    vertices: NDArray[np.float32], faces: NDArray[np.int32], density_kgm3: float
) -> MassProperties | None:
    """Of a closed triangle mesh, exactly (sum over tetrahedra to the origin). None where it encloses nothing."""
    import numpy as np

    v = np.asarray(vertices, dtype=float)
    if len(faces) == 0:
        return None
    centre = v.mean(axis=0)  # close to the solid, so that no digit cancels
    a, b, c = (v[faces[:, k]] - centre for k in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = volumes.sum()
    if volume < 0:
        volumes, volume = -volumes, -volume
    extent = float(np.ptp(v, axis=0).max())
    if volume <= 1e-12 * extent**3:
        return None
    com = np.einsum("i,ij->j", volumes, a + b + c) / 4 / volume
    s = a + b + c
    # ∫ x xᵀ over a tetrahedron (0, a, b, c) = V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ)
    second = sum(np.einsum("i,ij,ik->jk", volumes, x, x) for x in (a, b, c, s)) / 20
    second = second - volume * np.outer(com, com)
    tensor = density_kgm3 * (np.trace(second) * np.eye(3) - second)
    place = com + centre
    rows = tuple(tuple(float(x) for x in row) for row in tensor)
    return MassProperties(float(density_kgm3 * volume), (float(place[0]), float(place[1]), float(place[2])), rows)  # type: ignore[arg-type]


def is_closed(vertices: NDArray[np.float32], faces: NDArray[np.int32]) -> bool:
    """Whether every edge of a triangle mesh is shared by one triangle of either sense; equal points count as one."""
    import numpy as np

    if len(faces) < 4:
        return False
    points, same = np.unique(np.asarray(vertices), axis=0, return_inverse=True)
    welded = same.reshape(-1)[faces].astype(np.int64)
    starts, ends = welded.reshape(-1), np.roll(welded, -1, axis=1).reshape(-1)
    there, back = np.sort(starts * len(points) + ends), np.sort(ends * len(points) + starts)
    return bool(np.array_equal(there, back))
