"""Which OpenGL draws here without a screen, if any."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache


@cache
def working_gl() -> str | None:
    """The first OpenGL that draws here: `egl`, `osmesa`, or None. Tried in a process of its own, as some only crash."""
    asked = os.environ.get("MUJOCO_GL", "").lower()
    for backend in (asked,) if asked in ("egl", "osmesa") else ("egl", "osmesa"):
        probe = f"from mujoco.{backend} import GLContext as C; c = C(8, 8); c.make_current(); import mujoco as m; " + (
            "m.MjrContext(m.MjModel.from_xml_string('<mujoco/>'), 100)"
        )
        environment = {**os.environ, "MUJOCO_GL": backend, "PYOPENGL_PLATFORM": backend}
        try:
            done = subprocess.run(  # noqa: S603 our own text, our own Python
                [sys.executable, "-c", probe], env=environment, capture_output=True, timeout=60, check=False
            )
        except subprocess.TimeoutExpired:
            continue
        if done.returncode == 0:
            return backend
    return None


def settle_gl() -> str | None:
    """Have MuJoCo load what works, or no OpenGL at all. Call it before MuJoCo is imported: it looks only then."""
    backend = working_gl()
    os.environ["MUJOCO_GL"] = backend or "disable"
    return backend
