"""A USD robot → Robot."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.formats.usd.constraints import read_loop, read_mimics, read_physx_tendons
from isaaclab_mirror.formats.usd.disagreements import report_unit_disagreements
from isaaclab_mirror.formats.usd.filters import read_filter
from isaaclab_mirror.formats.usd.geoms import GeomReader, ReadGeom
from isaaclab_mirror.formats.usd.joints import TYPES, joint_geometry, read_axes
from isaaclab_mirror.formats.usd.masses import mujoco_inertia, physx_inertia, weighs_meshes
from isaaclab_mirror.formats.usd.mujoco_schema import read_actuators, read_keyframes, read_tendons
from isaaclab_mirror.formats.usd.names import UniqueNames, spelled
from isaaclab_mirror.formats.usd.scene import read_scene
from isaaclab_mirror.formats.usd.sensors import read_sensors, read_site
from isaaclab_mirror.formats.usd.spatial import read_spatial
from isaaclab_mirror.formats.usd.stage import UsdRobotStage, open_stage, usd_border
from isaaclab_mirror.formats.usd.topology import JointRecord, Topology, TreeNode, read_joint_records, read_topology
from isaaclab_mirror.formats.usd.values import limit, number, value
from isaaclab_mirror.robot.constraints import Loop, Mimic
from isaaclab_mirror.robot.geometry import Geom, MeshAsset
from isaaclab_mirror.robot.inertia import Inertia
from isaaclab_mirror.robot.joints import Axis, AxisKind, Joint, JointType
from isaaclab_mirror.robot.model import Link, Robot
from isaaclab_mirror.robot.sensors import Site
from isaaclab_mirror.rotations import Pose

if TYPE_CHECKING:
    from pxr import Sdf

ANGULAR_DAMPING = 0.05
"""PhysX's default for every body [1/s]."""
SPEEDS = ("Linear", "Angular", "Depenetration")
"""Largest speeds of a body: physxRigidBody:maxLinearVelocity, … Angular ones are degrees per second."""


PhysxMasses = Callable[[UsdRobotStage, "list[Sdf.Path]"], "dict[Sdf.Path, Inertia]"]
"""Asks PhysX for the mass properties of bodies; those that it does not tell are left out."""


@dataclass(frozen=True, slots=True)
class ReadRobot:
    """A robot and the files that it was read from."""

    robot: Robot
    sources: tuple[Path, ...]


def read_usd(
    file: Path,
    options: ReadOptions,
    found: Diagnostics,
    fidelity: Fidelity,
    hull_of: Callable[[MeshAsset], MeshAsset],
    physx_masses: PhysxMasses | None = None,
) -> ReadRobot:
    """Read the robot of a USD file.

    `hull_of` gives the convex hull of a mesh, `physx_masses` what PhysX makes of bodies: asked where mass needs it.
    """
    with usd_border(file):
        return _read(open_stage(file, options, found), fidelity, hull_of, physx_masses)


def _read(
    stage: UsdRobotStage,
    fidelity: Fidelity,
    hull_of: Callable[[MeshAsset], MeshAsset],
    physx_masses: PhysxMasses | None,
) -> ReadRobot:
    found = stage.found
    topology = read_topology(stage, read_joint_records(stage))
    for joint, why in topology.dropped:
        fidelity.lost("joints", why)
        found.info("E029", stage.source(joint.record.prim), f"the joint is left out: {why}")
    link_names, joint_names = _names(stage, topology)
    joints, axes_by_prim = _joints(stage, topology, link_names, joint_names)
    reader = GeomReader(stage, link_names, hull_of)
    geoms, sites, site_names = _geometry(stage, reader, topology, link_names, fidelity)
    links = _links(stage, topology, link_names, geoms, reader, hull_of, physx_masses, fidelity)
    colliders = {
        read.record.path: reader.names_of[read.record.path]
        for read in geoms
        if read.geom.collision is not None and read.enabled
    }
    closing = [joint for joint in topology.loops if joint.record.type_name != "PhysicsDistanceJoint"]
    loops = [loop for joint in closing if (loop := read_loop(stage, joint, link_names, site_names)) is not None]
    spatial = read_spatial(stage, topology.loops, link_names, sites)
    mimics = _mimics(stage, axes_by_prim)
    axis_names = {path: axis.name for path, axis in axes_by_prim.items()}
    named = {
        "joint": axis_names,
        "site": site_names,
        "body": link_names,
        "geom": {path: names[0] for path, names in reader.names_of.items()},
        "tendon": {},
    }
    tendons = read_tendons(stage, named)
    named["tendon"] = {
        record.path: record.prim.GetDisplayName() or record.path.name for record in stage.others.get("MjcTendon", [])
    }
    tendons += (*read_physx_tendons(stage, axes_by_prim), *spatial.tendons)
    scene_material = None
    if stage.scenes:
        path = reader.materials.bound(stage.scenes[0].prim, "material:binding:physics") or reader.materials.bound(
            stage.scenes[0].prim, "material:binding"
        )
        scene_material = reader.materials.contact_at(path) if path is not None else None
    robot = Robot(
        name=topology.name,
        links=links,
        joints=joints,
        geoms=tuple(_enabled_only(read) for read in geoms),
        meshes=reader.meshes.assets,
        materials=reader.materials.visual,
        textures=reader.materials.textures,
        contact_materials=reader.materials.contact,
        actuators=tuple(read_actuators(stage, named)),
        loops=tuple(_unique_loops(loops)),
        mimics=tuple(mimics),
        tendons=tuple(tendons),
        sites=(*sites, *spatial.sites),
        sensors=tuple(read_sensors(stage, link_names)),
        keyframes=tuple(read_keyframes(stage)),
        collision_filter=read_filter(stage, topology.root_record, link_names, colliders),
        default_contact_material=scene_material,
        scene=read_scene(stage, topology.root_record),
        dialect="mujoco" if stage.mujoco_dialect else "physx",
        source=stage.source("/"),
        extras={"usd:links": {str(path): name for path, name in link_names.items()}},
    )
    report_unit_disagreements(stage, axes_by_prim)
    textures = tuple(texture.file for texture in robot.textures)
    return ReadRobot(robot, tuple(dict.fromkeys((*stage.sources, *textures))))


