"""Domain randomisation on request: the events of the task, drawn once for a mirror: another robot, another contract.

All environments of a simulator share one robot, so that a seed gives one draw: several mirrors give several. Joints and
bodies that share a draw in Isaac Lab (a centre of mass's offset) share it here, all others draw their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isaaclab_mirror.contract.contract import ActuatorGroup, Contract, Term
from isaaclab_mirror.contract.matching import match_names
from isaaclab_mirror.diagnostics import Diagnostic, InputError, Severity
from isaaclab_mirror.robot.inertia import Inertia
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Vec3

SMALLEST_MASS_KG = 1e-6

Numbers = tuple[float, ...]
Generator = np.random.Generator


def randomized(contract: Contract, seed: int) -> tuple[Contract, Callable[[Robot], Robot], list[Diagnostic]]:
    """The contract with what its events draw, what they do to the spawned robot, and which of them are not applied."""
    rng = np.random.default_rng(seed)
    changes: list[Callable[[Robot], Robot]] = []
    left_out: list[Diagnostic] = []
    for place, term in enumerate(contract.events):
        if term.mode == "interval" or not term.func_name.startswith(("randomize_", "apply_external")):
            continue
        if term.func_name == "apply_external_force_torque" and not _pushes(term):
            continue
        if term.func_name in ON_CONTRACT:
            contract = ON_CONTRACT[term.func_name](contract, place, term, rng)
        elif term.func_name in ON_ROBOT:
            changes.append(ON_ROBOT[term.func_name](term, rng))
        else:
            message = f"{term.func_name} is not applied"
            left_out.append(Diagnostic("E144", Severity.WARNING, f"events.{term.name}", message))

    def change(robot: Robot) -> Robot:
        for one in changes:
            robot = one(robot)
        return robot

    return contract, change, left_out


def _pushes(term: Term) -> bool:
    """Ranges that are all zero do nothing: the velocity tasks' default."""
    return any(any(term.params.get(key) or ()) for key in ("force_range", "torque_range"))


def draw(params: Any, distribution: str, count: int, rng: Generator, where: str) -> np.ndarray:
    """`count` numbers of a range, as Isaac Lab's distributions draw them; gaussian: mean and deviation."""
    try:
        first, second = (float(x) for x in params)
    except (TypeError, ValueError):
        raise InputError("E104", where, f"{params!r} are not two numbers") from None
    match distribution:
        case "uniform":
            return rng.uniform(first, second, count)
        case "log_uniform":
            return np.exp(rng.uniform(np.log(first), np.log(second), count))
        case "gaussian":
            return rng.normal(first, second, count)
        case _:
            raise InputError("E104", where, f"{distribution!r} is no distribution", "uniform, log_uniform, gaussian")


def applied(values: Sequence[float], drawn: np.ndarray, operation: str, where: str) -> Numbers:
    """add, scale or abs on the default values."""
    now = np.asarray(values, dtype=float)
    made = {"add": now + drawn, "scale": now * drawn, "abs": drawn}.get(operation)
    if made is None:
        raise InputError("E104", where, f"{operation!r} is no operation", "add, scale, abs")
    return tuple(float(x) for x in made)


def _names(term: Term, key: str, known: Sequence[str]) -> tuple[str, ...]:
    config = term.params.get("asset_cfg")
    patterns = config.get(key) if isinstance(config, Mapping) else None
    return tuple(known) if patterns is None else match_names(patterns, known, f"events.{term.name}.{key}")


def _material(contract: Contract, place: int, term: Term, rng: Generator) -> Contract:
    """One triple for the robot: the ranges shrink to what was drawn."""
    keys = ("static_friction_range", "dynamic_friction_range", "restitution_range")
    drawn = {k: float(draw(term.params[k], "uniform", 1, rng, f"events.{term.name}.{k}")[0]) for k in keys}
    if term.params.get("make_consistent"):
        drawn[keys[1]] = min(drawn[keys[0]], drawn[keys[1]])
    params = {**term.params, **{key: (value, value) for key, value in drawn.items()}}
    events = list(contract.events)
    events[place] = replace(term, params=params)
    return replace(contract, events=tuple(events))


def _gains(contract: Contract, _: int, term: Term, rng: Generator) -> Contract:
    return _groups(contract, term, rng, {"stiffness": "stiffness", "damping": "damping"})


