"""Closed loop: how a policy behaves in two engines, from matched episodes, judged against a gate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from isaaclab_mirror.comparison.statistics import Mean, difference_of_pairs, mean_of, ratio_of_pairs
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.envs.measuring import Episode

Measured = Callable[[Episode], float]

MEASURES: Mapping[str, tuple[str, Measured]] = {
    "return": ("", lambda e: e.total_return),
    "survival": ("share", lambda e: 0.0 if e.fell else 1.0),
    "seconds": ("s", lambda e: e.seconds),
    "forward velocity": ("m/s", lambda e: _part(e.mean_lin_vel_b, 0)),
    "sideways velocity": ("m/s", lambda e: _part(e.mean_lin_vel_b, 1)),
    "turning velocity": ("rad/s", lambda e: _part(e.mean_ang_vel_b, 2)),
    "heading drift": ("rad", lambda e: e.heading_drift_rad if e.command else math.nan),
    "energy": ("J", lambda e: e.energy_j),
    "foot slip": ("m/s", lambda e: math.nan if e.foot_slip_mps is None else e.foot_slip_mps),
}
"""What an episode is measured by: unit, and how. Velocities: of the root in its own axes, after the first second."""

GATE: Mapping[str, float] = {
    "return": 0.1,
    "survival": 0.1,
    "forward velocity": 0.1,
    "sideways velocity": 0.1,
    "turning velocity": 0.1,
}
"""Largest difference that passes where no gate file says otherwise; of the return, relative."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One measure in both engines."""

    name: str
    unit: str
    physx: Mean
    mujoco: Mean
    difference: Mean
    """MuJoCo − PhysX over matched episodes; of the return relative to PhysX's mean."""
    limit: float | None
    """None: reported, not judged."""

    @property
    def passed(self) -> bool:
        """Whether the difference keeps the limit; what could not be measured in either engine is no failure."""
        if self.limit is None or (math.isnan(self.physx.value) and math.isnan(self.mujoco.value)):
            return True
        return abs(self.difference.value) <= self.limit

    @property
    def explained_by_chance(self) -> bool:
        """Whether the interval of the difference holds zero."""
        return 0.0 in self.difference

    def to_json(self) -> dict[str, Any]:
        """As `--json` writes it."""
        return {
            "name": self.name,
            "unit": self.unit,
            "physx": as_json(self.physx),
            "mujoco": as_json(self.mujoco),
            "value": _or_none(self.difference.value),
            "ci95": [_or_none(self.difference.low), _or_none(self.difference.high)],
            "limit": self.limit,
            "passed": self.passed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoop:
    """The behaviour of both, measure by measure."""

    tests: tuple[Test, ...]
    return_ratio: Mean = field(default_factory=lambda: Mean(math.nan, math.nan, math.nan))
    """MuJoCo's mean return over PhysX's."""

    @property
    def passed(self) -> bool:
        """Whether every judged measure keeps its limit."""
        return all(test.passed for test in self.tests)

    def to_json(self) -> dict[str, Any]:
        """As `--json` writes it."""
        return {
            "return_ratio": _or_none(self.return_ratio.value),
            "ci95": [_or_none(self.return_ratio.low), _or_none(self.return_ratio.high)],
            "tests": [test.to_json() for test in self.tests],
        }


def compare_episodes(
    physx: Sequence[Episode], mujoco: Sequence[Episode], gate: Mapping[str, float] = GATE
) -> ClosedLoop:
    """Matched by the episodes' numbers."""
    theirs = {episode.index: episode for episode in physx}
    pairs = [(theirs[episode.index], episode) for episode in mujoco if episode.index in theirs]
    tests: list[Test] = []
    for name, (unit, measure) in MEASURES.items():
        a, b = [measure(one) for one, _ in pairs], [measure(other) for _, other in pairs]
        if not any(map(math.isfinite, a + b)):
            continue
        tests.append(
            Test(
                name=name,
                unit=unit,
                physx=mean_of(a),
                mujoco=mean_of(b),
                difference=_relative(b, a) if name == "return" else difference_of_pairs(b, a),
                limit=gate.get(name),
            )
        )
    returns = [episode.total_return for _, episode in pairs], [episode.total_return for episode, _ in pairs]
    return ClosedLoop(tests=tuple(tests), return_ratio=ratio_of_pairs(*returns))


def _relative(ours: Sequence[float], theirs: Sequence[float]) -> Mean:
    """(ours − theirs) / |mean of theirs|; a return of nothing on both sides is no difference."""
    plain = difference_of_pairs(ours, theirs)
    size = abs(mean_of(theirs).value)
    if size == 0.0:
        return plain
    return Mean(plain.value / size, plain.low / size, plain.high / size)


def load_gate(file: Path) -> dict[str, float]:
    """Limits by measure from a TOML table `[closed_loop]`: they replace the usual ones; others are not judged."""
    import tomllib

    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            "E092", file, f"the gate cannot be read: {error}", "write a TOML table [closed_loop]"
        ) from None
    table = data.get("closed_loop")
    unknown = [key for key in data if key != "closed_loop"]
    if unknown or not isinstance(table, dict):
        what = f"there is no table {unknown[0]!r} in a gate" if unknown else "the gate has no table [closed_loop]"
        raise InputError("E092", file, what, "example: [closed_loop] 'return' = 0.05")
    limits: dict[str, float] = {}
    entries = cast("Mapping[str, object]", table)
    for name, limit in entries.items():
        if name not in MEASURES:
            raise InputError("E092", file, f"there is no measure {name!r}", f"one of {', '.join(MEASURES)}")
        if not isinstance(limit, int | float) or isinstance(limit, bool) or not limit >= 0.0:
            raise InputError("E092", file, f"{name!r} is {limit!r}: the limit must be a number from 0")
        limits[name] = float(limit)
    return limits


def as_json(mean: Mean) -> dict[str, float | list[float] | None]:
    """`{"mean": …, "ci95": [low, high]}`."""
    if not math.isfinite(mean.value):
        return {"mean": None, "ci95": None}
    return {"mean": mean.value, "ci95": [mean.low, mean.high]}


def _part(values: Sequence[float], place: int) -> float:
    return float(values[place]) if len(values) > place else math.nan


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
