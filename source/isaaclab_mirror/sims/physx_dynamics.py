"""PhysX's own mass matrix, bias and Jacobian in SI units, canonical order and world axes with z up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isaaclab_mirror.sims import batched
from isaaclab_mirror.sims.physx_engine import Engine
from isaaclab_mirror.sims.physx_frames import Columns, Frames

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class PhysxDynamics:
    """Reads what PhysX knows of the state that it is in."""

    def __init__(self, engine: Engine, frames: Frames, columns: Columns, *, floating: bool) -> None:
        """Units and orders, once."""
        import numpy as np

        self._engine, self._frames, self._columns = engine, frames, columns
        base = 6 if floating else 0
        self._base = base
        self._order = np.concatenate([np.arange(base), base + columns.joints]).astype(np.intp)
        size = len(self._order)
        # ours = change · PhysX's: units of each coordinate, and world axes turned
        change = np.zeros((size, size))
        turn = batched.matrices(frames.up_wxyz)
        if floating:
            change[:3, :3], change[3:6, 3:6] = turn * frames.metres, turn
        change[base:, base:] = np.diag(columns.position_unit)
        for first, own in columns.balls:
            block = slice(base + first, base + first + 3)
            change[block, block] = own
        self._inverse = np.linalg.inv(change) if size else change
        self._energy = frames.kilograms * frames.metres**2
        self._turn = turn

    def _armature(self) -> Array:
        """[kg·m² or kg], (env_count, joints)."""
        raw = self._engine.read("DOF_ARMATURE")[:, self._columns.joints].astype(float)
        return raw * self._columns.effort_unit / self._columns.position_unit

    def mass_matrix(self) -> Array:
        """PhysX's leaves armature out: it is added."""
        import numpy as np

        raw = self._engine.read("MASS_MATRIX").astype(float)
        size = round(np.sqrt(raw[0].size))
        raw = raw.reshape(len(raw), size, size)[:, self._order[:, None], self._order]
        result = self._energy * self._inverse.T @ raw @ self._inverse
        joints = np.arange(self._base, len(self._order))
        result[:, joints, joints] += self._armature()
        return result

    def bias(self) -> Array:
        """Gravity and Coriolis forces; PhysX tells those that compensate them, which is what a bias is."""
        raw = self._engine.read("GRAVITY_FORCE").astype(float)
        raw = raw + self._engine.read("CORIOLIS_AND_CENTRIFUGAL_FORCE")
        return self._energy * raw[:, self._order] @ self._inverse

    def jacobian(self, link: int, com_w: Array) -> Array:
        """Rows of the link's origin; PhysX's are of its centre of mass. `com_w`: from origin to it [m], world."""
        import numpy as np

        body = int(self._columns.links[link])
        raw = self._engine.read("JACOBIAN").astype(float)
        rows = raw.reshape(len(raw), -1, 6, raw.shape[-1])
        place = body if self._base else body - 1  # a fixed base has no rows
        if place < 0:
            return np.zeros((len(raw), 6, len(self._order)))
        own = rows[:, place][:, :, self._order]
        linear = self._turn @ own[:, :3] * self._frames.metres @ self._inverse
        angular = self._turn @ own[:, 3:] @ self._inverse
        return np.concatenate([linear - np.swapaxes(batched.skew(com_w), -1, -2) @ angular, angular], axis=1)
