"""URDF → Robot, by way of MuJoCo's URDF reader: links, joints, limits, dynamics and what collides.

Meshes are found beside the file or in the package that the path names, and handed to MuJoCo as they are (.stl, .obj) or
converted (.dae); one that is not there or cannot be read is left out with a diagnostic. The root link floats unless
it is called `world` or `ReadOptions.fix_base` says otherwise, and links do not collide with each other, as Isaac Sim's
importer has it: URDF itself says neither.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isaaclab_mirror.diagnostics import Diagnostics, InputError, Source
from isaaclab_mirror.formats.mjcf.reader import name_everything, robot_of_model
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.robot.model import Robot

LARGEST = 2**28
"""Bytes of a mesh file."""
READ = (".stl", ".obj")
"""Meshes that MuJoCo reads itself."""
WORLD = ("world", "world_link")


def read_urdf(file: Path, options: ReadOptions, found: Diagnostics) -> Robot:
    """The robot that MuJoCo makes of a URDF."""
    import mujoco

    text, meshes = _prepared(file, found)
    try:
        spec = mujoco.MjSpec.from_string(text, assets=meshes.assets)
        spec.compiler.fusestatic = False
        spec.compiler.discardvisual = True
        spec.compiler.balanceinertia = True
        _base(spec, options)
        name_everything(spec)
        model = spec.compile()
    except (ValueError, OSError) as error:
        raise InputError("E033", file, f"MuJoCo cannot read it: {' '.join(str(error).split())[:300]}") from None
    robot = robot_of_model(model, file, "urdf", found)
    return replace(robot, collision_filter=replace(robot.collision_filter, self_collision=False))


def _base(spec: Any, options: ReadOptions) -> None:
    root = spec.worldbody.first_body()
    if root is None:
        return
    fixed = options.fix_base if options.fix_base is not None else root.name in WORLD
    if not fixed:
        root.add_freejoint(name=f"{root.name}:free")


def _prepared(file: Path, found: Diagnostics) -> tuple[str, Meshes]:
    """The URDF without looks, its collision meshes by names that the assets have."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.parse(str(file), parser)
    except (etree.XMLSyntaxError, OSError) as error:
        raise InputError("E033", file, f"no XML: {' '.join(str(error).split())[:200]}") from None
    root = tree.getroot()
    if tree.docinfo.doctype:
        raise InputError("E033", file, "a DOCTYPE is refused: it can name other files", "remove it")
    if root.tag != "robot":
        raise InputError("E033", file, f"its root element is <{root.tag}>, not <robot>", "expand xacro first")
    meshes = Meshes(file, found)
    for link in root.iter("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
        for collision in link.findall("collision"):
            mesh = collision.find("geometry/mesh")
            if mesh is not None and not meshes.use(mesh, link.get("name", "")):
                link.remove(collision)
    for extension in root.findall("mujoco"):
        root.remove(extension)
    return etree.tostring(root, encoding="unicode"), meshes


@dataclass(slots=True)
class Meshes:
    """Collision meshes of one URDF, read once each."""

    file: Path
    found: Diagnostics
    assets: dict[str, bytes] = field(default_factory=dict[str, bytes])
    _names: dict[Path, str | None] = field(default_factory=dict[Path, str | None])

    def use(self, element: Any, link: str) -> bool:
        """Point a `<mesh>` to its asset; False where there is none."""
        stated = str(element.get("filename", ""))
        path = self._find(stated)
        if path is not None and path not in self._names:
            self._names[path] = self._load(path, link)
        name = None if path is None else self._names[path]
        if path is None:
            self.found.warn(
                "E002", Source(self.file, link), f"the collision mesh {stated!r} is not there: it is left out"
            )
        if name is None:
            return False
        element.set("filename", name)
        return True

    def _find(self, stated: str) -> Path | None:
        """Beside the file, or below a folder above it that has the package's name (or is its parent)."""
        folders = [self.file.resolve().parent, *self.file.resolve().parents]
        if stated.startswith(("package://", "model://")):
            inside = stated.split("://", 1)[1]
            tries = [folder / inside for folder in folders]
            tries += [folder / inside.partition("/")[2] for folder in folders if folder.name == inside.split("/")[0]]
        else:
            tries = [folders[0] / stated.removeprefix("file://")]
        return next((path for path in tries if path.is_file()), None)

    def _load(self, path: Path, link: str) -> str | None:
        if path.stat().st_size > LARGEST:
            self.found.warn("E002", Source(self.file, link), f"the collision mesh {path.name} is too large: left out")
            return None
        name = f"mesh{len(self.assets)}"
        if path.suffix.lower() in READ:
            name += path.suffix.lower()
            self.assets[name] = path.read_bytes()
            return name
        import trimesh

        try:
            mesh: Any = trimesh.load(path, force="mesh")
            data = mesh.export(file_type="stl") if len(mesh.faces) else b""
        except Exception as error:  # noqa: BLE001 trimesh's readers raise anything
            self.found.warn(
                "E002", Source(self.file, link), f"the collision mesh {path.name} cannot be read ({error}): left out"
            )
            return None
        if not data:
            self.found.warn("E002", Source(self.file, link), f"the collision mesh {path.name} is empty: left out")
            return None
        self.assets[f"{name}.stl"] = data
        return f"{name}.stl"
