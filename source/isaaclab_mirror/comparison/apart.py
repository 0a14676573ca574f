"""`validate_robot` in a child process: an engine that crashes or hangs is a failed row."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from isaaclab_mirror.comparison.groups import Group, ValidationOptions
from isaaclab_mirror.comparison.motions import Found
from isaaclab_mirror.comparison.rows import Validation
from isaaclab_mirror.comparison.validation import Findings, Report, chosen_groups, failed_row
from isaaclab_mirror.comparison.wire import diagnostic_of, found_of, options_message
from isaaclab_mirror.diagnostics import Diagnostic, InputError, Severity
from isaaclab_mirror.sims.physx_wire import receive, send, tail

WORKER = "isaaclab_mirror.comparison.worker"
SILENCE_S = 900.0
"""A child that says nothing for so long hangs: cooking the meshes of one published drone takes 100 s."""
ENDED = "E057"


@dataclass(frozen=True, slots=True)
class Child:
    """A running worker."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    log: IO[bytes]


def validate_apart(
    file: Path, options: ValidationOptions | None = None, report: Report | None = None, silence_s: float = SILENCE_S
) -> Validation:
    """All tests of one file. When the child ends before its time the group at hand failed, the next ones go on."""
    options = options or ValidationOptions()
    findings = Findings(file.name, chosen_groups(options), report)
    while left := [group for group in findings.groups if group.name not in findings.done]:
        ended = _run_child(file, replace(options, groups=[group.name for group in left]), findings, silence_s)
        if ended is None:
            break
        _blame(left, findings, ended)
    return findings.validation()


def _blame(left: list[Group], findings: Findings, ended: Diagnostic) -> None:
    """The first group that was not done failed."""
    group = next(group for group in left if group.name not in findings.done)
    findings.found(group.name, Found(rows=[failed_row(group, ended)]))


def _run_child(file: Path, options: ValidationOptions, findings: Findings, silence_s: float) -> Diagnostic | None:
    """Until it is done; else what became of it."""
    with _child() as child:
        try:
            send(child.channel, options_message(file, options))
            while True:
                message, arrays = receive(child.channel, lambda: _wait(child.channel, silence_s))
                if message["say"] == "done":
                    return None
                _take(message, arrays, findings)
        except TimeoutError:
            what = f"said nothing for {silence_s:g} s"
        except (EOFError, OSError, ValueError):
            what = _ending(child.process)
        said = _last_error(tail(child.log.fileno()))
    return Diagnostic(ENDED, Severity.ERROR, file.name, f"the process that runs the engines {what}{said}")


def _take(message: dict[str, Any], arrays: list[Any], findings: Findings) -> None:
    say = message["say"]
    if say == "refused":
        error = message["error"]
        raise InputError(error["code"], error["where"], error["message"], error["hint"])
    if say == "opened":
        findings.opened(tuple(map(diagnostic_of, message["diagnostics"])), message["settings"])
    elif say == "progress":
        findings.progress(message["group"], message["seconds"])
    elif say == "found":
        findings.found(message["group"], found_of(message, arrays))


def _wait(channel: socket.socket, silence_s: float) -> None:
    if not select.select([channel], [], [], silence_s)[0]:
        raise TimeoutError


@contextmanager
def _child() -> Generator[Child]:
    """A worker that is gone afterwards, whatever happened."""
    ours, theirs = socket.socketpair()
    end, lifeline = os.pipe()
    package_root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [package_root, os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryFile() as log, ours:
        try:
            process = subprocess.Popen(  # noqa: S603
                # -P: what lies in the working folder is not imported
                [sys.executable, "-P", "-m", WORKER, str(theirs.fileno()), str(end)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(), end),
                env={**os.environ, "PYTHONPATH": path},
            )
        finally:
            theirs.close()
            os.close(end)
        try:
            yield Child(process, ours, log)
        finally:
            os.close(lifeline)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1.0)
            process.kill()
            process.wait()


def _ending(process: subprocess.Popen[bytes]) -> str:
    """How it ended."""
    try:
        code = process.wait(timeout=5.0)
    except subprocess.TimeoutExpired:
        return "closed its channel"
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"crashed ({signal.Signals(-code).name})"
    except ValueError:
        return f"crashed (signal {-code})"


def _last_error(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if "rror" in line]
    return f"; it said: {' '.join(lines[-1].split())[:200]}" if lines else ""
