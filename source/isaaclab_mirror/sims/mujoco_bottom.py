"""How low a robot reaches in MuJoCo's model of it: where to put the ground under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def lowest_point(model: Any, qpos: Array) -> float | None:
    """Height [m] of the lowest point of all moving colliders at a configuration; None where nothing collides."""
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    colliding = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    colliding[model.pair_geom1] = True
    colliding[model.pair_geom2] = True
    heights = [
        float(data.geom_xpos[k, 2]) - _reach_down(model, k, data.geom_xmat[k].reshape(3, 3)[2])
        for k in range(model.ngeom)
        if colliding[k] and model.body_weldid[model.geom_bodyid[k]] != 0
    ]
    return min(heights, default=None)


def _reach_down(model: Any, geom: int, down: Array) -> float:
    """Support of a shape about its centre, along −z of the world. `down`: world z in the geom's axes."""
    import mujoco
    import numpy as np

    kinds, size = mujoco.mjtGeom, model.geom_size[geom]
    kind = kinds(model.geom_type[geom])
    if kind == kinds.mjGEOM_SPHERE:
        return float(size[0])
    if kind == kinds.mjGEOM_CAPSULE:
        return float(size[0] + size[1] * abs(down[2]))
    if kind == kinds.mjGEOM_CYLINDER:
        return float(size[1] * abs(down[2]) + size[0] * np.hypot(down[0], down[1]))
    if kind == kinds.mjGEOM_BOX:
        return float(np.abs(down) @ size)
    if kind == kinds.mjGEOM_ELLIPSOID:
        return float(np.linalg.norm(down * size))
    if kind == kinds.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        return float((-model.mesh_vert[first : first + count] @ down).max())
    return 0.0
