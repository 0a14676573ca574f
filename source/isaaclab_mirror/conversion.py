"""convert(source, target, options): the one function behind the command line, the Isaac Lab classes and the window."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from isaaclab_mirror.diagnostics import Diagnostic, Fidelity
from isaaclab_mirror.formats.options import ReadOptions, WriteOptions
from isaaclab_mirror.physics.options import LoweringOptions


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
    """Convert a robot file; the formats come from the suffixes."""
    raise NotImplementedError


def source_files(source: str | Path, options: ReadOptions | None = None) -> tuple[Path, ...]:
    """Every layer, payload, mesh and texture that a conversion of `source` would read, without converting."""
    raise NotImplementedError
