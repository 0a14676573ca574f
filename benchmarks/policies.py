"""Policies that others trained on PhysX, replayed from their authors' configs; writes docs/replay_results.md.

    python benchmarks/policies.py [--shared DIR] [--only walk,turn,matched] [--engines physx,PhysX] [--page]

The URDFs are those of the PyPI package example-robot-data, in an environment of its own that is made here.
Results are kept in build/benchmarks/policies.json; a shorter run keeps the other parts' old rows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from places import REPO, RESULTS, add_shared_argument
from recorded import meta_of, recorded_starts

PAGE = REPO / "docs" / "replay_results.md"
KEPT = RESULTS / "policies.json"
ASSETS = Path("isaaclab-recordings/assets/Isaac/IsaacLab/Robots/Unitree")
H1, GO2 = ASSETS / "H1/h1_minimal.usd", ASSETS / "Go2/go2.usd"
FORWARD = (0.5, 0.0, 0.0)
ENGINES = ("nominal", "physx", "emulate", "PhysX")
SILENT = "go2-velocity-robot_lab"
"""Its config states neither armature nor friction."""
PARTS = ("walk", "turn", "matched")


@dataclass(frozen=True)
class Case:
    """One policy on one robot file."""

    policy: str
    robot: Path | None
    label: str


def cases(shared: Path, urdfs: Path | None) -> Iterator[Case]:
    yield Case("g1-29dof-velocity-unitree_rl_lab", None, "model.xml")
    if urdfs is not None:
        yield Case("g1-29dof-velocity-unitree_rl_lab", urdfs / "g1_description/urdf/g1_29dof_rev_1_0.urdf", "URDF")
    yield Case("g1-29dof-velocity-unitree_rl_lab", shared / "corpus/unitree_g1/unitree_g1_physx.usda", "USD, corpus")
    yield Case(
        "g1-29dof-velocity-unitree_rl_lab", shared / "corpus-layered/g1_urdf/g1_urdf.usda", "USD, Isaac Sim's importer"
    )
    yield Case("g1-12dof-lstm-unitree_rl_gym", None, "model.xml")
    yield Case("h1-velocity-flat-isaaclab", None, "model.xml")
    yield Case("h1-velocity-flat-isaaclab", shared / H1, "USD")
    yield Case("h1-velocity-flat-isaaclab", shared / "corpus/unitree_h1/unitree_h1.usdc", "USD, corpus")
    yield Case("go2-velocity-robot_lab", None, "model.xml")
    yield Case("go2-velocity-robot_lab", shared / GO2, "USD")
    yield Case("go2-velocity-robot_lab", shared / "corpus/unitree_go2/unitree_go2_physx.usda", "USD, corpus")
    yield Case("go2-velocity-robot_lab", shared / "corpus-layered/go2_urdf/go2_urdf.usda", "USD, Isaac Sim's importer")
    if urdfs is not None:
        yield Case("go2-velocity-robot_lab", urdfs / "go2_description/urdf/go2.urdf", "URDF")
    yield Case("go2-flat-isaaclab3-here", None, "USD (no option)")


def as_live(contract: Any) -> Any:
    """What the live task set where the author's config is silent: armature 0.01, the velocity task's friction, ovphysx."""
    from isaaclab_mirror.contract.contract import MaterialSpec

    ground = MaterialSpec(static_friction=0.8, dynamic_friction=0.6, friction_combine="multiply")
    motors = tuple(replace(group, armature=(0.01,) * len(group.joints)) for group in contract.actuators)
    sim = replace(contract.sim, terrain=replace(contract.sim.terrain, material=ground))
    return replace(contract, actuators=motors, sim=sim)


def run_case(shared: Path, case: Case, engine: str, command: tuple[float, ...], seconds: float, **settings: Any) -> Any:
    from isaaclab_mirror.contract.loading import load_contract
    from isaaclab_mirror.envs.episodes import Plan, run_episodes
    from isaaclab_mirror.envs.opening import MirrorOptions, open_mirror
    from isaaclab_mirror.envs.rows import nominal_start
    from isaaclab_mirror.policy.loading import load_policy

    contract = load_contract(shared / "policies" / case.policy, robot_file=case.robot)
    assert contract.policy is not None
    if settings and case.policy == SILENT:
        contract = as_live(contract)
    options = MirrorOptions(
        sim="physx" if engine == "PhysX" else "mujoco",
        fidelity="physx" if engine == "PhysX" else engine,
        commands={"velocity": command},
        rewards=False,
        settings=settings,
    )
    with open_mirror(contract, options) as mirror:
        plan = Plan(seconds=seconds, starts=nominal_start(contract))
        return run_episodes(mirror, load_policy(contract.policy), plan)[0]


def walk(
    shared: Path, urdfs: Path | None, engines: tuple[str, ...], known: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """20 s at 0.5 m/s; rows that are known are kept."""
    rows: list[dict[str, Any]] = []
    for case in cases(shared, urdfs):
        for engine in engines:
            if engine == "PhysX" and case.label not in ("USD", "USD (no option)"):
                continue
            old = [row for row in known if (row["policy"], row["robot"], row["engine"]) == (*_of(case), engine)]
            if old:
                rows.append(old[0])
                continue
            begin = time.perf_counter()
            episode = run_case(shared, case, engine, FORWARD, 20.0)
            rows.append({"policy": case.policy, "robot": case.label, "engine": engine, **episode.to_json()})
            said = f"{episode.seconds:.1f} s" if episode.fell else f"{episode.mean_lin_vel_b[0]:.3f} m/s"
            print(f"{case.policy} {case.label} {engine}: {said} ({time.perf_counter() - begin:.0f} s)", flush=True)
    return rows


def _of(case: Case) -> tuple[str, str]:
    return case.policy, case.label


def turn(shared: Path, engines: tuple[str, ...]) -> list[dict[str, Any]]:
    """The recorded commands of H1 and Go2, 10 s, against the live task in PhysX."""
    rows: list[dict[str, Any]] = []
    asked = {
        "h1-velocity-flat-isaaclab": (H1, [(0.0, 0.0, 1.0), FORWARD, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)]),
        "go2-flat-isaaclab3-here": (None, [FORWARD, (1.0, 0.0, 0.0), (0.5, 0.0, 0.5)]),
        "go2-velocity-robot_lab": (GO2, [FORWARD, (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)]),
    }
    for policy, (usd, commands) in asked.items():
        case = Case(policy, None if usd is None else shared / usd, "USD")
        with np.load(shared / "policies" / policy / "physx_reference.npz") as data:
            for command in commands:
                live = live_velocity(data, command)
                for engine in engines:
                    # the recordings are of ovphysx, where forces enter at every iteration whatever the policy had
                    episode = run_case(shared, case, engine, command, 10.0, external_forces_every_iteration=True)
                    told = {"policy": policy, "engine": engine, "asked": list(command), "live": live}
                    rows.append({**told, **episode.to_json()})
                    print(f"{policy} {command} {engine}: {rows[-1]['mean_lin_vel_b'][:2]}, live {live}", flush=True)
    return rows


def live_velocity(data: Any, command: tuple[float, ...]) -> list[float]:
    """Mean velocity after the first second: of the centre of mass, in the root's axes."""
    from isaaclab_mirror.sims.batched import rotate_back

    key = ",".join(f"{x:g}" for x in command)
    pose, velocity = data[f"{key}/root_link_pose_w"][50:], data[f"{key}/root_com_vel_w"][50:]
    quat = pose[:, [6, 3, 4, 5]].astype(float)
    linear, angular = rotate_back(quat, velocity[:, :3].astype(float)), rotate_back(quat, velocity[:, 3:].astype(float))
    return [float(linear[:, 0].mean()), float(linear[:, 1].mean()), float(angular[:, 2].mean())]


