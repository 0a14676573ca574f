"""`<visual>` and `<collision>`: shapes as URDF can say them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.formats.meshes import FileNames, MeshFolder, textured_meshes
from isaaclab_mirror.formats.shapes import cone_mesh
from isaaclab_mirror.formats.urdf.flat import with_volume
from isaaclab_mirror.formats.urdf.primitives import ellipsoid_mesh, height_field_mesh
from isaaclab_mirror.formats.urdf.spelling import Names, add_origin, moved, number, numbers
from isaaclab_mirror.robot.geometry import (
    Approximation,
    Box,
    Capsule,
    Compound,
    Cone,
    Cylinder,
    Ellipsoid,
    Geom,
    HeightField,
    MeshAsset,
    MeshShape,
    Plane,
    Shape,
    Sphere,
)
from isaaclab_mirror.robot.materials import TextureRole, VisualMaterial
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose, Vec3

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

PLANE_HALF_SIZE_M = 100.0
PLANE_THICKNESS_M = 0.1


@dataclass(slots=True)
class GeometryWriter:
    """Writes the geometry of one robot; holds the mesh folder and the materials that were used."""

    robot: Robot
    target: Path
    meshes: MeshFolder
    found: Diagnostics
    fidelity: Fidelity
    package: str | None = None
    textures: list[Path] = field(default_factory=list)
    """Copied so far."""
    _geom_names: Names = field(init=False)
    _material_names: Names = field(init=False)
    _texture_names: FileNames = field(default_factory=FileNames)
    _texture_files: dict[Path, str] = field(default_factory=dict)
    _assets: dict[str, Element | None] = field(default_factory=dict)
    _materials: dict[object, str] = field(default_factory=dict)
    _with_texcoords: frozenset[str] = field(init=False)
    _materials_by_name: dict[str, VisualMaterial] = field(init=False)

    def __post_init__(self) -> None:
        self._geom_names = Names("geometry", self.found)
        self._material_names = Names("material", self.found)
        self._with_texcoords = textured_meshes(self.robot)
        self._materials_by_name = {material.name: material for material in self.robot.materials}

    def write_materials(self, root: Element, geoms: tuple[Geom, ...]) -> None:
        """The materials that visible geoms use, once each at the top of the file."""
        for geom in geoms:
            if not geom.visible:
                continue
            if geom.material in self._materials_by_name and geom.material is not None:
                if geom.material not in self._materials:
                    self._write_material(root, geom.material, self._materials_by_name[geom.material])
            elif geom.rgba is not None and geom.rgba not in self._materials:
                name = f"color_{len(self._materials)}"
                self._write_material(root, geom.rgba, VisualMaterial(name=name, rgba=geom.rgba))

    def _write_material(self, root: Element, key: object, material: VisualMaterial) -> None:
        from lxml import etree

        self._materials[key] = name = self._material_names.give(material.name, material.source)
        element = etree.SubElement(root, "material", name=name)
        etree.SubElement(element, "color", rgba=numbers(material.rgba))
        if material.texture is not None and (path := self._texture(material)):
            etree.SubElement(element, "texture", filename=path)
        shine = (material.metallic, material.roughness, material.specular)
        if any(value is not None for value in shine) or material.emission:
            self.fidelity.approximated("visual materials", "colour and texture alone: metallic, roughness, … are lost")
        else:
            self.fidelity.kept("visual materials")

    def _texture(self, material: VisualMaterial) -> str | None:
        """The path of the copied image as the URDF spells it."""
        texture = next((t for t in self.robot.textures if t.name == material.texture), None)
        if texture is None or texture.role is not TextureRole.DIFFUSE:
            self.fidelity.lost("textures", "URDF has colour textures alone")
            return None
        if not texture.file.is_file():
            self.found.warn(
                "E002", material.source or material.name, f"texture {texture.file} is missing: colour alone"
            )
            self.fidelity.lost("textures", "the file is missing")
            return None
        if texture.file not in self._texture_files:
            name = self._texture_names.give(texture.file.stem, texture.file.suffix.lower(), fallback="texture")
            copy = self.target.parent / "textures" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(texture.file, copy)
            self._texture_files[texture.file] = name
            self.textures.append(copy)
        if texture.repeat != (1.0, 1.0) or texture.offset != (0.0, 0.0):
            self.fidelity.approximated("textures", "repeat and offset are lost")
        else:
            self.fidelity.kept("textures")
        return self._path(f"textures/{self._texture_files[texture.file]}")

    def _path(self, relative: str) -> str:
        return f"package://{self.package}/{relative}" if self.package else relative

    def write_geom(self, link: Element, geom: Geom, shift: Vec3 = (0.0, 0.0, 0.0)) -> None:
        """A geom as `<visual>`, `<collision>` or both, on a link whose frame was moved by `shift`."""
        parts = list(self._parts(geom))
        if geom.visible:
            for k, (pose, geometry) in enumerate(parts):
                element = self._element(
                    link, "visual", self._name(geom, "", k, len(parts)), moved(pose, shift), geometry
                )
                self._use_material(element, geom)
            self._count("visuals", geom, bool(parts))
        if geom.collision is not None:
            suffix = "_collision" if geom.visible else ""
            for k, (pose, geometry) in enumerate(parts):
                self._element(link, "collision", self._name(geom, suffix, k, len(parts)), moved(pose, shift), geometry)
            self._count("colliders", geom, bool(parts))

    def _name(self, geom: Geom, suffix: str, part: int, count: int) -> str:
        return self._geom_names.give(f"{geom.name}{suffix}_{part}" if count > 1 else geom.name + suffix, geom.source)

    def _element(self, link: Element, tag: str, name: str, pose: Pose, geometry: Element) -> Element:
        from copy import deepcopy

        from lxml import etree

        element = etree.SubElement(link, tag, name=name)
        add_origin(element, pose)
        element.append(deepcopy(geometry))  # an lxml element has one parent
        return element

    def _use_material(self, visual: Element, geom: Geom) -> None:
        from lxml import etree

        key = geom.material if geom.material in self._materials else geom.rgba
        if key is not None and key in self._materials:
            etree.SubElement(visual, "material", name=self._materials[key])

    def _count(self, concept: str, geom: Geom, written: bool) -> None:
        shape = geom.shape
        if not written:
            self.fidelity.lost(concept, "a shape that URDF cannot say")
        elif isinstance(shape, Ellipsoid | Cone | HeightField):
            self.fidelity.approximated(concept, "ellipsoid, cone, height field: as a mesh")
        elif isinstance(shape, Plane):
            self.fidelity.approximated(concept, "plane: the top of a large box")
        elif concept == "colliders" and geom.collision is not None and isinstance(shape, MeshShape):
            if geom.collision.approximation is Approximation.CONVEX_HULL:
                self.fidelity.kept(concept, note="a mesh: its reader takes the hull")
            else:
                how = f"{geom.collision.approximation}: the mesh itself, its reader chooses what it collides as"
                self.fidelity.approximated(concept, how)
        elif isinstance(shape, Capsule):
            self.fidelity.kept(concept, note="capsule: a cylinder and two spheres, the same solid")
        else:
            self.fidelity.kept(concept)

    def _parts(self, geom: Geom) -> Iterator[tuple[Pose, Element]]:
        """Each elementary shape of a geom: its pose in the link and its `<geometry>`."""
        left: list[tuple[Pose, Shape]] = [(geom.pose, geom.shape)]
        while left:
            pose, shape = left.pop(0)
            if isinstance(shape, Compound):
                left[:0] = [(pose @ inner, part) for inner, part in shape.parts]
            elif isinstance(shape, Capsule):
                left[:0] = _capsule_parts(pose, shape)
            elif isinstance(shape, Plane):
                if geom.link is not None:
                    self._cannot(geom, "a plane on a link: URDF has no planes", "left out")
                    continue
                self._cannot(geom, "URDF has no planes", "the top of a large box")
                below = Pose((0.0, 0.0, -PLANE_THICKNESS_M / 2))
                x, y = (half or PLANE_HALF_SIZE_M for half in shape.half_size_m)
                yield pose @ below, _geometry("box", size=numbers((2 * x, 2 * y, PLANE_THICKNESS_M)))
            elif (geometry := self._geometry(geom, shape)) is not None:
                yield pose, geometry

    def _geometry(self, geom: Geom, shape: Shape) -> Element | None:
        """The `<geometry>` of one elementary shape; None where there is none."""
        if isinstance(shape, Box):
            return _geometry("box", size=numbers(2 * half for half in shape.half_extents_m))
        if isinstance(shape, Sphere):
            return _geometry("sphere", radius=number(shape.radius_m))
        if isinstance(shape, Cylinder):
            return _geometry("cylinder", radius=number(shape.radius_m), length=number(2 * shape.half_length_m))
        if isinstance(shape, Ellipsoid):
            self._cannot(geom, "URDF has no ellipsoids", "a mesh")
            return self._mesh(geom, ellipsoid_mesh(f"{geom.name}_ellipsoid", shape))
        if isinstance(shape, Cone):
            self._cannot(geom, "URDF has no cones", "a mesh")
            return self._mesh(geom, cone_mesh(f"{geom.name}_cone", shape))
        if isinstance(shape, HeightField):
            self._cannot(geom, "URDF has no height fields", "a mesh")
            return self._mesh(geom, height_field_mesh(f"{geom.name}_heights", shape))
        if isinstance(shape, MeshShape):
            return self._asset(geom, shape.mesh)
        raise AssertionError(f"no spelling for {type(shape).__name__}")

    def _asset(self, geom: Geom, name: str) -> Element | None:
        """A mesh of the robot, written when it is first used."""
        if name not in self._assets:
            mesh = self.robot.mesh(name)
            plain = mesh if name in self._with_texcoords else replace(mesh, texcoords=None)
            self._assets[name] = self._mesh(geom, plain)
        return self._assets[name]

    def _mesh(self, geom: Geom, mesh: MeshAsset) -> Element | None:
        """The `<geometry>` of a mesh; None where there is nothing to see or to touch."""
        written = with_volume(mesh) if len(mesh.faces) else None
        if written is None:
            self.found.warn(
                "E002", geom.source or geom.name, f"mesh {mesh.name!r} has no triangle of any area: left out"
            )
            return None
        if written is not mesh:
            self.fidelity.approximated("meshes", "flat, and MuJoCo refuses flat ones: two sheets a hair apart")
        else:
            self.fidelity.kept("meshes")
        path = self.meshes.add(written)
        return _geometry("mesh", filename=self._path(f"{path.parent.name}/{path.name}"))

    def _cannot(self, geom: Geom, what: str, instead: str) -> None:
        self.found.warn("E006", geom.source or geom.name, f"{what}: {instead}")


def _geometry(tag: str, **attributes: str) -> Element:
    from lxml import etree

    element = etree.Element("geometry")
    etree.SubElement(element, tag, attributes)
    return element


def _capsule_parts(pose: Pose, shape: Capsule) -> list[tuple[Pose, Shape]]:
    """A cylinder and the two balls at its ends: the same solid."""
    if shape.half_length_m <= 0.0:
        return [(pose, Sphere(shape.radius_m))]
    ends = (pose @ Pose((0.0, 0.0, side * shape.half_length_m)) for side in (1.0, -1.0))
    return [(pose, Cylinder(shape.radius_m, shape.half_length_m)), *((end, Sphere(shape.radius_m)) for end in ends)]
