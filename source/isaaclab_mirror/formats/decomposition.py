"""Convex decomposition where PhysX's own cannot be read back: coacd, with PhysX's default limits."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from isaaclab_mirror.robot.geometry import MeshAsset

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_HULLS = 32
MAX_VERTICES = 64
"""PhysX's defaults (physxConvexDecompositionCollision)."""


def can_decompose() -> bool:
    """Whether the extra `decompose` is installed."""
    return find_spec("coacd") is not None


def decompose(mesh: MeshAsset) -> list[NDArray[np.float64]]:
    """Points of convex pieces of a mesh, in its own frame; of its one hull without the extra `decompose`."""
    import numpy as np

    vertices = np.asarray(mesh.vertices_m, dtype=np.float64)
    if not can_decompose():
        return [vertices]
    import coacd

    coacd.set_log_level("off")
    parts = coacd.run_coacd(
        coacd.Mesh(vertices, np.asarray(mesh.faces, dtype=np.int32)),
        max_convex_hull=MAX_HULLS,
        decimate=True,
        max_ch_vertex=MAX_VERTICES,
    )
    return [np.asarray(points, dtype=np.float64) for points, _ in parts]
