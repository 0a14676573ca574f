"""Domain randomisation: within the task's ranges, decided by the seed, only on request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from isaaclab_mirror.contract.contract import Contract, Term
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.envs.randomizing import applied, draw, randomized


def event(name: str, **params: Any) -> Term:
    return Term(name=name, func=f"isaaclab.envs.mdp.events:{name}", mode="startup", params=params)


MASS = event(
    "randomize_rigid_body_mass",
    asset_cfg={"name": "robot", "body_names": "bob"},
    mass_distribution_params=(0.5, 1.5),
    operation="add",
)
COM = event("randomize_rigid_body_com", asset_cfg={"name": "robot", "body_names": "bob"}, com_range={"z": (0.1, 0.2)})
GAINS = event(
    "randomize_actuator_gains",
    asset_cfg={"name": "robot", "joint_names": ".*"},
    stiffness_distribution_params=(0.8, 1.2),
    operation="scale",
)
JOINTS = event(
    "randomize_joint_parameters",
    asset_cfg={"name": "robot", "joint_names": ".*"},
    armature_distribution_params=(0.01, 0.1),
    operation="abs",
    distribution="log_uniform",
)


@pytest.fixture
def robust(contract: Contract) -> Contract:
    return replace(contract, events=(*contract.events, MASS, COM, GAINS, JOINTS))


def test_nothing_is_randomised_unless_asked_for(robust, pendulum):
    plain, asked = (pendulum(contract={"events": robust.events}, randomize=flag) for flag in (False, True))
    assert plain.simulator.masses()[1] == pytest.approx(1.0)
    assert asked.simulator.masses()[1] == pytest.approx(2.0, abs=0.5)
    assert asked.simulator.masses()[0] == pytest.approx(1.0)
    assert plain.simulator.gains()[0][0] == pytest.approx(20.0)
    assert 16.0 <= asked.simulator.gains()[0][0] <= 24.0
    assert asked.simulator.gains()[0][0] != pytest.approx(20.0)
    low, high = plain.simulator.centers_of_mass()[1, 2] + 0.1, plain.simulator.centers_of_mass()[1, 2] + 0.2
    assert low <= asked.simulator.centers_of_mass()[1, 2] <= high
    assert 0.01 <= asked.contract.actuators[0].armature[0] <= 0.1


def test_the_inertia_goes_with_the_mass(robust, pendulum):
    plain, asked = (pendulum(contract={"events": (MASS,)}, randomize=flag) for flag in (False, True))
    before, after = (m.robot.links[1].inertia for m in (plain, asked))
    ratio = after.mass_kg / before.mass_kg
    np.testing.assert_allclose(after.diagonal_kgm2, np.array(before.diagonal_kgm2) * ratio)


def test_the_seed_decides(robust, pendulum):
    masses = [
        pendulum(contract={"events": robust.events}, randomize=True, seed=s).simulator.masses()[1] for s in (1, 1, 2)
    ]
    assert masses[0] == masses[1]
    assert masses[0] != masses[2]


def test_friction_is_drawn_once_and_consistent(contract):
    ranges = {
        "static_friction_range": (0.2, 0.4),
        "dynamic_friction_range": (0.6, 0.8),
        "restitution_range": (0.0, 0.0),
    }
    term = event("randomize_rigid_body_material", asset_cfg={"name": "robot"}, make_consistent=True, **ranges)
    drawn, _, _ = randomized(replace(contract, events=(term,)), 3)
    static, dynamic = (drawn.events[0].params[f"{k}_friction_range"] for k in ("static", "dynamic"))
    assert static[0] == static[1] == dynamic[0] == dynamic[1]
    assert 0.2 <= static[0] <= 0.4


def test_what_cannot_be_drawn_is_said(contract):
    _, _, left_out = randomized(replace(contract, events=(event("randomize_rigid_body_scale"),)), 0)
    assert [(found.code, found.where) for found in left_out] == [("E144", "events.randomize_rigid_body_scale")]


@pytest.mark.parametrize(("kind", "low", "high"), [("uniform", 1.0, 3.0), ("log_uniform", 1.0, 3.0)])
def test_draws_stay_in_their_range(kind: str, low: float, high: float):
    values = draw((low, high), kind, 4000, np.random.default_rng(0), "x")
    assert low <= values.min() < values.max() <= high
    middle = np.log(values).mean() if kind == "log_uniform" else values.mean()
    wanted = np.log([low, high]).mean() if kind == "log_uniform" else 2.0
    assert middle == pytest.approx(wanted, rel=0.03)


@pytest.mark.parametrize(
    ("arguments", "words"), [((1.0, "uniform"), "are not two numbers"), (((0, 1), "cauchy"), "is no distribution")]
)
def test_a_range_or_distribution_that_means_nothing_is_refused(arguments: tuple[Any, str], words: str):
    with pytest.raises(InputError, match=words):
        draw(*arguments, 1, np.random.default_rng(0), "events.mass")


def test_an_unknown_operation_is_refused():
    with pytest.raises(InputError, match="'xor' is no operation"):
        applied([1.0], np.ones(1), "xor", "events.mass")
