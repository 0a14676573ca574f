"""`validate A`: PhysX against MuJoCo on one robot. `validate A B`: two files, by name."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isaaclab_mirror.comparison.rows import Row, Validation
    from isaaclab_mirror.comparison.validation import Report
    from isaaclab_mirror.formats.options import ReadOptions

BACKENDS = ("isaacsim", "ovphysx")
PRESETS = ("none", "training", "validation")
GROUPS = ("static", "fall", "swing", "drives", "stand", "slip")
ROUND_TRIPS = ("mjcf", "urdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    from isaaclab_mirror.cli.arguments import add_fidelity_argument, add_read_arguments, add_set_arguments

    parser.add_argument("a", type=Path, metavar="A", help="robot file; alone: PhysX against MuJoCo on it")
    parser.add_argument("b", type=Path, metavar="B", nargs="?", help="a second file of the robot: compared by name")
    parser.add_argument(
        "--round-trip", choices=ROUND_TRIPS, metavar="FORMAT", help="convert A to mjcf or urdf and compare with that"
    )
    add_fidelity_argument(parser)
    parser.add_argument(
        "--backend",
        choices=BACKENDS,
        default="isaacsim",
        help="whose defaults hold where the file states nothing: PhysxCfg (isaacsim) or OvPhysxCfg (ovphysx)",
    )
    parser.add_argument("--preset", choices=PRESETS, default="none", help="settings of the standard's section 4.2")
    parser.add_argument("--only", metavar="GROUPS", help=f"some groups of tests: {','.join(GROUPS)}")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="also draw both engines' motions into DIR")
    add_read_arguments(parser)
    add_set_arguments(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result as JSON (docs/json.md)")


def run(args: argparse.Namespace) -> int:
    """Test, print, and say 1 where a test that the standard requires failed."""
    import os

    os.environ.setdefault("MUJOCO_GL", "disable")
    from isaaclab_mirror.cli.output import print_diagnostics, write_json
    from isaaclab_mirror.cli.progress import progress_bar

    with progress_bar() as report:
        result = _validate(args, report)
    print_diagnostics(result.diagnostics)
    _print_rows(result)
    files = _draw(result, args.plots) if args.plots else []
    if args.json:
        write_json(
            args.json,
            "validate",
            passed=result.passed,
            diagnostics=result.diagnostics,
            subject=result.subject,
            tests=[row.to_json() for row in result.rows],
            skipped=[skip.to_json() for skip in result.skipped],
            settings=result.settings,
            plots=[str(file) for file in files],
            seconds=result.seconds,
        )
    return 0 if result.passed else 1


def _validate(args: argparse.Namespace, report: Report) -> Validation:
    from isaaclab_mirror.cli.options import conversion_options, take_settings
    from isaaclab_mirror.comparison.apart import validate_apart
    from isaaclab_mirror.comparison.groups import ValidationOptions
    from isaaclab_mirror.physics.options import Fidelity
    from isaaclab_mirror.sims.settings import Backend, Preset

    stated = take_settings(args)
    read = conversion_options(args).read
    if args.b is not None or args.round_trip is not None:
        return _compare_files(args, read, report)
    options = ValidationOptions(
        read=read,
        fidelity=Fidelity(args.fidelity),
        backend=Backend(args.backend),
        preset=Preset(args.preset),
        stated=stated,
        groups=_groups(args.only),
    )
    return validate_apart(args.a, options, report)


def _compare_files(args: argparse.Namespace, read: ReadOptions, report: Report) -> Validation:
    from isaaclab_mirror.comparison.parity import validate_files, validate_round_trip
    from isaaclab_mirror.diagnostics import InputError

    if args.b is not None and args.round_trip is not None:
        raise InputError("E091", "--round-trip", "there is a second file already", "leave one of them out")
    if args.b is not None:
        return validate_files(args.a, args.b, read, report=report)
    return validate_round_trip(args.a, str(args.round_trip), read, report)


def _groups(only: str | None) -> tuple[str, ...]:
    from isaaclab_mirror.diagnostics import InputError

    if only is None:
        return GROUPS
    chosen = tuple(name.strip() for name in only.split(",") if name.strip())
    unknown = [name for name in chosen if name not in GROUPS]
    if unknown or not chosen:
        what = f"there is no group of tests {unknown[0]!r}" if unknown else "no group of tests is named"
        raise InputError("E091", "--only", what, f"some of {', '.join(GROUPS)}")
    return chosen


def _print_rows(result: Validation) -> None:
    from isaaclab_mirror.cli.output import print_table

    header = ("test", "value", "limit", "unit", "", "where", "")
    rows = [
        (row.name, _number(row.value), _number(row.limit), row.unit, _word(row), row.where, row.note)
        for row in result.rows
    ]
    rows += [(skip.name, "", "", "", "skipped", "", skip.reason) for skip in result.skipped]
    print_table(header, rows, numbers=(1, 2))
    asked = [row for row in result.rows if row.required]
    passed = sum(row.passed for row in asked)
    verdict = "pass" if result.passed else "fail"
    print(f"\n{result.subject}: {verdict}, {passed} of {len(asked)} required tests passed ({result.seconds:.1f} s)")


def _word(row: Row) -> str:
    if row.passed:
        return "pass"
    return f"FAIL {row.code}" if row.required else f"off {row.code}"


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "·"


def _draw(result: Validation, folder: Path) -> list[Path]:
    from isaaclab_mirror.report.plots import draw_pairs

    files = draw_pairs(result.pairs, folder)
    print(f"plots: {', '.join(str(file) for file in files)}" if files else "plots: nothing moved")
    return files
