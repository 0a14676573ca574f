"""`convert SRC DST`: one robot file to another format, and the fidelity table."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    from isaaclab_mirror.cli.arguments import add_read_arguments, add_set_arguments

    parser.add_argument("source", type=Path, metavar="SRC", help="robot file: .usd, .usda, .usdc, .usdz")
    parser.add_argument("target", type=Path, metavar="DST", help="file to write: .xml (MJCF) or .urdf")
    add_read_arguments(parser)
    add_set_arguments(parser)
    parser.add_argument("--scene", action="store_true", help="MJCF: also write a scene with ground and light")
    parser.add_argument("--strict", action="store_true", help="warnings are errors")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result as JSON (docs/json.md)")


def run(args: argparse.Namespace) -> int:
    """Convert, print, and say 0: what cannot be converted has raised."""
    import gc
    import os

    gc.disable()  # a conversion makes no garbage worth collecting, and collecting while importing costs a tenth
    os.environ.setdefault("MUJOCO_GL", "disable")  # nothing is drawn: spares MuJoCo's import 60 ms of glfw
    from isaaclab_mirror.cli.options import conversion_options
    from isaaclab_mirror.cli.output import count, print_diagnostics, print_fidelity, write_json
    from isaaclab_mirror.conversion import convert

    result = convert(args.source, args.target, conversion_options(args))
    print_diagnostics(result.diagnostics)
    print_fidelity(result.fidelity)
    size = ", ".join((count(result.links, "link"), count(result.joints, "joint"), f"{result.dofs} DOF"))
    print(
        f"\n{result.robot_name}: {size} → {result.target} ({count(len(result.files), 'file')}, {result.seconds:.2f} s)"
    )
    if args.json:
        write_json(
            args.json,
            "convert",
            passed=True,
            diagnostics=result.diagnostics,
            robot={"name": result.robot_name, "links": result.links, "joints": result.joints, "dofs": result.dofs},
            fidelity=result.fidelity.to_json(),
            files=[str(file) for file in result.files],
            sources=[str(file) for file in result.sources],
            seconds=result.seconds,
        )
    return 0
