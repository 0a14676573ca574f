"""Long runs: nothing leaks, nothing hangs, nothing is left behind. `benchmarks/soak.py` does them, each in a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import needs_physx

SOAK = Path(__file__).parents[2] / "benchmarks/soak.py"
PHYSX = [pytest.mark.physx, needs_physx]
ENGINES = [pytest.param("physx", marks=PHYSX), pytest.param("physx-child", marks=PHYSX), "mujoco"]

pytestmark = pytest.mark.slow


def soak(run: str, engine: str, count: int, timeout_s: float = 1800) -> dict[str, Any]:
    """Its figures."""
    command = [sys.executable, str(SOAK), run, "--engine", engine, "--count", str(count), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])  # PhysX itself may print about a state that is not finite


@pytest.mark.parametrize("engine", ENGINES)
def test_a_thousand_resets_end_where_the_first_did_and_leak_nothing(engine: str):
    figures = soak("resets", engine, 1000)
    assert figures["differs_rad"] == 0.0
    assert figures["grown_mb"] < 5.0  # measured: 0.03 to 0.6


@pytest.mark.shared
@pytest.mark.parametrize("engine", ["mujoco", pytest.param("physx", marks=PHYSX)])
def test_a_hundred_loads_of_different_robots_in_one_process_leak_nothing(engine: str, shared: Path):
    figures = soak("loads", engine, 100)
    assert figures["robots"] >= 40
    assert set(figures["refused"].values()) <= {"E058"}
    assert figures["grown_mb_per_load"] < 2.0
    assert figures["children"] == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_trouble_after_trouble_is_reported_and_recovered_from(engine: str):
    figures = soak("troubles", engine, 60)
    expected = {"E055": 40, "E057": 20} if engine == "physx-child" else {"E055": 60}
    assert figures["reported"] == expected
    assert figures["grown_mb"] < 5.0
    assert figures["children"] == 0
