"""Run a genuine Isaac Lab 3 task and the adapter beside it, and print how far apart they are, as one line of JSON.

    python live_task.py TASK --assets FOLDER --robot FILE [--steps N] [key=value overrides of the task's config …]

Every physics step: efforts and targets. Every policy step: each observation term, the processed action, the reward and
the ends. Actions are random and seeded. The adapter gets the task's config as a run folder has it, and the state.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

MOTORS = ("ideal_pd", "delayed_pd", "remotized_pd", "net_mlp", "net_lstm")


class Far:
    """The largest difference of each thing compared, and how large the thing itself is."""

    def __init__(self) -> None:
        self.error: dict[str, float] = {}
        self.scale: dict[str, float] = {}

    def __call__(self, name: str, ours: Any, theirs: Any) -> None:
        ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
        if ours.shape != theirs.shape:
            raise SystemExit(f"{name}: {ours.shape} here, {theirs.shape} in Isaac Lab")
        both_inf = np.isinf(ours) & (ours == theirs)
        gap = np.abs(np.where(both_inf, 0.0, ours - theirs))
        worst = float(gap.max(initial=0.0)) if np.isfinite(gap).all() else float("inf")
        self.error[name] = max(self.error.get(name, 0.0), worst)
        finite = np.abs(theirs[np.isfinite(theirs)])
        self.scale[name] = max(self.scale.get(name, 0.0), float(finite.max(initial=0.0)))


def numbers(value: Any) -> np.ndarray[Any, Any]:
    """A torch tensor or Isaac Lab's proxy of one."""
    return (value.torch if hasattr(value, "torch") else value).detach().cpu().numpy().copy()


def wxyz(quat_xyzw: Any) -> np.ndarray[Any, Any]:
    return np.asarray(quat_xyzw, dtype=float)[..., [3, 0, 1, 2]]


def start_warp_on_the_cpu() -> None:
    """Without a GPU there is no pinned memory, which the engine asks for."""
    import warp

    warp.init()
    if not warp.is_cuda_available():
        device = warp.get_device("cpu")
        device.pinned_allocator = device.default_allocator


def state_of(env: Any) -> Any:
    """The robot's State as Isaac Lab's data have it now."""
    from isaaclab_mirror.sims.state import LinkStates, State

    robot, origins = env.scene["robot"], numbers(env.scene.env_origins).astype(float)
    data = robot.data
    bodies, body_com, body_link = (
        numbers(getattr(data, name)).astype(float) for name in ("body_link_pose_w", "body_com_vel_w", "body_link_vel_w")
    )
    links = LinkStates(
        pos_w=bodies[..., :3] - origins[:, None],
        quat_wxyz=wxyz(bodies[..., 3:]),
        lin_vel_w=body_link[..., :3],
        com_lin_vel_w=body_com[..., :3],
        ang_vel_w=body_com[..., 3:],
    )
    root, root_com = numbers(data.root_link_pose_w).astype(float), numbers(data.root_com_vel_w).astype(float)
    root_link = numbers(data.root_link_vel_w).astype(float)
    joint_pos, joint_vel = numbers(data.joint_pos).astype(float), numbers(data.joint_vel).astype(float)
    contacts = contact_forces(env, robot.body_names, len(origins))
    return State(
        time_s=np.zeros(len(origins)),
        root_pos_w=root[:, :3] - origins,
        root_quat_wxyz=wxyz(root[:, 3:]),
        root_lin_vel_w=root_link[:, :3],
        root_com_lin_vel_w=root_com[:, :3],
        root_ang_vel_w=root_com[:, 3:],
        joint_names=tuple(robot.joint_names),
        joint_pos=joint_pos,
        joint_vel=joint_vel,
        link_names=tuple(robot.body_names),
        find_torque=lambda: np.zeros_like(joint_pos),
        find_contacts=lambda: contacts,
        find_links=lambda: links,
    )


def contact_forces(env: Any, body_names: Sequence[str], count: int) -> np.ndarray[Any, Any]:
    """Net force on every link of the last physics step, from the task's own sensor."""
    forces = np.zeros((count, len(body_names), 3))
    sensor = env.scene.sensors.get("contact_forces")
    if sensor is not None:
        measured = numbers(sensor.data.net_normal_forces_w)
        for column, name in enumerate(sensor.body_names):
            forces[:, list(body_names).index(name)] = measured[:, column]
    return forces


