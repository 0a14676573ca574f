"""Task-space actions: differential inverse kinematics and operational-space control, in every physics step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import (
    Array,
    axis_angle,
    combine_frames,
    conjugate,
    cross,
    matrices,
    multiply,
    quat_from_axis_angle,
    rotate,
    rotate_back,
    subtract_frames,
)
from isaaclab_mirror.adapter.differential_ik import joint_change, limit_avoidance, row, task_forces
from isaaclab_mirror.adapter.joint_actions import F32, Action, Targets
from isaaclab_mirror.adapter.registry import action_term
from isaaclab_mirror.adapter.world import World
from isaaclab_mirror.contract.contract import ActionTerm
from isaaclab_mirror.contract.matching import match_names
from isaaclab_mirror.diagnostics import InputError


class EndEffector:
    """A frame fixed to one of the robot's links: pose, velocity and Jacobian in the root link's frame.

    Isaac Lab 3's meaning: the Jacobian of the link's origin, moved to the frame. Isaac Lab 2 took PhysX's Jacobian of
    the centre of mass for it and offset it the other way: `isaaclab2`.
    """

    def __init__(self, params: Mapping[str, Any], world: World, joints: Array, where: str, *, isaaclab2: bool) -> None:
        names = world.layout.body_names
        matched = match_names(str(params["body_name"]), names, f"{where}.body_name")
        if len(matched) != 1:
            raise InputError("E102", f"{where}.body_name", f"{params['body_name']!r} matches {', '.join(matched)}")
        self._name, self._body = matched[0], names.index(matched[0])
        offset: Mapping[str, Any] | None = params.get("body_offset")
        self._pos = None if offset is None else np.asarray(offset.get("pos") or (0.0, 0.0, 0.0), dtype=float)
        self._quat = world.config_quat(None if offset is None else offset.get("rot"))
        self._columns = world.layout.joints[joints]
        if isaaclab2:
            raise InputError(
                "E124",
                where,
                "Isaac Lab 2 takes PhysX's Jacobian of the centre of mass as that of the link, which is not offered",
                "retrain with Isaac Lab 3, or write the term as a plugin",
            )

    def link_pose(self, world: World) -> tuple[Array, Array]:
        """Of the link itself."""
        robot = world.robot
        pos, quat = robot.body_pos[:, self._body], robot.body_quat[:, self._body]
        return subtract_frames(robot.root_pos, robot.root_quat, pos, quat)

    def pose(self, world: World) -> tuple[Array, Array]:
        """Of the frame."""
        pos, quat = self.link_pose(world)
        return (pos, quat) if self._pos is None else combine_frames(pos, quat, self._pos, self._quat)

    def _arm(self, world: World) -> Array | None:
        if self._pos is None:
            return None
        _, quat = self.link_pose(world)
        return rotate(quat, np.broadcast_to(self._pos, (len(quat), 3)))

    def jacobian(self, world: World) -> Array:
        """(env_count, 6, joints of the action)."""
        full = world.scene.jacobian(self._name)
        base = full.shape[2] - len(world.layout.back)
        back = np.swapaxes(matrices(world.robot.root_quat), -1, -2)
        columns = full[:, :, self._columns + base]
        result = np.concatenate([back @ columns[:, :3], back @ columns[:, 3:]], axis=1)
        if (arm := self._arm(world)) is not None:
            turning = np.swapaxes(result[:, 3:], 1, 2)
            result[:, :3] += np.swapaxes(cross(turning, arm[:, None]), 1, 2)
        return result

    def velocity(self, world: World) -> Array:
        """(env_count, 6), relative to the root link, in its axes."""
        robot = world.robot
        state = robot.state
        linear = robot.body_link_lin_vel_w[:, self._body] - state.root_lin_vel_w
        angular = robot.body_ang_vel_w[:, self._body] - state.root_ang_vel_w
        linear, angular = rotate_back(robot.root_quat, linear), rotate_back(robot.root_quat, angular)
        if (arm := self._arm(world)) is not None:
            linear = linear + cross(angular, arm)
        return np.concatenate([linear, angular], axis=-1)


def pose_error(pos: Array, quat: Array, goal_pos: Array, goal_quat: Array) -> Array:
    """(env_count, 6): the way and the rotation vector to a goal."""
    return np.concatenate([goal_pos - pos, axis_angle(multiply(goal_quat, conjugate(quat)))], axis=-1)


def valid_quat(quat: Array, fallback: Array) -> Array:
    """Of unit length; what cannot be normalised is replaced."""
    length = np.linalg.norm(quat, axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = quat / length
    return np.where(np.isfinite(unit).all(axis=-1, keepdims=True), unit, fallback)


@action_term("DifferentialInverseKinematicsAction", needs=("jacobian",))
class DifferentialInverseKinematics(Action):
    """A pose for a link, or a change of it, as joint position targets, solved again in every physics step."""

    reads_state = True

    def __init__(self, term: ActionTerm, world: World) -> None:
        self._controller: Mapping[str, Any] = term.params["controller"]
        self._kind = str(self._controller.get("command_type", "pose"))
        self._relative = bool(self._controller.get("use_relative_mode", False))
        super().__init__(term, world)
        scale: Any = term.params.get("scale")
        self.scale = row(1.0 if scale is None else scale, self.size).astype(F32)
        version_2 = world.contract.source.version.startswith(("1.", "2."))
        where = f"action {term.name}"
        self._tip = EndEffector(term.params, world, self.joints, where, isaaclab2=version_2)
        self._goal_pos = np.zeros((world.env_count, 3))
        self._goal_quat = np.zeros((world.env_count, 4))
        weight = self._controller.get("orientation_weight")
        self._weight = None if weight is None else row(weight, 3)
        self._avoidance = float(self._controller.get("joint_limit_avoidance_gain") or 0.0)

    def value_count(self) -> int:
        """3, 6 or 7."""
        if self._kind == "position":
            return 3
        return 6 if self._relative else 7

    def find_offset(self, world: World) -> Array:
        """Added after the scale."""
        return row(self.term.params.get("offset") or 0.0, self.size).astype(F32)

    def process(self, world: World, values: Array) -> None:
        """Scale, offset, clip, then the goal from the pose now."""
        super().process(world, values)
        pos, quat = self._tip.pose(world)
        wanted = self.processed.astype(float)
        if self._kind == "position":
            self._goal_pos, self._goal_quat = (pos + wanted if self._relative else wanted), quat
        elif self._relative:
            self._goal_pos = pos + wanted[:, :3]
            self._goal_quat = multiply(quat_from_axis_angle(wanted[:, 3:]), quat)
        else:
            self._goal_pos = wanted[:, :3]
            self._goal_quat = valid_quat(from_policy(world, wanted[:, 3:]), quat)

    def apply(self, world: World, targets: Targets) -> None:
        """q + Δq towards the goal."""
        pos, quat = self._tip.pose(world)
        jacobian = self._tip.jacobian(world)
        joint_pos = world.robot.joint_pos[:, self.joints]
        error = pose_error(pos, quat, self._goal_pos, self._goal_quat)
        if self._kind == "position":
            jacobian, error = jacobian[:, :3], error[:, :3]
        elif self._weight is not None:
            jacobian = np.concatenate([jacobian[:, :3], jacobian[:, 3:] * self._weight[:, None]], axis=1)
            error[:, 3:] *= self._weight
        method = str(self._controller.get("ik_method", "dls"))
        change = joint_change(method, self._controller.get("ik_params") or {}, jacobian, error)
        if self._avoidance > 0.0:
            margin = float(self._controller.get("joint_limit_avoidance_margin", 0.1))
            limits = world.defaults.soft_limits[self.joints]
            change = change + limit_avoidance(joint_pos, limits, jacobian, self._avoidance, margin)
        targets.position[:, self.joints] = joint_pos + change


def from_policy(world: World, quat: Array) -> Array:
    """A quaternion in the policy's order as wxyz."""
    return quat[:, [3, 0, 1, 2]] if world.contract.quat_order == "xyzw" else quat


