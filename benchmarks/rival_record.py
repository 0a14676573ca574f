"""One case of `rival.py` in PhysX and in our MuJoCo fidelities: `python benchmarks/rival_record.py NAME FOLDER`.

A process of its own per robot, as PhysX may crash. Leaves `NAME.npz` with every trajectory and `NAME.request.npz`, from
which newton's driver runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from places import add_shared_argument
from rival_cases import CASES, Array, Case

from isaaclab_mirror.comparison.excitation import JointFacts, joint_facts
from isaaclab_mirror.comparison.recording import NUDGE
from isaaclab_mirror.conversion import inspect_robot
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.robot.home import with_start
from isaaclab_mirror.robot.materials import CombineMode, ContactMaterial
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.mujoco_bottom import lowest_point
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.physx_sim import PhysxSim
from isaaclab_mirror.sims.physx_stage import write_stage
from isaaclab_mirror.sims.settings import Ground, SimSettings, resolve_settings
from isaaclab_mirror.sims.simulator import Simulator
from isaaclab_mirror.sims.state import Start

GROUND = Ground(
    material=ContactMaterial(
        name="ground", static_friction=1.0, dynamic_friction=1.0, friction_combine=CombineMode.MULTIPLY
    )
)
"""As Isaac Lab's velocity tasks: the robot's own friction is what acts."""
CLEARANCE_M = 0.01
OURS = ("nominal", "physx", "emulate")
"""Fidelities."""


def main() -> int:
    """Record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[case.name for case in CASES])
    parser.add_argument("folder", type=Path)
    add_shared_argument(parser)
    args = parser.parse_args()
    case = next(case for case in CASES if case.name == args.name)
    record(case, args.shared / case.usd, args.folder)
    return 0


def settings_of(robot: Robot, case: Case) -> SimSettings:
    """PhysX as Isaac Lab runs it: TGS, 4 position iterations, no velocity iterations, external forces once per step."""
    return resolve_settings(
        robot,
        backend="isaacsim",
        timestep_s=1 / 200,
        solver="TGS",
        position_iterations=4,
        velocity_iterations=0,
        external_forces_every_iteration=False,
        ground=GROUND if case.grounded else None,
    )


def record(case: Case, usd: Path, folder: Path) -> None:
    """Everything of one case."""
    read = ReadOptions(fix_base=case.fix_base)
    robot, _, _ = inspect_robot(usd, read)
    settings = settings_of(robot, case)
    with MujocoSim(robot, settings=settings, fidelity="nominal", contact_forces=False) as sim:
        facts = joint_facts(robot, sim, sim.joint_names)
        stand = dict(zip(facts.names, case.start(facts).tolist(), strict=True))
        height = stance_height(sim, stand) if not sim.fixed_base and case.grounded else None
    robot = with_start(robot, stand)  # as the `init_state` of a task: laws that ask where the robot stands know it
    times = np.arange(round(case.seconds / settings.timestep_s)) * settings.timestep_s
    targets, speeds = case.targets(facts, times)
    origin = np.array(robot.joints[0].origin.pos)
    root = None if height is None else np.array([origin[0], origin[1], height])

    def run(sim: Simulator, nudge: float = 0.0) -> dict[str, Array]:
        return rollout(sim, facts.names, case.start(facts), root, targets, speeds, nudge)

    arrays: dict[str, Any] = {"times_s": times, "targets": targets, "joint_names": np.array(facts.names)}
    arrays["units"] = np.array(facts.units)
    with PhysxSim(robot, settings=settings, read=read, contact_forces=False, threads=0) as sim:
        keep(arrays, "physx_engine", lambda: run(sim))
        keep(arrays, "noise", lambda: run(sim, NUDGE))
        state = sim.read()
        write_request(
            robot, settings, facts, case, root, state.root_quat_wxyz[0], targets, speeds, folder, sim.fixed_base
        )
    for fidelity in OURS:

        def ours(fidelity: str = fidelity) -> dict[str, Array]:
            with MujocoSim(robot, settings=settings, fidelity=fidelity, contact_forces=False) as sim:
                return run(sim)

        keep(arrays, fidelity, ours)
    np.savez_compressed(folder / f"{case.name}.npz", **arrays)


