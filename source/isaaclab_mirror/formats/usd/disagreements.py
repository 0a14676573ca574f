"""Layers of one asset that disagree by a unit: a gain per radian in one, read as per degree in another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from isaaclab_mirror.formats.usd.stage import UsdRobotStage
from isaaclab_mirror.robot.joints import Axis

if TYPE_CHECKING:
    from pxr import Sdf

DEGREES = math.degrees(1.0)


def report_unit_disagreements(stage: UsdRobotStage, axes: Mapping[Sdf.Path, Axis]) -> None:
    """Compare every MuJoCo actuator in any layer (whatever the variant) with the PhysX drive of its joint."""
    driven = {str(path): axis.drives[0].stiffness for path, axis in axes.items() if len(axis.drives) == 1}
    if not driven:
        return
    off = {name: ratio for name, ratio in _ratios(stage, driven) if abs(math.log(ratio)) > math.log(DEGREES) - 1e-3}
    wrong = [n for n, r in off.items() if abs(abs(math.log(r)) - math.log(DEGREES)) < 1e-3]
    if wrong:
        ratio = off[wrong[0]]
        stage.found.warn(
            "E040",
            stage.source("/"),
            f"{len(wrong)} drives are {ratio:.4g} times the gain that the same asset states for MuJoCo "
            f"(first: {wrong[0].rsplit('/', 1)[-1]}): a degree/radian slip between its layers",
            "the drive is kept, as PhysX reads it; use --variant Physics=mujoco, or mend the drives",
        )


def _ratios(stage: UsdRobotStage, driven: Mapping[str, float]) -> list[tuple[str, float]]:
    from pxr import Sdf

    found: list[tuple[str, float]] = []
    for file in stage.sources:
        if file.suffix not in (".usd", ".usda", ".usdc"):
            continue
        # The layer of a variant that is not selected is in no stage: it has to be opened again.
        layer = Sdf.Layer.FindOrOpen(str(file))
        if layer is None:
            continue
        actuators: list[Sdf.PrimSpec] = []

        def visit(path: Sdf.Path, layer: Sdf.Layer = layer, actuators: list[Sdf.PrimSpec] = actuators) -> None:
            if path.IsPrimPath():
                spec = layer.GetPrimAtPath(path)
                if spec is not None and spec.typeName == "MjcActuator":
                    actuators.append(spec)

        layer.Traverse(Sdf.Path.absoluteRootPath, visit)
        for spec in actuators:
            gain, target = spec.attributes.get("mjc:gainPrm"), spec.relationships.get("mjc:target")
            goals = target.targetPathList.GetAddedOrExplicitItems() if target is not None else []
            if gain is None or not gain.default or not goals:
                continue
            stiffness = driven.get(str(goals[0]))
            if stiffness and gain.default[0] > 0:
                found.append((str(goals[0]), stiffness / gain.default[0]))
    return found
