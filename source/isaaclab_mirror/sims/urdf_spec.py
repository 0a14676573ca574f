"""A URDF for MuJoCo's compiler: the root floats, and what MuJoCo cannot load of meshes is left out, said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from isaaclab_mirror.diagnostics import Diagnostics, InputError

READABLE = (".stl", ".obj", ".msh")
"""What MuJoCo reads; .dae it does not."""
WORLD, ROOT_JOINT = "world", "floating_base_joint"


def urdf_spec(file: Path, found: Diagnostics, *, fix_base: bool) -> Any:
    """An MjSpec of the URDF: links kept apart (fixed joints are bodies too), primitives and readable meshes."""
    import mujoco
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        document = etree.parse(str(file), parser)
    except (etree.XMLSyntaxError, OSError) as error:
        raise InputError("E033", file, f"it is no XML: {error}", "was it copied as a whole?") from None
    root = document.getroot()
    if document.docinfo.doctype:
        raise InputError("E033", file, "it has a DOCTYPE, which no URDF needs", "remove it: it can read other files")
    if root.tag != "robot" or not root.findall("link"):
        raise InputError("E013", file, "there is no <robot> with links in it")
    for visual in root.findall(".//visual"):
        visual.getparent().remove(visual)
    _place_meshes(root, file, found)
    if not fix_base:
        _float(root, file)
    for old in root.findall("mujoco"):
        root.remove(old)
    options = etree.SubElement(etree.SubElement(root, "mujoco"), "compiler")
    for key, value in (("fusestatic", "false"), ("discardvisual", "true"), ("strippath", "false")):
        options.set(key, value)
    options.set("balanceinertia", "true")
    return mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode"))


def _place_meshes(root: Any, file: Path, found: Diagnostics) -> None:
    """Absolute paths for meshes that are there and that MuJoCo reads; the colliders of the others go."""
    lost: set[str] = set()
    for collision in root.findall(".//collision"):
        mesh = collision.find("geometry/mesh")
        if mesh is None:
            continue
        path = _mesh_file(mesh.get("filename", ""), file)
        if path is None:
            lost.add(mesh.get("filename", ""))
            collision.getparent().remove(collision)
        else:
            mesh.set("filename", str(path))
    if lost:
        found.warn(
            "E002",
            file.name,
            f"{len(lost)} collision meshes ({min(lost)}) are not there, or not as MuJoCo reads them: left out",
            "convert them to .stl or .obj, or give the robot as USD",
        )


def _mesh_file(name: str, file: Path) -> Path | None:
    """`package://name/…` is looked for above the URDF, as ROS packages lie."""
    address = urlparse(name)
    if address.scheme == "package":
        tail = unquote(f"{address.netloc}{address.path}")
        inside = re.sub(r"^[^/]*/", "", tail)
        places = [folder / part for folder in file.resolve().parents[:6] for part in (tail, inside)]
    else:
        places = [file.parent / unquote(address.path if address.scheme == "file" else name)]
    return next((p for p in places if p.suffix.lower() in READABLE and p.is_file()), None)


def _float(root: Any, file: Path) -> None:
    """A free joint above the root link, unless the URDF ties it to a link called `world` itself."""
    from lxml import etree

    children = {child.get("link") for child in root.findall("joint/child")}
    tops = [link.get("name") for link in root.findall("link") if link.get("name") not in children]
    if len(tops) != 1:
        raise InputError("E033", file, f"{len(tops)} links have no parent joint: one is the root of a robot")
    if tops[0] == "world":
        return
    etree.SubElement(root, "link", name=WORLD)
    joint = etree.SubElement(root, "joint", name=ROOT_JOINT, type="floating")
    etree.SubElement(joint, "parent", link=WORLD)
    etree.SubElement(joint, "child", link=tops[0])
