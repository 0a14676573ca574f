"""Arguments that several commands share; nothing heavy is imported here, as `--help` shows them."""

from __future__ import annotations

import argparse
from pathlib import Path


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
