"""Mirror: one contract's environments in one simulator, stepped as `ManagerBasedRLEnv.step` steps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from isaaclab_mirror.adapter.adapter import Adapter, Commands, StepResult
from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.contract.contract import Contract
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.envs.rows import part_of, rows_of, start_rows
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.simulator import LARGEST_SPEED, Simulator
from isaaclab_mirror.sims.state import Start, State

EXPLODED = "E055"


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One policy step of every environment."""

    state: State
    """At its end, before any reset."""
    result: StepResult
    exploded: Array
    """Environments whose physics went to infinity; they stand at their start again."""
    messages: Mapping[int, str] = field(default_factory=dict[int, str])
    """What the simulator said of them."""

    @property
    def done(self) -> Array:
        """Ended, whatever way."""
        return self.result.done | self.exploded


class Mirror:
    """`env_count` environments. `reset`, then `step` and `observe` in turn; `step` resets nothing by itself."""

    def __init__(self, contract: Contract, robot: Robot, simulator: Simulator, adapter: Adapter) -> None:
        """`open_mirror` makes one; it owns the simulator."""
        self.contract = contract
        self.robot = robot
        """As the task spawns it, with everything to be seen."""
        self.simulator = simulator
        self.adapter = adapter
        self.env_count = simulator.env_count
        self.state = simulator.read()
        """Now."""
        self.starts: Start | None = None
        """Where a reset begins instead of where the task's events would; one row per environment, or one for all."""
        self._whole = not adapter.reads_every_step
        explicit = {joint for model, _ in adapter.motors.explicit for joint in model.group.joints}
        self._efforts_alone = explicit.issuperset(simulator.joint_names)

    @property
    def step_dt(self) -> float:
        """Seconds of a policy step."""
        return self.contract.sim.step_dt

    @property
    def input_size(self) -> int:
        """Values of the policy's observation."""
        return self.adapter.policy_size

    @property
    def action_size(self) -> int:
        """Values of the policy's action."""
        return self.adapter.action_size

    @property
    def observation_terms(self) -> list[tuple[str, int]]:
        """The parts of the policy's observation with their sizes, in order."""
        sizes = self.adapter.observation_sizes
        return [(name, size) for group in self.contract.policy_groups for name, size in sizes[group].items()]

    def reset(self, env_ids: Sequence[int] | Array | None = None, *, seeds: Sequence[int] | None = None) -> None:
        """Begin new episodes: at `starts`, or where the task's reset events draw them.

        `seeds`, one per environment: what is drawn for it then depends on its seed alone.
        """
        rows = rows_of(env_ids, self.env_count)
        if seeds is not None:
            for row, seed in zip(rows, seeds, strict=True):
                self.reseed(seed)
                self._begin(np.array([row]))
            return
        if len(rows):
            self._begin(rows)

    def _begin(self, rows: Array) -> None:
        start = self.adapter.draw_start(rows)
        if self.starts is not None:
            start = start_rows(self.starts, rows, self.env_count)
        self.simulator.reset(start, rows.tolist())
        self.state = self.simulator.read()
        self.adapter.reset(self.state, rows)

    def put(self, start: Start) -> None:
        """Move all environments to this state in the middle of their episodes."""
        self.simulator.reset(start)
        self.state = self.simulator.read()

    def reseed(self, seed: int) -> None:
        """What is drawn from now on is what this seed gives."""
        generator = self.adapter.world.rng
        generator.bit_generator.state = np.random.default_rng(seed).bit_generator.state

    def observe(self, *, push: bool = True) -> Array:
        """The policy's observation (env_count, input_size), float32; once per policy step, and after a reset."""
        return self.adapter.policy_input(self.adapter.observe(self.state, push=push))

    def step(self, actions: Array) -> Step:
        """One policy step: `decimation` physics steps, then rewards and ends; resets nothing."""
        self.adapter.process(actions)
        before = self.state
        exploded = np.zeros(self.env_count, dtype=bool)
        messages: dict[int, str] = {}
        while True:
            try:
                self._advance()
                break
            except InputError as error:
                if error.diagnostic.code != EXPLODED or exploded.all():
                    raise
                self._recover(before, exploded, messages, str(error.diagnostic.message))
        return Step(self.state, self.adapter.step_done(self.state), exploded, messages)

    def _advance(self) -> None:
        count = self.contract.sim.decimation
        if self._whole:
            self._tell(self.adapter.apply(self.state))
            self.simulator.step(count)
            self.state = self.simulator.read()
            self.adapter.physics_stepped(self.state, count)
            return
        for _ in range(count):
            self._tell(self.adapter.apply(self.state))
            self.simulator.step()
            self.state = self.simulator.read()
            self.adapter.physics_stepped(self.state)

    def _tell(self, commands: Commands) -> None:
        simulator = self.simulator
        if not self._efforts_alone:
            simulator.set_position_targets(commands.position)
            simulator.set_velocity_targets(commands.velocity)
        simulator.set_efforts(commands.effort)

    def _recover(self, before: State, exploded: Array, messages: dict[int, str], message: str) -> None:
        """Environments that exploded go back to their start, the others to where this step began, to step again."""
        bad = ~exploded & broken(self.simulator.read())
        if not bad.any():
            raise InputError(EXPLODED, self.simulator.engine, message)
        exploded |= bad
        messages.update(dict.fromkeys(map(int, np.flatnonzero(bad)), message))
        lost, kept = np.flatnonzero(exploded), np.flatnonzero(~exploded)
        self.simulator.reset(self.adapter.draw_start(lost), lost.tolist())
        if len(kept):
            self.simulator.reset(part_of(before, kept), kept.tolist())
        self.state = self.simulator.read()

    def follow_up(self) -> None:
        """What comes between resets and the next observation: commands, pushes."""
        self.adapter.update_commands(self.state)
        for change in self.adapter.interval_events(self.state):
            start = change.starts.get(self.contract.robot.name)
            if start is not None:
                self.simulator.reset(start, change.env_ids.tolist())
                self.state = self.simulator.read()

    def close(self) -> None:
        """Give the simulator back."""
        self.simulator.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


def broken(state: State) -> Array:
    """Environments whose state is not finite or beyond all speeds."""
    speeds = np.concatenate(
        [state.joint_pos, state.joint_vel, state.root_pos_w, state.root_lin_vel_w, state.root_ang_vel_w], axis=1
    )
    with np.errstate(invalid="ignore"):
        return ~(np.abs(speeds).max(axis=1) < LARGEST_SPEED * 0.999)
