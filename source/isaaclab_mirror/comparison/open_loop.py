"""Open loop: the actions of one engine's episodes given to another, and how far the two drift apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.traces import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]


class RecordedActions:
    """Chooses what a trace chose, step by step: an actor for `run_episodes`, one environment per episode."""

    input_size: int | None = None

    def __init__(self, trace: Trace) -> None:
        """Episodes are those of the trace, all at once."""
        self.file = Path("recorded actions")
        self._actions = trace.arrays["action"]
        self._step = 0

    @property
    def action_size(self) -> int | None:
        """As recorded."""
        return self._actions.shape[2]

    def __call__(self, observations: Array) -> Array:
        """The next recorded actions; zero beyond an episode's end."""
        import numpy as np

        steps, episodes, size = self._actions.shape
        if len(observations) != episodes:
            raise InputError("E140", self.file, f"{episodes} episodes were recorded, {len(observations)} are run")
        if self._step >= steps:
            return np.zeros((episodes, size), np.float32)
        self._step += 1
        return np.nan_to_num(self._actions[self._step - 1])

    def reset(self, env_ids: Any = None) -> None:
        """From the first step."""
        self._step = 0


@dataclass(frozen=True, slots=True, eq=False)
class Divergence:
    """How far two runs of the same actions are apart, over time."""

    time_s: NDArray[np.float64]
    joint_rms_rad: NDArray[np.float64]
    """Over joints and the episodes that both still run [rad; m for slides]."""
    base_rms_m: NDArray[np.float64]
    """Of the root link's place."""
    worst_joint: str
    """The joint that is furthest apart over the whole time."""

    def at(self, seconds: float) -> float:
        """Joint rms at a time; nan beyond the end."""
        import numpy as np

        later = np.flatnonzero(self.time_s >= seconds - 1e-9)
        return float(self.joint_rms_rad[later[0]]) if later.size else math.nan

    def to_json(self) -> dict[str, Any]:
        """As `--json` writes it; null where no episode runs any more."""
        return {
            "time_s": self.time_s.tolist(),
            "joint_rms_rad": _listed(self.joint_rms_rad),
            "base_rms_m": _listed(self.base_rms_m),
            "worst_joint": self.worst_joint,
        }


def divergence(one: Trace, other: Trace) -> Divergence:
    """Matched by joint name and episode, while both run."""
    import numpy as np

    names = one.joint_names
    steps = min(len(one.arrays["reward"]), len(other.arrays["reward"]))
    apart = _continuous(one.in_order(names)[:steps]) - _continuous(other.in_order(names)[:steps])
    apart -= 2.0 * np.pi * np.round(np.nan_to_num(apart[:1]) / (2.0 * np.pi))  # the same angle, turns apart
    base = one.arrays["root_pos_w"][:steps] - other.arrays["root_pos_w"][:steps]
    each = _rms(apart, (0, 1))
    return Divergence(
        time_s=np.arange(steps, dtype=np.float64) * np.float64(one.step_dt),
        joint_rms_rad=_rms(apart, (1, 2)),
        base_rms_m=_rms(base, (1,), total=True),
        worst_joint=names[int(np.nanargmax(each))] if names and np.isfinite(each).any() else "",
    )


def _continuous(angles: Array) -> Array:
    """Without jumps of 2π: PhysX wraps joints that have no limits."""
    import numpy as np

    finite = np.isfinite(angles)
    filled = np.where(finite, angles, 0.0)
    return np.where(finite, np.unwrap(filled.astype(np.float64), axis=0), np.nan)


def _rms(values: Array, axes: Sequence[int], *, total: bool = False) -> NDArray[np.float64]:
    """Root mean square over axes, nan left out; `total` first sums the last axis: a distance."""
    import numpy as np

    squares = np.asarray(values, dtype=np.float64) ** 2
    if total:
        squares = squares.sum(axis=-1)
    counted = np.isfinite(squares)
    sums = np.where(counted, squares, 0.0).sum(axis=tuple(axes))
    number = counted.sum(axis=tuple(axes))
    return np.where(number > 0, np.sqrt(sums / np.maximum(number, 1)), np.nan)


def _listed(values: Array) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]
