"""Static parity of two simulators of one robot, by name: structure, masses, kinematics, dynamics, limits, IK."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isaaclab_mirror.comparison.excitation import JointFacts, random_configurations, worst
from isaaclab_mirror.comparison.inverse_kinematics import ik_row
from isaaclab_mirror.comparison.rows import ACTUATOR, DYNAMIC, KINEMATIC, Row, Skipped
from isaaclab_mirror.comparison.two import Two, put, spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticLimits:
    """Limits of the static rows. The standard's 1e-6 asks float64 of both; PhysX computes in float32."""

    position_m: float = 1e-5
    rotation_rad: float = 1e-5
    jacobian: float = 1e-5
    mass_matrix: float = 1e-4
    bias: float = 1e-4
    mass: float = 1e-5
    com_m: float = 1e-5
    joint_limit: float = 1e-6
    """Relative to 1 rad or m: a float32 of π is 9e-8 off."""
    gains: float = 1e-5
    ik_rad: float = 1e-5


def static_rows(
    two: Two,
    facts: JointFacts,
    *,
    limits: StaticLimits | None = None,
    count: int = 16,
    titles: tuple[str, str] = ("PhysX", "MuJoCo"),
    expected_missing: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> tuple[list[Row], list[Skipped]]:
    """All static rows; joints and links `expected_missing` on one side are no failure."""
    limits = limits or StaticLimits()
    rows = [structure_row(two, titles, expected_missing), *_mass_rows(two, limits)]
    skipped: list[Skipped] = []
    if two.joints:
        rows += _joint_rows(two, limits, titles)
    else:
        reason = "there is no joint"
        skipped += [Skipped(name=name, reason=reason) for name in ("joint limits", "drive gains", "inverse kinematics")]
    rows += _configuration_rows(two, facts, limits, count, progress)
    if two.joints:
        row = ik_row(two, facts, limits.ik_rad)
        if isinstance(row, Row):
            rows.append(row)
        else:
            skipped.append(row)
    return rows, skipped


def structure_row(two: Two, titles: tuple[str, str], expected: Sequence[str] = ()) -> Row:
    """Links and joints that only one side has, and a base that only one side holds."""
    a, b = two.a, two.b
    odd = [
        *(f"joint {n} only in {titles[0]}" for n in a.joint_names if n not in b.joint_names and n not in expected),
        *(f"joint {n} only in {titles[1]}" for n in b.joint_names if n not in a.joint_names and n not in expected),
        *(f"link {n} only in {titles[0]}" for n in a.link_names if n not in b.link_names and n not in expected),
        *(f"link {n} only in {titles[1]}" for n in b.link_names if n not in a.link_names and n not in expected),
    ]
    if a.fixed_base != b.fixed_base:
        odd.append(f"the base is fixed in {titles[0] if a.fixed_base else titles[1]} alone")
    where = "; ".join(odd[:3]) + ("; …" if len(odd) > 3 else "")
    size = f"{len(two.links)} links and {len(two.joints)} joints in both"
    return Row(name="links, joints, base", value=len(odd), limit=0, unit="", code=KINEMATIC, where=where, note=size)


def _mass_rows(two: Two, limits: StaticLimits) -> list[Row]:
    import numpy as np

    columns = [[sim.link_names.index(n) for n in two.links] for sim in (two.a, two.b)]
    masses = [sim.masses()[c] for sim, c in zip((two.a, two.b), columns, strict=True)]
    total = [float(sim.masses().sum()) for sim in (two.a, two.b)]
    # a link of a thousandth of the robot is judged against that thousandth
    scale = np.maximum(np.maximum(*masses), 1e-3 * max(max(total), 1e-12))
    value, where = worst(two.links, np.abs(masses[0] - masses[1]) / scale)
    whole = abs(total[0] - total[1]) / max(*total, 1e-12)
    rows = [
        Row(name="link masses", value=value, limit=limits.mass, unit="rel", code=DYNAMIC, where=where),
        Row(
            name="total mass",
            value=whole,
            limit=limits.mass,
            unit="rel",
            code=DYNAMIC,
            note=f"{total[0]:.6g} and {total[1]:.6g} kg",
        ),
    ]
    coms = [sim.centers_of_mass()[c] for sim, c in zip((two.a, two.b), columns, strict=True)]
    value, where = worst(two.links, np.linalg.norm(coms[0] - coms[1], axis=1))
    return [*rows, Row(name="centres of mass", value=value, limit=limits.com_m, unit="m", code=DYNAMIC, where=where)]


def _joint_rows(two: Two, limits: StaticLimits, titles: tuple[str, str]) -> list[Row]:
    import numpy as np

    spans = [sim.joint_limits()[two.columns(sim)] for sim in (two.a, two.b)]
    same = (spans[0] == spans[1]) | (np.isinf(spans[0]) & np.isinf(spans[1]))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(spans[0] - spans[1]) / np.maximum(1.0, np.abs(spans[1])))
    apart = np.where(np.isnan(apart), np.inf, apart)
    value, where = _largest(two.joints, apart.max(axis=1))
    rows = [
        Row(
            name="joint limits",
            value=value,
            limit=limits.joint_limit,
            unit="rad or m",
            code=KINEMATIC,
            where=where,
            note="exact but for float32",
        )
    ]
    tables = [(*sim.gains(), sim.effort_limits()) for sim in (two.a, two.b)]
    gaps = np.zeros(len(two.joints))
    for first, second in zip(*tables, strict=True):
        x, y = first[two.columns(two.a)], second[two.columns(two.b)]
        with np.errstate(invalid="ignore"):
            gap = np.where(x == y, 0.0, np.abs(x - y) / np.maximum(np.maximum(np.abs(x), np.abs(y)), 1e-12))
        gaps = np.maximum(gaps, np.where(np.isnan(gap), np.inf, gap))
    value, where = _largest(two.joints, gaps)
    rows.append(
        Row(name="drive gains, effort limits", value=value, limit=limits.gains, unit="rel", code=DYNAMIC, where=where)
    )
    return [*rows, _actuator_row(two, titles)]


