"""Speed and memory of the simulators against the bare engines under them, and docs/performance.md.

`python benchmarks/sims.py` measures everything, prints each figure with its limit, writes the page, and ends with 1 when
a limit is missed. `--quick`: fewer rounds, no page. The robot is the Go2 of data/, standing on the ground under its
drives.

Ours and the bare engine run in turn in one process, on one model and from one state, many short rounds of CPU time
(threads summed). Whatever else the machine does can only lengthen a round, so a figure is the ratio of the lower deciles.
The gain of a second thread and the cost of another process need wall time: there the best round counts.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "source"), str(ROOT / "benchmarks")]

from timing import Limits, slope  # noqa: E402

GO2 = ROOT / "data/unitree_go2/unitree_go2_physx.usda"
PAGE = ROOT / "docs/performance.md"
STANCE = {"hip": 0.0, "thigh": 0.8, "calf": -1.5}
THREADS = 2


@dataclass
class Table:
    """Rows of the page."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def text(self) -> str:
        """Markdown."""
        lines = [f"## {self.title}", "", f"| {' | '.join(self.head)} |", "|" + "---|" * len(self.head)]
        return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in self.rows)])


def standing(engine: str, env_count: int, **options: Any) -> Any:
    """Go2 after half a second on the ground."""
    from isaaclab_mirror.rotations import Pose
    from isaaclab_mirror.sims.settings import Ground, resolve_settings
    from isaaclab_mirror.sims.state import Start

    options |= {"settings": resolve_settings(ground=Ground()), "base_pose": Pose((0.0, 0.0, 0.33))}
    if engine == "PhysX":
        from isaaclab_mirror.sims.physx_sim import PhysxSim

        sim: Any = PhysxSim(GO2, env_count=env_count, **options)
    else:
        from isaaclab_mirror.sims.mujoco_sim import MujocoSim

        sim = MujocoSim(GO2, env_count=env_count, **options)
    sim.reset(Start(joint_pos={name: STANCE[name.split("_")[1]] for name in sim.joint_names}))
    sim.step(100)
    return sim


class BareLoop:
    """mj_step on one MjData per environment, in as many threads; a single environment without any."""

    def __init__(self, sim: Any, threads: int) -> None:
        import mujoco

        self._step, self._model = mujoco.mj_step, sim.model
        self._per_step = sim.settings.mujoco_substeps
        self._datas = []
        batch = sim._batch
        for k in range(sim.env_count):
            data = mujoco.MjData(sim.model)
            data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = batch.qpos[k], batch.qvel[k], batch.warmstart[k]
            self._datas.append(data)
        self._control = sim._controls.drives.control.copy()
        self._pool = ThreadPoolExecutor(threads) if sim.env_count > 1 else None
        self._parts = np.array_split(np.arange(sim.env_count), threads)

    def step(self, count: int) -> None:
        """`count` steps of every environment."""
        if self._pool is None:
            self._run(self._parts[0], count)
        else:
            list(self._pool.map(self._run, self._parts, [count] * len(self._parts)))

    def _run(self, part: Any, count: int) -> None:
        for k in part:
            data = self._datas[k]
            data.ctrl[:] = self._control[k]
            self._step(self._model, data, count * self._per_step)


