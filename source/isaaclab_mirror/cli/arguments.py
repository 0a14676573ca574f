"""Arguments that several commands share; nothing heavy is imported here, as `--help` shows them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def add_read_arguments(parser: argparse.ArgumentParser) -> None:
    """What decides how a file is read."""
    parser.add_argument("--prim", metavar="PATH", help="prim that holds the robot, where the stage has several")
    parser.add_argument(
        "--variant", action="append", default=[], metavar="SET=NAME", help="choose a variant; may be given again"
    )
    parser.add_argument(
        "--cooked", action="store_true", help="mesh colliders as PhysX cooks them (needs the extra physx)"
    )


def add_set_arguments(parser: argparse.ArgumentParser) -> None:
    """Every option by its name."""
    parser.add_argument("--options", type=Path, metavar="FILE.toml", help="options from a file; --set comes after it")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="one option by its name; may be given again"
    )


FIDELITIES = ("nominal", "physx", "emulate")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def add_fidelity_argument(parser: argparse.ArgumentParser) -> None:
    """Whose numbers MuJoCo runs with."""
    parser.add_argument(
        "--fidelity",
        choices=FIDELITIES,
        default="physx",
        help="MuJoCo's numbers: as stated (nominal), closest to PhysX in a static file (physx, the default), "
        "PhysX's own solver step (emulate)",
    )


def add_run_arguments(parser: argparse.ArgumentParser, *, episodes: int) -> None:
    """A policy's run, and which episodes of it; `episodes` is how many where nobody says."""
    parser.add_argument(
        "run",
        type=Path,
        metavar="RUN",
        help="Isaac Lab run folder, or a folder or config with a policy (docs/contract.md)",
    )
    parser.add_argument("--robot", type=Path, metavar="FILE", help="robot file: USD, MJCF or URDF, where none is found")
    parser.add_argument(
        "--policy", type=Path, metavar="FILE", help="policy file, where another than the run's is meant"
    )
    add_fidelity_argument(parser)
    parser.add_argument("--episodes", type=int, default=episodes, metavar="N", help=f"episodes (default: {episodes})")
    parser.add_argument("--seconds", type=float, metavar="S", help="length of an episode (default: the task's)")
    parser.add_argument("--seed", type=int, default=0, metavar="K", help="of the first episode; the next has K + 1")
    parser.add_argument(
        "--command",
        dest="velocity",
        type=float,
        nargs=3,
        metavar=("VX", "VY", "WZ"),
        help="velocity command [m/s, m/s, rad/s], held",
    )
    parser.add_argument(
        "--start",
        choices=("task", "nominal"),
        default="task",
        help="episodes begin where the task's reset events draw (task) or at the default state (nominal)",
    )
    parser.add_argument(
        "--plugin", type=Path, action="append", default=[], metavar="FILE", help="Python file with terms of your own"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a simulator setting other than the contract's (external_forces_every_iteration=true, …); may be repeated",
    )


def check_run_arguments(args: argparse.Namespace) -> None:
    """Refuse numbers that mean nothing before any work is done."""
    import math

    from isaaclab_mirror.diagnostics import InputError

    if args.episodes < 1:
        raise InputError("E091", "--episodes", f"{args.episodes} is no number of episodes", "1 or more")
    if args.seconds is not None and not (math.isfinite(args.seconds) and args.seconds > 0):
        raise InputError("E091", "--seconds", f"{args.seconds} is no length of an episode")
    if args.seed < 0:
        raise InputError("E091", "--seed", f"{args.seed} is no seed", "0 or more")
    if args.velocity is not None and not all(map(math.isfinite, args.velocity)):
        raise InputError("E091", "--command", f"{args.velocity} is no velocity")


def take_sim_settings(args: argparse.Namespace) -> Mapping[str, Any]:
    """The simulator settings among `--set`; anything else is refused."""
    from isaaclab_mirror.cli.options import take_settings
    from isaaclab_mirror.diagnostics import InputError

    settings = take_settings(args)
    if args.set:
        raise InputError("E090", "--set", f"there is no simulator setting {args.set[0].partition('=')[0]!r}")
    return settings


def calm_threads() -> None:
    """A policy's matrices are small: threads of numpy's would only wait for each other. Before numpy is imported."""
    for variable in THREAD_VARIABLES:
        os.environ.setdefault(variable, "1")
