"""A robot or file as a compiled MuJoCo model with everything by name that `MujocoSim` needs."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.diagnostics import Fidelity as FidelityTable
from isaaclab_mirror.formats.mjcf.controls import TOKENS
from isaaclab_mirror.formats.mjcf.spec import enum
from isaaclab_mirror.formats.mjcf.writer import build_spec
from isaaclab_mirror.formats.options import WriteOptions
from isaaclab_mirror.physics.ground import GROUND, with_ground, with_ground_friction
from isaaclab_mirror.physics.lower import lower
from isaaclab_mirror.physics.lowered import Engine, Lowered
from isaaclab_mirror.physics.options import Fidelity, LoweringOptions
from isaaclab_mirror.physics.softening import best_substeps
from isaaclab_mirror.robot.joints import AxisKind
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.mujoco_joints import JointMap
from isaaclab_mirror.sims.robots import DriveTable, drive_table, home_pose, home_positions, is_floating, joint_limits
from isaaclab_mirror.sims.robots import joint_names as canonical_names
from isaaclab_mirror.sims.settings import SimSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TOUCH = "isaaclab_mirror_touch:"
"""Sensors of the net contact force of a link begin with this."""
DRIVE = "isaaclab_mirror_drive:"
"""Motors of joints that nothing drives begin with this: efforts and later gains need an actuator."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MujocoRobot:
    """A compiled model and where everything canonical stands in it."""

    model: Any
    robot: Robot | None
    """None: from an MJCF file as it is."""
    fidelity: Fidelity
    joints: JointMap
    actuators: NDArray[np.intp]
    """(joints,): the actuator of each; −1 for the coordinates of a ball."""
    drives: DriveTable
    """As the source states them."""
    limits: Array
    link_names: tuple[str, ...]
    bodies: NDArray[np.intp]
    """(links,)"""
    touch: NDArray[np.intp] | None
    """(links,): where each link's force stands in sensordata; None where it is not measured."""
    floating: bool
    """The root link has a free joint: qpos[:7], qvel[:6] of it stand at `root_qpos`, `root_dof`."""
    root_qpos: int
    root_dof: int
    home_qpos: Array
    home_control: Array


def robot_model(
    robot: Robot, fidelity: Fidelity, settings: SimSettings, *, contact_forces: bool, visuals: bool
) -> MujocoRobot:
    """Lower a robot for MuJoCo under these settings and compile it."""
    import numpy as np

    lowered = lowered_robot(robot, fidelity, settings, visuals=visuals)
    with tempfile.TemporaryDirectory(prefix="isaaclab_mirror_") as folder:
        spec, _ = build_spec(lowered, Path(folder), WriteOptions(), Diagnostics(), FidelityTable())
        scalars = [axis.name for axis in robot.axes() if axis.kind is not AxisKind.BALL]
        _complete(spec, scalars, [link.name for link in robot.links] if contact_forces else [])
        model = _compile(spec, str(robot.source or robot.name))
    names, joints = canonical_names(robot), _joint_map(model, robot)
    home = np.array(model.qpos0)
    floating, root_qpos, root_dof = is_floating(robot), 0, 0
    if floating:
        root = model.joint(robot.joints[0].name)
        root_qpos, root_dof = int(root.qposadr[0]), int(root.dofadr[0])
        pose = home_pose(robot)
        home[root_qpos : root_qpos + 7] = (*pose.pos, *pose.quat_wxyz)
    start = home_positions(robot)
    joints.put_positions(np.array([[start[name] for name in names]]), home[None])
    links = tuple(link.name for link in robot.links)
    return MujocoRobot(
        model=model,
        robot=robot,
        fidelity=fidelity,
        joints=joints,
        actuators=_joint_actuators(model, names),
        drives=drive_table(robot),
        limits=joint_limits(robot),
        link_names=links,
        bodies=np.array([model.body(name).id for name in links], dtype=np.intp),
        touch=_touch_addresses(model, links) if contact_forces else None,
        floating=floating,
        root_qpos=root_qpos,
        root_dof=root_dof,
        home_qpos=home,
        home_control=np.zeros(model.nu),
    )


def with_substeps(
    settings: SimSettings, robot: Robot | None = None, fidelity: Fidelity = Fidelity.NOMINAL
) -> SimSettings:
    """The settings with MuJoCo's steps per time step chosen, where the caller left it to the fidelity."""
    if settings.mujoco_substeps is not None:
        return settings
    count = 1
    if robot is not None and fidelity is Fidelity.PHYSX and robot.dialect != "mujoco" and settings.solver == "TGS":
        count = best_substeps(robot, settings.position_iterations)
    provenance = {**settings.provenance, "mujoco_substeps": f"fidelity {fidelity.value}"}
    return replace(settings, mujoco_substeps=count, provenance=provenance)


