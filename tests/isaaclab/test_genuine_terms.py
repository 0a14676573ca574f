"""Terms of the shipped tasks against the genuine functions of Isaac Lab 3, on random states, without a simulator.

The functions read `env.scene[…].data` and managers: a stub offers both sides the same random numbers.
"""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.isaaclab

ENVS = 7
JOINTS = ("hip", "knee", "ankle", "finger_joint1", "finger_joint2")
BODIES = ("base", "left_foot", "right_foot", "left_hand_back", "right_hand")
CORE, CONTRIB = "isaaclab_tasks.core", "isaaclab_tasks.contrib"
VELOCITY = f"{CORE}.velocity.mdp.rewards"
SPOT = f"{CONTRIB}.velocity.config.spot.mdp.rewards"
LEGS = f"{CONTRIB}.dr_legs.mdp.rewards"
CABINET = f"{CORE}.cabinet.mdp"
BASE = "isaaclab.envs.mdp"


@pytest.fixture(scope="module")
def both(isaaclab_version: str) -> Both:
    if isaaclab_version != "3.0.0":
        pytest.skip("needs Isaac Lab 3.0.0")
    return Both(np.random.default_rng(0))


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

            return lambda keys, preserve_order=False: resolve_matching_names(keys, among, preserve_order)

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


GEARS = ("factory_gear_small", "factory_gear_medium", "factory_gear_large", "factory_gear_base")
OBJECTS = ("object", "cube_1", "cube_2", "cube_3", *GEARS)
FRAMES = ("ee_frame", "cabinet_frame")
FEET = {"name": "robot", "body_names": [".*_foot"]}
SENSED = {"name": "contacts", "body_names": [".*_foot"]}
HAND = {"name": "robot", "body_names": ["right_hand"]}
FINGERS = {"name": "robot", "joint_names": ["finger_joint.*"]}
LEGS_ONLY = {"name": "robot", "joint_names": ["hip", "knee"]}
DRAWER = {"name": "cabinet", "joint_names": ["drawer"]}
TRACK = {"std": 0.5, "command_name": "base_velocity"}
DEPLOY = f"{CONTRIB}.deploy.mdp"
SHAFTS = {"gear_small": [0.1, 0.2, 0.3], "gear_medium": [-0.1, 0.0, 0.2], "gear_large": [0.3, -0.2, 0.0]}
GRASP = {
    "end_effector_body_name": "right_hand",
    "grasp_rot_offset": [0.6, 0.0, 0.0, 0.8],
    "robot_asset_cfg": {"name": "robot"},
}
KEYPOINTS = {
    "command_name": "pose",
    "asset_cfg": {"name": "ee_frame"},
    "keypoint_scale": 0.45,
    "add_cube_center_kp": True,
}
FAR = (1000.0, 3.0, 0.0)

