"""Three-vectors as tuples, quaternions as arrays wxyz: what compiled code does without allocating."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from isaaclab_mirror.physics.emulation.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Vector = tuple[float, float, float]
Three = Sequence[float] | Floats
Arms = tuple[Vector, Vector]
"""To a point from the tree's centre of mass (there MuJoCo's cdof is taken), and from the root's."""
R = TypeVar("R", covariant=True)


class Table(Protocol[R]):
    """A numpy array of records, as `tables.table` makes it."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, index: int, /) -> R: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[R]: ...


@compiled
def cross(a: Three, b: Three) -> Vector:
    """a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@compiled
def dot(a: Three, b: Three) -> float:
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def minus(a: Three, b: Three) -> Vector:
    """a − b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@compiled
def plus(a: Three, b: Three) -> Vector:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@compiled
def times(factor: float, a: Three) -> Vector:
    """factor · a."""
    return (factor * a[0], factor * a[1], factor * a[2])


@compiled
def turned(matrix: Floats, a: Three) -> Vector:
    """R a, with R as nine numbers, row by row (MuJoCo's xmat)."""
    return (
        matrix[0] * a[0] + matrix[1] * a[1] + matrix[2] * a[2],
        matrix[3] * a[0] + matrix[4] * a[1] + matrix[5] * a[2],
        matrix[6] * a[0] + matrix[7] * a[1] + matrix[8] * a[2],
    )


@compiled
def turned_back(matrix: Floats, a: Three) -> Vector:
    """Rᵀ a."""
    return (
        matrix[0] * a[0] + matrix[3] * a[1] + matrix[6] * a[2],
        matrix[1] * a[0] + matrix[4] * a[1] + matrix[7] * a[2],
        matrix[2] * a[0] + matrix[5] * a[1] + matrix[8] * a[2],
    )


@compiled
def rotate_quaternion(quat_wxyz: Floats, turn_w: Three) -> None:
    """Turn in place by a rotation vector in world axes [rad]."""
    angle = math.sqrt(dot(turn_w, turn_w))
    if angle == 0.0:
        return
    half = math.sin(0.5 * angle) / angle
    w, x, y, z = math.cos(0.5 * angle), half * turn_w[0], half * turn_w[1], half * turn_w[2]
    a, b, c, d = quat_wxyz[0], quat_wxyz[1], quat_wxyz[2], quat_wxyz[3]
    quat_wxyz[0] = w * a - x * b - y * c - z * d
    quat_wxyz[1] = w * b + x * a + y * d - z * c
    quat_wxyz[2] = w * c - x * d + y * a + z * b
    quat_wxyz[3] = w * d + x * c - y * b + z * a
    length = math.sqrt((quat_wxyz * quat_wxyz).sum())
    for k in range(4):
        quat_wxyz[k] /= length


@compiled
def quaternion_turned(quat_wxyz: Floats, a: Three) -> Vector:
    """The vector turned by the quaternion."""
    u = (quat_wxyz[1], quat_wxyz[2], quat_wxyz[3])
    t = times(2.0, cross(u, a))
    return plus(plus(a, times(quat_wxyz[0], t)), cross(u, t))


@compiled
def quaternion_turned_back(quat_wxyz: Floats, a: Three) -> Vector:
    """The vector turned by the inverse quaternion."""
    u = (-quat_wxyz[1], -quat_wxyz[2], -quat_wxyz[3])
    t = times(2.0, cross(u, a))
    return plus(plus(a, times(quat_wxyz[0], t)), cross(u, t))


@compiled
def solved_symmetric(inertia: Floats, b: Three) -> Vector:
    """x with I x = b, I as xx, yy, zz, xy, xz, yz (MuJoCo's order)."""
    xx, yy, zz, xy, xz, yz = inertia[0], inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]
    column_0, column_1, column_2 = (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
    determinant = dot(column_0, cross(column_1, column_2))
    return (
        dot(b, cross(column_1, column_2)) / determinant,
        dot(column_0, cross(b, column_2)) / determinant,
        dot(column_0, cross(column_1, b)) / determinant,
    )
