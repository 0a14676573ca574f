"""A robot model of an MJCF or URDF file, by MuJoCo's own compiler: what a policy replays on when there is no USD.

The result speaks PhysX's dialect: the policy was trained there, so that drives and contacts get PhysX's laws. What
MuJoCo alone has (its actuators, contact parameters, cameras, keyframes, the ground plane) stays behind.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import Diagnostics, InputError, Source
from isaaclab_mirror.formats.registry import Format, format_of
from isaaclab_mirror.robot.constraints import CollisionFilter, Mimic
from isaaclab_mirror.robot.geometry import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Ellipsoid,
    Geom,
    MeshAsset,
    MeshShape,
    Shape,
    Sphere,
)
from isaaclab_mirror.robot.inertia import Inertia
from isaaclab_mirror.robot.joints import Axis, AxisKind, Joint, JointDynamics, JointLimits, JointType
from isaaclab_mirror.robot.materials import CombineMode, ContactMaterial
from isaaclab_mirror.robot.model import Link, Robot
from isaaclab_mirror.rotations import Pose, Quat, Vec3

if TYPE_CHECKING:
    from collections.abc import Sequence

MUJOCO_FRICTION = 1.0
"""Sliding friction of a geom for which nothing is stated."""
WORLD = 0


def mjcf_robot(file: Path, found: Diagnostics | None = None, *, fix_base: bool | None = None) -> Robot:
    """The robot of the file."""
    found = Diagnostics() if found is None else found
    model = _compiled(file, found, fix_base)
    if model.nbody < 2:
        raise InputError("E013", file, "there is no body in it")
    reader = _Reader(model, file)
    links, joints = reader.links(), reader.joints()
    geoms, meshes, materials = reader.geometry()
    return Robot(
        name=file.stem,
        links=links,
        joints=joints,
        geoms=geoms,
        meshes=meshes,
        contact_materials=materials,
        mimics=reader.mimics(),
        collision_filter=reader.collision_filter(),
        dialect="physx",
        source=Source(file),
    )


def _compiled(file: Path, found: Diagnostics, fix_base: bool | None) -> Any:
    import mujoco

    try:
        return mujoco.MjSpec.from_file(str(file)).compile()
    except (ValueError, OSError) as error:
        raise InputError("E033", file, f"MuJoCo cannot read it: {' '.join(str(error).split())[:300]}") from None


class _Reader:
    """Reads one compiled model."""

    def __init__(self, model: Any, file: Path) -> None:
        self._model = model
        self._file = file
        self._bodies = [self._name("body", k) for k in range(model.nbody)]
        self._names = [self._name("joint", k) for k in range(model.njnt)]

    def _name(self, kind: str, index: int) -> str:
        return getattr(self._model, kind)(index).name or f"{kind}{index}"

    def links(self) -> tuple[Link, ...]:
        """One per body; masses as MuJoCo compiles them."""
        m = self._model
        return tuple(
            Link(
                name=self._bodies[k],
                inertia=Inertia(
                    mass_kg=float(m.body_mass[k]),
                    com_m=_vec(m.body_ipos[k]),
                    diagonal_kgm2=_vec(m.body_inertia[k]),
                    principal_wxyz=_quat(m.body_iquat[k]),
                ),
                source=Source(self._file, self._bodies[k]),
            )
            for k in range(1, m.nbody)
        )

    def joints(self) -> tuple[Joint, ...]:
        """One per body, in the same order."""
        import mujoco

        m, result = self._model, []
        free = int(mujoco.mjtJoint.mjJNT_FREE)
        for k in range(1, m.nbody):
            first, count = int(m.body_jntadr[k]), int(m.body_jntnum[k])
            own = range(first, first + count)
            parent = int(m.body_parentid[k])
            floating = any(int(m.jnt_type[j]) == free for j in own)
            axes = () if floating else tuple(self._axis(j) for j in own)
            name = self._names[first] if count else f"{self._bodies[k]}_fixed"
            result.append(
                Joint(
                    name=name,
                    type=JointType.FLOATING if floating else _type(axes),
                    parent=None if parent == WORLD else self._bodies[parent],
                    child=self._bodies[k],
                    origin=Pose(_vec(m.body_pos[k]), _quat(m.body_quat[k])),
                    axes=axes,
                    source=Source(self._file, name),
                )
            )
        return tuple(result)

    def _axis(self, j: int) -> Axis:
        import mujoco

        m = self._model
        kinds = {
            int(mujoco.mjtJoint.mjJNT_HINGE): AxisKind.HINGE,
            int(mujoco.mjtJoint.mjJNT_SLIDE): AxisKind.SLIDE,
            int(mujoco.mjtJoint.mjJNT_BALL): AxisKind.BALL,
        }
        kind, dof = kinds[int(m.jnt_type[j])], int(m.jnt_dofadr[j])
        limited = bool(m.jnt_limited[j]) and kind is not AxisKind.BALL
        reference = float(m.qpos0[m.jnt_qposadr[j]]) if kind is not AxisKind.BALL else 0.0
        friction = float(m.dof_frictionloss[dof])
        return Axis(
            name=self._names[j],
            kind=kind,
            axis=_vec(m.jnt_axis[j]),
            anchor_m=_vec(m.jnt_pos[j]),
            limits=JointLimits(
                lower=float(m.jnt_range[j, 0]) if limited else None,
                upper=float(m.jnt_range[j, 1]) if limited else None,
                effort=self._effort(j),
            ),
            dynamics=JointDynamics(
                damping=float(m.dof_damping[dof]),
                static_friction=friction,
                friction=friction,
                stiffness=float(m.jnt_stiffness[j]),
                spring_reference=float(m.qpos_spring[m.jnt_qposadr[j]]) if m.jnt_stiffness[j] else 0.0,
                armature=float(m.dof_armature[dof]),
            ),
            mujoco={"ref": reference} if reference else {},
            source=Source(self._file, self._names[j]),
        )

    def _effort(self, j: int) -> float | None:
        """The joint's own bound, else that of the actuator on it."""
        import mujoco

        m = self._model
        if m.jnt_actfrclimited[j]:
            return float(abs(m.jnt_actfrcrange[j]).max())
        for a in range(m.nu):
            if m.actuator_trntype[a] == int(mujoco.mjtTrn.mjTRN_JOINT) and int(m.actuator_trnid[a, 0]) == j:
                gear = abs(float(m.actuator_gear[a, 0]))
                if m.actuator_forcelimited[a]:
                    return float(abs(m.actuator_forcerange[a]).max()) * gear
                motor = m.actuator_biastype[a] == int(mujoco.mjtBias.mjBIAS_NONE) and m.actuator_ctrllimited[a]
                return (
                    float(abs(m.actuator_ctrlrange[a]).max() * abs(m.actuator_gainprm[a, 0])) * gear if motor else None
                )
        return None

    def geometry(self) -> tuple[tuple[Geom, ...], tuple[MeshAsset, ...], tuple[ContactMaterial, ...]]:
        """Geoms on links; what stands in the world is the scene's, not the robot's."""
        m = self._model
        geoms: list[Geom] = []
        meshes: dict[str, MeshAsset] = {}
        materials: dict[str, ContactMaterial] = {}
        for g in range(m.ngeom):
            body = int(m.geom_bodyid[g])
            if body == WORLD:
                continue
            shape = self._shape(g, meshes)
            if shape is None:
                continue
            collides = bool(m.geom_contype[g] or m.geom_conaffinity[g])
            geoms.append(
                Geom(
                    name=m.geom(g).name or f"{self._bodies[body]}_geom{g}",
                    link=self._bodies[body],
                    shape=shape,
                    pose=Pose(_vec(m.geom_pos[g]), _quat(m.geom_quat[g])),
                    rgba=(*_vec(m.geom_rgba[g]), float(m.geom_rgba[g][3])),
                    collision=Collision(material=_material(float(m.geom_friction[g, 0]), materials))
                    if collides
                    else None,
                    source=Source(self._file, m.geom(g).name or self._bodies[body]),
                )
            )
        return tuple(geoms), tuple(meshes.values()), tuple(materials.values())

    def _shape(self, g: int, meshes: dict[str, MeshAsset]) -> Shape | None:
        import mujoco

        m, kind = self._model, int(self._model.geom_type[g])
        a, b, c = _vec(m.geom_size[g])
        shapes: dict[int, Shape] = {
            int(mujoco.mjtGeom.mjGEOM_SPHERE): Sphere(a),
            int(mujoco.mjtGeom.mjGEOM_CAPSULE): Capsule(a, b),
            int(mujoco.mjtGeom.mjGEOM_CYLINDER): Cylinder(a, b),
            int(mujoco.mjtGeom.mjGEOM_BOX): Box((a, b, c)),
            int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): Ellipsoid((a, b, c)),
        }
        if kind == int(mujoco.mjtGeom.mjGEOM_MESH):
            mesh = _mesh(m, int(m.geom_dataid[g]))
            meshes.setdefault(mesh.name, mesh)
            return MeshShape(mesh.name)
        return shapes.get(kind)

    def mimics(self) -> tuple[Mimic, ...]:
        """Joint equalities."""
        import mujoco

        m, joint = self._model, int(mujoco.mjtEq.mjEQ_JOINT)
        return tuple(
            Mimic(
                name=m.equality(e).name or f"mimic{e}",
                follower=self._names[int(m.eq_obj1id[e])],
                leader=self._names[int(m.eq_obj2id[e])],
                coefficients=tuple(float(x) for x in m.eq_data[e, :5]),
                active=bool(m.eq_active0[e]),
            )
            for e in range(m.neq)
            if int(m.eq_type[e]) == joint and int(m.eq_obj2id[e]) >= 0
        )

    def collision_filter(self) -> CollisionFilter:
        """Excluded pairs of bodies, and pairs of geoms that contype and conaffinity keep apart."""
        m = self._model
        excluded = {frozenset((self._bodies[int(s) >> 16], self._bodies[int(s) & 0xFFFF])) for s in m.exclude_signature}
        own = [
            g for g in range(m.ngeom) if int(m.geom_bodyid[g]) != WORLD and (m.geom_contype[g] or m.geom_conaffinity[g])
        ]
        apart: set[frozenset[str]] = set()
        some = False
        for k, a in enumerate(own):
            for b in own[k + 1 :]:
                meet = (m.geom_contype[a] & m.geom_conaffinity[b]) or (m.geom_contype[b] & m.geom_conaffinity[a])
                some = some or bool(meet)
                if not meet:
                    apart.add(frozenset((self._geom(a), self._geom(b))))
        if not some:
            return CollisionFilter(self_collision=False)
        return CollisionFilter(link_pairs=frozenset(excluded), geom_pairs=frozenset(apart))

    def _geom(self, g: int) -> str:
        return self._model.geom(g).name or f"{self._bodies[int(self._model.geom_bodyid[g])]}_geom{g}"


