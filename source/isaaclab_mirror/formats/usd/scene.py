"""The scene: gravity, time step, solver; and the material that a scene makes the default."""

from __future__ import annotations

import math

from isaaclab_mirror.formats.usd.mujoco_schema import read_options
from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.values import authored, bound, number, value, vec3
from isaaclab_mirror.robot.scene import Scene
from isaaclab_mirror.rotations import rotate

EARTH = 9.81


def read_scene(stage: UsdRobotStage, root: Record | None) -> Scene:
    """Gravity is direction times magnitude, the direction not normalised, as PhysX takes it."""
    record = stage.scenes[0] if stage.scenes else None
    if record is None:
        return Scene(
            position_iterations=_iterations(root, "Position"), velocity_iterations=_iterations(root, "Velocity")
        )
    prim, file = record.prim, stage.file
    magnitude = _magnitude(stage, record)
    strength = EARTH if magnitude is None else magnitude * stage.metres
    direction = vec3(prim, "physics:gravityDirection", file) or (0.0, 0.0, 0.0)
    if not any(direction):
        gravity = (0.0, 0.0, -strength)
    else:
        length = math.sqrt(sum(c * c for c in direction))
        if abs(length - 1) > 1e-4:
            stage.found.info(
                "E028",
                stage.source(prim),
                f"gravityDirection has length {length:.4g}, and PhysX does not normalise it: "
                f"gravity is {strength * length:.4g} m/s²",
            )
        gravity = rotate(stage.up_wxyz, tuple(c * strength for c in direction))  # type: ignore[arg-type]
    mujoco = read_options(record) if "MjcSceneAPI" in record.apis else {}
    if stage.mujoco_dialect and "iterations" not in mujoco:
        budget = authored(prim, "newton:maxSolverIterations")
        if budget is not None and int(budget) > 0:
            mujoco["iterations"] = int(budget)
    rate = _rate(stage, record)
    ext = authored(prim, "physxScene:enableExternalForcesEveryIteration")
    solver = authored(prim, "physxScene:solverType")
    return Scene(
        gravity=(gravity[0], gravity[1], gravity[2]),
        timestep_s=1.0 / rate if rate else None,
        solver=str(solver) if solver is not None else None,
        position_iterations=_iterations(root, "Position"),
        velocity_iterations=_iterations(root, "Velocity"),
        external_forces_every_iteration=None if ext is None else bool(ext),
        mujoco=mujoco,
    )


def _magnitude(stage: UsdRobotStage, record: Record) -> float | None:
    """Authored gravity; None where it is negative, which USD does (with −inf) to say "the earth's"."""
    found = bound(record.prim, "physics:gravityMagnitude", stage.file)
    if found is None or found < 0:
        return None
    return number(record.prim, "physics:gravityMagnitude", stage.file)


def _rate(stage: UsdRobotStage, record: Record) -> float | None:
    """Steps per second, from the engine's own attribute, then PhysX's, then Newton's."""
    own = number(record.prim, "mjc:option:timestep", stage.file)
    if own is not None and own > 0:
        return 1.0 / own
    names = ["physxScene:timeStepsPerSecond", "newton:timeStepsPerSecond"]
    for name in reversed(names) if stage.mujoco_dialect else names:
        stated = number(record.prim, name, stage.file)
        if stated is not None and stated > 0:
            return stated
    return None


def _iterations(root: Record | None, kind: str) -> int | None:
    if root is None:
        return None
    stated = value(root.prim, f"physxArticulation:solver{kind}IterationCount")
    return int(stated) if isinstance(stated, int) else None
