"""One random moment as our World and as what Isaac Lab's own functions read, without a simulator.

The functions read `env.scene[…].data` and managers: a stub offers both sides the same random numbers.
"""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import numpy as np

ENVS = 7
JOINTS = ("hip", "knee", "ankle", "finger_joint1", "finger_joint2")
BODIES = ("base", "left_foot", "right_foot", "left_hand_back", "right_hand")
GEARS = ("factory_gear_small", "factory_gear_medium", "factory_gear_large", "factory_gear_base")
OBJECTS = ("object", "cube_1", "cube_2", "cube_3", *GEARS)
FRAMES = ("ee_frame", "cabinet_frame")


class Indices(list[int]):
    """Isaac Lab's proxy of joint numbers."""

    @property
    def torch(self) -> Any:
        import torch

        return torch.tensor(list(self))

    @property
    def warp(self) -> list[int]:
        return list(self)


class Read:
    """Isaac Lab's proxy of an array: `.torch`, or indexed directly."""

    def __init__(self, values: Any) -> None:
        import torch

        self.torch = torch.tensor(np.asarray(values), dtype=torch.float32)

    def __getitem__(self, index: Any) -> Any:
        return self.torch[index]


def xyzw(quat: Any) -> Any:
    return np.asarray(quat)[..., [1, 2, 3, 0]]


def quats(rng: np.random.Generator, *shape: int) -> Any:
    quat = rng.standard_normal((*shape, 4))
    return quat / np.linalg.norm(quat, axis=-1, keepdims=True)


