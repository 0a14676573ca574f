"""Time and memory of `isaaclab-mirror convert`, against its peers, in one run.

  python benchmarks/convert.py [--shared DIR] [--only ROBOT,ROBOT] [--parts start,warm,scaling,generations]

Peers run in environments of their own, made on first use (benchmarks/peers.py). Exit code 1 when a limit is missed.
Limits are judged by CPU time, because wall time on a busy machine says little (0.16 to 0.99 for a true ratio of 1/3);
wall time is printed beside it. A complete run leaves build/benchmarks/convert.json, from which
`python benchmarks/scores.py` makes its tables.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import peers
from places import RESULTS, Robot, add_shared_argument, corpus_robots, our_environment
from timing import Cost, Limits, Worker, run, slope
from trees import write_tree

PARTS = ("start", "warm", "scaling", "generations")
SIZES = (10, 100, 1000, 10_000)
MOST_OF_NEWTON = 0.1
MOST_OF_DECODER = 2.0
MOST_OF_DECODER_WARM = 1.0
MOST_MB = 400.0
MOST_SLOPE = 1.15
OURS = [sys.executable, "-m", "isaaclab_mirror", "convert"]


@dataclass(frozen=True)
class Round:
    """One pass over the robots that both can convert, taken in turn."""

    ours: list[Cost]
    theirs: list[Cost]

    def ratio(self, field: str) -> float:
        """Total against total."""
        return self.total("ours", field) / self.total("theirs", field)

    def total(self, who: str, field: str) -> float:
        """Sum over the robots."""
        return sum(getattr(cost, field) for cost in getattr(self, who))


class Bench:
    """One run: the robots, a scratch folder, the limits taken so far."""

    def __init__(self, robots: list[Robot], scratch: Path) -> None:
        """Nothing is run yet."""
        self.robots, self.scratch, self.limits = robots, scratch, Limits()
        self.totals: list[dict[str, object]] = []
        self.peak_mb: dict[str, float] = {}

    def target(self, who: str, robot: Robot) -> Path:
        """A file in a fresh folder's place: conversions overwrite their own output only."""
        folder = self.scratch / who / robot.name
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{robot.name}.xml"

    def ours(self, robot: Robot) -> Cost:
        """Our command from process start."""
        cost = run([*OURS, str(robot.usd), str(self.target("ours", robot))], our_environment())
        self.peak_mb[robot.name] = max(self.peak_mb.get(robot.name, 0.0), cost.peak_mb)
        return cost

    def convertible(self) -> list[Robot]:
        """Robots that our command converts; a refusal is told and misses a limit."""
        costs = {robot.name: self.ours(robot) for robot in self.robots}  # warms the file cache too
        for name, cost in costs.items():
            if cost.code:
                print(f"ours does not convert {name}: exit {cost.code}, {cost.message}", flush=True)
        failed = sum(bool(cost.code) for cost in costs.values())
        self.limits.report("robots of the corpus that ours does not convert", [float(failed)], at_most=0, unit="")
        return [robot for robot in self.robots if not costs[robot.name].code]

    def from_start(self, peer: peers.Peer, robots: Iterable[Robot], *, rounds: int, at_most: float) -> None:
        """Whole processes of ours and a peer in turn, on the robots that it can read."""
        command, environment = peer.command(), peers.peer_environment()
        readable: list[Robot] = list(robots)
        done: list[Round] = []
        run([*command, str(readable[0].usd), str(self.target(peer.name, readable[0]))], environment)  # warm
        for _ in range(rounds):
            taken: dict[str, tuple[Cost, Cost]] = {}
            for robot in readable:
                theirs = run([*command, str(robot.usd), str(self.target(peer.name, robot))], environment)
                if not theirs.code:
                    taken[robot.name] = (self.ours(robot), theirs)
            readable = [robot for robot in readable if robot.name in taken]
            done.append(Round([a for a, _ in taken.values()], [b for _, b in taken.values()]))
        count = len(readable)
        name = f"from process start, ours / {peer.name}, {count} robots"
        self.limits.report(f"{name}, CPU", [one.ratio("cpu_s") for one in done], at_most=at_most)
        walls = sorted(one.ratio("wall_s") for one in done)
        print(f"{'':4}wall: {median(walls):.3g}×; peak memory of {peer.name}: {peak(done):.0f} MB", flush=True)
        self.totals.append(
            {
                "peer": peer.title,
                "robots": count,
                **{
                    f"{'peer' if who == 'theirs' else who}_{field}": median(one.total(who, field) for one in done)
                    for who in ("ours", "theirs")
                    for field in ("cpu_s", "wall_s")
                },
            }
        )

    def warm(self, robots: Iterable[Robot], *, rounds: int) -> None:
        """Conversion proper, imports done, in two warm processes in turn."""
        mine = Worker([sys.executable, str(peers.DRIVERS / "ours.py")], our_environment())
        decoder = Worker(peers.DECODER.command(), peers.peer_environment())
        readable = [robot for robot in robots if self._both_convert(mine, decoder, robot)]  # warms both
        done: list[Round] = []
        for _ in range(rounds):
            pairs = [
                (mine.convert(r.usd, self.target("ours", r)), decoder.convert(r.usd, self.target("decoder", r)))
                for r in readable
            ]
            done.append(Round([a for a, _ in pairs], [b for _, b in pairs]))
        mine.close()
        decoder.close()
        name = f"conversion proper, ours / decoder, {len(readable)} robots"
        self.limits.report(f"{name}, CPU", [one.ratio("cpu_s") for one in done], at_most=MOST_OF_DECODER_WARM)
        walls = sorted(one.ratio("wall_s") for one in done)
        print(f"{'':4}wall: {median(walls):.3g}×; per robot, ms of CPU (ours, decoder):", flush=True)
        for i, robot in enumerate(readable):
            both = [median(getattr(one, who)[i].cpu_s for one in done) * 1e3 for who in ("ours", "theirs")]
            print(f"{'':8}{robot.name:24} {both[0]:8.1f} {both[1]:8.1f}", flush=True)
        self.totals.append(
            {
                "peer": f"{peers.DECODER.title}, imports done",
                "robots": len(readable),
                **{
                    f"{'peer' if who == 'theirs' else who}_{field}": median(one.total(who, field) for one in done)
                    for who in ("ours", "theirs")
                    for field in ("cpu_s", "wall_s")
                },
            }
        )

    def _both_convert(self, mine: Worker, decoder: Worker, robot: Robot) -> bool:
        mine_cost = mine.convert(robot.usd, self.target("ours", robot))
        return not decoder.convert(robot.usd, self.target("decoder", robot)).code and not mine_cost.code

    def memory(self) -> None:
        """The greatest peak of one conversion in all of the passes so far."""
        name = max(self.peak_mb, key=lambda robot: self.peak_mb[robot])
        self.limits.report(f"peak memory of one conversion ({name})", [self.peak_mb[name]], at_most=MOST_MB, unit=" MB")

    def scaling(self, *, rounds: int) -> list[dict[str, float]]:
        """Time against the number of links; what a conversion of ten links takes counts as start-up.

        MuJoCo itself is quadratic (drivers/mjspec_tree.py): what it takes for the same tree is measured beside ours.
        """
        yardstick = str(peers.GENERATIONS[-1].ensure())
        table: list[dict[str, float]] = []
        columns = ("MJCF, CPU s", "MjSpec alone", "URDF, CPU s", "MJCF, MB", "MjSpec, MB", "URDF, MB")
        print(f"{'links':>8} " + " ".join(f"{column:>12}" for column in columns), flush=True)
        for links in SIZES:
            robot = Robot(f"tree_{links}", self.scratch / f"tree_{links}.usda")
            write_tree(robot.usd, links)
            target = self.target("ours", robot)
            costs = [run([*OURS, str(robot.usd), str(target)], our_environment()) for _ in range(rounds)]
            flat = run([*OURS, str(robot.usd), str(target.with_suffix(".urdf"))], our_environment())
            bare = run([yardstick, str(peers.DRIVERS / "mjspec_tree.py"), str(links)], peers.peer_environment())
            failed = next((cost for cost in (*costs, flat, bare) if cost.code), None)
            if failed is not None:
                print(f"{links:8} exit {failed.code}: {failed.message}", flush=True)
                continue
            row = {
                "links": links,
                "cpu_s": median(cost.cpu_s for cost in costs),
                "mjspec_cpu_s": bare.cpu_s,
                "urdf_cpu_s": flat.cpu_s,
                "peak_mb": max(cost.peak_mb for cost in costs),
                "mjspec_peak_mb": bare.peak_mb,
                "urdf_peak_mb": flat.peak_mb,
            }
            table.append(row)
            print(
                f"{links:8} {row['cpu_s']:12.2f} {row['mjspec_cpu_s']:12.2f} {row['urdf_cpu_s']:12.2f}"
                f" {row['peak_mb']:12.0f} {row['mjspec_peak_mb']:12.0f} {row['urdf_peak_mb']:12.0f}",
                flush=True,
            )
        self._slope(table, "MJCF, less what MjSpec alone takes", lambda row: row["cpu_s"] - row["mjspec_cpu_s"])
        self._slope(table, "URDF", lambda row: row["urdf_cpu_s"])
        self._slope(table, "MJCF in total, MuJoCo's quadratic part included", lambda row: row["cpu_s"])
        return table

    def _slope(self, table: list[dict[str, float]], what: str, time_of: Callable[[dict[str, float]], float]) -> None:
        times = {int(row["links"]): time_of(row) - time_of(table[0]) for row in table}
        found = [slope((1000, 10_000), (times[1000], times[10_000]))] if {1000, 10_000} <= set(times) else []
        self.limits.report(f"time ∝ links^p, 1000 to 10,000 links, p: {what}", found, at_most=MOST_SLOPE, unit="")

    def generations(self, robots: list[Robot]) -> dict[str, object]:
        """Whether the files written load in both MuJoCo generations and compile to the same sizes."""
        files = [str(self.target("ours", robot)) for robot in robots]
        by_version: dict[str, dict[str, dict[str, object]]] = {}
        for environment in peers.GENERATIONS:
            command = [str(environment.ensure()), str(peers.DRIVERS / "model_sizes.py"), *files]
            done = subprocess.run(command, env=peers.peer_environment(), capture_output=True, text=True, check=True)
            by_version[environment.name] = json.loads(done.stdout)
        same = 0
        for robot, file in zip(robots, files, strict=True):
            found = [sizes[file] for sizes in by_version.values()]
            alike = all("error" not in sizes and sizes == found[0] for sizes in found)
            same += alike
            if not alike:
                print(f"{robot.name}: {dict(zip(by_version, found, strict=True))}", flush=True)
        name = f"files that differ between {' and '.join(by_version)}, of {len(files)}"
        self.limits.report(name, [float(len(files) - same)], at_most=0, unit="")
        return {"versions": [name.removeprefix("mujoco-") for name in by_version], "files": len(files), "same": same}