OBSERVATIONS: list[tuple[str, dict[str, Any]]] = [
    *((f"{BASE}.observations:{name}", {}) for name in ("base_pos_z", "base_lin_vel", "base_ang_vel", "root_pos_w")),
    *((f"{BASE}.observations:{name}", {}) for name in ("root_lin_vel_w", "root_ang_vel_w", "projected_gravity")),
    (f"{BASE}.observations:root_quat_w", {"make_quat_unique": True}),
    (f"{BASE}.observations:body_pose_w", {"asset_cfg": FEET}),
    (f"{BASE}.observations:body_projected_gravity_b", {}),
    (f"{BASE}.observations:joint_pos_limit_normalized", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.observations:joint_pos_rel", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.observations:joint_vel_rel", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.observations:joint_effort", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.observations:current_time_s", {}),
    (f"{BASE}.observations:remaining_time_s", {}),
    (f"{CORE}.locomotion.mdp.observations:base_yaw_roll", {}),
    (f"{CORE}.locomotion.mdp.observations:base_up_proj", {}),
    (f"{CORE}.locomotion.mdp.observations:base_heading_proj", {"target_pos": FAR}),
    (f"{CORE}.locomotion.mdp.observations:base_angle_to_target", {"target_pos": FAR}),
    (f"{CONTRIB}.lift.mdp.observations:object_position_in_robot_root_frame", {}),
    (f"{CORE}.lift.mdp.observations:object_quat_b", {}),
    (f"{CORE}.lift.mdp.observations:body_state_b", {"body_asset_cfg": FEET, "base_asset_cfg": {"name": "robot"}}),
    *(
        (f"{CONTRIB}.stack.mdp.observations:{name}", {})
        for name in ("cube_positions_in_world_frame", "cube_orientations_in_world_frame", "object_obs")
    ),
    *((f"{CONTRIB}.stack.mdp.observations:{name}", {}) for name in ("ee_frame_pos", "ee_frame_quat", "gripper_pos")),
    (
        f"{CONTRIB}.stack.mdp.observations:object_grasped",
        {
            "robot_cfg": {"name": "robot"},
            "ee_frame_cfg": {"name": "ee_frame"},
            "object_cfg": {"name": "cube_2"},
            "diff_threshold": 1.2,
        },
    ),
    (
        f"{CONTRIB}.stack.mdp.observations:object_stacked",
        {
            "robot_cfg": {"name": "robot"},
            "upper_object_cfg": {"name": "cube_2"},
            "lower_object_cfg": {"name": "cube_1"},
            "xy_threshold": 2.0,
        },
    ),
    *(
        (f"{CABINET}.observations:{name}", {})
        for name in ("rel_ee_drawer_distance", "fingertips_pos", "ee_pos", "ee_quat")
    ),
    (f"{CONTRIB}.pick_place.mdp.observations:get_eef_pos", {"link_name": "right_hand"}),
    (f"{CONTRIB}.pick_place.mdp.observations:get_eef_quat", {"link_name": "right_hand"}),
    (f"{CONTRIB}.pick_place.mdp.observations:get_robot_joint_state", {"joint_names": ["finger.*", "hip"]}),
    (f"{CONTRIB}.pick_place.mdp.observations:get_all_robot_link_state", {}),
    (
        f"{CONTRIB}.pick_place.mdp.observations:object_obs",
        {"left_eef_link_name": "left_hand_back", "right_eef_link_name": "right_hand"},
    ),
    (
        f"{CORE}.reorient.mdp.observations:goal_quat_diff",
        {"asset_cfg": {"name": "object"}, "command_name": "goal", "make_quat_unique": True},
    ),
    (f"{CORE}.reorient.mdp.observations:fingertip_pos", {"asset_cfg": FEET}),
    (f"{CORE}.reorient.mdp.observations:fingertip_vel", {"asset_cfg": FEET}),
    (f"{CONTRIB}.dr_legs.mdp.observations:joint_position_setpoints", {}),
    (f"{CONTRIB}.dr_legs.mdp.observations:gait_phase", {"period": 0.7, "num_harmonics": 2}),
    (f"{DEPLOY}.observations:gear_shaft_pos_w", {"asset_cfg": {"name": "factory_gear_base"}, "gear_offsets": SHAFTS}),
    (f"{DEPLOY}.observations:gear_shaft_quat_w", {"asset_cfg": {"name": "factory_gear_base"}}),
    (f"{DEPLOY}.observations:gear_pos_w", {}),
    (f"{DEPLOY}.observations:gear_quat_w", {}),
    (f"{CORE}.fourbar_pole.mdp.observations:joint_pos_cos", {"asset_cfg": LEGS_ONLY}),
    (f"{CORE}.fourbar_pole.mdp.observations:joint_pos_sin", {"asset_cfg": LEGS_ONLY}),
]

