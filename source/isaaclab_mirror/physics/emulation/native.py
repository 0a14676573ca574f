"""MuJoCo's C functions by address, callable from compiled and interpreted code alike.

Models and data are passed as addresses (`model._address`), arrays as `array.ctypes.data`: so a step of many
environments needs neither the interpreter nor its lock.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from isaaclab_mirror.physics.emulation.compiled import COMPILED


def bindings() -> Any:
    """The Python package `mujoco`, which ships no types."""
    return importlib.import_module("mujoco")


def _library() -> Path:
    """The shared library that the Python package `mujoco` itself has loaded."""
    folder = Path(str(bindings().__file__)).parent
    for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll"):
        for found in sorted(folder.glob(pattern)):
            return found
    raise FileNotFoundError(f"no MuJoCo library in {folder}")


LIBRARY = ctypes.CDLL(str(_library()))
if COMPILED:
    importlib.import_module("llvmlite.binding").load_library_permanently(str(_library()))


def _void(name: str, count: int) -> Callable[..., None]:
    """A function of `count` addresses or integers that returns nothing.

    Compiled code refers to it by name, resolved when it is loaded: what is kept on disk stays valid in the next one.
    """
    if COMPILED:
        kinds: Any = importlib.import_module("numba.core.types")
        return cast("Callable[..., None]", kinds.ExternalFunction(name, kinds.void(*[kinds.intp] * count)))
    function = LIBRARY[name] if name != "memcpy" else ctypes.CDLL(None)[name]
    function.argtypes = [ctypes.c_void_p] * count
    function.restype = None
    return lambda *values: function(*map(int, values))  # ctypes takes no integer of numpy's


mj_kinematics = _void("mj_kinematics", 2)
mj_com_pos = _void("mj_comPos", 2)
mj_com_vel = _void("mj_comVel", 2)
mj_make_m = _void("mj_makeM", 2)
mj_factor_m = _void("mj_factorM", 2)
mj_solve_m = _void("mj_solveM", 5)
"""(model, data, out, in, count): M⁻¹ of `count` vectors."""
mj_rne = _void("mj_rne", 4)
"""(model, data, 0, out): Coriolis, centrifugal and gravity forces."""
copy_bytes = _void("memcpy", 3)
"""(to, from, bytes)"""
