"""The conversion standard's section 5 on robots of the corpora: PhysX against MuJoCo, robot by robot.

  python benchmarks/standard.py [--shared DIR] [--only TEXT] [--fidelity physx] [--measure]

`--measure` runs `isaaclab-mirror validate` on every robot at Isaac Lab's defaults (TGS, 4 position
and no velocity iterations, 1/200 s, external forces once per step), and keeps what it wrote in
build/benchmarks/standard/. From what is there docs/validation.md is written. Exit code 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from places import REPO, RESULTS, Robot, add_shared_argument, our_environment

PAGE = REPO / "docs" / "validation.md"
KEPT = RESULTS / "standard"
DEFAULTS = ("timestep_s=0.005", "position_iterations=4", "velocity_iterations=0", "solver=TGS", "physx_substeps=1")
DEFAULTS += ("external_forces_every_iteration=false",)
FIDELITIES = ("physx", "emulate", "nominal")
MOVING = "fall,swing,drives,stand"
"""Groups of tests that depend on the fidelity; the static ones are run with the first."""
PART = ("rotor.usd", "camera_stand.usd")
"""Props beside robots."""
STATIC = {
    "forward kinematics, position": "FK, m",
    "forward kinematics, rotation": "FK, rad",
    "Jacobian": "Jacobian",
    "inverse kinematics": "IK, rad",
    "joint limits": "limits",
    "mass matrix": "mass matrix",
    "bias forces": "bias",
    "link masses": "mass",
}
DYNAMIC = {
    "free fall, velocity": "free fall, %",
    "passive swing": "pendulum, %",
    "resting contact force": "contact force, %",
    "tracking": "tracking, mrad",
}
TESTS = """`isaaclab-mirror validate robot.usd [--fidelity …] [--only GROUPS] [--plots DIR] [--json FILE]` loads the \
robot in PhysX and in MuJoCo, in a process of its own, and runs six groups of tests. Those of the standard decide the \
verdict (exit code 1); the others, marked *reported*, warn.

| group | what | how |
|---|---|---|
| `static` | names, masses, centres of mass, limits, gains, driven joints, FK, Jacobian, mass matrix, bias, IK | 50 random \
configurations within the limits, random velocities and base attitudes; IK by damped least squares on both models from \
one seed |
| `fall` | velocity of the centre of mass after 2 s | all joints rigid, a fixed base freed, 30 m up |
| `swing` | up to three hinges as pendulums, 10 s | every other joint rigid, drives off; gravity is turned so that the \
middle of the joint's range is the rest |
| `drives` | step response (*reported*), tracking of a 0.2–2 Hz sweep | base held in the air, nothing touches; amplitudes \
within half of what drives and speed limits allow; joints without a drive get test gains |
| `stand` | contact force at rest; height and attitude of the base (*reported*) | dropped from 2 cm, 3 s, the last one \
counts |
| `slip` | speed down slopes of 10° and 35° after 1 s (*reported*) | gravity is turned |

A test is skipped, with the reason, where it does not apply, where the robot topples or does not come to rest in PhysX, \
and where PhysX started 1e-5 away differs from itself by more than the limit. `validate A B` and `--round-trip \
mjcf|urdf` compare two files by name instead, both in MuJoCo's double precision."""
SCALE = {"free fall, velocity": 100, "passive swing": 100, "resting contact force": 100, "tracking": 1000}


def robots(shared: Path) -> list[Robot]:
    """Every robot of the three corpora, named corpus/folder/file."""
    found: list[Robot] = []
    for corpus in ("corpus", "corpus-layered", "corpus-native"):
        for folder in sorted((shared / corpus).glob("*/")):
            found += [
                Robot(f"{corpus}/{folder.name}/{file.stem}", file)
                for file in sorted(folder.glob("*.usd*"))
                if file.name not in PART
            ]
    return found


