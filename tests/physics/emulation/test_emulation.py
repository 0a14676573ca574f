"""`emulate` against PhysX: recorded runs, and PhysX itself where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.parity_runs import mujoco, physx
from isaaclab_mirror.physics.emulation.laws import Laws
from tests.physics.emulation.motions import GOLDEN, MOTIONS, kept

pytest.importorskip("numba", reason="without the extra `emulate` the laws run as plain Python: minutes")

SEEN_IN = {
    "drives": "arm",
    "acceleration_drives": "acceleration drives",
    "efforts": "explicit efforts",
    "effort_limits": "bounded drives",
    "bounded_efforts": "bounded efforts",
    "joint_friction": "joint friction",
    "limits": "joint limits",
    "velocity_limits": "velocity limits",
    "body_damping": "damped links",
    "angular_velocity_limits": "slow links",
    "coriolis": "arm",
    "contacts": "stance",
    "contact_friction": "trot",
    "static_friction": "slippery trot",
    "speculative_contacts": "stance",
    "contact_drift": "trot",
    "momentum": "trot",
    "pair_order": "thrown table",
}
"""Law → a motion in which it acts."""


@cache
def golden() -> dict[str, Any]:
    """What PhysX did."""
    with np.load(GOLDEN) as file:
        return dict(file)


@cache
def apart(name: str, without: str = "") -> float:
    """rms against the recorded PhysX [mrad; solids: mm and 1e-3 of a quaternion]."""
    laws = Laws().without(without) if without else Laws()
    return distance(kept(mujoco(MOTIONS[name](), "emulate", laws=laws)), name)


def distance(run: dict[str, Any], name: str) -> float:
    """Of joints where there are any, else of the root."""
    what = "joint_pos" if run["joint_pos"].size else "root"
    return 1e3 * float(np.sqrt(((run[what].astype(float) - golden()[f"{name}/{what}"]) ** 2).mean()))


def noise(name: str) -> float:
    """PhysX against itself, started 1e-5 m higher (arms: 1e-6 rad further)."""
    joints, root = golden()[f"{name}/noise"]
    return 1e3 * float(joints or root)


@pytest.mark.parametrize("name", MOTIONS)
def test_motion_is_that_of_physx_to_less_than_its_own_noise(name: str):
    assert apart(name) < max(1e-3, noise(name))


def test_arm_is_emulated_to_a_ten_thousandth_of_a_milliradian():
    assert apart("arm") < 1e-4


def test_every_law_has_a_motion_that_shows_it():
    assert set(SEEN_IN) | {"couplings"} == set(Laws.names())  # that one: tests/physics/test_couplings.py


@pytest.mark.parametrize("law", SEEN_IN)
def test_without_one_law_the_motion_leaves_physx(law: str):
    name = SEEN_IN[law]
    assert apart(name, law) > 5 * apart(name)


@pytest.mark.parametrize("name", ["stance", "trot"])
def test_ground_carries_what_physx_says(name: str):
    run = mujoco(MOTIONS[name](), "emulate")
    recorded = golden()[f"{name}/force"]
    assert np.abs(run.force - recorded).max() < 0.02 * recorded.max()
    assert run.force.sum() == pytest.approx(recorded.sum(), rel=1e-3)


def test_standing_robot_presses_with_its_weight():
    motion = replace(MOTIONS["stance"](), seconds=3.0)
    run = mujoco(motion, "emulate")
    assert run.force[-100:].mean() == pytest.approx(motion.robot.mass_kg * 9.81, rel=0.01)


def test_interpreted_laws_give_the_same_digits_as_compiled_ones():
    program = (
        "from dataclasses import replace\n"
        "from benchmarks.parity_runs import mujoco\n"
        "from tests.physics.emulation.motions import MOTIONS\n"
        "run = mujoco(replace(MOTIONS['stance'](), seconds=0.12, height_m=0.315), 'emulate')\n"
        "print(run.joint_pos[-1].tolist(), run.root_pos[-1].tolist(), *run.said)\n"
    )

    def printed(**variables: str) -> str:
        environment = {**os.environ, **variables}
        return subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        ).stdout

    compiled, interpreted = printed(), printed(ISAACLAB_MIRROR_INTERPRET="1")
    assert "E063" in interpreted
    assert compiled.split("]")[:2] == interpreted.split("]")[:2]


@pytest.mark.physx
@pytest.mark.slow
@pytest.mark.parametrize("name", ["arm", "joint limits", "trot", "thrown table"])
def test_recorded_motions_are_what_physx_does_today(name: str):
    pytest.importorskip("ovphysx")
    assert distance(kept(physx(MOTIONS[name]())), name) <= max(2e-4, noise(name))