def live_scene(env: Any) -> Any:
    """Jacobians, mass matrix and wrenches of the running task."""
    from isaaclab_mirror.adapter.world import EmptyScene

    robot = env.scene["robot"]

    class LiveScene(EmptyScene):
        def jacobian(self, body: str) -> Any:
            index = robot.body_names.index(body) - (1 if robot.is_fixed_base else 0)
            return numbers(robot.data.body_link_jacobian_w)[:, index].astype(float)

        def mass_matrix(self) -> Any:
            return numbers(robot.data.mass_matrix).astype(float)

        def joint_wrench(self, bodies: Sequence[str]) -> Any:
            sensor = env.scene.sensors["joint_wrench"]
            columns = [sensor.body_names.index(name) for name in bodies]
            parts = (numbers(sensor.data.force), numbers(sensor.data.torque))
            return np.concatenate(parts, axis=-1)[:, columns]

    return LiveScene()


def contract_of(env: Any, robot_file: Path) -> Any:
    """From the task's config as a run folder has it, and the robot's file."""
    from isaaclab.utils.io import dump_yaml

    from isaaclab_mirror.contract.contract import Order, OrderSource
    from isaaclab_mirror.contract.loading import load_contract
    from isaaclab_mirror.contract.resolve import resolve_contract
    from isaaclab_mirror.contract.robot_file import load_robot_file

    with tempfile.TemporaryDirectory() as folder:
        dump_yaml(str(Path(folder) / "params" / "env.yaml"), env.cfg)
        contract = load_contract(folder, resolve=False)
    contract = replace(contract, robot=replace(contract.robot, variants={}))
    contract = resolve_contract(contract, load_robot_file(robot_file, contract.robot))
    robot = env.scene["robot"]
    if contract.joint_names != tuple(robot.joint_names):
        raise SystemExit(f"joint order: {contract.joint_names} here, {tuple(robot.joint_names)} in Isaac Lab")
    return replace(contract, bodies=Order(names=tuple(robot.body_names), source=OrderSource.RECORDING))


