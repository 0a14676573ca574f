"""The few pose functions: quaternions wxyz, plain tuples (a robot has hundreds of poses, not millions).

USD's Gf and MuJoCo use wxyz too; PhysX tensors and scipy are xyzw: convert at those borders only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]

IDENTITY_QUAT: Quat = (1.0, 0.0, 0.0, 0.0)


def quat_multiply(a: Quat, b: Quat) -> Quat:
    """a then b in a's frame: R(a)·R(b)."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def quat_conjugate(q: Quat) -> Quat:
    """The inverse of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


def quat_normalize(q: Quat) -> Quat:
    """Unit length; the zero quaternion becomes the identity."""
    n = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (q[0] / n, q[1] / n, q[2] / n, q[3] / n) if n > 0.0 else IDENTITY_QUAT


def rotate(q: Quat, v: Vec3) -> Vec3:
    """R(q)·v."""
    w, x, y, z = q
    tx, ty, tz = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    return (
        v[0] + w * tx + y * tz - z * ty,
        v[1] + w * ty + z * tx - x * tz,
        v[2] + w * tz + x * ty - y * tx,
    )


def quat_from_axis_angle(axis: Vec3, angle_rad: float) -> Quat:
    """Rotation about a unit axis."""
    s = math.sin(angle_rad / 2)
    return (math.cos(angle_rad / 2), axis[0] * s, axis[1] * s, axis[2] * s)


def quat_from_matrix(m: tuple[Vec3, Vec3, Vec3]) -> Quat:
    """From the rows of a rotation matrix (Shepperd: the largest component first, so that no digit is lost)."""
    (a, b, c), (d, e, f), (g, h, i) = m
    trace = a + e + i
    if trace >= max(a, e, i):
        w = math.sqrt(max(1 + trace, 0.0)) / 2
        return quat_normalize((w, (h - f) / (4 * w), (c - g) / (4 * w), (d - b) / (4 * w)))
    if a >= e and a >= i:
        x = math.sqrt(max(1 + a - e - i, 0.0)) / 2
        return quat_normalize(((h - f) / (4 * x), x, (b + d) / (4 * x), (c + g) / (4 * x)))
    if e >= i:
        y = math.sqrt(max(1 + e - a - i, 0.0)) / 2
        return quat_normalize(((c - g) / (4 * y), (b + d) / (4 * y), y, (f + h) / (4 * y)))
    z = math.sqrt(max(1 + i - a - e, 0.0)) / 2
    return quat_normalize(((d - b) / (4 * z), (c + g) / (4 * z), (f + h) / (4 * z), z))


def matrix_from_quat(q: Quat) -> tuple[Vec3, Vec3, Vec3]:
    """Rows of the rotation matrix of a unit quaternion."""
    w, x, y, z = q
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def rpy_from_quat(q: Quat) -> Vec3:
    """Roll, pitch, yaw [rad] as URDF and SDF mean them, R = Rz(yaw)·Ry(pitch)·Rx(roll), exact beside gimbal lock too.

    There roll and yaw are each known badly, but any error of the yaw taken first is made good by a roll that is read
    from Rz(−yaw)·R. Measured within 1e-8 rad of the lock: 4e-16, against 4e-7 with both read from R.
    """
    m = matrix_from_quat(quat_normalize(q))
    # Below the rounding of the matrix the yaw is noise: 0 is as good, and readable.
    yaw = math.atan2(m[1][0], m[0][0]) if math.hypot(m[0][0], m[1][0]) > 1e-15 else 0.0
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * m[0][2] - c * m[1][2], c * m[1][1] - s * m[0][1])
    return (roll, math.atan2(-m[2][0], c * m[0][0] + s * m[1][0]), yaw)


def quat_from_rpy(rpy: Vec3) -> Quat:
    """The inverse of `rpy_from_quat`."""
    roll, pitch, yaw = rpy
    return quat_multiply(
        quat_from_axis_angle((0.0, 0.0, 1.0), yaw),
        quat_multiply(quat_from_axis_angle((0.0, 1.0, 0.0), pitch), quat_from_axis_angle((1.0, 0.0, 0.0), roll)),
    )


@dataclass(frozen=True, slots=True)
class Pose:
    """A frame in another frame: position [m] and orientation."""

    pos: Vec3 = (0.0, 0.0, 0.0)
    quat_wxyz: Quat = IDENTITY_QUAT

    def __matmul__(self, other: Pose) -> Pose:
        """This frame, then the other in it."""
        x, y, z = rotate(self.quat_wxyz, other.pos)
        p = self.pos
        return Pose((p[0] + x, p[1] + y, p[2] + z), quat_multiply(self.quat_wxyz, other.quat_wxyz))

    def inverse(self) -> Pose:
        """The other frame in this one."""
        q = quat_conjugate(self.quat_wxyz)
        x, y, z = rotate(q, self.pos)
        return Pose((-x, -y, -z), q)

    def apply(self, point: Vec3) -> Vec3:
        """A point of this frame in the outer one."""
        x, y, z = rotate(self.quat_wxyz, point)
        return (self.pos[0] + x, self.pos[1] + y, self.pos[2] + z)


def is_identity(pose: Pose, tolerance: float = 1e-12) -> bool:
    """Whether a pose does nothing."""
    return max(map(abs, (*pose.pos, *pose.quat_wxyz[1:]))) <= tolerance
