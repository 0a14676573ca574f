"""A policy in both engines: matched starts and commands, behaviour, and the same actions given to both."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.comparison.closed_loop import GATE, ClosedLoop, compare_episodes
from isaaclab_mirror.comparison.open_loop import Divergence, RecordedActions, divergence
from isaaclab_mirror.contract.contract import Contract
from isaaclab_mirror.diagnostics import Diagnostic, InputError
from isaaclab_mirror.envs.episodes import Plan, begin, run_episodes
from isaaclab_mirror.envs.measuring import Episode, summary_of
from isaaclab_mirror.envs.mirror import Mirror
from isaaclab_mirror.envs.opening import MirrorOptions, open_mirror
from isaaclab_mirror.envs.rows import nominal_start
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.policy.loading import load_policy
from isaaclab_mirror.sims.state import Start, start_of
from isaaclab_mirror.traces import Trace, TraceRecorder

if TYPE_CHECKING:
    from isaaclab_mirror.policy.policy import Actor

MOST_AT_ONCE = 64
NUDGE_M = 1e-5
"""How far apart two runs of PhysX start that show its own noise."""
Report = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What is compared."""

    episodes: int = 8
    seconds: float | None = None
    """None: the task's own length, at most `LONGEST_S`."""
    seed: int = 0
    fidelity: Fidelity | str = Fidelity.PHYSX
    commands: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    nominal_start: bool = False
    """All episodes begin at the task's default state instead of where its reset events draw."""
    starts: Start | None = None
    """One row per episode."""
    noise_floor: bool = True
    """Also run PhysX against itself, started a hair apart."""
    gate: Mapping[str, float] = field(default_factory=lambda: dict(GATE))
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


LONGEST_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """One engine's run."""

    name: str
    """`physx` or `mujoco`."""
    episodes: tuple[Episode, ...]
    trace: Trace
    settings: Mapping[str, Any]

    def summary(self) -> dict[str, Any]:
        """As `replay --json` has it."""
        return summary_of(self.episodes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PolicyComparison:
    """All that `compare` found."""

    contract: Contract
    fidelity: Fidelity
    physx: Side
    mujoco: Side
    closed_loop: ClosedLoop
    open_loop: Divergence
    noise: Divergence | None
    """PhysX against itself under the same actions, started `NUDGE_M` higher (a fixed base: joints that much off)."""
    open_trace: Trace
    """MuJoCo under PhysX's actions."""
    robot: Any
    """The robot model that both ran, for pictures."""
    sim_settings: Any
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the gate is kept."""
        return self.closed_loop.passed


def compare_policy(contract: Contract, options: CompareOptions, report: Report | None = None) -> PolicyComparison:
    """Run the policy of a resolved contract in PhysX and in MuJoCo from the same starts."""
    if contract.policy is None:
        raise InputError("E136", contract.name, "there is no policy to compare", "give one with --policy")
    told: Report = report or (lambda _text, _share: None)
    policy = load_policy(contract.policy)
    plan = _plan(contract, options)
    runs = 4 if options.noise_floor else 3
    found: list[Diagnostic] = [*contract.diagnostics, *policy.notes]
    with open_mirror(contract, _options(options, "physx")) as mirror:
        physx = _run(mirror, policy, plan, "physx", _share(told, "PhysX", 0, runs))
        found += mirror.adapter.missing
        noise = None
        if options.noise_floor:
            actions = RecordedActions(physx.trace)
            nudged = replace(plan, starts=_nudged(mirror, plan))
            again = _run(mirror, actions, nudged, "physx", _share(told, "PhysX, a hair apart", 1, runs))
            noise = divergence(physx.trace, again.trace)
    with open_mirror(contract, _options(options, "mujoco")) as mirror:
        found += getattr(mirror.simulator, "diagnostics", [])
        mujoco = _run(mirror, policy, plan, "mujoco", _share(told, "MuJoCo", runs - 2, runs))
        actions = RecordedActions(physx.trace)
        follow = _run(mirror, actions, plan, "mujoco", _share(told, "MuJoCo, PhysX's actions", runs - 1, runs))
        robot, settings = mirror.robot, mirror.simulator.settings
    return PolicyComparison(
        contract=contract,
        fidelity=Fidelity(options.fidelity),
        physx=physx,
        mujoco=mujoco,
        closed_loop=compare_episodes(physx.episodes, mujoco.episodes, options.gate),
        open_loop=divergence(physx.trace, follow.trace),
        noise=noise,
        open_trace=follow.trace,
        robot=robot,
        sim_settings=settings,
        diagnostics=tuple(dict.fromkeys(found)),
    )


def _plan(contract: Contract, options: CompareOptions) -> Plan:
    seconds = options.seconds
    if seconds is None:
        own = contract.sim.episode_length_s
        seconds = min(own, LONGEST_S) if math.isfinite(own) else LONGEST_S
    if not 1 <= options.episodes <= MOST_AT_ONCE:
        raise InputError("E091", "--episodes", f"{options.episodes} episodes", f"from 1 to {MOST_AT_ONCE}")
    starts = nominal_start(contract) if options.nominal_start else options.starts
    return Plan(episodes=options.episodes, seconds=seconds, seed=options.seed, starts=starts)


def _options(options: CompareOptions, sim: str) -> MirrorOptions:
    return MirrorOptions(
        sim=sim,
        fidelity=options.fidelity,
        env_count=options.episodes,
        seed=options.seed,
        commands=options.commands,
        settings=options.settings,
    )


def _run(mirror: Mirror, actor: Actor, plan: Plan, name: str, progress: Callable[[float], None]) -> Side:
    recorder = TraceRecorder()
    episodes = run_episodes(mirror, actor, plan, recorders=[recorder], progress=progress)
    trace = recorder.trace(seeds=[episode.seed for episode in episodes], sim=name)
    return Side(name=name, episodes=tuple(episodes), trace=trace, settings=mirror.simulator.settings.to_json())


def _nudged(mirror: Mirror, plan: Plan) -> Start:
    """The starts of all episodes, a hair off: a floating base higher, the joints of a fixed one turned."""
    begin(mirror, plan, list(range(plan.episodes)))
    start = start_of(mirror.state)
    if mirror.simulator.fixed_base:
        return replace(start, joint_pos=mirror.state.joint_pos + NUDGE_M)
    raised = mirror.state.root_pos_w.copy()
    raised[:, 2] += NUDGE_M
    return replace(start, root_pos_w=raised)


def _share(report: Report, text: str, place: int, runs: int) -> Callable[[float], None]:
    return lambda done: report(text, (place + done) / runs)
