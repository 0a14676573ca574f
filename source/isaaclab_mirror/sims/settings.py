"""SimSettings: under which settings both engines run, and who said so.

A run or a caller states what it knows; else the USD's own scene; else Isaac Lab's defaults for its backend.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.physics.contact import PHYSX_DEFAULT
from isaaclab_mirror.robot.materials import ContactMaterial
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.robot.scene import Scene
from isaaclab_mirror.rotations import Vec3


class Backend(StrEnum):
    """Whose defaults Isaac Lab would run with."""

    OVPHYSX = "ovphysx"
    """`OvPhysxCfg`: external forces enter at every iteration."""
    ISAACSIM = "isaacsim"
    """`PhysxCfg`: external forces enter once per step."""


class Preset(StrEnum):
    """The conversion standard's section 4.2."""

    NONE = "none"
    TRAINING = "training"
    VALIDATION = "validation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A plane z = `height_m` under the robot, with a material."""

    height_m: float = 0.0
    material: ContactMaterial = PHYSX_DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class SimSettings:
    """What both engines run with. `resolve_settings` makes one; `step(1)` advances by `timestep_s`."""

    timestep_s: float = 1 / 200
    decimation: int = 4
    """Steps per action of a policy; `step` does not apply it."""
    gravity: Vec3 = (0.0, 0.0, -9.81)
    """[m/s²], z up."""
    solver: str = "TGS"
    position_iterations: int = 4
    velocity_iterations: int = 0
    external_forces_every_iteration: bool = True
    """Whether gravity and efforts enter at every iteration of PhysX's solver, or once per step."""
    efforts_bounded: bool = True
    """A drive's limit bounds explicit efforts too: ovphysx 0.7 does so, 0.6.4 (Isaac Lab 3.0's recordings) does not.
    Only the emulation can do either."""
    bounce_threshold_mps: float = 0.5
    friction_offset_threshold_m: float = 0.04
    friction_correlation_distance_m: float = 0.025
    physx_substeps: int = 1
    """Steps of PhysX per `timestep_s`."""
    mujoco_substeps: int | None = None
    """Steps of MuJoCo per `timestep_s`; None is the fidelity's choice, which `MujocoSim.settings` tells."""
    mujoco_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """MuJoCo's own options (integrator, solver, iterations, tolerance, …) beside those that the fidelity chooses."""
    ground: Ground | None = None
    env_spacing_m: float = 10.0
    """Distance between neighbours in PhysX, where copies share one space. float32 loses digits with the distance."""
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])
    """Setting → who stated it: `caller`, `USD`, `standard 4.2 training`, `Isaac Lab (ovphysx)`."""

    def __post_init__(self) -> None:
        """Numbers that no engine takes are refused here."""
        for name in ("timestep_s", "env_spacing_m"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise InputError("E050", "settings", f"{name} is {value!r}: it must be positive")
        for name in ("decimation", "position_iterations", "physx_substeps", "mujoco_substeps"):
            value = getattr(self, name)
            if name == "mujoco_substeps" and value is None:
                continue
            if not isinstance(value, int) or value < 1:
                raise InputError("E050", "settings", f"{name} is {value!r}: it must be a whole number from 1")
        if not isinstance(self.velocity_iterations, int) or self.velocity_iterations < 0:
            raise InputError("E050", "settings", f"velocity_iterations is {self.velocity_iterations!r}")
        if self.solver not in ("TGS", "PGS"):
            raise InputError("E050", "settings", f"solver {self.solver!r} is not known", "use TGS or PGS")
        if len(self.gravity) != 3 or not all(map(math.isfinite, self.gravity)):
            raise InputError("E050", "settings", f"gravity {self.gravity!r} is no vector of three finite numbers")

    def to_json(self) -> dict[str, Any]:
        """The effective settings, for every result; `provenance` among them."""
        result = {f.name: getattr(self, f.name) for f in fields(self)}
        result["mujoco_options"], result["provenance"] = dict(self.mujoco_options), dict(self.provenance)
        result["gravity"] = list(self.gravity)
        if self.ground is not None:
            material = asdict(replace(self.ground.material, source=None))
            result["ground"] = {
                "height_m": self.ground.height_m,
                **{k: material[k] for k in ("static_friction", "dynamic_friction", "restitution")},
                "friction_combine": str(self.ground.material.friction_combine),
                "restitution_combine": str(self.ground.material.restitution_combine),
            }
        return result


PRESETS: dict[Preset, dict[str, Any]] = {
    Preset.NONE: {},
    Preset.TRAINING: {
        "timestep_s": 0.002,
        "physx_substeps": 2,
        "solver": "TGS",
        "position_iterations": 4,
        "velocity_iterations": 1,
        "mujoco_options": {"iterations": 50, "tolerance": 1e-6, "integrator": "implicitfast", "solver": "newton"},
    },
    Preset.VALIDATION: {
        "timestep_s": 0.001,
        "physx_substeps": 4,
        "solver": "TGS",
        "position_iterations": 8,
        "velocity_iterations": 2,
        "mujoco_options": {"iterations": 100, "tolerance": 1e-8, "integrator": "implicit", "solver": "newton"},
    },
}
"""The conversion standard's section 4.2, word for word."""


def resolve_settings(
    robot: Robot | None = None,
    *,
    backend: Backend | str = Backend.OVPHYSX,
    preset: Preset | str = Preset.NONE,
    **stated: Any,
) -> SimSettings:
    """The effective settings: `stated` by the caller, else the preset's, else the USD's, else Isaac Lab's."""
    backend, preset = Backend(backend), Preset(preset)
    known = {f.name for f in fields(SimSettings)} - {"provenance"}
    for name in stated:
        if name not in known:
            raise InputError("E050", "settings", f"there is no setting {name!r}", f"one of {', '.join(sorted(known))}")
    layers: list[tuple[str, Mapping[str, Any]]] = [
        (f"Isaac Lab ({backend.value})", _defaults(backend)),
        ("USD", _of_scene(robot.scene) if robot is not None else {}),
        (f"standard 4.2 {preset.value}", PRESETS[preset]),
        ("caller", {k: v for k, v in stated.items() if v is not None}),
    ]
    values: dict[str, Any] = {}
    provenance: dict[str, str] = {}
    for who, numbers in layers:
        values.update(numbers)
        provenance.update(dict.fromkeys(numbers, who))
    return SimSettings(**values, provenance=provenance)


def _defaults(backend: Backend) -> dict[str, Any]:
    plain = SimSettings()
    values = {f.name: getattr(plain, f.name) for f in fields(plain) if f.name != "provenance"}
    return {**values, "external_forces_every_iteration": backend is Backend.OVPHYSX}


def _of_scene(scene: Scene) -> dict[str, Any]:
    stated = {
        "timestep_s": scene.timestep_s,
        "gravity": scene.gravity,
        "solver": scene.solver,
        "position_iterations": scene.position_iterations,
        "velocity_iterations": scene.velocity_iterations,
        "external_forces_every_iteration": scene.external_forces_every_iteration,
    }
    return {name: value for name, value in stated.items() if value is not None}
