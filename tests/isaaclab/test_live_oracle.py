"""The adapter beside genuine Isaac Lab 3 tasks running on PhysX: equal at every step.

A process per task, about a minute each. The robots are the stand-ins of the recordings; Ant's is in newton's wheel.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.isaaclab

ROBOTS = "Isaac/IsaacLab/Robots"
CARTPOLE, GO2, H1, FRANKA = (
    f"{ROBOTS}/{name}"
    for name in (
        "Classic/Cartpole/cartpole.usd",
        "Unitree/Go2/go2.usd",
        "Unitree/H1/h1_minimal.usd",
        "FrankaEmika/franka_panda.usda",
    )
)
ANT = "Isaac/Robots/IsaacSim/Ant/ant_instanceable.usd"
CLEAN = "env.observations.policy.enable_corruption=false"


@dataclass(frozen=True)
class Live:
    """One run: the task, the robot's file, further arguments, and what may be further apart than 1e-5."""

    task: str
    robot: str
    arguments: tuple[str, ...] = ()
    resets: int = 0
    """At least so many episodes end."""
    looser: tuple[tuple[str, float], ...] = ()


RUNS = {
    "cartpole": Live("Isaac-Cartpole", CARTPOLE),
    # progress is a difference of float32 potentials near 6e4, whose last digit is 0.004
    "ant": Live("Isaac-Ant", ANT, looser=(("reward progress", 2e-4),)),
    "go2": Live("Isaac-Velocity-Flat-UnitreeGo2", GO2, (CLEAN,)),
    "go2 with history, clip, scale and falls": Live(
        "Isaac-Velocity-Flat-UnitreeGo2",
        GO2,
        (
            CLEAN,
            "env.observations.policy.history_length=3",
            "env.observations.policy.joint_vel.clip=[-2.0,2.0]",
            "env.observations.policy.joint_vel.scale=0.05",
            "--steps=150",
            "--action-scale=6",
        ),
        resets=3,
    ),
    "go2 with delayed motors": Live(
        "Isaac-Velocity-Flat-UnitreeGo2", GO2, (CLEAN, "--motors=delayed_pd", "--action-scale=3"), resets=1
    ),
    "go2 with remotized motors": Live("Isaac-Velocity-Flat-UnitreeGo2", GO2, (CLEAN, "--motors=remotized_pd")),
    "go2 with ideal motors": Live("Isaac-Velocity-Flat-UnitreeGo2", GO2, (CLEAN, "--motors=ideal_pd")),
    "go2 with MLP motors": Live("Isaac-Velocity-Flat-UnitreeGo2", GO2, (CLEAN, "--motors=net_mlp")),
    "go2 with LSTM motors": Live("Isaac-Velocity-Flat-UnitreeGo2", GO2, (CLEAN, "--motors=net_lstm")),
    "go2 with a height scan": Live(
        "Isaac-Velocity-Rough-UnitreeGo2",
        GO2,
        (
            CLEAN,
            "env.scene.terrain.terrain_type=plane",
            "env.scene.terrain.terrain_generator=null",
            "env.curriculum.terrain_levels=null",
        ),
    ),
    "h1": Live("Isaac-Velocity-Flat-H1", H1, (CLEAN,)),
    "reach": Live("Isaac-Reach-Franka", FRANKA, (CLEAN,)),
    "reach by operational space": Live("Isaac-Reach-Franka-OSC", FRANKA, (CLEAN,)),
    # Isaac Lab inverts J Jᵀ + λ² in float32: targets near singularities differ in the fifth digit, efforts by gains more
    "reach by inverse kinematics": Live(
        "Isaac-Reach-Franka",
        FRANKA,
        (CLEAN, "--ik=pose_rel", "--action-scale=0.05", "--steps=40"),
        looser=(("position target", 1e-4), ("applied effort", 1e-2)),
    ),
    "reach by inverse kinematics to a pose": Live(
        "Isaac-Reach-Franka",
        FRANKA,
        (CLEAN, "--ik=pose_abs", "--steps=20"),
        looser=(("position target", 1e-3), ("applied effort", 1e-2)),
    ),
}


@pytest.fixture(scope="module")
def assets(shared: Path, tmp_path_factory: pytest.TempPathFactory, isaaclab_version: str) -> Path:
    """The asset root of the recordings, and newton's ant."""
    if isaaclab_version != "3.0.0":
        pytest.skip("needs Isaac Lab 3.0.0")
    root = tmp_path_factory.mktemp("assets")
    shutil.copytree(shared / "isaaclab-recordings/assets", root, dirs_exist_ok=True)
    found = importlib.util.find_spec("newton")
    assert found is not None
    assert found.origin is not None
    (root / ANT).parent.mkdir(parents=True)
    shutil.copyfile(Path(found.origin).parent / "examples/assets/ant.usda", root / ANT)
    return root


def run(live: Live, assets: Path) -> dict[str, Any]:
    script = Path(__file__).with_name("live_task.py")
    command = [sys.executable, str(script), live.task, f"--assets={assets}", f"--robot={assets / live.robot}"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, *live.arguments], capture_output=True, text=True, timeout=900, env=environment, check=False
    )
    reports = [line[5:] for line in done.stdout.splitlines() if line.startswith("LIVE ")]
    assert reports, f"{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    return json.loads(reports[0])


@pytest.mark.parametrize("name", list(RUNS))
def test_the_adapter_sees_and_does_what_the_live_task_does(name: str, assets: Path):
    live = RUNS[name]
    report = run(live, assets)
    assert not report["missing"]
    assert report["resets"] >= live.resets
    looser = dict(live.looser)
    far = {
        what: error
        for what, error in report["error"].items()
        if error > looser.get(what, 1e-5) * max(1.0, report["scale"][what])
    }
    assert not far
    assert any(what.startswith("observation") for what in report["error"])
    assert any(what.startswith("reward") for what in report["error"])
    assert report["scale"]["applied effort"] > 1.0
