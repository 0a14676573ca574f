"""Recordings of genuine Isaac Lab 3 environments, as a contract and States."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.adapter import Adapter
from isaaclab_mirror.adapter.world import EmptyScene, Scene
from isaaclab_mirror.contract.actions import resolve_action
from isaaclab_mirror.contract.contract import Contract, Order, OrderSource
from isaaclab_mirror.contract.loading import load_contract
from isaaclab_mirror.contract.resolve import resolve_contract
from isaaclab_mirror.contract.robot_file import load_robot_file
from isaaclab_mirror.sims.state import LinkStates, State

ROBOTS = {
    "Isaac-Cartpole": "Classic/Cartpole/cartpole.usd",
    "Isaac-Velocity-Flat-UnitreeGo2": "Unitree/Go2/go2.usd",
    "Isaac-Velocity-Flat-H1": "Unitree/H1/h1_minimal.usd",
    "Isaac-Reach-Franka": "FrankaEmika/franka_panda.usda",
    "Isaac-Reach-Franka-OSC": "FrankaEmika/franka_panda.usda",
}
"""The stand-in of each task's robot under the recordings' asset root; Ant's is in newton's wheel."""

TASKS = (*ROBOTS, "Isaac-Ant")


@dataclass
class Recording:
    """One `<task>.npz`."""

    task: str
    folder: Path
    """Of the shared files."""

    @cached_property
    def arrays(self) -> dict[str, Any]:
        with np.load(self.folder / "isaaclab-recordings" / f"{self.task}.npz") as file:
            return {name: file[name] for name in file.files}

    @cached_property
    def meta(self) -> dict[str, Any]:
        return json.loads(str(self.arrays["meta_json"]))

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(self.meta["joint_names"])

    @property
    def body_names(self) -> tuple[str, ...]:
        return tuple(self.meta["body_names"])

    @property
    def env_count(self) -> int:
        return int(self.meta["num_envs"])

    @property
    def steps(self) -> int:
        return len(self.arrays["action"])

    @cached_property
    def robot_file(self) -> Path:
        return self.folder / "isaaclab-recordings/assets/Isaac/IsaacLab/Robots" / ROBOTS[self.task]

    @cached_property
    def contract(self) -> Contract:
        """Of the task's env.yaml, with the stand-in robot that was recorded."""
        contract = load_contract(self.folder / "isaaclab-configs" / self.task, resolve=False)
        if self.task == "Isaac-Ant":
            return resolved_by_constants(contract, self)
        contract = replace(contract, robot=replace(contract.robot, variants={}))  # the stand-ins have none
        return resolve_contract(contract, load_robot_file(self.robot_file, contract.robot))

    def adapter(self, contract: Contract | None = None, scene: Scene | None = None, **options: Any) -> Adapter:
        """Of the contract, for States of this recording."""
        return Adapter(
            contract or self.contract,
            joint_names=self.joint_names,
            link_names=self.body_names,
            env_count=self.env_count,
            scene=scene or EmptyScene(),
            **options,
        )

    def state(self, step: int, substep: int | None = None, **changes: Any) -> State:
        """Before a step; with `substep`, after that many physics steps of it less one: joints alone are recorded."""
        arrays = self.arrays
        joint_pos, joint_vel = arrays["joint_pos"][step], arrays["joint_vel"][step]
        if substep is not None:
            joint_pos, joint_vel = arrays["sub_joint_pos"][step, :, substep], arrays["sub_joint_vel"][step, :, substep]
        origins = arrays["const/env_origins"]
        root, root_vel = arrays["root_link_pose_w"][step], arrays["root_com_vel_w"][step]
        bodies, body_vel = arrays["body_link_pose_w"][step], arrays["body_com_vel_w"][step]
        links = LinkStates(
            pos_w=bodies[..., :3] - origins[:, None].astype(float),
            quat_wxyz=wxyz(bodies[..., 3:]),
            lin_vel_w=np.full((*body_vel.shape[:2], 3), np.nan),
            com_lin_vel_w=body_vel[..., :3].astype(float),
            ang_vel_w=body_vel[..., 3:].astype(float),
        )
        fields: dict[str, Any] = {
            "time_s": np.zeros(self.env_count),
            "root_pos_w": root[:, :3] - origins.astype(float),
            "root_quat_wxyz": wxyz(root[:, 3:]),
            "root_lin_vel_w": np.full((self.env_count, 3), np.nan),
            "root_com_lin_vel_w": root_vel[:, :3].astype(float),
            "root_ang_vel_w": root_vel[:, 3:].astype(float),
            "joint_names": self.joint_names,
            "joint_pos": joint_pos.astype(float),
            "joint_vel": joint_vel.astype(float),
            "link_names": self.body_names,
            "find_torque": lambda: np.zeros_like(joint_pos),
            "find_contacts": lambda: np.zeros((*bodies.shape[:2], 3)),
            "find_links": lambda: links,
        }
        return State(**(fields | changes))

    def hold_commands(self, adapter: Adapter, step: int) -> None:
        """Give the adapter the recorded commands."""
        for name in self.meta["command_terms"]:
            values = self.arrays[f"command/{name}"][step].astype(float)
            if values.shape[-1] == 7:
                values = np.concatenate([values[:, :3], wxyz(values[:, 3:])], axis=-1)
            adapter.set_command(name, values)

    def observations(self) -> list[tuple[str, slice]]:
        """Terms of the policy's group and where they stand."""
        found: list[tuple[str, slice]] = []
        start = 0
        for name, shape in self.meta["observation_terms"]["policy"]:
            size = int(np.prod(shape))
            found.append((name, slice(start, start + size)))
            start += size
        return found


def resolved_by_constants(contract: Contract, recording: Recording) -> Contract:
    """The contract of a task whose robot is not at hand, with the joints and limits that were recorded."""
    names, arrays = recording.joint_names, recording.arrays

    def by_name(key: str) -> dict[str, float]:
        return dict(zip(names, arrays[f"const/{key}"].astype(float).tolist(), strict=True))

    limits = dict(zip(names, map(tuple, arrays["const/joint_pos_limits"].astype(float).tolist()), strict=True))
    robot = replace(
        contract.robot,
        default_joint_pos=by_name("default_joint_pos"),
        default_joint_vel=by_name("default_joint_vel"),
        joint_limits=limits,
    )
    groups = tuple(
        replace(
            group,
            joints=names,
            stiffness=tuple(by_name("joint_stiffness").values()),
            damping=tuple(by_name("joint_damping").values()),
            effort_limit=tuple(by_name("joint_effort_limits").values()),
        )
        for group in contract.actuators
    )
    actions = tuple(resolve_action(term, contract, robot, names, recording.task) for term in contract.actions)
    joints = Order(names=names, source=OrderSource.RECORDING)
    bodies = Order(names=recording.body_names, source=OrderSource.RECORDING)
    return replace(contract, robot=robot, actuators=groups, actions=actions, joints=joints, bodies=bodies)


def wxyz(quat_xyzw: Any) -> Any:
    """Isaac Lab 3's order to ours."""
    return np.asarray(quat_xyzw, dtype=float)[..., [3, 0, 1, 2]]
