"""The few pose functions on arrays (…, 3) and (…, 4) wxyz that reading a state needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def cross(a: Array, b: Array) -> Array:
    """a × b; three times as fast as numpy's on small arrays."""
    import numpy as np

    if a.size == 3 and b.size == 3 and a.ndim == b.ndim:
        (ax, ay, az), (bx, by, bz) = a.ravel().tolist(), b.ravel().tolist()
        return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]).reshape(a.shape)
    shape = a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape)
    result = np.empty(shape, dtype=a.dtype if a.dtype == b.dtype else np.result_type(a, b))
    result[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    result[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    result[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return result


def rotate(quat_wxyz: Array, vector: Array) -> Array:
    """R(q)·v."""
    if vector.size == 3 and quat_wxyz.size == 4 and vector.ndim == quat_wxyz.ndim:
        return _rotate_one(quat_wxyz, vector, 1.0)
    xyz = quat_wxyz[..., 1:]
    twice = 2.0 * cross(xyz, vector)
    return vector + quat_wxyz[..., :1] * twice + cross(xyz, twice)


def _rotate_one(quat_wxyz: Array, vector: Array, sense: float) -> Array:
    """One environment: plain numbers are eight times as fast as arrays of three."""
    import numpy as np

    (w, x, y, z), (a, b, c) = quat_wxyz.ravel().tolist(), vector.ravel().tolist()
    x, y, z = sense * x, sense * y, sense * z
    u, v, t = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    turned = [a + w * u + y * t - z * v, b + w * v + z * u - x * t, c + w * t + x * v - y * u]
    return np.array(turned).reshape(vector.shape)


def rotate_back(quat_wxyz: Array, vector: Array) -> Array:
    """R(q)ᵀ·v."""
    if vector.size == 3 and quat_wxyz.size == 4 and vector.ndim == quat_wxyz.ndim:
        return _rotate_one(quat_wxyz, vector, -1.0)
    xyz = -quat_wxyz[..., 1:]
    twice = 2.0 * cross(xyz, vector)
    return vector + quat_wxyz[..., :1] * twice + cross(xyz, twice)


def matrices(quat_wxyz: Array) -> Array:
    """R(q), (…, 3, 3)."""
    import numpy as np

    columns = [rotate(quat_wxyz, np.broadcast_to(unit, (*quat_wxyz.shape[:-1], 3))) for unit in np.eye(3)]
    return np.stack(columns, axis=-1)


def skew(vector: Array) -> Array:
    """[v]× with [v]× a = v × a, (…, 3, 3)."""
    import numpy as np

    result = np.zeros((*vector.shape, 3))
    result[..., 0, 1], result[..., 0, 2] = -vector[..., 2], vector[..., 1]
    result[..., 1, 0], result[..., 1, 2] = vector[..., 2], -vector[..., 0]
    result[..., 2, 0], result[..., 2, 1] = -vector[..., 1], vector[..., 0]
    return result


def multiply(a: Array, b: Array) -> Array:
    """R(a)·R(b) as quaternions."""
    import numpy as np

    w = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(axis=-1, keepdims=True)
    xyz = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w, xyz], axis=-1)
