"""MujocoSim: a robot in MuJoCo, any number of copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.formats.registry import Format, format_of
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.robot.home import with_start
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose
from isaaclab_mirror.sims import batched
from isaaclab_mirror.sims.ground_start import report_ground_start
from isaaclab_mirror.sims.mujoco_drives import Controls, put_gains
from isaaclab_mirror.sims.mujoco_dynamics import Dynamics
from isaaclab_mirror.sims.mujoco_model import MujocoRobot, mjcf_model, robot_model, with_substeps
from isaaclab_mirror.sims.mujoco_read import Reader
from isaaclab_mirror.sims.robots import load_robot
from isaaclab_mirror.sims.settings import SimSettings, resolve_settings
from isaaclab_mirror.sims.simulator import (
    LARGEST_SPEED,
    env_rows,
    exploded,
    finite_rows,
    name_index,
    put_joint_values,
)
from isaaclab_mirror.sims.state import Start, State, start_of
from isaaclab_mirror.sims.steppers import LONGEST, Drives, RolloutStepper, SingleStepper, Stepper, make_batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isaaclab_mirror.physics.emulation.laws import Laws
    from isaaclab_mirror.sims.simulator import JointValues

    Array = NDArray[np.float64]

QUICK = LARGEST_SPEED**2
MakeStepper = Callable[[MujocoRobot, SimSettings, int], Stepper]
"""(compiled robot, settings, env_count) → what advances it instead of mj_step."""


class MujocoSim:
    """`env_count` copies of a robot in MuJoCo; see `Simulator` for what every method promises."""

    engine = "MuJoCo"

    def __init__(
        self,
        source: Robot | str | Path,
        *,
        env_count: int = 1,
        settings: SimSettings | None = None,
        fidelity: Fidelity | str = Fidelity.PHYSX,
        read: ReadOptions | None = None,
        base_pose: Pose | None = None,
        contact_forces: bool = True,
        visuals: bool = False,
        threads: int | None = None,
        stepper: MakeStepper | None = None,
        laws: Laws | None = None,
    ) -> None:
        """Load a robot model, a convertible file, or an MJCF as it is.

        `base_pose` puts the root link there; `contact_forces` measures them, for a few percent of a step; `visuals`
        keeps what is only seen (for pictures); `threads` (None: one per core) is for two environments or more;
        `stepper` replaces MuJoCo's own step: `emulate` chooses PhysX's, of which `laws` are in force (None: all).
        """
        _quieten_mujoco()
        fidelity = Fidelity(fidelity)
        if env_count < 1:
            raise InputError("E052", self.engine, f"env_count is {env_count}: at least one environment is needed")
        if not isinstance(source, Robot) and format_of(Path(source)) is Format.MJCF:
            self.settings = with_substeps(settings or resolve_settings())
            self.robot = mjcf_model(Path(source), self.settings, contact_forces=contact_forces)
        else:
            robot = load_robot(source, read, base_pose)
            self.settings = with_substeps(settings or resolve_settings(robot), robot, fidelity)
            self.robot = robot_model(robot, fidelity, self.settings, contact_forces=contact_forces, visuals=visuals)
        self.fidelity = fidelity
        self.env_count = env_count
        self.joint_names, self.link_names = self.robot.joints.names, self.robot.link_names
        self._batch = make_batch(self.model, env_count)
        self._controls = Controls(self.robot, self._no_drives())
        self._dynamics = Dynamics(self.robot)
        self._reader = Reader(self.robot, self._batch, self._controls, self._dynamics)
        self._stance_known = False
        self.diagnostics = Diagnostics()
        """What this fidelity leaves out of the robot, or approximates; a start inside the ground."""
        if self.settings.ground is not None:
            where = str(source.source or source.name) if isinstance(source, Robot) else Path(source).name
            report_ground_start(self.model, self.robot.home_qpos, where, self.diagnostics)
        self._stepper: Stepper | None = self._make_stepper(stepper, threads, laws)
        self.reset()

    @property
    def model(self) -> Any:
        """The compiled mujoco.MjModel, shared by all environments."""
        return self.robot.model

    @property
    def step_s(self) -> float:
        """Seconds that `step(1)` advances."""
        return self.settings.timestep_s

    @property
    def fixed_base(self) -> bool:
        """Whether the root link cannot move freely."""
        return not self.robot.floating

    def _make_stepper(self, stepper: MakeStepper | None, threads: int | None, laws: Laws | None) -> Stepper:
        if stepper is not None:
            return stepper(self.robot, self.settings, self.env_count)
        if self.fidelity is Fidelity.EMULATE:
            made = _emulating_stepper()(self.robot, self.settings, self.env_count, laws=laws, threads=threads)
            made.report(self.diagnostics)
            return made
        substeps = self.settings.mujoco_substeps or 1
        if self.env_count == 1:
            return SingleStepper(self.model, substeps, self._batch, self._controls.drives)
        return RolloutStepper(self.model, self.env_count, substeps, threads)

    def _no_drives(self) -> Drives:
        import numpy as np

        table, joints = self.robot.drives, self.robot.joints
        shape = (self.env_count, len(joints.names))
        return Drives(
            position_target=np.zeros(shape),
            velocity_target=np.zeros(shape),
            effort=np.zeros(shape),
            stiffness=table.stiffness.copy(),
            damping=table.damping.copy(),
            effort_limit=table.effort_limit.copy(),
            dof=joints.dof,
            qpos_index=joints.qpos_index,
            control=np.tile(self.robot.home_control, (self.env_count, 1)),
        )

    def _open(self) -> Stepper:
        if self._stepper is None:
            raise InputError("E054", self.engine, "the simulator is closed", "make a new one")
        return self._stepper

    def reset(self, state: State | Start | None = None, env_ids: Sequence[int] | None = None) -> None:
        """To a state, part of one, or the robot's own start; targets become the joint positions, efforts zero."""
        import numpy as np

        stepper, start, batch, joints = self._open(), start_of(state), self._batch, self.robot.joints
        rows = np.arange(self.env_count)[env_rows(self.engine, env_ids, self.env_count)]
        qpos, qvel = np.tile(self.robot.home_qpos, (len(rows), 1)), np.zeros((len(rows), self.model.nv))
        position, velocity = joints.positions(qpos), np.zeros((len(rows), len(joints.names)))
        everything = slice(None)
        if start.joint_pos is not None:
            put_joint_values(self.engine, "joint_pos", start.joint_pos, joints.names, everything, position)
        if start.joint_vel is not None:
            put_joint_values(self.engine, "joint_vel", start.joint_vel, joints.names, everything, velocity)
        if start.joint_pos is not None and not self._stance_known:
            self._stand_at(position.mean(axis=0))
        joints.put_positions(position, qpos)
        qvel[:, joints.dof] = velocity
        self._put_root(start, qpos, qvel)
        batch.clear(rows)
        batch.qpos[rows], batch.qvel[rows] = qpos, qvel
        drives = self._controls.drives
        drives.position_target[rows] = position
        drives.velocity_target[rows], drives.effort[rows] = 0.0, 0.0
        self._controls.update(rows)
        stepper.start(batch, rows)

    def _stand_at(self, position: Array) -> None:
        """The gains of legs are lowered by their inertia where the robot stands: the first start tells where."""
        self._stance_known = True
        source = self.robot.robot
        if source is not None and self.fidelity is Fidelity.PHYSX and self.robot.floating:
            stand = dict(zip(self.joint_names, position.tolist(), strict=True))
            self.robot = replace(self.robot, robot=with_start(source, stand))
            self._put_gains()

    def _put_gains(self) -> None:
        """Through the laws of the fidelity, into the model."""
        drives = self._controls.drives
        put_gains(self.robot, self.settings, drives.stiffness, drives.damping)
        self._controls.refresh()
        self._controls.update()

    def _put_root(self, start: Start, qpos: Array, qvel: Array) -> None:
        """Pose and velocity of a floating base; a fixed one stays where it was loaded."""
        import numpy as np

        n, first, dof = len(qpos), self.robot.root_qpos, self.robot.root_dof
        if not self.robot.floating:
            self._refuse_moved_base(start)
            return
        if start.root_pos_w is not None:
            qpos[:, first : first + 3] = finite_rows(self.engine, "root_pos_w", start.root_pos_w, (n, 3))
        if start.root_quat_wxyz is not None:
            quat = finite_rows(self.engine, "root_quat_wxyz", start.root_quat_wxyz, (n, 4))
            length = np.linalg.norm(quat, axis=1, keepdims=True)
            if (length < 1e-6).any():
                raise InputError("E053", self.engine, "root_quat_wxyz has no length")
            qpos[:, first + 3 : first + 7] = quat / length
        quat = qpos[:, first + 3 : first + 7]
        angular = finite_rows(self.engine, "root_ang_vel_w", _or_zero(start.root_ang_vel_w), (n, 3))
        if start.root_com_lin_vel_w is not None:
            of_com = finite_rows(self.engine, "root_com_lin_vel_w", start.root_com_lin_vel_w, (n, 3))
            arm = batched.rotate(quat, np.broadcast_to(self._dynamics.root_com, (n, 3)))
            linear = of_com - batched.cross(angular, arm)
        else:
            linear = finite_rows(self.engine, "root_lin_vel_w", _or_zero(start.root_lin_vel_w), (n, 3))
        qvel[:, dof : dof + 3] = linear
        qvel[:, dof + 3 : dof + 6] = batched.rotate_back(quat, angular)

    def _refuse_moved_base(self, start: Start) -> None:
        import numpy as np

        if start.root_pos_w is None or not self._reader.welded:
            return
        home = self._reader.home["root_pos_w"][0]
        asked = np.atleast_2d(np.asarray(start.root_pos_w, dtype=float))
        if not np.allclose(asked, home, atol=1e-3):
            raise InputError(
                "E052",
                self.engine,
                f"the base is fixed at {np.round(home, 4).tolist()}, not at {asked[0].tolist()}",
                "load it with base_pose=Pose(…)",
            )

    def set_position_targets(self, values: JointValues, env_ids: Sequence[int] | None = None) -> None:
        """[rad or m], held until the next call."""
        self._set("position target", values, self._controls.drives.position_target, env_ids)

    def set_velocity_targets(self, values: JointValues, env_ids: Sequence[int] | None = None) -> None:
        """[rad/s or m/s], held until the next call."""
        self._set("velocity target", values, self._controls.drives.velocity_target, env_ids)

    def set_efforts(self, values: JointValues, env_ids: Sequence[int] | None = None) -> None:
        """[N·m or N] beside what the drives do, held until the next call."""
        self._set("effort", values, self._controls.drives.effort, env_ids)

    def _set(self, what: str, values: JointValues, into: Array, env_ids: Sequence[int] | None) -> None:
        self._open()
        rows = env_rows(self.engine, env_ids, self.env_count)
        put_joint_values(self.engine, what, values, self.joint_names, rows, into)
        self._controls.update(rows)

    def set_gains(self, stiffness: JointValues | None = None, damping: JointValues | None = None) -> None:
        """Of the drives, the same in all environments; the fidelity's laws are applied to them."""
        self._open()
        drives = self._controls.drives
        kp, kd = drives.stiffness[None].copy(), drives.damping[None].copy()
        for what, values, into in (("stiffness", stiffness, kp), ("damping", damping, kd)):
            if values is not None:
                put_joint_values(self.engine, what, values, self.joint_names, slice(None), into)
                if (into < 0).any():
                    name = self.joint_names[int((into[0] < 0).argmax())]
                    raise InputError("E053", self.engine, f"{what} of joint {name!r} is negative")
        drives.stiffness[:], drives.damping[:] = kp[0], kd[0]
        self._put_gains()

    def step(self, count: int = 1) -> None:
        """Advance by `count · step_s`."""
        stepper, batch, drives = self._stepper, self._batch, self._controls.drives
        if stepper is None:
            stepper = self._open()
        if count < 1:
            raise InputError("E052", self.engine, f"step({count}): at least one step")
        while count:
            now = count if count < LONGEST else LONGEST
            before = batch.moment()
            stepper.step(batch, drives, now)
            only = batch.only_qvel  # the quick answer: a whole step takes but 15 µs
            if (only is None or not only.dot(only) < QUICK) and not batch.slower_than(LARGEST_SPEED):
                raise self._explosion(stepper, before, now)
            count -= now

    def _explosion(self, stepper: Stepper, before: tuple[Array, Array, Array], count: int) -> InputError:
        """Take the steps once more, one at a time, until the joint that runs away shows: afterwards all are nan."""
        import numpy as np

        batch, joints, dof = self._batch, self.robot.joints, self.robot.root_dof
        batch.put_back(before)
        batch.time -= count * self.step_s
        stepper.start(batch, np.arange(self.env_count))
        for _ in range(count):
            stepper.step(batch, self._controls.drives, 1)
            if not batch.slower_than(LARGEST_SPEED):
                break
        root_vel = batch.qvel[:, dof : dof + 6] if self.robot.floating else None
        position, velocity = batch.qpos[:, joints.qpos_index], batch.qvel[:, joints.dof]
        return exploded(self.engine, joints.names, position, velocity, root_vel, batch.time)

    def read(self) -> State:
        """The state now."""
        self._open()
        return self._reader.state()

    def gains(self) -> tuple[Array, Array]:
        """Stiffness and damping as stated or set, before any law."""
        return self._controls.drives.stiffness.copy(), self._controls.drives.damping.copy()

    def controls(self) -> Array:
        """What the model's actuators are told now, (env_count, nu): the targets and efforts set, folded."""
        return self._controls.drives.control.copy()

    def effort_limits(self) -> Array:
        """[N·m or N], inf where there is none."""
        return self._controls.drives.effort_limit.copy()

    def joint_limits(self) -> Array:
        """Lower and upper [rad or m]."""
        return self.robot.limits.copy()

    def masses(self) -> Array:
        """Of every link [kg]."""
        return self.model.body_mass[self.robot.bodies].copy()

    def centers_of_mass(self) -> Array:
        """Of every link in its own frame [m]."""
        return self.model.body_ipos[self.robot.bodies].copy()

    def mass_matrix(self) -> Array:
        """See `Simulator.mass_matrix`."""
        self._open()
        return self._dynamics.mass_matrix(self._batch.qpos, self._batch.qvel)

    def bias(self) -> Array:
        """See `Simulator.bias`."""
        self._open()
        return self._dynamics.bias(self._batch.qpos, self._batch.qvel)

    def jacobian(self, link: str) -> Array:
        """See `Simulator.jacobian`."""
        self._open()
        column = name_index(self.engine, "link", link, self.link_names)
        return self._dynamics.jacobian(column, self._batch.qpos, self._batch.qvel)

    def close(self) -> None:
        """End the threads."""
        if self._stepper is not None:
            self._stepper.close()
            self._stepper = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _or_zero(value: Any) -> Any:
    return 0.0 if value is None else value


def _emulating_stepper() -> Any:
    """PhysX's solver step: `emulated_stepper.make_stepper`."""
    import importlib

    try:
        return importlib.import_module("isaaclab_mirror.sims.emulated_stepper").make_stepper
    except (ImportError, OSError) as error:
        raise InputError(
            "E059", "MuJoCo", f"fidelity emulate is not there: {error}", "pip install 'isaaclab-mirror[emulate]'"
        ) from None


def _quieten_mujoco() -> None:
    """An unstable step is reported by `step`: MuJoCo would print it and leave MUJOCO_LOG.TXT in the working folder."""
    import logging

    import mujoco

    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(logging.getLogger("isaaclab_mirror.mujoco").debug)