class Both:
    """One random moment, as our World and as a stub of Isaac Lab's environment."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        states = {name: self._state((), ("body",)) for name in OBJECTS}
        states["cabinet"] = self._state(("drawer", "door"), ("sektion", "handle"))
        self.states = states | {"robot": self._state(JOINTS, BODIES)}
        self.frames = {name: (rng.uniform(-1, 1, (ENVS, 3, 3)), quats(rng, ENVS, 3)) for name in FRAMES}
        self.forces = rng.uniform(-2, 2, (3, ENVS, len(BODIES), 3))
        self.times = rng.uniform(0, 0.6, (4, ENVS, len(BODIES))) * (rng.random((4, ENVS, len(BODIES))) > 0.3)
        self.efforts = rng.uniform(-5, 5, (2, ENVS, len(JOINTS)))
        self.actions = rng.uniform(-1, 1, (2, ENVS, len(JOINTS))).astype(np.float32)
        self.acc = rng.uniform(-9, 9, (ENVS, len(JOINTS)))
        self.commands = {"base_velocity": rng.uniform(-1, 1, (ENVS, 3)), "pose": self._pose(), "goal": self._pose()}
        self.commands["base_velocity"][:2] = 0.0
        self.commands["place"] = rng.uniform(-1, 1, (ENVS, 4))
        self.ends = rng.random((2, ENVS)) > 0.5
        self.steps = rng.integers(0, 400, ENVS)
        self.gears = rng.integers(0, 3, ENVS)
        self.world = self._world()
        self.env = self._env()

    def _pose(self) -> Any:
        return np.concatenate([self.rng.uniform(-1, 1, (ENVS, 3)), quats(self.rng, ENVS)], axis=-1)

    def _state(self, joints: tuple[str, ...], links: tuple[str, ...]) -> Any:
        from isaaclab_mirror.sims.state import LinkStates, State

        draw = lambda *shape: self.rng.uniform(-1, 1, (ENVS, *shape))  # noqa: E731
        count, bodies = len(joints), len(links)
        found = LinkStates(
            pos_w=draw(bodies, 3),
            quat_wxyz=quats(self.rng, ENVS, bodies),
            lin_vel_w=draw(bodies, 3),
            com_lin_vel_w=draw(bodies, 3),
            ang_vel_w=draw(bodies, 3),
        )
        return State(
            time_s=np.zeros(ENVS),
            root_pos_w=found.pos_w[:, 0],
            root_quat_wxyz=found.quat_wxyz[:, 0],
            root_lin_vel_w=found.lin_vel_w[:, 0],
            root_com_lin_vel_w=found.com_lin_vel_w[:, 0],
            root_ang_vel_w=found.ang_vel_w[:, 0],
            joint_names=joints,
            joint_pos=draw(count),
            joint_vel=draw(count) * 3.0,
            link_names=links,
            find_torque=lambda: np.zeros((ENVS, count)),
            find_contacts=lambda: np.zeros((ENVS, bodies, 3)),
            find_links=lambda: found,
        )

    # --- ours

    def _contract(self) -> Any:
        from isaaclab_mirror.contract import contract as c

        entities = [
            c.SceneEntity(name=name, kind=c.EntityKind.ARTICULATION if name == "cabinet" else c.EntityKind.RIGID_OBJECT)
            for name in self.states
            if name != "robot"
        ]
        default = dict(zip(JOINTS, (0.1, -0.2, 0.3, 0.04, 0.04), strict=True))
        return c.Contract(
            name="stub",
            source=c.SourceInfo(kind=c.SourceKind.ISAACLAB_ENV, version="3.x"),
            sim=c.SimSpec(dt=0.005, decimation=4, episode_length_s=8.0),
            quat_order="xyzw",
            robot=c.RobotSpec(
                default_joint_pos=default,
                default_joint_vel=dict.fromkeys(JOINTS, 0.0),
                joint_limits=dict.fromkeys(JOINTS, (-0.5, 0.5)),
            ),
            joints=c.Order(names=JOINTS),
            bodies=c.Order(names=BODIES),
            actuators=(
                c.ActuatorGroup(
                    name="all",
                    kind=c.ActuatorKind.IMPLICIT,
                    joints=JOINTS,
                    velocity_limit=(1.5,) * 5,
                    velocity_limit_sim=(1.2,) * 5,
                ),
            ),
            actions=(c.ActionTerm(name="joint_pos", kind="JointPositionAction", joints=JOINTS),),
            scene=tuple(entities),
            extras={"gripper_joint_names": ["finger_joint.*"], "gripper_open_val": 0.04, "gripper_threshold": 0.005},
        )

    def _world(self) -> Any:
        from isaaclab_mirror.adapter.action_manager import ActionManager
        from isaaclab_mirror.adapter.registry import load_built_in
        from isaaclab_mirror.adapter.sensors import ContactSensor, FrameTransformer
        from isaaclab_mirror.adapter.world import EmptyScene, Layout, World

        load_built_in()
        both = self

        class Scene(EmptyScene):
            def asset(self, name: str) -> Any:
                return both.states[name]

        class Frames(FrameTransformer):
            def __init__(self, pos: Any, quat: Any) -> None:
                self._pos, self._quat = pos, quat
                self.body_names = ("a", "b", "c")

            def target(self, world: Any, index: int) -> Any:
                return self._pos[:, index], self._quat[:, index]

            def in_source(self, world: Any, index: int) -> Any:
                return self.target(world, index)  # the stub offers the same numbers there

            @property
            def count(self) -> int:
                return self._pos.shape[1]

        class Contacts(ContactSensor):
            def __init__(self) -> None:
                self.body_names = BODIES
                self.force = both.forces[0]
                self._squares = (both.forces**2).sum(axis=-1)
                self.current_air_time, self.last_air_time = both.times[:2]
                self.current_contact_time, self.last_contact_time = both.times[2:]

        contract = self._contract()
        layout = Layout.of(JOINTS, BODIES, JOINTS, BODIES)
        world = World(contract, layout, ENVS, Scene(), np.random.default_rng(0))
        world.actions = ActionManager(world)
        world.actions.action[:], world.actions.previous[:] = self.actions
        world.actions.targets.position[:] = self.actions[0] * 0.5
        world.actions.terms[0].processed = self.actions[0] * 0.5
        world.sensors = {name: Frames(*values) for name, values in self.frames.items()} | {"contacts": Contacts()}
        world.commands = {
            name: SimpleNamespace(value=value, config={"orientation_success_threshold": 1.5})
            for name, value in self.commands.items()
        }
        world.computed, world.applied = self.efforts
        world.speeds = (np.zeros_like(self.acc), self.acc, 1.0)
        world.terminated, world.time_outs = self.ends
        world.ends = {"fell": self.ends[0], "time_out": self.ends[1]}
        world.episode_steps = self.steps
        world.drawn["gear_type"] = self.gears
        world.update(self.states["robot"])
        return world

    # --- Isaac Lab's

    def _data(self, name: str) -> Any:
        asset = self.world.asset(name)
        state = asset.state
        robot_only: dict[str, Any] = {}
        if name in ("robot", "cabinet"):
            defaults = asset.defaults
            tiled = lambda row: np.tile(row, (ENVS,) + (1,) * np.ndim(row))  # noqa: E731
            robot_only = {
                "default_joint_pos": tiled(defaults.joint_pos),
                "default_joint_vel": tiled(defaults.joint_vel),
                "soft_joint_pos_limits": tiled(defaults.soft_limits),
                "soft_joint_vel_limits": tiled(defaults.velocity_limits),
                "joint_vel_limits": tiled(defaults.solver_velocity_limits),
                "joint_acc": self.world.joint_acc if name == "robot" else tiled(defaults.joint_pos),
            }
        bodies, quat = state.link_pos_w, xyzw(state.link_quat_wxyz)
        root_quat = xyzw(state.root_quat_wxyz)
        com, angular, link = state.link_com_lin_vel_w, state.link_ang_vel_w, state.link_lin_vel_w
        values = robot_only | {
            "joint_pos": state.joint_pos,
            "joint_vel": state.joint_vel,
            "root_pos_w": state.root_pos_w,
            "root_link_pos_w": state.root_pos_w,
            "root_quat_w": root_quat,
            "root_link_quat_w": root_quat,
            "root_lin_vel_w": state.root_com_lin_vel_w,
            "root_ang_vel_w": state.root_ang_vel_w,
            "root_vel_w": np.concatenate([state.root_com_lin_vel_w, state.root_ang_vel_w], axis=-1),
            "root_lin_vel_b": asset.root_lin_vel_b,
            "root_ang_vel_b": asset.root_ang_vel_b,
            "projected_gravity_b": asset.projected_gravity,
            "heading_w": asset.heading,
            "body_pos_w": bodies,
            "body_link_pos_w": bodies,
            "body_quat_w": quat,
            "body_link_quat_w": quat,
            "body_pose_w": np.concatenate([bodies, quat], axis=-1),
            "body_link_pose_w": np.concatenate([bodies, quat], axis=-1),
            "body_lin_vel_w": com,
            "body_com_lin_vel_w": com,
            "body_ang_vel_w": angular,
            "body_vel_w": np.concatenate([com, angular], axis=-1),
            "body_link_vel_w": np.concatenate([link, angular], axis=-1),
            "GRAVITY_VEC_W": np.tile([0.0, 0.0, -1.0], (ENVS, 1)),
            "FORWARD_VEC_B": np.tile([1.0, 0.0, 0.0], (ENVS, 1)),
        }
        data = SimpleNamespace(**{key: Read(value) for key, value in values.items()})
        data.body_names = list(state.link_names)
        return data

    def _asset(self, name: str) -> Any:
        names, bodies = list(self.states[name].joint_names), list(self.states[name].link_names)

        def find(among: list[str]) -> Any:
            from isaaclab.utils.string import resolve_matching_names

            def resolve(keys: Any, preserve_order: bool = False, as_proxy: bool = False) -> Any:
                ids, found = resolve_matching_names(keys, among, preserve_order)
                if as_proxy:
                    return Indices(ids), found
                return ids, found

            return resolve

        efforts = {"computed_effort": Read(self.efforts[0]), "applied_effort": Read(self.efforts[1])}
        target = SimpleNamespace(position=Read(self.actions[0] * 0.5))
        return SimpleNamespace(
            data=self._data(name),
            find_joints=find(names),
            find_bodies=find(bodies),
            joint_names=names,
            num_joints=len(names),
            actuators=SimpleNamespace(**efforts, target_command=target),
        )

    def _env(self) -> Any:
        import torch

        class Scene(dict[str, Any]):
            env_origins = torch.zeros(ENVS, 3)

        scene = Scene({name: self._asset(name) for name in self.states})
        for name, (pos, quat) in self.frames.items():
            places, turns = Read(pos), Read(xyzw(quat))
            frame = {"target_pos_w": places, "target_quat_w": turns}
            frame |= {"target_pos_source": places, "target_quat_source": turns}
            scene[name] = SimpleNamespace(data=SimpleNamespace(**frame))
        times = dict(
            zip(
                ("current_air_time", "last_air_time", "current_contact_time", "last_contact_time"),
                map(Read, self.times),
                strict=True,
            )
        )
        contact = self.times[2]
        sensor = SimpleNamespace(
            data=SimpleNamespace(
                net_normal_forces_w=Read(self.forces[0]),
                net_normal_forces_w_history=Read(np.moveaxis(self.forces, 0, 1)),
                **times,
            ),
            cfg=SimpleNamespace(track_air_time=True),
            compute_first_contact=lambda dt: Read((contact > 0.0) & (contact < dt + 1e-8)),
            find_sensors=lambda keys: ([BODIES.index(key) for key in keys], keys),
        )
        scene["contacts"] = sensor
        scene.sensors = {"contacts": sensor}  # type: ignore[attr-defined]
        tensors = {name: Read(value).torch for name, value in self.commands.items()}
        for name in ("pose", "goal"):
            tensors[name] = Read(
                np.concatenate([self.commands[name][:, :3], xyzw(self.commands[name][:, 3:])], -1)
            ).torch
        terms = {
            name: SimpleNamespace(
                command=value,
                pos_command_e=value[:, :3],
                quat_command_w=value[:, 3:],
                cfg=SimpleNamespace(orientation_success_threshold=1.5),
            )
            for name, value in tensors.items()
        }
        ends = {"fell": torch.tensor(self.ends[0]), "time_out": torch.tensor(self.ends[1])}
        return SimpleNamespace(
            num_envs=ENVS,
            device="cpu",
            step_dt=0.02,
            episode_length_buf=torch.tensor(self.steps),
            max_episode_length=400,
            max_episode_length_s=8.0,
            scene=scene,
            extras={},
            _gear_type_manager=SimpleNamespace(get_all_gear_type_indices=lambda: torch.tensor(self.gears)),
            command_manager=SimpleNamespace(get_command=tensors.__getitem__, get_term=terms.__getitem__),
            action_manager=SimpleNamespace(
                action=Read(self.actions[0]).torch,
                prev_action=Read(self.actions[1]).torch,
                total_action_dim=len(JOINTS),
                get_term=lambda name: SimpleNamespace(
                    processed_actions=Read(self.actions[0] * 0.5).torch, raw_actions=Read(self.actions[0]).torch
                ),
            ),
            termination_manager=SimpleNamespace(
                terminated=ends["fell"],
                time_outs=ends["time_out"],
                get_term=ends.__getitem__,
                find_terms=lambda keys: ["fell"],
            ),
            cfg=SimpleNamespace(gripper_joint_names=["finger_joint.*"], gripper_open_val=0.04, gripper_threshold=0.005),
        )

    # --- both

    def genuine(self, func: str, params: dict[str, Any]) -> Any:
        from isaaclab.managers import SceneEntityCfg

        module, _, name = func.rpartition(":")
        made = getattr(importlib.import_module(module), name)
        resolved: dict[str, Any] = {}
        for key, value in params.items():
            resolved[key] = value
            if isinstance(value, dict) and "name" in value:
                entity = SceneEntityCfg(value["name"])
                asset = value["name"] if value["name"] in self.states else "robot"
                if "joint_names" in value:
                    entity.joint_ids = self.env.scene[asset].find_joints(value["joint_names"])[0]
                if "body_names" in value:
                    entity.body_ids = self.env.scene[asset].find_bodies(value["body_names"])[0]
                resolved[key] = entity
        if isinstance(made, type):
            cfg = SimpleNamespace(params=resolved)
            instance = object.__new__(made)
            instance.cfg, instance._env = cfg, self.env  # what the base class would set
            made.__init__(instance, cfg, self.env)
            made = instance
        result = made(self.env, **resolved)
        return np.asarray(result.torch if hasattr(result, "torch") else result, dtype=float)

    def ours(self, registry: Any, func: str, params: dict[str, Any]) -> Any:
        from isaaclab_mirror.adapter.terms import BoundTerm

        whole = {"joint_names": None, "body_names": None}  # as env.yaml has every SceneEntityCfg
        params = {
            key: whole | value if isinstance(value, dict) and "name" in value else value
            for key, value in params.items()
        }
        return np.asarray(BoundTerm(registry, func, params, self.world, func)(), dtype=float)
