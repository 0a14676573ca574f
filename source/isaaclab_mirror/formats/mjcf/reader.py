"""MJCF → Robot, by way of MuJoCo's own compiler: defaults, includes, frames and replicates are resolved by it.

What stands in the result is what MuJoCo would simulate: links with their inertias, joints, shapes with their friction
and filters, actuators on joints, joint couplings and welds, keyframes. Sites, sensors, tendons, cameras, lights and
looks are left out, with a diagnostic where they push: the file itself is what people look at.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import Diagnostics, InputError, Source
from isaaclab_mirror.formats.mjcf.shapes import read_geoms, read_materials
from isaaclab_mirror.robot.constraints import CollisionFilter, Loop, LoopType, Mimic
from isaaclab_mirror.robot.drives import Actuator, Transmission
from isaaclab_mirror.robot.geometry import Geom
from isaaclab_mirror.robot.inertia import Inertia
from isaaclab_mirror.robot.joints import Axis, AxisKind, Joint, JointDynamics, JointLimits, JointType
from isaaclab_mirror.robot.model import Link, Robot
from isaaclab_mirror.robot.scene import Keyframe, Scene
from isaaclab_mirror.rotations import Pose, Quat, Vec3

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

GAINS = {0: "fixed", 1: "affine", 2: "muscle", 3: "user"}
BIASES = {0: "none", 1: "affine", 2: "muscle", 3: "user"}
DYNAMICS = {0: "none", 1: "integrator", 2: "filter", 3: "filterexact", 4: "muscle", 5: "user"}


def read_mjcf(file: Path, found: Diagnostics) -> Robot:
    """The robot that MuJoCo makes of an MJCF file."""
    import mujoco

    try:
        spec = mujoco.MjSpec.from_file(str(file))
        name_everything(spec)
        model = spec.compile()
    except (ValueError, OSError) as error:
        raise InputError("E033", file, f"MuJoCo cannot read it: {' '.join(str(error).split())[:300]}") from None
    return robot_of_model(model, file, "mujoco", found)


def name_everything(spec: Any) -> None:
    """Bodies, joints and geoms without a name get one: a robot's parts are told by name."""
    for kind, items in (("body", spec.bodies), ("joint", spec.joints), ("geom", spec.geoms)):
        taken = {item.name for item in items}
        fresh = (f"{kind}{k}" for k in range(len(items) + len(taken)) if f"{kind}{k}" not in taken)
        for item in items:
            if not item.name:
                item.name = next(fresh)


def robot_of_model(model: Any, file: Path, dialect: str, found: Diagnostics) -> Robot:
    """A compiled model as a robot; every body, joint and geom of it has a name."""
    source = Source(file)
    if model.nbody < 2:
        raise InputError("E013", file, "there is no body in it")
    links = tuple(_link(model, body, file) for body in range(1, model.nbody))
    joints = tuple(_joint(model, body, file) for body in range(1, model.nbody))
    geoms, meshes = read_geoms(model, file)
    for what, count in (("tendons", model.ntendon), ("flexible bodies", model.nflex), ("contact pairs", model.npair)):
        if count:
            found.warn("E044", source, f"{count} {what} of this MJCF are left out")
    return Robot(
        name=file.stem,
        links=links,
        joints=joints,
        geoms=geoms,
        meshes=meshes,
        contact_materials=read_materials(model),
        actuators=_actuators(model, file, found),
        loops=_loops(model, file, found),
        mimics=_mimics(model, file),
        keyframes=_keyframes(model),
        collision_filter=_filter(model, geoms, dialect),
        scene=Scene(gravity=_vec3(model.opt.gravity), timestep_s=float(model.opt.timestep)),
        dialect=dialect,
        source=source,
    )


def _vec3(values: Numbers) -> Vec3:
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def _quat(values: Numbers) -> Quat:
    w, x, y, z = (float(value) for value in values)
    return (w, x, y, z)


def _link(model: Any, body: int, file: Path) -> Link:
    name = model.body(body).name
    return Link(
        name=name,
        inertia=Inertia(
            mass_kg=float(model.body_mass[body]),
            com_m=_vec3(model.body_ipos[body]),
            diagonal_kgm2=_vec3(model.body_inertia[body]),
            principal_wxyz=_quat(model.body_iquat[body]),
        ),
        disable_gravity=bool(model.body_gravcomp[body] == 1.0),
        kinematic=bool(model.body_mocapid[body] >= 0),
        mujoco={"gravcomp": float(model.body_gravcomp[body])} if model.body_gravcomp[body] else {},
        source=Source(file, name),
    )


