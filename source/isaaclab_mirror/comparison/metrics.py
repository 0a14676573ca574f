"""How far two recordings of the same trial are apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from isaaclab_mirror.comparison.excitation import worst
from isaaclab_mirror.comparison.recording import Pair, Recording
from isaaclab_mirror.comparison.rows import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def joint_rms(a: Recording, b: Recording) -> Array:
    """Root mean square of the difference of every joint over the run [rad or m], (joints,)."""
    import numpy as np

    count = min(len(a.time_s), len(b.time_s))
    return np.sqrt(((a.joint_pos[:count] - b.joint_pos[:count]) ** 2).mean(axis=0))


def joint_peak(a: Recording, b: Recording) -> Array:
    """Largest difference of every joint over the run [rad or m], (joints,)."""
    import numpy as np

    count = min(len(a.time_s), len(b.time_s))
    return np.abs(a.joint_pos[:count] - b.joint_pos[:count]).max(axis=0)


def failure_note(pair: Pair) -> str:
    """What an engine said that gave up; empty where both went through."""
    for record in (pair.physx, pair.mujoco):
        if record.failure is not None:
            return str(record.failure.diagnostic.message)
    return ""


def joint_rows(
    pair: Pair, title: str, limits: dict[str, float], code: str, *, judged: Sequence[bool], note: str, required: bool
) -> list[Row]:
    """One row per unit: the largest rms difference of the judged joints. `limits`: by unit."""
    import numpy as np

    rows: list[Row] = []
    failed = failure_note(pair)
    apart = joint_rms(pair.physx, pair.mujoco)
    noise = None if pair.nudged is None else joint_rms(pair.physx, pair.nudged)
    for unit, limit in limits.items():
        mine = np.array([u == unit and j for u, j in zip(pair.units, judged, strict=True)], dtype=bool)
        if not mine.any():
            continue
        names = [name for name, m in zip(pair.joint_names, mine, strict=True) if m]
        value, where = worst(names, apart[mine])
        rows.append(
            Row(
                name=title if unit == "rad" else f"{title}, slides",
                value=float("nan") if failed else value,
                limit=limit,
                unit=unit,
                code=code,
                where=where,
                note=failed or note,
                noise=None if noise is None else float(noise[mine].max()),
                required=required,
                parts={} if failed else dict(zip(names, apart[mine].tolist(), strict=True)),
            )
        )
    return rows
