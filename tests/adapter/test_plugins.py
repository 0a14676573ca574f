"""Terms of the user's own, and what is said of those that nobody knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.adapter import registry
from isaaclab_mirror.adapter.coverage import coverage
from isaaclab_mirror.adapter.registry import EVENTS, OBSERVATIONS, REWARDS, Registry, load_built_in, load_plugin
from isaaclab_mirror.contract.contract import ActuatorKind, Contract, ObservationTerm, Term
from isaaclab_mirror.diagnostics import InputError
from tests.adapter.recordings import Recording

PLUGIN = """
import numpy as np
from isaaclab_mirror.adapter.motor_models import MotorModel
from isaaclab_mirror.adapter.registry import actuator, observation_term, reward_term

@observation_term("{name}")
def gait_clock(world, period):
    angle = 2 * np.pi * world.episode_steps * world.step_dt / period
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1)

@reward_term("{name}_pace")
class Pace:
    def __init__(self, world, params):
        self.calls = np.zeros(world.env_count)
    def reset(self, env_ids):
        self.calls[env_ids] = 0
    def __call__(self, world, gain):
        self.calls += 1
        return gain * self.calls

@actuator("{name}_motor")
class Halved(MotorModel):
    def __call__(self, now):
        effort = self.pd(now)
        return effort, effort / 2
