"""Curves of two engines beside each other, by matplotlib without a display."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError

if TYPE_CHECKING:
    from isaaclab_mirror.comparison.recording import Pair, Recording

PHYSX, MUJOCO, TARGET = "#76b900", "#1f6fb4", "#888888"
MOST_JOINTS = 12
"""Panels of one figure: the joints that are furthest apart."""


def draw_pairs(pairs: Sequence[Pair], folder: Path) -> list[Path]:
    """One figure per trial, as PNG; the files."""
    if not pairs:
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "E036", folder, f"the folder of plots cannot be made: {error.strerror}", "choose another"
        ) from error
    return [_draw(pair, folder) for pair in pairs]


def _draw(pair: Pair, folder: Path) -> Path:
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    grounded = bool(np.isfinite(pair.physx.force_w).any())
    joints = [] if grounded else _furthest(pair)
    panels = 3 if grounded else len(joints)
    columns = 1 if panels <= 3 else 3
    rows = -(-panels // columns)
    figure = Figure(figsize=(4.4 * columns + 1.5, 2.1 * rows + 0.8), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    if grounded:
        _draw_ground(pair, axes)
    else:
        for axis, joint in zip(axes, joints, strict=False):
            _draw_joint(pair, joint, axis)
    for axis in axes[panels:]:
        axis.set_visible(False)
    figure.suptitle(pair.trial)
    file = folder / f"{_file_name(pair.trial)}.png"
    figure.savefig(file, dpi=110)
    return file


def _furthest(pair: Pair) -> list[int]:
    """Columns of the joints that are furthest apart, in the robot's order."""
    import numpy as np

    count = min(len(pair.physx.time_s), len(pair.mujoco.time_s))
    apart = np.abs(pair.physx.joint_pos[:count] - pair.mujoco.joint_pos[:count]).max(axis=0)
    return sorted(np.argsort(-np.nan_to_num(apart, nan=np.inf))[:MOST_JOINTS].tolist())


def _draw_joint(pair: Pair, joint: int, axis: Any) -> None:
    if pair.targets is not None:
        time = pair.mujoco.time_s[: len(pair.targets)]
        axis.plot(time, pair.targets[:, joint], color=TARGET, lw=0.8, ls=":", label="target")
    _curves(pair, axis, lambda record: record.joint_pos[:, joint])
    axis.set_title(pair.joint_names[joint], fontsize=8)
    axis.set_ylabel(pair.units[joint], fontsize=8)


def _draw_ground(pair: Pair, axes: Any) -> None:
    import numpy as np

    names = ("height of the base [m]", "level speed of the base [m/s]", "upward force of the ground [N]")
    reads = (
        lambda run: run.root_pos_w[:, 2],
        lambda run: np.hypot(run.root_lin_vel_w[:, 0], run.root_lin_vel_w[:, 1]),
        lambda run: run.force_w[:, 2],
    )
    for axis, name, read in zip(axes, names, reads, strict=False):
        _curves(pair, axis, read)
        axis.set_title(name, fontsize=8)


def _curves(pair: Pair, axis: Any, read: Any) -> None:
    for name, colour, width, record in (("PhysX", PHYSX, 1.8, pair.physx), ("MuJoCo", MUJOCO, 1.0, pair.mujoco)):
        _curve(axis, name, colour, width, record, read)
    axis.tick_params(labelsize=7)
    axis.legend(fontsize=6, loc="best")


def _curve(axis: Any, name: str, colour: str, width: float, record: Recording, read: Any) -> None:
    axis.plot(record.time_s, read(record), color=colour, lw=width, label=name)


def _file_name(trial: str) -> str:
    return re.sub(r"[^0-9A-Za-z_.-]+", "_", trial).strip("_")[:80]
