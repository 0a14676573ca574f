"""`calibrate ROBOT`: fit what is free in MuJoCo to PhysX, and write the robot with the fitted numbers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isaaclab_mirror.calibration.calibrate import Calibration

BACKENDS = ("isaacsim", "ovphysx")
SHOWN = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    from isaaclab_mirror.cli.arguments import add_read_arguments, add_set_arguments

    parser.add_argument("robot", type=Path, metavar="ROBOT", help="robot file: .usd, .usda, .usdc, .usdz")
    parser.add_argument("-o", "--output", type=Path, metavar="FITTED.xml", help="write the fitted robot as MJCF")
    parser.add_argument(
        "--start",
        action="append",
        default=[],
        metavar="JOINT=VALUE",
        help="where joints start [rad or m], by name or pattern; may be given again: '.*_calf_joint=-1.5'",
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="length of each trial (default 2)")
    parser.add_argument("--steps", type=int, default=12, help="rounds of the fit at most (default 12)")
    parser.add_argument("--seed", type=int, default=0, help="of the trials' frequencies, phases and jumps (default 0)")
    parser.add_argument(
        "--backend",
        choices=BACKENDS,
        default="isaacsim",
        help="whose defaults hold where the file states nothing: PhysxCfg (isaacsim) or OvPhysxCfg (ovphysx)",
    )
    add_read_arguments(parser)
    add_set_arguments(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result as JSON (docs/json.md)")


def run(args: argparse.Namespace) -> int:
    """Fit, print, and say 1 where the fit did not lower the gap of the trials it never saw."""
    import os

    os.environ.setdefault("MUJOCO_GL", "disable")
    from isaaclab_mirror.calibration.fitted_file import write_fitted
    from isaaclab_mirror.cli.output import print_diagnostics, write_json
    from isaaclab_mirror.cli.progress import progress_bar

    _check_target(args.output)
    with progress_bar() as report:
        result = _calibrate(args, report)
    print_diagnostics(result.diagnostics)
    _print_gaps(result)
    better = result.lowered_by > 0
    files = write_fitted(result, args.output) if args.output and better else []
    _print_verdict(result, args, files)
    if args.json:
        write_json(
            args.json,
            "calibrate",
            passed=better,
            diagnostics=result.diagnostics,
            robot={"name": result.robot.name, "joints": len({p.joint for p in result.parameters if p.joint})},
            held_out=_gap_json(result, held_out=True),
            trained=_gap_json(result, held_out=False),
            trials=[gap.to_json() for gap in result.gaps],
            parameters=[p.to_json(x) for p, x in zip(result.parameters, result.x.tolist(), strict=True)],
            settings=result.effective,
            files=[str(file) for file in files],
            seconds=result.seconds,
        )
    return 0 if better else 1


def _check_target(target: Path | None) -> None:
    """Before minutes of work, not after them."""
    from isaaclab_mirror.diagnostics import InputError
    from isaaclab_mirror.formats.registry import Format, format_of

    if target is not None and format_of(target) is not Format.MJCF:
        raise InputError("E037", target, "a fitted robot is written as MJCF", "write .xml or .mjcf")


def _calibrate(args: argparse.Namespace, report: object) -> Calibration:
    from isaaclab_mirror.calibration.calibrate import CalibrationOptions, calibrate_robot
    from isaaclab_mirror.cli.options import conversion_options, take_settings
    from isaaclab_mirror.diagnostics import InputError
    from isaaclab_mirror.sims.settings import Backend

    if not 0.2 <= args.seconds <= 60.0:
        raise InputError("E091", "--seconds", f"{args.seconds:g} s is no length of a trial", "give 0.2 to 60")
    if args.steps < 1 or args.seed < 0:
        raise InputError("E091", "--steps, --seed", "neither can be negative, and one round is the least")
    stated = take_settings(args)
    options = CalibrationOptions(
        read=conversion_options(args).read,
        backend=Backend(args.backend),
        stated=stated,
        start=dict(_start(assignment) for assignment in args.start),
        seconds=args.seconds,
        seed=args.seed,
        steps=args.steps,
    )
    return calibrate_robot(args.robot, options, report)  # pyright: ignore[reportArgumentType]


def _start(assignment: str) -> tuple[str, float]:
    """`JOINT=VALUE`; a pattern may hold `=` nowhere, as no joint does."""
    from isaaclab_mirror.diagnostics import InputError

    name, equals, value = assignment.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not equals or not name or number != number or abs(number) == float("inf"):
        raise InputError("E091", "--start", f"{assignment!r} is no start of a joint", "write --start JOINT=NUMBER")
    return name, number


def _gap_json(result: Calibration, *, held_out: bool) -> dict[str, float]:
    before, after = result.gap(held_out=held_out)
    return {"before_rad": before, "after_rad": after, "lowered_by": 1.0 - after / before if before > 0 else 0.0}


def _print_gaps(result: Calibration) -> None:
    from isaaclab_mirror.cli.output import print_table

    rows: list[tuple[str, ...]] = []
    for gap in result.gaps:
        base = ("·", "·") if gap.base_m is None else tuple(f"{1e3 * value:.3g}" for value in gap.base_m)
        joint = tuple(f"{1e3 * value:.3g}" for value in gap.joint)
        noise = "·" if gap.noise is None else f"{1e3 * gap.noise:.2g}"
        rows.append((gap.trial, *joint, *base, noise))
    header = ("trial", "joints before", "after, mrad", "base before", "after, mm", "PhysX's own noise")
    print_table(header, rows, numbers=(1, 2, 3, 4, 5))


def _print_verdict(result: Calibration, args: argparse.Namespace, files: list[Path]) -> None:
    from isaaclab_mirror.cli.output import print_table

    moved = sorted(
        ((abs(x), p, x) for p, x in zip(result.parameters, result.x.tolist(), strict=True) if abs(x) > 1e-3),
        key=lambda row: -row[0],
    )
    print(f"\n{len(moved)} of {len(result.parameters)} free numbers moved, the largest first:")
    print_table(("number", "change"), [(p.name, p.said(x)) for _, p, x in moved[:SHOWN]])
    before, after = (1e3 * value for value in result.gap(held_out=True))
    print(
        f"\n{result.robot.name}: gap to PhysX on trials that were not fitted {before:.3g} → {after:.3g} mrad "
        f"({100 * result.lowered_by:+.0f} % closed, {result.rounds} rounds, {result.seconds:.0f} s)"
    )
    if files:
        print(f"written: {files[0]}")
    elif args.output:
        print(f"not written: {args.output} would be no closer to PhysX than what `convert` writes with fidelity physx")