def lowered_robot(robot: Robot, fidelity: Fidelity, settings: SimSettings, *, visuals: bool = False) -> Lowered:
    """The robot with MuJoCo's numbers under these settings, ground included; what is only seen is left out."""
    own = {k: v for k, v in robot.scene.mujoco.items() if k != "timestep"}
    scene = replace(
        robot.scene,
        gravity=settings.gravity,
        timestep_s=settings.timestep_s,
        position_iterations=settings.position_iterations,
        velocity_iterations=settings.velocity_iterations,
        solver=settings.solver,
        external_forces_every_iteration=settings.external_forces_every_iteration,
        mujoco={**own, **settings.mujoco_options},
    )
    robot = replace(robot, scene=scene)
    if not visuals:
        wrapped = {point.target for tendon in robot.tendons for point in tendon.path if point.kind == "geom"}
        geoms = tuple(
            replace(geom, material=None) for geom in robot.geoms if geom.collision is not None or geom.name in wrapped
        )
        robot = replace(robot, geoms=geoms, materials=(), textures=())
    if settings.ground is not None:
        robot = with_ground(robot, settings.ground.height_m, settings.ground.material)
    options = LoweringOptions(fidelity=fidelity, timestep=settings.timestep_s, substeps=settings.mujoco_substeps or 1)
    return with_ground_friction(lower(robot, Engine.MUJOCO, options, Diagnostics(), FidelityTable()))


def mjcf_model(file: Path, settings: SimSettings, *, contact_forces: bool) -> MujocoRobot:
    """An MJCF file as it is, under these settings: time step, gravity and options are the caller's."""
    import mujoco
    import numpy as np

    try:
        spec = mujoco.MjSpec.from_file(str(file))
    except (ValueError, OSError) as error:
        raise InputError("E033", file, f"MuJoCo cannot read it: {' '.join(str(error).split())[:300]}") from None
    spec.option.timestep = settings.timestep_s / (settings.mujoco_substeps or 1)
    spec.option.gravity = list(settings.gravity)
    for name, value in settings.mujoco_options.items():
        setattr(spec.option, name, enum(*TOKENS[name], str(value)) if name in TOKENS else value)
    if settings.ground is not None and not any(geom.name == GROUND for geom in spec.geoms):
        spec.worldbody.add_geom(
            name=GROUND,
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            size=[0.0, 0.0, 1.0],
            pos=[0.0, 0.0, settings.ground.height_m],
            friction=[settings.ground.material.dynamic_friction, 0.0, 0.0],
        )
    kinds = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    nameless = [j for j in spec.joints if not j.name and j.type in kinds]
    for k, joint in enumerate(nameless):
        joint.name = f"joint{k}"
    for k, body in enumerate(body for body in spec.bodies if not body.name):
        body.name = f"body{k}"
    scalars = [j.name for j in spec.joints if j.type in kinds]
    _complete(spec, scalars, [b.name for b in spec.bodies if b.name != "world"] if contact_forces else [])
    model = _compile(spec, file.name)
    ids = [k for k in range(model.njnt) if model.jnt_type[k] in (int(kinds[0]), int(kinds[1]))]
    names = tuple(model.joint(k).name for k in ids)
    joints = JointMap(
        names=names,
        qpos_index=model.jnt_qposadr[ids].astype(np.intp),
        dof=model.jnt_dofadr[ids].astype(np.intp),
    )
    actuators = _joint_actuators(model, names)
    free = np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))
    floating = bool(free.size) and bool(model.jnt_bodyid[free[0]] == 1)
    links = tuple(model.body(k).name for k in range(1, model.nbody))
    key = next((k for k in range(model.nkey) if model.key(k).name == "home"), 0 if model.nkey else None)
    limited = model.jnt_limited[ids].astype(bool)[:, None]
    return MujocoRobot(
        model=model,
        robot=None,
        fidelity=Fidelity.NOMINAL,
        joints=joints,
        actuators=actuators,
        drives=_model_drives(model, actuators),
        limits=np.where(limited, model.jnt_range[ids], [[-np.inf, np.inf]]).reshape(-1, 2),
        link_names=links,
        bodies=np.arange(1, model.nbody, dtype=np.intp),
        touch=_touch_addresses(model, links) if contact_forces else None,
        floating=floating,
        root_qpos=int(model.jnt_qposadr[free[0]]) if floating else 0,
        root_dof=int(model.jnt_dofadr[free[0]]) if floating else 0,
        home_qpos=np.array(model.qpos0 if key is None else model.key_qpos[key]),
        home_control=np.zeros(model.nu) if key is None else np.array(model.key_ctrl[key]),
    )


