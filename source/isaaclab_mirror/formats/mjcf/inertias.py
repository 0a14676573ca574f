"""Inertias that MuJoCo computes from geoms, for formats that must state them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.formats.mjcf.writer import build_spec
from isaaclab_mirror.formats.options import WriteOptions
from isaaclab_mirror.physics.lowered import Lowered
from isaaclab_mirror.robot.inertia import Inertia


def computed_inertias(lowered: Lowered, folder: Path) -> dict[str, Inertia]:
    """Link → its inertia as MuJoCo compiles it."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        spec, _ = build_spec(lowered, Path(scratch), WriteOptions(), Diagnostics(), Fidelity())
        model = spec.compile()
    result = {}
    for k in range(1, model.nbody):
        body = model.body(k)
        result[body.name] = Inertia(
            mass_kg=float(body.mass[0]),
            com_m=tuple(float(x) for x in body.ipos),  # type: ignore[arg-type]
            diagonal_kgm2=tuple(float(x) for x in body.inertia),  # type: ignore[arg-type]
            principal_wxyz=tuple(float(x) for x in body.iquat),  # type: ignore[arg-type]
            origin="geoms",
        )
    return result
