"""How far MuJoCo is from PhysX on ten robots: ours and newton's SolverMuJoCo. Writes `docs/rival.md` and its plot.

  python benchmarks/rival.py                       all ten (half an hour the first time: newton compiles its kernels)
  python benchmarks/rival.py --only leap_hand,ant  some, then the page from what was recorded before
  python benchmarks/rival.py --only none           the page alone

Trajectories are left in `build/benchmarks/rival/`. Exit code 1 when a target of the page is missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import peers
from places import REPO, RESULTS, add_shared_argument, our_environment
from rival_cases import CASES, Array, Case

FOLDER = RESULTS / "rival"
PAGE, PLOT = REPO / "docs" / "rival.md", REPO / "docs" / "images" / "rival.png"
ENGINES = ("noise", "nominal", "physx", "emulate", "newton")
TITLES = {"noise": "PhysX again", "nominal": "nominal", "physx": "physx", "emulate": "emulate", "newton": "newton"}
COLOURS = {"noise": "#999999", "nominal": "#e0a030", "physx": "#1f6fb4", "emulate": "#76b900", "newton": "#c03030"}
PHYSX_SHARE = 0.5
EMULATE_SHARE = {False: 0.01, True: 0.1}
"""Largest allowed share of newton's rms: without and with contact."""
LOST_RAD = 100.0
"""An rms beyond this is an unstable simulation, not a distance."""


@dataclass(frozen=True)
class Result:
    """One case: distances from PhysX over time, by engine."""

    case: Case
    times_s: Array
    distance: dict[str, Array]
    """rms over the joints [rad or m] after every step; engines that gave up end early."""
    base_m: dict[str, Array]
    """Distance of a floating base [m]."""

    def rms(self, engine: str) -> float:
        """Over the whole motion [rad or m]; inf where the engine gave up or went astray."""
        values = self.distance.get(engine)
        if values is None or len(values) < len(self.times_s):
            return float("inf")
        total = float(np.sqrt(np.mean(values**2)))
        return total if total < LOST_RAD else float("inf")

    def base_rms(self, engine: str) -> float | None:
        """Over the whole motion [m]."""
        values = self.base_m.get(engine)
        return None if values is None or not np.isfinite(self.rms(engine)) else float(np.sqrt(np.mean(values**2)))

    def share(self, engine: str) -> float:
        """Of newton's rms."""
        return 0.0 if not np.isfinite(self.rms("newton")) else self.rms(engine) / self.rms("newton")

    @property
    def targets(self) -> dict[str, bool]:
        """Engine → whether it keeps its share of newton's rms."""
        limits = {"physx": PHYSX_SHARE, "emulate": EMULATE_SHARE[self.case.grounded]}
        return {e: np.isfinite(self.rms(e)) and self.share(e) <= limit for e, limit in limits.items()}


