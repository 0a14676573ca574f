"""Running the same trials in two engines, and what is kept of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.comparison.rows import NUDGE
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.simulator import Simulator
from isaaclab_mirror.sims.state import Start

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TICK_S = 0.01
"""Targets change and states are kept about this often."""


def hold(position: Array) -> Callable[[float], Array]:
    """Targets that stay."""

    def targets(_time_s: float) -> Array:
        return position

    return targets


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """One run: from where, for how long, under which targets. Joint arrays are by `Bench.names`."""

    name: str
    seconds: float
    joint_pos: Array
    """Start [rad or m], (joints,)."""
    root_pos_w: Array | None = None
    """Start of a floating base [m]; None is the robot's own."""
    position_targets: Callable[[float], Array] | None = None
    """Time [s] → (joints,); None holds the start."""
    velocity_targets: Callable[[float], Array] | None = None

    def nudged(self) -> Trial:
        """The same, started `NUDGE` away, its targets unmoved."""
        import numpy as np

        targets = self.position_targets or hold(self.joint_pos)
        root = None if self.root_pos_w is None else self.root_pos_w + np.array([0.0, 0.0, NUDGE])
        return replace(self, joint_pos=self.joint_pos + NUDGE, root_pos_w=root, position_targets=targets)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recording:
    """States of one run, every tick: (ticks, …)."""

    time_s: Array
    joint_pos: Array
    """[rad or m]; angles are continuous: PhysX wraps a joint without limits."""
    joint_vel: Array
    root_pos_w: Array
    root_quat_wxyz: Array
    root_lin_vel_w: Array
    force_w: Array
    """Sum of the contact forces on all links [N], mean over the tick; nan where not measured."""
    failure: InputError | None = None
    """Set where the engine gave up; the arrays end there."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """A trial in both engines, and once more in PhysX from a nudged start."""

    trial: str
    joint_names: tuple[str, ...]
    units: tuple[str, ...]
    physx: Recording
    mujoco: Recording
    nudged: Recording | None = None
    targets: Array | None = None
    """(ticks, joints) position targets, where there are some."""


class Bench:
    """One engine, its joints in the order in which trials name them."""

    def __init__(self, sim: Simulator, names: Sequence[str], *, forces: bool = False) -> None:
        """`names`: joints that both engines have."""
        import numpy as np

        self.sim, self.names, self.forces = sim, tuple(names), forces
        self._columns = np.array([sim.joint_names.index(name) for name in names], dtype=int)
        sim.reset()
        state = sim.read()
        self._home = state.joint_pos[0].copy()
        self.root_pos_w = state.root_pos_w[0].copy()
        self.ticks_per = max(1, round(TICK_S / sim.step_s))

    @property
    def home(self) -> Array:
        """The robot's own start, by name."""
        return self._home[self._columns]

    def run(self, trials: Sequence[Trial], progress: Callable[[float], None] | None = None) -> list[Recording]:
        """All trials, as many at once as there are environments."""
        result: list[Recording] = []
        room = self.sim.env_count
        for first in range(0, len(trials), room):
            chunk = list(trials[first : first + room])
            records = self._run_chunk(chunk, progress)
            if len(chunk) > 1 and any(r.failure for r in records):  # one at a time: which of them was it?
                records = [self._run_chunk([trial], progress)[0] for trial in chunk]
            result += records
        return result

    def _rows(self, values: Sequence[Array]) -> Array:
        """(env_count, joints of the engine): those that no trial names stay at home, spare environments repeat."""
        import numpy as np

        rows = np.tile(self._home, (self.sim.env_count, 1))
        for k in range(self.sim.env_count):
            rows[k, self._columns] = values[min(k, len(values) - 1)]
        return rows

    def _start(self, trials: Sequence[Trial]) -> Start:
        import numpy as np

        roots = [trial.root_pos_w for trial in trials]
        position = None
        if roots[0] is not None and not self.sim.fixed_base:
            position = np.array([roots[min(k, len(roots) - 1)] for k in range(self.sim.env_count)])
        return Start(root_pos_w=position, joint_pos=self._rows([trial.joint_pos for trial in trials]))

    def _put_targets(self, trials: Sequence[Trial], time_s: float) -> None:
        import numpy as np

        if any(trial.position_targets for trial in trials):
            goals = [t.position_targets(time_s) if t.position_targets else t.joint_pos for t in trials]
            self.sim.set_position_targets(self._rows(goals))
        if any(trial.velocity_targets for trial in trials):
            still = np.zeros(len(self.names))
            goals = [t.velocity_targets(time_s) if t.velocity_targets else still for t in trials]
            rows = self._rows(goals)
            others = np.ones(rows.shape[1], bool)
            others[self._columns] = False
            rows[:, others] = 0.0
            self.sim.set_velocity_targets(rows)

    def _run_chunk(self, trials: Sequence[Trial], progress: Callable[[float], None] | None) -> list[Recording]:
        sim, count, failure = self.sim, self.ticks_per, None
        ticks = max(1, round(max(t.seconds for t in trials) / (count * sim.step_s)))
        kept: list[dict[str, Any]] = []
        try:
            sim.reset(self._start(trials))
            kept.append(self._keep())
            for tick in range(ticks):
                self._put_targets(trials, tick * count * sim.step_s)
                kept.append(self._advance(count))
                if progress is not None:
                    progress(count * sim.step_s)
        except InputError as error:
            if error.diagnostic.code != "E055":
                raise
            failure = error
        if not kept:
            raise failure or InputError("E055", sim.engine, "nothing was recorded")
        return [self._recording(kept, k, trial, failure) for k, trial in enumerate(trials)]

    def _advance(self, count: int) -> dict[str, Any]:
        """One tick; forces are averaged over its steps, as an impact lasts for one."""
        if not self.forces:
            self.sim.step(count)
            return self._keep()
        total = 0.0
        for _ in range(count):
            self.sim.step(1)
            total = total + self.sim.read().contact_force_w.sum(axis=1)
        return {**self._keep(), "force_w": total / count}

    def _keep(self) -> dict[str, Any]:
        import numpy as np

        state = self.sim.read()
        return {
            "time_s": state.time_s,
            "joint_pos": state.joint_pos[:, self._columns],
            "joint_vel": state.joint_vel[:, self._columns],
            "root_pos_w": state.root_pos_w,
            "root_quat_wxyz": state.root_quat_wxyz,
            "root_lin_vel_w": state.root_com_lin_vel_w,
            "force_w": np.full((self.sim.env_count, 3), np.nan),
        }

    def _recording(
        self, kept: Sequence[dict[str, Any]], env: int, trial: Trial, failure: InputError | None
    ) -> Recording:
        import numpy as np

        arrays = {name: np.array([k[name][env] for k in kept]) for name in kept[0]}
        last = round(trial.seconds / (self.ticks_per * self.sim.step_s)) + 1
        arrays = {name: array[:last] for name, array in arrays.items()}
        arrays["joint_pos"] = _continuous(arrays["joint_pos"], arrays["joint_vel"])
        early = failure is not None and len(arrays["time_s"]) < last
        return Recording(**arrays, failure=failure if early else None)


