"""A progress bar on stderr, for what takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_S = 2.0


@contextmanager
def progress_bar() -> Generator[Callable[[str, float], None]]:
    """Yields `report(text, share)`; nothing is shown before two seconds have passed, or where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _text, _share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description:24}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("", total=1.0)
    start, shown = time.monotonic(), False

    def report(text: str, share: float) -> None:
        nonlocal shown
        bar.update(task, description=text, completed=min(share, 1.0))
        if not shown and time.monotonic() - start > PATIENCE_S:
            bar.start()
            shown = True

    try:
        yield report
    finally:
        if shown:
            bar.stop()
