"""Asset: one moment of an articulation or object in the policy's order, as Isaac Lab's `asset.data` has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, matrix_of
from isaaclab_mirror.contract.contract import Contract
from isaaclab_mirror.contract.matching import match_values, no_match
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.state import LinkStates, State


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Which names stand where: the policy's order, and the way from the simulator's."""

    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    joints: Array
    """Column of each of the policy's joints in the State."""
    bodies: Array
    """Column of each of the policy's bodies in the State."""
    back: Array
    """Column in the policy's arrays of each of the State's joints; −1: the policy does not know it."""

    @staticmethod
    def of(joint_names: Sequence[str], body_names: Sequence[str], state_joints: Sequence[str], links: Sequence[str]):
        """Match by name; a joint or body that the simulator does not have is refused."""
        for name in joint_names:
            if name not in state_joints:
                raise no_match(name, state_joints, "joint order")
        known = tuple(name for name in body_names if name in links) or tuple(links)
        joints = np.array([list(state_joints).index(name) for name in joint_names], dtype=int)
        back = np.array([joint_names.index(name) if name in joint_names else -1 for name in state_joints], dtype=int)
        bodies = np.array([list(links).index(name) for name in known], dtype=int)
        return Layout(tuple(joint_names), known, joints, bodies, back)


@dataclass(slots=True, eq=False)
class Defaults:
    """Of the robot's joints in the policy's order."""

    joint_pos: Array
    joint_vel: Array
    limits: Array
    """(joints, 2) [rad or m]"""
    soft_limits: Array
    velocity_limits: Array
    """Soft: what terms compare speeds with and reset events clamp them to [rad/s or m/s]."""
    solver_velocity_limits: Array
    """What the engine enforces."""


class Asset:
    """One moment of an articulation or object, in the policy's order: Isaac Lab's `asset.data`."""

    def __init__(self, state: State, layout: Layout, gravity: Array, defaults: Defaults | None = None) -> None:
        self.state = state
        self.layout = layout
        self._gravity = gravity
        self._defaults = defaults

    @property
    def joint_names(self) -> tuple[str, ...]:
        """In the policy's order."""
        return self.layout.joint_names

    @property
    def body_names(self) -> tuple[str, ...]:
        """In the policy's order."""
        return self.layout.body_names

    @property
    def defaults(self) -> Defaults:
        """Default joint values and limits."""
        if self._defaults is None:
            raise InputError("E124", "scene", "the default joint values of this asset are not known")
        return self._defaults

    @cached_property
    def joint_pos(self) -> Array:
        """[rad or m], (env_count, joints)"""
        return self.state.joint_pos[:, self.layout.joints]

    @cached_property
    def joint_vel(self) -> Array:
        """[rad/s or m/s]"""
        return self.state.joint_vel[:, self.layout.joints]

    @property
    def root_pos(self) -> Array:
        """Of the root link [m], (env_count, 3)."""
        return self.state.root_pos_w

    @property
    def root_quat(self) -> Array:
        """Of the root link, wxyz."""
        return self.state.root_quat_wxyz

    @property
    def root_lin_vel_w(self) -> Array:
        """Of the root's centre of mass [m/s]."""
        return self.state.root_com_lin_vel_w

    @property
    def root_ang_vel_w(self) -> Array:
        """[rad/s]"""
        return self.state.root_ang_vel_w

    @cached_property
    def root_matrix(self) -> Array:
        """From the root link's axes to the world's, (env_count, 3, 3)."""
        return matrix_of(self.root_quat)

    @cached_property
    def root_lin_vel_b(self) -> Array:
        """Of the root's centre of mass, in the root link's axes [m/s]."""
        return np.einsum("nij,ni->nj", self.root_matrix, self.root_lin_vel_w)

    @cached_property
    def root_ang_vel_b(self) -> Array:
        """[rad/s]"""
        return np.einsum("nij,ni->nj", self.root_matrix, self.root_ang_vel_w)

    @cached_property
    def projected_gravity(self) -> Array:
        """Unit vector of gravity in the root link's axes."""
        return self._gravity @ self.root_matrix

    @cached_property
    def heading(self) -> Array:
        """Direction of the root's x axis in the world's xy plane [rad], (env_count,)."""
        return np.arctan2(self.root_matrix[:, 1, 0], self.root_matrix[:, 0, 0])

    @cached_property
    def body_pos(self) -> Array:
        """Of every link [m], (env_count, bodies, 3)."""
        return self.state.link_pos_w[:, self.layout.bodies]

    @cached_property
    def body_quat(self) -> Array:
        """wxyz, (env_count, bodies, 4)"""
        return self.state.link_quat_wxyz[:, self.layout.bodies]

    @cached_property
    def body_lin_vel_w(self) -> Array:
        """Of every centre of mass [m/s]."""
        return self.state.link_com_lin_vel_w[:, self.layout.bodies]

    @cached_property
    def body_link_lin_vel_w(self) -> Array:
        """Of every link's origin [m/s]."""
        return self.state.link_lin_vel_w[:, self.layout.bodies]

    @cached_property
    def body_ang_vel_w(self) -> Array:
        """[rad/s]"""
        return self.state.link_ang_vel_w[:, self.layout.bodies]