def _type(axes: Sequence[Axis]) -> JointType:
    if not axes:
        return JointType.FIXED
    if len(axes) > 1:
        return JointType.D6
    axis = axes[0]
    if axis.kind is AxisKind.HINGE:
        return JointType.REVOLUTE if axis.limits.lower is not None else JointType.CONTINUOUS
    return JointType.PRISMATIC if axis.kind is AxisKind.SLIDE else JointType.BALL


def _material(friction: float, materials: dict[str, ContactMaterial]) -> str | None:
    """MuJoCo takes the larger friction of two geoms: the mode that says so. The default needs no name."""
    if math.isclose(friction, MUJOCO_FRICTION):
        return None
    name = f"friction_{friction:g}"
    materials[name] = ContactMaterial(
        name=name,
        static_friction=friction,
        dynamic_friction=friction,
        friction_combine=CombineMode.MAX,
    )
    return name


def _mesh(model: Any, k: int) -> MeshAsset:
    import numpy as np

    vertices = slice(int(model.mesh_vertadr[k]), int(model.mesh_vertadr[k] + model.mesh_vertnum[k]))
    faces = slice(int(model.mesh_faceadr[k]), int(model.mesh_faceadr[k] + model.mesh_facenum[k]))
    return MeshAsset(
        name=model.mesh(k).name or f"mesh{k}",
        vertices_m=np.array(model.mesh_vert[vertices], dtype=np.float32),
        faces=np.array(model.mesh_face[faces], dtype=np.int32),
    )


def _vec(values: Any) -> Vec3:
    return (float(values[0]), float(values[1]), float(values[2]))


def _quat(values: Any) -> Quat:
    return (float(values[0]), float(values[1]), float(values[2]), float(values[3]))
