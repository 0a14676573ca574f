"""Joints that do not fit into the tree, mimics, and PhysX's fixed tendons → constraints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from isaaclab_mirror.formats.usd.generic import ROTATIONS, free_axes
from isaaclab_mirror.formats.usd.joints import AXES, DEGREE
from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.topology import JointRecord
from isaaclab_mirror.formats.usd.values import axis_token, bound, number, plain, reals, targets, value
from isaaclab_mirror.robot.constraints import Loop, LoopType, Mimic, Tendon, TendonPoint
from isaaclab_mirror.robot.joints import Axis, AxisKind
from isaaclab_mirror.rotations import Pose, Quat, Vec3, quat_from_matrix

if TYPE_CHECKING:
    from pxr import Sdf

LOOPS = {
    "PhysicsSphericalJoint": LoopType.CONNECT,
    "PhysicsFixedJoint": LoopType.WELD,
    "PhysicsRevoluteJoint": LoopType.HINGE,
    "PhysicsPrismaticJoint": LoopType.SLIDE,
}


def _z_to(axis: Vec3) -> Quat:
    """Turns z to a coordinate axis."""
    k = AXES_ORDER.index(axis)
    columns = [AXES_ORDER[(k + 1) % 3], AXES_ORDER[(k + 2) % 3], axis]
    rows = tuple(tuple(columns[c][r] for c in range(3)) for r in range(3))
    return quat_from_matrix(rows)  # type: ignore[arg-type]


AXES_ORDER = [AXES["X"], AXES["Y"], AXES["Z"]]


def read_loop(
    stage: UsdRobotStage, joint: JointRecord, links: Mapping[Sdf.Path, str], sites: Mapping[Sdf.Path, str]
) -> Loop | None:
    """A joint outside the tree as a loop constraint; None (and a diagnostic) where nothing can say it."""
    record = joint.record
    source = stage.source(record.prim)
    kind, axis = _loop_type(stage, record)
    names = [None if end.body is None else links.get(end.body) for end in joint.ends]
    if any(end.body is not None and name is None for end, name in zip(joint.ends, names, strict=True)):
        stage.found.warn("E012", source, "one of its bodies is not part of the robot: the joint is left out")
        return None
    if kind is None:
        stage.found.warn("E001", source, f"a {record.type_name} outside the tree cannot be written: left out")
        return None
    turn = Pose((0.0, 0.0, 0.0), _z_to(AXES[axis])) if kind in (LoopType.HINGE, LoopType.SLIDE) else Pose()
    by_site = [sites.get(end.named) if end.named is not None else None for end in joint.ends]
    solver = {key: plain(record.prim, f"mjc:{key}") for key in ("solref", "solimp", "torqueScale")}
    return Loop(
        name=record.prim.GetDisplayName() or record.path.name,
        type=kind,
        link0=names[0],
        link1=names[1],
        frame0=joint.ends[0].frame @ turn,
        frame1=joint.ends[1].frame @ turn,
        active=value(record.prim, "physics:jointEnabled", True) is not False,
        by_site=(by_site[0], by_site[1]) if by_site[0] and by_site[1] else None,
        mujoco={k: v for k, v in solver.items() if v is not None},
        source=source,
    )


def _loop_type(stage: UsdRobotStage, record: Record) -> tuple[LoopType | None, str]:
    """What a joint outside the tree keeps, and the axis that it leaves free. None: nothing that an equality can say."""
    if record.type_name != "PhysicsJoint":
        return LOOPS.get(record.type_name), axis_token(record.prim, "physics:axis", "X", stage.file)
    free = list(free_axes(stage, record))
    turning = [instance for instance in free if instance in ROTATIONS]
    if len(free) == len(turning):
        if len(turning) == 2:
            why = "two free rotations outside the tree: written as a point that is kept, with all three free"
            stage.found.warn("E001", stage.source(record.prim), why)
        kinds = (LoopType.WELD, LoopType.HINGE, LoopType.CONNECT, LoopType.CONNECT)
        return kinds[len(turning)], turning[0][-1] if turning else "X"
    if len(free) == 1:
        return LoopType.SLIDE, free[0][-1]
    return None, "X"


def read_mimics(stage: UsdRobotStage, record: Record, axis: Axis, axes: Mapping[Sdf.Path, Axis]) -> list[Mimic]:
    """The mimic schemas of one joint prim.

    PhysX: q + gearing·q_ref + offset = 0 (offset in degrees for a rotary follower), any rot instance; `trans*` is
    ignored. Newton: q = coef0 + coef1·q_ref.
    """
    result: list[Mimic] = []
    prim, file, source = record.prim, stage.file, stage.source(record.prim)
    unit = DEGREE if axis.kind is AxisKind.HINGE else stage.metres

    def leader(relationship: str) -> Axis | None:
        named = targets(prim, relationship)
        found = axes.get(named[0]) if named else None
        if found is None or found is axis:
            what = "the joint itself" if found is axis else "no joint of the robot"
            stage.found.warn("E012", source, f"{relationship} names {what}: the mimic is left out", "name the leader")
            return None
        return found

    for instance in record.instances("PhysxMimicJointAPI"):
        start = f"physxMimicJoint:{instance}:"
        if instance not in ROTATIONS:
            stage.found.warn("E027", source, f"PhysX ignores a mimic on {instance}: left out", "use rotX, rotY or rotZ")
            continue
        reference = leader(start + "referenceJoint")
        if reference is None:
            continue
        gearing = number(prim, start + "gearing", file)
        frequency = number(prim, start + "naturalFrequency", file)
        result.append(
            Mimic(
                name=f"{axis.name}_mimics_{reference.name}",
                follower=axis.name,
                leader=reference.name,
                coefficients=(
                    -(number(prim, start + "offset", file) or 0.0) * unit,
                    -(1.0 if gearing is None else gearing) * _ratio_unit(stage, axis, reference),
                ),
                natural_frequency_hz=frequency if frequency and frequency > 0 else None,
                damping_ratio=number(prim, start + "dampingRatio", file),
                source=source,
            )
        )
    if "NewtonMimicAPI" in record.apis or "MjcEqualityJointAPI" in record.apis:
        relationship = "newton:mimicJoint" if targets(prim, "newton:mimicJoint") else "mjc:target"
        reference = leader(relationship)
        if reference is not None:
            result.append(_newton_mimic(stage, record, axis, reference, unit))
    return result


def _ratio_unit(stage: UsdRobotStage, follower: Axis, leader: Axis) -> float:
    """A gearing between a rotary and a linear axis carries the stage's unit of length."""
    linear = (follower.kind is AxisKind.SLIDE) - (leader.kind is AxisKind.SLIDE)
    return stage.metres**linear


