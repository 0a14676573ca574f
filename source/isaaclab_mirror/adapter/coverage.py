"""What of a task the adapter knows: every term by name, and for those that it does not the nearest one it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from isaaclab_mirror.adapter.registry import (
    ACTIONS,
    ACTUATORS,
    COMMANDS,
    EVENTS,
    OBSERVATIONS,
    REWARDS,
    TERMINATIONS,
    Registry,
    load_built_in,
)
from isaaclab_mirror.contract.contract import ActuatorKind, Contract

REQUIRED = ("observation", "action", "command", "termination", "actuator")
"""Kinds without which the policy would see or do something else, or an episode would not end."""

KINDS = (*REQUIRED, "other observation", "reward", "event")


@dataclass(frozen=True, slots=True)
class TermCoverage:
    """One term of a task."""

    kind: str
    """One of KINDS; `other observation` is in a group that is not the policy's input."""
    name: str
    """As the task calls it."""
    func: str
    """`module:name`."""
    known: bool
    needs: tuple[str, ...] = ()
    """What a replay must offer for it beside the robot's state."""
    nearest: str | None = None
    """The known name most like it, where it is not known."""

    @property
    def file(self) -> str:
        """Where the task defines it, below its package's folder."""
        module = self.func.rpartition(":")[0] if ":" in self.func else self.func.rpartition(".")[0]
        return f"{module.replace('.', '/')}.py" if module else ""

    def __str__(self) -> str:
        """For a message or a table."""
        bare = self.func.rpartition(":")[2].rpartition(".")[2]
        near = f", nearest known {self.nearest}" if self.nearest and self.nearest != bare else ""
        return f"{self.kind} {bare} ({self.file}{near})"


@dataclass(frozen=True, slots=True)
class Coverage:
    """All terms of one task."""

    task: str
    terms: tuple[TermCoverage, ...]

    @property
    def missing(self) -> tuple[TermCoverage, ...]:
        """Unknown terms that a replay needs."""
        return tuple(term for term in self.terms if not term.known and term.kind in REQUIRED)

    @property
    def left_out(self) -> tuple[TermCoverage, ...]:
        """Unknown terms that a replay does without: rewards, events, observations of the critic and others."""
        return tuple(term for term in self.terms if not term.known and term.kind not in REQUIRED)

    @property
    def covered(self) -> bool:
        """Whether the policy sees, does and ends what the task has."""
        return not self.missing

    @property
    def needs(self) -> tuple[str, ...]:
        """What the environment must offer beside the robot's own state, for the terms that a replay needs."""
        inner = {"effort", "joint_acc", "contacts", "randomisation"}
        return tuple(sorted({n for term in self.terms if term.kind in REQUIRED for n in term.needs} - inner))


def coverage(contract: Contract) -> Coverage:
    """Every term of a contract, resolved or not, looked up by name."""
    load_built_in()
    found = list(_observations(contract))
    found += [_look("action", ACTIONS, term.name, term.class_type or term.kind) for term in contract.actions]
    for kind, registry, terms in (
        ("command", COMMANDS, contract.commands),
        ("termination", TERMINATIONS, contract.terminations),
        ("reward", REWARDS, [term for term in contract.rewards if term.weight]),
        ("event", EVENTS, contract.events),
    ):
        found += [_look(kind, registry, term.name, term.func) for term in terms]
    for group in contract.actuators:
        own = group.kind is ActuatorKind.OTHER or ACTUATORS.find(str(group.kind)) is None
        found.append(_look("actuator", ACTUATORS, group.name, (group.class_type if own else "") or str(group.kind)))
    return Coverage(contract.source.task or contract.name, tuple(found))


def _observations(contract: Contract) -> Iterable[TermCoverage]:
    for group in contract.observations:
        kind = "observation" if group.name in contract.policy_groups else "other observation"
        for term in group.terms:
            yield _look(kind, OBSERVATIONS, term.name, term.func)


def _look(kind: str, registry: Registry, name: str, func: str) -> TermCoverage:
    entry = registry.find(func)
    if entry is not None:
        return TermCoverage(kind, name, func, known=True, needs=entry.needs)
    return TermCoverage(kind, name, func, known=False, nearest=registry.nearest(func))


def coverage_page(found: Sequence[Coverage]) -> str:
    """docs/coverage.md, without its first line."""
    covered = [one for one in found if one.covered]
    complete = [one for one in covered if not one.left_out]
    parts = [
        "# Which Isaac Lab tasks replay\n\n"
        f"{len(covered)} of {len(found)} manager-based tasks of Isaac Lab 3.0.0 ({len(covered) / len(found):.0%}) are "
        "covered: every observation of the policy, action, command, termination and actuator of the task is known. "
        f"{len(complete)} of them have nothing left out: rewards, events and the critic's observations are known too. "
        "*Needs* is what an environment must offer beside the robot: objects of the scene, fixed tendons, a "
        "simulator's Jacobian and mass matrix.\n\n"
        "A term that is missing can be written in a few lines: see [adapter.md](adapter.md).",
        "| task | covered | needs | missing | left out |\n|---|---|---|---|---|",
    ]
    rows = [
        f"| {one.task} | {'yes' if one.covered else 'no'} | {', '.join(one.needs)} | {_names(one.missing)} "
        f"| {_counts(one.left_out)} |"
        for one in sorted(found, key=lambda one: one.task)
    ]
    unknown = sorted({str(term) for one in found for term in one.missing + one.left_out})
    listing = "\n".join(f"- {line}" for line in unknown)
    known = "\n".join(
        f"- {registry.kind}: {', '.join(f'`{name}`' for name in registry.names() if name != 'none')}"
        for registry in (OBSERVATIONS, ACTIONS, COMMANDS, TERMINATIONS, REWARDS, EVENTS, ACTUATORS)
    )
    return f"{parts[0]}\n\n{parts[1]}\n" + "\n".join(rows) + f"\n\n## Known\n\n{known}\n\n## Not known\n\n{listing}\n"


def _names(terms: Sequence[TermCoverage]) -> str:
    return ", ".join(sorted({term.func.rpartition(":")[2].rpartition(".")[2] for term in terms}))


def _counts(terms: Sequence[TermCoverage]) -> str:
    kinds = [term.kind for term in terms]
    return ", ".join(
        f"{kinds.count(kind)} {kind}{'s' if kinds.count(kind) > 1 else ''}" for kind in KINDS if kind in kinds
    )
