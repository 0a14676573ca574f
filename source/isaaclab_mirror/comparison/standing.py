"""Drop and stand, and slip on an incline: what the ground does to a robot in both engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import atan2, cos, degrees, radians, sin
from typing import TYPE_CHECKING

from isaaclab_mirror.comparison.engines import Engines, Variant, benches, is_free
from isaaclab_mirror.comparison.excitation import joint_facts
from isaaclab_mirror.comparison.metrics import failure_note
from isaaclab_mirror.comparison.motions import Found
from isaaclab_mirror.comparison.recording import Pair, Recording, Trial, run_pair
from isaaclab_mirror.comparison.rows import COLLISION, Row
from isaaclab_mirror.sims.mujoco_bottom import lowest_point
from isaaclab_mirror.sims.settings import Ground

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

DROP_M = 0.02
STAND_S, MEASURED_S = 3.0, 1.0
"""Forces are means over the last second, as the standard measures them for one."""
FORCE_LIMIT = 0.05
AT_REST = 0.1
"""Of the weight: when PhysX's own mean force is further from it, nothing rests."""
HEIGHT_LIMIT_M = 0.005
TILT_LIMIT_RAD = 0.02
SLOPES_DEG = (10.0, 35.0)
"""Where the default friction of 0.5 holds and where it does not."""
SLIDE_S = 1.0
SLIP_LIMIT_MPS = 0.05
TOPPLED_RAD = radians(15)


def stand_tests(engines: Engines, variant: Variant, progress: Callable[[float], None]) -> Found:
    """A drop from two centimetres, then three seconds of standing (or lying)."""
    found = Found()
    if not is_free(variant.robot):
        found.skip("drop and stand", "the base is fixed")
        return found
    grounded = replace(variant, settings=replace(variant.settings, ground=variant.settings.ground or Ground()))
    pair = _run(engines, grounded, "drop and stand", STAND_S, DROP_M, found, progress)
    if pair is not None:
        found.rows += _stand_rows(pair, engines, grounded, found)
        found.pairs.append(pair)
    return found


def slip_tests(engines: Engines, variant: Variant, progress: Callable[[float], None]) -> Found:
    """On two slopes: gravity is turned, the ground stays level."""
    found = Found()
    if not is_free(variant.robot):
        found.skip("incline slip", "the base is fixed")
        return found
    for slope in SLOPES_DEG:
        name, angle = f"incline slip at {slope:g}°", radians(slope)
        down = (9.81 * sin(angle), 0.0, -9.81 * cos(angle))
        settings = replace(variant.settings, ground=variant.settings.ground or Ground(), gravity=down)
        pair = _run(engines, replace(variant, settings=settings), name, SLIDE_S, 1e-4, found, progress)
        if pair is None:
            continue
        toppled = max(_turned(record) for record in (pair.physx, pair.nudged or pair.physx))
        if toppled > TOPPLED_RAD:
            found.skip(name, f"it topples before it slips: {degrees(toppled):.0f}° in PhysX")
            continue
        found.rows.append(_slip_row(pair, name))
        found.pairs.append(pair)
    return found


def _run(
    engines: Engines,
    variant: Variant,
    name: str,
    seconds: float,
    height_m: float,
    found: Found,
    progress: Callable[[float], None],
) -> Pair | None:
    """Both engines from the same height above the ground, and PhysX once more from a nudged start."""
    import numpy as np

    physx, mujoco = engines.open(variant)
    low = lowest_point(mujoco.model, mujoco.robot.home_qpos)
    if low is None:
        found.skip(name, "nothing collides")
        return None
    ours, theirs = benches(physx, mujoco, forces=True)
    ground = variant.settings.ground.height_m if variant.settings.ground is not None else 0.0
    facts = joint_facts(variant.robot, mujoco, ours.names)
    root = theirs.root_pos_w + np.array([0.0, 0.0, ground + height_m - low])
    trial = Trial(name=name, seconds=seconds, joint_pos=facts.home, root_pos_w=root)
    return run_pair(ours, theirs, [trial], facts.units, noise=True, progress=progress)[0]


