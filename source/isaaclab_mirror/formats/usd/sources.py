"""Files that a USD robot is read from, without reading the robot."""

from __future__ import annotations

from pathlib import Path

from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.formats.usd.stage import quiet_usd, used_layers


def usd_sources(file: Path, options: ReadOptions) -> tuple[Path, ...]:
    """Every layer that the file reaches, whatever the variant, and every asset (mesh, texture) that they name."""

    with quiet_usd():
        layers = used_layers(file, options.allow_outside)
        found = dict.fromkeys(layers.files)
        for layer in layers.held:
            for asset in sorted(layer.GetExternalAssetDependencies()):
                path = Path(layer.ComputeAbsolutePath(asset)) if not Path(asset).is_absolute() else Path(asset)
                if path.is_file():
                    found[path] = None
            for asset in _asset_values(layer):
                path = Path(layer.ComputeAbsolutePath(asset))
                if path.is_file():
                    found[path] = None
    return tuple(found)


def _asset_values(layer: object) -> list[str]:
    """Asset-valued attributes of a layer: textures and the like."""
    from pxr import Sdf

    found: dict[str, None] = {}

    def visit(path: object) -> None:
        if not path.IsPropertyPath():  # type: ignore[attr-defined]
            return
        spec = layer.GetPropertyAtPath(path)  # type: ignore[attr-defined]
        if isinstance(spec, Sdf.AttributeSpec) and spec.typeName == Sdf.ValueTypeNames.Asset and spec.default:
            found[spec.default.path] = None

    layer.Traverse(Sdf.Path.absoluteRootPath, visit)  # type: ignore[attr-defined]
    return [asset for asset in found if asset]
