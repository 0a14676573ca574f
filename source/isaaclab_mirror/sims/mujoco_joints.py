"""Where canonical joints stand in MuJoCo's qpos and qvel; a ball's quaternion as a rotation vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointMap:
    """Canonical joints ↔ MuJoCo's coordinates."""

    names: tuple[str, ...]
    qpos_index: NDArray[np.intp]
    """(joints,); the three of a ball name the first three numbers of its quaternion and are not used as they are."""
    dof: NDArray[np.intp]
    """(joints,)"""
    balls: tuple[tuple[int, int], ...] = ()
    """Column of the first coordinate, address of the quaternion in qpos."""

    def positions(self, qpos: Array) -> Array:
        """(envs, joints) from (envs, nq)."""
        result = qpos[:, self.qpos_index]
        for column, address in self.balls:
            result[:, column : column + 3] = rotation_vector(qpos[:, address : address + 4])
        return result

    def put_positions(self, values: Array, qpos: Array) -> None:
        """Write (envs, joints) into (envs, nq)."""
        if not self.balls:
            qpos[:, self.qpos_index] = values
            return
        import numpy as np

        plain = np.ones(len(self.names), bool)
        for column, address in self.balls:
            plain[column : column + 3] = False
            qpos[:, address : address + 4] = quaternion(values[:, column : column + 3])
        qpos[:, self.qpos_index[plain]] = values[:, plain]


def rotation_vector(quat_wxyz: Array) -> Array:
    """Axis times angle in (−π, π], (n, 3) from (n, 4)."""
    import numpy as np

    sign = np.where(quat_wxyz[:, :1] < 0, -1.0, 1.0)
    w, xyz = quat_wxyz[:, :1] * sign, quat_wxyz[:, 1:] * sign
    length = np.linalg.norm(xyz, axis=1, keepdims=True)
    angle = 2 * np.arctan2(length, w)
    return xyz * np.where(length > 1e-12, angle / np.maximum(length, 1e-300), 2.0)


def quaternion(vector: Array) -> Array:
    """The inverse of `rotation_vector`."""
    import numpy as np

    angle = np.linalg.norm(vector, axis=1, keepdims=True)
    scale = np.where(angle > 1e-12, np.sin(angle / 2) / np.maximum(angle, 1e-300), 0.5)
    return np.concatenate([np.cos(angle / 2), vector * scale], axis=1)
