"""What each engine really ran with, for the `settings` of a result."""

from __future__ import annotations

from typing import Any

from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.sims.settings import SimSettings

MUJOCO_ALONE = ("mujoco_substeps", "mujoco_options")


def physx_settings(settings: SimSettings) -> dict[str, Any]:
    """Of PhysX, with who stated each in `provenance`."""
    return {key: value for key, value in settings.to_json().items() if key not in MUJOCO_ALONE}


def mujoco_settings(settings: SimSettings, fidelity: Fidelity, model: Any) -> dict[str, Any]:
    """Of MuJoCo, from the compiled model."""
    import mujoco

    option = model.opt
    return {
        "fidelity": str(fidelity),
        "timestep_s": float(option.timestep),
        "substeps": settings.mujoco_substeps,
        "integrator": mujoco.mjtIntegrator(option.integrator).name.removeprefix("mjINT_").lower(),
        "solver": mujoco.mjtSolver(option.solver).name.removeprefix("mjSOL_").lower(),
        "iterations": int(option.iterations),
        "tolerance": float(option.tolerance),
        "cone": mujoco.mjtCone(option.cone).name.removeprefix("mjCONE_").lower(),
        "impratio": float(option.impratio),
        "gravity": [float(g) for g in option.gravity],
    }
