"""Whether the simulators leak, hang or die over many resets, many robots and what goes wrong in between.

`python benchmarks/soak.py resets|loads|troubles --engine physx|physx-child|mujoco [--count N] [--json]`, each in a process
of its own; resident memory is read where the work is done, the child's included.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).parents[1]
sys.path[:0] = [str(REPOSITORY / "source"), str(REPOSITORY)]

ENGINES = ("physx", "physx-child", "mujoco", "mujoco-emulate")
CARTPOLE = REPOSITORY / "data/cartpole/cartpole_physx.usda"
GO2 = REPOSITORY / "data/unitree_go2/unitree_go2_physx.usda"


def opener(engine: str) -> Callable[..., Any]:
    """Loads a file into that engine."""
    if engine.startswith("physx"):
        from isaaclab_mirror.sims.physx_sim import PhysxSim

        return lambda file, **options: PhysxSim(file, isolated=engine.endswith("child"), **options)
    from isaaclab_mirror.sims.mujoco_sim import MujocoSim

    fidelity = engine.partition("-")[2] or "physx"
    return lambda file, **options: MujocoSim(file, fidelity=fidelity, **options)


def rss_mb(pid: int | str = "self") -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def children() -> int:
    """Living and dead children of this process that nobody waited for."""
    return sum(len((task / "children").read_text().split()) for task in Path("/proc/self/task").iterdir())


def whole_mb(sim: Any) -> float:
    """This process and the one that the engine runs in."""
    child = getattr(sim, "process_id", None)
    return rss_mb() + (rss_mb(child) if child else 0.0)


def resets(engine: str, count: int) -> dict[str, Any]:
    """Reset, a few steps, again: the same start ends in the same state, and memory stays."""
    with opener(engine)(GO2, env_count=4) as sim:

        def once() -> np.ndarray:
            sim.reset()
            sim.step(3)
            return sim.read().joint_pos

        for _ in range(50):
            first = once()
        before, start = whole_mb(sim), time.process_time()
        worst = max(float(np.abs(once() - first).max()) for _ in range(count))
        return {
            "resets": count,
            "grown_mb": whole_mb(sim) - before,
            "end_mb": whole_mb(sim),
            "differs_rad": worst,
            "cpu_s": time.process_time() - start,
        }


def robots() -> list[Path]:
    """Every USD robot of the repository and of the shared corpora, where they are."""
    shared = Path(os.environ.get("ISAACLAB_MIRROR_SHARED", REPOSITORY.parent / "shared"))
    own = [*sorted((REPOSITORY / "data").glob("*/*.usd[ac]"))]
    return [*own, *sorted(shared.glob("corpus/*/*.usd[ac]")), *sorted(shared.glob("corpus-layered/*/*.usda"))]


def loads(engine: str, count: int) -> dict[str, Any]:
    """Different robots, one after the other, in one process; memory once all were loaded, and at the end."""
    from isaaclab_mirror.diagnostics import InputError

    files, refused, memory = robots(), {}, []
    start = time.monotonic()
    for k in range(count):
        file = files[k % len(files)]
        try:
            with opener(engine)(file) as sim:
                sim.step(2)
                if not np.isfinite(sim.read().joint_pos).all():
                    raise RuntimeError(f"{file.name}: not finite")
        except InputError as error:
            refused[file.name] = error.diagnostic.code
        gc.collect()
        memory.append(rss_mb())
    once = min(len(files), count // 2)
    return {
        "loads": count,
        "robots": min(len(files), count),
        "refused": refused,
        "after_half_mb": memory[once - 1],
        "end_mb": memory[-1],
        "grown_mb_per_load": (memory[-1] - memory[once - 1]) / max(1, count - once),
        "children": children(),
        "wall_s": time.monotonic() - start,
    }


def troubles(engine: str, count: int) -> dict[str, Any]:
    """NaN states, explosions and killed children in turn: each is reported, and the next simulator works."""
    from isaaclab_mirror.diagnostics import InputError

    codes: dict[str, int] = {}
    sim = opener(engine)(CARTPOLE)
    before, start = 0.0, time.monotonic()
    for k in range(count):
        if k == count // 4:
            before = whole_mb(sim)
        try:
            if k % 3 == 0 and engine.startswith("physx"):
                sim._engine.write("DOF_VELOCITY", np.full((1, 2), np.nan))
            elif k % 3 == 1 and engine == "physx-child":
                os.kill(sim.process_id, signal.SIGKILL)
            else:
                sim.set_gains(0.0, 0.0)
                sim.set_efforts(9e9)
                with contextlib.suppress(AttributeError):
                    sim._batch.qvel[:] = np.nan if k % 3 == 0 else sim._batch.qvel
            sim.step(20)
            codes["none"] = codes.get("none", 0) + 1
        except InputError as error:
            code = error.diagnostic.code
            codes[code] = codes.get(code, 0) + 1
            if code == "E057":
                sim.close()
                sim = opener(engine)(CARTPOLE)
        sim.reset()
        sim.step(3)
        if not np.isfinite(sim.read().joint_pos).all():
            raise RuntimeError("a reset did not help")
    grown = whole_mb(sim) - before
    sim.close()
    return {
        "troubles": count,
        "reported": codes,
        "grown_mb": grown,
        "children": children(),
        "wall_s": time.monotonic() - start,
    }


def main() -> int:
    """Print one run's figures."""
    runs = {"resets": (resets, 1000), "loads": (loads, 100), "troubles": (troubles, 60)}
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", choices=runs)
    parser.add_argument("--engine", choices=ENGINES, default="mujoco")
    parser.add_argument("--count", type=int)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    function, usual = runs[args.run]
    figures = function(args.engine, args.count or usual)
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:20} {value:.4g}" if isinstance(value, float) else f"{name:20} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