def matched(shared: Path) -> list[dict[str, Any]]:
    """100 episodes from the recorded starts of each run made with Isaac Lab 3."""
    return [
        matched_run(shared / "policies" / name, engine, seconds)
        for name, seconds in (("cartpole-isaaclab3-here", 5.0), ("go2-flat-isaaclab3-here", 10.0))
        for engine in ("nominal", "physx", "emulate")
    ]


def matched_run(run: Path, engine: str, seconds: float) -> dict[str, Any]:
    from isaaclab_mirror.envs.episodes import Plan, run_episodes
    from isaaclab_mirror.envs.opening import MirrorOptions, open_mirror
    from isaaclab_mirror.policy.loading import load_policy

    positions: list[np.ndarray] = []

    class Watch:
        def begin(self, mirror: Any, episodes: Any) -> None:
            pass

        def add(self, mirror: Any, moment: Any) -> None:
            positions.append(moment.before.joint_pos[:20, mirror.adapter.world.layout.joints])

    with np.load(run / "evaluation.npz") as data:
        meta, count = meta_of(data), len(data["returns"])
        commands = {"velocity": meta["command"]} if meta["command"] else {}
        with open_mirror(run, MirrorOptions(fidelity=engine, env_count=count, commands=commands)) as mirror:
            assert mirror.contract.policy is not None
            plan = Plan(episodes=count, seconds=seconds, starts=recorded_starts(run / "evaluation.npz"), slip=False)
            episodes = run_episodes(mirror, load_policy(mirror.contract.policy), plan, recorders=[Watch()])
        recorded = data["traj/joint_pos"]
        kept = min(20, recorded.shape[1])
        steps = min(len(positions), len(recorded))
        off = np.abs(np.array(positions)[:steps, :kept] - recorded[:steps, :kept]).max(axis=(0, 1))
        stood = ~data["terminated"]
        live = {
            "return": interval(data["returns"]),
            "fell": int(data["terminated"].sum()),
            "vx": interval(data["mean_velocity_b"][stood, 0]) if "mean_velocity_b" in data else None,
        }
    speeds = [e.mean_lin_vel_b[0] for e in episodes if not e.fell and e.mean_lin_vel_b]
    row = {
        "run": run.name,
        "engine": engine,
        "return": interval(np.array([e.total_return for e in episodes])),
        "fell": sum(e.fell for e in episodes),
        "vx": interval(np.array(speeds)) if speeds else None,
        "off": [float(x) for x in off],
        "live": live,
    }
    print(f"{run.name} {engine}: {row['return']}, {row['fell']} fell, live {live}", flush=True)
    return row


