"""The seven actuator classes against the genuine ones of Isaac Lab 3.0.0 (`actuators.npz`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isaaclab_mirror.adapter import motor_networks
from isaaclab_mirror.adapter.motor_models import DCMotor, DelayedPD, MotorInput, MotorModel
from isaaclab_mirror.adapter.registry import ACTUATORS, load_built_in
from isaaclab_mirror.contract.contract import ActuatorGroup, ActuatorKind
from isaaclab_mirror.contract.matching import match_values

KINDS = {
    "implicit": ActuatorKind.IMPLICIT,
    "ideal_pd": ActuatorKind.IDEAL_PD,
    "dc_motor": ActuatorKind.DC_MOTOR,
    "delayed_pd": ActuatorKind.DELAYED_PD,
    "remotized_pd": ActuatorKind.REMOTIZED_PD,
    "net_mlp": ActuatorKind.NET_MLP,
    "net_lstm": ActuatorKind.NET_LSTM,
}
EXACT = {"implicit", "ideal_pd", "dc_motor", "delayed_pd"}
"""Add and multiply only: the same float32 operations in the same order give the same bits."""


@pytest.fixture(scope="module")
def golden(shared: Path) -> dict[str, Any]:
    load_built_in()
    with np.load(shared / "isaaclab-recordings/actuators.npz") as file:
        return {name: file[name] for name in file.files}


def group_of(golden: dict[str, Any], name: str) -> ActuatorGroup:
    meta = json.loads(str(golden["meta_json"]))
    config, joints = meta["cfg"][name], tuple(meta["joint_names"])

    def row(*keys: str) -> tuple[float, ...]:
        value = next((config[key] for key in keys if key in config), None)
        if isinstance(value, dict):
            found = match_values(value, joints, name)
            return tuple(found.get(joint, 0.0) for joint in joints)
        return () if value is None else (float(value),) * len(joints)

    return ActuatorGroup(
        name=name,
        kind=KINDS[name],
        joints=joints,
        stiffness=row("stiffness"),
        damping=row("damping"),
        effort_limit=row("actuator_effort_limit", "joint_effort_limit"),
        velocity_limit=row("actuator_velocity_limit"),
        saturation_effort=row("saturation_effort"),
        min_delay=config.get("min_delay", 0),
        max_delay=config.get("max_delay", 0),
        lookup=tuple(map(tuple, config.get("joint_parameter_lookup", ()))),
        pos_scale=config.get("pos_scale", 1.0),
        vel_scale=config.get("vel_scale", 1.0),
        torque_scale=config.get("torque_scale", 1.0),
        input_order=config.get("input_order", "pos_vel"),
        input_idx=tuple(config.get("input_idx", ())),
    )


def model_of(golden: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch) -> MotorModel:
    prefix = f"{name}/weights/"
    weights = {key[len(prefix) :]: value for key, value in golden.items() if key.startswith(prefix)}
    monkeypatch.setattr(motor_networks, "read_network", lambda group: (weights, "softsign", 20.0))
    group = group_of(golden, name)
    return ACTUATORS.get(str(group.kind), name).make(group, 3, np.random.default_rng(0))


def run(golden: dict[str, Any], name: str, model: MotorModel) -> tuple[Any, Any]:
    """Computed and applied effort of all steps; environment 1 is reset before step 25."""
    meta = json.loads(str(golden["meta_json"]))
    results: list[tuple[Any, Any]] = []
    for step in range(meta["T"]):
        if step == 0:
            model.reset(slice(None))
        if step == meta["reset"]["step"]:
            model.reset(np.array(meta["reset"]["env_ids"]))
        if f"{name}/time_lags" in golden:
            assert isinstance(model, DelayedPD)
            model.delay.lags[:] = golden[f"{name}/time_lags"][step]
        inputs = (golden[f"in/{key}"][step] for key in ("q_des", "qd_des", "tau_ff", "q", "qd"))
        results.append(model(MotorInput(*inputs)))
    computed, applied = zip(*results, strict=True)
    return np.stack(computed), np.stack(applied)


@pytest.mark.parametrize("name", list(KINDS))
def test_every_motor_gives_the_effort_of_the_genuine_class(
    golden: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
):
    computed, applied = run(golden, name, model_of(golden, name, monkeypatch))
    assert computed.dtype == np.float32
    largest = np.abs(golden[f"{name}/computed"]).max()
    tolerance = 0.0 if name in EXACT else 1e-6 * max(largest, 1.0)
    assert np.abs(computed - golden[f"{name}/computed"]).max() <= tolerance
    assert np.abs(applied - golden[f"{name}/applied"]).max() <= tolerance
    assert (computed != applied).mean() > 0.2  # the bounds are met, or this shows nothing


def test_a_motor_without_a_reset_keeps_what_it_remembers(golden: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    for name in ("net_mlp", "net_lstm"):
        model = model_of(golden, name, monkeypatch)
        monkeypatch.setattr(model, "reset", lambda env_ids: None)
        computed, _ = run(golden, name, model)
        away = np.abs(computed - golden[f"{name}/computed"])
        assert away[:25].max() < 1e-4
        assert away[25, 1].max() > 1e-2


def test_a_clip_by_the_effort_limit_alone_is_not_a_dc_motor(golden: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    model = model_of(golden, "dc_motor", monkeypatch)
    assert isinstance(model, DCMotor)
    monkeypatch.setattr(model, "clip", lambda effort, vel: np.clip(effort, -model.effort_limit, model.effort_limit))
    _, applied = run(golden, "dc_motor", model)
    assert np.abs(applied - golden["dc_motor/applied"]).max() > 1.0


def test_a_delay_of_newtons_kernels_is_always_the_longest():
    group = ActuatorGroup(
        name="legs", kind=ActuatorKind.DELAYED_PD, joints=("a",), stiffness=(1.0,), min_delay=0, max_delay=3
    )
    load_built_in()
    model = ACTUATORS.get("DelayedPDActuator", "legs").make(group, 1000, np.random.default_rng(0))
    model.reset(slice(None))
    assert set(model.delay.lags) == {0, 1, 2, 3}
    model.constant_delay = True
    model.reset(slice(None))
    assert set(model.delay.lags) == {3}
