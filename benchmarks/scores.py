"""Score our converter and its peers on the same robots with the same scorers, and write `docs/benchmarks.md`.

  python benchmarks/scores.py                    score ours; peers as recorded in peer_scores.json
  python benchmarks/scores.py --peers run        run the peers too (20 minutes) and record what they score
  python benchmarks/scores.py --peers run --peer decoder,srl --ours cached
                                                 some peers; ours as it scored last time

The table of times is the one that `benchmarks/convert.py` left last. Exit code 1 when a robot of ours fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import peers
from places import REPO, RESULTS, add_shared_argument, our_environment

PEER_SCORES = Path(__file__).resolve().parent / "peer_scores.json"
OUR_SCORES = RESULTS / "scores.json"
TIMES = RESULTS / "convert.json"
PAGE = REPO / "docs" / "benchmarks.md"

Row = dict[str, object]
"""One robot's verdict: `passed`, `failed` (names of required checks), `note`, `seconds`."""
Rows = dict[str, Row]
Scores = dict[str, dict[str, Rows]]
"""Contest → converter → rows."""
PHYSX_CHECKS = ("loads", "names", "base", "mass", "com", "inertia", "fk", "limits", "drive", "effort")
NO_ROBOT = "no robot in it"
"""Note on a stage in which PhysX finds no articulation: a converter passes by refusing it or by any file that loads."""


@dataclass(frozen=True)
class Contest:
    """Robots, a scorer and a target format."""

    name: str
    title: str
    scorer: str
    folders: tuple[str, ...]
    suffix: str
    rivals: tuple[peers.Peer, ...]


CONTESTS = (
    Contest(
        name="corpus",
        title="USD → MJCF on the corpus, against the MJCF it was made from",
        scorer="score.py",
        folders=("corpus",),
        suffix=".xml",
        rivals=(peers.NEWTON, peers.DECODER),
    ),
    Contest(
        name="physx-mjcf",
        title="USD → MJCF on Isaac Sim's and other people's robots, against PhysX's own numbers",
        scorer="physx_score.py",
        folders=("corpus-layered", "corpus-native"),
        suffix=".xml",
        rivals=(peers.NEWTON, peers.DECODER),
    ),
    Contest(
        name="physx-urdf",
        title="USD → URDF on the same robots, against PhysX's own numbers",
        scorer="physx_score.py",
        folders=("corpus-layered", "corpus-native"),
        suffix=".urdf",
        rivals=(peers.SRL, peers.ISAAC_SIM),
    ),
)


def score(
    contest: Contest, who: str, command: list[str], environment: dict[str, str], shared: Path, only: str | None
) -> Rows:
    """Run one converter over one contest in a fresh folder."""
    kept = RESULTS / "converted" / contest.name / who
    shutil.rmtree(kept, ignore_errors=True)  # the scorer would take an old file for a new one
    kept.mkdir(parents=True)
    target = "{xml}" if contest.scorer == "score.py" else "{out}"
    call = f"{shlex.join(command)} {{usd}} {target}"
    folders = [str(shared / folder) for folder in contest.folders]
    arguments = [sys.executable, str(shared / "tools" / contest.scorer), "--all", *folders, call]
    arguments += ["--keep", str(kept)]
    arguments += ["--only", only] if only else []
    arguments += ["--json"] if contest.scorer == "score.py" else ["--suffix", contest.suffix]
    print(f"scoring {who} on {contest.name} …", file=sys.stderr, flush=True)
    run = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    return rows_of_score(json.loads(run.stdout)) if contest.scorer == "score.py" else rows_of_physx_score(run.stdout)


def rows_of_score(found: list[dict[str, object]]) -> Rows:
    """Rows from what `score.py --json` prints."""
    rows: Rows = {}
    for robot in found:
        failed = list(robot["required_failed"])
        if "compiles" in failed:
            failed = ["compiles"]  # every other check then fails for want of a model
        notes = [f"{check}: {robot['checks'][check]['figure']} {robot['checks'][check]['note']}" for check in failed]
        rows[str(robot["name"])] = {
            "passed": robot["ok"],
            "failed": failed,
            "note": "; ".join(notes),
            "seconds": robot["seconds"],
        }
    return dict(sorted(rows.items()))


def rows_of_physx_score(printed: str) -> Rows:
    """Rows from the table that `physx_score.py` prints; its JSON fails on the booleans of numpy."""
    rows: Rows = {}
    for line in printed.splitlines():
        words = line.split()
        verdicts = words[1 : len(PHYSX_CHECKS) + 1]
        if len(verdicts) < len(PHYSX_CHECKS) or not set(verdicts) <= {"ok", "X", "-"}:
            continue
        judged = {check: mark for check, mark in zip(PHYSX_CHECKS, verdicts, strict=True) if mark != "-"}
        failed = [check for check, mark in judged.items() if mark == "X"]
        bare = NO_ROBOT if set(judged) == {"loads"} else ""  # nothing but loading is judged there
        rows[words[0]] = {
            "passed": not failed,
            "failed": failed,
            "note": line.partition(" FAILED ")[2].strip() if failed else bare,
            "seconds": float(words[len(PHYSX_CHECKS) + 1]),
        }
    return dict(sorted(rows.items()))


