"""Meshes of shapes that a format has no primitive for."""

from __future__ import annotations

import math

from isaaclab_mirror.robot.geometry import Cone, MeshAsset

SEGMENTS = 32


def cone_mesh(name: str, cone: Cone) -> MeshAsset:
    """A cone along z as a mesh: base ring, base centre, tip."""
    import numpy as np

    r, h = cone.radius_m, cone.half_length_m
    ring = [
        (r * math.cos(2 * math.pi * k / SEGMENTS), r * math.sin(2 * math.pi * k / SEGMENTS), -h) for k in range(SEGMENTS)
    ]
    vertices = np.array([*ring, (0.0, 0.0, -h), (0.0, 0.0, h)], dtype=np.float32)
    faces = []
    for k in range(SEGMENTS):
        after = (k + 1) % SEGMENTS
        faces += [(k, after, SEGMENTS + 1), (after, k, SEGMENTS)]
    return MeshAsset(name, vertices, np.array(faces, dtype=np.int32))