REWARDS: list[tuple[str, dict[str, Any]]] = [
    *((f"{BASE}.rewards:{name}", {}) for name in ("is_alive", "is_terminated", "terminated_penalty", "lin_vel_z_l2")),
    *((f"{BASE}.rewards:{name}", {}) for name in ("ang_vel_xy_l2", "flat_orientation_l2", "joint_torques_l2")),
    *((f"{BASE}.rewards:{name}", {}) for name in ("joint_acc_l2", "joint_deviation_l1", "joint_pos_limits")),
    *((f"{BASE}.rewards:{name}", {}) for name in ("applied_torque_limits", "action_rate_l2", "action_l2")),
    (f"{BASE}.rewards:is_terminated_term", {"term_keys": ["fell"]}),
    (f"{BASE}.rewards:base_height_l2", {"target_height": 0.4}),
    (f"{BASE}.rewards:joint_vel_l1", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.rewards:joint_vel_l2", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.rewards:joint_pos_target_l2", {"target": 0.2, "asset_cfg": LEGS_ONLY}),
    (f"{BASE}.rewards:joint_vel_limits", {"soft_ratio": 0.5}),
    (f"{BASE}.rewards:undesired_contacts", {"threshold": 2.0, "sensor_cfg": SENSED}),
    (f"{BASE}.rewards:desired_contacts", {"threshold": 2.5, "sensor_cfg": SENSED}),
    (f"{BASE}.rewards:contact_forces", {"threshold": 1.0, "sensor_cfg": SENSED}),
    (f"{BASE}.rewards:track_lin_vel_xy_exp", TRACK),
    (f"{BASE}.rewards:track_ang_vel_z_exp", TRACK),
    (f"{BASE}.rewards:position_command_error", {"command_name": "pose", "asset_cfg": HAND}),
    (f"{BASE}.rewards:position_command_error_tanh", {"std": 0.3, "command_name": "pose", "asset_cfg": HAND}),
    (f"{BASE}.rewards:orientation_command_error", {"command_name": "pose", "asset_cfg": HAND}),
    (f"{CONTRIB}.navigation.mdp.rewards:position_command_error_tanh", {"std": 0.3, "command_name": "place"}),
    (f"{CONTRIB}.navigation.mdp.rewards:heading_command_error_abs", {"command_name": "place"}),
    (f"{VELOCITY}:feet_air_time", {"command_name": "base_velocity", "sensor_cfg": SENSED, "threshold": 0.2}),
    (
        f"{VELOCITY}:feet_air_time_positive_biped",
        {"command_name": "base_velocity", "sensor_cfg": SENSED, "threshold": 0.4},
    ),
    (f"{VELOCITY}:feet_air_time_variance", {"command_name": "base_velocity", "sensor_cfg": SENSED}),
    (f"{VELOCITY}:feet_slide", {"sensor_cfg": SENSED, "asset_cfg": FEET}),
    (f"{VELOCITY}:track_lin_vel_xy_yaw_frame_exp", TRACK),
    (f"{VELOCITY}:track_ang_vel_z_world_exp", TRACK),
    (f"{VELOCITY}:stand_still_joint_deviation_l1", {"command_name": "base_velocity"}),
    (f"{SPOT}:base_angular_velocity_reward", {"asset_cfg": {"name": "robot"}, "std": 2.0}),
    (f"{SPOT}:base_linear_velocity_reward", {"asset_cfg": {"name": "robot"}, "std": 1.0}),
    (f"{SPOT}:foot_clearance_reward", {"asset_cfg": FEET, "target_height": 0.1, "std": 0.05, "tanh_mult": 2.0}),
    (f"{SPOT}:action_smoothness_penalty", {}),
    (f"{SPOT}:air_time_variance_penalty", {"sensor_cfg": SENSED}),
    (f"{SPOT}:base_motion_penalty", {"asset_cfg": {"name": "robot"}}),
    (f"{SPOT}:base_orientation_penalty", {"asset_cfg": {"name": "robot"}}),
    (f"{SPOT}:foot_slip_penalty", {"asset_cfg": FEET, "sensor_cfg": SENSED, "threshold": 1.0}),
    (f"{SPOT}:joint_acceleration_penalty", {"asset_cfg": {"name": "robot"}}),
    (
        f"{SPOT}:joint_position_penalty",
        {"asset_cfg": {"name": "robot"}, "stand_still_scale": 5.0, "velocity_threshold": 0.5},
    ),
    (f"{SPOT}:joint_torques_penalty", {"asset_cfg": {"name": "robot"}}),
    (f"{SPOT}:joint_velocity_penalty", {"asset_cfg": {"name": "robot"}}),
    (
        f"{SPOT}:GaitReward",
        {
            "std": 0.1,
            "max_err": 0.2,
            "velocity_threshold": 0.5,
            "synced_feet_pair_names": (("left_foot", "right_hand"), ("right_foot", "left_hand_back")),
            "asset_cfg": {"name": "robot"},
            "sensor_cfg": {"name": "contacts"},
        },
    ),
    (f"{CORE}.locomotion.mdp.rewards:upright_posture_bonus", {"threshold": 0.2}),
    (f"{CORE}.locomotion.mdp.rewards:move_to_target_bonus", {"threshold": 0.8, "target_pos": FAR}),
    (f"{CORE}.locomotion.mdp.rewards:power_consumption", {"gear_ratio": {"hip": 2.0}, "asset_cfg": {"name": "robot"}}),
    (
        f"{CORE}.locomotion.mdp.rewards:joint_pos_limits_penalty_ratio",
        {"threshold": 0.6, "gear_ratio": {"hip|knee": 3.0}, "asset_cfg": {"name": "robot"}},
    ),
    (
        f"{CORE}.fourbar_pole.mdp.rewards:pole_upright",
        {"asset_cfg": LEGS_ONLY, "success_threshold": 0.9, "hold_time_s": 0.5},
    ),
    (f"{DEPLOY}.rewards:keypoint_command_error", KEYPOINTS),
    (
        f"{DEPLOY}.rewards:keypoint_command_error_exp",
        KEYPOINTS | {"kp_exp_coeffs": [(1.0, 0.1), (3.0, 0.01)], "kp_use_sum_of_exps": True},
    ),
    (
        f"{DEPLOY}.rewards:keypoint_command_error_exp",
        KEYPOINTS | {"kp_exp_coeffs": [(2.0, 0.1)], "kp_use_sum_of_exps": False},
    ),
    (f"{LEGS}:joint_pos_tracking_exp", {}),
    (f"{LEGS}:base_lin_vel_l2", {}),
    (f"{LEGS}:base_ang_vel_l2", {}),
    (f"{LEGS}:joint_pd_command_l2", {"asset_cfg": LEGS_ONLY}),
    (f"{LEGS}:ActionRate2L2", {}),
    (f"{LEGS}:contact_matching", {"sensor_cfg": SENSED, "threshold": 1.5, "gait_period": 0.7}),
    (f"{LEGS}:foot_clearance", {"asset_cfg": FEET, "sigma": 0.5, "gait_period": 0.7}),
    (f"{LEGS}:feet_parallel", {"asset_cfg": FEET}),
    (f"{LEGS}:feet_flat", {"asset_cfg": FEET}),
    (f"{LEGS}:feet_touchdown_vel", {"asset_cfg": FEET, "sensor_cfg": SENSED}),
    (f"{LEGS}:root_orientation_exp", {}),
    (f"{CONTRIB}.lift.mdp.rewards:object_is_lifted", {"minimal_height": 0.0}),
    (f"{CONTRIB}.lift.mdp.rewards:object_ee_distance", {"std": 0.5}),
    (
        f"{CONTRIB}.lift.mdp.rewards:object_goal_distance",
        {"std": 0.5, "minimal_height": 0.0, "command_name": "pose", "success_threshold": None},
    ),
    (f"{CABINET}.rewards:approach_ee_handle", {"threshold": 1.0}),
    (f"{CABINET}.rewards:align_ee_handle", {}),
    (f"{CABINET}.rewards:align_grasp_around_handle", {}),
    (f"{CABINET}.rewards:approach_gripper_handle", {"offset": 0.04}),
    (f"{CABINET}.rewards:grasp_handle", {"threshold": 1.0, "open_joint_pos": 0.04, "asset_cfg": FINGERS}),
    (f"{CABINET}.rewards:open_drawer_bonus", {"asset_cfg": DRAWER, "success_threshold": 0.2}),
    (f"{CABINET}.rewards:multi_stage_open_drawer", {"asset_cfg": DRAWER}),
    (f"{CORE}.reorient.mdp.rewards:success_bonus", {"command_name": "goal"}),
    (f"{CORE}.reorient.mdp.rewards:track_pos_l2", {"command_name": "goal"}),
    (f"{CORE}.reorient.mdp.rewards:track_orientation_inv_l2", {"command_name": "goal"}),
]

