"""The one options object of `lower`: what decides how an engine's number becomes another's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from isaaclab_mirror.diagnostics import InputError


class Fidelity(StrEnum):
    """Which numbers the lowered robot carries."""

    NOMINAL = "nominal"
    """As the source states them: kv = kd, MuJoCo's own contact defaults."""
    PHYSX = "physx"
    """The best static parameters for moving as PhysX does."""
    EMULATE = "emulate"
    """PhysX's solver step is run by the simulator; the file is as `nominal`."""


class ContactModel(StrEnum):
    """How PhysX contacts become solref and solimp."""

    AUTO = "auto"
    """MuJoCo's defaults for `nominal`, the measured law for `physx`."""
    MUJOCO = "mujoco"
    MEASURED = "measured"
    STANDARD = "standard"
    """The conversion standard's formula 4.1.1. Measured far too soft: for conformance only, with a warning."""


class JointFriction(StrEnum):
    """What PhysX joint friction becomes."""

    DYNAMIC = "dynamic"
    """frictionloss = dynamic friction effort."""
    STATIC = "static"
    """frictionloss = static friction effort."""
    OFF = "off"


class SolverPreset(StrEnum):
    """The standard's section 4.2, or what the source says."""

    SOURCE = "source"
    TRAINING = "training"
    VALIDATION = "validation"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweringOptions:
    """How `lower` chooses."""

    fidelity: Fidelity = Fidelity.NOMINAL
    contact_model: ContactModel = ContactModel.AUTO
    joint_friction: JointFriction = JointFriction.DYNAMIC
    timestep: float | None = None
    """Seconds; None takes the source's, else 1/200."""
    substeps: int = 1
    """MuJoCo steps per PhysX step: the written timestep is divided by it."""
    solver: SolverPreset = SolverPreset.SOURCE

    def __post_init__(self) -> None:
        """Words are taken for the choices that they name; steps that no engine can take are refused."""
        for name, kind in (
            ("fidelity", Fidelity),
            ("contact_model", ContactModel),
            ("joint_friction", JointFriction),
            ("solver", SolverPreset),
        ):
            object.__setattr__(self, name, kind(getattr(self, name)))
        if self.timestep is not None and not 0.0 < self.timestep < math.inf:
            raise InputError("E091", "timestep", f"{self.timestep} s is no step", "give a positive number of seconds")
        if self.substeps < 1:
            raise InputError("E091", "substeps", f"{self.substeps} steps in one", "give 1 or more")
