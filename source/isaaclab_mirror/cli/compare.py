"""`compare RUN`: one policy in PhysX and in MuJoCo from the same starts, and how far apart they are."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isaaclab_mirror.comparison.closed_loop import Test
    from isaaclab_mirror.comparison.policies import CompareOptions, PolicyComparison, Report
    from isaaclab_mirror.comparison.statistics import Mean
    from isaaclab_mirror.contract.contract import Contract

MOMENTS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Of the open loop, at which the distance is printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    from isaaclab_mirror.cli.arguments import add_run_arguments

    add_run_arguments(parser, episodes=8)
    parser.add_argument("--no-noise", action="store_true", help="don't run PhysX against itself")
    parser.add_argument("--gate", type=Path, metavar="FILE", help="limits, TOML table [closed_loop] (docs/compare.md)")
    parser.add_argument("--report", type=Path, metavar="DIR", help="also write traces, plots and a film into DIR")
    parser.add_argument("--no-video", action="store_true", help="leave the film out of the report")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result as JSON (docs/json.md)")


def run(args: argparse.Namespace) -> int:
    """Run both engines, print, and say 1 where the gate is not kept."""
    from isaaclab_mirror.cli.arguments import calm_threads, check_run_arguments

    calm_threads()
    check_run_arguments(args)
    if args.report and not args.no_video:
        from isaaclab_mirror.report.render import settle_gl

        settle_gl()
    else:
        os.environ.setdefault("MUJOCO_GL", "disable")
    from isaaclab_mirror.adapter.registry import load_plugin
    from isaaclab_mirror.cli.output import print_diagnostics
    from isaaclab_mirror.cli.progress import progress_bar
    from isaaclab_mirror.comparison.policies import compare_policy
    from isaaclab_mirror.contract.loading import load_contract

    for plugin in args.plugin:
        load_plugin(plugin)
    options = _options(args)
    contract = load_contract(args.run, robot_file=args.robot, policy_file=args.policy)
    with progress_bar() as report:
        result = compare_policy(_whole(contract, args.run), options, report)
        print_diagnostics(result.diagnostics)
        _print(result)
        files = _write_report(args, result, report) if args.report else []
    if args.json:
        _write_json(args, result, files)
    return 0 if result.passed else 1


def _whole(contract: Contract, run: Path) -> Contract:
    from isaaclab_mirror.diagnostics import InputError

    if contract.policy is None:
        raise InputError("E136", run, "there is no policy in this run", "give one with --policy")
    return contract


def _options(args: argparse.Namespace) -> CompareOptions:
    from isaaclab_mirror.cli.arguments import take_sim_settings
    from isaaclab_mirror.comparison.closed_loop import GATE, load_gate
    from isaaclab_mirror.comparison.policies import CompareOptions

    return CompareOptions(
        episodes=args.episodes,
        seconds=args.seconds,
        seed=args.seed,
        fidelity=args.fidelity,
        commands={} if args.velocity is None else {"velocity": args.velocity},
        nominal_start=args.start == "nominal",
        noise_floor=not args.no_noise,
        gate=GATE if args.gate is None else load_gate(args.gate),
        settings=take_sim_settings(args),
    )


def _print(result: PolicyComparison) -> None:
    from isaaclab_mirror.cli.output import count, print_table

    episodes = len(result.physx.episodes)
    print(f"{result.contract.name}: {count(episodes, 'matched episode')}, PhysX and MuJoCo ({result.fidelity})\n")
    header = ("policy in the loop", "", "PhysX", "MuJoCo", "difference", "95 % interval", "limit", "")
    print_table(header, [_row(test) for test in result.closed_loop.tests], numbers=(2, 3, 4, 5, 6))
    print("\nThe same actions given to both (joints, rms):")
    moments = [t for t in MOMENTS_S if math.isfinite(result.open_loop.at(t))]
    rows = [("MuJoCo from PhysX", *(_small(result.open_loop.at(t)) for t in moments))]
    if result.noise is not None:
        rows.append(("PhysX from itself", *(_small(result.noise.at(t)) for t in moments)))
    print_table(("after", *(f"{t:g} s" for t in moments)), rows, numbers=tuple(range(1, len(moments) + 1)))
    if result.open_loop.worst_joint:
        print(f"furthest apart: {result.open_loop.worst_joint}")
    print(f"\n{'pass' if result.passed else 'FAIL'}: {_verdict(result)}")


def _row(test: Test) -> tuple[str, ...]:
    relative = test.name == "return"

    def told(value: float) -> str:
        return f"{100 * value:+.1f} %" if relative else f"{value:+.3f}"

    interval = f"{told(test.difference.low)} … {told(test.difference.high)}"
    limit = "" if test.limit is None else (f"{100 * test.limit:g} %" if relative else f"{test.limit:g}")
    word = "" if test.limit is None else ("pass" if test.passed else "FAIL")
    known = math.isfinite(test.difference.value)
    return (
        test.name,
        test.unit,
        _mean(test.physx),
        _mean(test.mujoco),
        told(test.difference.value) if known else "·",
        interval if known else "",
        limit,
        word,
    )


def _mean(mean: Mean) -> str:
    return f"{mean.value:.3f}" if math.isfinite(mean.value) else "·"


def _small(value: float) -> str:
    unit, scale = ("mrad", 1e3) if value >= 1e-4 else ("µrad", 1e6)
    return f"{scale * value:.3g} {unit}"


def _verdict(result: PolicyComparison) -> str:
    failed = [test.name for test in result.closed_loop.tests if not test.passed]
    if failed:
        return f"{', '.join(failed)} beyond the limit; `--fidelity emulate` takes PhysX's own solver step"
    return "the policy does in MuJoCo what it does in PhysX, within the limits"


def _write_report(args: argparse.Namespace, result: PolicyComparison, report: Report) -> list[Path]:
    from isaaclab_mirror.diagnostics import InputError
    from isaaclab_mirror.report.policy_plots import draw_comparison, film_comparison
    from isaaclab_mirror.traces import write_trace

    folder: Path = args.report
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "E036", folder, f"the report's folder cannot be made: {error.strerror}", "choose another"
        ) from None
    files = draw_comparison(result, folder)
    traces = {"physx": result.physx.trace, "mujoco": result.mujoco.trace, "mujoco_open_loop": result.open_trace}
    for name, trace in traces.items():
        write_trace(trace, folder / f"{name}.npz")
        files.append(folder / f"{name}.npz")
    if not args.no_video:
        film = folder / "side_by_side.mp4"
        film_comparison(result, film, progress=lambda done: report("film", done))
        files.append(film)
    print(f"report: {', '.join(str(file) for file in files)}")
    return files


def _write_json(args: argparse.Namespace, result: PolicyComparison, files: list[Path]) -> None:
    from isaaclab_mirror.cli.output import finite, write_json

    sides = {side.name: {**side.summary(), "settings": side.settings} for side in (result.physx, result.mujoco)}
    write_json(
        args.json,
        "compare",
        passed=result.passed,
        diagnostics=result.diagnostics,
        run=str(args.run),
        robot=str(result.contract.robot.file),
        fidelity=str(result.fidelity),
        sims=finite(sides),
        episodes={
            side.name: finite([episode.to_json() for episode in side.episodes])
            for side in (result.physx, result.mujoco)
        },
        closed_loop=result.closed_loop.to_json(),
        open_loop={
            **result.open_loop.to_json(),
            "noise_joint_rms_rad": None if result.noise is None else result.noise.to_json()["joint_rms_rad"],
        },
        gate={"file": None if args.gate is None else str(args.gate), "passed": result.passed},
        files=[str(file) for file in files],
    )
