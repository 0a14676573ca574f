"""Cost of processes, and limits. Standard library only, because a child's peak memory starts from its parent's."""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Cost:
    """What one process, with its children, took."""

    cpu_s: float
    """User and system time, threads summed."""
    wall_s: float
    peak_mb: float
    code: int
    message: str
    """The last line on stderr."""


def run(command: list[str], environment: dict[str, str]) -> Cost:
    """Run a command to its end and account for it alone."""
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
    return Cost(
        cpu_s=usage.ru_utime + usage.ru_stime,
        wall_s=wall_s,
        peak_mb=usage.ru_maxrss / 1024,
        code=child.returncode,
        message=lines[-1] if lines else "",
    )


class Worker:
    """A driver kept warm: its imports are done, and it says itself what each conversion took."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        """Start it; its chatter is dropped."""
        self._child = subprocess.Popen(
            [*command, "--serve"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def convert(self, source: Path, target: Path) -> Cost:
        """One conversion in the warm process."""
        stdin, stdout = self._child.stdin, self._child.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the worker has no pipes")
        stdin.write(f"{source}\t{target}\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise RuntimeError(f"the worker ended while converting {source.name}")
        answer = json.loads(line)
        error = answer["error"]
        return Cost(answer["cpu_s"], answer["wall_s"], math.nan, 2 if error else 0, error or "")

    def close(self) -> None:
        """End of input ends it."""
        if self._child.stdin is not None:
            self._child.stdin.close()
        self._child.wait()


@dataclass(frozen=True)
class Limit:
    """A measured figure and what it may be."""

    name: str
    values: list[float]
    """One a round, ascending."""
    at_most: float
    unit: str
    middle: float
    kept: bool


@dataclass
class Limits:
    """Every figure with a limit of one run, printed as it is taken."""

    taken: list[Limit] = field(default_factory=list)

    def report(self, name: str, values: list[float], *, at_most: float, unit: str = "×") -> bool:
        """Judge the middle value; without any value the limit is missed."""
        values = sorted(values)
        middle = median(values) if values else math.inf
        kept = middle <= at_most
        spread = f"[{values[0]:.3g}, {values[-1]:.3g}]" if values else "[not measured]"
        mark = "ok" if kept else "MISSED"
        print(f"{name:66} {middle:8.3g}{unit} {spread:16} limit {at_most:g}{unit}  {mark}", flush=True)
        self.taken.append(Limit(name, values or [middle], at_most, unit, middle, kept))
        return kept

    def as_json(self) -> list[dict[str, object]]:
        """For the result file."""
        return [asdict(limit) for limit in self.taken]


def slope(sizes: tuple[int, int], times: tuple[float, float]) -> float:
    """Exponent p of time ∝ size^p between two sizes."""
    return math.log(times[1] / times[0]) / math.log(sizes[1] / sizes[0])
