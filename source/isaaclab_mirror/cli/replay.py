"""`replay RUN`: the policy of a run in MuJoCo or in PhysX, episode by episode, measured."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isaaclab_mirror.diagnostics import Diagnostic
    from isaaclab_mirror.envs.episodes import Recorder
    from isaaclab_mirror.envs.measuring import Episode
    from isaaclab_mirror.envs.mirror import Mirror
    from isaaclab_mirror.policy.policy import Policy
    from isaaclab_mirror.traces import TraceRecorder

SIMS = ("mujoco", "physx")
VIEWERS = ("none", "native", "web")
MOST_AT_ONCE = 64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    from isaaclab_mirror.cli.arguments import add_run_arguments

    add_run_arguments(parser, episodes=1)
    parser.add_argument("--sim", choices=SIMS, default="mujoco", help="engine (default: mujoco)")
    parser.add_argument("--noise", action="store_true", help="observation noise as in training")
    parser.add_argument("--randomize", action="store_true", help="masses, friction and gains as the task draws them")
    parser.add_argument("--pushes", action="store_true", help="the task's own disturbances during an episode")
    parser.add_argument("--viewer", choices=VIEWERS, default="none", help="watch it: MuJoCo's window, or a browser")
    parser.add_argument("--port", type=int, default=8080, help="of the browser viewer")
    parser.add_argument("--video", type=Path, metavar="FILE", help="film the first environment (.mp4)")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="keep every step (.npz, docs/traces.md)")
    parser.add_argument("--threads", type=int, metavar="N", help="of the simulator (default: one per core)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result as JSON (docs/json.md)")


def run(args: argparse.Namespace) -> int:
    """Replay, print, and say 1 where an episode could not be finished."""
    from isaaclab_mirror.cli.arguments import calm_threads, check_run_arguments

    calm_threads()
    _settle_screen(args)
    from isaaclab_mirror.adapter.registry import load_plugin
    from isaaclab_mirror.cli.output import print_diagnostics

    check_run_arguments(args)
    for plugin in args.plugin:
        load_plugin(plugin)
    mirror, policy, found = _open(args)
    print_diagnostics(found)
    with mirror:
        if args.viewer != "none":
            return _watch(args, mirror, policy)
        return _measure(args, mirror, policy, found)


def _settle_screen(args: argparse.Namespace) -> None:
    """MuJoCo looks for OpenGL when it is imported."""
    if args.video:
        from isaaclab_mirror.report.render import settle_gl

        settle_gl()
    elif args.viewer != "native":
        os.environ.setdefault("MUJOCO_GL", "disable")


def _open(args: argparse.Namespace) -> tuple[Mirror, Policy, list[Diagnostic]]:
    from isaaclab_mirror.cli.arguments import take_sim_settings
    from isaaclab_mirror.contract.loading import load_contract
    from isaaclab_mirror.diagnostics import InputError
    from isaaclab_mirror.envs.opening import MirrorOptions, open_mirror
    from isaaclab_mirror.envs.rows import nominal_start
    from isaaclab_mirror.policy.loading import load_policy

    settings = take_sim_settings(args)
    contract = load_contract(args.run, robot_file=args.robot, policy_file=args.policy)
    if contract.policy is None:
        raise InputError("E136", args.run, "there is no policy in this run", "give one with --policy")
    policy = load_policy(contract.policy)
    options = MirrorOptions(
        sim=args.sim,
        fidelity=args.fidelity,
        env_count=1 if args.viewer != "none" else min(args.episodes, MOST_AT_ONCE),
        seed=args.seed,
        noise=args.noise,
        pushes=args.pushes,
        randomize=args.randomize,
        threads=args.threads,
        commands={} if args.velocity is None else {"velocity": args.velocity},
        settings=settings,
    )
    mirror = open_mirror(contract, options)
    if args.start == "nominal":
        mirror.starts = nominal_start(contract)
    found = [*contract.diagnostics, *policy.notes, *mirror.adapter.missing]
    found += getattr(mirror.simulator, "diagnostics", [])
    return mirror, policy, found


def _measure(args: argparse.Namespace, mirror: Mirror, policy: Policy, found: Sequence[Diagnostic]) -> int:
    from isaaclab_mirror.cli.progress import progress_bar
    from isaaclab_mirror.envs.episodes import Plan, run_episodes
    from isaaclab_mirror.envs.measuring import summary_of

    plan = Plan(episodes=args.episodes, seconds=args.seconds, seed=args.seed)
    trace = _trace_recorder(args)
    recorders: list[Recorder] = [] if trace is None else [trace]
    with _filming(args, mirror, recorders), progress_bar() as report:
        begin = time.perf_counter()
        episodes = run_episodes(
            mirror, policy, plan, recorders=recorders, progress=lambda share: report(f"replay in {args.sim}", share)
        )
        seconds = time.perf_counter() - begin
    simulated = sum(episode.seconds for episode in episodes)
    failed = [episode for episode in episodes if episode.failed]
    _print(args, mirror, policy, episodes, simulated / seconds)
    if trace is not None:
        from isaaclab_mirror.traces import write_trace

        seeds = [episode.seed for episode in episodes]
        write_trace(trace.trace(seeds=seeds, fidelity=args.fidelity, policy=policy.file.name), args.trace)
        print(f"trace: {args.trace}")
    if args.video:
        print(f"video: {args.video}")
    if args.json:
        from isaaclab_mirror.cli.output import finite, write_json

        write_json(
            args.json,
            "replay",
            passed=not failed,
            diagnostics=found,
            sim=args.sim,
            fidelity=args.fidelity if args.sim == "mujoco" else None,
            run=str(args.run),
            robot=str(mirror.contract.robot.file),
            policy=str(policy.file),
            episodes=[finite(episode.to_json()) for episode in episodes],
            summary=finite(summary_of(episodes)),
            real_time_factor=simulated / seconds,
            seconds=seconds,
            settings=finite(mirror.simulator.settings.to_json()),
        )
    return 1 if failed else 0


def _trace_recorder(args: argparse.Namespace) -> TraceRecorder | None:
    if not args.trace:
        return None
    from isaaclab_mirror.traces import TraceRecorder

    return TraceRecorder()


class _filming:  # noqa: N801 used as a function
    """A video around a replay: complete in the end, or not there where the replay failed."""

    def __init__(self, args: argparse.Namespace, mirror: Mirror, recorders: list[Any]) -> None:
        self._recorder: Any = None
        if args.video:
            from isaaclab_mirror.report.video import VideoRecorder

            self._recorder = VideoRecorder(args.video, mirror)
            recorders.append(self._recorder)

    def __enter__(self) -> None:
        """Filming has begun."""

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if self._recorder is not None:
            self._recorder.close(keep=kind is None)


def _print(
    args: argparse.Namespace, mirror: Mirror, policy: Policy, episodes: Sequence[Episode], real_time: float
) -> None:
    from isaaclab_mirror.cli.output import count, print_table

    how = f"MuJoCo, fidelity {args.fidelity}" if args.sim == "mujoco" else "PhysX"
    print(f"{mirror.contract.name}: {policy.file.name} ({policy.kind}) in {how}")
    columns: list[tuple[str, Callable[[Episode], str]]] = [
        ("episode", lambda e: str(e.index)),
        ("seed", lambda e: str(e.seed)),
        ("seconds", lambda e: f"{e.seconds:.2f}"),
        ("end", lambda e: e.termination or "·"),
        ("return", lambda e: f"{e.total_return:.3f}"),
        ("command", lambda e: _vector(e.command)),
        ("velocity", lambda e: _vector((*e.mean_lin_vel_b[:2], *e.mean_ang_vel_b[2:]))),
        ("error m/s", lambda e: _number(e.lin_vel_error)),
        ("error rad/s", lambda e: _number(e.ang_vel_error)),
        ("drift rad", lambda e: f"{e.heading_drift_rad:+.3f}" if e.command else "·"),
        ("energy J", lambda e: f"{e.energy_j:.1f}"),
        ("slip m/s", lambda e: _number(e.foot_slip_mps)),
    ]
    rows = [tuple(tell(episode) for _, tell in columns) for episode in episodes]
    used = [k for k in range(len(columns)) if any(row[k] != "·" for row in rows)]
    print_table(
        [columns[k][0] for k in used],
        [[row[k] for k in used] for row in rows],
        numbers=[place for place, k in enumerate(used) if columns[k][0] != "end"],
    )
    for episode in episodes:
        if episode.message:
            print(f"episode {episode.index}: {episode.message}")
    fell = sum(episode.fell for episode in episodes)
    print(f"\n{count(len(episodes), 'episode')}, {fell} fell; {real_time:.1f} × real time")


def _vector(values: Sequence[float]) -> str:
    return " ".join(f"{value:+.2f}" for value in values) if values else "·"


def _number(value: float | None) -> str:
    return "·" if value is None else f"{value:.3f}"


def _watch(args: argparse.Namespace, mirror: Mirror, policy: Policy) -> int:
    """Play until the viewer is closed."""
    from isaaclab_mirror.report.player import MirrorPlayer

    player = MirrorPlayer(mirror, policy, seed=args.seed)
    if args.viewer == "native":
        from isaaclab_mirror.report.native_viewer import show_native

        show_native(mirror.robot, mirror.simulator.settings, player, args.seconds)
        return 0
    from isaaclab_mirror.report.figure import figure_of
    from isaaclab_mirror.report.web_viewer import WebViewer
    from isaaclab_mirror.sims.filming import posed_model

    figure = figure_of(posed_model(mirror.robot, mirror.simulator.settings).model)
    viewer = WebViewer(figure, player, title=f"{mirror.contract.name} in {mirror.simulator.engine}", port=args.port)
    print(f"open {viewer.address} in a browser; Stop there or Ctrl-C here ends it", flush=True)
    try:
        viewer.run(args.seconds)
    finally:
        viewer.close()
    return 0
