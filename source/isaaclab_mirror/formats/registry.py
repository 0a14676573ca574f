"""Suffix → format."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from isaaclab_mirror.diagnostics import InputError


class Format(StrEnum):
    """The robot formats."""

    USD = "USD"
    MJCF = "MJCF"
    URDF = "URDF"
    SDF = "SDF"


SUFFIXES = {
    ".usd": Format.USD,
    ".usda": Format.USD,
    ".usdc": Format.USD,
    ".usdz": Format.USD,
    ".xml": Format.MJCF,
    ".mjcf": Format.MJCF,
    ".urdf": Format.URDF,
    ".sdf": Format.SDF,
}


def format_of(file: Path) -> Format:
    """The format of a file by its suffix."""
    kind = SUFFIXES.get(file.suffix.lower())
    if kind is None:
        raise InputError(
            "E037", file, f"no robot format has the suffix {file.suffix!r}", f"use one of {', '.join(SUFFIXES)}"
        )
    return kind