def measure(chosen: Iterable[Robot], fidelity: str, shared: Path, *, again: bool) -> None:
    """All robots in one process, to import the engines once; a new one where a robot ends it."""
    left = [robot for robot in chosen if again or not _file(robot, fidelity).exists()]
    while left:
        command = [sys.executable, __file__, "--shared", str(shared), "--fidelity", fidelity, "--here"]
        for robot in left:
            _file(robot, fidelity).unlink(missing_ok=True)
        done = subprocess.run([*command, *(robot.name for robot in left)], env=our_environment(), check=False)
        left = [robot for robot in left if not _file(robot, fidelity).exists()]
        if left:
            _keep(left[0], fidelity, {"stderr": f"error E057: the process ended with {done.returncode}"}, -1, 0.0)
            left = left[1:]


def measure_here(chosen: Iterable[Robot], fidelity: str) -> None:
    """What `isaaclab-mirror validate` does, without a process of its own."""
    from isaaclab_mirror.cli.main import main as command_line
    from isaaclab_mirror.comparison import apart
    from isaaclab_mirror.comparison.validation import validate_robot

    apart.validate_apart = validate_robot  # this is the process apart
    for robot in chosen:
        words = ["validate", str(robot.usd), "--fidelity", fidelity]
        words += [] if fidelity == FIDELITIES[0] else ["--only", MOVING]
        words += [word for text in DEFAULTS for word in ("--set", text)]
        start = time.perf_counter()
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()), redirect_stderr(said):
            file = Path(folder) / "result.json"
            code = command_line([*words, "--json", str(file)])
            result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        seconds = time.perf_counter() - start
        _keep(robot, fidelity, {**result, "stderr": said.getvalue()[-3000:]}, code, seconds)
        print(f"{robot.name:60} {fidelity:8} exit {code}  {seconds:6.1f} s", flush=True)


def _file(robot: Robot, fidelity: str) -> Path:
    return KEPT / fidelity / f"{robot.name.replace('/', '__')}.json"


def _keep(robot: Robot, fidelity: str, result: dict[str, Any], code: int, seconds: float) -> None:
    file = _file(robot, fidelity)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**result, "exit_code": code, "wall_s": seconds}, indent=1)
    file.write_text(text, encoding="utf-8")


def page(chosen: Sequence[Robot], fidelities: Sequence[str]) -> tuple[str, bool]:
    """The page, and whether every limit was kept."""
    results = {f: {r.name: found for r in chosen if (found := _result(r, f)) is not None} for f in fidelities}
    results = {f: found for f, found in results.items() if found}
    fidelities = list(results)
    first = results[fidelities[0]]
    tested = {name: found for name, found in first.items() if found.get("tests")}
    parts = [
        "<!-- Generated by `python benchmarks/standard.py`; don't edit. Measured by `python benchmarks/standard.py "
        "--measure`. -->\n# Validation against PhysX",
        "The conversion standard's section 5 on robots of other people, MuJoCo against PhysX itself (ovphysx on the "
        "CPU), by `isaaclab-mirror validate` at Isaac Lab's defaults: TGS, 4 position and no velocity iterations, "
        "1/200 s, external forces once per step. A dash: the test does not apply (docs/json.md: `skipped`). **Bold**: "
        "beyond the limit.",
        "PhysX computes and stores in float32, so its own figures are no finer than about 1e-7 of a number near 1; the "
        "standard's 1e-6 m is judged at 1e-5 for that. The mass matrix includes armature on both sides (PhysX's leaves "
        "it out, it is added there).",
        "## The tests",
        TESTS,
        "## Summary",
        _summary(results),
        "## 5.1 Kinematics and inertia",
        "Largest error over 50 random configurations, fidelity physx. Limits: FK and Jacobian 1e-5, IK 1e-5 rad, joint "
        "limits 1e-6 (float32 of the bound), mass matrix and bias 1e-4 relative, masses 1e-5 relative.",
        _table(tested, STATIC, {}),
    ]
    for fidelity in fidelities:
        found = {name: one for name, one in results[fidelity].items() if one.get("tests")}
        if found:
            parts += [
                f"## 5.2 Motion, fidelity {fidelity}",
                "Free fall: velocity after 2 s, limit 0.1 %. Pendulum: largest position error within 10 s, of the "
                "amplitude, limit 1 %. Contact: mean force over 1 s at rest, limit 5 %. Tracking: rms over 5 s of the "
                "worst joint, 0.2–2 Hz, limit 10 mrad (slides: 2 mm, not in this column).",
                _table(found, DYNAMIC, SCALE),
            ]
    parts += ["## Beyond the limit", _missed(results)]
    refused = {name: one for name, one in first.items() if not one.get("tests")}
    if refused:
        rows = "\n".join(f"| {name} | {one['exit_code']} | {_reason(one)} |" for name, one in refused.items())
        parts += ["## Not tested", f"| file | exit code | |\n|---|---|---|\n{rows}"]
    kept = all(_row_kept(one, name) for one in tested.values() for name in (*STATIC, *DYNAMIC))
    return "\n\n".join(parts) + "\n", kept


