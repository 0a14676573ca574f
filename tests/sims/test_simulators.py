"""Every simulator keeps what the protocol promises, on robots of every kind."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.sims.checker import CHECKS, check_simulator
from isaaclab_mirror.sims.simulator import Simulator

from .conftest import needs_physx, open_engine

ENGINES = [
    pytest.param("physx", marks=[pytest.mark.physx, needs_physx]),
    "mujoco-physx",
    "mujoco-nominal",
]
SHARED = [  # one of every kind that the corpora have
    "corpus/unitree_g1/unitree_g1_physx.usda",  # humanoid
    "corpus/franka_panda/franka_panda_physx.usda",  # arm with a gripper
    "corpus/shadow_hand/shadow_hand.usda",  # hand with tendons
    "corpus/robotiq_2f85/robotiq_2f85_physx.usda",  # closed loops
    "corpus/cassie/cassie.usda",  # legs with closed loops
    "corpus/tidybot/tidybot.usda",  # arm on a mobile base
    "corpus/arm26/arm26.usda",  # joint to a prim that stands for the world
    "corpus/skydio_x2/skydio_x2.usdc",  # drone: one body, no articulation
    "corpus/humanoid/humanoid.usda",  # several joints between two bodies
    "corpus-layered/talos_urdf/talos_urdf.usda",  # as Isaac Sim's importer writes it
    "corpus-layered/cassie_mjcf/cassie_mjcf.usda",  # ball joints
    "corpus-native/dragon4/dragon-4.usd",  # D6 as rotation vectors, reversed bodies
    "corpus-native/aau_rover/Mars_Rover.usd",  # wheels, loose bodies on loops
    "corpus-native/nv_humanoid/humanoid.usda",
    "corpus-native/flying_cube/cube.usda",
]


def faults(engine: str, file: Path, read: ReadOptions | None = None) -> list[str]:
    """What `file` in `engine` does not keep."""

    def make(env_count: int) -> Simulator:
        return open_engine(engine, file, env_count=env_count, read=read)

    return [str(fault) for fault in check_simulator(make)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("robot", ["cartpole/cartpole_physx.usda", "unitree_go2/unitree_go2_physx.usda"])
def test_a_simulator_keeps_every_promise(engine: str, robot: str, data: Path):
    assert faults(engine, data / robot) == []


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("robot", SHARED)
def test_robots_of_every_kind_keep_every_promise(engine: str, robot: str, shared: Path):
    assert faults(engine, shared / robot) == []


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.physx
@needs_physx
@pytest.mark.parametrize("robot", ["panda_urdf", "tiago_urdf", "h1_mjcf", "robotiq_2f85_mjcf"])
def test_a_base_tied_softly_to_the_world_or_free_runs_many_times_once_it_is_fixed(robot: str, shared: Path):
    file = shared / "corpus-layered" / robot / f"{robot}.usda"
    assert faults("physx", file, ReadOptions(fix_base=True)) == []


def test_the_checker_finds_a_simulator_that_mixes_its_joints_up(go2: Path):
    from isaaclab_mirror.sims.mujoco_sim import MujocoSim

    class Mixed(MujocoSim):
        def read(self):  # joint positions in another order than their names
            state = super().read()
            state.joint_pos[:] = state.joint_pos[:, ::-1].copy()
            return state

    make = partial(Mixed, go2)
    found = {fault.check for fault in check_simulator(lambda n: make(env_count=n))}
    assert {"reset", "names"} <= found


def test_the_checker_finds_a_simulator_that_takes_everything(cartpole: Path):
    from isaaclab_mirror.diagnostics import InputError
    from isaaclab_mirror.sims.mujoco_sim import MujocoSim

    class Careless(MujocoSim):
        def set_efforts(self, values, env_ids=None):
            try:
                super().set_efforts(values, env_ids)
            except InputError:
                return

    found = check_simulator(lambda n: Careless(cartpole, env_count=n))
    assert {fault.check for fault in found} == {"refusals", "close"}
    assert len(CHECKS) == 16
