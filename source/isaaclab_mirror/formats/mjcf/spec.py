"""Small dealings with MjSpec that differ between MuJoCo's generations (3.4 … 4.0), or that it keeps to itself."""

from __future__ import annotations

import ctypes
import os
import re
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from isaaclab_mirror.diagnostics import InputError

DIGITS = 15
"""Significant digits of written numbers: a double survives to its last bit but one, and 0.1 stays 0.1."""


@cache
def _library() -> Any:
    import mujoco

    folder = Path(mujoco.__file__).parent
    found = (
        sorted(folder.glob("libmujoco*.so*"))
        + sorted(folder.glob("libmujoco*.dylib"))
        + sorted(folder.glob("mujoco.dll"))
    )
    return ctypes.CDLL(str(found[0])) if found else None


def set_full_precision() -> bool:
    """Let MuJoCo's XML writer keep every digit (its default is six). False where this build cannot."""
    library = _library()
    setter = getattr(library, "_mjPRIVATE__set_xml_precision", None) if library is not None else None
    if setter is None:
        return False
    setter.argtypes = [ctypes.c_int]
    setter(DIGITS)
    return True


Result = TypeVar("Result")


def in_own_memory(work: Callable[[], Result]) -> Result:
    """Do the work in a thread: the C library gives it memory of its own, in which MjSpec's elements lie together.

    MjSpec lists all of its elements again at every one that is added. Scattered between what reading left behind, 5000
    links take 8.6 s of CPU to add; in memory of their own 2.0 s (glibc 2.36).
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again by the caller, whatever it is
            errors.append(error)

    _give_back_memory()
    thread = threading.Thread(target=run, name="write MJCF")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _give_back_memory() -> None:
    """Return what a closed stage has left free: the thread cannot use it. A C library that cannot is left alone."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def set_polynomial(element: Any, name: str, value: float) -> None:
    """Stiffness and damping: a number in MuJoCo 3, the first coefficient of a polynomial in MuJoCo 4."""
    present = getattr(element, name)
    if hasattr(present, "__len__"):
        present[0] = value
    else:
        setattr(element, name, value)


def enum(kind: str, prefix: str, token: str) -> Any:
    """`enum("mjtIntegrator", "mjINT_", "implicitfast")`."""
    import mujoco

    members = getattr(mujoco, kind).__members__
    found = members.get(prefix + token.upper())
    if found is None:
        choices = ", ".join(name.removeprefix(prefix).lower() for name in members if name.startswith(prefix))
        raise InputError("E034", token, f"this MuJoCo has no {kind.removeprefix('mjt')} of that name", f"use {choices}")
    return found


_NOISE = re.compile(r'\b(pos|quat|axis|fromto|ipos|iquat)="([^"]*)"')


def without_noise(xml: str) -> str:
    """Positions and directions below 1e-13 are rounding of the mesh compiler: written as 0."""

    def clean(match: re.Match[str]) -> str:
        numbers = ("0" if abs(float(x)) < 1e-13 else x for x in match.group(2).split())
        return f'{match.group(1)}="{" ".join(numbers)}"'

    return _NOISE.sub(clean, xml)
