"""Asks PhysX for the mass properties that it computes from cooked mesh colliders.

PhysX runs in a fresh process (it hangs after a fork, and a bad mesh may crash it): `isaaclab_mirror.sims.physx_masses`.
Whatever goes wrong there, the answer is "not known", never an error.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.formats.usd.overlay import open_overlay
from isaaclab_mirror.formats.usd.stage import UsdRobotStage, quiet_usd
from isaaclab_mirror.robot.inertia import Inertia, diagonalize

if TYPE_CHECKING:
    from pxr import Sdf

CHILD = "isaaclab_mirror.sims.physx_masses"
TIMEOUT_S = 240.0
NEEDED = ("ovphysx", "ovstage", "physx_usd_schemas", "newton_usd_schemas")
"""Modules of the extra `physx`."""


def physx_available() -> bool:
    """Whether the extra `physx` is installed; imports none of it."""
    try:
        return all(find_spec(name) is not None for name in NEEDED)
    except (ImportError, ValueError):
        return False


def physx_masses(stage: UsdRobotStage, bodies: Sequence[Sdf.Path]) -> dict[Sdf.Path, Inertia]:
    """Mass properties of `bodies` [SI] as PhysX computes them; those that it does not tell are left out."""
    # Kit and other hosts embed Python: their executable is not an interpreter.
    if not bodies or not physx_available() or not Path(sys.executable or "").stem.lower().startswith("python"):
        return {}
    try:
        with tempfile.TemporaryDirectory(prefix="isaaclab_mirror_", ignore_cleanup_errors=True) as folder:
            wrapper = Path(folder, "stage.usda")
            write_wrapper(stage, bodies, wrapper)
            answer = run_child(wrapper, Path(folder))
    except subprocess.TimeoutExpired:
        return _unknown(stage, f"no answer within {TIMEOUT_S:g} s")
    except subprocess.CalledProcessError as error:
        return _unknown(stage, f"its process ended with code {error.returncode}")
    except (OSError, ValueError, RuntimeError) as error:  # Tf.ErrorException is a RuntimeError
        return _unknown(stage, str(error).strip().partition("\n")[0][:200] or type(error).__name__)
    found = {path: inertia_of(answer.get(str(path)), stage.metres, stage.kilograms) for path in bodies}
    return {path: inertia for path, inertia in found.items() if inertia is not None}


def _unknown(stage: UsdRobotStage, why: str) -> dict[Sdf.Path, Inertia]:
    stage.found.info("E039", stage.source("/"), f"PhysX could not be asked for mass properties: {why}")
    return {}


def run_child(stage: Path, folder: Path) -> Mapping[str, Any]:
    """Run PhysX on a stage; what it answers, by prim path, in stage units."""
    args, output = folder / "args.json", folder / "masses.json"
    args.write_text(json.dumps({"stage": str(stage), "output": str(output)}), encoding="utf-8")
    run_physx(CHILD, args)
    answer = json.loads(output.read_text(encoding="utf-8"))
    if not isinstance(answer, dict):
        raise ValueError("its answer is no table")
    return answer


def run_physx(module: str, args: Path) -> None:
    """Run a module with its arguments' file in a fresh process, in that file's folder."""
    package_root = str(Path(__file__).resolve().parents[3])
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([package_root, inherited] if inherited else [package_root])
    # -P: what lies in the working folder is not imported.
    subprocess.run(  # noqa: S603
        [sys.executable, "-P", "-m", module, str(args)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        cwd=args.parent,
        timeout=TIMEOUT_S,
        check=True,
    )


def inertia_of(row: Any, metres: float, kilograms: float) -> Inertia | None:
    """One body of the answer in SI units; None where it is missing or no mass distribution."""
    try:
        mass, com, inertia = float(row["mass"]), [float(x) for x in row["com"]], [float(x) for x in row["inertia"]]
    except (TypeError, KeyError, ValueError):
        return None
    if len(com) != 3 or len(inertia) != 9 or not all(map(math.isfinite, (mass, *com, *inertia))):
        return None
    unit = kilograms * metres**2
    # float32: the two halves differ in the last digit
    xx, yy, zz = (inertia[k] * unit for k in (0, 4, 8))
    xy, xz, yz = ((inertia[a] + inertia[b]) / 2 * unit for a, b in ((1, 3), (2, 6), (5, 7)))
    if mass <= 0.0 or min(xx, yy, zz) <= 0.0:
        return None
    moments, axes = diagonalize(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return Inertia(
        mass_kg=mass * kilograms,
        com_m=(com[0] * metres, com[1] * metres, com[2] * metres),
        diagonal_kgm2=moments,
        principal_wxyz=axes,
        origin="physx",
    )


def write_wrapper(stage: UsdRobotStage, bodies: Sequence[Sdf.Path], file: Path) -> None:
    """A layer over the asset: the reader's units and variants, without the geometry that no asked body weighs."""
    from pxr import UsdPhysics

    with quiet_usd():
        wrapper = open_overlay(stage, file)
        scenes = [wrapper.GetPrimAtPath(record.path) for record in stage.scenes]
        if not scenes:
            scenes = [UsdPhysics.Scene.Define(wrapper, "/isaaclab_mirror_scene").GetPrim()]
        for prim in scenes:  # a step is taken before anything can be read: nothing shall fall in it
            if not prim.IsInstanceProxy():
                UsdPhysics.Scene(prim).CreateGravityMagnitudeAttr().Set(0.0)
        for path in _unneeded(stage, bodies):
            wrapper.OverridePrim(path).SetActive(False)
        wrapper.GetRootLayer().Save()


def _unneeded(stage: UsdRobotStage, bodies: Sequence[Sdf.Path]) -> list[Sdf.Path]:
    """Shapes that do not count for the mass of `bodies`: what is only seen, and colliders of the rest."""
    asked = set(bodies)
    kept: set[Sdf.Path] = set()
    others = (record for records in stage.others.values() for record in records)
    for record in (*stage.bodies.values(), *stage.joints, *stage.scenes, *stage.roots, *stage.filtered, *others):
        kept.update(record.path.GetPrefixes())
    left: dict[Sdf.Path, None] = {}
    for record in stage.shapes:
        if record.body in asked and "PhysicsCollisionAPI" in record.apis:
            kept.update(record.path.GetPrefixes())
    for record in stage.shapes:
        prim = record.prim
        while prim.IsInstanceProxy():  # only an instance as a whole can be switched off
            prim = prim.GetParent()
        if prim.GetPath() not in kept:
            left[prim.GetPath()] = None
    return list(left)