def defaults_of(contract: Contract, layout: Layout) -> Defaults:
    """Of the robot's joints in the policy's order; joints without a limit have ±inf."""
    robot, names = contract.robot, layout.joint_names
    limits = np.array([robot.joint_limits.get(name, (-np.inf, np.inf)) for name in names], dtype=float).reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        middle, half = limits.mean(axis=1), (limits[:, 1] - limits[:, 0]) / 2.0 * robot.soft_joint_pos_limit_factor
        soft = np.stack([middle - half, middle + half], axis=1)
    soft = np.where(np.isfinite(limits).all(axis=1, keepdims=True), soft, limits)
    speeds = contract.joint_values("velocity_limit", np.inf) if contract.joint_names == names else ()
    soft_speeds = np.array(speeds) if speeds else np.full(len(names), np.inf)
    if contract.sim.use_newton_actuators and any(not group.is_implicit for group in contract.actuators):
        soft_speeds = np.zeros(len(names))  # Isaac Lab 3 never fills them for a robot with motors in Newton's kernels
    solver = contract.joint_values("velocity_limit_sim", np.inf) if contract.joint_names == names else ()
    return Defaults(
        joint_pos=np.array([robot.default_joint_pos.get(name, 0.0) for name in names]),
        joint_vel=np.array([robot.default_joint_vel.get(name, 0.0) for name in names]),
        limits=limits,
        soft_limits=soft,
        velocity_limits=soft_speeds,
        solver_velocity_limits=np.array(solver) if solver else np.full(len(names), np.inf),
    )


def plain_defaults(config: Mapping[str, Any], names: Sequence[str], where: str) -> Defaults | None:
    """Of an articulation beside the robot: its start as default, no limits; None for what has no joints."""
    if not names:
        return None
    pos = match_values(dict(config.get("joint_pos") or {}), names, f"{where}.joint_pos")
    vel = match_values(dict(config.get("joint_vel") or {}), names, f"{where}.joint_vel")
    unbounded = np.tile(np.array([-np.inf, np.inf]), (len(names), 1))
    return Defaults(
        joint_pos=np.array([float(pos.get(name, 0.0)) for name in names]),
        joint_vel=np.array([float(vel.get(name, 0.0)) for name in names]),
        limits=unbounded,
        soft_limits=unbounded,
        velocity_limits=np.full(len(names), np.inf),
        solver_velocity_limits=np.full(len(names), np.inf),
    )


def rest_state(layout: Layout, env_count: int) -> State:
    """Zero everywhere, upright."""
    joints, links = len(layout.back), int(layout.bodies.max(initial=0)) + 1
    upright = np.array([1.0, 0.0, 0.0, 0.0])
    zeros, link_zeros = np.zeros((env_count, 3)), np.zeros((env_count, links, 3))
    at_rest = LinkStates(
        pos_w=link_zeros,
        quat_wxyz=np.broadcast_to(upright, (env_count, links, 4)),
        lin_vel_w=link_zeros,
        com_lin_vel_w=link_zeros,
        ang_vel_w=link_zeros,
    )
    return State(
        time_s=np.zeros(env_count),
        root_pos_w=zeros,
        root_quat_wxyz=np.broadcast_to(upright, (env_count, 4)),
        root_lin_vel_w=zeros,
        root_com_lin_vel_w=zeros,
        root_ang_vel_w=zeros,
        joint_names=(),
        joint_pos=np.zeros((env_count, joints)),
        joint_vel=np.zeros((env_count, joints)),
        link_names=(),
        find_torque=lambda: np.zeros((env_count, joints)),
        find_contacts=lambda: link_zeros,
        find_links=lambda: at_rest,
    )