def _joint(model: Any, body: int, file: Path) -> Joint:
    """All of a body's joints as one joint with its axes in a row."""
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    ids = range(first, first + count) if count else range(0)
    parent = int(model.body_parentid[body])
    child = model.body(body).name
    common: dict[str, Any] = {
        "parent": model.body(parent).name if parent else None,
        "child": child,
        "origin": Pose(_vec3(model.body_pos[body]), _quat(model.body_quat[body])),
    }
    free = next((k for k in ids if model.jnt_type[k] == 0), None)
    if free is not None:
        name = model.joint(free).name
        return Joint(name=name, type=JointType.FLOATING, source=Source(file, name), **common)
    axes = [_axis(model, k, file) for k in ids]
    if not axes:
        return Joint(name=f"{child}:fixed", type=JointType.FIXED, source=Source(file, child), **common)
    name = axes[0].name if len(axes) == 1 else f"{child}:joint"
    return Joint(name=name, type=_type(axes), axes=tuple(axes), source=Source(file, axes[0].name), **common)


def _type(axes: list[Axis]) -> JointType:
    if len(axes) > 1:
        return JointType.D6
    kind, limits = axes[0].kind, axes[0].limits
    if kind is AxisKind.HINGE:
        return JointType.REVOLUTE if limits.has_range else JointType.CONTINUOUS
    return JointType.PRISMATIC if kind is AxisKind.SLIDE else JointType.BALL


def _axis(model: Any, k: int, file: Path) -> Axis:
    dof, position = int(model.jnt_dofadr[k]), int(model.jnt_qposadr[k])
    kind = {1: AxisKind.BALL, 2: AxisKind.SLIDE, 3: AxisKind.HINGE}[int(model.jnt_type[k])]
    limited, bounded = bool(model.jnt_limited[k]), bool(model.jnt_actfrclimited[k])
    scalar = kind is not AxisKind.BALL
    loss = float(model.dof_frictionloss[dof])
    own: dict[str, object] = {}
    if scalar and model.qpos0[position]:
        own["ref"] = float(model.qpos0[position])
    if bounded:
        own |= {"actuator_force_limited": "true"}
        own |= dict(
            zip(("actuator_force_min", "actuator_force_max"), map(float, model.jnt_actfrcrange[k]), strict=True)
        )
    return Axis(
        name=model.joint(k).name,
        kind=kind,
        axis=_vec3(model.jnt_axis[k]) if scalar else (0.0, 0.0, 1.0),
        anchor_m=_vec3(model.jnt_pos[k]),
        limits=JointLimits(
            lower=float(model.jnt_range[k, 0]) if limited and scalar else None,
            upper=float(model.jnt_range[k, 1]) if limited else None,
            effort=float(abs(model.jnt_actfrcrange[k]).max()) if bounded else None,
        ),
        dynamics=JointDynamics(
            damping=float(model.dof_damping[dof]),
            static_friction=loss,
            friction=loss,
            stiffness=float(model.jnt_stiffness[k]),
            spring_reference=float(model.qpos_spring[position]) if scalar else 0.0,
            armature=float(model.dof_armature[dof]),
        ),
        mujoco=own,
        source=Source(file, model.joint(k).name),
    )


def _actuators(model: Any, file: Path, found: Diagnostics) -> tuple[Actuator, ...]:
    """Those on joints."""
    result: list[Actuator] = []
    for k in range(model.nu):
        name = model.actuator(k).name or f"actuator{k}"
        if int(model.actuator_trntype[k]) not in (0, 1):
            found.warn("E044", Source(file, name), "an actuator that acts on no joint is left out")
            continue
        control, force = bool(model.actuator_ctrllimited[k]), bool(model.actuator_forcelimited[k])
        result.append(
            Actuator(
                name=name,
                transmission=Transmission.JOINT if model.actuator_trntype[k] == 0 else Transmission.JOINT_IN_PARENT,
                target=model.joint(int(model.actuator_trnid[k, 0])).name,
                gear=tuple(map(float, model.actuator_gear[k])),
                gain_type=GAINS.get(int(model.actuator_gaintype[k]), "user"),
                bias_type=BIASES.get(int(model.actuator_biastype[k]), "user"),
                dyn_type=DYNAMICS.get(int(model.actuator_dyntype[k]), "user"),
                gain=tuple(map(float, model.actuator_gainprm[k])),
                bias=tuple(map(float, model.actuator_biasprm[k])),
                dyn=tuple(map(float, model.actuator_dynprm[k])),
                control_range=_pair(model.actuator_ctrlrange[k]) if control else None,
                force_range=_pair(model.actuator_forcerange[k]) if force else None,
                source=Source(file, name),
            )
        )
    return tuple(result)