def _enabled_only(read: ReadGeom) -> Geom:
    """A disabled collider has counted for mass; what is left of it is what is seen."""
    return read.geom if read.enabled else replace(read.geom, collision=None)


def _unique_loops(loops: list[Loop]) -> list[Loop]:
    names = UniqueNames()
    return [replace(loop, name=names.of(loop.name)) for loop in loops]


def _names(stage: UsdRobotStage, topology: Topology) -> tuple[dict[Sdf.Path, str], dict[Sdf.Path, str]]:
    """Unique names of links and joints. PhysX counts repeated ones breadth first."""
    children: dict[Sdf.Path | None, list[TreeNode]] = {}
    for node in topology.nodes:
        children.setdefault(node.parent, []).append(node)
    links, joints = UniqueNames(), UniqueNames()
    link_names: dict[Sdf.Path, str] = {}
    joint_names: dict[Sdf.Path, str] = {}
    queue = deque(children.get(None, []))
    welds: list[JointRecord] = []
    while queue:
        node = queue.popleft()
        link_names[node.body.path] = links.of(spelled(stage, node.body))
        for joint in node.joints:
            if node.fixed:
                welds.append(joint)  # no DOF of PhysX's: it takes no name from one
            else:
                joint_names[joint.record.path] = joints.of(spelled(stage, joint.record))
        queue.extend(children.get(node.body.path, []))
    for joint in welds:
        joint_names[joint.record.path] = joints.of(spelled(stage, joint.record))
    return link_names, joint_names


def _joints(
    stage: UsdRobotStage, topology: Topology, links: dict[Sdf.Path, str], names: dict[Sdf.Path, str]
) -> tuple[tuple[Joint, ...], dict[Sdf.Path, Axis]]:
    result: list[Joint] = []
    by_prim: dict[Sdf.Path, Axis] = {}
    for node in topology.nodes:
        child = links[node.body.path]
        if node.parent is None and (node.fixed or not node.joints):
            pose, _ = stage.world_pose(node.body.prim)
            kind = JointType.FIXED if node.fixed else JointType.FLOATING
            name = names[node.joints[0].record.path] if node.joints else f"{child}_root"
            result.append(Joint(name=name, type=kind, parent=None, child=child, origin=pose))
            continue
        axes: list[Axis] = []
        origin = Pose()
        for k, joint in enumerate(node.joints):
            first = joint.ends[0].body == node.body.path
            rest, frame, sign = joint_geometry(joint, first)
            if k == 0:
                origin = rest
            within = node.articulated and node.parent is not None
            own = read_axes(stage, joint, frame, sign, names[joint.record.path], within)
            axes += own
            if own:
                by_prim[joint.record.path] = own[0]
        record = node.joints[0].record
        kind = TYPES.get(record.type_name, JointType.D6) if len(node.joints) == 1 else JointType.D6
        result.append(
            Joint(
                name=names[record.path],
                type=_kind(kind, axes),
                parent=None if node.parent is None else links[node.parent],
                child=child,
                origin=origin,
                axes=tuple(axes),
                source=stage.source(record.prim),
            )
        )
    return tuple(result), by_prim


