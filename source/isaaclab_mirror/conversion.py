"""convert(source, target, options): the one function behind the command line, the Isaac Lab classes and the window."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from isaaclab_mirror.diagnostics import Diagnostic, Diagnostics, Fidelity, InputError, Severity
from isaaclab_mirror.files import move_into_place, staging_folder
from isaaclab_mirror.formats.options import ReadOptions, WriteOptions
from isaaclab_mirror.formats.registry import Format, format_of
from isaaclab_mirror.physics.lowered import Engine, Lowered
from isaaclab_mirror.physics.options import LoweringOptions
from isaaclab_mirror.robot.checks import check_robot
from isaaclab_mirror.robot.model import Robot

CONVERTER_VERSION = 1
"""Counts changes of what a conversion writes: an older output is not reused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionOptions:
    """How to read, what numbers to choose, how to write."""

    read: ReadOptions = field(default_factory=ReadOptions)
    lowering: LoweringOptions = field(default_factory=LoweringOptions)
    write: WriteOptions = field(default_factory=WriteOptions)
    strict: bool = False
    """Warnings become errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionResult:
    """What was written and how true it is."""

    target: Path
    robot_name: str
    links: int
    joints: int
    dofs: int
    fidelity: Fidelity
    diagnostics: tuple[Diagnostic, ...]
    files: tuple[Path, ...]
    """Files written, the target first."""
    sources: tuple[Path, ...]
    """Every layer, payload, mesh and texture that was read."""
    seconds: float


def convert(source: str | Path, target: str | Path, options: ConversionOptions | None = None) -> ConversionResult:
    """Convert a robot file; the formats come from the suffixes. An InputError leaves old output as it was."""
    start = time.perf_counter()
    source, target = Path(source), Path(target)
    options = options or ConversionOptions()
    kind = format_of(target)
    if kind not in (Format.MJCF, Format.URDF):
        raise InputError("E037", target, f"writing {kind.value} is not supported", "write .xml or .urdf")
    found, fidelity = Diagnostics(), Fidelity()
    robot, sources = _read(source, options.read, found, fidelity)
    check_robot(robot, found)
    with staging_folder(target) as folder:
        staged = folder / target.name
        files = _write(robot, kind, staged, options, found, fidelity)
        if options.strict:
            _refuse_warnings(found)
        moved = move_into_place(files, folder, target)
    return ConversionResult(
        target=target,
        robot_name=robot.name,
        links=len(robot.links),
        joints=sum(len(joint.axes) or 1 for joint in robot.joints if joint.parent is not None or joint.axes),
        dofs=robot.dofs,
        fidelity=fidelity,
        diagnostics=tuple(found),
        files=tuple(moved),
        sources=sources,
        seconds=time.perf_counter() - start,
    )


def inspect_robot(
    source: str | Path, options: ReadOptions | None = None
) -> tuple[Robot, tuple[Diagnostic, ...], tuple[Path, ...]]:
    """The robot of a file, what was found while reading it, and the files that were read."""
    found = Diagnostics()
    file, options = Path(source), options or ReadOptions()
    if format_of(file) in (Format.MJCF, Format.URDF):
        robot, sources = _read_by_mujoco(file, options, found), (file,)
    else:
        robot, sources = _read(file, options, found, Fidelity())
    check_robot(robot, found)
    return robot, tuple(found), sources


def _read_by_mujoco(file: Path, options: ReadOptions, found: Diagnostics) -> Robot:
    """An MJCF or URDF as MuJoCo reads it: enough to simulate it, too little to write it elsewhere."""
    if not file.exists():
        raise InputError("E010", file, "no such file", "check the path")
    if format_of(file) is Format.URDF:
        from isaaclab_mirror.formats.urdf.reader import read_urdf

        return read_urdf(file, options, found)
    from isaaclab_mirror.formats.mjcf.reader import read_mjcf

    return read_mjcf(file, found)


def source_files(source: str | Path, options: ReadOptions | None = None) -> tuple[Path, ...]:
    """Every layer, payload and texture that a conversion of `source` would read."""
    from isaaclab_mirror.formats.usd.sources import usd_sources

    source = Path(source)
    if format_of(source) is not Format.USD:
        return (source,)
    return usd_sources(source, options or ReadOptions())


def _read(source: Path, options: ReadOptions, found: Diagnostics, fidelity: Fidelity) -> tuple[Robot, tuple[Path, ...]]:
    kind = format_of(source)
    if not source.exists():
        raise InputError("E010", source, "no such file", "check the path")
    if kind is not Format.USD:
        raise InputError(
            "E037", source, f"reading {kind.value} is not supported", "convert from .usd, .usda, .usdc, .usdz"
        )
    from isaaclab_mirror.formats.hulls import convex_hull
    from isaaclab_mirror.formats.usd.physx_masses_client import physx_masses
    from isaaclab_mirror.formats.usd.reader import read_usd

    read = read_usd(source, options, found, fidelity, convex_hull, physx_masses)
    if not options.cooked:
        return read.robot, read.sources
    from isaaclab_mirror.formats.usd.cooked import with_cooked_hulls

    return with_cooked_hulls(read.robot, options, found), read.sources


def _write(
    robot: Robot, kind: Format, target: Path, options: ConversionOptions, found: Diagnostics, fidelity: Fidelity
) -> list[Path]:
    from isaaclab_mirror.physics.lower import lower

    if kind is Format.MJCF:
        from isaaclab_mirror.formats.mjcf.writer import write_mjcf

        lowered = lower(robot, Engine.MUJOCO, options.lowering, found, fidelity)
        return write_mjcf(lowered, target, options.write, found, fidelity)
    from isaaclab_mirror.formats.urdf.writer import write_urdf

    lowered = lower(robot, Engine.NEUTRAL, options.lowering, found, Fidelity())
    return write_urdf(_with_inertias(lowered, target.parent), target, options.write, found, fidelity)


def _with_inertias(lowered: Lowered, folder: Path) -> Lowered:
    """Links whose mass MuJoCo computes from their geoms, with what it computes."""
    if all(link.inertia is not None for link in lowered.robot.links):
        return lowered
    from isaaclab_mirror.formats.mjcf.inertias import computed_inertias

    known = computed_inertias(lowered, folder)
    links = tuple(
        link if link.inertia is not None else replace(link, inertia=known[link.name]) for link in lowered.robot.links
    )
    return replace(lowered, robot=replace(lowered.robot, links=links))


def _refuse_warnings(found: Diagnostics) -> None:
    warnings = [d for d in found if d.severity is not Severity.INFO]
    if warnings:
        first = warnings[0]
        raise InputError(
            first.code, first.where, f"{first.message} (strict: {len(warnings)} warnings are errors)", first.hint
        )
