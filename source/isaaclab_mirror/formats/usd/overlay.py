"""Layers over an asset for PhysX: the reader's units and variants, and what else a caller changes; the asset stays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_mirror.formats.usd.stage import UsdRobotStage

if TYPE_CHECKING:
    from pxr import Usd


def open_overlay(source: UsdRobotStage, file: Path) -> Usd.Stage:
    """A new layer `file` over the asset, opened as a stage; its root layer is to be saved."""
    from pxr import Sdf, Usd, UsdGeom, UsdPhysics

    layer = Sdf.Layer.CreateNew(str(file))
    layer.TransferContent(source.stage.GetSessionLayer())  # variant selections, no asset paths
    layer.subLayerPaths = [source.stage.GetRootLayer().realPath]
    stage = Usd.Stage.Open(layer)
    UsdGeom.SetStageMetersPerUnit(stage, source.metres)
    UsdPhysics.SetStageKilogramsPerUnit(stage, source.kilograms)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.GetStageUpAxis(source.stage))
    return stage


def free_colliders(stage: Usd.Stage) -> None:
    """Instances that hold colliders become plain prims; what is nested shows when the outer one is opened."""
    from pxr import Usd

    while True:
        closed = [
            prim
            for prim in stage.Traverse()
            if prim.IsInstance()
            and any(
                "PhysicsCollisionAPI" in below.GetPrimTypeInfo().GetAppliedAPISchemas()
                for below in Usd.PrimRange(prim, Usd.TraverseInstanceProxies())
            )
        ]
        if not closed:
            return
        for prim in closed:
            prim.SetInstanceable(False)
