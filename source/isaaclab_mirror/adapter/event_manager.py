"""When events happen: at a reset, or after an interval of time; and which of them change the robot itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, uniform
from isaaclab_mirror.adapter.events import Drafts
from isaaclab_mirror.adapter.registry import EVENTS
from isaaclab_mirror.adapter.world import World, resolve_params
from isaaclab_mirror.contract.contract import Term
from isaaclab_mirror.diagnostics import Diagnostic, InputError
from isaaclab_mirror.sims.state import Start, State


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What an event sets in the simulator: `simulator.reset(starts[robot], env_ids)`."""

    env_ids: Array
    starts: dict[str, Start]
    """By the asset's name in the scene."""


class _Event:
    def __init__(self, term: Term, world: World) -> None:
        where = f"event {term.name}"
        self.term = term
        entry = EVENTS.get(term.func, where)
        self.params: dict[str, Any] = resolve_params(term.params, world, where)
        self.call = entry.make(world, self.params) if isinstance(entry.make, type) else entry.make
        self.alters_robot = "randomisation" in entry.needs

    def __call__(self, drafts: Drafts) -> None:
        self.call(drafts, **self.params)


class EventManager:
    """Isaac Lab's EventManager for what moves the robot; unknown events are told in `missing`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.missing: list[Diagnostic] = []
        self.randomisations: list[Term] = []
        """Declared by the task, applied only on request: masses, friction, gains, …"""
        self._resets: list[_Event] = []
        self._intervals: list[_Event] = []
        self._time_left: list[Array] = []
        self._targets: tuple[Array, Array] | None = None
        for term in world.contract.events:
            try:
                event = _Event(term, world)
            except InputError as error:
                self.missing.append(error.diagnostic)
                continue
            if event.alters_robot:
                self.randomisations.append(term)
            elif term.mode == "reset":
                self._resets.append(event)
            elif term.mode == "interval" and term.interval_s is not None:
                self._intervals.append(event)
                count = 1 if term.config.get("is_global_time") else world.env_count
                self._time_left.append(uniform(world.rng, term.interval_s, count))

    def draw(self, env_ids: Array) -> dict[str, Start]:
        """The reset events, in order, as starts by asset; the robot is always among them."""
        drafts = Drafts(self._world, env_ids)
        robot = self._world.contract.robot.name
        drafts.of(robot)
        for event in self._resets:
            event(drafts)
        if (targets := drafts.of(robot).targets) is not None:
            self._targets = (env_ids, targets)
        return {name: draft.start() for name, draft in drafts.assets.items()}

    def take_targets(self) -> tuple[Array, Array] | None:
        """Position targets that the last draw set: environments, and (environments, joints)."""
        taken, self._targets = self._targets, None
        return taken

    def reset(self, env_ids: Array) -> None:
        """Draw new intervals for a new episode."""
        for event, left in zip(self._intervals, self._time_left, strict=True):
            config = event.term.config
            if not config.get("is_global_time") and config.get("resample_interval_on_reset", True):
                assert event.term.interval_s is not None  # noqa: S101 - checked when it was made
                left[env_ids] = uniform(self._world.rng, event.term.interval_s, len(env_ids))

    def intervals(self, state: State) -> list[Change]:
        """Events whose time has come in this policy step."""
        changes: list[Change] = []
        for event, left in zip(self._intervals, self._time_left, strict=True):
            left -= self._world.step_dt
            due = np.flatnonzero(left < 1e-6)
            if not len(due):
                continue
            assert event.term.interval_s is not None  # noqa: S101 - checked when it was made
            left[due] = uniform(self._world.rng, event.term.interval_s, len(due))
            rows = np.arange(self._world.env_count) if event.term.config.get("is_global_time") else due
            drafts = Drafts(self._world, rows, state)
            event(drafts)
            changes.append(Change(rows, {name: draft.start() for name, draft in drafts.assets.items()}))
        return changes
