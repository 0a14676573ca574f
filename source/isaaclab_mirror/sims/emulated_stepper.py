"""Fidelity `emulate`: MujocoSim's environments advanced by PhysX's solver step (`physics/emulation`)."""

from __future__ import annotations

import contextlib
import importlib
import math
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.physics.emulation.compiled import COMPILED, cache_folder
from isaaclab_mirror.physics.emulation.coverage import Gap
from isaaclab_mirror.physics.emulation.emulator import PhysxStep
from isaaclab_mirror.physics.emulation.laws import Laws
from isaaclab_mirror.physics.emulation.settings import ContactParameters, JointParameters, LinkParameters, Settings
from isaaclab_mirror.physics.ground import with_ground
from isaaclab_mirror.physics.physx_contacts import contact_parameters, link_parameters
from isaaclab_mirror.robot.drives import DriveType, Transmission
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.robots import drive_of
from isaaclab_mirror.sims.settings import SimSettings
from isaaclab_mirror.sims.steppers import Batch, Drives, thread_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isaaclab_mirror.sims.mujoco_model import MujocoRobot

    Array = NDArray[np.float64]

ENGINE = "MuJoCo"
PATIENCE_S = 2.0
"""What takes longer is announced."""
REACHED_MPS = 50.0
"""Bounds of links' linear speed above this are never met."""
SHOWN = 3
"""So many names of what one gap concerns are written out."""


def make_stepper(
    robot: MujocoRobot,
    settings: SimSettings,
    env_count: int,
    *,
    laws: Laws | None = None,
    threads: int | None = None,
) -> EmulatedStepper:
    """PhysX's step of a compiled robot: what `MujocoSim` asks for."""
    return EmulatedStepper(robot, settings, env_count, laws or Laws(), thread_count(env_count, threads))


class EmulatedStepper:
    """Advances a batch as PhysX would, all environments in compiled code."""

    def __init__(self, robot: MujocoRobot, settings: SimSettings, env_count: int, laws: Laws, threads: int) -> None:
        """Take over every number of PhysX's that the robot model holds."""
        stated = robot.robot
        if stated is not None and settings.ground is not None:
            stated = with_ground(stated, settings.ground.height_m, settings.ground.material)
        own = _settings(settings)
        if not settings.efforts_bounded:
            laws = replace(laws, bounded_efforts=False)
        try:
            self._step = PhysxStep(
                robot.model,
                _joint_parameters(robot),
                own,
                contacts=_contacts(stated, settings),
                links=LinkParameters() if stated is None else link_parameters(stated),
                laws=laws,
                threads=threads,
                env_count=env_count,
            )
        except ValueError as error:
            raise InputError("E060", ENGINE, str(error), "use fidelity physx") from None
        self.laws = laws
        self.gaps: tuple[Gap, ...] = (*self._step.gaps, *_gaps(stated, settings))
        """What the emulation leaves out or approximates."""
        order = [self._step.joint_names.index(name) for name in robot.joints.names]
        self._order = None if order == list(range(len(order))) else np.array(order)
        """Column of each joint in the emulation."""
        shape = (env_count, len(order))
        self._command = (np.zeros(shape), np.zeros(shape), np.zeros(shape))
        self._gains = (robot.drives.stiffness.copy(), robot.drives.damping.copy())
        self._bodies = robot.bodies if robot.touch is not None else None
        self._steps, self._step_s = settings.physx_substeps, settings.timestep_s
        self._known: Any = None

    def start(self, batch: Batch, rows: Any) -> None:
        """Forget the friction anchors and touching pairs of some environments."""
        if self._bodies is not None and batch.contact_force is None:
            batch.contact_force = np.zeros((batch.env_count, len(self._bodies), 3))
        self._step.reset(rows)

    def step(self, batch: Batch, drives: Drives, count: int) -> None:
        """In place."""
        self._take_gains(drives)
        command = (drives.position_target, drives.velocity_target, drives.effort)
        if self._order is not None:
            for into, values in zip(self._command, command, strict=True):
                into[:, self._order] = values
            command = self._command
        changed = self._known is not batch.state
        with contextlib.nullcontext() if self._known is not None else _saying_that_it_compiles():
            self._step.step_arrays(batch.qpos, batch.qvel, command, count * self._steps, changed=changed)
        self._known = batch.state
        batch.time += count * self._step_s
        if self._bodies is not None and batch.contact_force is not None:
            batch.contact_force[:] = self._step.contact_forces()[:, self._bodies]

    def drive_efforts(self) -> Array:
        """What drives and explicit efforts did in the last step (environments, joints), canonical order [N·m or N]."""
        efforts = self._step.joint_efforts
        return efforts.copy() if self._order is None else efforts[:, self._order]

    def report(self, found: Diagnostics) -> None:
        """Say the gaps, those of one reason together; and that nothing is compiled."""
        if not COMPILED:
            found.warn(
                "E063",
                ENGINE,
                "numba is not installed: PhysX's step is interpreted, some hundred times slower",
                "pip install 'isaaclab-mirror[emulate]'",
            )
        alike: dict[tuple[str, bool], list[str]] = {}
        for gap in self.gaps:
            alike.setdefault((gap.reason, gap.ignored), []).append(gap.what)
        for (reason, ignored), what in alike.items():
            more = f" and {len(what) - SHOWN} more" if len(what) > SHOWN else ""
            names = ", ".join(what[:SHOWN]) + more
            if ignored:
                found.warn("E061", names, f"left out of the emulation: {reason}", "use fidelity physx if it matters")
            else:
                found.info("E062", names, f"approximated in the emulation: {reason}")

    def close(self) -> None:
        """End the threads."""
        self._step.close()

    def _take_gains(self, drives: Drives) -> None:
        """Those that `set_gains` has changed since the last step."""
        stiffness, damping = self._gains
        if np.array_equal(stiffness, drives.stiffness) and np.array_equal(damping, drives.damping):
            return
        self._gains = (drives.stiffness.copy(), drives.damping.copy())
        values = {"stiffness": drives.stiffness, "damping": drives.damping}
        if self._order is not None:
            values = {name: _placed(value, self._order) for name, value in values.items()}
        self._step.set_joints(**values)


