"""Lowered → URDF: a file and its meshes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity, InputError
from isaaclab_mirror.formats.meshes import MeshFolder
from isaaclab_mirror.formats.options import WriteOptions
from isaaclab_mirror.formats.urdf.drives import urdf_drives, write_drives
from isaaclab_mirror.formats.urdf.geometry import GeometryWriter
from isaaclab_mirror.formats.urdf.joints import count_axes, mimics_by_follower, write_joint
from isaaclab_mirror.formats.urdf.losses import count_losses
from isaaclab_mirror.formats.urdf.spelling import add_origin, comment_text, moved, number, numbers, xml_text
from isaaclab_mirror.formats.urdf.tree import ZERO, UrdfTree, plan_tree
from isaaclab_mirror.physics.lowered import Lowered
from isaaclab_mirror.robot.geometry import Collision, Geom, Plane
from isaaclab_mirror.robot.model import Link, Robot
from isaaclab_mirror.rotations import Pose, Vec3

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

MESH_FOLDER = "meshes"
MUJOCO_DEEPEST = 1024
"""Bodies inside each other that MuJoCo 4.0 compiles: "depth limit exceeded in signature computation"."""


def write_urdf(
    lowered: Lowered, target: Path, options: WriteOptions, found: Diagnostics, fidelity: Fidelity
) -> list[Path]:
    """Write `target`, with `meshes/` and `textures/` beside it; the files written, the target first."""
    from lxml import etree

    robot = lowered.robot
    tree = plan_tree(robot, found)
    name = xml_text(robot.name) or "robot"
    root = etree.Element("robot", name=name)
    root.append(etree.Comment(_header(lowered)))
    geoms = _placed_geoms(robot, tree, options, found, fidelity)
    meshes = MeshFolder(target.parent / MESH_FOLDER, options.mesh_format)
    geometry = GeometryWriter(robot, target, meshes, found, fidelity, options.package)
    geometry.write_materials(root, tuple(geom for on_link in geoms.values() for geom in on_link))

    mimics = mimics_by_follower(robot, tree, found, fidelity)
    top = etree.SubElement(root, "link", name=tree.root)
    if tree.root_link is not None:
        _fill_link(top, robot.link(tree.root_link), tree, geoms, geometry)
    if tree.has_world:
        for geom in geoms.get(None, ()):
            geometry.write_geom(top, geom)
    for joint in tree.joints:
        axis = lowered.axes[joint.axis] if joint.axis is not None else None
        mimic = mimics.get(joint.axis) if joint.axis is not None and joint.rotation is None else None
        write_joint(root, joint, axis, mimic, tree)
        link = etree.SubElement(root, "link", name=joint.child)
        if joint.child_link is not None:
            _fill_link(link, robot.link(joint.child_link), tree, geoms, geometry)
    if options.transmissions:
        write_drives(root, name, urdf_drives(robot, lowered.actuators, tree, found, fidelity), found)
    else:
        fidelity.lost("drives", "not asked for (transmissions = false)", len(lowered.actuators))
    _write_mujoco(root, robot, tree)
    _report_inertias(robot, found)
    _report_depth(robot, found)

    count_axes(robot, lowered.axes, fidelity)
    count_losses(lowered, options, has_world=tree.has_world, found=found, fidelity=fidelity)
    _count_links(robot, tree, fidelity)
    target.parent.mkdir(parents=True, exist_ok=True)
    etree.indent(root, space="  ")
    target.write_bytes(etree.tostring(root, xml_declaration=True, encoding="utf-8") + b"\n")
    return [target, *meshes.files, *geometry.textures]


def _header(lowered: Lowered) -> str:
    source = lowered.robot.source
    origin = f" from {source.file.name}" if source is not None else ""
    return comment_text(f" Written by isaaclab-mirror{origin}; fidelity: {lowered.options.fidelity}. SI units. ")


def _placed_geoms(
    robot: Robot, tree: UrdfTree, options: WriteOptions, found: Diagnostics, fidelity: Fidelity
) -> dict[str | None, list[Geom]]:
    """The geoms by link; static ones, a ground that is asked for among them, only where there is a world."""
    geoms: dict[str | None, list[Geom]] = {}
    for geom in robot.geoms:
        geoms.setdefault(geom.link, []).append(geom)
    if options.ground:
        ground = Geom(name="ground", link=None, shape=Plane(), pose=Pose(), collision=Collision())
        geoms.setdefault(None, []).append(ground)
    if not tree.has_world and (static := geoms.pop(None, [])):
        why = "static geometry has no place in the URDF of a free robot"
        fidelity.lost("static geometry", why, len(static))
        for geom in static:
            found.warn("E040", geom.source or geom.name, f"not written: {why}")
    return geoms


def _fill_link(
    element: Element, link: Link, tree: UrdfTree, geoms: dict[str | None, list[Geom]], geometry: GeometryWriter
) -> None:
    """What stands in one `<link>`."""
    from lxml import etree

    shift = tree.shifts.get(link.name, ZERO)
    if any(shift):
        text = f" frame moved onto the joint's axis: by {numbers(shift)} m from that of the source "
        element.append(etree.Comment(comment_text(text)))
    _write_inertial(element, link, shift)
    for geom in geoms.get(link.name, ()):
        geometry.write_geom(element, geom, shift)


def _write_inertial(element: Element, link: Link, shift: Vec3) -> None:
    """Mass, centre of mass and the full tensor about it in link axes; a massless link has none."""
    from lxml import etree

    inertia = link.inertia
    if inertia is None:
        raise InputError(
            "E003",
            link.source or link.name,
            "its inertia is not known",
            hint="it is filled in before a URDF is written",
        )
    if inertia.mass_kg <= 0.0 and not any(inertia.diagonal_kgm2):
        return
    inertial = etree.SubElement(element, "inertial")
    add_origin(inertial, moved(Pose(inertia.com_m), shift))
    etree.SubElement(inertial, "mass", value=number(inertia.mass_kg))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tensor()
    moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    etree.SubElement(inertial, "inertia", {name: number(value) for name, value in moments.items()})


def _report_inertias(robot: Robot, found: Diagnostics) -> None:
    """Name the links whose moments no body can have: a URDF states them as they are."""
    for link in robot.links:
        inertia = link.inertia
        if inertia is not None and inertia.mass_kg > 0.0 and not inertia.is_physical:
            found.warn(
                "E003",
                link.source or link.name,
                f"principal moments {tuple(f'{m:.4g}' for m in inertia.diagonal_kgm2)} are of no real body: written as "
                "they are, MuJoCo balances them when it loads the file",
                "mend physics:diagonalInertia",
            )


def _report_depth(robot: Robot, found: Diagnostics) -> None:
    """A URDF is flat and holds a chain of any length; not so MuJoCo when it reads one."""
    deepest, depth = robot.longest_chain
    if depth > MUJOCO_DEEPEST:
        why = f"a chain of {depth} links: MuJoCo loads a URDF of no more than {MUJOCO_DEEPEST}, other readers may"
        found.warn("E033", deepest.source or deepest.name, why, "divide the robot")


def _write_mujoco(root: Element, robot: Robot, tree: UrdfTree) -> None:
    """MuJoCo's own element, which others skip: without it MuJoCo drops visuals and merges fixed links."""
    from lxml import etree

    compiler = {
        "strippath": "true",
        "meshdir": MESH_FOLDER,
        "discardvisual": "false",
        "fusestatic": "false",
        "inertiafromgeom": "false",
    }
    inertias = [link.inertia for link in robot.links if link.inertia is not None]
    if any(joint.child_link is None for joint in tree.joints) or any(min(i.diagonal_kgm2) < 1e-12 for i in inertias):
        compiler |= {"boundmass": "1e-9", "boundinertia": "1e-12"}  # it refuses massless links that move
    if any(not i.is_physical for i in inertias):
        compiler["balanceinertia"] = "true"  # it refuses moments that break the triangle inequality
    etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", compiler)


def _count_links(robot: Robot, tree: UrdfTree, fidelity: Fidelity) -> None:
    fidelity.kept("links", len(robot.links))
    if tree.root_link is None:
        note = f"a link {tree.root!r} was added: it says what is fixed to the world"
        fidelity.kept("fixed bases", sum(not joint.dofs for joint in robot.roots), note)
    moved_count = len(tree.shifts)
    fidelity.kept("link frames", len(robot.links) - moved_count)
    fidelity.approximated(
        "link frames", "moved onto the joint's axis, as URDF demands; nothing else moves", moved_count
    )
    masses = sum(link.inertia is not None and link.inertia.mass_kg > 0.0 for link in robot.links)
    fidelity.kept("inertias", masses)
