"""Time step and solver options."""

from __future__ import annotations

from isaaclab_mirror.diagnostics import Diagnostics
from isaaclab_mirror.physics import options as opt
from isaaclab_mirror.physics.lowered import LoweredSolver
from isaaclab_mirror.physics.options import LoweringOptions
from isaaclab_mirror.robot.model import Robot

IMPRATIO = 10.0
"""How much stiffer friction is than the normal force. Ten runs of a quadruped 8.71 mrad, with 100 8.82, with 1 11.4;
loaded feet of PhysX creep a little, at 100 they stand still (a squatting ANYmal 11.5, with 100 11.7)."""
DEFAULT_STEP_S = 1 / 200
"""Isaac Lab's usual physics step."""

PRESETS: dict[opt.SolverPreset, dict[str, object]] = {
    opt.SolverPreset.TRAINING: {
        "timestep": 0.002,
        "iterations": 50,
        "tolerance": 1e-6,
        "integrator": "implicitfast",
        "solver": "newton",
    },
    opt.SolverPreset.VALIDATION: {
        "timestep": 0.001,
        "iterations": 100,
        "tolerance": 1e-8,
        "integrator": "implicit",
        "solver": "newton",
    },
}
"""The conversion standard's section 4.2."""


def lower_solver(robot: Robot, options: LoweringOptions, found: Diagnostics) -> LoweredSolver:
    """MuJoCo's own options first, else those under which it steps as PhysX does.

    `implicitfast` because drives are stiff: undriven, it and Euler equal PhysX's articulations to 0.003 mrad (10 s
    pendulum), where `implicit` and RK4, better integrators, are 7 mrad off.
    """
    del found
    own = dict(robot.scene.mujoco)
    step = options.timestep or robot.scene.timestep_s or (0.002 if robot.dialect == "mujoco" else DEFAULT_STEP_S)
    chosen: dict[str, object] = {k: v for k, v in own.items() if ":" not in k and k != "timestep"}
    if robot.dialect != "mujoco":
        chosen.setdefault("integrator", "implicitfast")
        if options.fidelity is opt.Fidelity.PHYSX:
            chosen.setdefault("cone", "elliptic")
            chosen.setdefault("impratio", IMPRATIO)
    if options.solver is not opt.SolverPreset.SOURCE:
        preset = dict(PRESETS[options.solver])
        step = options.timestep or float(preset.pop("timestep"))  # type: ignore[arg-type]
        preset.pop("timestep", None)
        chosen.update(preset)
    return LoweredSolver(
        timestep_s=step / options.substeps,
        gravity=robot.scene.gravity,
        options=chosen,
        disable_flags=frozenset(k[5:] for k, v in own.items() if k.startswith("flag:") and v is False),
        enable_flags=frozenset(k[5:] for k, v in own.items() if k.startswith("flag:") and v is True),
        compiler={k[9:]: v for k, v in own.items() if k.startswith("compiler:")},
    )
