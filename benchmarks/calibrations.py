"""What `calibrate` closes of the gap to PhysX on trials it did not fit. Writes `docs/calibration.md`.

  python benchmarks/calibrations.py                 all robots (a quarter of an hour)
  python benchmarks/calibrations.py --only so_100   some, then the page from what was found before
  python benchmarks/calibrations.py --only none     the page alone

Exit code 1 when fewer than three robots close a third of their gap.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from places import REPO, RESULTS, add_shared_argument, our_environment

FOLDER, PAGE = RESULTS / "calibrations", REPO / "docs" / "calibration.md"
WANTED, SHARE = 3, 1 / 3


@dataclass(frozen=True)
class Case:
    """One robot and what `calibrate` is told about it."""

    name: str
    usd: str
    arguments: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        """Behind `isaaclab-mirror`; paths from the folder of the corpora."""
        return ["calibrate", self.usd, *self.arguments]


GO2 = (".*L_hip_joint=0.1", ".*R_hip_joint=-0.1", "F._thigh_joint=0.8", "R._thigh_joint=1.0", ".*_calf_joint=-1.5")
CASES = (
    Case("ur5e", "corpus/ur5e/ur5e_physx.usda"),
    Case("franka_panda", "corpus/franka_panda/franka_panda_physx.usda"),
    Case("so_100", "corpus-native/so_100/so_100.usd"),
    Case("leap_hand", "corpus/leap_hand/leap_hand_physx.usda"),
    Case("cartpole", "corpus/cartpole/cartpole_physx.usda", ("--start", "hinge_1=2.6")),
    Case("unitree_go2", "corpus/unitree_go2/unitree_go2_physx.usda", tuple(a for s in GO2 for a in ("--start", s))),
    Case("go2_held", "corpus-layered/go2_flat_urdf/go2_flat_urdf.usda", ("--set", "fix_base=true")),
    Case("gate_sliding", "corpus-native/gate_sliding/gate_sliding.usd"),
)


def main() -> int:
    """Fit, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of robots, with commas between; `none`: fit nothing")
    add_shared_argument(parser)
    args = parser.parse_args()
    if not (args.shared / "corpus").is_dir():
        print(f"no corpora in {args.shared}: nothing to fit (--shared DIR)", file=sys.stderr)
        return 0
    chosen = None if args.only is None else set(args.only.split(","))
    for case in CASES:
        if chosen is None or case.name in chosen:
            calibrate(case, args.shared)
    found = {
        case.name: json.loads(file.read_text()) for case in CASES if (file := FOLDER / f"{case.name}.json").exists()
    }
    PAGE.write_text(page(found), encoding="utf-8")
    print(table(found))
    return 0 if closed(found) >= WANTED else 1


def calibrate(case: Case, shared: Path) -> None:
    """The command line itself, in the folder of the corpora."""
    print(f"{case.name} …", file=sys.stderr, flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    out = ["-o", str(FOLDER / case.name / f"{case.name}.xml"), "--json", str(FOLDER / f"{case.name}.json")]
    command = [sys.executable, "-m", "isaaclab_mirror", *case.command, *out]
    done = subprocess.run(command, cwd=shared, env=our_environment(), stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{case.name}: exit code {done.returncode}")


def closed(found: dict[str, Any]) -> int:
    """Robots of whose gap a third or more is closed."""
    return sum(result["held_out"]["lowered_by"] >= SHARE for result in found.values())


def table(found: dict[str, Any]) -> str:
    """Markdown."""
    lines = [
        "| robot | numbers fitted | fitted trials, mrad | held-out trials, mrad | closed | worst held-out trial | PhysX's own noise | s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, result in found.items():
        trials = [trial["joint_rms_rad"] for trial in result["trials"] if trial["held_out"]]
        worst = max(trials, key=lambda trial: trial["after"])
        noise = max(trial["physx_noise"] for trial in trials)
        cells = [
            name,
            str(len(result["parameters"])),
            _pair(result["trained"]["before_rad"], result["trained"]["after_rad"]),
            _pair(result["held_out"]["before_rad"], result["held_out"]["after_rad"]),
            f"{100 * result['held_out']['lowered_by']:.0f} %",
            _pair(worst["before"], worst["after"]),
            f"{1e3 * noise:.2g}",
            f"{result['seconds']:.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _pair(before: float, after: float) -> str:
    return f"{1e3 * before:.3g} → {1e3 * after:.3g}"


def page(found: dict[str, Any]) -> str:
    """docs/calibration.md."""
    commands = "\n".join(f"isaaclab-mirror {shlex.join(case.command)}" for case in CASES if case.name in found)
    return PROSE.format(table=table(found), commands=commands, closed=closed(found), count=len(found))


PROSE = """<!-- Written by `python benchmarks/calibrations.py` -->
# calibrate: what a static file can still learn from PhysX

    isaaclab-mirror calibrate robot.usd -o fitted.xml --json fitted.json

records the robot in PhysX, fits what is free in MuJoCo, and writes an MJCF that plain MuJoCo opens. The start is fidelity `physx`; the trials that judge the fit are not those it was fitted to. What remains after it, no static file holds: `--fidelity emulate` does.

## What is done

1. **Trials** of 2 s: a held or fixed robot follows sums of sinusoids and rounded steps on every drive, within what the drives can give; a floating one is dropped onto a floor (friction 1, multiplied with the robot's own) and sways there. Four to fit, three held out: other frequencies, phases, jumps and drop heights. `--seed` chooses all; the same seed gives the same file. Where the file does not say how the robot stands, `--start '.*_calf_joint=-1.5'` does, as a task's `init_state.joint_pos`.
2. **Free numbers**: per drive a factor on both gains (how soft PhysX's give way under load) and what is added to the damping (`lag`, the law's a·dt·kp); per joint armature, friction and, where nothing drives it, damping; for all contacts solref, solimp, sliding friction and impratio; for all limits solref and solimp if one was met. Each is bounded, and drawn toward its start where the trials say nothing.
3. **Never touched**: masses, inertias, geometry, frames, limits, effort bounds.
4. **Fit**: bounded Levenberg-Marquardt on joint positions and base pose; all derivatives are one batch of `mujoco.rollout`, a model per parameter.
5. **Written** only if the held-out gap went down (exit code 0, else 1). The file says in a comment and in the text `isaaclab_mirror_calibration` what was fitted. Its colliders have priority, so that solref, solimp and friction hold on any floor.

## What it closes

rms over joints and time, before → after; mrad, a slide's mm counts five. A third or more on {closed} of {count}.

{table}

Run in the folder of the corpora:

```
{commands}
```

A standing robot near the edge of falling is not worth fitting: where PhysX's own noise comes near the gap, the fit finds nothing (and says so). Read a fitted number as what the trials asked for, not as the motor's: armature stands in for whatever the sweep's order does to a joint.
"""


if __name__ == "__main__":
    raise SystemExit(main())