def _kind(kind: JointType, axes: list[Axis]) -> JointType:
    if not axes:
        return JointType.FIXED
    if len(axes) == 1 and kind is JointType.D6:
        return JointType.BALL if axes[0].kind is AxisKind.BALL else JointType.REVOLUTE
    if kind is JointType.REVOLUTE and not axes[0].limits.has_range:
        return JointType.CONTINUOUS
    return kind


def _geometry(
    stage: UsdRobotStage, reader: GeomReader, topology: Topology, links: dict[Sdf.Path, str], fidelity: Fidelity
) -> tuple[list[ReadGeom], list[Site], dict[Sdf.Path, str]]:
    """Geoms and sites of the robot's links and of the static world around it."""
    geoms: list[ReadGeom] = []
    sites: list[Site] = []
    names: dict[Sdf.Path, str] = {}
    for record in stage.shapes:
        if record.body is None:
            if topology.scope is not None and not record.path.HasPrefix(topology.scope):
                continue
        elif record.body not in links:
            continue
        if "MjcSiteAPI" in record.apis:
            site = read_site(reader, record, links)
            sites.append(site)
            names[record.path] = site.name
        else:
            geoms += reader.read(record)
    return geoms, sites, names


def _links(
    stage: UsdRobotStage,
    topology: Topology,
    names: dict[Sdf.Path, str],
    geoms: list[ReadGeom],
    reader: GeomReader,
    hull_of: Callable[[MeshAsset], MeshAsset],
    physx_masses: PhysxMasses | None,
    fidelity: Fidelity,
) -> tuple[Link, ...]:
    by_body: dict[Sdf.Path, list[ReadGeom]] = {}
    for read in geoms:
        if read.record.body is not None:
            by_body.setdefault(read.record.body, []).append(read)
    meshes = {mesh.name: mesh for mesh in reader.meshes.assets}
    densities = {m.name: m.density_kgm3 for m in reader.materials.contact if m.density_kgm3}
    cooked = _cooked(stage, topology, by_body, physx_masses, fidelity)
    result = []
    for node in topology.nodes:
        body, prim = node.body, node.body.prim
        if stage.mujoco_dialect:
            inertia = mujoco_inertia(stage, body)
        else:
            own = by_body.get(body.path, ())
            weighed = cooked.get(body.path)
            inertia = physx_inertia(stage, body, own, meshes, densities, hull_of, weighed, node.articulated)
        gravcomp = value(prim, "mjc:body:gravcomp")
        linear = number(prim, "physxRigidBody:linearDamping", stage.file)
        angular = number(prim, "physxRigidBody:angularDamping", stage.file)
        fastest, spin, apart = (limit(prim, f"physxRigidBody:max{n}Velocity", stage.file) for n in SPEEDS)
        result.append(
            Link(
                name=names[body.path],
                inertia=inertia,
                linear_damping=linear or 0.0,
                angular_damping=ANGULAR_DAMPING if angular is None else angular,
                max_linear_velocity=None if fastest is None else fastest * stage.metres,
                max_angular_velocity=None if spin is None else math.radians(spin),
                max_depenetration_velocity=None if apart is None else apart * stage.metres,
                disable_gravity=bool(value(prim, "physxRigidBody:disableGravity", False)),
                kinematic=bool(value(prim, "physics:kinematicEnabled", False)),
                mujoco={} if gravcomp is None else {"gravcomp": float(gravcomp)},
                source=stage.source(prim),
                extras={"usd:path": str(body.path), **({"usd:displayName": n} if (n := prim.GetDisplayName()) else {})},
            )
        )
    return tuple(result)


def _cooked(
    stage: UsdRobotStage,
    topology: Topology,
    by_body: dict[Sdf.Path, list[ReadGeom]],
    physx_masses: PhysxMasses | None,
    fidelity: Fidelity,
) -> dict[Sdf.Path, Inertia]:
    """What PhysX itself makes of the bodies whose mass properties depend on its cooking of meshes."""
    if stage.mujoco_dialect:
        return {}
    asked = [n.body.path for n in topology.nodes if weighs_meshes(stage, n.body, by_body.get(n.body.path, ()))]
    cooked = physx_masses(stage, asked) if physx_masses is not None and asked else {}
    left = len(asked) - len(cooked)
    if left:
        stage.found.warn(
            "E039",
            stage.source("/"),
            f"mass properties of {left} bodies come from mesh colliders: computed from exact hulls, "
            "PhysX's cooked hulls differ",
            "install isaaclab-mirror[physx] to have PhysX asked",
        )
        fidelity.approximated("inertias", "from exact hulls where PhysX weighs its cooked ones", left)
    return cooked


def _mimics(stage: UsdRobotStage, axes: dict[Sdf.Path, Axis]) -> list[Mimic]:
    result: list[Mimic] = []
    for record in stage.joints:
        axis = axes.get(record.path)
        if axis is not None:
            result += read_mimics(stage, record, axis, axes)
    return result
