"""`validate A B`: two files of one robot, by name, both compiled by MuJoCo in double precision; and the round trip."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_mirror.comparison.excitation import JointFacts, worst
from isaaclab_mirror.comparison.rows import DYNAMIC, Row, Skipped, Validation, failures
from isaaclab_mirror.comparison.static import StaticLimits, static_rows
from isaaclab_mirror.comparison.two import Two, common
from isaaclab_mirror.comparison.validation import Report
from isaaclab_mirror.diagnostics import Diagnostic, InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.formats.registry import Format, format_of
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.effective import mujoco_settings
from isaaclab_mirror.sims.mujoco_facts import fuse_welds, joint_units, leave_out_armature, led_joints, link_inertias
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.settings import SimSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FILE_LIMITS = StaticLimits(
    position_m=1e-6, rotation_rad=1e-6, jacobian=1e-6, mass_matrix=1e-5, bias=1e-5, mass=1e-6, com_m=1e-6
)
"""As the standard asks: nothing but the digits in the files stands between them."""
INERTIA = 1e-5
HINT = "the two files do not say the same: look at the place that is named"
DRIVES = ("drive gains, effort limits", "driven joints")
"""Rows that a URDF has nothing to say about."""


def validate_files(
    a: Path,
    b: Path,
    read: ReadOptions | None = None,
    *,
    configurations: int = 50,
    limits: StaticLimits = FILE_LIMITS,
    report: Report | None = None,
) -> Validation:
    """Static parity of two files. A base that one format cannot hold or free is taken from the other file."""
    start = time.perf_counter()
    read = read or ReadOptions()
    plain = Format.URDF in (format_of(a), format_of(b))
    settings = SimSettings()
    first, found_a = _open(a, read, settings, None)
    with first:
        second, found_b = _open(b, read, settings, not first.fixed_base)
        with second:
            if format_of(a) is Format.URDF and first.fixed_base != second.fixed_base:
                first.close()
                first, found_a = _open(a, read, settings, not second.fixed_base)
            if plain:
                for sim in (first, second):
                    leave_out_armature(sim.robot)
            welded = tuple(name for sim in (first, second) for name in fuse_welds(sim.robot))
            two = common(first, second)
            rows, skipped = _rows(two, (first, second), (a, b), configurations, limits, plain, welded, report)
            subject = f"{a.name} and {b.name}" if a.name != b.name else f"{a} and {b}"
            effective = {
                "a": mujoco_settings(settings, Fidelity.NOMINAL, first.model),
                "b": mujoco_settings(settings, Fidelity.NOMINAL, second.model),
            }
            first.close()
    return Validation(
        subject=subject,
        rows=tuple(rows),
        skipped=tuple(skipped),
        settings=effective,
        diagnostics=(*found_a, *found_b, *failures(rows, subject)),
        seconds=time.perf_counter() - start,
    )


def validate_round_trip(
    file: Path, kind: str, read: ReadOptions | None = None, report: Report | None = None
) -> Validation:
    """Convert to that format, compare with what was written."""
    from isaaclab_mirror.conversion import ConversionOptions, convert

    read = read or ReadOptions()
    suffix = {"mjcf": ".xml", "urdf": ".urdf"}[kind]
    with tempfile.TemporaryDirectory(prefix="isaaclab_mirror_") as folder:
        target = Path(folder) / f"{file.stem}{suffix}"
        convert(file, target, ConversionOptions(read=read))
        return validate_files(file, target, read, report=report)


def _open(
    file: Path, read: ReadOptions, settings: SimSettings, floating: bool | None
) -> tuple[MujocoSim, tuple[Diagnostic, ...]]:
    """A file in MuJoCo, an MJCF as it is. `floating`: what the base of a URDF, which does not say, shall be."""
    from isaaclab_mirror.conversion import inspect_robot

    kind = format_of(file)
    if not file.exists():
        raise InputError("E010", file, "no such file", "check the path")
    if kind is Format.MJCF:
        return MujocoSim(file, settings=settings, contact_forces=False), ()
    if kind is Format.URDF and floating is not None and read.fix_base is None:
        read = replace(read, fix_base=not floating)
    robot, found, _ = inspect_robot(file, read)
    return MujocoSim(_still(robot), settings=settings, fidelity=Fidelity.NOMINAL, contact_forces=False), found


def _still(robot: Robot) -> Robot:
    """Nothing moves in a static comparison: what only acts over time can be left out."""
    return replace(robot, sensors=())


def _rows(
    two: Two,
    sims: tuple[MujocoSim, MujocoSim],
    files: tuple[Path, Path],
    configurations: int,
    limits: StaticLimits,
    plain: bool,
    welded: Sequence[str],
    report: Report | None,
) -> tuple[list[Row], list[Skipped]]:
    done = 0.0

    def progress(one: float) -> None:
        nonlocal done
        done += one
        if report is not None:
            report("static parity", done / configurations)

    titles = (files[0].name, files[1].name) if files[0].name != files[1].name else ("A", "B")
    rows, skipped = static_rows(
        two,
        _facts(two, sims[0]),
        limits=limits,
        count=configurations,
        titles=titles,
        expected_missing=welded,
        progress=progress,
    )
    rows.append(_inertia_row(two, sims))
    if plain:
        rows = [row for row in rows if row.name not in DRIVES]
        skipped += [Skipped(name=name, reason="URDF has no drives") for name in DRIVES]
        skipped.append(Skipped(name="armature", reason="URDF has none: left out on both sides"))
    return [replace(row, hint=HINT) for row in rows], skipped


def _facts(two: Two, sim: MujocoSim) -> JointFacts:
    import numpy as np

    columns = two.columns(sim)
    limits, (stiffness, damping) = sim.joint_limits()[columns], sim.gains()
    units, led = joint_units(sim.robot), led_joints(sim.robot)
    sim.reset()
    return JointFacts(
        names=two.joints,
        units=tuple(units[int(k)] for k in columns.tolist()),
        lower=limits[:, 0],
        upper=limits[:, 1],
        home=sim.read().joint_pos[0][columns],
        stiffness=stiffness[columns],
        damping=damping[columns],
        effort_limit=sim.effort_limits()[columns],
        velocity_limit=np.full(len(columns), np.inf),
        followers=np.array([name in led for name in two.joints], dtype=bool),
        reach=np.full(len(columns), np.inf),
    )


def _inertia_row(two: Two, sims: tuple[MujocoSim, MujocoSim]) -> Row:
    """Inertia tensors in link axes, relative to the trace."""
    import numpy as np

    tensors: list[Array] = []
    for sim in sims:
        columns = [sim.link_names.index(name) for name in two.links]
        tensors.append(link_inertias(sim.robot)[columns])
    gap = np.abs(tensors[0] - tensors[1]).reshape(len(two.links), -1).max(axis=1, initial=0.0)
    trace = np.maximum(np.trace(tensors[0], axis1=1, axis2=2), 1e-12)
    value, where = worst(two.links, gap / trace)
    return Row(name="link inertias", value=value, limit=INERTIA, unit="rel", code=DYNAMIC, where=where)
