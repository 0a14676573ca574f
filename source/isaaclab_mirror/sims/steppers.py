"""Steppers: what advances MuJoCo environments. `MujocoSim` owns the arrays, a stepper moves them.

Another stepper (PhysX's solver step in `physics/emulation/`) is handed to `MujocoSim(stepper=…)`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


LONGEST = 16
"""Steps per call of rollout: it keeps every step of every environment, and that shall not grow with `count`."""


@dataclass(slots=True, kw_only=True, eq=False)
class Batch:
    """The environments' arrays, in MuJoCo's orders and frames. A stepper reads and writes them in place."""

    model: Any
    """mujoco.MjModel, shared by all environments."""
    state: Array
    """(env_count, nstate): mjSTATE_FULLPHYSICS, of which `time`, `qpos`, `qvel`, `act` are views."""
    warmstart: Array
    """(env_count, nv): accelerations from which the constraint solver starts."""
    sensordata: Array
    """(env_count, nsensordata) of the last step: net contact forces among them."""
    time: Array
    qpos: Array
    """(env_count, nq)"""
    qvel: Array
    """(env_count, nv)"""
    act: Array
    only_qvel: Array | None = None
    """qvel of a single environment, (nv,)."""
    contact_force: Array | None = None
    """(env_count, links, 3) net force on every link [N], where the stepper knows it; else the model's sensors say."""

    @property
    def env_count(self) -> int:
        """Number of environments."""
        return len(self.state)

    def clear(self, rows: Any) -> None:
        """Nothing of some environments but zeros."""
        self.state[rows] = 0.0
        for array in (self.time, self.act, self.warmstart, self.sensordata):
            array[rows] = 0.0
        if self.contact_force is not None:
            self.contact_force[rows] = 0.0

    def moment(self) -> tuple[Array, Array, Array]:
        """Copies of what `put_back` needs beside the time."""
        return self.qpos.copy(), self.qvel.copy(), self.act.copy() if self.act.size else self.act

    def put_back(self, moment: tuple[Array, Array, Array]) -> None:
        """As it was then; solvers start cold."""
        self.qpos[:], self.qvel[:], self.act[:] = moment
        self.warmstart[:] = 0.0

    def slower_than(self, limit: float) -> bool:
        """Whether all velocities are finite and below a limit [rad/s or m/s]."""
        import numpy as np

        return bool(np.abs(self.qvel).max(initial=0.0) < limit)  # nan is not


@dataclass(slots=True, kw_only=True, eq=False)
class Drives:
    """What the caller set, in canonical joint order: targets and efforts (env_count, joints), gains (joints,).

    `control` is the same folded into MuJoCo's actuators, (env_count, nu); a stepper that has its own drive law leaves
    it alone and takes the rest. `dof` and `qpos_index` say where a joint stands in qvel and qpos.
    """

    position_target: Array
    velocity_target: Array
    effort: Array
    stiffness: Array
    damping: Array
    effort_limit: Array
    dof: NDArray[np.intp]
    qpos_index: NDArray[np.intp]
    control: Array


class Stepper(Protocol):
    """Advances a batch."""

    def start(self, batch: Batch, rows: Any) -> None:
        """The environments `rows` (an index) were reset: forget what was carried from step to step."""
        ...

    def step(self, batch: Batch, drives: Drives, count: int) -> None:
        """`count` steps of `settings.timestep_s` each, in place; `batch.time` too."""
        ...

    def close(self) -> None:
        """Give threads back."""
        ...


def make_batch(model: Any, env_count: int) -> Batch:
    """Arrays for `env_count` environments, at zero."""
    import mujoco
    import numpy as np

    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros((env_count, size))
    ends = np.cumsum([1, model.nq, model.nv, model.na])
    return Batch(
        model=model,
        state=state,
        warmstart=np.zeros((env_count, model.nv)),
        sensordata=np.zeros((env_count, model.nsensordata)),
        time=state[:, 0],
        qpos=state[:, ends[0] : ends[1]],
        qvel=state[:, ends[1] : ends[2]],
        act=state[:, ends[2] : ends[3]],
    )


