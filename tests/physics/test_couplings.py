"""Joints that follow others (mimic joints) in PhysX's step."""

from __future__ import annotations

from pathlib import Path

import pytest

from isaaclab_mirror.physics.emulation.laws import Laws
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.settings import resolve_settings
from isaaclab_mirror.sims.state import Start

pytestmark = pytest.mark.shared

PHYSX_MM = {
    1: (12.01206166, 12.00168114),
    2: (12.09466159, 12.08419539),
    5: (12.7813546, 12.77192216),
    20: (23.30615185, 23.30485918),
    40: (38.53221983, 38.53864595),
}
"""Step → both fingers of a Franka under ovphysx 0.7.0: started at 10 and 14 mm, the first driven to 30 mm."""


def run_fingers(shared: Path, laws: Laws) -> dict[int, tuple[float, ...]]:
    settings = resolve_settings(backend="isaacsim", timestep_s=1 / 200, position_iterations=4, velocity_iterations=0)
    file = shared / "corpus" / "franka_panda" / "franka_panda_physx.usda"
    found: dict[int, tuple[float, ...]] = {}
    with MujocoSim(file, settings=settings, fidelity="emulate", contact_forces=False, laws=laws) as sim:
        columns = [sim.joint_names.index(f"finger_joint{k}") for k in (1, 2)]
        sim.reset(Start(joint_pos={"finger_joint1": 0.010, "finger_joint2": 0.014}))
        sim.set_position_targets({"finger_joint1": 0.030})
        for step in range(1, 41):
            sim.step()
            found[step] = tuple(1e3 * sim.read().joint_pos[0, columns])
    return found


def test_a_finger_follows_the_driven_one_as_in_physx(shared: Path):
    ours = run_fingers(shared, Laws())
    for step, fingers in PHYSX_MM.items():
        assert ours[step] == pytest.approx(fingers, abs=1e-5)


def test_without_the_law_the_finger_stays_behind(shared: Path):
    ours = run_fingers(shared, Laws(couplings=False))
    assert abs(ours[40][1] - PHYSX_MM[40][1]) > 5
