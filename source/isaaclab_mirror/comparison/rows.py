"""One measured row of a comparison, and the verdict over many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:
    from isaaclab_mirror.comparison.recording import Pair

NUDGE = 1e-5
"""How far apart [rad or m] two runs of PhysX start that show its own noise."""

KINEMATIC, DYNAMIC, ACTUATOR, COLLISION = "V001", "V002", "V003", "V004"
"""The conversion standard's codes of what a row fails with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One test: a value against a limit."""

    name: str
    value: float
    """nan: could not be measured (then it failed)."""
    limit: float
    unit: str
    code: str
    """What it fails with: V001 … V004."""
    where: str = ""
    """The joint, link or moment at which the value was found."""
    note: str = ""
    noise: float | None = None
    """The same value between two runs of PhysX that start 1e-5 apart."""
    required: bool = True
    """Whether the standard's section 5 asks for it; else the figure is reported, and a failure warns."""
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    """The value of each joint, where there is one each."""
    hint: str = ""
    """What to do where it failed; empty: what its code says."""

    @property
    def passed(self) -> bool:
        """Whether the value keeps the limit."""
        return self.value <= self.limit

    def to_json(self) -> dict[str, Any]:
        """As `--json` writes it; JSON knows no nan: null."""
        finite = {k: (v if v is not None and math.isfinite(v) else None) for k, v in self._numbers().items()}
        text = {"name": self.name, "unit": self.unit, "code": self.code, "where": self.where, "note": self.note}
        parts = {k: (v if math.isfinite(v) else None) for k, v in self.parts.items()}
        return {**text, **finite, "passed": self.passed, "required": self.required, "parts": parts}

    def _numbers(self) -> dict[str, float | None]:
        return {"value": self.value, "limit": self.limit, "noise": self.noise}

    def diagnostic(self, where: str) -> Diagnostic:
        """What a failed row says."""
        severity = Severity.ERROR if self.required else Severity.WARNING
        at = f" at {self.where}" if self.where else ""
        found = f"{self.value:.3g}" if math.isfinite(self.value) else "not measured"
        message = f"{self.name}: {found} {self.unit}{at}, limit {self.limit:.3g} {self.unit}".replace("  ", " ")
        return Diagnostic(
            self.code,
            severity,
            where,
            message + (f" ({self.note})" if self.note else ""),
            self.hint or HINTS[self.code],
        )


HINTS = {
    KINEMATIC: "the two do not describe the same robot: look at the place that is named",
    DYNAMIC: "--fidelity emulate takes PhysX's own solver step; `calibrate` fits what a static file can hold",
    ACTUATOR: "give the joint a drive, or drive it by efforts",
    COLLISION: "look at the colliders: `inspect` lists them",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A test that does not apply, and why."""

    name: str
    reason: str

    def to_json(self) -> dict[str, str]:
        """As `--json` writes it."""
        return {"name": self.name, "reason": self.reason}


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Everything that a validation found."""

    subject: str
    rows: tuple[Row, ...]
    skipped: tuple[Skipped, ...]
    settings: Mapping[str, Any]
    """`physx` and `mujoco`: what each ran with."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Of reading, then of the rows that failed."""
    pairs: tuple[Pair, ...] = field(default=(), repr=False)
    """Runs of both engines, for plots."""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every row that the standard requires passed."""
        return all(row.passed for row in self.rows if row.required)


def undecided(row: Row) -> Skipped | None:
    """A row that failed where two runs of PhysX itself are as far apart as the limit: the test cannot tell."""
    if row.passed or row.noise is None or not math.isfinite(row.value) or row.noise <= row.limit:
        return None
    found = f"PhysX started {NUDGE:g} away differs from itself by {row.noise:.3g} {row.unit}, more than the limit"
    return Skipped(name=row.name, reason=f"{found} {row.limit:.3g}; MuJoCo by {row.value:.3g}".replace("  ", " "))


def failures(rows: Iterable[Row], where: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of rows that failed."""
    return tuple(row.diagnostic(where) for row in rows if not row.passed)
