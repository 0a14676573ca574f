"""What commands print for people and write for scripts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from isaaclab_mirror.diagnostics import Diagnostic, Fidelity, InputError

SCHEMA = 1
NOTE_WIDTH = 72


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Findings go to stderr: stdout is for the answer."""
    for found in diagnostics:
        print(found, file=sys.stderr)


def print_fidelity(fidelity: Fidelity) -> None:
    """The fidelity table."""
    rows = [
        (row.concept, *(str(n or "·") for n in (row.kept, row.approximated, row.lost)), row.note) for row in fidelity
    ]
    print_table(("concept", "kept", "approximated", "lost", "how or why"), rows, numbers=(1, 2, 3))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> None:
    """A table: by rich on a terminal, else plain text; importing rich takes longer than reading a small robot."""
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
    import os
    import tempfile

    document = {
        "schema": SCHEMA,
        "command": command,
        "verdict": "pass" if passed else "fail",
        "diagnostics": [found.to_json() for found in diagnostics],
        **content,
    }
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".tmp")
    except OSError as error:
        raise InputError("E093", file, f"the JSON file cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(draft).chmod(0o666 & ~_umask())
        Path(draft).replace(file)
    except OSError as error:
        Path(draft).unlink(missing_ok=True)
        raise InputError("E093", file, f"the JSON file cannot be written: {error.strerror}") from error


def _umask() -> int:
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask
