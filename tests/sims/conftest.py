"""What tests of simulators share: robots, and both engines by one name."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from isaaclab_mirror.sims.simulator import Simulator

needs_physx = pytest.mark.skipif(find_spec("ovphysx") is None, reason="the extra physx is not installed")
ENGINES = [pytest.param("physx", marks=[pytest.mark.physx, needs_physx]), "mujoco"]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine in turn."""
    return request.param


@pytest.fixture
def load(engine: str, request: pytest.FixtureRequest) -> Callable[..., Simulator]:
    """Loads a robot into the engine; closed at the end of the test."""

    def make(source: Any, **options: Any) -> Simulator:
        sim = open_engine(engine, source, **options)
        request.addfinalizer(sim.close)
        return sim

    return make


def open_engine(engine: str, source: Any, **options: Any) -> Simulator:
    """`physx`, `mujoco` (fidelity physx) or `mujoco-nominal`."""
    if engine == "physx":
        from isaaclab_mirror.sims.physx_sim import PhysxSim

        return PhysxSim(source, **options)
    from isaaclab_mirror.sims.mujoco_sim import MujocoSim

    return MujocoSim(source, fidelity=engine.partition("-")[2] or "physx", **options)


@pytest.fixture(scope="session")
def go2(data: Path) -> Path:
    """A quadruped with a floating base."""
    return data / "unitree_go2/unitree_go2_physx.usda"


@pytest.fixture(scope="session")
def cartpole(data: Path) -> Path:
    """Two joints on a rail."""
    return data / "cartpole/cartpole_physx.usda"