TERMINATIONS: list[tuple[str, dict[str, Any]]] = [
    (f"{BASE}.terminations:time_out", {}),
    (f"{BASE}.terminations:bad_orientation", {"limit_angle": 1.2}),
    (f"{BASE}.terminations:root_height_below_minimum", {"minimum_height": 0.1}),
    (f"{BASE}.terminations:joint_pos_out_of_limit", {}),
    (f"{BASE}.terminations:joint_pos_out_of_manual_limit", {"bounds": (-0.8, 0.8), "asset_cfg": LEGS_ONLY}),
    (f"{BASE}.terminations:joint_vel_out_of_limit", {"asset_cfg": LEGS_ONLY}),
    (f"{BASE}.terminations:joint_vel_out_of_manual_limit", {"max_velocity": 2.5}),
    (f"{BASE}.terminations:joint_effort_out_of_limit", {}),
    (f"{BASE}.terminations:illegal_contact", {"threshold": 2.2, "sensor_cfg": SENSED}),
    (f"{CORE}.lift.mdp.terminations:abnormal_robot_state", {}),
    (f"{CORE}.lift.mdp.terminations:joint_vel_out_of_sim_limit", {"asset_cfg": LEGS_ONLY}),
    (f"{CORE}.lift.mdp.terminations:ee_below_minimum", {"minimum_height": 0.0}),
    (
        f"{CORE}.lift.mdp.terminations:out_of_bound",
        {"asset_cfg": {"name": "object"}, "in_bound_range": {"x": (-0.8, 0.8), "y": (-0.8, 0.8), "z": (-0.9, 0.9)}},
    ),
    (
        f"{CORE}.lift.mdp.terminations:object_reached_goal",
        {"command_name": "pose", "threshold": 1.5},
    ),
    (
        f"{DEPLOY}.terminations:reset_when_gear_dropped",
        GRASP | {"gear_offsets_grasp": SHAFTS, "distance_threshold": 1.2},
    ),
    (
        f"{DEPLOY}.terminations:reset_when_gear_orientation_exceeds_threshold",
        GRASP | {"roll_threshold_deg": 90.0, "pitch_threshold_deg": 60.0, "yaw_threshold_deg": 120.0},
    ),
    (f"{CORE}.reorient.mdp.terminations:object_away_from_goal", {"threshold": 1.2, "command_name": "goal"}),
    (
        f"{CONTRIB}.stack.mdp.terminations:cubes_stacked",
        {"xy_threshold": 3.0, "height_threshold": 3.0, "atol": 2.0, "max_lin_vel": 3.0},
    ),
    (
        f"{CONTRIB}.pick_place.mdp.terminations:task_done_pick_place",
        {
            "task_link_name": "right_hand",
            "right_wrist_max_x": 0.9,
            "min_x": -0.9,
            "max_x": 0.9,
            "min_y": -0.9,
            "max_y": 0.9,
            "min_vel": 0.9,
        },
    ),
]