def _joint_parameters(contract: Contract, _: int, term: Term, rng: Generator) -> Contract:
    return _groups(contract, term, rng, {"friction": "friction", "armature": "armature"})


def _groups(contract: Contract, term: Term, rng: Generator, fields: Mapping[str, str]) -> Contract:
    """Per-joint numbers of the actuator groups; what must not be negative is not."""
    chosen = _names(term, "joint_names", contract.joint_names)
    distribution, operation = str(term.params.get("distribution", "uniform")), str(term.params.get("operation", "abs"))
    groups = list(contract.actuators)
    for key, name in fields.items():
        params = term.params.get(f"{key}_distribution_params")
        if params is None:
            continue
        where = f"events.{term.name}.{key}_distribution_params"
        drawn = dict(zip(chosen, draw(params, distribution, len(chosen), rng, where), strict=True))
        groups = [_changed(group, name, drawn, operation, where) for group in groups]
    return replace(contract, actuators=tuple(groups))


def _changed(group: ActuatorGroup, name: str, drawn: Mapping[str, float], operation: str, where: str) -> ActuatorGroup:
    values: Numbers = getattr(group, name)
    if not values:
        return group
    new = [
        max(0.0, applied([value], np.array([drawn[joint]]), operation, where)[0]) if joint in drawn else value
        for joint, value in zip(group.joints, values, strict=True)
    ]
    changes: dict[str, Any] = {name: tuple(new)}
    if name == "friction" and group.dynamic_friction:
        changes["dynamic_friction"] = tuple(min(s, d) for s, d in zip(new, group.dynamic_friction, strict=True))
    return replace(group, **changes)


def _mass(term: Term, rng: Generator) -> Callable[[Robot], Robot]:
    """Masses of links; the inertia goes with the mass unless the task says not."""

    def change(robot: Robot) -> Robot:
        names = _names(term, "body_names", [link.name for link in robot.links])
        distribution = str(term.params.get("distribution", "uniform"))
        where = f"events.{term.name}.mass_distribution_params"
        drawn = dict(
            zip(names, draw(term.params["mass_distribution_params"], distribution, len(names), rng, where), strict=True)
        )
        operation = str(term.params.get("operation", "add"))
        least = float(term.params.get("min_mass") or SMALLEST_MASS_KG)
        with_inertia = bool(term.params.get("recompute_inertia", True))

        def weighed(name: str, inertia: Inertia | None) -> Inertia | None:
            if inertia is None or name not in drawn:
                return inertia
            mass = max(least, applied([inertia.mass_kg], np.array([drawn[name]]), operation, where)[0])
            ratio = mass / inertia.mass_kg if with_inertia and inertia.mass_kg > 0 else 1.0
            x, y, z = inertia.diagonal_kgm2
            return replace(inertia, mass_kg=mass, diagonal_kgm2=(x * ratio, y * ratio, z * ratio))

        links = tuple(replace(link, inertia=weighed(link.name, link.inertia)) for link in robot.links)
        return replace(robot, links=links)

    return change


def _com(term: Term, rng: Generator) -> Callable[[Robot], Robot]:
    """Centres of mass: one offset for all links chosen."""
    ranges = term.params.get("com_range") or {}
    where = f"events.{term.name}.com_range"
    x, y, z = (float(draw(ranges.get(axis, (0.0, 0.0)), "uniform", 1, rng, where)[0]) for axis in "xyz")

    def change(robot: Robot) -> Robot:
        names = set(_names(term, "body_names", [link.name for link in robot.links]))

        def moved(com: Vec3) -> Vec3:
            return (com[0] + x, com[1] + y, com[2] + z)

        links = tuple(
            replace(link, inertia=replace(link.inertia, com_m=moved(link.inertia.com_m)))
            if link.inertia is not None and link.name in names
            else link
            for link in robot.links
        )
        return replace(robot, links=links)

    return change


ON_CONTRACT: Mapping[str, Callable[[Contract, int, Term, Generator], Contract]] = {
    "randomize_rigid_body_material": _material,
    "randomize_actuator_gains": _gains,
    "randomize_joint_parameters": _joint_parameters,
}
ON_ROBOT: Mapping[str, Callable[[Term, Generator], Callable[[Robot], Robot]]] = {
    "randomize_rigid_body_mass": _mass,
    "randomize_rigid_body_com": _com,
}
"""By the bare name of the event."""