def peak(rounds: list[Round]) -> float:
    """A peer's greatest peak memory."""
    return max((cost.peak_mb for one in rounds for cost in one.theirs), default=0.0)


def machine() -> str:
    """What the times were taken on, without naming it."""
    return f"{os.cpu_count()} cores ({platform.machine()}, {platform.system()}), Python {platform.python_version()}"


def main() -> int:
    """Every part in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_shared_argument(parser)
    parser.add_argument("--only", help="only these robots of the corpus, comma-separated")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=5, help="passes against the decoder")
    parser.add_argument("--newton-rounds", type=int, default=1, help="passes against newton, 5 min each; 0: none")
    args = parser.parse_args()
    robots = corpus_robots(args.shared / "corpus", args.only)
    if not robots:
        print(f"skipped: no corpus in {args.shared} (give its parent with --shared)")
        return 0
    parts = set(args.parts.split(","))
    with tempfile.TemporaryDirectory(prefix="convert-benchmark-") as scratch:
        bench = Bench(robots, Path(scratch))
        mine = bench.convertible() if parts != {"scaling"} else []
        generations, scaling = None, []
        if "generations" in parts and mine:
            generations = bench.generations(mine)
        if "warm" in parts and mine:
            bench.warm(mine, rounds=args.rounds)
        if "start" in parts and mine:
            bench.from_start(peers.DECODER, mine, rounds=args.rounds, at_most=MOST_OF_DECODER)
            if args.newton_rounds:
                bench.from_start(peers.NEWTON, mine, rounds=args.newton_rounds, at_most=MOST_OF_NEWTON)
        if bench.peak_mb:
            bench.memory()
        if "scaling" in parts:
            scaling = bench.scaling(rounds=3)
    complete = parts == set(PARTS) and not args.only and args.newton_rounds
    if complete:
        RESULTS.mkdir(parents=True, exist_ok=True)
        found = {
            "machine": machine(),
            "limits": bench.limits.as_json(),
            "totals": bench.totals,
            "scaling": scaling,
            "generations": generations,
        }
        (RESULTS / "convert.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    missed = [limit.name for limit in bench.limits.taken if not limit.kept]
    print(f"missed: {'; '.join(missed)}" if missed else "every limit kept")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
