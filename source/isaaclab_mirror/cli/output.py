"""What commands print for people and write for scripts."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from isaaclab_mirror.diagnostics import Diagnostic, Fidelity

SCHEMA = 1
SHOWN = 3
"""Findings of one code that are printed."""


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Findings go to stderr: stdout is for the answer. Of many of one kind, the first few."""
    kinds: dict[tuple[str, str], list[Diagnostic]] = {}
    for found in diagnostics:
        kinds.setdefault((found.code, found.severity), []).append(found)
    for (code, severity), alike in kinds.items():
        for found in alike[:SHOWN]:
            print(found, file=sys.stderr)
        if len(alike) > SHOWN:
            print(f"{severity} {code}: and {len(alike) - SHOWN} more like these; --json lists all", file=sys.stderr)


def print_fidelity(fidelity: Fidelity) -> None:
    """The fidelity table."""
    rows = [
        (row.concept, *(str(n or "·") for n in (row.kept, row.approximated, row.lost)), row.note) for row in fidelity
    ]
    print_table(("concept", "kept", "approximated", "lost", "how or why"), rows, numbers=(1, 2, 3))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> None:
    """A table: by rich on a terminal, else plain text; importing rich takes longer than converting a small robot."""
    if sys.stdout.isatty():
        from rich.box import SIMPLE
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE)
        for k, title in enumerate(header):
            table.add_column(title, justify="right" if k in numbers else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        Console().print(table)
        return
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]
    for row in (header, ["-" * len(title) for title in header], *rows):
        cells = (cell.rjust(widths[k]) if k in numbers else cell.ljust(widths[k]) for k, cell in enumerate(row))
        print("  ".join(cells).rstrip())


def count(number: int, noun: str) -> str:
    """`1 link`, `2 links`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def write_json(file: Path, command: str, *, passed: bool, diagnostics: Iterable[Diagnostic], **content: object) -> None:
    """What `--json` asks for: complete or not there at all."""
    import json

    from isaaclab_mirror.files import move_into_place, staging_folder

    document = {
        "schema": SCHEMA,
        "command": command,
        "verdict": "pass" if passed else "fail",
        "diagnostics": [found.to_json() for found in diagnostics],
        **content,
    }
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with staging_folder(file) as folder:
        draft = folder / file.name
        draft.write_text(text, encoding="utf-8")
        move_into_place([draft], folder, file)


def finite(value: Any) -> Any:
    """Plain data as JSON can say it: it knows no nan and no infinity, they become null."""
    if isinstance(value, Mapping):
        return {key: finite(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return None if isinstance(value, float) and not math.isfinite(value) else value