class Beside:
    """The adapter, driven by what the running task does at each of its own steps."""

    def __init__(self, env: Any, adapter: Any, far: Far) -> None:
        self.env, self.adapter, self.far = env, adapter, far
        self.robot = env.scene["robot"]
        self.result: Any = None
        self._wrap(env.scene, "write_data_to_sim", self.written)
        self._wrap(env.scene, "update", self.updated)
        self._wrap(env.termination_manager, "compute", self.ended)
        self._wrap(env.reward_manager, "compute", self.paid)
        self._wrap(env, "_reset_idx", self.was_reset)
        self.resets = 0
        self.stepping = False

    def _wrap(self, owner: Any, name: str, after: Any) -> None:
        original = getattr(owner, name)

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            before = self.before_writing() if name == "write_data_to_sim" and self.stepping else None
            result = original(*args, **kwargs)
            if self.stepping:
                after(before, *args)
            return result

        setattr(owner, name, wrapped)

    def before_writing(self) -> Any:
        """Isaac Lab's action terms have spoken; ours read the same state."""
        return self.adapter.apply(state_of(self.env))

    def written(self, commands: Any, *_: Any) -> None:
        """Its actuators have computed."""
        adapter, actuators = self.adapter, self.robot.actuators
        self.far("applied effort", adapter.world.applied_effort, numbers(actuators.applied_effort))
        target = actuators.target_command
        self.far("position target", commands.position, numbers(target.position))
        self.far("velocity target", commands.velocity, numbers(target.velocity))

    def updated(self, *_: Any) -> None:
        self.adapter.physics_stepped(state_of(self.env))

    def ended(self, *_: Any) -> None:
        self.result = self.adapter.step_done(state_of(self.env))
        manager = self.env.termination_manager
        self.far("terminated", self.result.terminated, numbers(manager.terminated))
        self.far("truncated", self.result.truncated, numbers(manager.time_outs))

    def paid(self, *_: Any) -> None:
        manager, terms = self.env.reward_manager, self.result.terms
        for index, name in enumerate(manager.active_terms):
            if name in terms:
                theirs = numbers(manager._step_reward)[:, index] * self.env.step_dt
                self.far(f"reward {name}", terms[name], theirs)

    def was_reset(self, _: Any, env_ids: Any) -> None:
        rows = numbers(env_ids).astype(int) if hasattr(env_ids, "detach") else np.asarray(env_ids)
        self.resets += len(rows)
        self.adapter.reset(state_of(self.env), rows)

    def hold_commands(self) -> None:
        """What the task drew."""
        for name in self.env.command_manager.active_terms:
            values = numbers(self.env.command_manager.get_command(name)).astype(float)
            if values.shape[-1] == 7:
                values = np.concatenate([values[:, :3], wxyz(values[:, 3:])], axis=-1)
            if name in self.adapter.world.commands:
                self.adapter.set_command(name, values)

    def observed(self) -> None:
        """Compare every group's terms with what the task just returned."""
        manager = self.env.observation_manager
        for group in self.adapter.contract.policy_groups:
            ours = self.adapter.observe(state_of(self.env))[group]
            theirs = manager._obs_buffer[group]
            if isinstance(theirs, dict):
                for name, value in theirs.items():
                    self.far(f"observation {name}", ours[name], numbers(value))
                continue
            theirs, start = numbers(theirs), 0
            for name, size in self.adapter.observation_sizes[group].items():
                part = slice(start, start + size)
                self.far(f"observation {name}", ours[:, part], theirs[:, part])
                start += size
            if start != theirs.shape[-1]:
                raise SystemExit(f"group {group}: {start} values here, {theirs.shape[-1]} in Isaac Lab")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task")
    parser.add_argument("--assets", type=Path, required=True)
    parser.add_argument("--robot", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--action-scale", type=float, default=1.0)
    parser.add_argument("--motors", choices=MOTORS, default=None)
    parser.add_argument("--ik", choices=("pose_abs", "pose_rel", "position_rel"), default=None)
    os.environ["ISAACSIM_ASSET_ROOT"] = str(parser.parse_known_args()[0].assets)
    start_warp_on_the_cpu()
    from isaaclab.app import add_launcher_args, launch_simulation

    add_launcher_args(parser)
    args, overrides = parser.parse_known_args()
    args.device = "cpu"
    import gymnasium
    import isaaclab_tasks  # noqa: F401 - registers the tasks
    import torch
    from isaaclab_tasks.utils import resolve_task_config

    cfg, _ = resolve_task_config(args.task, None, overrides=["physics=ovphysx", *overrides])
    cfg.scene.num_envs, cfg.sim.device, cfg.seed = 2, "cpu", 42
    if args.motors:
        change_motors(cfg, args.motors)
    if args.ik:
        change_to_ik(cfg, args.ik)
    far = Far()
    with launch_simulation(cfg, args):
        env = gymnasium.make(args.task, cfg=cfg).unwrapped
        from isaaclab_mirror.adapter.adapter import Adapter

        robot = env.scene["robot"]
        adapter = Adapter(
            contract_of(env, args.robot),
            joint_names=robot.joint_names,
            link_names=robot.body_names,
            env_count=2,
            scene=live_scene(env),
        )
        adapter.measure_efforts()
        beside = Beside(env, adapter, far)
        env.reset(seed=42)
        adapter.reset(state_of(env), by_hand=True)
        generator = torch.Generator().manual_seed(0)
        for step in range(args.steps + 1):
            beside.hold_commands()
            beside.observed()
            if step == args.steps:
                break
            action = (torch.rand((2, adapter.action_size), generator=generator) * 2 - 1) * args.action_scale
            follow_lags(env, adapter)
            adapter.process(action.numpy())
            beside.stepping = True
            with torch.inference_mode():
                env.step(action)
            beside.stepping = False
            processed = [
                numbers(env.action_manager.get_term(n).processed_actions) for n in env.action_manager.active_terms
            ]
            far("processed action", adapter.actions.processed, np.concatenate(processed, axis=-1))
            world = adapter.world
            far("episode steps", world.episode_steps, numbers(env.episode_length_buf))
        report = {
            "task": args.task,
            "steps": args.steps,
            "resets": beside.resets,
            "error": far.error,
            "scale": far.scale,
            "missing": [str(one) for one in adapter.missing],
            "joints": list(robot.joint_names),
        }
        print("LIVE " + json.dumps(report), flush=True)
        env.close()


def change_motors(cfg: Any, kind: str) -> None:
    """The robot's legs with another of Isaac Lab's motor classes, run by the classes themselves."""
    from isaaclab.actuators import (
        ActuatorNetLSTMCfg,
        ActuatorNetMLPCfg,
        DelayedPDActuatorCfg,
        IdealPDActuatorCfg,
        RemotizedPDActuatorCfg,
    )

    motor: dict[str, Any] = {"joint_names_expr": [".*"], "actuator_effort_limit": 12.0, "actuator_velocity_limit": 30.0}
    motor |= {"saturation_effort": 15.0}
    common: dict[str, Any] = {"joint_names_expr": [".*"], "stiffness": 25.0, "damping": 0.5}
    common |= {"actuator_effort_limit": 12.0, "actuator_velocity_limit": 30.0}
    made = {
        "ideal_pd": lambda: IdealPDActuatorCfg(**common),
        "delayed_pd": lambda: DelayedPDActuatorCfg(**common, min_delay=0, max_delay=4),
        "remotized_pd": lambda: RemotizedPDActuatorCfg(
            **common,
            min_delay=0,
            max_delay=2,
            joint_parameter_lookup=[[-2.0, 1.0, 3.0], [0.0, 1.0, 9.0], [2.0, 1.0, 5.0]],
        ),
        "net_mlp": lambda: ActuatorNetMLPCfg(
            **motor,
            network_file=save_network(kind),
            pos_scale=-1.0,
            vel_scale=0.05,
            torque_scale=40.0,
            input_order="pos_vel",
            input_idx=[0, 2, 4],
        ),
        "net_lstm": lambda: ActuatorNetLSTMCfg(**motor, network_file=save_network(kind)),
    }
    cfg.sim.use_newton_actuators = False
    cfg.scene.robot.actuators = {"legs": made[kind]()}


def save_network(kind: str) -> str:
    """A small random network as TorchScript, of the structure that Isaac Lab's published ones have."""
    import torch

    torch.manual_seed(3)

    class Recurrent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(2, 8, 2, batch_first=True)
            self.fc = torch.nn.Linear(8, 1)

        def forward(self, x: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor]) -> Any:
            y, state = self.lstm(x, state)
            return 20.0 * self.fc(y[:, -1]), state

    layers = (torch.nn.Linear(6, 8), torch.nn.Softsign(), torch.nn.Linear(8, 1))
    network = Recurrent() if kind == "net_lstm" else torch.nn.Sequential(*layers)
    if kind == "net_lstm":
        state = (torch.zeros(2, 1, 8), torch.zeros(2, 1, 8))
        script = torch.jit.trace(network.eval(), (torch.zeros(1, 1, 2), state))
    else:
        script = torch.jit.script(network.eval())
    path = Path(tempfile.mkdtemp()) / f"{kind}.pt"
    script.save(str(path))
    return str(path)