def _newton_mimic(stage: UsdRobotStage, record: Record, axis: Axis, reference: Axis, unit: float) -> Mimic:
    prim, file = record.prim, stage.file
    mujoco = "MjcEqualityJointAPI" in record.apis
    own = [number(prim, f"mjc:coef{k}", file) for k in range(5)]
    coef0 = number(prim, "newton:mimicCoef0", file)
    coef1 = number(prim, "newton:mimicCoef1", file)
    first = coef0 * unit if coef0 is not None else own[0] or 0.0
    second = coef1 if coef1 is not None else own[1] if own[1] is not None else 1.0
    solver = {k: reals(prim, f"mjc:{k}") for k in ("solref", "solimp")} if mujoco else {}
    return Mimic(
        name=f"{axis.name}_mimics_{reference.name}",
        follower=axis.name,
        leader=reference.name,
        coefficients=(first, second * _ratio_unit(stage, axis, reference), *(own[k] or 0.0 for k in (2, 3, 4))),
        active=value(prim, "newton:mimicEnabled", True) is not False,
        mujoco={k: v for k, v in solver.items() if v},
        source=stage.source(prim),
    )


def read_physx_tendons(stage: UsdRobotStage, axes: Mapping[Sdf.Path, Axis]) -> list[Tendon]:
    """Fixed tendons: PhysxTendonAxisRootAPI on one joint, PhysxTendonAxisAPI on the others, tied by instance name."""
    roots: dict[str, Record] = {}
    points: dict[str, list[TendonPoint]] = {}
    for record in stage.joints:
        axis = axes.get(record.path)
        for instance in record.instances("PhysxTendonAxisRootAPI"):
            roots[instance] = record
        # The root of a tendon is one of its axes, whether or not the axis schema is applied beside the root's.
        both = (*record.instances("PhysxTendonAxisAPI"), *record.instances("PhysxTendonAxisRootAPI"))
        for instance in dict.fromkeys(both):
            gearing = reals(record.prim, f"physxTendon:{instance}:gearing")
            if axis is None or not gearing or not gearing[0]:
                continue
            points.setdefault(instance, []).append(TendonPoint("joint", axis.name, gearing[0]))
    result = []
    for instance, record in roots.items():
        start = f"physxTendon:{instance}:"
        low, high = (bound(record.prim, start + n, stage.file) for n in ("lowerLimit", "upperLimit"))
        bounded = low is not None and high is not None and math.isfinite(low) and math.isfinite(high) and low < high
        rest = number(record.prim, start + "restLength", stage.file) or 0.0
        offset = number(record.prim, start + "offset", stage.file) or 0.0
        if not points.get(instance):
            continue
        result.append(
            Tendon(
                name=instance,
                path=tuple(points[instance]),
                stiffness=number(record.prim, start + "stiffness", stage.file) or 0.0,
                damping=number(record.prim, start + "damping", stage.file) or 0.0,
                rest_length=(rest - offset, rest - offset),
                limits=(low - offset, high - offset) if bounded else None,  # type: ignore[operator]
                limit_stiffness=number(record.prim, start + "limitStiffness", stage.file),
                source=stage.source(record.prim),
            )
        )
    return result
