"""How much of a replay is physics, and how much faster than real time one environment runs.

    python benchmarks/replay.py [--seconds S] [--rounds N]

Judged is CPU time of one thread, because wall time on a shared machine is noise: everything but the physics then shows
in full. Wall time with one thread per core is printed beside it. Exit code 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isaaclab_mirror.envs.mirror import Mirror
    from isaaclab_mirror.policy.policy import Policy

QUADRUPEDS = ("go2-velocity-robot_lab", "go2-flat-isaaclab3-here")
COMMAND = (0.5, 0.0, 0.0)
MANY = 64
LEAST_SHARE = 0.80
LEAST_REAL_TIME = 20.0


class Clocked:
    """Counts the time that a simulator spends stepping."""

    def __init__(self, simulator: Any, clock: Callable[[], float]) -> None:
        self.inside, self._step, self._clock = 0.0, simulator.step, clock
        simulator.step = self.step

    def step(self, count: int = 1) -> None:
        begin = self._clock()
        self._step(count)
        self.inside += self._clock() - begin


def opened(run: Path, count: int, threads: int | None) -> tuple[Mirror, Policy]:
    from isaaclab_mirror.contract.loading import load_contract
    from isaaclab_mirror.envs.opening import MirrorOptions, open_mirror
    from isaaclab_mirror.policy.loading import load_policy

    contract = load_contract(run)
    assert contract.policy is not None
    options = MirrorOptions(env_count=count, threads=threads, commands={"velocity": COMMAND})
    return open_mirror(contract, options), load_policy(contract.policy)


def share_inside(run: Path, seconds: float, threads: int | None, clock: Callable[[], float]) -> tuple[float, float]:
    """Share of a replay of many environments spent in the simulator's step, and simulated seconds per second."""
    from isaaclab_mirror.envs.episodes import Plan, run_episodes

    mirror, policy = opened(run, MANY, threads)
    with mirror:
        run_episodes(mirror, policy, Plan(episodes=MANY, seconds=0.4))
        clocked = Clocked(mirror.simulator, clock)
        begin = clock()
        run_episodes(mirror, policy, Plan(episodes=MANY, seconds=seconds))
        total = clock() - begin
    return clocked.inside / total, MANY * seconds / total


def real_time(run: Path, seconds: float) -> float:
    """Simulated seconds per CPU second of one environment."""
    from isaaclab_mirror.envs.episodes import Plan, run_episodes

    mirror, policy = opened(run, 1, 1)
    with mirror:
        run_episodes(mirror, policy, Plan(seconds=0.4))
        begin = time.process_time()
        episode = run_episodes(mirror, policy, Plan(seconds=seconds))[0]
        return episode.seconds / (time.process_time() - begin)


def bare_step_us(run: Path, steps: int = 2000) -> float:
    """CPU time of mj_step alone on the standing robot: how fast this core is now."""
    import mujoco

    from isaaclab_mirror.sims.mujoco_sim import MujocoSim

    mirror, _ = opened(run, 1, 1)
    with mirror:
        assert isinstance(mirror.simulator, MujocoSim)
        model = mirror.simulator.model
        data = mujoco.MjData(model)
        data.qpos[:] = mirror.simulator.robot.home_qpos
        begin = time.process_time()
        mujoco.mj_step(model, data, nstep=steps)
        return (time.process_time() - begin) / steps * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("ISAACLAB_MIRROR_SHARED", "../shared")))
    parser.add_argument("--seconds", type=float, default=4.0, help="of each episode")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # before numpy is loaded
    os.environ.setdefault("MUJOCO_GL", "disable")
    folder = args.shared / "policies"
    if not folder.is_dir():
        print(f"no policies at {folder}: nothing measured")
        return 0
    passed = True
    for name in QUADRUPEDS:
        run = folder / name
        shares = [share_inside(run, args.seconds, 1, time.process_time)[0] for _ in range(args.rounds)]
        wall, speed = share_inside(run, args.seconds, None, time.perf_counter)
        factors = [real_time(run, args.seconds) for _ in range(args.rounds)]
        share, factor = median(shares), max(factors)  # other load only makes it slower
        passed &= share >= LEAST_SHARE and factor >= LEAST_REAL_TIME
        print(f"{name} (mj_step alone {bare_step_us(run):.0f} µs)")
        print(
            f"  {MANY} environments: {share:6.1%} of the CPU time inside MuJoCo's step, limit {LEAST_SHARE:.0%};",
            end=" ",
        )
        print(f"wall, a thread per core: {wall:.1%}, {speed:.0f} × real time")
        print(f"  1 environment:   {factor:6.1f} × real time on one core, limit {LEAST_REAL_TIME:.0f} ×", flush=True)
    print("pass" if passed else "FAIL")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