def keep(arrays: dict[str, Any], name: str, run: Callable[[], dict[str, Array]]) -> None:
    """A trajectory under its name, or why there is none."""
    try:
        for key, value in run().items():
            arrays[f"{name}.{key}"] = value
    except InputError as error:
        print(f"{name}: {error}", file=sys.stderr)
        arrays[f"{name}.failure"] = np.array(error.diagnostic.message)


def stance_height(sim: MujocoSim, stand: dict[str, float]) -> float:
    """Height of the root link [m] at which the lowest collider is `CLEARANCE_M` above the ground."""
    qpos = sim.robot.home_qpos.copy()
    sim.robot.joints.put_positions(np.array([[stand[name] for name in sim.joint_names]]), qpos[None])
    low = lowest_point(sim.model, qpos)
    if low is None:
        raise SystemExit("nothing collides")
    return float(qpos[sim.robot.root_qpos + 2] - low + CLEARANCE_M)


def rollout(
    sim: Simulator,
    names: tuple[str, ...],
    start: Array,
    root: Array | None,
    targets: Array,
    speeds: Array,
    nudge: float,
) -> dict[str, Array]:
    """States before the first step and after every one; an engine that gives up leaves what it had."""
    columns = np.array([sim.joint_names.index(name) for name in names])
    position = None if root is None else root + np.array([0.0, 0.0, nudge])
    sim.reset(Start(root_pos_w=position, joint_pos=dict(zip(names, start + nudge, strict=True))))
    kept = [sim.read()]
    order = np.argsort(columns)
    for row, speed in zip(targets[:, order], speeds[:, order], strict=True):
        sim.set_position_targets(row)
        sim.set_velocity_targets(speed)
        sim.step()
        kept.append(sim.read())
    return {
        "joint_pos": unwrapped(np.array([state.joint_pos[0, columns] for state in kept])),
        "root_pos_w": np.array([state.root_pos_w[0] for state in kept]),
        "root_quat_wxyz": np.array([state.root_quat_wxyz[0] for state in kept]),
    }


def unwrapped(position: Array) -> Array:
    """Without the jumps by 2π of a joint without limits; nothing moves by π in 5 ms here."""
    turns = np.round(np.diff(position, axis=0) / (2 * np.pi))
    return position - 2 * np.pi * np.concatenate([np.zeros((1, position.shape[1])), np.cumsum(turns, axis=0)])


def write_request(
    robot: Robot,
    settings: SimSettings,
    facts: JointFacts,
    case: Case,
    root: Array | None,
    quat: Array,
    targets: Array,
    speeds: Array,
    folder: Path,
    fixed: bool,
) -> None:
    """What newton's driver needs: the stage that PhysX has, without the ground, and the joints' numbers."""
    stage_folder = folder / f"{case.name}.stage"
    stage_folder.mkdir(parents=True, exist_ok=True)
    read = ReadOptions(fix_base=case.fix_base)
    stage = write_stage(robot, read, replace(settings, ground=None), stage_folder)
    axes = {axis.name: axis for axis in robot.axes()}
    start = case.start(facts)
    joints = [
        {
            "path": stage.joint_paths[name],
            "stiffness": float(facts.stiffness[k]),
            "damping": float(facts.damping[k]),
            "effort_limit": float(facts.effort_limit[k]) if np.isfinite(facts.effort_limit[k]) else None,
            "armature": axes[name].dynamics.armature,
            "friction": axes[name].dynamics.friction,
            "start": float(start[k]),
        }
        for k, name in enumerate(facts.names)
    ]
    base = None
    if not fixed:
        place = home_root(robot) if root is None else root
        base = {"pos": [float(x) for x in place], "quat_wxyz": list(robot.joints[0].origin.quat_wxyz)}
    request = {
        "stage": str(stage.file),
        "root": stage.scope,
        "step_s": settings.timestep_s,
        # newton takes the larger of two frictions, PhysX here the robot's alone
        "ground": {"height_m": GROUND.height_m, "friction": 0.0} if case.grounded else None,
        "joints": joints,
        "base": base,
    }
    np.savez_compressed(
        folder / f"{case.name}.request.npz",
        request=np.array(json.dumps(request)),
        targets=targets,
        velocity_targets=speeds,
    )


def home_root(robot: Robot) -> Array:
    """Where the file puts the root link."""
    return np.array(robot.joints[0].origin.pos)


if __name__ == "__main__":
    raise SystemExit(main())
