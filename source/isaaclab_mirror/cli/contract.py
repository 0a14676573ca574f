"""`contract RUN`: what a policy expects, with where each number came from."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isaaclab_mirror.contract.contract import ActionTerm, ActuatorGroup, Contract, ObservationTerm
    from isaaclab_mirror.diagnostics import Diagnostic
    from isaaclab_mirror.policy.policy import Policy
    from isaaclab_mirror.sims.state import State

Sizes = Mapping[str, Mapping[str, int]]
"""Group → term → values, with history."""
GAINS = (
    ("stiffness", "stiffness"),
    ("damping", "damping"),
    ("effort_limit", "effort"),
    ("velocity_limit", "velocity"),
    ("armature", "armature"),
    ("friction", "friction"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "run", type=Path, metavar="RUN", help="run folder, folder of a policy and its config, or a file"
    )
    parser.add_argument("--robot", type=Path, metavar="FILE", help="robot file, where the run's own is not found")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="policy file, where the folder has several or none")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.toml", help="write the contract to edit and replay")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result as JSON (docs/json.md)")


def run(args: argparse.Namespace) -> int:
    """Read, print, check the policy's sizes, write."""
    import os

    os.environ.setdefault("MUJOCO_GL", "disable")
    from isaaclab_mirror.cli.output import print_diagnostics, write_json
    from isaaclab_mirror.contract.json_form import contract_json
    from isaaclab_mirror.contract.loading import load_contract
    from isaaclab_mirror.contract.toml_file import write_contract

    contract = load_contract(args.run, robot_file=args.robot, policy_file=args.policy)
    contract, sizes, policy = _measured(contract)
    print_diagnostics(contract.diagnostics)
    print("\n".join(_headline(contract, policy)))
    _print_joints(contract)
    _print_actuators(contract)
    _print_observations(contract, sizes)
    _print_actions(contract)
    print("\n" + _beside(contract))
    if policy is not None:
        _check_policy(contract, sizes, policy)
    if args.output:
        print(f"wrote {write_contract(contract, args.output)}")
    if args.json:
        write_json(
            args.json,
            "contract",
            passed=True,
            diagnostics=contract.diagnostics,
            contract=contract_json(contract),
            observation_sizes={group: dict(terms) for group, terms in sizes.items()},
            policy_input=None if policy is None else policy.input_size,
            policy_output=None if policy is None else policy.action_size,
        )
    return 0


def _measured(contract: Contract) -> tuple[Contract, Sizes, Policy | None]:
    """Sizes of the observations as the adapter computes them, and the policy; what cannot be had is said."""
    from isaaclab_mirror.diagnostics import InputError

    said: list[Diagnostic] = []
    sizes: Sizes = {}
    policy: Policy | None = None
    if contract.is_resolved:
        try:
            sizes = _sizes(contract)
        except InputError as error:
            said.append(_as_info(error))
    if contract.policy is not None:
        from isaaclab_mirror.policy.loading import load_policy

        try:
            policy = load_policy(contract.policy)
        except InputError as error:
            said.append(_as_info(error))
        else:
            said += policy.notes
    return replace(contract, diagnostics=(*contract.diagnostics, *said)), sizes, policy


def _as_info(error: Any) -> Diagnostic:
    from isaaclab_mirror.diagnostics import Severity

    return replace(error.diagnostic, severity=Severity.WARNING)


def _sizes(contract: Contract) -> Sizes:
    from isaaclab_mirror.adapter.adapter import Adapter
    from isaaclab_mirror.adapter.assets import Layout, rest_state
    from isaaclab_mirror.adapter.scene import EmptyScene

    class StillScene(EmptyScene):
        """Every object at rest at the origin: enough to ask a term for its size."""

        def asset(self, name: str) -> State:
            joints = _joints_of(contract, name)
            rest = rest_state(Layout.of(joints, (name,), joints, (name,)), 1)
            return replace(rest, link_names=(name,), joint_names=joints)

    adapter = Adapter(
        contract,
        joint_names=contract.joint_names,
        link_names=contract.body_names,
        env_count=1,
        scene=StillScene(),
        rewards=False,
    )
    return adapter.observation_sizes


def _joints_of(contract: Contract, name: str) -> tuple[str, ...]:
    """Joints of another articulation, as far as its start names them."""
    from isaaclab_mirror.contract.node import Node

    for entity in contract.scene:
        if entity.name == name:
            start = Node(entity.config, Path(contract.name), f"scene.{name}").child("init_state")
            return tuple(key for key in start.child("joint_pos").data if key.isidentifier())
    return ()


def _check_policy(contract: Contract, sizes: Sizes, policy: Policy) -> None:
    """The policy's input is the sum of its observation terms, its output that of the action terms."""
    from isaaclab_mirror.policy.policy import check_sizes

    terms = [item for name in contract.policy_groups for item in sizes.get(name, {}).items()]
    actions = [term.size for term in contract.actions]
    if terms and all(size is not None for size in actions):
        check_sizes(policy, terms, sum(size or 0 for size in actions))


def _headline(contract: Contract, policy: Policy | None) -> list[str]:
    sim, source = contract.sim, contract.source
    forces = "every iteration" if sim.external_forces_every_iteration else "once per step"
    version = "" if source.version == "unknown" else f" {source.version}"
    of = source.task or source.kind.value
    lines = [
        f"{contract.name}: {of} ({source.framework}{version}), trained on {sim.backend}",
        f"  rates    physics {_number(sim.dt)} s × {sim.decimation} = policy {_number(sim.step_dt)} s"
        f" ({_number(1 / sim.step_dt)} Hz); episode {_number(sim.episode_length_s)} s",
        f"  solver   {sim.solver}; external forces {forces}",
        f"  ground   {sim.terrain.kind}, friction {_number(sim.terrain.material.static_friction)} static, "
        f"{_number(sim.terrain.material.dynamic_friction)} sliding, {sim.terrain.material.friction_combine}",
        f"  start    {', '.join(map(_number, contract.robot.pos))} m; config quaternions are {contract.quat_order}",
        f"  robot    {contract.robot.file or contract.robot.reference or '(none)'}",
    ]
    if contract.policy is not None:
        known = "" if policy is None else f": {_size(policy.input_size)} → {_size(policy.action_size)}"
        lines.append(f"  policy   {contract.policy.file.name} ({contract.policy.kind.value}){known}")
    return lines


