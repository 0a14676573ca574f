"""The scene around a robot: gravity, time step and solver as the source states them; keyframes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from isaaclab_mirror.rotations import Vec3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the source says of the world and the solver. None is unsaid."""

    gravity: Vec3 = (0.0, 0.0, -9.81)
    """[m/s²], z up."""
    timestep_s: float | None = None
    solver: str | None = None
    """`TGS` or `PGS`."""
    position_iterations: int | None = None
    velocity_iterations: int | None = None
    external_forces_every_iteration: bool | None = None
    mujoco: Mapping[str, object] = field(default_factory=dict[str, object])
    """MuJoCo options and compiler flags that the source states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyframe:
    """A state by name: positions [rad, m, or wxyz], per axis; root poses per link."""

    name: str
    positions: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])
    velocities: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])
    controls: Mapping[str, float] = field(default_factory=dict[str, float])
    mujoco: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])
    """Raw qpos, qvel, act, ctrl, mpos, mquat in the source's order, where it has one."""
