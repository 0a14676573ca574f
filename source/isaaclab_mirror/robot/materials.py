"""Materials: what light makes of a surface, and what contact makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from isaaclab_mirror.diagnostics import Source


class CombineMode(StrEnum):
    """How two materials' numbers become a pair's. PhysX takes the stronger mode of the two."""

    AVERAGE = "average"
    MIN = "min"
    MULTIPLY = "multiply"
    MAX = "max"


class TextureRole(StrEnum):
    """What a texture says of the surface."""

    DIFFUSE = "diffuse"
    NORMAL = "normal"
    SPECULAR = "specular"
    EMISSION = "emission"


@dataclass(frozen=True, slots=True)
class Texture:
    """An image file, already resolved."""

    name: str
    file: Path
    role: TextureRole = TextureRole.DIFFUSE
    repeat: tuple[float, float] = (1.0, 1.0)
    offset: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualMaterial:
    """Colours in display (sRGB) space, 0–1."""

    name: str
    rgba: tuple[float, float, float, float] = (0.5, 0.5, 0.5, 1.0)
    texture: str | None = None
    metallic: float | None = None
    roughness: float | None = None
    specular: float | None = None
    emission: float = 0.0
    source: Source | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactMaterial:
    """Friction and restitution of a surface, and how it combines with another's."""

    name: str
    static_friction: float = 0.5
    dynamic_friction: float = 0.5
    restitution: float = 0.0
    friction_combine: CombineMode = CombineMode.AVERAGE
    restitution_combine: CombineMode = CombineMode.AVERAGE
    density_kgm3: float | None = None
    torsional_friction_m: float | None = None
    rolling_friction_m: float | None = None
    source: Source | None = None
    extras: Mapping[str, object] = field(default_factory=dict[str, object])
