"""Rotations and angles on arrays (…, 3) and (…, 4) wxyz, as Isaac Lab's `utils.math` defines them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isaaclab_mirror.sims.batched import cross, matrices, multiply, rotate, rotate_back

Array = NDArray[Any]
"""Floats unless a docstring says otherwise; the first axis is the environment."""

__all__ = [
    "Array",
    "all_of",
    "any_of",
    "axis_angle",
    "clipped",
    "combine_frames",
    "conjugate",
    "cross",
    "error_angle",
    "euler_xyz",
    "heading",
    "matrices",
    "matrix_of",
    "multiply",
    "normalized",
    "quat_from_axis_angle",
    "quat_from_euler",
    "random_quaternions",
    "rotate",
    "rotate_back",
    "subtract_frames",
    "uniform",
    "unique",
    "wrap_to_pi",
    "yaw_quat",
]


def conjugate(quat: Array) -> Array:
    """The inverse of unit quaternions."""
    return quat * np.array([1.0, -1.0, -1.0, -1.0])


def _matrix_law() -> Array:
    """(16, 9): the entries of R(q) as sums of the products qᵢ qⱼ."""
    law = np.zeros((4, 4, 3, 3))
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        law[0, 0, a, a] += 1.0
        law[a + 1, a + 1, a, a] += 1.0
        law[b + 1, b + 1, a, a] -= 1.0
        law[c + 1, c + 1, a, a] -= 1.0
        law[a + 1, b + 1, a, b] += 2.0
        law[a + 1, b + 1, b, a] += 2.0
        law[0, c + 1, a, b] -= 2.0
        law[0, c + 1, b, a] += 2.0
    return law.reshape(16, 9)


_MATRIX_LAW = _matrix_law()


def matrix_of(quat: Array) -> Array:
    """R(q) (n, 3, 3) of unit quaternions (n, 4), by one product: five times as fast as `matrices` on small arrays."""
    products = quat[:, :, None] * quat[:, None, :]
    return (products.reshape(-1, 16) @ _MATRIX_LAW).reshape(-1, 3, 3)


def normalized(quat: Array) -> Array:
    """Of unit length."""
    return quat / np.linalg.norm(quat, axis=-1, keepdims=True)


def unique(quat: Array) -> Array:
    """The sign with w ≥ 0."""
    return np.where(quat[..., :1] < 0.0, -quat, quat)


def wrap_to_pi(angle: Array) -> Array:
    """Into [−π, π]; ±π keep their sign."""
    wrapped = np.mod(angle + np.pi, 2.0 * np.pi)
    return np.where((wrapped == 0.0) & (angle > 0.0), np.pi, wrapped - np.pi)


def heading(quat: Array) -> Array:
    """Direction of the body's x axis in the world's xy plane [rad]."""
    w, x, y, z = np.moveaxis(quat, -1, 0)
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def yaw_quat(quat: Array) -> Array:
    """The rotation about z alone."""
    half = heading(quat) / 2.0
    zero = np.zeros_like(half)
    return np.stack([np.cos(half), zero, zero, np.sin(half)], axis=-1)


def euler_xyz(quat: Array) -> tuple[Array, Array, Array]:
    """Roll, pitch, yaw [rad] with R = Rz(yaw)·Ry(pitch)·Rx(roll), in [−π, π]."""
    w, x, y, z = np.moveaxis(quat, -1, 0)
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))
    return roll, pitch, heading(quat)


def quat_from_euler(roll: Array, pitch: Array, yaw: Array) -> Array:
    """The inverse of `euler_xyz`."""
    cr, sr, cp, sp = np.cos(roll / 2), np.sin(roll / 2), np.cos(pitch / 2), np.sin(pitch / 2)
    cy, sy = np.cos(yaw / 2), np.sin(yaw / 2)
    parts = [
        cy * cp * cr + sy * sp * sr,
        cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr,
        sy * cp * cr - cy * sp * sr,
    ]
    return np.stack(parts, axis=-1)


def quat_from_axis_angle(vector: Array) -> Array:
    """Rotation of |v| radians about v."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    safe = np.where(angle > 1e-12, angle, 1.0)
    xyz = np.where(angle > 1e-12, np.sin(angle / 2.0) / safe, 0.5) * vector
    return np.concatenate([np.cos(angle / 2.0), xyz], axis=-1)


def axis_angle(quat: Array) -> Array:
    """Rotation vector [rad] of the shorter way."""
    quat = unique(quat)
    sine = np.linalg.norm(quat[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, quat[..., :1])
    safe = np.where(sine > 1e-6, sine, 1.0)
    return quat[..., 1:] * np.where(sine > 1e-6, angle / safe, 2.0)


def error_angle(a: Array, b: Array) -> Array:
    """Angle between two orientations [rad], (…,)."""
    return np.linalg.norm(axis_angle(multiply(a, conjugate(b))), axis=-1)


def subtract_frames(pos: Array, quat: Array, pos_2: Array, quat_2: Array) -> tuple[Array, Array]:
    """Frame 2 seen from frame 1, both given in a common one."""
    return rotate_back(quat, pos_2 - pos), multiply(conjugate(quat), quat_2)


def combine_frames(pos: Array, quat: Array, pos_b: Array, quat_b: Array) -> tuple[Array, Array]:
    """Frame b of frame 1 in the frame that holds frame 1."""
    return pos + rotate(quat, np.broadcast_to(pos_b, pos.shape)), multiply(quat, np.broadcast_to(quat_b, quat.shape))


def any_of(mask: Array) -> Array:
    """Whether any of a row holds, (env_count,)."""
    return np.logical_or.reduce(mask, axis=1)


def all_of(mask: Array) -> Array:
    """Whether all of a row hold, (env_count,)."""
    return np.logical_and.reduce(mask, axis=1)


def clipped(values: Array, low: Any, high: Any) -> Array:
    """Between two bounds; faster than np.clip on small arrays."""
    return np.minimum(np.maximum(values, low), high)


def uniform(rng: np.random.Generator, bounds: Any, shape: int | tuple[int, ...]) -> Array:
    """Drawn between two bounds (numbers, or arrays that broadcast)."""
    low, high = bounds
    return low + (np.asarray(high) - low) * rng.random(shape)


def random_quaternions(rng: np.random.Generator, count: int) -> Array:
    """Uniform on all orientations."""
    return normalized(rng.standard_normal((count, 4)))
