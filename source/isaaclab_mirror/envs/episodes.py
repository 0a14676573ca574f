"""Episodes of a policy in a mirror: as many at once as it has environments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.envs.commanding import velocity_command
from isaaclab_mirror.envs.measuring import UNSEEN, Episode, Measure
from isaaclab_mirror.envs.mirror import Mirror, Step
from isaaclab_mirror.envs.rows import take
from isaaclab_mirror.policy.policy import Actor, check_sizes
from isaaclab_mirror.sims.state import Start, State

DEFAULT_SECONDS = 20.0
"""Of an episode where neither the caller nor the task says how long it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """One policy step as a recorder sees it."""

    index: int
    """Of the policy step in the episode."""
    before: State
    """What the policy saw."""
    observation: Array
    action: Array
    command: Array | None
    step: Step
    alive: Array
    """Environments whose episode had not ended before this step."""


class Recorder(Protocol):
    """Looks on: at every beginning, every step."""

    def begin(self, mirror: Mirror, episodes: Sequence[int]) -> None:
        """Episodes begin: their numbers, by environment."""
        ...

    def add(self, mirror: Mirror, moment: Moment) -> None:
        """A policy step was done."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which episodes are run."""

    episodes: int = 1
    seconds: float | None = None
    """None: the task's own length."""
    seed: int = 0
    """Of the first episode; each further one has the next."""
    starts: Start | None = None
    """One row per episode, or one for all; None: the task's reset events draw them."""
    slip: bool = True
    """Measure how the feet slip."""

    def steps(self, mirror: Mirror) -> int:
        """Policy steps of an episode at most."""
        seconds = self.seconds
        if seconds is None:
            longest = mirror.contract.sim.episode_length_s
            seconds = longest if np.isfinite(longest) else DEFAULT_SECONDS
        return max(1, round(seconds / mirror.step_dt))


def run_episodes(
    mirror: Mirror,
    policy: Actor,
    plan: Plan | None = None,
    *,
    recorders: Sequence[Recorder] = (),
    progress: Callable[[float], None] | None = None,
) -> list[Episode]:
    """Run them all; `progress` hears which share is done. Equal plans begin alike in either engine."""
    plan = plan or Plan()
    if plan.episodes < 1:
        raise InputError("E091", "episodes", f"{plan.episodes} is no number of episodes")
    check_sizes(policy, mirror.observation_terms, mirror.action_size)
    done: list[Episode] = []
    for first in range(0, plan.episodes, mirror.env_count):
        wanted = min(mirror.env_count, plan.episodes - first)
        share = (first / plan.episodes, wanted / plan.episodes)
        done += _batch(mirror, policy, plan, first, wanted, recorders, _part(progress, share))
    return done


def _part(progress: Callable[[float], None] | None, share: tuple[float, float]) -> Callable[[float], None]:
    if progress is None:
        return lambda _: None
    return lambda done: progress(share[0] + done * share[1])


def _batch(
    mirror: Mirror,
    policy: Actor,
    plan: Plan,
    first: int,
    wanted: int,
    recorders: Sequence[Recorder],
    progress: Callable[[float], None],
) -> list[Episode]:
    """`wanted` episodes at once; environments beyond them run along and are not looked at."""
    numbers = [min(first + k, plan.episodes - 1) for k in range(mirror.env_count)]
    begin(mirror, plan, numbers)
    policy.reset()
    measure = Measure(mirror, slip=plan.slip)
    measure.alive[wanted:] = False
    name = velocity_command(mirror.adapter)
    for recorder in recorders:
        recorder.begin(mirror, numbers[:wanted])
    observation = mirror.observe()
    count = plan.steps(mirror)
    for index in range(count):
        _fail_unseen(mirror, measure, observation)
        if not measure.alive.any():
            break
        seen = np.where(measure.alive[:, None], observation, np.float32(0.0))
        action = policy(seen)
        command = None if name is None else mirror.adapter.world.commands[name].value.copy()
        before, alive = mirror.state, measure.alive.copy()
        step = mirror.step(action)
        measure.add(step, command)
        for recorder in recorders:
            recorder.add(mirror, Moment(index, before, seen, action, command, step, alive))
        if not measure.alive.any():
            break
        mirror.follow_up()
        observation = mirror.observe()
        progress((index + 1) / count)
    progress(1.0)
    return [measure.episode(row, first + row, plan.seed + first + row) for row in range(wanted)]


def begin(mirror: Mirror, plan: Plan, numbers: Sequence[int]) -> None:
    """Reset every environment to the episode of its number: each is drawn from a seed of its own."""
    if plan.starts is not None:
        mirror.starts = take(plan.starts, np.asarray(numbers))  # nominal ones stay as they are
    mirror.reset(seeds=[plan.seed + number for number in numbers])


def _fail_unseen(mirror: Mirror, measure: Measure, observation: Array) -> None:
    """An observation that is not finite ends its episode, with the term that it comes from."""
    for row in np.flatnonzero(measure.alive & ~np.isfinite(observation).all(axis=1)):
        column = int(np.flatnonzero(~np.isfinite(observation[row]))[0])
        name = term_at(mirror, column)
        message = f"observation {name!r} is {observation[row, column]} after {measure.steps[row]} steps"
        measure.finish(int(row), UNSEEN, fell=False, message=message)


def term_at(mirror: Mirror, column: int) -> str:
    """The observation term that a column of the policy's input belongs to."""
    start = 0
    for name, size in mirror.observation_terms:
        if column < start + size:
            return name
        start += size
    return f"column {column}"