def main() -> int:
    """Record what is asked for, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of robots, with commas between; `none`: record nothing")
    add_shared_argument(parser)
    args = parser.parse_args()
    if not (args.shared / "corpus").is_dir():
        print(f"no corpora in {args.shared}: nothing to compare (--shared DIR)", file=sys.stderr)
        return 0
    chosen = None if args.only is None else set(args.only.split(","))
    for case in CASES:
        if chosen is None or case.name in chosen:
            record(case, args.shared)
    results = [read(case) for case in CASES if (FOLDER / f"{case.name}.npz").exists()]
    draw(results)
    PAGE.write_text(page(results), encoding="utf-8")
    print(table(results))
    return 0 if all(all(result.targets.values()) for result in results) else 1


def record(case: Case, shared: Path) -> None:
    """PhysX and ours in one process, newton in its own environment."""
    print(f"{case.name} …", file=sys.stderr, flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    here = Path(__file__).resolve().parent
    ours = [sys.executable, here / "rival_record.py", case.name, FOLDER, "--shared", shared]
    environment = {**our_environment(), "MUJOCO_GL": "disable"}
    subprocess.run(ours, check=True, env=environment)
    out = FOLDER / f"{case.name}.newton.npz"
    out.unlink(missing_ok=True)
    driver = here / "drivers" / "newton_rollout.py"
    command = [peers.NEWTON.environment.ensure(), driver, FOLDER / f"{case.name}.request.npz", out]
    subprocess.run(command, check=True, env=peers.peer_environment(), stdout=subprocess.DEVNULL)


def read(case: Case) -> Result:
    """Distances from what was recorded."""
    with np.load(FOLDER / f"{case.name}.npz") as arrays:
        found = {name: arrays[name] for name in arrays.files}
    newton = FOLDER / f"{case.name}.newton.npz"
    if newton.exists():
        with np.load(newton) as arrays:
            found.update({f"newton.{name}": arrays[name] for name in arrays.files})
    truth, root = found["physx_engine.joint_pos"], found["physx_engine.root_pos_w"]
    distance, base = {}, {}
    for engine in ENGINES:
        position = found.get(f"{engine}.joint_pos")
        if position is None:
            continue
        count = min(len(position), len(truth))
        with np.errstate(over="ignore", invalid="ignore"):
            distance[engine] = np.sqrt(np.mean((position[:count] - truth[:count]) ** 2, axis=1))[1:]
            if case.grounded and f"{engine}.root_pos_w" in found:
                base[engine] = np.linalg.norm(found[f"{engine}.root_pos_w"][:count] - root[:count], axis=1)[1:]
    return Result(case, found["times_s"] + float(found["times_s"][1]), distance, base)


def table(results: list[Result]) -> str:
    """Markdown: distances, then the two shares that the targets bound."""
    titles = [TITLES[engine] for engine in ENGINES]
    lines = [
        f"| robot | motion | {' | '.join(titles)} | physx / newton | emulate / newton |",
        f"|---|---|{'---:|' * (len(ENGINES) + 2)}",
    ]
    for result in results:
        cells = [_cell(result, engine) for engine in ENGINES]
        kept = result.targets
        shares = [f"{_share(result, e)} {'✓' if kept[e] else '✗'}" for e in ("physx", "emulate")]
        lines.append(f"| {result.case.name} | {result.case.text} | {' | '.join(cells)} | {' | '.join(shares)} |")
    return "\n".join(lines)


def _cell(result: Result, engine: str) -> str:
    rms = result.rms(engine)
    if not np.isfinite(rms):
        return "unstable"
    base = result.base_rms(engine)
    return _number(1e3 * rms) + ("" if base is None else f" ({_number(1e3 * base)})")


def _number(value: float) -> str:
    return f"{value:.3g}" if value >= 0.001 else f"{value:.0e}"


def _share(result: Result, engine: str) -> str:
    return "–" if not np.isfinite(result.rms("newton")) else f"{result.share(engine):.2g}"


def draw(results: list[Result]) -> None:
    """One panel per robot: distance over time, logarithmic."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 6.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 5, squeeze=False, sharex=True).ravel()
    for axis, result in zip(axes, results, strict=False):
        for engine in ENGINES:
            values = result.distance.get(engine)
            if values is None:
                continue
            shown = 1e3 * np.maximum(np.nan_to_num(values, nan=1e6, posinf=1e6), 1e-9)
            axis.semilogy(result.times_s[: len(shown)], shown, color=COLOURS[engine], label=TITLES[engine], lw=1.1)
        axis.set_ylim(1e-5, 1e4)
        axis.set_title(f"{result.case.name}\n{result.case.text}", fontsize=8)
        axis.grid(alpha=0.3)
    for axis in axes[len(results) :]:
        axis.set_visible(False)
    for axis in (axes[0], axes[5]):
        axis.set_ylabel("from PhysX, rms mrad or mm", fontsize=8)
    for axis in axes[5:]:
        axis.set_xlabel("s", fontsize=8)
    if results:
        axes[5].legend(fontsize=7, loc="lower right")
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PLOT, dpi=90)


def page(results: list[Result]) -> str:
    """docs/rival.md."""
    kept = {e: sum(r.targets[e] for r in results) for e in ("physx", "emulate")}
    return PROSE.format(table=table(results), physx=kept["physx"], emulate=kept["emulate"], count=len(results))


PROSE = """<!-- Written by `python benchmarks/rival.py` -->
# How far from PhysX: ours and newton's SolverMuJoCo

Who trains in Isaac Lab 3 on PhysX can switch the task to Newton (`physics=newton_mjwarp`), which is MuJoCo Warp behind newton's `SolverMuJoCo`. Ten robots, the same stage, start and joint targets in every engine; the distance from PhysX is measured over 3 s.

{table}

rms over all joints and 600 steps, mrad (mm for slides); in brackets the floating base, mm. *PhysX again*: PhysX started 1e-5 rad and m apart, its own noise. Targets: `physx` at most half of newton's distance ({physx} of {count}), `emulate` at most a hundredth without contact and a tenth with it ({emulate} of {count}).

![Distance from PhysX over time](images/rival.png)

- **PhysX**: ovphysx 0.7.0 on the CPU, dt 1/200, TGS, 4 position and 0 velocity iterations, external forces once per step (Isaac Sim's default).
- **nominal, physx, emulate**: `MujocoSim` on the converted robot, nothing tuned for any of these robots.
- **newton** 1.8.0 in an environment of its own, on the CPU, set as the velocity preset of Isaac Lab 3.0.0: `implicitfast`, pyramidal cones, impratio 1, 100/50 iterations, tolerance 1e-6, newton's own contacts with ke 160000, kd 1100, gap 0.01, two substeps.
- Where newton would have lost for another reason it was helped: it gets the robot's prim alone, gains, armature, friction and effort limits written as Isaac Lab writes them (it does not read `physxJointAxis:*:armature`), and the friction that PhysX's combine rule gives. Stages in centimetres (`ur5e_physx`) it does not support: none is here.
- `so_100` has gains (kp 21186, kd 8.5) with which a simulator whose stiffness is explicit is unstable at these steps: newton, and MuJoCo with nominal numbers. PhysX's implicit drives hold it.
- `cartpole`: the cart's box stands inside two rails. PhysX lets it pass, since it cannot give way across its slide; `nominal` and newton hold it by friction. Fidelity `physx` leaves these contacts out.
- `anymal_c` misses its target: loaded feet creep in PhysX (14 mm in these 3 s; newton's 19), in `physx` they stay where they landed (3 mm), and the legs hold other forces against each other.
"""


if __name__ == "__main__":
    raise SystemExit(main())