def _stand_rows(pair: Pair, engines: Engines, variant: Variant, found: Found) -> list[Row]:
    import numpy as np

    failed = failure_note(pair)
    physx, mujoco = engines.open(variant)
    weight = float(physx.masses().sum()) * float(np.linalg.norm(variant.settings.gravity))
    forces = [_mean_force(record) for record in (pair.physx, pair.mujoco)]
    if abs(forces[0] - weight) > AT_REST * weight and pair.physx.failure is None:
        found.skip(
            "drop and stand",
            f"PhysX does not come to rest: {forces[0]:.5g} N over the last second, weight {weight:.5g} N",
        )
        return []
    measured = forces[0] > 1e-9 and bool(np.isfinite(forces).all())
    nan = float("nan")
    del mujoco
    noise = None if pair.nudged is None else abs(_mean_force(pair.nudged) - forces[0]) / max(forces[0], 1e-9)
    rows = [
        Row(
            name="resting contact force",
            value=abs(forces[1] - forces[0]) / forces[0] if measured and not failed else nan,
            limit=FORCE_LIMIT,
            unit="rel",
            code=COLLISION,
            note=failed or f"{forces[0]:.5g} and {forces[1]:.5g} N over {MEASURED_S:g} s, weight {weight:.5g} N",
            noise=noise,
        )
    ]
    if failed:
        return rows
    heights = [record.root_pos_w[-1, 2] for record in (pair.physx, pair.mujoco)]
    turned = _angle(pair.physx.root_quat_wxyz[-1], pair.mujoco.root_quat_wxyz[-1])
    lying = _turned(pair.physx) > TOPPLED_RAD
    how = f"after {STAND_S:g} s" + (", it topples" if lying else "")
    for name, value, limit, unit, unsure in (
        ("stand, height of the base", abs(heights[0] - heights[1]), HEIGHT_LIMIT_M, "m", _height_noise(pair)),
        ("stand, attitude of the base", turned, TILT_LIMIT_RAD, "rad", _turn_noise(pair)),
    ):
        rows.append(
            Row(
                name=name,
                value=float(value),
                limit=limit,
                unit=unit,
                code=COLLISION,
                note=how,
                noise=unsure,
                required=False,
            )
        )
    return rows


def _mean_force(record: Recording) -> float:
    """Mean of the upward force over the last second [N]."""
    last = record.time_s > record.time_s[-1] - MEASURED_S + 1e-9
    return float(record.force_w[last, 2].mean())


def _turned(record: Recording) -> float:
    return _angle(record.root_quat_wxyz[0], record.root_quat_wxyz[-1])


def _angle(a: Array, b: Array) -> float:
    """Between two attitudes [rad]."""
    import numpy as np

    cosine = min(1.0, abs(float(np.dot(a, b))))
    return 2 * atan2((1 - cosine * cosine) ** 0.5, cosine)


def _height_noise(pair: Pair) -> float | None:
    if pair.nudged is None:
        return None
    return float(abs(pair.physx.root_pos_w[-1, 2] - pair.nudged.root_pos_w[-1, 2]))


def _turn_noise(pair: Pair) -> float | None:
    return None if pair.nudged is None else _angle(pair.physx.root_quat_wxyz[-1], pair.nudged.root_quat_wxyz[-1])


def _slip_row(pair: Pair, name: str) -> Row:
    import numpy as np

    failed = failure_note(pair)
    speeds = [float(record.root_lin_vel_w[-1, 0]) for record in (pair.physx, pair.mujoco)]
    noise = None
    if pair.nudged is not None and not failed:
        noise = float(np.abs(pair.nudged.root_lin_vel_w[-1, 0] - speeds[0]))
    return Row(
        name=name,
        value=float("nan") if failed else abs(speeds[0] - speeds[1]),
        limit=max(SLIP_LIMIT_MPS, 0.05 * abs(speeds[0])),
        unit="m/s",
        code=COLLISION,
        note=failed or f"{speeds[0]:.3g} and {speeds[1]:.3g} m/s down the slope after {SLIDE_S:g} s",
        noise=noise,
        required=False,
    )