def thread_count(env_count: int, wanted: int | None) -> int:
    """Threads worth having: none for one environment, else one per core that this process may use."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    return 0 if env_count == 1 else max(1, min(env_count, wanted or cores))


class SingleStepper:
    """One environment: mj_step on its own data, all `count` steps in one call.

    The batch's and the drives' arrays become views of that data: nothing is copied at a step.
    """

    def __init__(self, model: Any, substeps: int, batch: Batch, drives: Drives) -> None:
        """Makes the data and lends it to batch and drives; `batch.state` is not kept."""
        import mujoco

        self.data = data = mujoco.MjData(model)
        self._model, self._substeps, self._advance = model, substeps, mujoco.mj_step  # looked up once
        data.ctrl[:] = drives.control[0]
        batch.only_qvel = data.qvel
        batch.qpos, batch.qvel, batch.act = data.qpos[None], data.qvel[None], data.act[None]
        batch.warmstart, batch.sensordata = data.qacc_warmstart[None], data.sensordata[None]
        drives.control = data.ctrl[None]

    def start(self, batch: Batch, rows: Any) -> None:
        """Nothing is carried but what is in the batch."""
        del rows
        import mujoco

        kept, control, time_s = batch.moment(), self.data.ctrl.copy(), batch.time[0]
        mujoco.mj_resetData(self._model, self.data)
        batch.put_back(kept)
        self.data.ctrl[:], self.data.time = control, time_s

    def step(self, batch: Batch, drives: Drives, count: int) -> None:
        """In place."""
        data = self.data
        self._advance(self._model, data, count * self._substeps)
        batch.time[0] = data.time

    def close(self) -> None:
        """Nothing to give back."""


class RolloutStepper:
    """Many environments over mujoco.rollout: no Python between steps, a pool of threads that stays."""

    def __init__(self, model: Any, env_count: int, substeps: int, threads: int | None = None) -> None:
        """Starts the pool."""
        import mujoco
        from mujoco.rollout import Rollout

        count = thread_count(env_count, threads)
        self._substeps = substeps
        self._pool = Rollout(nthread=0 if count == 1 else count)
        self._datas = [mujoco.MjData(model) for _ in range(max(count, 1))]
        self._models = [model] * env_count
        self._steps = 0
        self._out: Any = None

    def _buffers(self, batch: Batch, steps: int) -> tuple[Array, Array, Array]:
        """Outputs and controls for that many steps, kept from call to call."""
        import numpy as np

        if self._steps != steps:
            n, model = batch.env_count, batch.model
            self._out = (
                np.empty((n, steps, batch.state.shape[1])),
                np.empty((n, steps, model.nsensordata)),
                np.empty((n, steps, model.nu)),
            )
            self._steps = steps
        return self._out

    def start(self, batch: Batch, rows: Any) -> None:
        """Nothing is carried but what is in the batch."""

    def step(self, batch: Batch, drives: Drives, count: int) -> None:
        """In place.

        rollout gives no warm start back. (v' − v)/h of the last step stands for it: 29 µs per step of a standing Go2
        where a cold start takes 37.
        """
        left = count * self._substeps
        while left:
            steps = min(left, LONGEST)
            self._roll(batch, drives, steps)
            left -= steps

    def _roll(self, batch: Batch, drives: Drives, steps: int) -> None:
        state, sensors, control = self._buffers(batch, steps)
        control[:] = drives.control[:, None]
        before = batch.qvel.copy() if steps == 1 else None
        self._pool.rollout(
            self._models,
            self._datas,
            batch.state,
            control,
            nstep=steps,
            initial_warmstart=batch.warmstart,
            state=state,
            sensordata=sensors,
            skip_checks=True,
        )
        batch.state[:] = state[:, -1]
        first = 1 + batch.model.nq
        last = state[:, -2, first : first + batch.model.nv] if before is None else before
        batch.warmstart[:] = (batch.qvel - last) / batch.model.opt.timestep
        batch.sensordata[:] = sensors[:, -1]

    def close(self) -> None:
        """End the pool."""
        self._pool.close()
