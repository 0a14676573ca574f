"""Small readers of attributes and transforms: plain Python values in SI units, refused when they are not finite."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError, Source
from isaaclab_mirror.rotations import Pose, Quat, Vec3, quat_from_matrix, quat_normalize

if TYPE_CHECKING:
    from pxr import Gf, Usd

UNLIMITED = 1e30
"""PhysX and USD say "none" with inf or the largest float32."""


def value(prim: Usd.Prim, name: str, default: Any = None) -> Any:
    """An attribute's value, or the default where it is neither authored nor given by a schema."""
    attribute = prim.GetAttribute(name)
    if not attribute:
        return default
    found = attribute.Get()
    return default if found is None else found


def authored(prim: Usd.Prim, name: str) -> Any:
    """An attribute's authored value, or None."""
    attribute = prim.GetAttribute(name)
    return attribute.Get() if attribute and attribute.HasAuthoredValue() else None


def shortest(x: float) -> float:
    """The shortest decimal that is the same float32: what the author wrote (0.6, not 0.600000023841858)."""
    if x == 0.0 or not math.isfinite(x):
        return x
    try:
        if struct.unpack("f", struct.pack("f", x))[0] != x:
            return x  # a double: every digit is the author's
    except OverflowError:
        return x
    for digits in (6, 7, 8, 9):
        short = float(f"{x:.{digits}g}")
        if struct.unpack("f", struct.pack("f", short))[0] == x:
            return short
    return x


def number(prim: Usd.Prim, name: str, file: Path) -> float | None:
    """An authored number; refused where it is not finite."""
    found = bound(prim, name, file)
    if found is not None and abs(found) > UNLIMITED:
        raise InputError("E014", _place(prim, name, file), f"the value is {found}", "author a finite value")
    return found


def bound(prim: Usd.Prim, name: str, file: Path) -> float | None:
    """An authored number that may be infinite, which says "no limit" or "not computed". NaN is refused."""
    found = authored(prim, name)
    if found is None:
        return None
    if not isinstance(found, int | float):
        raise InputError("E014", _place(prim, name, file), f"expected a number, found {found!r}", "author a number")
    if math.isnan(found):
        raise InputError("E014", _place(prim, name, file), "the value is not a number", "author a finite value")
    return shortest(float(found))


def limit(prim: Usd.Prim, name: str, file: Path) -> float | None:
    """A bound; None where it is unauthored or infinite."""
    found = bound(prim, name, file)
    return None if found is None or abs(found) > UNLIMITED else found


def vec3(prim: Usd.Prim, name: str, file: Path) -> Vec3 | None:
    """An authored, finite vector; None where it is unauthored or marked as such: USD does it with three times −inf."""
    found = authored(prim, name)
    if found is None:
        return None
    vector = components(prim, name, found, file)
    if all(c < -UNLIMITED for c in vector):
        return None
    if not all(abs(c) <= UNLIMITED for c in vector):
        raise InputError("E014", _place(prim, name, file), f"the value is {vector}", "author finite values")
    return (shortest(vector[0]), shortest(vector[1]), shortest(vector[2]))


def real(prim: Usd.Prim, name: str, default: float) -> float:
    """A number, authored or a schema's; infinities stay."""
    return _float(prim, name, value(prim, name, default))


def reals(prim: Usd.Prim, name: str, default: tuple[float, ...] = ()) -> tuple[float, ...]:
    """The numbers of an authored array or vector; infinities stay."""
    found = authored(prim, name)
    if found is None:
        return default
    if isinstance(found, str) or not hasattr(found, "__getitem__"):  # Gf's vectors have no __iter__
        raise InputError("E014", _place(prim, name), f"expected numbers, found {found!r}", "author an array")
    return tuple(_float(prim, name, c) for c in found)


def plain(prim: Usd.Prim, name: str) -> Any:
    """An authored value as plain Python: a word, a truth, a number or a tuple of numbers; None where unauthored."""
    found = authored(prim, name)
    if found is None or isinstance(found, str | bool | int):
        return found
    return _float(prim, name, found) if isinstance(found, float) else reals(prim, name)


def _float(prim: Usd.Prim, name: str, found: Any) -> float:
    if not isinstance(found, int | float) or math.isnan(found):
        raise InputError("E014", _place(prim, name), f"expected a number, found {found!r}", "author a finite value")
    return float(found)


def _place(prim: Usd.Prim, name: str, file: Path | None = None) -> Source:
    return Source(file or Path(prim.GetStage().GetRootLayer().realPath), f"{prim.GetPath()}.{name}")