def load(path: Path) -> Scores:
    """A recorded file, contest → converter → rows, or nothing."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def record(path: Path, scores: Scores) -> None:
    """Write a recorded file, one robot a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["{"]
    for i, (contest, by_converter) in enumerate(scores.items()):
        lines.append(f"  {json.dumps(contest)}: {{")
        for j, (who, rows) in enumerate(by_converter.items()):
            lines.append(f"    {json.dumps(who)}: {{")
            robots = [f"      {json.dumps(name)}: {json.dumps(row, ensure_ascii=False)}" for name, row in rows.items()]
            lines.append(",\n".join(robots))
            lines.append("    }" + ("," if j + 1 < len(by_converter) else ""))
        lines.append("  }" + ("," if i + 1 < len(scores) else ""))
    lines.append("}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def without_notes(rows: Rows) -> Rows:
    """What is worth keeping of a peer: verdicts and seconds; its messages name folders of one machine."""
    kept = {name: {key: value for key, value in row.items() if key != "note"} for name, row in rows.items()}
    for name, row in rows.items():
        if row["note"] == NO_ROBOT:
            kept[name]["note"] = NO_ROBOT
    return kept


def score_ours(shared: Path, only: str | None, chosen: tuple[Contest, ...]) -> Scores:
    """Our own converter through its command on the chosen contests, recorded after each; others stay as recorded."""
    scores = load(OUR_SCORES)
    command = [sys.executable, "-m", "isaaclab_mirror", "convert"]
    for contest in chosen:
        rows = score(contest, "ours", command, our_environment(), shared, only)
        scores[contest.name] = {"ours": rows}
        record(OUR_SCORES, scores)
    return scores


def score_peers(shared: Path, only: str | None, chosen: tuple[Contest, ...], names: set[str] | None) -> Scores:
    """The peers, recorded after each, so that a broken run loses one of them."""
    scores = load(PEER_SCORES)
    for contest in chosen:
        for peer in contest.rivals:
            if names is not None and peer.name not in names:
                continue
            rows = score(contest, peer.name, peer.command(), peers.peer_environment(), shared, only)
            by_peer = {**scores.get(contest.name, {}), peer.name: without_notes(rows)}
            scores[contest.name] = {
                rival.name: by_peer[rival.name] for rival in contest.rivals if rival.name in by_peer
            }
            record(PEER_SCORES, {c.name: scores[c.name] for c in CONTESTS if c.name in scores})
    return scores


def verdict(row: Row | None) -> str:
    """A cell of the table."""
    if row is None:
        return "–"
    if row["passed"]:
        return f"pass ({NO_ROBOT})" if row.get("note") == NO_ROBOT else "**pass**"
    failed = list(row["failed"])
    if failed in (["compiles"], ["loads"]):
        return "no file that loads"
    return ", ".join(failed)


def total(rows: Rows) -> str:
    """`26 of 26`, and how many of those are no robots."""
    passed = [row for row in rows.values() if row["passed"]]
    empty = sum(row.get("note") == NO_ROBOT for row in passed)
    return f"{len(passed)} of {len(rows)}" + (f" ({empty} without a robot)" if empty else "")


def page(ours: Scores, theirs: Scores) -> str:
    """The whole of docs/benchmarks.md."""
    titles = {"ours": "isaaclab-mirror", **{peer.name: peer.title for peer in peers.PEERS}}
    text = ["<!-- Generated by `python benchmarks/scores.py`; don't edit. -->", "# Benchmarks", ""]
    text += [
        "Every converter gets the same USD files, an environment of its own and one process per robot, and is judged by"
        " the same scorer. A cell is **pass**, or the required checks that failed. How each peer is called stands in"
        " `benchmarks/drivers/`; what the peers scored is recorded in `benchmarks/peer_scores.json`"
        " (`python benchmarks/scores.py --peers run` measures it again).",
        "",
        "## Totals",
        "",
        "| robots that pass every required check | " + " | ".join(titles.values()) + " |",
        "|---|" + "---|" * len(titles),
    ]
    tables: Scores = {}
    for contest in CONTESTS:
        tables[contest.name] = {**ours.get(contest.name, {}), **theirs.get(contest.name, {})}
        cells = [total(tables[contest.name][who]) if who in tables[contest.name] else "–" for who in titles]
        text.append(f"| {contest.title} | " + " | ".join(cells) + " |")
    text += ["", *times_section()]
    for contest in CONTESTS:
        text += ["", *contest_section(contest, tables[contest.name], titles)]
    return "\n".join(text) + "\n"


def contest_section(contest: Contest, table: dict[str, Rows], titles: dict[str, str]) -> list[str]:
    """One table, a robot a line, and why ours failed where it did."""
    names = sorted({name for rows in table.values() for name in rows})
    text = [f"## {contest.title}", "", "| robot | " + " | ".join(titles[who] for who in table) + " |"]
    text.append("|---|" + "---|" * len(table))
    text += [f"| {name} | " + " | ".join(verdict(rows.get(name)) for rows in table.values()) + " |" for name in names]
    text.append("| **total** | " + " | ".join(total(rows) for rows in table.values()) + " |")
    failed = {name: row for name, row in table.get("ours", {}).items() if not row["passed"]}
    if failed:
        text += ["", "Where ours fails:", ""]
        text += [f"- {name}: {without_folders(str(row['note']))}" for name, row in failed.items()]
    return text


def without_folders(text: str) -> str:
    """A message without this machine's folders."""
    for folder in (str(RESULTS), str(REPO), str(REPO.parent)):
        text = text.replace(folder + os.sep, "")
    return text.replace("|", "\\|").strip()


def times_section() -> list[str]:
    """The tables that convert.py left."""
    text = ["## Time and memory", ""]
    if not TIMES.exists():
        return [*text, "Not measured: run `python benchmarks/convert.py`, then this again."]
    found = json.loads(TIMES.read_text(encoding="utf-8"))
    text += [
        f"By `python benchmarks/convert.py` on {found['machine']}. Times are CPU seconds of the process (user and"
        " system), wall time beside them. Ratios come from runs taken in turn: the middle one, and their range.",
        "",
        "| | measured | range | limit | |",
        "|---|---|---|---|---|",
    ]
    for line in found["limits"]:
        low, high = line["values"][0], line["values"][-1]
        mark = "kept" if line["kept"] else "**missed**"
        text.append(
            f"| {line['name']} | {line['middle']:.3g}{line['unit']} | {low:.3g} – {high:.3g}"
            f" | {line['at_most']:g}{line['unit']} | {mark} |"
        )
    if found["totals"]:
        text += [
            "",
            "| from process start | robots | CPU, s | wall, s | ours on the same: CPU, s | wall, s |",
            "|---|---|---|---|---|---|",
        ]
    for line in found["totals"]:
        text.append(
            f"| {line['peer']} | {line['robots']} | {line['peer_cpu_s']:.1f} | {line['peer_wall_s']:.1f}"
            f" | {line['ours_cpu_s']:.1f} | {line['ours_wall_s']:.1f} |"
        )
    text += [
        "",
        "MuJoCo lists the whole tree again at every element that is added to an `MjSpec`, and solves for every degree of"
        " freedom when it compiles: what it takes alone for a tree of that size stands beside ours.",
        "",
        "| links | USD → MJCF, CPU s | MjSpec alone, CPU s | USD → URDF, CPU s | USD → MJCF, peak MB | MjSpec alone, MB |"
        " USD → URDF, MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for line in found["scaling"]:
        text.append(
            f"| {line['links']} | {line['cpu_s']:.2f} | {line['mjspec_cpu_s']:.2f} | {line['urdf_cpu_s']:.2f}"
            f" | {line['peak_mb']:.0f} | {line['mjspec_peak_mb']:.0f} | {line['urdf_peak_mb']:.0f} |"
        )
    generations = found.get("generations")
    if generations:
        both = " and ".join(generations["versions"])
        line = f"{generations['same']} of {generations['files']} files written load in MuJoCo {both}"
        text += ["", f"{line} and compile to the same sizes in both."]
    return text


def main() -> int:
    """Score, record, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_shared_argument(parser)
    parser.add_argument("--peers", choices=("cached", "run", "none"), default="cached")
    parser.add_argument("--peer", help="with --peers run: only these, comma-separated")
    parser.add_argument("--ours", choices=("run", "cached"), default="run")
    parser.add_argument("--contest", help=f"only these of {', '.join(c.name for c in CONTESTS)}")
    parser.add_argument("--only", help="only these robots; prints, but writes no page and records nothing")
    args = parser.parse_args()
    chosen = tuple(c for c in CONTESTS if not args.contest or c.name in args.contest.split(","))
    if not (args.shared / "corpus").is_dir():
        print(f"skipped: no corpus in {args.shared} (give its parent with --shared)")
        return 0
    if args.only:
        for contest in chosen:
            command = [sys.executable, "-m", "isaaclab_mirror", "convert"]
            for name, row in score(contest, "ours", command, our_environment(), args.shared, args.only).items():
                print(f"{contest.name:12} {name:24} {verdict(row)}  {row['note']}")
        return 0
    theirs: Scores = {}
    if args.peers == "run":
        theirs = score_peers(args.shared, None, chosen, set(args.peer.split(",")) if args.peer else None)
    elif args.peers == "cached":
        theirs = load(PEER_SCORES)
    ours = score_ours(args.shared, None, chosen) if args.ours == "run" else load(OUR_SCORES)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(ours, theirs), encoding="utf-8")
    passed = True
    for contest in chosen:
        for who, rows in {**ours.get(contest.name, {}), **theirs.get(contest.name, {})}.items():
            print(f"{contest.name:12} {who:10} {total(rows)}")
            passed = passed and (who != "ours" or all(row["passed"] for row in rows.values()))
    print(f"wrote {PAGE.relative_to(REPO)}")
    return 0 if passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
