"""Asks PhysX for the convex hulls that it cooks from mesh colliders, in a process of its own.

The bodies stand still at their authored poses, without joints; PhysX draws the edges of one collider after the other
(`isaaclab_mirror.sims.physx_hulls`). Whatever goes wrong there, the answer is "not known", with the reason.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_mirror.formats.usd.overlay import free_colliders, open_overlay
from isaaclab_mirror.formats.usd.physx_masses_client import physx_available, run_physx
from isaaclab_mirror.formats.usd.stage import UsdRobotStage, quiet_usd

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHILD = "isaaclab_mirror.sims.physx_hulls"
LOCKED_AXES = 7
"""x, y and z."""


def cooked_lines(stage: UsdRobotStage, colliders: Sequence[str]) -> tuple[Mapping[str, NDArray[np.float32]], str]:
    """Collider's prim path → its edges (n, 2, 3) in the world [stage units], and why it is empty where it is."""
    import numpy as np

    if not physx_available():
        return {}, "PhysX is not installed (pip install 'isaaclab-mirror[physx]')"
    try:
        with tempfile.TemporaryDirectory(prefix="isaaclab_mirror_", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            write_still(stage, folder / "stage.usda")
            args = {"stage": str(folder / "stage.usda"), "colliders": list(colliders), "output": str(folder / "a.npz")}
            (folder / "args.json").write_text(json.dumps(args), encoding="utf-8")
            run_physx(CHILD, folder / "args.json")
            with np.load(folder / "a.npz", allow_pickle=False) as answer:
                return {path: answer[str(k)] for k, path in enumerate(colliders) if len(answer[str(k)])}, ""
    except subprocess.TimeoutExpired as error:
        return {}, f"PhysX did not answer within {error.timeout:g} s"
    except subprocess.CalledProcessError as error:
        return {}, f"PhysX's process ended with code {error.returncode}"
    except (OSError, ValueError, KeyError, RuntimeError) as error:  # Tf.ErrorException is a RuntimeError
        return {}, str(error).strip().partition("\n")[0][:200] or type(error).__name__


def write_still(source: UsdRobotStage, file: Path) -> None:
    """The asset with its bodies held where they are authored: no joints, no articulation, no gravity."""
    from pxr import Sdf, UsdPhysics

    with quiet_usd():
        stage = open_overlay(source, file)
        free_colliders(stage)
        scenes = [stage.GetPrimAtPath(record.path) for record in source.scenes]
        for prim in scenes or [UsdPhysics.Scene.Define(stage, "/isaaclab_mirror_scene").GetPrim()]:
            UsdPhysics.Scene(prim).CreateGravityMagnitudeAttr().Set(0.0)
        for record in source.joints:
            stage.OverridePrim(record.path).SetActive(False)
        for record in source.roots:
            for api in ("PhysicsArticulationRootAPI", "PhysxArticulationAPI", "NewtonArticulationRootAPI"):
                stage.GetPrimAtPath(record.path).RemoveAppliedSchema(api)
        for path in source.bodies:
            prim = stage.GetPrimAtPath(path)
            if not prim or prim.IsInstanceProxy():
                continue
            prim.AddAppliedSchema("PhysxRigidBodyAPI")
            for axes in ("lockedPosAxis", "lockedRotAxis"):
                kind = Sdf.ValueTypeNames.Int
                prim.CreateAttribute(f"physxRigidBody:{axes}", kind, custom=False).Set(LOCKED_AXES)
        stage.GetRootLayer().Save()
