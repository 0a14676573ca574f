"""Meshes, textures and materials of an MJCF: files in `assets/` beside it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.formats.meshes import FileNames, MeshFolder, safe_stem
from isaaclab_mirror.formats.shapes import area, cone_mesh
from isaaclab_mirror.robot.geometry import Cone, Geom, MeshAsset, MeshShape
from isaaclab_mirror.robot.model import Robot

FOLDER = "assets"
SMALLEST_AREA_M2 = 1e-14
"""MuJoCo refuses a mesh whose surface is smaller than mjMINVAL, 1e-15."""


class Assets:
    """Adds assets to a spec when they are first used."""

    def __init__(self, spec: Any, folder: Path, robot: Robot, mesh_format: str, found: Diagnostics) -> None:
        self._spec = spec
        self._folder = folder / FOLDER
        self._robot = robot
        self._meshes = MeshFolder(self._folder, mesh_format)
        self._mesh_names: dict[str, str | None] = {}
        self._files = FileNames()
        self._found = found
        self.textures: list[Path] = []
        self._weighed = self._meshes_that_weigh()

    @property
    def files(self) -> list[Path]:
        """Files written."""
        return [*self._meshes.files, *self.textures]

    def _meshes_that_weigh(self) -> dict[str, str]:
        """Meshes from which MuJoCo is to compute a link's inertia, and how."""
        unknown = {link.name for link in self._robot.links if link.inertia is None}
        result: dict[str, str] = {}
        for geom in self._robot.geoms:
            if geom.link in unknown and geom.collision is not None and isinstance(geom.shape, MeshShape):
                shell = geom.collision.mujoco.get("mass_model") == "shell"
                kind = "shell" if shell else str(geom.collision.mujoco.get("mesh_inertia", "convex"))
                result[geom.shape.mesh] = kind
        return result

    def mesh(self, geom: Geom) -> str | None:
        """The asset of a mesh-like geom, by name; None where MuJoCo could not use it."""
        if not isinstance(geom.shape, Cone | MeshShape):
            return None
        if isinstance(geom.shape, Cone):
            asset = cone_mesh(f"{geom.name}_cone", geom.shape)
        else:
            asset = self._robot.mesh(geom.shape.mesh)
        if asset.name not in self._mesh_names:
            hull = geom.collision.max_hull_vertices if geom.collision else None
            self._mesh_names[asset.name] = self._add(asset, hull)
        return self._mesh_names[asset.name]

    def _add(self, asset: MeshAsset, hull_vertices: int | None) -> str | None:
        import mujoco

        if len(asset.vertices_m) < 4 or area(asset) < SMALLEST_AREA_M2:
            what = "fewer than 4 vertices" if len(asset.vertices_m) < 4 else "no triangle of any area"
            self._found.warn("E002", str(asset.source or asset.name), f"the mesh has {what}: left out", "mend the mesh")
            return None
        path = self._meshes.add(asset)
        kind = self._weighed.get(asset.name, "shell")
        mesh = self._spec.add_mesh(
            name=asset.name,
            file=path.name,
            inertia=getattr(mujoco.mjtMeshInertia, f"mjMESH_INERTIA_{kind.upper()}"),
        )
        if hull_vertices is not None and hull_vertices >= 4:
            mesh.maxhullvert = hull_vertices
        return asset.name

    def add_materials(self, fidelity: Fidelity) -> None:
        """Every visual material, with its texture where it has one."""
        import mujoco

        textures: dict[str, str] = {}
        for texture in self._robot.textures:
            file = self._texture_file(texture.file)
            if file is None:
                fidelity.lost("textures", "MuJoCo reads PNG only")
                continue
            self._spec.add_texture(name=texture.name, type=mujoco.mjtTexture.mjTEXTURE_2D, file=file.name)
            textures[texture.name] = texture.name
            fidelity.kept("textures")
        for material in self._robot.materials:
            made = self._spec.add_material(name=material.name, rgba=list(material.rgba), emission=material.emission)
            if material.metallic is not None:
                made.metallic = material.metallic
            if material.roughness is not None:
                made.roughness = material.roughness
                made.shininess = 1.0 - min(max(material.roughness, 0.0), 1.0)
            if material.texture in textures:
                made.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = textures[material.texture]
        fidelity.kept("visual materials", len(self._robot.materials))

    def _texture_file(self, source: Path) -> Path | None:
        """A PNG copy of an image in the assets folder."""
        target = self._folder / self._files.give(f"texture_{safe_stem(source.stem)}", ".png")
        self._folder.mkdir(parents=True, exist_ok=True)
        if source.suffix.lower() == ".png":
            shutil.copyfile(source, target)
        else:
            try:
                from PIL import Image

                Image.open(source).convert("RGB").save(target)
            except (ImportError, OSError) as error:
                self._found.warn("E002", source.name, f"texture cannot be turned into PNG: {error}", "install pillow")
                return None
        self.textures.append(target)
        return target
