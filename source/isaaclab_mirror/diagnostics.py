"""What a conversion or a comparison found: diagnostics with a code and a place, the fidelity table, the error classes.

Codes continue the series of the conversion standard (E001–E005, V001–V004): `docs/diagnostics.md` shows each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Source:
    """Where something stands: a file, and the prim path or element in it."""

    file: Path
    where: str = ""

    def __str__(self) -> str:
        return f"{self.file.name}:{self.where}" if self.where else self.file.name


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: what is wrong, where, and what to do about it."""

    code: str
    severity: Severity
    where: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.severity} {self.code}: {self.message}"
        return f"{text}\n  next: {self.hint}" if self.hint else text

    def to_json(self) -> dict[str, str]:
        """As `--json` writes it."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "where": self.where,
            "message": self.message,
            "hint": self.hint,
        }


class MirrorError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(MirrorError):
    """Bad input: one clear message with file, place, what is wrong and what to do. The command line exits with 2."""

    def __init__(self, code: str, source: Source | Path | str, message: str, hint: str = "") -> None:
        where = source.name if isinstance(source, Path) else str(source)
        self.diagnostic = Diagnostic(code, Severity.ERROR, where, message, hint)
        super().__init__(str(self.diagnostic))


class Diagnostics:
    """Collects findings while a file is read or written. The same finding at the same place is kept once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Diagnostic] = {}

    def add(self, code: str, severity: Severity, source: Source | str, message: str, hint: str = "") -> None:
        """Keep one finding."""
        self._found.setdefault((code, str(source), message), Diagnostic(code, severity, str(source), message, hint))

    def info(self, code: str, source: Source | str, message: str, hint: str = "") -> None:
        """Something a reader of the result should know; nothing was changed for the worse."""
        self.add(code, Severity.INFO, source, message, hint)

    def warn(self, code: str, source: Source | str, message: str, hint: str = "") -> None:
        """Something was recovered from, approximated or lost. `--strict` makes it an error."""
        self.add(code, Severity.WARNING, source, message, hint)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    def codes(self) -> set[str]:
        """The codes found so far."""
        return {found.code for found in self}


@dataclass(slots=True)
class FidelityRow:
    """How one concept of the source came through: counts, and how or why."""

    concept: str
    kept: int = 0
    approximated: int = 0
    lost: int = 0
    notes: dict[str, None] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """The reasons, each once, in the order in which they came."""
        return "; ".join(self.notes)


class Fidelity:
    """The fidelity table: one row per concept of the source. What is not kept is counted here."""

    def __init__(self) -> None:
        self._rows: dict[str, FidelityRow] = {}

    def _row(self, concept: str, note: str) -> FidelityRow:
        row = self._rows.setdefault(concept, FidelityRow(concept))
        if note:
            row.notes[note] = None
        return row

    def kept(self, concept: str, count: int = 1, note: str = "") -> None:
        """`count` elements came through with their own numbers."""
        if count:
            self._row(concept, note).kept += count

    def approximated(self, concept: str, how: str, count: int = 1) -> None:
        """`count` elements came through as the closest that the target can say."""
        if count:
            self._row(concept, how).approximated += count

    def lost(self, concept: str, why: str, count: int = 1) -> None:
        """`count` elements are not in the target."""
        if count:
            self._row(concept, why).lost += count

    def __iter__(self) -> Iterator[FidelityRow]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, concept: str) -> FidelityRow:
        """The row of a concept; empty when the source has none of it."""
        return self._rows.get(concept, FidelityRow(concept))

    def to_json(self) -> list[Mapping[str, object]]:
        """As `--json` writes it."""
        return [
            {
                "concept": row.concept,
                "kept": row.kept,
                "approximated": row.approximated,
                "lost": row.lost,
                "note": row.note,
            }
            for row in self
        ]