def _is_kept() -> bool:
    """Whether the machine code of a whole step is on disk already."""
    numba: Any = importlib.import_module("numba")
    return any(Path(cache_folder(numba.config.CACHE_DIR)).rglob("*.run_batch-*.nbc"))


@contextlib.contextmanager
def _saying_that_it_compiles() -> Iterator[None]:
    """One line where the first step takes long: its laws become machine code, once per installation."""
    words = "compiling PhysX's solver step for this machine: a minute, once …\n"
    timer = threading.Timer(PATIENCE_S, sys.stderr.write, (words,))
    timer.daemon = True
    if COMPILED and not _is_kept():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _placed(values: Array, order: NDArray[np.intp]) -> Array:
    result = np.empty_like(values)
    result[order] = values
    return result


def _settings(settings: SimSettings) -> Settings:
    return Settings(
        step_s=settings.timestep_s / settings.physx_substeps,
        position_iterations=settings.position_iterations,
        velocity_iterations=settings.velocity_iterations,
        external_forces_every_iteration=settings.external_forces_every_iteration,
        friction_offset_threshold_m=settings.friction_offset_threshold_m,
        friction_correlation_m=settings.friction_correlation_distance_m,
    )


def _contacts(robot: Robot | None, settings: SimSettings) -> ContactParameters:
    """Of an MJCF taken as it is, MuJoCo's friction."""
    if robot is None:
        return ContactParameters()
    return contact_parameters(robot, math.hypot(*settings.gravity), settings.timestep_s / settings.physx_substeps)


def _joint_parameters(robot: MujocoRobot) -> JointParameters:
    """Drives, limits and friction of every joint; of an MJCF taken as it is, MuJoCo's."""
    model, names, source = robot.model, robot.joints.names, robot.robot
    dof = robot.joints.dof
    velocity = np.full(len(names), math.inf)
    acceleration = [False] * len(names)
    if source is None:
        dynamic, viscous = model.dof_frictionloss[dof].copy(), model.dof_damping[dof].copy()
        static = dynamic
    else:
        axes = [axis for axis in source.axes() for _ in range(axis.dofs)]
        dynamic = np.array([axis.dynamics.friction for axis in axes])
        static = np.array([max(axis.dynamics.static_friction, axis.dynamics.friction) for axis in axes])
        viscous = np.array([axis.dynamics.damping for axis in axes])
        velocity = np.array([axis.limits.velocity or math.inf for axis in axes])
        drives = [drive_of(source, axis) for axis in axes]
        acceleration = [drive is not None and drive.type is DriveType.ACCELERATION for drive in drives]
    return JointParameters(
        names=names,
        stiffness=robot.drives.stiffness,
        damping=robot.drives.damping,
        max_effort=robot.drives.effort_limit,
        acceleration=acceleration,
        lower=robot.limits[:, 0],
        upper=robot.limits[:, 1],
        velocity_limit=velocity,
        static_friction=static,
        dynamic_friction=dynamic,
        viscous_friction=viscous,
    )


def _gaps(robot: Robot | None, settings: SimSettings) -> list[Gap]:
    """What the model of MuJoCo's does not show."""
    gaps: list[Gap] = []
    if settings.solver != "TGS":
        gaps.append(Gap(f"solver {settings.solver}", "stepped as TGS, which alone was measured", False))
    if robot is None:
        return gaps
    gaps += [
        Gap(f"material {material.name}", "contacts do not bounce", True)
        for material in robot.contact_materials
        if material.restitution > 0.0
    ]
    gaps += [
        Gap(f"link {link.name}", "its linear speed is not bounded", True)
        for link in robot.links
        if link.max_linear_velocity is not None and link.max_linear_velocity < REACHED_MPS
    ]
    gaps += [
        Gap(f"joint {axis.name}", "passive springs are not PhysX's", True)
        for axis in robot.axes()
        if axis.dynamics.stiffness
    ]
    driven = {Transmission.JOINT, Transmission.JOINT_IN_PARENT}
    gaps += [
        Gap(f"actuator {actuator.name}", "only joints are driven", True)
        for actuator in robot.actuators
        if actuator.transmission not in driven
    ]
    return gaps
