"""PhysxSim: a robot in PhysX (ovphysx, on the CPU), any number of copies side by side."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose
from isaaclab_mirror.sims import batched
from isaaclab_mirror.sims.ground_start import report_ground_start
from isaaclab_mirror.sims.mujoco_model import robot_model
from isaaclab_mirror.sims.physx_dynamics import PhysxDynamics
from isaaclab_mirror.sims.physx_engine import Engine, PhysxEngine, require_physx
from isaaclab_mirror.sims.physx_frames import Columns, Frames, clone_poses, columns_of, frames_of
from isaaclab_mirror.sims.physx_process import STEP_TIMEOUT_S, ProcessEngine
from isaaclab_mirror.sims.physx_read import Raw, Reader
from isaaclab_mirror.sims.physx_stage import PhysxStage, write_stage
from isaaclab_mirror.sims.physx_tensors import PhysxDrives, write_joint_properties
from isaaclab_mirror.sims.robots import (
    DriveTable,
    drive_table,
    home_pose,
    home_positions,
    joint_limits,
    load_robot,
)
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isaaclab_mirror.sims.simulator import JointValues

    Array = NDArray[np.float64]

ENVIRONMENTS = "/isaaclab_mirror_envs"
MANY, CORES = 256, 8
"""From so many environments, on so many cores, worker threads may pay. On two busy cores a step of one Go2 takes
0.11 ms without and 5 ms with them, of 64 4 and 9 ms, of 512 22 and 31 ms."""


class PhysxSim:
    """`env_count` copies of a robot in PhysX; see `Simulator` for what every method promises.

    In this process, which a stage that crashes PhysX ends, or `isolated` in a child, whose end is an InputError (E057).
    `open_physx` chooses.
    """

    engine = "PhysX"

    def __init__(
        self,
        source: Robot | str | Path,
        *,
        env_count: int = 1,
        settings: SimSettings | None = None,
        read: ReadOptions | None = None,
        base_pose: Pose | None = None,
        contact_forces: bool = True,
        threads: int | None = None,
        isolated: bool = False,
        timeout_s: float = STEP_TIMEOUT_S,
    ) -> None:
        """Load a USD file, or the file that a robot model was read from (with the same `read` options).

        `threads` of PhysX holds for the first of a process, and for each that is isolated; None: none, or on many cores
        for many environments its own choice. `timeout_s`: how long an isolated PhysX may take for one step before it is
        taken for hung.
        """
        import numpy as np

        require_physx()
        if env_count < 1:
            raise InputError("E052", self.engine, f"env_count is {env_count}: at least one environment is needed")
        self.robot = load_robot(source, read, base_pose)
        self.settings = settings or resolve_settings(self.robot)
        self.env_count = env_count
        if threads is None and (env_count < MANY or len(os.sched_getaffinity(0)) < CORES):
            threads = 0
        self.diagnostics = Diagnostics()
        """A start inside the ground."""
        self._report_ground()
        self._engine: Engine | None = None
        self._time = np.zeros(env_count)
        with tempfile.TemporaryDirectory(prefix="isaaclab_mirror_") as folder:
            stage = write_stage(self.robot, read or ReadOptions(), self.settings, Path(folder))
            engine: Engine
            if isolated:
                name, time = repr(self.robot.name), self._time
                engine = ProcessEngine(
                    stage.file, threads=threads, robot=name, time_s=lambda: float(time.max()), timeout_s=timeout_s
                )
            else:
                engine = PhysxEngine(stage.file, threads=threads)
        self._engine = engine
        try:
            self._prepare(engine, stage, contact_forces)
        except BaseException:
            self.close()
            raise

    def _report_ground(self) -> None:
        """Before PhysX loads it: afterwards the robot has been thrown out of the ground."""
        if self.settings.ground is None:
            return
        with contextlib.suppress(InputError):  # what MuJoCo does not take is not asked
            made = robot_model(self.robot, Fidelity.NOMINAL, self.settings, contact_forces=False, visuals=False)
            where = str(self.robot.source or self.robot.name)
            report_ground_start(made.model, made.home_qpos, where, self.diagnostics)

    def _prepare(self, engine: Engine, stage: PhysxStage, contact_forces: bool) -> None:
        import numpy as np

        self._frames: Frames = frames_of(stage, self.env_count, self.settings.env_spacing_m)
        sensors = list(stage.link_paths.values()) if contact_forces else []
        prefixes = warm_up(engine, self.robot, stage, self._frames, sensors)
        body_names, dof_names, fixed = engine.layout()
        self._columns: Columns = columns_of(self.robot, stage, dof_names, body_names)
        self._floating = not fixed
        if self._floating and self._columns.links[0] != 0:
            raise InputError(
                "E058",
                str(self.robot.source or self.robot.name),
                f"PhysX's root link is {body_names[0]!r}, the robot model's {self.robot.links[0].name!r}",
            )
        self.joint_names, self.link_names = self._columns.joint_names, self._columns.link_names
        table, keep = drive_table(self.robot), self._columns.canonical
        self._table = DriveTable(
            stiffness=table.stiffness[keep],
            damping=table.damping[keep],
            effort_limit=table.effort_limit[keep],
            inertia=table.inertia[keep],
        )
        write_joint_properties(engine, self.robot, self._columns)
        self._drives = PhysxDrives(engine, self._columns, self._table, self.env_count)
        self._dynamics = PhysxDynamics(engine, self._frames, self._columns, floating=self._floating)
        own = [stage.link_paths.get(name, "")[len(stage.scope.rstrip("/")) :] for name in self.link_names]
        touched = [[prefix + path for path in own] for prefix in prefixes]
        self._reader = Reader(engine, self._frames, self._columns, self._table, touched)
        start = home_positions(self.robot)
        self._home = np.array([start[name] for name in self.joint_names])
        self._steps = self.settings.physx_substeps
        self.reset()

    @property
    def step_s(self) -> float:
        """Seconds that `step(1)` advances."""
        return self.settings.timestep_s

    @property
    def fixed_base(self) -> bool:
        """Whether the root link cannot move freely."""
        return not self._floating

    def _open(self) -> Engine:
        if self._engine is None:
            raise InputError("E054", self.engine, "the simulator is closed", "make a new one")
        return self._engine

    def reset(self, state: State | Start | None = None, env_ids: Sequence[int] | None = None) -> None:
        """To a state, part of one, or the robot's own start; targets become the joint positions, efforts zero."""
        import numpy as np

        self._open()
        start = start_of(state)
        rows = np.arange(self.env_count)[env_rows(self.engine, env_ids, self.env_count)]
        n, everything = len(rows), slice(None)
        position, velocity = np.tile(self._home, (n, 1)), np.zeros((n, len(self.joint_names)))
        if start.joint_pos is not None:
            put_joint_values(self.engine, "joint_pos", start.joint_pos, self.joint_names, everything, position)
        if start.joint_vel is not None:
            put_joint_values(self.engine, "joint_vel", start.joint_vel, self.joint_names, everything, velocity)
        pose, twist = self._root_rows(start, rows)
        self._drives.put_state(rows, position, velocity, pose, twist)
        self._drives.reset(rows, position)
        self._time[rows] = 0.0
        self._reader.forget(rows)

    def _root_rows(self, start: Start, rows: Any) -> tuple[Array | None, Array | None]:
        """Pose and velocity of the root as PhysX takes them (stage units, xyzw, of the centre of mass)."""
        import numpy as np

        n, home, frames = len(rows), home_pose(self.robot), self._frames
        if self.robot.joints[0].axes:  # on a rail: the joint says where it is
            return None, None
        position, quat = np.tile(np.array(home.pos), (n, 1)), np.tile(np.array(home.quat_wxyz), (n, 1))
        if start.root_pos_w is not None:
            position = finite_rows(self.engine, "root_pos_w", start.root_pos_w, (n, 3))
        if start.root_quat_wxyz is not None:
            quat = finite_rows(self.engine, "root_quat_wxyz", start.root_quat_wxyz, (n, 4))
        length = np.linalg.norm(quat, axis=1, keepdims=True)
        if (length < 1e-6).any():
            raise InputError("E053", self.engine, "root_quat_wxyz has no length")
        quat = quat / length
        pose = np.concatenate([frames.raw_positions(position, rows), frames.raw_quaternions(quat)], axis=1)
        if not self._floating:
            if start.root_pos_w is not None and not np.allclose(position, home.pos, atol=1e-3):
                message = f"the base is fixed at {np.round(home.pos, 4).tolist()}, not at {position[0].tolist()}"
                raise InputError("E052", self.engine, message, "load it with base_pose=Pose(…)")
            return pose, None
        angular = finite_rows(self.engine, "root_ang_vel_w", _or_zero(start.root_ang_vel_w), (n, 3))
        if start.root_com_lin_vel_w is not None:
            linear = finite_rows(self.engine, "root_com_lin_vel_w", start.root_com_lin_vel_w, (n, 3))
        else:
            linear = finite_rows(self.engine, "root_lin_vel_w", _or_zero(start.root_lin_vel_w), (n, 3))
            arm = batched.rotate(quat, np.broadcast_to(self._reader.coms[0], (n, 3)))
            linear = linear + batched.cross(angular, arm)
        twist = np.concatenate([frames.raw_vectors(linear, frames.metres), frames.raw_vectors(angular)], axis=1)
        return pose, twist

    def set_position_targets(self, values: JointValues, env_ids: Sequence[int] | None = None) -> None:
        """[rad or m], held until the next call."""
        self._set("position target", values, self._drives.position_target, env_ids)
        self._drives.write_position_targets()

    def set_velocity_targets(self, values: JointValues, env_ids: Sequence[int] | None = None) -> None:
        """[rad/s or m/s], held until the next call."""
        self._set("velocity target", values, self._drives.velocity_target, env_ids)
        self._drives.write_velocity_targets()

    def set_efforts(self, values: JointValues, env_ids: Sequence[int] | None = None) -> None:
        """[N·m or N] beside what the drives do, held until the next call."""
        self._set("effort", values, self._drives.effort, env_ids)
        self._drives.write_efforts()

    def _set(self, what: str, values: JointValues, into: Array, env_ids: Sequence[int] | None) -> None:
        self._open()
        rows = env_rows(self.engine, env_ids, self.env_count)
        put_joint_values(self.engine, what, values, self.joint_names, rows, into)

    def set_gains(self, stiffness: JointValues | None = None, damping: JointValues | None = None) -> None:
        """Of the drives, the same in all environments."""
        self._open()
        kp, kd = self._drives.stiffness[None].copy(), self._drives.damping[None].copy()
        for what, values, into in (("stiffness", stiffness, kp), ("damping", damping, kd)):
            if values is not None:
                put_joint_values(self.engine, what, values, self.joint_names, slice(None), into)
                if (into < 0).any():
                    name = self.joint_names[int((into[0] < 0).argmax())]
                    raise InputError("E053", self.engine, f"{what} of joint {name!r} is negative")
        self._drives.write_gains(kp[0], kd[0])

    def step(self, count: int = 1) -> None:
        """Advance by `count · step_s`."""
        engine = self._open()
        if count < 1:
            raise InputError("E052", self.engine, f"step({count}): at least one step")
        dt = self.settings.timestep_s
        done = engine.advance(dt / self._steps, self._steps, count, LARGEST_SPEED)
        self._time += done.steps * dt
        self._reader.stepped()
        if not done.stable:
            raise self._explosion()

    def _explosion(self) -> InputError:
        raw: Raw = self._reader.raw()
        columns = self._columns
        root = raw.link_velocity[:, columns.links[0]] if self._floating else None
        return exploded(
            self.engine,
            self.joint_names,
            raw.joint_pos[:, columns.joints],
            raw.joint_vel[:, columns.joints],
            root,
            self._time,
        )

    def read(self) -> State:
        """The state now."""
        self._open()
        return self._reader.state(self._drives, self._time)

    def gains(self) -> tuple[Array, Array]:
        """Stiffness and damping as stated or set."""
        return self._drives.stiffness.copy(), self._drives.damping.copy()

    def effort_limits(self) -> Array:
        """[N·m or N], inf where there is none."""
        return self._table.effort_limit.copy()

    def joint_limits(self) -> Array:
        """Lower and upper [rad or m], as PhysX has them."""
        import numpy as np

        raw = self._open().read("DOF_LIMIT")[0][self._columns.joints].astype(float)
        limits = np.where(np.abs(raw) > 1e37, np.copysign(np.inf, raw), raw * self._columns.position_unit[:, None])
        limits[~self._columns.hinges] = joint_limits(self.robot)[self._columns.canonical][~self._columns.hinges]
        return limits

    def masses(self) -> Array:
        """Of every link [kg], as PhysX has them."""
        return self._open().read("BODY_MASS")[0][self._columns.links].astype(float) * self._frames.kilograms

    def centers_of_mass(self) -> Array:
        """Of every link in its own frame [m], as PhysX has them."""
        return self._reader.coms.copy()

    def mass_matrix(self) -> Array:
        """See `Simulator.mass_matrix`."""
        self._open()
        return self._dynamics.mass_matrix()

    def bias(self) -> Array:
        """See `Simulator.bias`."""
        self._open()
        return self._dynamics.bias()

    def jacobian(self, link: str) -> Array:
        """See `Simulator.jacobian`."""
        import numpy as np

        self._open()
        column = name_index(self.engine, "link", link, self.link_names)
        quat = self.read().link_quat_wxyz[:, column]
        return self._dynamics.jacobian(
            column, batched.rotate(quat, np.broadcast_to(self._reader.coms[column], (self.env_count, 3)))
        )

    @property
    def process_id(self) -> int | None:
        """Of the child that PhysX runs in; None: in this process."""
        return self._engine.process_id if isinstance(self._engine, ProcessEngine) else None

    def close(self) -> None:
        """Give the engine back."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


OURS = Path(__file__).resolve().parents[3] / "data"
"""The robots of the repository, which PhysX is known to take."""


def open_physx(
    source: Robot | str | Path,
    *,
    isolated: bool | None = None,
    env_count: int = 1,
    settings: SimSettings | None = None,
    read: ReadOptions | None = None,
    base_pose: Pose | None = None,
    contact_forces: bool = True,
    threads: int | None = None,
    timeout_s: float = STEP_TIMEOUT_S,
) -> PhysxSim:
    """A robot in PhysX, in a child process unless the file is one of this repository or `isolated` says otherwise.

    A child that crashes, hangs or is killed is an InputError (E057) of the call that met it.
    """
    if isolated is None:
        file = source.source.file if isinstance(source, Robot) and source.source is not None else source
        isolated = isinstance(file, Robot) or not Path(file).resolve().is_relative_to(OURS)
    return PhysxSim(
        source,
        env_count=env_count,
        settings=settings,
        read=read,
        base_pose=base_pose,
        contact_forces=contact_forces,
        threads=threads,
        isolated=isolated,
        timeout_s=timeout_s,
    )


def warm_up(engine: Engine, robot: Robot, stage: PhysxStage, frames: Frames, sensors: Sequence[str]) -> list[str]:
    """Clone the robot into every environment, let PhysX make its structures; the robot's prim in every environment."""
    where = str(robot.source or robot.name)
    found = [path for path in engine.articulations() if path == stage.scope or path.startswith(f"{stage.scope}/")]
    if stage.scope == "/":
        found = engine.articulations()
    if not found:
        raise InputError(
            "E058", where, "PhysX makes no articulation of it", "apply PhysicsArticulationRootAPI to the robot"
        )
    clones = [f"{ENVIRONMENTS}/env_{k}" for k in range(1, len(frames.origins))]
    if clones:
        if stage.scope == "/":
            raise InputError("E058", where, "its links stand at the root of the stage", "put them under one prim")
        if any(loop.link0 is None or loop.link1 is None for loop in robot.loops):
            raise InputError("E058", where, "a joint ties it softly to the world: copies would be torn", "set fix_base")
        engine.clone(stage.scope, clones, clone_poses(stage, frames))
    prefixes, cut = [stage.scope if stage.scope != "/" else "", *clones], len(stage.scope.rstrip("/"))
    engine.warm_up(
        [prefix + found[0][cut:] for prefix in prefixes],
        [prefix + path[cut:] for prefix in prefixes for path in sensors],
    )
    return prefixes


def _or_zero(value: Any) -> Any:
    return 0.0 if value is None else value