class BareRollout:
    """mujoco.rollout from state to state."""

    def __init__(self, sim: Any, threads: int) -> None:
        import mujoco
        from mujoco.rollout import Rollout

        self._per_step = sim.settings.mujoco_substeps
        size = mujoco.mj_stateSize(sim.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self._state = np.zeros((sim.env_count, size))
        batch, nq = sim._batch, sim.model.nq
        self._state[:, 1 : 1 + nq], self._state[:, 1 + nq : 1 + nq + sim.model.nv] = batch.qpos, batch.qvel
        self._control = sim._controls.drives.control.copy()
        self._models = [sim.model] * sim.env_count
        self._pool = Rollout(nthread=threads if sim.env_count > 1 else 0)
        self._datas = [mujoco.MjData(sim.model) for _ in range(threads if sim.env_count > 1 else 1)]

    def step(self, count: int) -> None:
        """`count` steps of every environment."""
        steps = count * self._per_step
        control = np.repeat(self._control[:, None], steps, axis=1)
        states, _ = self._pool.rollout(self._models, self._datas, self._state, control, nstep=steps)
        self._state = states[:, -1]


def in_turn(
    things: dict[str, Callable[[], None]], rounds: int, repeats: int, clock: Callable[[], float]
) -> dict[str, list[float]]:
    """Seconds per call of each, one value a round."""
    taken: dict[str, list[float]] = {name: [] for name in things}
    for call in things.values():
        call()
    for _ in range(rounds):
        for name, call in things.items():
            start = clock()
            for _ in range(repeats):
                call()
            taken[name].append((clock() - start) / repeats)
    return taken


def low(values: list[float]) -> float:
    """The lower decile."""
    return float(np.quantile(values, 0.1))


def mujoco_speed(limits: Limits, rounds: int) -> Table:
    """MujocoSim against the faster of the two bare loops."""
    table = Table(
        "MujocoSim against bare MuJoCo",
        ("environments", "fidelity, steps per call", "ours [µs per step]", "mj_step loop", "mujoco.rollout", "speed"),
    )
    for fidelity in ("physx", "nominal"):
        for env_count in (1, 64, 512):
            for count in (1, 4):
                sim = standing("MuJoCo", env_count, fidelity=fidelity, threads=THREADS)
                bare = {"loop": BareLoop(sim, THREADS), "rollout": BareRollout(sim, THREADS)}
                calls = {"ours": lambda s=sim, c=count: s.step(c)}
                calls |= {name: lambda x=x, c=count: x.step(c) for name, x in bare.items()}
                repeats = max(1, 400 // (env_count * count * sim.settings.mujoco_substeps))
                taken = in_turn(calls, 3 * rounds, repeats, time.process_time)
                each = {name: low(values) / (env_count * count) * 1e6 for name, values in taken.items()}
                over = each["ours"] / min(each["loop"], each["rollout"])
                name = f"MujocoSim, {env_count} × {fidelity}, step({count}), against bare"
                limits.report(name, [over], at_most=1 / 0.9)
                table.rows.append(
                    (
                        str(env_count),
                        f"{fidelity}, {count}",
                        f"{each['ours']:.1f}",
                        f"{each['loop']:.1f}",
                        f"{each['rollout']:.1f}",
                        f"{100 / over:.0f} %",
                    )
                )
                sim.close()
    return table


def two_threads(limits: Limits, rounds: int) -> Table:
    """Wall time of one thread over that of two, best rounds."""
    table = Table(
        "A second thread", ("environments", "one thread [ms]", "two threads [ms]", "gain", "bare rollout's gain")
    )
    for env_count in (64, 512):
        sims = {n: standing("MuJoCo", env_count, threads=n) for n in (1, 2)}
        bare = {n: BareRollout(sims[n], n) for n in (1, 2)}
        calls: dict[str, Callable[[], None]] = {f"ours {n}": lambda s=s: s.step() for n, s in sims.items()}
        calls |= {f"bare {n}": lambda x=x: x.step(1) for n, x in bare.items()}
        taken = in_turn(calls, rounds * 512 // env_count, 1, time.perf_counter)
        best = {name: min(values) for name, values in taken.items()}
        gain = best["ours 1"] / best["ours 2"]
        limits.report(f"MujocoSim, {env_count} environments, two threads: time over one's", [1 / gain], at_most=1 / 1.7)
        table.rows.append(
            (
                str(env_count),
                f"{best['ours 1'] * 1e3:.1f}",
                f"{best['ours 2'] * 1e3:.1f}",
                f"{gain:.2f} ×",
                f"{best['bare 1'] / best['bare 2']:.2f} ×",
            )
        )
        for sim in sims.values():
            sim.close()
    return table


def scaling(limits: Limits, rounds: int) -> Table:
    """Cost and memory against the number of environments."""
    table = Table(
        "Cost and memory of many environments", ("environments", "µs per environment and step", "memory [MB]")
    )
    costs, memory = {}, {}
    for env_count in (64, 512, 4096):
        memory[env_count] = memory_mb(env_count)
        sim = standing("MuJoCo", env_count, threads=THREADS)
        taken = in_turn(
            {"ours": lambda s=sim: s.step(4)}, max(3, rounds // 2), max(1, 256 // env_count), time.process_time
        )
        costs[env_count] = low(taken["ours"]) / 4
        row = (str(env_count), f"{costs[env_count] / env_count * 1e6:.1f}", f"{memory[env_count]:.0f}")
        table.rows.append(row)
        sim.close()
        del sim
    exponent = slope((64, 4096), (costs[64], costs[4096]))
    limits.report("MujocoSim, cost ∝ environments^p, 64 to 4096", [exponent], at_most=1.05, unit="")
    extra = (memory[4096] - memory[512]) / (4096 - 512) * 1024
    limits.report("MujocoSim, memory per further environment", [extra], at_most=200, unit=" kB")
    table.rows.append(("each further", "", f"{extra:.0f} kB"))
    return table


def memory_mb(env_count: int) -> float:
    """Resident memory of a process with so many environments, beyond one with a single one; 16 steps at once."""
    script = (
        "import sys; sys.path.insert(0, {folder!r})\n"
        "from sims import rss_mb, standing\n"
        "standing('MuJoCo', 1); before = rss_mb()\n"
        "sim = standing('MuJoCo', {count}, threads=2); state = sim.read(); print(rss_mb() - before)"
    ).format(folder=str(ROOT / "benchmarks"), count=env_count)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return float(done.stdout)


def rss_mb() -> float:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class BarePhysx:
    """What a script of ovphysx does for one step: write the targets, step, read four tensors."""

    READ = ("DOF_POSITION", "DOF_VELOCITY", "LINK_POSE", "LINK_VELOCITY")

    def __init__(self, sim: Any) -> None:
        """On the stage that `sim` has loaded."""
        engine = sim._engine
        self._physx = engine._physx
        self._dt = sim.settings.timestep_s / sim.settings.physx_substeps
        self._substeps = sim.settings.physx_substeps
        self._reads = [(engine.binding(name), np.zeros(engine.shape(name), np.float32)) for name in self.READ]
        self._write = engine.binding("DOF_POSITION_TARGET")
        self._targets = np.ascontiguousarray(sim._drives._out["DOF_POSITION_TARGET"])
        self._contacts = engine._contacts
        shape = (self._contacts.sensor_count, 3)
        self._forces = (np.zeros(shape, np.float32), np.zeros(shape, np.float32))

    def step(self) -> None:
        """One."""
        self._write.write(self._targets)
        for _ in range(self._substeps):
            self._physx.step_sync(self._dt)
        for binding, buffer in self._reads:
            binding.read(buffer)
        self._contacts.read_net_normal_forces(self._forces[0])
        self._contacts.read_net_friction_forces(self._forces[1])


def physx_overhead(limits: Limits, rounds: int) -> Table:
    """PhysxSim against the bare calls, here and from another process; with worker threads, as ovphysx by itself."""
    table = Table(
        "PhysxSim against bare ovphysx, both with worker threads",
        ("environments", "bare [ms per step]", "PhysxSim", "more", "in a child process", "more"),
    )
    for env_count in (1, 64, 512):
        here, there = (standing("PhysX", env_count, threads=THREADS, isolated=apart) for apart in (False, True))
        bare = BarePhysx(here)
        targets = here.read().joint_pos.copy()

        def control(sim: Any, targets: Any = targets) -> None:
            sim.set_position_targets(targets)
            sim.step()
            sim.read()

        calls = {"bare": bare.step, "here": lambda s=here: control(s), "there": lambda s=there: control(s)}
        repeats = max(1, 32 // env_count)
        cpu = in_turn({k: calls[k] for k in ("bare", "here")}, 2 * rounds, repeats, time.process_time)
        wall = in_turn(calls, 2 * rounds, repeats, time.perf_counter)
        over = low(cpu["here"]) / low(cpu["bare"])
        limits.report(f"PhysxSim, {env_count} environments, over bare ovphysx", [over], at_most=1.15)
        best = {name: min(values) * 1e3 for name, values in wall.items()}
        table.rows.append(
            (
                str(env_count),
                f"{best['bare']:.2f}",
                f"{best['here']:.2f}",
                f"{100 * (over - 1):+.0f} %",
                f"{best['there']:.2f}",
                f"{100 * (best['there'] / best['bare'] - 1):+.0f} %",
            )
        )
        here.close()
        there.close()
    return table


def emulation(limits: Limits, rounds: int) -> Table:
    """PhysX's step emulated, against MuJoCo's own."""
    table = Table("Fidelity emulate against mj_step", ("environments", "mj_step [µs]", "emulate [µs]", "throughput"))
    for env_count in (1, 64):
        plain = standing("MuJoCo", env_count, fidelity="nominal", threads=THREADS)
        emulated = standing("MuJoCo", env_count, fidelity="emulate", threads=THREADS)
        calls = {"plain": lambda s=plain: s.step(4), "emulate": lambda s=emulated: s.step(4)}
        taken = in_turn(calls, 2 * rounds, max(1, 256 // env_count), time.process_time)
        share = low(taken["emulate"]) / low(taken["plain"])
        if env_count == 64:
            limits.report("emulate, 64 environments, over mj_step", [share], at_most=2.0)
        each = {name: low(values) / (4 * env_count) * 1e6 for name, values in taken.items()}
        table.rows.append((str(env_count), f"{each['plain']:.1f}", f"{each['emulate']:.1f}", f"{100 / share:.0f} %"))
        plain.close()
        emulated.close()
    return table


PARTS = {
    "mujoco": mujoco_speed,
    "threads": two_threads,
    "scaling": scaling,
    "emulate": emulation,
    "physx": physx_overhead,
}


def page(tables: list[Table], limits: Limits) -> str:
    """docs/performance.md."""
    import mujoco

    kept = sum(limit.kept for limit in limits.taken)
    parts = [
        "<!-- Generated by `python benchmarks/sims.py`; don't edit. -->",
        "# Performance of the simulators",
        (
            f"The Go2 of `data/`, standing on the ground under its drives, contact forces measured, 200 Hz. MuJoCo "
            f"{mujoco.__version__}, Python {platform.python_version()}, {len(os.sched_getaffinity(0))} cores. "
            f"{kept} of {len(limits.taken)} limits kept. CPU time (threads summed), lower decile of rounds taken in turn; a "
            "second thread and other processes are judged by wall time, best round."
        ),
        *(table.text() for table in tables),
        "## Limits",
        "| | measured | limit | |\n|---|---|---|---|\n"
        + "\n".join(
            f"| {limit.name} | {limit.middle:.3g}{limit.unit} | {limit.at_most:.3g}{limit.unit} | "
            f"{'kept' if limit.kept else 'missed'} |"
            for limit in limits.taken
        ),
        "`speed`: bare time over ours. Fidelity `physx` takes several steps of MuJoCo per step of the simulation where that "
        "moves this robot more like PhysX; the bare loops take as many.",
        "`PhysxSim` itself takes no worker threads unless many environments and cores make them pay: on two busy cores a step "
        "of one Go2 takes 0.11 ms without and 5 ms with them, of 64 4 and 9 ms, of 512 22 and 31 ms. Of such short steps our "
        "own share is greater: setting targets, stepping and reading one Go2 takes 0.57 ms where the bare calls take 0.28.",
    ]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--quick", action="store_true", help="five rounds, no page")
    args = parser.parse_args()
    limits = Limits()
    wanted = args.parts.split(",")
    tables = [PARTS[name](limits, 5 if args.quick else args.rounds) for name in PARTS if name in wanted]
    if not args.quick and set(wanted) == set(PARTS):
        PAGE.write_text(page(tables, limits), encoding="utf-8")
    else:
        print("\n\n".join(table.text() for table in tables))
    return 0 if all(limit.kept for limit in limits.taken) else 1


if __name__ == "__main__":
    sys.exit(main())
