"""USD → URDF by the exporter of Isaac Sim 6, which `isaacsim-asset-isolated` brings without Kit (Python 3.12)."""

from __future__ import annotations

import serving
from isaacsim.asset.exporter.urdf import UsdToUrdfConverter
from pxr import Usd


def convert(source: str, target: str, prim: str | None) -> None:
    """Its class; a Physics variant without a selection is asked for as PhysX would have it, as ours reads it."""
    stage = Usd.Stage.Open(source)
    root = stage.GetDefaultPrim()
    sets = root.GetVariantSets() if root else None
    unselected = sets is not None and sets.HasVariantSet("Physics") and not sets.GetVariantSelection("Physics")
    selections = (
        {"Physics": "physx"} if unselected and "physx" in sets.GetVariantSet("Physics").GetVariantNames() else None
    )
    UsdToUrdfConverter(stage, root_prim_path=prim, variant_selections=selections).convert(target)


if __name__ == "__main__":
    raise SystemExit(serving.main(convert))