def components(prim: Usd.Prim, name: str, found: Any, file: Path) -> Vec3:
    """A value as the three numbers that it must be."""
    try:
        x, y, z = (float(c) for c in found)
    except (TypeError, ValueError):
        why = f"expected three numbers, found {found!r}"
        raise InputError("E014", _place(prim, name, file), why, "author a vector") from None
    return (x, y, z)


def point(prim: Usd.Prim, name: str, file: Path) -> Vec3:
    """A position; the origin where it is unauthored, refused where it is not finite."""
    found = value(prim, name)
    if found is None:
        return (0.0, 0.0, 0.0)
    x, y, z = components(prim, name, found, file)
    if not all(abs(c) <= UNLIMITED for c in (x, y, z)):
        raise InputError("E014", _place(prim, name, file), f"the value is {(x, y, z)}", "author finite values")
    return (shortest(x), shortest(y), shortest(z))


def quat(prim: Usd.Prim, name: str, file: Path | None = None) -> Quat | None:
    """An authored quaternion, normalised; None where unauthored or zero (USD's "not computed")."""
    found = authored(prim, name)
    if found is None:
        return None
    try:
        x, y, z = (float(c) for c in found.GetImaginary())
        q = (float(found.GetReal()), x, y, z)
    except (AttributeError, TypeError, ValueError):
        q = (math.nan, 0.0, 0.0, 0.0)
    if not all(map(math.isfinite, q)):
        raise InputError("E014", _place(prim, name, file), f"{found} is no finite quaternion", "author finite values")
    return quat_normalize(q) if any(q) else None


def axis_token(prim: Usd.Prim, name: str, default: str, file: Path) -> str:
    """X, Y or Z."""
    found = str(value(prim, name, default))
    if found not in ("X", "Y", "Z"):
        raise InputError("E014", _place(prim, name, file), f"{found!r} is no axis", "author X, Y or Z")
    return found


def positive(prim: Usd.Prim, name: str, default: float, file: Path) -> float:
    """A size that a schema gives: finite, else refused; zero and negative ones are the caller's to leave out."""
    found = value(prim, name, default)
    if not isinstance(found, int | float) or not abs(found) <= UNLIMITED:
        raise InputError("E014", _place(prim, name, file), f"the value is {found!r}", "author a positive number")
    return float(found)


def targets(prim: Usd.Prim, name: str) -> list[Any]:
    """Target paths of a relationship."""
    relationship = prim.GetRelationship(name)
    return list(relationship.GetTargets()) if relationship else []


def decompose(matrix: Gf.Matrix4d) -> tuple[Pose, Vec3]:
    """A transform as a pose and the scale along its own axes.

    USD multiplies row vectors: row i of the matrix is the image of axis i. A mirroring is put into all three scales,
    as PhysX does: the pose of a body scaled (−1, 1, 1) reads back as a half turn about x.
    """
    rows = [matrix.GetRow3(i) for i in range(3)]
    scale = [r.GetLength() for r in rows]
    if matrix.GetDeterminant3() < 0:
        scale = [-s for s in scale]
    if 0.0 in scale:
        units = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    else:
        units = [(r[0] / s, r[1] / s, r[2] / s) for r, s in zip(rows, scale, strict=True)]
    a, b, c = units
    if abs(sum(x * y for x, y in zip(a, b, strict=True))) + abs(sum(x * y for x, y in zip(b, c, strict=True))) > 1e-6:
        clean = matrix.RemoveScaleShear()
        a, b, c = (tuple(clean.GetRow3(i)) for i in range(3))
    columns = ((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2]))
    t = matrix.GetRow3(3)
    return Pose((t[0], t[1], t[2]), quat_from_matrix(columns)), (scale[0], scale[1], scale[2])


def shear(matrix: Gf.Matrix4d) -> float:
    """How far a transform's axes are from being perpendicular: the largest cosine between two of them."""
    (a, b, c), (d, e, f), (g, h, i) = (matrix.GetRow3(k) for k in range(3))
    first, second, third = math.hypot(a, b, c) or 1.0, math.hypot(d, e, f) or 1.0, math.hypot(g, h, i) or 1.0
    return max(
        abs(a * d + b * e + c * f) / (first * second),
        abs(a * g + b * h + c * i) / (first * third),
        abs(d * g + e * h + f * i) / (second * third),
    )


def scaled(pose: Pose, factor: float) -> Pose:
    """A pose whose position is in other units of length."""
    return pose if factor == 1.0 else Pose(tuple(c * factor for c in pose.pos), pose.quat_wxyz)  # type: ignore[arg-type]