def interval(values: np.ndarray) -> list[float]:
    """Mean, and half of its 95 % interval."""
    return [float(values.mean()), float(1.96 * values.std() / max(len(values), 1) ** 0.5)]


def example_robots() -> Path | None:
    """The robots of example-robot-data, from an environment of its own."""
    place = REPO / "build" / "bench-envs" / "example-robot-data"
    if not place.is_dir():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        command = [place / "bin" / "python", "-m", "pip", "install", "-q", "--no-deps", "example-robot-data"]
        if subprocess.run(list(map(str, command)), check=False).returncode:
            print("example-robot-data cannot be installed: no URDFs")
            return None
    found = sorted(place.glob("lib/python*/site-packages/**/example-robot-data/robots"))
    return found[0] if found else None


def page(results: dict[str, Any]) -> str:
    lines = [
        "<!-- python benchmarks/policies.py -->",
        "# Policies of others, replayed",
        "",
        "Each policy was trained on PhysX by somebody else and is replayed from its author's config alone. `nominal`, "
        "`physx` and `emulate` are MuJoCo at that fidelity, PhysX is the engine itself (ovphysx 0.7).",
        "",
        "## 20 s at 0.5 m/s",
        "",
        "Mean forward velocity after the first second [m/s], or when it fell. From the default state.",
        "",
        "| policy | robot | nominal | physx | emulate | PhysX |",
        "|---|---|---|---|---|---|",
    ]
    walks: dict[tuple[str, str], dict[str, str]] = {}
    for row in results.get("walk", []):
        said = f"fell {row['seconds']:.1f} s" if row["fell"] else f"{row['mean_lin_vel_b'][0]:.3f}"
        walks.setdefault((row["policy"], row["robot"]), {})[row["engine"]] = said
    for (policy, robot), said in walks.items():
        lines.append(f"| {policy} | {robot} | {' | '.join(said.get(engine, '·') for engine in ENGINES)} |")
    lines += [
        "",
        "## Against the live task in PhysX",
        "",
        "10 s from the default state; vx [m/s], wz [rad/s]. *live*: the same policy in the running Isaac Lab 3.0.0 task "
        "(ovphysx 0.6.4). What it set where go2-velocity-robot_lab's config is silent (armature 0.01, friction 0.8 and 0.6) "
        "is set here too.",
        "",
        "| policy | command | live | nominal | physx | emulate | PhysX |",
        "|---|---|---|---|---|---|---|",
    ]
    turns: dict[tuple[str, str], dict[str, str]] = {}
    for row in results.get("turn", []):
        key = (row["policy"], " ".join(f"{x:g}" for x in row["asked"]))
        said = turns.setdefault(key, {"live": f"{row['live'][0]:.3f}, {row['live'][2]:.3f}"})
        fell = f"fell {row['seconds']:.1f} s"
        said[row["engine"]] = fell if row["fell"] else f"{row['mean_lin_vel_b'][0]:.3f}, {row['mean_ang_vel_b'][2]:.3f}"
    for (policy, command), said in turns.items():
        lines.append(f"| {policy} | {command} | {' | '.join(said.get(e, '·') for e in ('live', *ENGINES))} |")
    lines += [
        "",
        "## 100 matched episodes",
        "",
        "From the recorded starts of the genuine task, no parameter set by hand. ± is the 95 % interval of the mean; *off*: "
        "largest distance of a joint from PhysX in the kept trajectories, over their whole length.",
        "",
        "| run | engine | return | fell | vx [m/s] | off |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(row["run"] for row in results.get("matched", [])):
        rows = [row for row in results["matched"] if row["run"] == name]
        live = rows[0]["live"]
        lines.append(
            f"| {name} | **PhysX, recorded** | {spread(live['return'])} | {live['fell']} | {spread(live['vx'])} | |"
        )
        lines += [
            f"| {name} | {row['engine']} | {spread(row['return'])} | {row['fell']} | {spread(row['vx'])} | {off_of(row)} |"
            for row in rows
        ]
    return "\n".join(lines) + "\n"


def spread(value: list[float] | None) -> str:
    return "·" if value is None else f"{value[0]:.3f} ± {value[1]:.3f}"


def off_of(row: dict[str, Any]) -> str:
    if row["run"].startswith("cartpole"):
        return f"{row['off'][0] * 1e3:.4g} mm, {row['off'][1] * 1e3:.4g} mrad"
    return f"{max(row['off']) * 1e3:.0f} mrad"


def kept_results() -> dict[str, Any]:
    return json.loads(KEPT.read_text()) if KEPT.is_file() else {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_shared_argument(parser)
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--engines", default=",".join(ENGINES), help=f"some of {','.join(ENGINES)}")
    parser.add_argument("--missing", action="store_true", help="of the walks, only those that no earlier run has")
    parser.add_argument("--page", action="store_true", help="only write the page again from the results kept")
    args = parser.parse_args()
    results = kept_results()
    if not args.page:
        if not (args.shared / "policies").is_dir():
            print(f"no policies at {args.shared / 'policies'}: nothing measured")
            return 0
        engines = tuple(args.engines.split(","))
        known = results.get("walk", []) if args.missing else []
        for part in args.only.split(","):
            made = {
                "walk": lambda: walk(args.shared, example_robots(), engines, known),
                "turn": lambda: turn(args.shared, engines),
                "matched": lambda: matched(args.shared),
            }[part]
            rows = made()
            results = {**kept_results(), part: rows}  # another run may have kept other parts meanwhile
            KEPT.parent.mkdir(parents=True, exist_ok=True)
            KEPT.write_text(json.dumps(results, indent=1))
    PAGE.write_text(page(results), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(REPO)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