def _size(size: int | None) -> str:
    return "?" if size is None else str(size)


def _print_joints(contract: Contract) -> None:
    from isaaclab_mirror.cli.output import count, print_table

    if not contract.is_resolved:
        print("\njoints stay patterns: no robot file is known")
        return
    print(
        f"\n{count(len(contract.joint_names), 'joint')}, order: {contract.joints.source.value} ({contract.joints.note})"
    )
    rows: list[tuple[str, ...]] = []
    for k, name in enumerate(contract.joint_names):
        group, at = contract.actuator_of(name)
        numbers = [_at(getattr(group, field), at) for field, _ in GAINS]
        low, high = contract.robot.joint_limits[name]
        default = contract.robot.default_joint_pos[name]
        rows.append((str(k), name, group.name, _number(default), f"{_number(low)} … {_number(high)}", *numbers))
    header = ("", "joint", "group", "default", "limits", *(title for _, title in GAINS))
    print_table(header, rows, numbers=(0, 3, *range(5, 5 + len(GAINS))))


def _at(values: Sequence[float], k: int) -> str:
    return _number(values[k]) if k < len(values) else "·"


def _print_actuators(contract: Contract) -> None:
    from isaaclab_mirror.cli.output import print_table

    print()
    rows = [
        (
            group.name,
            group.kind.value,
            str(len(group.joints) or ", ".join(group.joint_patterns)),
            _origins(contract, group),
        )
        for group in contract.actuators
    ]
    print_table(("actuators", "motor", "joints", "numbers from"), rows, numbers=())


def _origins(contract: Contract, group: ActuatorGroup) -> str:
    """Where the group's numbers came from: who, and which numbers."""
    start = f"actuators.{group.name}"
    by_origin: dict[str, list[str]] = {}
    for key, who in contract.provenance.items():
        if key == start:
            return who
        if key.startswith(start + "."):
            place, _, name = who.rpartition(".")
            origin = place if place and name in _KEYS else who
            by_origin.setdefault(origin, []).append(key[len(start) + 1 :])
    return "; ".join(f"{origin}: {', '.join(names)}" for origin, names in by_origin.items()) or "·"


_KEYS = frozenset(
    {
        "stiffness",
        "damping",
        "armature",
        "friction",
        "dynamic_friction",
        "viscous_friction",
        "saturation_effort",
        "effort_limit",
        "velocity_limit",
        "effort_limit_sim",
        "velocity_limit_sim",
        "joint_effort_limit",
        "joint_velocity_limit",
        "actuator_effort_limit",
        "actuator_velocity_limit",
    }
)
"""Last parts of a number's place in a config."""


def _print_observations(contract: Contract, sizes: Sizes) -> None:
    from isaaclab_mirror.cli.output import print_table

    for group in contract.observations:
        if group.name not in contract.policy_groups:
            continue
        print()
        known = sizes.get(group.name, {})
        rows = [_observation_row(term, known.get(term.name)) for term in group.terms]
        total = str(sum(known.values())) if known else "?"
        order = "" if group.history_order == "term" else ", frame by frame"
        print_table((f"observation {group.name}", "function", "values", "scale", "clip", "history"), rows, numbers=(2,))
        print(f"{' + '.join(str(known[t.name]) for t in group.terms) + ' = ' if known else ''}{total} values{order}")


def _observation_row(term: ObservationTerm, size: int | None) -> tuple[str, ...]:
    return (
        term.name,
        term.func_name,
        _size(term.size if size is None else size),
        _several(term.scale),
        "·" if term.clip is None else f"{_number(term.clip[0])} … {_number(term.clip[1])}",
        str(term.history_length) if term.history_length else "·",
    )


def _print_actions(contract: Contract) -> None:
    from isaaclab_mirror.cli.output import print_table

    print()
    rows = [_action_row(term) for term in contract.actions]
    print_table(("action", "class", "values", "joints", "scale", "offset", "clip"), rows, numbers=(2,))


def _action_row(term: ActionTerm) -> tuple[str, ...]:
    joints = ", ".join(term.joints[:3]) + (" …" if len(term.joints) > 3 else "")
    return (
        term.name,
        term.kind,
        _size(term.size),
        joints or ", ".join(term.joint_patterns) or "·",
        _several(term.scale),
        "default pose" if term.use_default_offset else _several(term.offset),
        "·" if not term.clip else f"{_number(term.clip[0][0])} … {_number(term.clip[0][1])}",
    )


def _several(values: Sequence[float]) -> str:
    """One number where all are equal, else the first few."""
    if not values:
        return "·"
    if len(set(values)) == 1:
        return _number(values[0])
    return ", ".join(map(_number, values[:4])) + (" …" if len(values) > 4 else "")


def _beside(contract: Contract) -> str:
    """What the task has beside what the policy sees and does."""
    kinds = {
        "commands": contract.commands,
        "terminations": contract.terminations,
        "events": contract.events,
        "rewards": contract.rewards,
    }
    return "\n".join(f"{kind}: {', '.join(term.name for term in terms) or 'none'}" for kind, terms in kinds.items())


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.5g}"