"""


@pytest.fixture
def go2(shared: Path) -> Recording:
    return Recording("Isaac-Velocity-Flat-UnitreeGo2", shared)


@pytest.fixture(autouse=True)
def own_registries(monkeypatch: pytest.MonkeyPatch):
    """What a test registers is gone after it."""
    load_built_in()
    kinds = (
        registry.OBSERVATIONS,
        registry.REWARDS,
        registry.ACTUATORS,
    )
    for kind in kinds:
        monkeypatch.setattr(kind, "_entries", {name: list(found) for name, found in kind._entries.items()})


def with_observation(contract: Contract, func: str, **params: object) -> Contract:
    group = contract.group("policy")
    term = ObservationTerm(name="extra", func=func, params=params)
    return replace(contract, observations=(replace(group, terms=(*group.terms, term)),))


def test_a_plugin_adds_an_observation_a_reward_and_a_motor(go2: Recording, tmp_path: Path):
    plugin = tmp_path / "my_terms.py"
    plugin.write_text(PLUGIN.format(name="gait_clock"))
    contract = with_observation(go2.contract, "my_tasks.mdp.observations:gait_clock", period=1.0)
    with pytest.raises(InputError, match="unknown observation term 'gait_clock'"):
        go2.adapter(contract)
    load_plugin(plugin)
    load_plugin(plugin)  # twice is once
    reward = Term(name="pace", func="my_tasks.mdp:gait_clock_pace", params={"gain": 2.0}, weight=1.0)
    groups = tuple(
        replace(group, kind=ActuatorKind.OTHER, class_type="my_tasks.motors:gait_clock_motor")
        for group in contract.actuators
    )
    adapter = go2.adapter(replace(contract, rewards=(reward,), actuators=groups))
    assert not adapter.missing
    assert adapter.policy_size == 50
    adapter.reset(go2.state(0))
    adapter.process(go2.arrays["action"][0])
    half = adapter.apply(go2.state(0)).effort
    assert half * 2 == pytest.approx(go2.arrays["sub_applied_effort"][0, :, 0], abs=1e-5)
    result = adapter.step_done(go2.state(1))
    assert result.reward == pytest.approx([2.0 * 0.02] * 2)
    observation = adapter.policy_input(adapter.observe(go2.state(1)))
    angle = 2 * np.pi * 0.02
    assert observation[0, -2:] == pytest.approx([np.sin(angle), np.cos(angle)], abs=1e-6)
    adapter.reset(go2.state(0), [1])
    assert adapter.step_done(go2.state(1)).reward == pytest.approx([4.0 * 0.02, 2.0 * 0.02])


def test_an_unknown_term_is_told_with_the_nearest_known_and_the_file_that_defines_it(go2: Recording):
    contract = with_observation(go2.contract, "my_tasks.locomotion.mdp.observations:base_lin_veloc")
    with pytest.raises(InputError) as told:
        go2.adapter(contract)
    message = str(told.value)
    assert "E120" in message
    assert "my_tasks/locomotion/mdp/observations.py" in message
    assert "'base_lin_vel'" in message
    assert '@observation_term("base_lin_veloc") in a file given with --plugin' in message


def test_several_unknown_terms_are_told_together(go2: Recording):
    contract = with_observation(go2.contract, "my_tasks.mdp:gait_clock")
    contract = with_observation(contract, "my_tasks.mdp:foot_sight")
    with pytest.raises(InputError) as told:
        go2.adapter(contract)
    message = str(told.value)
    assert "2 terms are not known" in message
    assert "gait_clock (my_tasks/mdp.py" in message
    assert "foot_sight (my_tasks/mdp.py" in message


def test_an_unknown_command_is_told_where_it_is_observed(go2: Recording):
    command = replace(go2.contract.commands[0], func="my_tasks.mdp:DanceCommand")
    with pytest.raises(InputError, match="unknown command term 'DanceCommand'"):
        go2.adapter(replace(go2.contract, commands=(command,)))


def test_an_unknown_reward_is_left_out_and_told(go2: Recording):
    reward = Term(name="dance", func="my_tasks.mdp.rewards:dancing", weight=1.0)
    adapter = go2.adapter(replace(go2.contract, rewards=(*go2.contract.rewards, reward)))
    assert [one.code for one in adapter.missing] == ["E120"]
    assert "dancing" in str(adapter.missing[0])


def test_a_name_that_several_tasks_use_is_told_apart_by_its_module():
    lift, cabinet = (
        REWARDS.find(f"isaaclab_tasks.{module}.mdp.rewards:object_ee_distance")
        for module in ("contrib.lift", "core.cabinet")
    )
    assert lift is not None
    assert cabinet is None
    stack, place = (
        OBSERVATIONS.find(f"isaaclab_tasks.contrib.{module}.mdp.observations:object_obs")
        for module in ("stack", "pick_place")
    )
    assert stack is not None
    assert place is not None
    assert stack.make is not place.make
    old = "isaaclab_tasks.manager_based.manipulation.stack.mdp.observations:object_obs"  # Isaac Lab 2
    assert OBSERVATIONS.find(old) is stack


def test_a_base_term_that_a_task_package_re_exports_is_known():
    assert OBSERVATIONS.find("my_tasks.mdp:base_lin_vel") is OBSERVATIONS.find("isaaclab.envs.mdp:base_lin_vel")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "is no file"),
        ("import numpy as np\nnp.nothing\n", "does not run: AttributeError"),
        ("def broken(:\n", "does not run: SyntaxError"),
        (
            "from isaaclab_mirror.adapter.registry import observation_term\n"
            '@observation_term("base_lin_vel")\ndef mine(world): ...\n',
            "registered twice",
        ),
    ],
)
def test_a_plugin_that_cannot_be_used_is_refused(text: str | None, said: str, tmp_path: Path):
    plugin = tmp_path / "my_terms.py"
    if text is not None:
        plugin.write_text(text)
    with pytest.raises(InputError, match=said):
        load_plugin(plugin)


def test_two_terms_of_one_name_in_one_module_are_refused():
    kind = Registry("observation term")
    kind.register("a")(len)
    with pytest.raises(InputError, match="registered twice"):
        kind.register("a")(abs)


def test_coverage_names_what_is_missing_and_what_is_needed(go2: Recording):
    assert coverage(go2.contract).covered
    assert not coverage(go2.contract).left_out
    contract = with_observation(go2.contract, "my_tasks.mdp.observations:base_lin_veloc")
    found = coverage(contract)
    assert not found.covered
    assert str(found.missing[0]) == (
        "observation base_lin_veloc (my_tasks/mdp/observations.py, nearest known base_lin_vel)"
    )


def test_randomising_events_are_declared_and_do_nothing_by_themselves(go2: Recording):
    adapter = go2.adapter()
    names = {term.func_name for term in adapter.randomisations}
    assert {"randomize_rigid_body_mass", "randomize_rigid_body_material"} <= names
    assert EVENTS.find("isaaclab.envs.mdp.events:randomize_rigid_body_mass") is not None
