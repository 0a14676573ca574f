"""The H1's turn: NVIDIA's published policy in PhysX and in MuJoCo with three sets of numbers, at the same moment.

python scripts/h1_turn.py [--picture docs/images/h1_turn.png] [--at 2.76]
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN = ROOT / "data/policies/h1_velocity_flat"
COMMAND = (0.0, 0.0, 1.0)
SECONDS = 10.0
SIDES = {
    "PhysX": ("physx", "physx"),
    "MuJoCo, nominal numbers": ("mujoco", "nominal"),
    "MuJoCo, fidelity physx": ("mujoco", "physx"),
    "MuJoCo, fidelity emulate": ("mujoco", "emulate"),
}


def turn(picture: Path | None, at_s: float) -> None:
    """Run every side, print a line each, draw the moment."""
    from isaaclab_mirror.contract.loading import load_contract
    from isaaclab_mirror.envs.episodes import Plan, run_episodes
    from isaaclab_mirror.envs.opening import MirrorOptions, open_mirror
    from isaaclab_mirror.policy.loading import load_policy
    from isaaclab_mirror.traces import TraceRecorder

    contract = load_contract(RUN)
    policy = load_policy(RUN / "policy.onnx")
    pictures = []
    print("| command: turn at 1 rad/s | turns at, rad/s | forward, m/s | stays up |\n|---|---|---|---|")
    for name, (sim, fidelity) in SIDES.items():
        options = MirrorOptions(sim=sim, fidelity=fidelity, commands={"velocity": COMMAND})
        with open_mirror(contract, options) as mirror:
            recorder = TraceRecorder()
            (episode,) = run_episodes(mirror, policy, Plan(seconds=SECONDS), recorders=[recorder])
            up = f"falls after {episode.seconds:.1f} s" if episode.fell else f"{episode.seconds:.0f} s"
            wz, vx = episode.mean_ang_vel_b[2], episode.mean_lin_vel_b[0]
            print(f"| {name} | {wz:.3f} | {vx:.3f} | {up} |", flush=True)
            if picture is not None:
                pictures.append(_draw(mirror, recorder, name, at_s))
    if picture is not None:
        import numpy as np
        from PIL import Image

        picture.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.concatenate(pictures, axis=1)).save(picture)
        print(f"\n{picture}: all after {at_s:g} s")


def _draw(mirror, recorder, name: str, at_s: float):
    from isaaclab_mirror.report.policy_plots import captioned, state_at
    from isaaclab_mirror.report.rasterizer import rasterize
    from isaaclab_mirror.sims.filming import Filming, Shot

    trace = recorder.trace()
    step = min(round(at_s / trace.step_dt), int(trace.lengths[0]) - 1)
    filming = Filming(
        mirror.robot, mirror.simulator.settings, Shot(width=400, height=480, distance=2.0), rasterize=rasterize
    )
    try:
        return captioned(filming.picture(state_at(trace, step, 0)), name)
    finally:
        filming.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--at", type=float, default=2.76, metavar="SECONDS")
    args = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    if args.picture:
        from isaaclab_mirror.report.render import settle_gl

        settle_gl()
    turn(args.picture, args.at)
