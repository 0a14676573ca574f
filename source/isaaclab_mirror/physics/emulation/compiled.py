"""The one place that knows whether the laws are compiled."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

INTERPRETED = "ISAACLAB_MIRROR_INTERPRET"
"""Set in the environment, this runs the laws as plain Python: for a debugger, and for the test that both agree."""

INTERPRETED_MODULES = ("__init__", "coverage", "emulator", "laws", "settings")
"""Nothing in these is compiled."""
KEPT = 3
"""So many states of the sources keep their machine code."""

COMPILED = INTERPRETED not in os.environ and importlib.util.find_spec("numba") is not None
"""Whether the laws run as machine code. Without it a step of a quadruped takes about 20 ms instead of 50 µs."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code: without the interpreter lock, kept on disk between runs, IEEE arithmetic.

    Functions are merged into their callers: handing over what they take costs more than most of them do (a step of a
    standing quadruped 22 µs instead of 35).
    """
    if not COMPILED:
        return function
    numba: Any = importlib.import_module("numba")
    config = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, cache_folder(config.CACHE_DIR)
    try:
        jit = numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True)(function)
    finally:
        config.CACHE_DIR = before
    return cast("Callable[P, R]", jit)


@cache
def cache_folder(stated: str) -> str:
    """Where machine code is kept: one folder for each state of the sources.

    numba looks at the file of a function alone: a caller would keep what it has merged of another file's old laws.
    """
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if file.stem not in INTERPRETED_MODULES:
            digest.update(file.read_bytes())
    home = Path(stated or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isaaclab-mirror"
    folder = home / f"emulation-{digest.hexdigest()[:16]}"
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True)
            for old in sorted(home.glob("emulation-*"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
                shutil.rmtree(old, ignore_errors=True)
    except OSError:
        return stated
    return str(folder)