def compare(both: Both, kind: str, func: str, params: dict[str, Any]) -> Any:
    from isaaclab_mirror.adapter import registry

    theirs = both.genuine(func, params)
    ours = both.ours(getattr(registry, kind), func, params)
    if theirs.ndim + 1 == ours.ndim:
        theirs = theirs[:, None]  # one value per environment: Isaac Lab's observation manager adds the axis
    assert ours.shape == theirs.shape
    assert ours == pytest.approx(theirs, rel=2e-5, abs=2e-5)
    return ours


def named(cases: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    return [pytest.param(func, params, id=func.removeprefix("isaaclab_tasks.")) for func, params in cases]


@pytest.mark.parametrize(("func", "params"), named(OBSERVATIONS))
def test_observations_are_the_genuine_ones(both: Both, func: str, params: dict[str, Any]):
    compare(both, "OBSERVATIONS", func, params)


@pytest.mark.parametrize(("func", "params"), named(REWARDS))
def test_rewards_are_the_genuine_ones(both: Both, func: str, params: dict[str, Any]):
    compare(both, "REWARDS", func, params)


@pytest.mark.parametrize(("func", "params"), named(TERMINATIONS))
def test_terminations_are_the_genuine_ones(both: Both, func: str, params: dict[str, Any]):
    compare(both, "TERMINATIONS", func, params)


def test_most_terminations_are_asked_where_environments_differ(both: Both):
    mixed = 0
    for func, params in TERMINATIONS:
        ended = compare(both, "TERMINATIONS", func, params)
        mixed += 0 < ended.sum() < ENVS
    assert mixed >= 10


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