def _largest(names: Sequence[str], values: Array) -> tuple[float, str]:
    """As `worst`, where infinity is a value: a limit that one side does not have."""
    k = int(values.argmax())
    return float(min(values[k], 1e30)), names[k] if values[k] > 0 else ""


def _actuator_row(two: Two, titles: tuple[str, str]) -> Row:
    """Joints that one side drives and the other does not."""
    import numpy as np

    driven: list[NDArray[np.bool_]] = []
    for sim in (two.a, two.b):
        kp, kd = sim.gains()
        driven.append((((kp > 0) | (kd > 0)) & (sim.effort_limits() > 0))[two.columns(sim)])
    odd = np.flatnonzero(driven[0] != driven[1])
    where = ", ".join(f"{two.joints[k]} only in {titles[0] if driven[0][k] else titles[1]}" for k in odd[:3])
    note = f"{int((driven[0] & driven[1]).sum())} of {len(two.joints)} joints driven in both"
    return Row(name="driven joints", value=len(odd), limit=0, unit="", code=ACTUATOR, where=where, note=note)


def _configuration_rows(
    two: Two, facts: JointFacts, limits: StaticLimits, count: int, progress: Callable[[float], None] | None
) -> list[Row]:
    """FK, Jacobian, mass matrix and bias over random configurations and velocities."""
    import numpy as np

    rng = np.random.default_rng(7)
    worst_of: dict[str, tuple[float, str]] = {}

    def note(name: str, value: float, where: str) -> None:
        if not value <= worst_of.get(name, (-1.0, ""))[0]:
            worst_of[name] = (float(value), where)

    some = spread(two.links, 6)
    fastest = 0.5 * facts.velocity_limit  # PhysX slows down what is faster than its limit
    floating = not (two.a.fixed_base or two.b.fixed_base)
    for k, configuration in enumerate(random_configurations(facts, count)):
        speed = np.clip(rng.normal(0.0, 1.0, len(facts.names)) * (k > 0), -fastest, fastest)
        speed[facts.followers] = 0.0
        turn = rng.normal(0.0, 1.0, 4)
        quat = np.array([1.0, 0, 0, 0]) if k == 0 else turn / np.linalg.norm(turn)
        twist = rng.normal(0.0, 0.5, 3) * (k > 0)
        for sim in (two.a, two.b):
            put(sim, facts.names, configuration, speed, (quat, twist) if floating else None)
        _compare_links(two, note)
        for link in some if two.generalized(two.a).size else ():
            first, second = (sim.jacobian(link)[0][:, two.generalized(sim)] for sim in (two.a, two.b))
            if first.size:
                note("jacobian", float(np.abs(first - second).max()), link)
        _compare_dynamics(two, note)
        if progress is not None:
            progress(1.0)
    rows = [
        ("forward kinematics, position", "position", limits.position_m, "m", KINEMATIC),
        ("forward kinematics, rotation", "rotation", limits.rotation_rad, "rad", KINEMATIC),
        ("Jacobian", "jacobian", limits.jacobian, "m, rad", KINEMATIC),
        ("mass matrix", "mass_matrix", limits.mass_matrix, "rel", DYNAMIC),
        ("bias forces", "bias", limits.bias, "rel", DYNAMIC),
    ]
    text = f"{count} configurations" + (" of base and joints" if floating else "")
    notes = {
        "mass_matrix": "armature included, |ΔMij|/√(Mii·Mjj)",
        "bias": "gravity, Coriolis; of the largest",
        "jacobian": f"{len(some)} links",
    }
    return [
        Row(
            name=title,
            value=worst_of[key][0],
            limit=limit,
            unit=unit,
            code=code,
            where=worst_of[key][1],
            note=notes.get(key, text),
        )
        for title, key, limit, unit, code in rows
        if key in worst_of
    ]


