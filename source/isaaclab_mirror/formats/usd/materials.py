"""Materials bound to prims: UsdPreviewSurface and Omniverse's MDL constants, textures, physics materials."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.formats.usd.names import CountedNames
from isaaclab_mirror.formats.usd.stage import UsdRobotStage
from isaaclab_mirror.formats.usd.values import authored, number, targets, value
from isaaclab_mirror.robot.materials import CombineMode, ContactMaterial, Texture, VisualMaterial

if TYPE_CHECKING:
    from pxr import Sdf, Usd

IMAGES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tga"})


def _srgb(x: float) -> float:
    """Linear light → display value: USD colours are linear, MuJoCo and URDF show them as they are."""
    x = min(max(float(x), 0.0), 1.0)
    return 12.92 * x if x <= 0.0031308 else 1.055 * x ** (1 / 2.4) - 0.055


class Materials:
    """Bound materials, each read once, with names made unique."""

    def __init__(self, stage: UsdRobotStage) -> None:
        self._stage = stage
        self._visual: dict[Sdf.Path, VisualMaterial | None] = {}
        self._contact: dict[Sdf.Path, ContactMaterial | None] = {}
        self._textures: dict[str, Texture] = {}
        self._bound: dict[tuple[Sdf.Path, str], Sdf.Path | None] = {}
        self._names = CountedNames()

    @property
    def visual(self) -> tuple[VisualMaterial, ...]:
        """Visual materials in use."""
        return tuple(m for m in self._visual.values() if m is not None)

    @property
    def contact(self) -> tuple[ContactMaterial, ...]:
        """Contact materials in use."""
        return tuple(m for m in self._contact.values() if m is not None)

    @property
    def textures(self) -> tuple[Texture, ...]:
        """Textures in use."""
        return tuple(self._textures.values())

    def bound(self, prim: Usd.Prim, relationship: str) -> Sdf.Path | None:
        """The material that a prim or the nearest prim above it binds."""
        passed: list[Sdf.Path] = []
        found: Sdf.Path | None = None
        while prim:  # a loop: prims may nest deeper than Python calls
            path = prim.GetPath()
            if (path, relationship) in self._bound:
                found = self._bound[path, relationship]
                break
            passed.append(path)
            named = targets(prim, relationship)
            if named:
                found = named[0]
                if not self._stage.stage.GetPrimAtPath(found):
                    self._stage.found.warn(
                        "E012", self._stage.source(prim), f"{relationship} names {found}, which is not there"
                    )
                break
            prim = prim.GetParent()
        for path in passed:
            self._bound[path, relationship] = found
        return found

    def visual_of(self, prim: Usd.Prim) -> VisualMaterial | None:
        """The visual material of a prim."""
        path = self.bound(prim, "material:binding")
        if path is None:
            return None
        if path not in self._visual:
            self._visual[path] = self._read_visual(path)
        return self._visual[path]

    def contact_of(self, prim: Usd.Prim) -> ContactMaterial | None:
        """The physics material of a prim: bound for physics, else for all purposes."""
        path = self.bound(prim, "material:binding:physics") or self.bound(prim, "material:binding")
        return None if path is None else self.contact_at(path)

    def contact_at(self, path: Sdf.Path) -> ContactMaterial | None:
        """The physics material at a path, None where it is none."""
        if path not in self._contact:
            self._contact[path] = self._read_contact(path)
        return self._contact[path]

    def _read_contact(self, path: Sdf.Path) -> ContactMaterial | None:
        prim = self._stage.stage.GetPrimAtPath(path)
        if not prim or "PhysicsMaterialAPI" not in prim.GetAppliedSchemas():
            return None
        file = self._stage.file

        density = number(prim, "physics:density", file)
        scale = self._stage.kilograms / self._stage.metres**3
        return ContactMaterial(
            name=self._names.of(prim.GetName()),
            # A material that authors nothing has friction 0 in PhysX, not the default of 0.5.
            static_friction=number(prim, "physics:staticFriction", file) or 0.0,
            dynamic_friction=number(prim, "physics:dynamicFriction", file) or 0.0,
            restitution=number(prim, "physics:restitution", file) or 0.0,
            friction_combine=self._mode(prim, "friction"),
            restitution_combine=self._mode(prim, "restitution"),
            density_kgm3=density * scale if density else None,
            torsional_friction_m=self._first(prim, "mjc:torsionalfriction", "newton:torsionalFriction"),
            rolling_friction_m=self._first(prim, "mjc:rollingfriction", "newton:rollingFriction"),
            source=self._stage.source(prim),
        )

    def _mode(self, prim: Usd.Prim, kind: str) -> CombineMode:
        stated = str(value(prim, f"physxMaterial:{kind}CombineMode", "average"))
        if stated in set(CombineMode):
            return CombineMode(stated)
        where = self._stage.source(f"{prim.GetPath()}.physxMaterial:{kind}CombineMode")
        self._stage.found.warn(
            "E014", where, f"{stated!r} is no combine mode: read as average", f"use one of {', '.join(CombineMode)}"
        )
        return CombineMode.AVERAGE

    def _first(self, prim: Usd.Prim, *names: str) -> float | None:
        return next((v for v in (number(prim, n, self._stage.file) for n in names) if v is not None), None)

    def _read_visual(self, path: Sdf.Path) -> VisualMaterial | None:
        prim = self._stage.stage.GetPrimAtPath(path)
        shader = _surface_shader(prim) if prim else None
        if shader is None:
            return None
        rgb = shader.colour("diffuseColor", "diffuse_color_constant", "diffuse_tint", "base_color")
        opacity = shader.number("opacity", "opacity_constant")
        emissive = shader.colour("emissiveColor")
        texture = self._texture(shader.file("diffuseColor", "diffuse_texture", "base_color"), path)
        colour = tuple(_srgb(c) for c in rgb) if rgb is not None else (1.0,) * 3 if texture else (0.5,) * 3
        return VisualMaterial(
            name=self._names.of(prim.GetName()),
            rgba=(*colour, 1.0 if opacity is None else min(max(opacity, 0.0), 1.0)),  # type: ignore[arg-type]
            texture=texture.name if texture else None,
            metallic=shader.number("metallic", "metallic_constant"),
            roughness=shader.number("roughness", "reflection_roughness_constant"),
            emission=max(emissive) if emissive else 0.0,
            source=self._stage.source(prim),
        )

    def _texture(self, asset: Any, material: Sdf.Path) -> Texture | None:
        if asset is None or not asset.path:
            return None
        source = self._stage.source(material)
        file = Path(asset.resolvedPath) if asset.resolvedPath else None
        if file is None or not file.is_file():
            self._stage.found.warn("E002", source, f"texture {Path(asset.path).name} is not there: colour only")
            return None
        outside = Path(asset.path).is_absolute() and not self._stage.options.allow_outside
        if file.suffix.lower() not in IMAGES or outside:
            why = "lies outside the asset's folder" if outside else "is not an image"
            self._stage.found.warn("E015", source, f"texture {file.name} {why}: left out")
            return None
        if not file.resolve().is_relative_to(self._stage.file.parent.resolve()):
            why = f"texture {file.name} is read from outside the asset's folder through a relative path"
            self._stage.found.info("E015", source, why, "read only assets that you trust")
        key = str(file)
        if key not in self._textures:
            self._textures[key] = Texture(self._names.of(file.stem), file)
        return self._textures[key]


class _Shader:
    """Inputs of a surface shader, through connections to the material's interface or to a texture."""

    def __init__(self, shader: Any) -> None:
        self._shader = shader

    def _producer(self, name: str) -> Any:
        found = self._shader.GetInput(name)
        attributes = found.GetValueProducingAttributes() if found else []
        return attributes[0] if attributes else None

    def _value(self, names: tuple[str, ...]) -> Any:
        for name in names:
            attribute = self._producer(name)
            if attribute is not None and not attribute.GetName().startswith("outputs:"):
                found = attribute.Get()
                if found is not None:
                    return found
        return None

    def colour(self, *names: str) -> tuple[float, ...] | None:
        found = self._value(names)
        return tuple(float(c) for c in found)[:3] if found is not None and hasattr(found, "__len__") else None

    def number(self, *names: str) -> float | None:
        found = self._value(names)
        return float(found) if isinstance(found, int | float) else None

    def file(self, *names: str) -> Any:
        """The image behind an input: a connected texture reader, or an asset-valued input."""
        for name in names:
            attribute = self._producer(name)
            if attribute is None:
                continue
            if attribute.GetName().startswith("outputs:"):
                return value(attribute.GetPrim(), "inputs:file")
            found = attribute.Get()
            if hasattr(found, "resolvedPath"):
                return found
        return None


def _surface_shader(material: Usd.Prim) -> _Shader | None:
    from pxr import Usd, UsdShade

    fallback = None
    for prim in Usd.PrimRange(material, Usd.TraverseInstanceProxies()):
        if prim.GetTypeName() != "Shader":
            continue
        if authored(prim, "info:id") == "UsdPreviewSurface":
            return _Shader(UsdShade.Shader(prim))
        if prim.GetAttribute("info:mdl:sourceAsset") or prim.GetAttribute("info:mdl:sourceAsset:subIdentifier"):
            fallback = _Shader(UsdShade.Shader(prim))
    return fallback
