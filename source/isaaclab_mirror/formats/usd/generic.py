"""Generic joints (PhysicsJoint, "D6"): which of their six axes are free."""

from __future__ import annotations

from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.values import limit

ROTATIONS = ("rotX", "rotY", "rotZ")
TRANSLATIONS = ("transX", "transY", "transZ")


def free_axes(stage: UsdRobotStage, record: Record) -> dict[str, tuple[float | None, float | None]]:
    """Free axes of a generic joint with their limits [deg or stage units]; an axis with low > high is locked."""
    free: dict[str, tuple[float | None, float | None]] = {}
    for instance in (*TRANSLATIONS, *ROTATIONS):
        low = limit(record.prim, f"limit:{instance}:physics:low", stage.file)
        high = limit(record.prim, f"limit:{instance}:physics:high", stage.file)
        if f"PhysicsLimitAPI:{instance}" in record.apis and low is not None and high is not None and low > high:
            continue
        free[instance] = (low, high)
    return free


def holds_nothing(stage: UsdRobotStage, record: Record) -> bool:
    """Whether a joint leaves all six motions free and unlimited."""
    if record.type_name != "PhysicsJoint":
        return False
    free = free_axes(stage, record)
    return len(free) == 6 and all(bound is None for bounds in free.values() for bound in bounds)
