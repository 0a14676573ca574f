"""Triangles for the shapes that URDF has no word for."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from isaaclab_mirror.robot.geometry import Ellipsoid, HeightField, MeshAsset

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEGMENTS = 48
"""Around a circle: the largest distance to the true surface is 0.2 % of the radius."""


def ellipsoid_mesh(name: str, shape: Ellipsoid) -> MeshAsset:
    """An ellipsoid about its centre, closed."""
    import numpy as np

    vertices, faces = _unit_sphere()
    return MeshAsset(name, (vertices * np.array(shape.radii_m)).astype(np.float32), faces)


@lru_cache(maxsize=1)
def _unit_sphere() -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Rings of latitude between two poles."""
    import numpy as np

    rings = SEGMENTS // 2 - 1
    polar = math.pi * np.arange(1, rings + 1) / (rings + 1)
    around = 2 * math.pi * np.arange(SEGMENTS) / SEGMENTS
    x, y = (np.outer(np.sin(polar), f(around)).reshape(-1) for f in (np.cos, np.sin))
    z = np.repeat(np.cos(polar), SEGMENTS)
    vertices = np.vstack([np.stack([x, y, z], axis=1), [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    north, south = len(vertices) - 2, len(vertices) - 1
    here, after = np.arange(SEGMENTS), (np.arange(SEGMENTS) + 1) % SEGMENTS
    last = (rings - 1) * SEGMENTS
    faces = [np.stack([np.full(SEGMENTS, north), here, after], axis=1)]
    for ring in range(rings - 1):
        upper, lower = ring * SEGMENTS, (ring + 1) * SEGMENTS
        faces.append(np.stack([upper + here, lower + here, lower + after], axis=1))
        faces.append(np.stack([upper + here, lower + after, upper + after], axis=1))
    faces.append(np.stack([np.full(SEGMENTS, south), last + after, last + here], axis=1))
    return vertices, np.vstack(faces).astype(np.int32)


def height_field_mesh(name: str, shape: HeightField) -> MeshAsset:
    """The surface alone, seen from above."""
    import numpy as np

    rows, columns = shape.heights_m.shape
    x = np.linspace(-shape.half_size_m[0], shape.half_size_m[0], columns)
    y = np.linspace(-shape.half_size_m[1], shape.half_size_m[1], rows)
    xs, ys = np.meshgrid(x, y)
    vertices = np.stack([xs, ys, shape.heights_m], axis=2).reshape(-1, 3).astype(np.float32)
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (part.reshape(-1) for part in (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]))
    faces = np.vstack([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return MeshAsset(name, vertices, faces.astype(np.int32))