def _continuous(position: Array, velocity: Array) -> Array:
    """Without the jumps by 2π of a joint without limits; no slide jumps by as much in a hundredth of a second."""
    import numpy as np

    if len(position) < 2:
        return position
    jump = np.diff(position, axis=0)
    expected = 0.5 * (velocity[1:] + velocity[:-1]) * TICK_S
    turns = np.round((jump - expected) / (2 * np.pi))
    turns[np.abs(turns) > 1e6] = 0.0
    return position - np.concatenate([np.zeros((1, position.shape[1])), np.cumsum(turns, axis=0)]) * 2 * np.pi


def run_pair(
    physx: Bench,
    mujoco: Bench,
    trials: Sequence[Trial],
    units: Sequence[str],
    *,
    noise: bool = True,
    progress: Callable[[float], None] | None = None,
) -> list[Pair]:
    """Every trial in both engines, and nudged in PhysX."""
    import numpy as np

    twice = [t for trial in trials for t in ((trial, trial.nudged()) if noise else (trial,))]
    ours, theirs = mujoco.run(trials), physx.run(twice, progress)
    step = 2 if noise else 1
    pairs: list[Pair] = []
    for k, trial in enumerate(trials):
        goals = None
        if trial.position_targets is not None:
            goals = np.array([trial.position_targets(float(t)) for t in ours[k].time_s])
        pairs.append(
            Pair(
                trial=trial.name,
                joint_names=physx.names,
                units=tuple(units),
                physx=theirs[k * step],
                mujoco=ours[k],
                nudged=theirs[k * step + 1] if noise else None,
                targets=goals,
            )
        )
    return pairs