TARGET_SIZES = {"pose_abs": 7, "pose_rel": 6, "wrench_abs": 6}


@action_term("OperationalSpaceControllerAction", needs=("jacobian", "mass matrix"))
class OperationalSpace(Action):
    """A pose (and stiffness) for a link as joint efforts: spring and damper in task space, decoupled by the inertia."""

    reads_state = True

    def __init__(self, term: ActionTerm, world: World) -> None:
        params = term.params
        self._config: Mapping[str, Any] = params["controller_cfg"]
        self._targets = tuple(str(one) for one in self._config["target_types"])
        self._mode = str(self._config.get("impedance_mode", "fixed"))
        where = f"action {term.name}"
        if unknown := [one for one in self._targets if one not in ("pose_abs", "pose_rel")]:
            raise InputError(
                "E124", where, f"target type {unknown[0]!r} is not offered: contact forces are not fed back"
            )
        if params.get("task_frame_rel_path"):
            raise InputError("E124", where, "a task frame other than the robot's root is not offered")
        super().__init__(term, world)
        self._tip = EndEffector(params, world, self.joints, where, isaaclab2=False)
        count = world.env_count
        self._axes = row(self._config.get("motion_control_axes_task") or (1,) * 6, 6)
        self._stiffness = np.tile(row(self._config.get("motion_stiffness_task", 100.0), 6), (count, 1))
        self._ratio = np.tile(row(self._config.get("motion_damping_ratio_task", 1.0), 6), (count, 1))
        self._goal_pos, self._goal_quat = np.zeros((count, 3)), np.zeros((count, 4))
        self._decoupled = bool(self._config.get("inertial_dynamics_decoupling", False))
        self._partial = bool(self._config.get("partial_inertial_dynamics_decoupling", False))
        self._null_space = str(self._config.get("nullspace_control", "none"))
        low, high = self._config.get("inertia_conditioning_thresholds") or (1e-5, 1e-4)
        self._thresholds = (float(low), float(high))
        self._started = False

    def value_count(self) -> int:
        """Targets, then stiffness, then damping ratio."""
        extra = {"fixed": 0, "variable_kp": 6, "variable": 12}[self._mode]
        return sum(TARGET_SIZES[one] for one in self._targets) + extra

    def process(self, world: World, values: Array) -> None:
        """Scales per block, bounds of the gains, then the goal."""
        self.raw[:] = values
        processed, params = self.raw.copy(), self.term.params
        at = 0
        pos, quat = self._tip.pose(world)
        for kind in self._targets:
            block = processed[:, at : at + TARGET_SIZES[kind]]
            block[:, :3] *= F32(params.get("position_scale", 1.0))
            block[:, 3:] *= F32(params.get("orientation_scale", 1.0))
            if kind == "pose_abs":
                self._goal_pos = block[:, :3].astype(float)
                self._goal_quat = valid_quat(from_policy(world, block[:, 3:].astype(float)), quat)
            else:
                self._goal_pos = pos + block[:, :3]
                self._goal_quat = multiply(quat_from_axis_angle(block[:, 3:].astype(float)), quat)
            at += TARGET_SIZES[kind]
        if self._mode != "fixed":
            self._stiffness = self._gains(processed, at, "stiffness")
        if self._mode == "variable":
            self._ratio = self._gains(processed, at + 6, "damping_ratio")
        self.processed = processed
        self._started = True

    def _gains(self, processed: Array, at: int, what: str) -> Array:
        block = processed[:, at : at + 6]
        block *= F32(self.term.params.get(f"{what}_scale", 1.0))
        low, high = self._config[f"motion_{what}_limits_task"]
        np.clip(block, low, high, out=block)
        return block.astype(float)

    def apply(self, world: World, targets: Targets) -> None:
        """Joint efforts of this physics step."""
        if not self._started:
            return
        jacobian = self._tip.jacobian(world)
        pos, quat = self._tip.pose(world)
        stiffness = self._stiffness * self._axes
        damping = 2.0 * np.sqrt(stiffness) * self._ratio
        error = pose_error(pos, quat, self._goal_pos, self._goal_quat)
        wanted = (stiffness * error - damping * self._tip.velocity(world))[..., None]
        transposed = np.swapaxes(jacobian, -1, -2)
        mass = self._mass_matrix(world) if self._decoupled or self._null_space != "none" else None
        posture = self._posture(world) if self._null_space == "position" else None
        selected = transposed * self._axes
        if self._decoupled and not self._partial and mass is not None:
            inverse = jacobian @ np.linalg.solve(mass, transposed)
            both = wanted if posture is None else np.concatenate([wanted, jacobian @ posture], axis=-1)
            forces = task_forces(inverse, both, self._thresholds)
            effort = selected @ forces[:, :, :1]
            if posture is not None:
                effort = effort + mass @ posture - transposed @ forces[:, :, 1:]
        else:
            if self._decoupled and mass is not None:
                wanted = self._partly_decoupled(jacobian @ np.linalg.solve(mass, transposed), wanted)
            effort = selected @ wanted
            if posture is not None and mass is not None:
                effort = effort + self._projected(jacobian, transposed, mass @ posture)
        if self._config.get("gravity_compensation"):
            gravity = world.scene.gravity_forces()
            effort = effort + gravity[:, self._dofs(world, gravity.shape[-1]), None]
        targets.effort[:, self.joints] = effort[..., 0]

    def _dofs(self, world: World, count: int) -> Array:
        return world.layout.joints[self.joints] + (count - len(world.layout.back))

    def _mass_matrix(self, world: World) -> Array:
        full = world.scene.mass_matrix()
        dofs = self._dofs(world, full.shape[-1])
        return full[:, dofs[:, None], dofs]

    def _posture(self, world: World) -> Array:
        kp = float(self._config.get("nullspace_stiffness", 10.0))
        kd = 2.0 * np.sqrt(kp) * float(self._config.get("nullspace_damping_ratio", 1.0))
        match self.term.params.get("nullspace_joint_pos_target", "none"):
            case "center":
                goal = world.defaults.soft_limits[self.joints].mean(axis=1)
            case "default":
                goal = world.defaults.joint_pos[self.joints]
            case _:
                goal = np.zeros(len(self.joints))
        robot = world.robot
        return (kp * (goal - robot.joint_pos[:, self.joints]) - kd * robot.joint_vel[:, self.joints])[..., None]

    def _partly_decoupled(self, inverse: Array, wanted: Array) -> Array:
        parts = (slice(3), slice(3, 6))
        return np.concatenate([task_forces(inverse[:, p, p], wanted[:, p], self._thresholds) for p in parts], axis=1)

    @staticmethod
    def _projected(jacobian: Array, transposed: Array, effort: Array) -> Array:
        inverse = np.linalg.pinv(jacobian)
        null_space = np.eye(jacobian.shape[2]) - transposed @ np.swapaxes(inverse, -1, -2)
        return null_space @ effort
