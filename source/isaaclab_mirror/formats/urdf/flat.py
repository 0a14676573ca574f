"""Flat meshes (decals, screens, a patch of ground): some readers, MuJoCo among them, refuse a mesh without volume."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isaaclab_mirror.robot.geometry import MeshAsset, area_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FLAT = 1e-6
"""Thickness over length under which a mesh is flat: meshes are kept in single precision, which holds no less."""
SMALLEST_VOLUME_M3 = 1e-13
"""MuJoCo's bound is 1e-15."""
THICKNESS_M = 1e-5
"""Of what a flat mesh becomes, or `THICKNESS` of its length where that is more."""
THICKNESS = 1e-5


def with_volume(mesh: MeshAsset) -> MeshAsset | None:
    """The mesh itself; a flat one as two sheets close together; None for one that has no area either."""
    import numpy as np

    vertices = mesh.vertices_m.astype(np.float64)
    corners = vertices[mesh.faces]
    areas = area_vectors(corners)
    area = np.linalg.norm(areas, axis=1)
    total = float(area.sum())
    if total <= 1e-14:
        return None
    centre = (corners.mean(axis=1) * area[:, None]).sum(axis=0) / total
    relative = corners - centre
    volume = np.abs(np.einsum("ij,ij->i", relative[:, 0], np.cross(relative[:, 1], relative[:, 2]))).sum() / 6
    normal = _thinnest_direction(vertices[np.unique(mesh.faces)])
    heights = vertices @ normal
    length = float(np.ptp(vertices, axis=0).max())
    if volume >= SMALLEST_VOLUME_M3 and np.ptp(heights[mesh.faces]) > FLAT * length:
        return mesh
    return _two_sheets(mesh, vertices, normal * max(THICKNESS_M, THICKNESS * length), areas @ normal < 0.0)


def _thinnest_direction(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The principal direction in which the points spread least."""
    import numpy as np

    away = points - points.mean(axis=0)
    return np.linalg.eigh(away.T @ away)[1][:, 0]


def _two_sheets(
    mesh: MeshAsset, vertices: NDArray[np.float64], apart: NDArray[np.float64], downward: NDArray[np.bool_]
) -> MeshAsset:
    """The mesh twice, `apart` from each other, each sheet facing outwards."""
    import numpy as np

    order = np.where(downward[:, None], [0, 2, 1], [0, 1, 2])
    upper = np.take_along_axis(mesh.faces, order, axis=1)
    faces = np.vstack([upper, upper[:, [0, 2, 1]] + len(vertices)]).astype(np.int32)
    texcoords = None
    if mesh.texcoords is not None:
        places = np.take_along_axis(mesh.texcoords.reshape(-1, 3, 2), order[:, :, None], axis=1)
        texcoords = np.vstack([places, places[:, [0, 2, 1]]]).reshape(-1, 2)
    both = np.vstack([vertices + apart / 2, vertices - apart / 2]).astype(np.float32)
    return replace(mesh, vertices_m=both, faces=faces, texcoords=texcoords)
