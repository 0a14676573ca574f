"""Commands, rays, modifiers, delays, histories and actions against the genuine classes of Isaac Lab 3."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.isaaclab.genuine import ENVS, JOINTS, Both, Read

pytestmark = pytest.mark.isaaclab


@pytest.fixture(scope="module")
def both(isaaclab_version: str) -> Both:
    if isaaclab_version != "3.0.0":
        pytest.skip("needs Isaac Lab 3.0.0")
    return Both(np.random.default_rng(0))


# --- commands and rays


def genuine_command(both: Both, path: str, config: dict[str, Any], **buffers: Any) -> Any:
    """A command term without its constructor, which wants a simulator."""
    import torch

    module, _, name = path.rpartition(":")
    made = getattr(importlib.import_module(module), name)
    term = object.__new__(made)
    term.__dict__.update({"cfg": SimpleNamespace(**config), "robot": both.env.scene["robot"], "_env": both.env})
    term.__dict__.update({key: torch.tensor(value, dtype=torch.float32) for key, value in buffers.items()})
    return term


def test_a_heading_and_standing_velocity_command_is_the_genuine_one(both: Both):
    import torch

    from isaaclab_mirror.adapter.commands import UniformVelocityCommand
    from isaaclab_mirror.contract.contract import Term

    path = "isaaclab.envs.mdp.commands.velocity_command:UniformVelocityCommand"
    ranges = {"lin_vel_x": (-1.0, 1.0), "lin_vel_y": (-1.0, 1.0), "ang_vel_z": (-0.8, 0.8), "heading": (-3.1, 3.1)}
    config = {"heading_command": True, "heading_control_stiffness": 0.5, "rel_heading_envs": 0.7}
    config |= {"rel_standing_envs": 0.3, "resampling_time_range": (10.0, 10.0)}
    ours = UniformVelocityCommand(Term(name="v", func=path, params=config | {"ranges": ranges}), both.world)
    ours.reset(both.world, slice(None))
    ours.heads[:], ours.stands[:] = [True, True, True, False, True, False, True], [False] * 5 + [True] * 2
    theirs = genuine_command(
        both,
        path,
        config | {"ranges": SimpleNamespace(**ranges)},
        vel_command_b=ours.value,
        heading_target=ours.heading_target,
    )
    theirs.is_heading_env, theirs.is_standing_env = torch.tensor(ours.heads), torch.tensor(ours.stands)
    before = ours.value.copy()
    ours.update(both.world)
    theirs._update_command()
    assert ours.value == pytest.approx(theirs.command.numpy(), abs=1e-5)
    assert np.abs(ours.value - before).max() > 0.1


def test_a_place_to_go_to_is_seen_as_the_genuine_command_sees_it(both: Both):
    import torch

    from isaaclab_mirror.adapter.commands import UniformPose2dCommand
    from isaaclab_mirror.contract.contract import Term

    path = "isaaclab.envs.mdp.commands.pose_2d_command:UniformPose2dCommand"
    config: dict[str, Any] = {"resampling_time_range": (8.0, 8.0), "simple_heading": True}
    config["ranges"] = {"pos_x": (-3.0, 3.0), "pos_y": (-3.0, 3.0)}
    ours = UniformPose2dCommand(Term(name="p", func=path, params=config), both.world)
    ours.reset(both.world, slice(None))
    theirs = genuine_command(
        both,
        path,
        {},
        pos_command_w=ours.goal_pos,
        heading_command_w=ours.goal_heading,
        pos_command_b=np.zeros((ENVS, 3)),
        heading_command_b=np.zeros(ENVS),
    )
    ours.update(both.world)
    theirs._update_command()
    assert ours.value == pytest.approx(theirs.command.numpy(), abs=1e-5)
    assert isinstance(theirs.command, torch.Tensor)


@pytest.mark.parametrize("ordering", ["xy", "yx"])
def test_rays_stand_where_the_genuine_grid_has_them(both: Both, ordering: str):
    from isaaclab.sensors.ray_caster.patterns import GridPatternCfg, grid_pattern

    from isaaclab_mirror.adapter.sensors import grid

    cfg = GridPatternCfg(resolution=0.1, size=(1.6, 1.0), ordering=ordering)
    starts, directions = grid_pattern(cfg, "cpu")
    rays, direction = grid({"resolution": 0.1, "size": (1.6, 1.0), "ordering": ordering}, "here")
    assert rays == pytest.approx(starts.numpy(), abs=1e-6)
    assert np.tile(direction, (len(rays), 1)) == pytest.approx(directions.numpy(), abs=1e-6)


# --- what happens to an observation on its way


@pytest.mark.parametrize(
    ("name", "fields"), [("DigitalFilter", {"A": [-0.6, 0.1], "B": [0.3, 0.2]}), ("Integrator", {"dt": 0.02})]
)
def test_modifiers_with_a_past_are_the_genuine_ones(both: Both, name: str, fields: dict[str, Any]):
    import torch
    from isaaclab.utils import modifiers

    from isaaclab_mirror.adapter.pipeline import modifier

    path = f"isaaclab.utils.modifiers.modifier:{name}"
    theirs = getattr(modifiers, name)(getattr(modifiers, f"{name}Cfg")(**fields), (ENVS, 4), "cpu")
    ours = modifier({"func": path} | fields, "here")
    for step in range(12):
        if step == 7:
            theirs.reset(torch.tensor([1, 3]))
            ours.reset(np.array([1, 3]))
        value = both.rng.uniform(-1, 1, (ENVS, 4))
        assert ours(value) == pytest.approx(theirs(Read(value).torch).numpy(), abs=1e-5)


def test_delays_and_histories_are_the_genuine_buffers(both: Both):
    import torch
    from isaaclab.utils.buffers import CircularBuffer, DelayBuffer

    from isaaclab_mirror.adapter.history import Delay, History

    late, kept = DelayBuffer(4, ENVS, "cpu"), CircularBuffer(3, ENVS, "cpu")
    delay, history = Delay(ENVS, 4, 5), History(ENVS, 3, 5)
    lags = both.rng.integers(0, 5, ENVS)
    late.set_time_lag(torch.tensor(lags), torch.arange(ENVS))
    delay.lags[:] = lags
    for step in range(15):
        if step == 9:
            rows = np.array([0, 4])
            late.reset(torch.tensor(rows))
            kept.reset(torch.tensor(rows))
            delay.reset(rows, lags[rows])
            history.reset(rows)
        value = both.rng.uniform(-1, 1, (ENVS, 5)).astype(np.float32)
        assert np.array_equal(delay(value), late.compute(torch.tensor(value)).numpy())
        history.push(value)
        kept.append(torch.tensor(value))
        assert np.array_equal(history.samples, kept.buffer.numpy())


@pytest.mark.parametrize("operation", ["add", "scale", "abs"])
def test_noise_has_the_genuine_spread(both: Both, operation: str):
    import torch
    from isaaclab.utils import noise

    from isaaclab_mirror.adapter.pipeline import Noise

    config = noise.UniformNoiseCfg(n_min=0.2, n_max=0.6, operation=operation)
    value = np.full((4000, 3), 2.0)
    theirs = config.func(torch.tensor(value), config).numpy()
    data = {"func": "isaaclab.utils.noise.noise_model:uniform_noise", "n_min": 0.2, "n_max": 0.6}
    ours = Noise(data | {"operation": operation}, np.random.default_rng(1), "here")(value)
    for point in (0, 10, 50, 90, 100):
        assert np.percentile(ours, point) == pytest.approx(np.percentile(theirs, point), abs=0.03)


# --- actions

ACTIONS = "isaaclab.envs.mdp.actions"
LISTED = ["knee", "hip", "finger_joint2"]
ACTION_TERMS: list[tuple[str, str, dict[str, Any]]] = [
    ("joint_actions", "JointPositionAction", {"scale": {"knee": 0.5, "hip": 2.0}, "clip": {"hip": (-0.2, 0.3)}}),
    ("joint_actions", "JointPositionAction", {"scale": 0.5, "preserve_order": True}),
    ("joint_actions", "JointVelocityAction", {"scale": 3.0}),
    ("joint_actions", "JointEffortAction", {"scale": {"knee": 9.0}, "offset": 1.0}),
    ("joint_actions", "RelativeJointPositionAction", {"scale": 0.1}),
    ("joint_actions_to_limits", "JointPositionToLimitsAction", {"scale": 1.3}),
    ("joint_actions_to_limits", "JointPositionToLimitsAction", {"scale": 0.4, "rescale_to_limits": False}),
    ("joint_actions_to_limits", "EMAJointPositionToLimitsAction", {"alpha": {"knee": 0.3}, "rescale_to_limits": True}),
    (
        "binary_joint_actions",
        "BinaryJointPositionAction",
        {"open_command_expr": {".*": 0.04}, "close_command_expr": {".*": 0.0}},
    ),
    (
        "binary_joint_actions",
        "BinaryJointVelocityAction",
        {"open_command_expr": {".*": 1.0}, "close_command_expr": {".*": -2.0}},
    ),
]


class Told:
    """An articulation that keeps what it is told."""

    def __init__(self, asset: Any) -> None:
        self.__dict__.update(vars(asset))
        self.targets = {kind: np.zeros((ENVS, len(JOINTS)), np.float32) for kind in ("position", "velocity", "effort")}

    def __getattr__(self, name: str) -> Any:
        kind = name.removeprefix("set_joint_").removesuffix("_target_index")
        if kind not in self.__dict__.get("targets", {}):
            raise AttributeError(name)

        def tell(target: Any, joint_ids: Any = slice(None), env_ids: Any = None) -> None:
            self.targets[kind][:, joint_ids] = target.numpy()

        return tell


@pytest.mark.parametrize(
    ("module", "name", "fields"), ACTION_TERMS, ids=[f"{n}-{i}" for i, (_, n, _) in enumerate(ACTION_TERMS)]
)
def test_joint_actions_are_the_genuine_ones(both: Both, module: str, name: str, fields: dict[str, Any]):
    import torch
    from isaaclab.envs.mdp.actions import actions_cfg

    from isaaclab_mirror.adapter.joint_actions import Targets
    from isaaclab_mirror.adapter.registry import ACTIONS as KNOWN
    from isaaclab_mirror.contract.actions import resolve_action
    from isaaclab_mirror.contract.contract import ActionTerm

    cfg = getattr(actions_cfg, f"{name}Cfg")(asset_name="robot", joint_names=LISTED, **fields)
    told = Told(both.env.scene["robot"])
    env = SimpleNamespace(**(vars(both.env) | {"scene": {"robot": told}, "sim": None}))
    theirs = getattr(importlib.import_module(f"{ACTIONS}.{module}"), name)(cfg, env)
    data = {"joint_names": LISTED, "preserve_order": False} | fields
    if hasattr(cfg, "use_default_offset"):
        data["use_default_offset"] = cfg.use_default_offset
    term = ActionTerm(
        name="a",
        kind=name,
        class_type=f"{ACTIONS}.{module}:{name}",
        joint_patterns=tuple(LISTED),
        preserve_order=bool(fields.get("preserve_order", False)),
        use_default_offset=bool(data.get("use_default_offset", False)),
        params=data,
    )
    contract = both.world.contract
    term = resolve_action(term, contract, contract.robot, JOINTS, "here")
    ours = KNOWN.get(term.class_type, "here").make(term, both.world)
    targets = Targets.zeros(ENVS, len(JOINTS))
    ours.reset(both.world, np.arange(ENVS))
    theirs.reset(torch.arange(ENVS))
    for _ in range(3):
        action = both.rng.uniform(-1.5, 1.5, (ENVS, ours.size)).astype(np.float32)
        ours.process(both.world, action)
        theirs.process_actions(torch.tensor(action))
        ours.apply(both.world, targets)
        theirs.apply_actions()
        for kind, values in told.targets.items():
            assert getattr(targets, kind) == pytest.approx(values, abs=1e-6)
    assert any(values.any() for values in told.targets.values())
