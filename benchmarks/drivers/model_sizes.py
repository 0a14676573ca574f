"""Sizes of compiled MJCF files in the MuJoCo of this environment: one JSON object, file → sizes or error."""

from __future__ import annotations

import json
import sys

import mujoco

SIZES = ("nq", "nv", "nu", "na", "nbody", "njnt", "ngeom", "nsite", "ncam", "nmesh", "nmat", "ntex")
SIZES += ("npair", "nexclude", "neq", "ntendon", "nsensor", "nkey", "nmeshvert", "nmeshface")


def sizes(path: str) -> dict[str, object]:
    """Counts that must agree between generations, and the total mass as a first number."""
    try:
        model = mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        return {"error": str(error).replace("\n", " ")[:300]}
    return {**{key: int(getattr(model, key)) for key in SIZES}, "mass_kg": float(f"{model.body_mass.sum():.9g}")}


if __name__ == "__main__":
    print(json.dumps({path: sizes(path) for path in sys.argv[1:]}))
