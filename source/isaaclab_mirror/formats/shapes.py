"""Meshes of shapes that a format has no primitive for."""

from __future__ import annotations

import math

from isaaclab_mirror.robot.geometry import Box, Cone, MeshAsset, area_vectors
from isaaclab_mirror.rotations import Pose, quat_from_matrix

SEGMENTS = 32


def cone_mesh(name: str, cone: Cone) -> MeshAsset:
    """A cone along z as a mesh: base ring, base centre, tip."""
    import numpy as np

    r, h = cone.radius_m, cone.half_length_m
    ring = [
        (r * math.cos(2 * math.pi * k / SEGMENTS), r * math.sin(2 * math.pi * k / SEGMENTS), -h)
        for k in range(SEGMENTS)
    ]
    vertices = np.array([*ring, (0.0, 0.0, -h), (0.0, 0.0, h)], dtype=np.float32)
    faces = []
    for k in range(SEGMENTS):
        after = (k + 1) % SEGMENTS
        faces += [(k, after, SEGMENTS + 1), (after, k, SEGMENTS)]
    return MeshAsset(name, vertices, np.array(faces, dtype=np.int32))


def area(mesh: MeshAsset) -> float:
    """Of all triangles together [m²]."""
    import numpy as np

    vectors = area_vectors(mesh.vertices_m.astype(np.float64)[mesh.faces])
    return float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)).sum() / 2)


def flat_box(mesh: MeshAsset, half_thickness_m: float) -> tuple[Pose, Box] | None:
    """A thin box about a mesh that lies in a plane, with its pose in the mesh's frame; None for a solid mesh."""
    import numpy as np

    points = mesh.vertices_m.astype(float)
    extents = np.ptp(points, axis=0)
    if extents.min() > 1e-5 * extents.max() and len(points) > 3:
        # Thick along every axis. Lying in an oblique plane needs the points' own axes.
        sample = points if len(points) <= 512 else points[:: len(points) // 512]
        spread = np.linalg.svd(sample - sample.mean(axis=0), compute_uv=False)
        if spread[2] > 1e-5 * spread[0]:
            return None
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    if np.linalg.det(axes) < 0:
        axes[2] = -axes[2]
    local = points @ axes.T
    low, high = local.min(axis=0), local.max(axis=0)
    if high[2] - low[2] > 1e-4 * max(high[0] - low[0], 1e-12):
        return None
    centre = axes.T @ ((low + high) / 2)
    half = [max((h - lo) / 2, half_thickness_m) for lo, h in zip(low, high, strict=True)]
    columns = axes.T
    rows = tuple(tuple(float(x) for x in row) for row in columns)
    pose = Pose((float(centre[0]), float(centre[1]), float(centre[2])), quat_from_matrix(rows))  # type: ignore[arg-type]
    return pose, Box((float(half[0]), float(half[1]), float(half[2])))
