"""The same trials in MuJoCo under many sets of numbers at once: mujoco.rollout, one model per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.comparison.recording import Recording, Trial
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.steppers import thread_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROWS = 64
"""Rollouts kept in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Motion:
    """What a rollout of one trial gave, every tick: (ticks, …)."""

    joint_pos: Array
    """By the names of the trials."""
    root_pos_w: Array
    root_quat_wxyz: Array


class Rollouts:
    """Trials prepared for one robot: starts and controls; `run` takes models. A context manager."""

    def __init__(self, sim: MujocoSim, names: Sequence[str], trials: Sequence[Trial], ticks_per: int) -> None:
        """`sim`: the robot as it starts; `names`: order of the trials' joints; a tick is `ticks_per` steps."""
        import mujoco
        from mujoco.rollout import Rollout

        self._sim, self._kind = sim, mujoco.mjtState.mjSTATE_FULLPHYSICS
        self._columns = [sim.joint_names.index(name) for name in names]
        self._steps_per = ticks_per * (sim.settings.mujoco_substeps or 1)
        self._tick_s = ticks_per * sim.step_s
        threads = thread_count(2, None)
        self._pool = Rollout(nthread=threads if threads > 1 else 0)
        self._datas = [mujoco.MjData(sim.model) for _ in range(max(threads, 1))]
        self.trials = tuple(trials)
        self._starts = [self._start(trial) for trial in trials]
        self._controls = [self._control(trial) for trial in trials]

    def _start(self, trial: Trial) -> Array:
        import numpy as np

        robot = self._sim.robot
        qpos = robot.home_qpos.copy()
        position = robot.joints.positions(qpos[None])
        position[0, self._columns] = trial.joint_pos
        robot.joints.put_positions(position, qpos[None])
        if trial.root_pos_w is not None and robot.floating:
            qpos[robot.root_qpos : robot.root_qpos + 3] = trial.root_pos_w
        model = self._sim.model
        return np.concatenate([[0.0], qpos, np.zeros(model.nv + model.na)])

    def _control(self, trial: Trial) -> Array:
        """(steps, nu): what `MujocoSim` would tell the actuators."""
        import numpy as np

        ticks = max(1, round(trial.seconds / self._tick_s))
        rows = np.zeros((ticks, self._sim.model.nu))
        self._sim.reset()
        for tick in range(ticks):
            time_s = tick * self._tick_s
            for source, put in (
                (trial.position_targets or _held(trial.joint_pos), self._sim.set_position_targets),
                (trial.velocity_targets, self._sim.set_velocity_targets),
            ):
                if source is not None:
                    goal = source(time_s)
                    names = self._sim.joint_names
                    put({names[c]: float(goal[k]) for k, c in enumerate(self._columns)})
            rows[tick] = self._sim.controls()[0]
        return np.repeat(rows, self._steps_per, axis=0)

    def run(self, models: Sequence[Any]) -> list[list[Motion]]:
        """Every trial under every model: [model][trial]."""
        result: list[list[Motion]] = [[] for _ in models]
        for t in range(len(self.trials)):
            for first in range(0, len(models), ROWS):
                chunk = list(models[first : first + ROWS])
                for k, motion in enumerate(self._run_chunk(chunk, t)):
                    result[first + k].append(motion)
        return result

    def _run_chunk(self, models: list[Any], t: int) -> list[Motion]:
        import numpy as np

        control, start, count = self._controls[t], self._starts[t], len(models)
        state = np.empty((count, len(control), len(start)))
        self._pool.rollout(
            models,
            self._datas,
            np.tile(start, (count, 1)),
            np.tile(control, (count, 1, 1)),
            nstep=len(control),
            state=state,
        )
        kept = np.concatenate([np.tile(start, (count, 1, 1)), state[:, self._steps_per - 1 :: self._steps_per]], axis=1)
        return [self._motion(rows) for rows in kept]

    def _motion(self, rows: Array) -> Motion:
        robot, model = self._sim.robot, self._sim.model
        qpos = rows[:, 1 : 1 + model.nq]
        first = robot.root_qpos
        return Motion(
            joint_pos=robot.joints.positions(qpos)[:, self._columns],
            root_pos_w=qpos[:, first : first + 3] if robot.floating else rows[:, :0],
            root_quat_wxyz=qpos[:, first + 3 : first + 7] if robot.floating else rows[:, :0],
        )

    def close(self) -> None:
        """End the threads."""
        self._pool.close()


def _held(position: Array) -> Any:
    return lambda _: position


WORST = 1.0
"""An error beyond this [rad, m] counts as this: a fit is not led by what has fallen over."""


def errors(motion: Motion, truth: Recording, weights: Array) -> Array:
    """(ticks, joints + 6): joint errors [rad, or m × weight], base position [m] and attitude [rad]."""
    import numpy as np

    count = min(len(motion.joint_pos), len(truth.joint_pos))
    parts = [(motion.joint_pos[:count] - truth.joint_pos[:count]) * weights]
    if motion.root_pos_w.size:
        parts.append(motion.root_pos_w[:count] - truth.root_pos_w[:count])
        parts.append(_turn(motion.root_quat_wxyz[:count], truth.root_quat_wxyz[:count]))
    whole = np.concatenate(parts, axis=1)
    return np.clip(np.nan_to_num(whole, nan=WORST, posinf=WORST, neginf=-WORST), -WORST, WORST)


def _turn(a: Array, b: Array) -> Array:
    """Rotation vector from b to a, for small angles twice the vector part."""
    import numpy as np

    w = (a * b).sum(axis=1, keepdims=True)
    vector = b[:, :1] * a[:, 1:] - a[:, :1] * b[:, 1:] - np.cross(a[:, 1:], b[:, 1:])
    return 2.0 * np.where(w < 0, -vector, vector)