def change_to_ik(cfg: Any, kind: str) -> None:
    """The arm moved by differential inverse kinematics, of a frame off the hand's origin."""
    from isaaclab.controllers import DifferentialIKControllerCfg
    from isaaclab.envs.mdp.actions.actions_cfg import DifferentialInverseKinematicsActionCfg

    command, _, mode = kind.partition("_")
    controller = DifferentialIKControllerCfg(command_type=command, use_relative_mode=mode == "rel", ik_method="dls")
    cfg.actions.arm_action = DifferentialInverseKinematicsActionCfg(
        asset_name="robot",
        joint_names=["panda_joint.*"],
        body_name="panda_hand",
        controller=controller,
        scale=0.5,
        body_offset=DifferentialInverseKinematicsActionCfg.OffsetCfg(pos=(0.03, 0.0, 0.107), rot=(0.0, 0.6, 0.0, 0.8)),
    )


def follow_lags(env: Any, adapter: Any) -> None:
    """Delays are drawn at a reset: the adapter takes those that the task drew."""
    from isaaclab_mirror.adapter.motor_models import DelayedPD

    groups = getattr(env.scene["robot"].actuators, "_groups", {})
    for model, _ in adapter.motors.models:
        group = groups.get(model.group.name)
        if isinstance(model, DelayedPD) and hasattr(group, "positions_delay_buffer"):
            model.delay.lags[:] = numbers(group.positions_delay_buffer.time_lags)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # the engine's threads do not end by themselves
