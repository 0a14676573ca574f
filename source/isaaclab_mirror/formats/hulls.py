"""Convex hulls, by the qhull that MuJoCo carries (importing scipy for it would cost more than a whole conversion)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isaaclab_mirror.robot.geometry import MeshAsset

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def convex_hull(mesh: MeshAsset) -> MeshAsset:
    """The convex hull of a mesh, as a mesh; the mesh itself where it has none (flat or too small)."""
    import mujoco
    import numpy as np

    points = np.unique(np.asarray(mesh.vertices_m, dtype=np.float64), axis=0)
    if len(points) < 4:
        return mesh
    low, size = points.min(axis=0), float(np.ptp(points, axis=0).max())
    if size <= 0:
        return mesh
    unit = (points - low) / size  # qhull's tolerances are absolute
    spec = mujoco.MjSpec()
    spec.add_mesh(
        name="m",
        uservert=unit.astype(np.float32).reshape(-1),
        needsdf=False,
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX,
    )
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="m")
    try:
        model = spec.compile()
    except ValueError:
        return mesh
    graph = model.mesh_graph
    if len(graph) == 0:
        return mesh
    vertex_count, face_count = int(graph[0]), int(graph[1])
    start = 2 + 2 * vertex_count + vertex_count + 3 * face_count
    faces = np.array(graph[start : start + 3 * face_count], dtype=np.int32).reshape(-1, 3)
    # MuJoCo moves a mesh to its own centre and axes: take it back with the geom's pose.
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[0])
    back = model.mesh_vert.astype(np.float64) @ turn.reshape(3, 3).T + model.geom_pos[0]
    used, inverse = np.unique(faces.reshape(-1), return_inverse=True)
    vertices = back[used] * size + low
    return MeshAsset(mesh.name, vertices.astype(np.float32), inverse.reshape(-1, 3).astype(np.int32), None, mesh.source)


def hulls_of_edges(edges: Any) -> list[NDArray[np.float64]]:
    """Corners (k, 3) of every closed surface among edges (n, 2, 3) that are drawn face by face, one after the other.

    An edge is drawn once for each of its two faces: where none is left alone, a surface is complete.
    """
    import numpy as np

    points, places = np.unique(np.asarray(edges).reshape(-1, 3), axis=0, return_inverse=True)
    hulls: list[NDArray[np.float64]] = []
    alone: set[tuple[int, int]] = set()
    corners: set[int] = set()
    for a, b in places.reshape(-1, 2).tolist():
        if a == b:
            continue
        alone ^= {(a, b) if a < b else (b, a)}
        corners |= {a, b}
        if not alone:
            hulls.append(points[sorted(corners)].astype(np.float64))
            corners = set()
    return hulls if not corners else []