def _complete(spec: Any, joints: list[str], links: list[str]) -> None:
    """A motor for each joint that nothing drives, a contact sensor for each link, and no silent resets."""
    import mujoco

    driven = {a.target for a in spec.actuators if a.trntype == mujoco.mjtTrn.mjTRN_JOINT}
    for name in joints:
        if name not in driven:
            motor = spec.add_actuator(name=DRIVE + name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            motor.gear = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    for name in links:
        sensor = spec.add_sensor(
            name=TOUCH + name,
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            objtype=mujoco.mjtObj.mjOBJ_BODY,
            objname=name,
        )
        # data: force; reduce: net force in the world; one slot
        sensor.intprm[:3] = [1 << int(mujoco.mjtConDataField.mjCONDATA_FORCE), 3, 1]
    # A state that is not finite is reported by the simulator: MuJoCo would start again from qpos0 without a word.
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)


def _compile(spec: Any, where: str) -> Any:
    import mujoco

    try:
        return spec.compile()
    except ValueError as error:
        raise InputError(
            "E033", where, f"MuJoCo cannot compile the robot: {' '.join(str(error).split())[:300]}"
        ) from None
    finally:
        if hasattr(mujoco, "mj_clearCache"):  # it keeps up to 500 MB of meshes, by the names of files now gone
            mujoco.mj_clearCache(mujoco.mj_getCache())


def _joint_map(model: Any, robot: Robot) -> JointMap:
    import numpy as np

    qpos, dof, balls = [], [], []
    for axis in robot.axes():
        joint = model.joint(axis.name)
        if axis.kind is AxisKind.BALL:
            balls.append((len(qpos), int(joint.qposadr[0])))
        qpos += [int(joint.qposadr[0]) + k for k in range(axis.dofs)]
        dof += [int(joint.dofadr[0]) + k for k in range(axis.dofs)]
    return JointMap(
        names=canonical_names(robot),
        qpos_index=np.array(qpos, dtype=np.intp),
        dof=np.array(dof, dtype=np.intp),
        balls=tuple(balls),
    )


def _joint_actuators(model: Any, names: tuple[str, ...]) -> NDArray[np.intp]:
    """The first actuator on each joint."""
    import mujoco
    import numpy as np

    found: dict[str, int] = {}
    for k in range(model.nu):
        if model.actuator_trntype[k] == int(mujoco.mjtTrn.mjTRN_JOINT):
            found.setdefault(model.joint(int(model.actuator_trnid[k, 0])).name, k)
    return np.array([found.get(name, -1) for name in names], dtype=np.intp)


def _touch_addresses(model: Any, links: tuple[str, ...]) -> NDArray[np.intp]:
    import numpy as np

    return np.array([int(model.sensor(TOUCH + name).adr[0]) for name in links], dtype=np.intp)


def _model_drives(model: Any, actuators: NDArray[np.intp]) -> DriveTable:
    """Gains per joint from a model's own actuators."""
    import mujoco
    import numpy as np

    gear = model.actuator_gear[actuators, 0]
    affine = model.actuator_biastype[actuators] == int(mujoco.mjtBias.mjBIAS_AFFINE)
    bias = model.actuator_biasprm[actuators]
    bounded = model.actuator_forcelimited[actuators].astype(bool)
    limit = np.where(bounded, np.abs(model.actuator_forcerange[actuators]).max(axis=1) * np.abs(gear), np.inf)
    motor = ~affine & model.actuator_ctrllimited[actuators].astype(bool)
    span = np.abs(model.actuator_ctrlrange[actuators]).max(axis=1) * np.abs(gear * model.actuator_gainprm[actuators, 0])
    return DriveTable(
        stiffness=np.where(affine, -bias[:, 1], 0.0) * gear**2,
        damping=np.where(affine, -bias[:, 2], 0.0) * gear**2,
        effort_limit=np.where(motor, np.minimum(limit, span), limit),
        inertia=np.ones(len(actuators)),
    )
