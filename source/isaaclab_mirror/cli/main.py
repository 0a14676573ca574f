"""`isaaclab-mirror COMMAND …`: chooses the command and turns errors into exit codes.

0 done, 1 ran and the comparison failed, 2 bad input or usage, 3 a bug.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from isaaclab_mirror import __version__

if TYPE_CHECKING:
    from isaaclab_mirror.diagnostics import InputError

COMMANDS = {
    "convert": "convert a robot file; prints what came through",
    "inspect": "say what is in a robot file: links, joints, drives, colliders, diagnostics",
    "contract": "say what a policy expects: rates, orders, gains, observations, actions, and who said so",
    "validate": "test a robot in PhysX against MuJoCo, or two files of it against each other",
    "calibrate": "fit what is free in MuJoCo to PhysX, and write the robot with the fitted numbers",
    "replay": "run a policy of Isaac Lab in MuJoCo or in PhysX, and measure it",
    "compare": "run a policy in PhysX and in MuJoCo from the same starts, and say how far apart they are",
}
DEBUG_VARIABLE = "ISAACLAB_MIRROR_DEBUG"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    parser = _parser(arguments)
    try:
        args = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has printed its message
        return stop.code if isinstance(stop.code, int) else 2
    if args.command is None:
        parser.print_help()
        return 2
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    debug: bool = args.debug or bool(os.environ.get(DEBUG_VARIABLE))
    command = importlib.import_module(f"isaaclab_mirror.cli.{args.command}")
    from isaaclab_mirror.diagnostics import InputError

    try:
        return command.run(args)
    except InputError as error:
        _show(debug)
        print(error, file=sys.stderr)
        _report_failure(args, error)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of stdout has gone, as `head` does; nothing to say to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 the one place that turns a bug into a message
        _show(debug)
        print(f"internal error: {type(error).__name__}: {error}", file=sys.stderr)
        print(
            f"  next: this is a bug in isaaclab-mirror {__version__}. Please report it with the command, "
            "the robot file, and what --debug prints",
            file=sys.stderr,
        )
        return 3


def _show(debug: bool) -> None:
    """The traceback of the error at hand, where it was asked for."""
    if debug:
        import traceback

        traceback.print_exc()


def _report_failure(args: argparse.Namespace, error: InputError) -> None:
    """Whoever asked for JSON gets it for bad input too."""
    from isaaclab_mirror.cli.output import write_json
    from isaaclab_mirror.diagnostics import InputError

    if getattr(args, "json", None):
        try:
            write_json(args.json, args.command, passed=False, diagnostics=[error.diagnostic])
        except InputError as unwritable:
            if str(unwritable) != str(error):
                print(unwritable, file=sys.stderr)


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; only the command that is called loads its module."""
    parser = argparse.ArgumentParser(
        prog="isaaclab-mirror",
        description="Isaac Lab's robots, mirrored in MuJoCo.",
        epilog="exit codes: 0 done, 1 ran and failed, 2 bad input or usage, 3 a bug",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("--debug", action="store_true", help=f"show tracebacks (also: {DEBUG_VARIABLE}=1)")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    called = next((argument for argument in arguments if argument in COMMANDS), None)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == called:
            command.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
            importlib.import_module(f"isaaclab_mirror.cli.{name}").add_arguments(command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
