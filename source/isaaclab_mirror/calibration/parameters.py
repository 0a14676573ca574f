"""What is free in MuJoCo: each parameter, its bounds, and what it does to a compiled model and to a lowered robot.

Exact quantities (masses, geometry, limits, effort bounds) are not here. Of the gains only the two factors are that the
laws leave open: how soft a drive gives way under load (`gain`), and how much of dt·kp is added to its damping (`lag`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.physics.lowered import Lowered, LoweredAxis, LoweredContact, LoweredPair
from isaaclab_mirror.robot.drives import Actuator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

DEFAULT_SOLREF = (0.02, 1.0)
DEFAULT_SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
"""MuJoCo's own, where a robot states none."""


class Kind(StrEnum):
    """What a parameter changes."""

    GAIN = "gain"
    """Factor on stiffness and damping of a drive: e^x."""
    LAG = "lag"
    """Damping of a position drive: + x·dt·kp."""
    ARMATURE = "armature"
    """+ x times the joint's inertia at the start [kg·m² or kg]."""
    DAMPING = "damping"
    """Of a joint that nothing drives: + x times its inertia per second."""
    FRICTIONLOSS = "frictionloss"
    """+ x times what a tenth of the drive's usual effort is."""
    CONTACT_TIME = "contact solref[0]"
    """Factor on the time constant of contacts: e^x."""
    CONTACT_DAMPING = "contact solref[1]"
    CONTACT_SOFT = "contact solimp"
    """Factor on 1 − d of contacts, both ends: e^x."""
    FRICTION = "sliding friction"
    """Factor: e^x."""
    IMPRATIO = "impratio"
    """Factor on how much harder friction is than normal force: how a loaded foot creeps."""
    LIMIT_TIME = "limit solref[0]"
    LIMIT_DAMPING = "limit solref[1]"
    LIMIT_SOFT = "limit solimp"


