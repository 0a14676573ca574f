"""One motion in one simulator, and how far two runs are apart: what `parity.py` tables."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.physx_sim import PhysxSim
from isaaclab_mirror.sims.settings import SimSettings
from isaaclab_mirror.sims.simulator import Simulator
from isaaclab_mirror.sims.state import Start

Array = NDArray[np.float64]
Targets = Callable[[float], Array]
"""Time [s] → joint targets [rad], in the order of `Motion.joints`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Motion:
    """What a robot starts from and is asked to do."""

    name: str
    robot: Robot
    settings: SimSettings
    joints: tuple[str, ...]
    start: Array
    targets: Targets
    seconds: float
    height_m: float | None = None
    """Of the root link; None: a fixed base."""
    explicit: tuple[float, float, float] | None = None
    """kp, kd, bound of efforts computed once per step; None: the robot's own drives."""
    efforts: Targets | None = None
    """Time [s] → explicit efforts beside the drives [N·m]."""
    speed: Array | None = None
    """Joint velocities at the start."""
    push: tuple[tuple[float, float, float], tuple[float, float, float]] | None = None
    """Linear and angular velocity of a floating base at the start [m/s, rad/s]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """Every step of one run."""

    joint_pos: Array
    root_pos: Array
    root_quat: Array
    force: Array
    """Total contact force, vertical [N]."""
    cpu_us: float
    """Per step, reading excluded."""
    said: list[str] = field(default_factory=list[str])


def record(sim: Simulator, motion: Motion, raise_m: float = 0.0) -> Run:
    """The motion from its start; `raise_m` lifts a floating base, and turns the first joint of a fixed one."""
    columns = [sim.joint_names.index(name) for name in motion.joints]
    start = motion.start.copy()
    place: dict[str, Any] = {}
    if motion.height_m is None:
        start[0] += raise_m
    else:
        place = {
            "root_pos_w": np.array([0.0, 0.0, motion.height_m + raise_m]),
            "root_quat_wxyz": np.array([1.0, 0, 0, 0]),
        }
    if motion.push is not None:
        place |= {"root_lin_vel_w": np.array(motion.push[0]), "root_ang_vel_w": np.array(motion.push[1])}
    speed = np.zeros(len(columns)) if motion.speed is None else motion.speed
    sim.reset(Start(joint_pos=_placed(start, columns), joint_vel=_placed(speed, columns), **place))
    if motion.explicit is not None:
        sim.set_gains(0.0, 0.0)
    rows: list[tuple[Array, Array, Array, float]] = []
    busy = 0.0
    state = sim.read()
    for step in range(round(motion.seconds / sim.step_s)):
        targets = motion.targets((step + 1) * sim.step_s)
        if motion.explicit is None:
            sim.set_position_targets(_placed(targets, columns))
        else:
            kp, kd, bound = motion.explicit
            q, v = state.joint_pos[0, columns], state.joint_vel[0, columns]
            sim.set_efforts(_placed(np.clip(kp * (targets - q) - kd * v, -bound, bound), columns))
        if motion.efforts is not None:
            sim.set_efforts(_placed(motion.efforts((step + 1) * sim.step_s), columns))
        begin = time.process_time()
        sim.step()
        busy += time.process_time() - begin
        state = sim.read()
        force = float(np.nan_to_num(state.contact_force_w[0, :, 2]).sum())
        rows.append((state.joint_pos[0, columns], state.root_pos_w[0], state.root_quat_wxyz[0], force))
    said = [str(found) for found in sim.diagnostics] if isinstance(sim, MujocoSim) else []
    return Run(
        joint_pos=np.array([row[0] for row in rows]),
        root_pos=np.array([row[1] for row in rows]),
        root_quat=np.array([row[2] for row in rows]),
        force=np.array([row[3] for row in rows]),
        cpu_us=1e6 * busy / len(rows),
        said=said,
    )


def physx(motion: Motion, raise_m: float = 0.0) -> Run:
    """In PhysX."""
    with PhysxSim(motion.robot, settings=motion.settings, threads=0) as sim:
        return record(sim, motion, raise_m)


def mujoco(motion: Motion, fidelity: str, **options: Any) -> Run:
    """In MuJoCo."""
    with MujocoSim(motion.robot, settings=motion.settings, fidelity=fidelity, **options) as sim:
        return record(sim, motion)


def rms_mrad(a: Run, b: Run) -> float:
    """Over all joints and steps; a joint that PhysX counts past a turn is the same joint."""
    apart = np.angle(np.exp(1j * (a.joint_pos - b.joint_pos)))
    return 1e3 * float(np.sqrt((apart**2).mean()))


def yaw(run: Run) -> float:
    """At the end [rad]."""
    w, x, y, z = run.root_quat[-1]
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def _placed(values: Array, columns: list[int]) -> Array:
    result = np.zeros(len(columns))
    result[columns] = values
    return result