def _compare_links(two: Two, note: Callable[[str, float, str], None]) -> None:
    import numpy as np

    places: list[Array] = []
    turns: list[Array] = []
    for sim in (two.a, two.b):
        state = sim.read()
        columns = [sim.link_names.index(name) for name in two.links]
        places.append(state.link_pos_w[0][columns])
        turns.append(state.link_quat_wxyz[0][columns])
    apart = np.linalg.norm(places[0] - places[1], axis=1)
    note("position", *worst(two.links, apart))
    sign = np.sign((turns[0] * turns[1]).sum(axis=1, keepdims=True))
    angle = 2 * np.linalg.norm(turns[0] - sign * turns[1], axis=1)  # small-angle: 2 sin(θ/2)·2 …
    note("rotation", *worst(two.links, angle))


def _compare_dynamics(two: Two, note: Callable[[str, float, str], None]) -> None:
    import numpy as np

    picks = [two.generalized(sim) for sim in (two.a, two.b)]
    if not picks[0].size:
        return
    first, second = (sim.mass_matrix()[0][np.ix_(p, p)] for sim, p in zip((two.a, two.b), picks, strict=True))
    names = [*["base"] * (len(picks[0]) - len(two.joints)), *two.joints]
    diagonal = np.sqrt(np.maximum(np.diag(second), 1e-12))
    gaps = np.abs(first - second) / np.outer(diagonal, diagonal)
    note("mass_matrix", *worst(names, gaps.max(axis=1)))
    first, second = (sim.bias()[0][p] for sim, p in zip((two.a, two.b), picks, strict=True))
    note("bias", *worst(names, np.abs(first - second) / max(float(np.abs(second).max()), 1e-3)))
