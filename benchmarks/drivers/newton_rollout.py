"""A robot driven through newton's SolverMuJoCo, set as the velocity preset of Isaac Lab 3.0.0: `REQUEST.npz OUT.npz`.

The request holds the stage that PhysX was given, the joints' numbers as Isaac Lab writes them into the simulation
(gains, armature, effort limit: newton ignores `physxJointAxis:*:armature` in the file), start and targets.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import newton
import numpy as np
import warp
from newton.solvers import SolverMuJoCo
from newton.usd import SchemaResolverNewton, SchemaResolverPhysx

CONTACT = {"ke": 160000.0, "kd": 1100.0, "gap": 0.01}
SOLVER: dict[str, Any] = {
    "integrator": "implicitfast",
    "cone": "pyramidal",
    "impratio": 1.0,
    "iterations": 100,
    "ls_iterations": 50,
    "tolerance": 1e-6,
    "use_mujoco_contacts": False,
}
SUBSTEPS = 2
UNBOUNDED = 1e6


def main(request_file: str, out_file: str) -> int:
    """Read, run, write."""
    warp.config.quiet = True
    with np.load(request_file) as arrays:
        request = json.loads(str(arrays["request"]))
        targets, velocity_targets = arrays["targets"], arrays["velocity_targets"]
    builder = robot_of(request)
    columns, coordinates = put_joints(builder, request)
    put_base(builder, request)
    model = builder.finalize(device="cpu")
    solver = SolverMuJoCo(model, **SOLVER)
    record = run(model, solver, request["step_s"], targets, velocity_targets, columns, coordinates)
    np.savez_compressed(out_file, **record)
    return 0


def robot_of(request: dict[str, Any]) -> Any:
    """The robot of the stage, convex hulls for meshes, and the ground."""
    builder = newton.ModelBuilder()
    SolverMuJoCo.register_custom_attributes(builder)
    for name, value in CONTACT.items():
        setattr(builder.default_shape_cfg, name, value)
    builder.add_usd(
        request["stage"],
        root_path=request["root"],
        schema_resolvers=[SchemaResolverNewton(), SchemaResolverPhysx()],
        load_visual_shapes=False,
    )
    builder.approximate_meshes("convex_hull", keep_visual_shapes=False)
    if request["ground"] is not None:
        cfg = newton.ModelBuilder.ShapeConfig(mu=request["ground"]["friction"], **CONTACT)
        builder.add_ground_plane(height=request["ground"]["height_m"], cfg=cfg)
    return builder


def put_joints(builder: Any, request: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and starts of all joints; where each stands among velocities and coordinates."""
    places = {label: k for k, label in enumerate(builder.joint_label)}
    columns, coordinates = [], []
    for joint in request["joints"]:
        k = places[joint["path"]]
        dof, coordinate = builder.joint_qd_start[k], builder.joint_q_start[k]
        columns.append(dof)
        coordinates.append(coordinate)
        driven = joint["stiffness"] > 0 or joint["damping"] > 0
        builder.joint_target_ke[dof], builder.joint_target_kd[dof] = joint["stiffness"], joint["damping"]
        builder.joint_target_mode[dof] = int(
            newton.JointTargetMode.POSITION_VELOCITY if driven else newton.JointTargetMode.NONE
        )
        builder.joint_armature[dof], builder.joint_friction[dof] = joint["armature"], joint["friction"]
        builder.joint_effort_limit[dof] = UNBOUNDED if joint["effort_limit"] is None else joint["effort_limit"]
        builder.joint_q[coordinate] = joint["start"]
        builder.joint_qd[dof] = 0.0
    return np.array(columns), np.array(coordinates)


def free_joint(builder: Any) -> int | None:
    """Where the floating base stands among the joints."""
    free = [k for k, kind in enumerate(builder.joint_type) if kind == newton.JointType.FREE]
    return free[0] if free else None


def put_base(builder: Any, request: dict[str, Any]) -> None:
    """Start of a floating base; newton and the request must agree that it floats."""
    free = free_joint(builder)
    if (free is None) != (request["base"] is None):
        raise SystemExit(f"newton's base {'floats' if free is not None else 'is fixed'}, PhysX's is the other")
    if free is not None:
        w, x, y, z = request["base"]["quat_wxyz"]
        first = builder.joint_q_start[free]
        builder.joint_q[first : first + 7] = [*request["base"]["pos"], x, y, z, w]


def run(
    model: Any,
    solver: Any,
    step_s: float,
    targets: np.ndarray,
    velocity_targets: np.ndarray,
    columns: np.ndarray,
    coordinates: np.ndarray,
) -> dict[str, np.ndarray]:
    """Every step: targets, contacts once, two substeps."""
    state, after, control = model.state(), model.state(), model.control()
    newton.eval_fk(model, model.joint_q, model.joint_qd, state)
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    kinds, starts = model.joint_type.numpy(), model.joint_q_start.numpy()
    free = np.flatnonzero(kinds == int(newton.JointType.FREE))
    target_q, target_qd = control.joint_target_q.numpy(), control.joint_target_qd.numpy()
    kept = [state.joint_q.numpy().copy()]
    for row, speed in zip(targets, velocity_targets, strict=True):
        target_q[coordinates], target_qd[columns] = row, speed
        control.joint_target_q.assign(target_q)
        control.joint_target_qd.assign(target_qd)
        pipeline.collide(state, contacts)
        for _ in range(SUBSTEPS):
            state.clear_forces()
            solver.step(state, after, control, contacts, step_s / SUBSTEPS)
            state, after = after, state
        kept.append(state.joint_q.numpy().copy())
        if not np.isfinite(kept[-1]).all():
            break
    whole = np.array(kept, dtype=float)
    record = {"joint_pos": whole[:, coordinates]}
    if free.size:
        first = int(starts[free[0]])
        record["root_pos_w"] = whole[:, first : first + 3]
        record["root_quat_wxyz"] = whole[:, [first + 6, first + 3, first + 4, first + 5]]
    return record


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