def _pair(values: Numbers) -> tuple[float, float]:
    return float(values[0]), float(values[1])


def _mimics(model: Any, file: Path) -> tuple[Mimic, ...]:
    result: list[Mimic] = []
    for k in range(model.neq):
        if model.eq_type[k] == 2 and model.eq_obj2id[k] >= 0:
            name = model.equality(k).name or f"mimic{k}"
            result.append(
                Mimic(
                    name=name,
                    follower=model.joint(int(model.eq_obj1id[k])).name,
                    leader=model.joint(int(model.eq_obj2id[k])).name,
                    coefficients=tuple(map(float, model.eq_data[k, :5])),
                    active=bool(model.eq_active0[k]),
                    source=Source(file, name),
                )
            )
    return tuple(result)


def _loops(model: Any, file: Path, found: Diagnostics) -> tuple[Loop, ...]:
    """Points and frames of two bodies that stay together."""
    result: list[Loop] = []
    for k in range(model.neq):
        kind = int(model.eq_type[k])
        name = model.equality(k).name or f"loop{k}"
        if kind == 2 and model.eq_obj2id[k] >= 0:
            continue
        if kind > 1 or int(model.eq_objtype[k]) != 1:
            found.warn("E044", Source(file, name), "an equality constraint of this kind is left out")
            continue
        data = model.eq_data[k]
        links = [model.body(int(b[k])).name if b[k] else None for b in (model.eq_obj1id, model.eq_obj2id)]
        if kind == 0:
            frames = Pose(_vec3(data[:3])), Pose(_vec3(data[3:6]))
        else:  # body 2's frame at the anchor, and the same frame seen from body 1
            turn = _quat(data[6:10])
            frames = Pose(_vec3(data[3:6]), turn), Pose(_vec3(data[:3]))
        result.append(
            Loop(
                name=name,
                type=LoopType.CONNECT if kind == 0 else LoopType.WELD,
                link0=links[0],
                link1=links[1],
                frame0=frames[0],
                frame1=frames[1],
                active=bool(model.eq_active0[k]),
                source=Source(file, name),
            )
        )
    return tuple(result)


def _keyframes(model: Any) -> tuple[Keyframe, ...]:
    return tuple(
        Keyframe(
            name=model.key(k).name or f"key{k}",
            mujoco={"qpos": tuple(map(float, model.key_qpos[k])), "ctrl": tuple(map(float, model.key_ctrl[k]))},
        )
        for k in range(model.nkey)
    )


def _filter(model: Any, geoms: tuple[Geom, ...], dialect: str) -> CollisionFilter:
    """MuJoCo's masks as groups that do not collide, its excludes as pairs of links."""
    bits: dict[tuple[int, int], list[str]] = {}
    for k, geom in enumerate(geoms):
        if geom.collision is not None and geom.link is not None:
            bits.setdefault((int(model.geom_contype[k]), int(model.geom_conaffinity[k])), []).append(geom.name)
    group = {key: f"masks {key[0]} {key[1]}" for key in bits}
    silent = frozenset(
        frozenset((group[a], group[b])) for a in bits for b in bits if not (a[0] & b[1]) and not (b[0] & a[1])
    )
    alone = len(bits) == 1 and len(silent) == 1
    excluded = [divmod(int(signature), 1 << 16) for signature in model.exclude_signature]
    return CollisionFilter(
        self_collision=not alone,
        link_pairs=frozenset(frozenset((model.body(a).name, model.body(b).name)) for a, b in excluded),
        groups={group[key]: tuple(names) for key, names in bits.items()} if silent and not alone else {},
        filtered_groups=silent if not alone else frozenset(),
        parent_rule="mujoco" if dialect == "mujoco" else "physx",
    )