def _result(robot: Robot, fidelity: str) -> dict[str, Any] | None:
    file = _file(robot, fidelity)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def _tests(one: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [test for test in one.get("tests", []) if test["name"] == name]


def _row_kept(one: dict[str, Any], name: str) -> bool:
    return all(test["passed"] for test in _tests(one, name))


def _summary(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    names = list(results)
    lines = ["| test | " + " | ".join(f"{f}: robots kept, of" for f in names) + " |", "|---|" + "---|" * len(names)]
    for key in (*STATIC, *DYNAMIC):
        cells = []
        for fidelity in names:
            had = [one for one in results[fidelity].values() if _tests(one, key)]
            cells.append(f"{sum(_row_kept(one, key) for one in had)} of {len(had)}" if had else "–")
        lines.append(f"| {key} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _missed(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Every required test that failed, with what `validate` said about it."""
    lines = ["| robot | fidelity | test | value | limit | where, what |", "|---|---|---|---|---|---|"]
    for fidelity, found in results.items():
        for name, one in found.items():
            for test in one.get("tests", []):
                if test["required"] and not test["passed"]:
                    value = "–" if test["value"] is None else f"{test['value']:.2g}"
                    what = " ".join(filter(None, (test["where"], test["note"])))[:150].replace("|", "·")
                    robot = name.split("/", 1)[1]
                    lines.append(f"| {robot} | {fidelity} | {test['name']} | {value} | {test['limit']:.2g} | {what} |")
    return "\n".join(lines)


def _table(found: dict[str, dict[str, Any]], columns: dict[str, str], scale: dict[str, float]) -> str:
    lines = ["| robot | " + " | ".join(columns.values()) + " |", "|---|" + "---|" * len(columns)]
    for name, one in found.items():
        cells = [_cell(_tests(one, key), scale.get(key, 1.0)) for key in columns]
        lines.append(f"| {name.split('/', 1)[1]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(tests: list[dict[str, Any]], scale: float) -> str:
    if not tests:
        return "–"
    if any(test["value"] is None for test in tests):
        return "**failed**"
    worst = max(tests, key=lambda test: test["value"])
    text = f"{worst['value'] * scale:.2g}"
    return text if all(test["passed"] for test in tests) else f"**{text}**"


def _reason(one: dict[str, Any]) -> str:
    lines = [line for line in one.get("stderr", "").splitlines() if "error" in line]
    return lines[-1].split("error ", 1)[-1][:160] if lines else "?"


def main() -> int:
    """Measure where asked, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_shared_argument(parser)
    parser.add_argument("--only", help="robots whose name contains this")
    parser.add_argument("--fidelity", default=",".join(FIDELITIES), help="one or several, with commas")
    parser.add_argument("--measure", action="store_true", help="run what has not been run")
    parser.add_argument("--here", nargs="+", metavar="ROBOT", help="run these in this process, write no page")
    parser.add_argument("--again", action="store_true", help="run what has been run, too")
    args = parser.parse_args()
    every = robots(args.shared)
    chosen = [robot for robot in every if not args.only or args.only in robot.name]
    fidelities = args.fidelity.split(",")
    if args.here:
        by_name = {robot.name: robot for robot in every}
        measure_here([by_name[name] for name in args.here], fidelities[0])
        return 0
    if args.measure or args.again:
        for fidelity in fidelities:
            measure(chosen, fidelity, args.shared, again=args.again)
    text, kept = page(every, fidelities)
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE.relative_to(REPO)} written; {'every limit kept' if kept else 'limits were missed'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
