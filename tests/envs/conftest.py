"""Small robots under hand-written contracts, and the runs of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isaaclab_mirror.contract.contract import Contract, PolicyKind
from isaaclab_mirror.contract.loading import load_contract
from isaaclab_mirror.envs.mirror import Mirror
from isaaclab_mirror.envs.opening import MirrorOptions, open_mirror
from isaaclab_mirror.policy.policy import Policy

ENV_YAML = """\
sim: {dt: 0.005, gravity: [0.0, 0.0, -9.81], physics: {}}
decimation: 4
episode_length_s: 1.0
scene:
  robot:
    class_type: isaaclab.assets.articulation.articulation:Articulation
    prim_path: /World/envs/env_.*/Robot
    spawn: {func: isaaclab.sim.spawners.from_files.from_files:spawn_from_usd, usd_path: pendulum.xml}
    init_state: {pos: [0.0, 0.0, 0.0], rot: [0.0, 0.0, 0.0, 1.0], lin_vel: [0.0, 0.0, 0.0], ang_vel: [0.0, 0.0, 0.0], joint_pos: {swing: 0.3}, joint_vel: {.*: 0.0}}
    soft_joint_pos_limit_factor: 1.0
    actuators:
      motor: {class_type: isaaclab.actuators.actuator_pd:ImplicitActuator, joint_names_expr: [.*], stiffness: 20.0, damping: 1.0, effort_limit: 50.0, velocity_limit: 100.0, armature: null, friction: null}
observations:
  policy:
    concatenate_terms: true
    enable_corruption: true
    q: {func: isaaclab.envs.mdp.observations:joint_pos_rel, params: {}, noise: {func: isaaclab.utils.noise.noise_model:uniform_noise, operation: add, n_min: -0.5, n_max: 0.5}, clip: null, scale: null}
    v: {func: isaaclab.envs.mdp.observations:joint_vel_rel, params: {}, noise: null, clip: null, scale: null}
    last: {func: isaaclab.envs.mdp.observations:last_action, params: {}, noise: null, clip: null, scale: null}
actions:
  swing: {class_type: isaaclab.envs.mdp.actions.joint_actions:JointPositionAction, asset_name: robot, joint_names: [.*], scale: 0.5, offset: 0.0, preserve_order: false, use_default_offset: true}
rewards:
  alive: {func: isaaclab.envs.mdp.rewards:is_alive, params: {}, weight: 1.0}
terminations:
  time_out: {func: isaaclab.envs.mdp.terminations:time_out, params: {}, time_out: true}
  far: {func: isaaclab.envs.mdp.terminations:joint_pos_out_of_manual_limit, params: {bounds: [-2.0, 2.0]}, time_out: false}
events:
  reset: {func: isaaclab.envs.mdp.events:reset_joints_by_offset, mode: reset, params: {position_range: [-0.2, 0.2], velocity_range: [0.0, 0.0]}}
commands: {}
"""

PENDULUM = """\
<mujoco><worldbody><body name="base"><geom type="box" size=".05 .05 .05" mass="1" contype="0" conaffinity="0"/>
<body name="bob" pos="0 0 -.1"><joint name="swing" type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02" mass="1" contype="0" conaffinity="0"/></body></body></worldbody></mujoco>
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder without a policy: a driven pendulum whose episodes last 50 policy steps."""
    (tmp_path / "params").mkdir()
    (tmp_path / "params" / "env.yaml").write_text(ENV_YAML, encoding="utf-8")
    (tmp_path / "pendulum.xml").write_text(PENDULUM, encoding="utf-8")
    return tmp_path


@pytest.fixture
def contract(run: Path) -> Contract:
    """Of the pendulum."""
    return load_contract(run, robot_file=run / "pendulum.xml")


@pytest.fixture
def pendulum(contract: Contract) -> Any:
    """Opens mirrors of it; all are closed in the end."""
    opened: list[Mirror] = []

    def make(**options: Any) -> Mirror:
        changes = options.pop("contract", {})
        opened.append(open_mirror(replace(contract, **changes), MirrorOptions(**options)))
        return opened[-1]

    yield make
    for mirror in opened:
        mirror.close()


class Linear:
    """A network: a constant matrix."""

    state_shapes = ()

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix
        self.input_size: int | None = matrix.shape[0]
        self.action_size: int | None = matrix.shape[1]

    def __call__(self, observations: np.ndarray, state: Any) -> Any:
        return observations @ self.matrix, state


@pytest.fixture
def linear() -> Callable[[Any], Policy]:
    """A policy that multiplies."""
    return lambda matrix: Policy(Path("linear.onnx"), PolicyKind.ONNX, Linear(np.asarray(matrix, np.float32)))
