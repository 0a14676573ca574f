"""Surfaces of MuJoCo's geoms as triangles, for the rasterizer and the browser viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SEGMENTS = 24


def triangles_of(model: Any, kind: int, size: Array, mesh: int = -1, *, hull: bool = False) -> Array | None:
    """(n, 3, 3) in the geom's frame [m], or None for what has no surface of its own (planes, height fields).

    `kind` is an mjtGeom; `size` holds the three half sizes (capsules and cylinders: radius, radius, half length);
    `mesh` is the mesh's number, `hull` its convex hull instead.
    """
    import mujoco
    import numpy as np

    kinds = mujoco.mjtGeom
    match kinds(kind):
        case kinds.mjGEOM_MESH:
            return _hull(model, mesh) if hull else _mesh(model, mesh)
        case kinds.mjGEOM_BOX:
            return _box() * size
        case kinds.mjGEOM_SPHERE | kinds.mjGEOM_ELLIPSOID:
            angles = np.linspace(-np.pi / 2, np.pi / 2, SEGMENTS // 2 + 1)
            return _revolved(np.cos(angles), np.sin(angles)) * size
        case kinds.mjGEOM_CYLINDER:
            return _revolved(np.array([0.0, 1.0, 1.0, 0.0]), np.array([-1.0, -1.0, 1.0, 1.0])) * size
        case kinds.mjGEOM_CAPSULE:
            angles = np.linspace(0, np.pi / 2, SEGMENTS // 4 + 1)
            r, z = size[0] * np.cos(angles), size[2] + size[0] * np.sin(angles)
            return _revolved(np.r_[r[::-1], r], np.r_[-z[::-1], z])
        case _:
            return None


def _mesh(model: Any, mesh: int) -> Array:
    import numpy as np

    start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    face, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    vertices = model.mesh_vert[start : start + count].astype(np.float64)
    return vertices[model.mesh_face[face : face + faces]]


def _hull(model: Any, mesh: int) -> Array:
    """The convex hull as MuJoCo collides with it."""
    import numpy as np

    start = model.mesh_graphadr[mesh]
    if start < 0:
        return _mesh(model, mesh)
    graph = model.mesh_graph[start:]
    vertices, faces = int(graph[0]), int(graph[1])
    begin = 2 + 3 * vertices + 3 * faces
    corners = graph[begin : begin + 3 * faces].reshape(-1, 3)
    offset = model.mesh_vertadr[mesh]
    return model.mesh_vert[offset + corners].astype(np.float64)


def _box() -> Array:
    import numpy as np

    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return corners[[triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]]


def _revolved(radii: Array, heights: Array) -> Array:
    """The surface that a profile sweeps about z."""
    import numpy as np

    angles = np.linspace(0, 2 * np.pi, SEGMENTS + 1)
    ring = np.stack([np.cos(angles), np.sin(angles)], -1)
    grid = np.concatenate(
        [radii[:, None, None] * ring, np.broadcast_to(heights[:, None, None], (len(radii), SEGMENTS + 1, 1))], axis=-1
    )
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    return np.concatenate([np.stack(t, axis=-2).reshape(-1, 3, 3) for t in ((a, b, c), (a, c, d))])