BOUNDS: Mapping[Kind, tuple[float, float]] = {
    Kind.GAIN: (math.log(0.3), math.log(1.5)),
    Kind.LAG: (-0.6, 1.5),
    Kind.ARMATURE: (0.0, 0.5),
    Kind.DAMPING: (0.0, 1.0),
    Kind.FRICTIONLOSS: (0.0, 1.0),
    Kind.CONTACT_TIME: (0.0, math.log(8.0)),
    Kind.CONTACT_DAMPING: (math.log(0.3), math.log(3.0)),
    Kind.CONTACT_SOFT: (math.log(0.01), math.log(4.0)),
    Kind.FRICTION: (math.log(0.7), math.log(1.4)),
    Kind.IMPRATIO: (math.log(0.01), math.log(3.0)),
    Kind.LIMIT_TIME: (0.0, math.log(8.0)),
    Kind.LIMIT_DAMPING: (math.log(0.3), math.log(3.0)),
    Kind.LIMIT_SOFT: (math.log(0.01), math.log(4.0)),
}
"""Time constants do not go below 2·dt, where MuJoCo itself stops them."""
CONTACTS = (Kind.CONTACT_TIME, Kind.CONTACT_DAMPING, Kind.CONTACT_SOFT, Kind.FRICTION, Kind.IMPRATIO)
LIMITS = (Kind.LIMIT_TIME, Kind.LIMIT_DAMPING, Kind.LIMIT_SOFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One number to fit; 0 is where fidelity `physx` leaves it."""

    kind: Kind
    joint: str = ""
    """Its joint; empty: of all contacts or limits."""
    scale: float = 1.0
    """What x = 1 stands for, where the change is added [SI]."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.joint} {self.kind}".strip()

    @property
    def bounds(self) -> tuple[float, float]:
        """Of x."""
        return BOUNDS[self.kind]

    def said(self, x: float) -> str:
        """The change in its own terms."""
        if self.kind in (Kind.GAIN, *CONTACTS, *LIMITS):
            return f"× {math.exp(x):.4g}"
        return f"{x * self.scale:+.4g}"

    def to_json(self, x: float) -> dict[str, object]:
        """As `--json` writes it."""
        factor = self.kind in (Kind.GAIN, *CONTACTS, *LIMITS)
        how = {"factor": math.exp(x)} if factor else {"added": x * self.scale}
        low, high = self.bounds
        edge = 1e-3 * (high - low)
        return {
            "kind": str(self.kind),
            "joint": self.joint or None,
            **how,
            "at_bound": not low + edge < x < high - edge,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointScales:
    """What the free parameters of joints are measured in, (joints,) each, by name."""

    names: Sequence[str]
    driven: NDArray[np.bool_]
    """Has a position or velocity drive."""
    inertia: Array
    """Diagonal of the mass matrix at the start [kg·m² or kg]."""
    lag: Array
    """dt·kp [N·m·s/rad or N·s/m]; 0 without stiffness."""
    effort: Array
    """A tenth of what the drive usually pushes with [N·m or N]; 0: unknown."""


def free_parameters(scales: JointScales, *, touching: bool, limited: bool) -> list[Parameter]:
    """Everything that may be fitted: `touching`, `limited`: the robot met the ground, or its limits."""
    found: list[Parameter] = []
    for k, name in enumerate(scales.names):
        if scales.driven[k]:
            found.append(Parameter(kind=Kind.GAIN, joint=name))
            if scales.lag[k] > 0:
                found.append(Parameter(kind=Kind.LAG, joint=name, scale=float(scales.lag[k])))
        else:
            found.append(Parameter(kind=Kind.DAMPING, joint=name, scale=float(scales.inertia[k])))
        found.append(Parameter(kind=Kind.ARMATURE, joint=name, scale=float(scales.inertia[k])))
        if scales.effort[k] > 0:
            found.append(Parameter(kind=Kind.FRICTIONLOSS, joint=name, scale=float(scales.effort[k])))
    if touching:
        found += [Parameter(kind=kind) for kind in CONTACTS]
    if limited:
        found += [Parameter(kind=kind) for kind in LIMITS]
    return found


@dataclass(frozen=True, slots=True)
class Changes:
    """Parameters with values, by what they change."""

    of_joint: Mapping[str, Mapping[Kind, float]]
    """Joint → kind → e^x of a factor, or the amount to add."""
    of_all: Mapping[Kind, float]
    """Kind → e^x."""


def changes(parameters: Sequence[Parameter], x: Array) -> Changes:
    """What values mean."""
    of_joint: dict[str, dict[Kind, float]] = {}
    of_all: dict[Kind, float] = {}
    for parameter, value in zip(parameters, x.tolist(), strict=True):
        if not parameter.joint:
            of_all[parameter.kind] = math.exp(value)
        else:
            amount = math.exp(value) if parameter.kind is Kind.GAIN else value * parameter.scale
            of_joint.setdefault(parameter.joint, {})[parameter.kind] = amount
    return Changes(of_joint, of_all)


def change_solver(
    solref: Sequence[float] | None, solimp: Sequence[float] | None, change: Changes, kinds: tuple[Kind, Kind, Kind]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """solref and solimp of a contact or limit, changed."""
    time, damping, soft = (change.of_all.get(kind, 1.0) for kind in kinds)
    before = tuple(solref) if solref is not None else DEFAULT_SOLREF
    shape = tuple(solimp) if solimp is not None else DEFAULT_SOLIMP
    shape = (*shape, *DEFAULT_SOLIMP[len(shape) :])
    low, high = (min(max(1.0 - (1.0 - d) * soft, 1e-4), 0.9999) for d in shape[:2])
    return (before[0] * time, before[1] * damping), (low, high, *shape[2:])


def fitted(lowered: Lowered, parameters: Sequence[Parameter], x: Array) -> Lowered:
    """A lowered robot with the values: what the file is written from."""
    change = changes(parameters, x)
    axes = {name: _axis(axis, change) for name, axis in lowered.axes.items()}
    actuators = tuple(_actuator(actuator, change.of_joint.get(actuator.target, {})) for actuator in lowered.actuators)
    contacts, pairs = dict(lowered.contacts), lowered.pairs
    if Kind.FRICTION in change.of_all:
        contacts = {name: _contact(contact, change) for name, contact in contacts.items()}
        pairs = tuple(_pair(pair, change) for pair in pairs)
    solver = lowered.solver
    if Kind.IMPRATIO in change.of_all:
        ratio = float(solver.options.get("impratio", 1.0)) * change.of_all[Kind.IMPRATIO]  # type: ignore[arg-type]
        solver = replace(solver, options={**solver.options, "impratio": ratio})
    return replace(lowered, axes=axes, actuators=actuators, contacts=contacts, pairs=pairs, solver=solver)


def _axis(axis: LoweredAxis, change: Changes) -> LoweredAxis:
    own = change.of_joint.get(axis.name, {})
    solref, solimp = axis.solref_limit, axis.solimp_limit
    if Kind.LIMIT_TIME in change.of_all and axis.range is not None:
        solref, solimp = change_solver(solref, solimp, change, LIMITS)
    return replace(
        axis,
        armature=axis.armature + own.get(Kind.ARMATURE, 0.0),
        frictionloss=axis.frictionloss + own.get(Kind.FRICTIONLOSS, 0.0),
        damping=axis.damping + own.get(Kind.DAMPING, 0.0),
        solref_limit=solref,
        solimp_limit=solimp,
    )


def change_drive(gain: float, bias: Sequence[float], own: Mapping[Kind, float]) -> tuple[float, tuple[float, ...]]:
    """Gain and bias of a drive's actuator, changed. The damping stays positive."""
    factor, lag = own.get(Kind.GAIN, 1.0), own.get(Kind.LAG, 0.0)
    constant, stiffness, damping = (*bias, 0.0, 0.0, 0.0)[:3]
    return gain * factor, (constant, stiffness * factor, min(damping * factor - lag, 0.1 * damping * factor))


def _actuator(actuator: Actuator, own: Mapping[Kind, float]) -> Actuator:
    if actuator.bias_type != "affine" or not (Kind.GAIN in own or Kind.LAG in own):
        return actuator
    gain, bias = change_drive(actuator.gain[0], actuator.bias, own)
    return replace(actuator, gain=(gain, *actuator.gain[1:]), bias=bias)


def _contact(contact: LoweredContact, change: Changes) -> LoweredContact:
    """With priority, so that the numbers hold on any floor."""
    solref, solimp = change_solver(contact.solref, contact.solimp, change, CONTACTS[:3])
    slide, spin, roll = contact.friction
    friction = (slide * change.of_all[Kind.FRICTION], spin, roll)
    return replace(contact, solref=solref, solimp=solimp, friction=friction, priority=max(1, contact.priority))


def _pair(pair: LoweredPair, change: Changes) -> LoweredPair:
    solref, solimp = change_solver(pair.solref, pair.solimp, change, CONTACTS[:3])
    friction = pair.friction
    if friction is not None:
        factor = change.of_all[Kind.FRICTION]
        friction = (friction[0] * factor, friction[1] * factor, *friction[2:])
    return replace(pair, solref=solref, solimp=solimp, friction=friction)


class ModelChanger:
    """Copies of a compiled model with parameter values in them."""

    def __init__(self, model: Any, parameters: Sequence[Parameter], actuators: Mapping[str, int]) -> None:
        """`actuators`: joint → its actuator; joints by their names in the model."""
        self._model, self._parameters, self._actuators = model, parameters, actuators
        self._joints = {p.joint: model.joint(p.joint).id for p in parameters if p.joint}

    def changed(self, x: Array) -> Any:
        """A copy of the model with these values."""
        import copy

        import mujoco

        model = copy.copy(self._model)
        change = changes(self._parameters, x)
        for name, own in change.of_joint.items():
            self._put_joint(model, name, own)
        if Kind.FRICTION in change.of_all:
            self._put_contacts(model, change)
            model.opt.impratio *= change.of_all[Kind.IMPRATIO]
        if Kind.LIMIT_TIME in change.of_all:
            for j in model.jnt_limited.nonzero()[0]:
                ref, imp = change_solver(model.jnt_solref[j], model.jnt_solimp[j], change, LIMITS)
                model.jnt_solref[j], model.jnt_solimp[j] = ref, imp
        mujoco.mj_setConst(model, mujoco.MjData(model))
        return model

    def _put_joint(self, model: Any, name: str, own: Mapping[Kind, float]) -> None:
        dof = model.jnt_dofadr[self._joints[name]]
        model.dof_armature[dof] += own.get(Kind.ARMATURE, 0.0)
        model.dof_frictionloss[dof] += own.get(Kind.FRICTIONLOSS, 0.0)
        model.dof_damping[dof] += own.get(Kind.DAMPING, 0.0)
        if Kind.GAIN in own or Kind.LAG in own:
            k = self._actuators[name]
            gain, bias = change_drive(model.actuator_gainprm[k, 0], model.actuator_biasprm[k, :3].tolist(), own)
            model.actuator_gainprm[k, 0], model.actuator_biasprm[k, :3] = gain, bias

    @staticmethod
    def _put_contacts(model: Any, change: Changes) -> None:
        factor = change.of_all[Kind.FRICTION]
        for count, solref, solimp, friction, slides in (
            (model.ngeom, model.geom_solref, model.geom_solimp, model.geom_friction, 1),
            (model.npair, model.pair_solref, model.pair_solimp, model.pair_friction, 2),
        ):
            for g in range(count):
                ref, imp = change_solver(solref[g].tolist(), solimp[g].tolist(), change, CONTACTS[:3])
                solref[g], solimp[g] = ref, imp
                friction[g, :slides] *= factor
