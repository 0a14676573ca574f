"""Adapter: one contract's observations, actions, motors, commands, rewards and ends, in Isaac Lab's order.

One policy step of an environment, as `ManagerBasedRLEnv.step` has it:

    adapter.process(action)
    for _ in range(contract.sim.decimation):
        commands = adapter.apply(state)              # to the simulator: targets and efforts
        simulator.step(); state = simulator.read()   # every step where `reads_every_step`, else once per policy step
        adapter.physics_stepped(state)
    result = adapter.step_done(state)                # reward and end, before any reset
    start = adapter.draw_start(done); simulator.reset(start, done); state = simulator.read(); adapter.reset(state, done)
    adapter.update_commands(state)
    for change in adapter.interval_events(state): …  # pushes: simulator.reset(change.starts[…], change.env_ids)
    observations = adapter.observe(state)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.action_manager import ActionManager
from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.commands import Command
from isaaclab_mirror.adapter.coverage import coverage
from isaaclab_mirror.adapter.event_manager import Change, EventManager
from isaaclab_mirror.adapter.motors import Commands, Motors
from isaaclab_mirror.adapter.observation_manager import ObservationManager
from isaaclab_mirror.adapter.registry import COMMANDS, REWARDS, TERMINATIONS, load_built_in
from isaaclab_mirror.adapter.sensors import ContactSensor, build_sensors
from isaaclab_mirror.adapter.terms import BoundTerm
from isaaclab_mirror.adapter.world import EmptyScene, Layout, Scene, World
from isaaclab_mirror.contract.contract import Contract, Term
from isaaclab_mirror.diagnostics import Diagnostic, InputError
from isaaclab_mirror.sims.state import Start, State

__all__ = ["Adapter", "Change", "Commands", "StepResult"]


@dataclass(frozen=True, slots=True, eq=False)
class StepResult:
    """What a policy step brought, (env_count,) each."""

    reward: Array
    """step_dt · Σ weight · value."""
    terms: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Each reward term's share of `reward`."""
    terminated: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))
    truncated: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))
    ends: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Each termination term."""

    @property
    def done(self) -> Array:
        """Terminated or truncated."""
        return self.terminated | self.truncated


class Adapter:
    """Between one contract and a simulator's State; see the module's docstring for the order of calls."""

    def __init__(
        self,
        contract: Contract,
        *,
        joint_names: Sequence[str],
        link_names: Sequence[str],
        env_count: int,
        scene: Scene | None = None,
        seed: int = 0,
        noise: bool = False,
        rewards: bool = True,
    ) -> None:
        """`joint_names`, `link_names`: the simulator's, in its order. `rewards`: False leaves them out (faster)."""
        load_built_in()
        if not contract.is_resolved:
            raise InputError("E124", contract.name, "the contract is not resolved: no robot yet", "resolve it first")
        refuse_unknown(contract)
        self.contract = contract
        self.env_count = env_count
        layout = Layout.of(contract.joint_names, contract.body_names, joint_names, link_names)
        self.world = World(contract, layout, env_count, scene or EmptyScene(), np.random.default_rng(seed))
        self.missing: list[Diagnostic] = []
        """Terms of the task that are left out: rewards, ends and events that are not known."""
        build_sensors(self.world)
        self._build_commands()
        self.world.actions = self.actions = ActionManager(self.world)
        self.motors = Motors(self.world, tuple(joint_names))
        self._ends = self._bind(TERMINATIONS, contract.terminations, "termination")
        self.world.ends = {term.name: np.zeros(env_count, dtype=bool) for term, _ in self._ends}
        paid = [term for term in contract.rewards if term.weight] if rewards else []
        self._rewards = self._bind(REWARDS, paid, "reward")
        self.events = EventManager(self.world)
        self.missing += self.events.missing
        self.observations = ObservationManager(self.world, noise=noise)
        self._needs = {need for _, bound in self._ends + self._rewards for need in bound.needs}
        self._needs |= self.observations.needs
        for sensor in self.world.sensors.values():
            if isinstance(sensor, ContactSensor):
                sensor.keeps_times = "air time" in self._needs
        self.observations.ask_sizes()
        self._told = False
        """Whether the motors have the targets of this policy step."""

    def _build_commands(self) -> None:
        for term in self.contract.commands:
            try:
                entry = COMMANDS.get(term.func, f"command {term.name}")
                command: Command = entry.make(term, self.world)
            except InputError as error:
                self.missing.append(error.diagnostic)
                self.world.broken_commands[term.name] = error
                continue
            self.world.commands[term.name] = command

    def _bind(self, registry: Any, terms: Sequence[Term], kind: str) -> list[tuple[Term, BoundTerm]]:
        bound: list[tuple[Term, BoundTerm]] = []
        for term in terms:
            try:
                bound.append((term, BoundTerm(registry, term.func, term.params, self.world, f"{kind} {term.name}")))
            except InputError as error:
                self.missing.append(error.diagnostic)
        return bound

    @property
    def action_size(self) -> int:
        """Numbers in the policy's action."""
        return self.actions.size

    @property
    def observation_sizes(self) -> Mapping[str, Mapping[str, int]]:
        """group → term → values, history included."""
        return self.observations.sizes

    @property
    def policy_size(self) -> int:
        """Numbers in the policy's input."""
        return sum(sum(self.observations.sizes[name].values()) for name in self.contract.policy_groups)

    @property
    def reads_every_step(self) -> bool:
        """Whether `apply` and `physics_stepped` must see the state of every physics step.

        Explicit motors, relative and task-space actions need it to act rightly; contact histories, efforts and
        accelerations in rewards and ends to be measured rightly.
        """
        measured = {"effort", "contacts", "joint_acc"}
        return self.actions.reads_state or bool(self.motors.explicit) or bool(self._needs & measured)

    def measure_efforts(self) -> None:
        """From now on, `world.applied_effort` is computed for implicit motors too: what Isaac Lab reports of them."""
        self._needs.add("effort")

    def draw_start(self, env_ids: Sequence[int] | Array | None = None) -> Start:
        """The task's reset events for the robot, joints by name."""
        return self.draw_starts(env_ids)[self.contract.robot.name]

    def draw_starts(self, env_ids: Sequence[int] | Array | None = None) -> Mapping[str, Start]:
        """The task's reset events for the robot and the scene's objects, by their names in the scene."""
        return self.events.draw(self._rows(env_ids))

    def _rows(self, env_ids: Sequence[int] | Array | None) -> Array:
        if env_ids is None:
            return np.arange(self.env_count)
        rows = np.asarray(env_ids)
        return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(int)

    def reset(self, state: State, env_ids: Sequence[int] | Array | None = None, *, by_hand: bool = False) -> None:
        """After the simulator was reset: begin new episodes in these environments (all, where None).

        `by_hand`: as `env.reset()` does, which runs the motors once (delays and networks remember it); a reset within
        `env.step()` does not.
        """
        rows = self._rows(env_ids)
        world = self.world
        world.update(state)
        for sensor in world.sensors.values():
            sensor.reset(rows)
        self.motors.reset(rows)
        self.observations.reset(rows)
        self.actions.reset(rows)
        if (drawn := self.events.take_targets()) is not None:
            self.actions.targets.position[drawn[0]] = drawn[1]
        for _, bound in self._rewards + self._ends:
            bound.reset(rows)
        for command in world.commands.values():
            command.reset(world, rows)
        self.events.reset(rows)
        world.episode_steps[rows] = 0
        if world.speeds is not None:
            before, after, elapsed_s = world.speeds
            before, after = before.copy(), after.copy()
            before[rows] = after[rows] = state.joint_vel[rows]
            world.speeds = (before, after, elapsed_s)
        if by_hand:
            self._told = False
            self.motors.take(self.actions.targets)
            self.motors.compute(telemetry=False)

    def process(self, action: Array) -> None:
        """Take the policy's action, (env_count, action_size), once per policy step."""
        self.actions.process(np.asarray(action))
        self._told = False

    def apply(self, state: State) -> Commands:
        """What the simulator is told in this physics step; the arrays are used again by the next call."""
        self.world.update(state)
        if not self._told or self.actions.reads_state:
            self.motors.take(self.actions.apply())
            self._told = True
        return self.motors.compute(telemetry="effort" in self._needs)

    def physics_stepped(self, state: State, count: int = 1) -> None:
        """After `count` physics steps: contact histories and joint accelerations."""
        world = self.world
        world.update(state)
        elapsed_s = count * world.physics_dt
        if "contacts" in self._needs:
            for sensor in world.sensors.values():
                sensor.update(world, elapsed_s)
        if "joint_acc" in self._needs:
            before = state.joint_vel if world.speeds is None else world.speeds[1]
            world.speeds = (before, state.joint_vel, elapsed_s)

    def step_done(self, state: State) -> StepResult:
        """End of a policy step, before any reset: terminations, then rewards."""
        world = self.world
        world.update(state)
        world.episode_steps += 1
        terminated = np.zeros(self.env_count, dtype=bool)
        truncated = np.zeros(self.env_count, dtype=bool)
        for term, bound in self._ends:
            value = np.asarray(bound(), dtype=bool)
            world.ends[term.name] = value
            into = truncated if term.time_out else terminated
            into |= value
        world.terminated, world.time_outs = terminated, truncated
        terms: dict[str, Array] = {}
        total = np.zeros(self.env_count)
        for term, bound in self._rewards:
            share = bound() * (term.weight * world.step_dt)
            terms[term.name] = share
            total += share
        return StepResult(total, terms, terminated, truncated, dict(world.ends))

    def update_commands(self, state: State) -> None:
        """Once per policy step, after resets: command timers, headings."""
        self.world.update(state)
        for command in self.world.commands.values():
            command.compute(self.world, self.world.step_dt)

    def interval_events(self, state: State) -> list[Change]:
        """Once per policy step, after the commands: pushes whose time has come."""
        return self.events.intervals(state)

    def observe(
        self, state: State, *, push: bool = True, groups: Sequence[str] | None = None
    ) -> dict[str, Array | dict[str, Array]]:
        """The groups of the policy's input (or those named), in Isaac Lab's order and layout, float32.

        `push`: whether histories take this sample; Isaac Lab does so once per policy step and at a reset.
        """
        self.world.update(state)
        return self.observations.compute(self.contract.policy_groups if groups is None else groups, push=push)

    def policy_input(self, observations: Mapping[str, Array | Mapping[str, Array]]) -> Array:
        """What the network gets: the policy's groups side by side, the wrapper's clip, float32."""
        parts: list[Array] = []
        for name in self.contract.policy_groups:
            group = observations[name]
            arrays = list(group.values()) if isinstance(group, Mapping) else [group]
            parts += [array.reshape(self.env_count, -1) for array in arrays]
        result = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)
        bound = self.contract.wrapper.clip_observations
        return result if bound is None else np.clip(result, -bound, bound)

    def set_command(self, name: str, values: Any, env_ids: Sequence[int] | Array | None = None) -> None:
        """Hold a command at these values (velocity: vx, vy [m/s], ωz [rad/s]; quaternions wxyz)."""
        self.world.command(name).fix(values, self._rows(env_ids))

    def release_command(self, name: str, env_ids: Sequence[int] | Array | None = None) -> None:
        """Let a held command be drawn again at its next turn."""
        self.world.command(name).fixed[self._rows(env_ids)] = False

    def implicit_gains(self) -> tuple[dict[str, float], dict[str, float]]:
        """Stiffness and damping for the simulator's own drives by joint: 0 where an explicit motor acts.

        Joints that are absent keep what the robot's file states.
        """
        return self.motors.implicit_gains()

    @property
    def randomisations(self) -> Sequence[Term]:
        """Events by which the task changes the robot or the world; a replay leaves them out."""
        return self.events.randomisations

    @property
    def max_episode_steps(self) -> int:
        """Policy steps of an episode; a very large number where the task has no end."""
        return self.world.max_episode_steps


def refuse_unknown(contract: Contract) -> None:
    """Several terms that the policy sees or acts by and nobody knows are refused together, not one after another."""
    kinds = ("observation", "action", "actuator")
    unknown = [term for term in coverage(contract).missing if term.kind in kinds]
    if len(unknown) > 1:
        listing = "; ".join(map(str, unknown))
        hint = "write each in a file given with --plugin (docs/adapter.md)"
        raise InputError("E120", contract.name, f"{len(unknown)} terms are not known: {listing}", hint)
