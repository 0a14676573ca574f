"""Joint prims → joints with axes: frames, limits, dynamics, drives. Degrees become radians here and nowhere else.

Precedence where several schemas state one number: in PhysX's dialect PhysxJointAxisAPI, PhysxJointAPI, then Newton's
(which PhysX reads too); in MuJoCo's dialect `mjc:`, then Newton's, then PhysX's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import Source
from isaaclab_mirror.formats.options import D6Style
from isaaclab_mirror.formats.usd.generic import ROTATIONS, TRANSLATIONS, free_axes
from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.topology import JointRecord
from isaaclab_mirror.formats.usd.values import UNLIMITED, authored, axis_token, bound, limit, number, plain, value
from isaaclab_mirror.robot.drives import Drive, DriveType
from isaaclab_mirror.robot.joints import Axis, AxisKind, JointDynamics, JointLimits, JointType
from isaaclab_mirror.rotations import Pose, Quat, Vec3, quat_multiply, rotate

if TYPE_CHECKING:
    from collections.abc import Mapping

AXES: dict[str, Vec3] = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
DEGREE = math.pi / 180

TYPES = {
    "PhysicsRevoluteJoint": JointType.REVOLUTE,
    "PhysicsPrismaticJoint": JointType.PRISMATIC,
    "PhysicsFixedJoint": JointType.FIXED,
    "PhysicsSphericalJoint": JointType.BALL,
    "PhysicsJoint": JointType.D6,
}

MUJOCO_JOINT = {
    "mjc:ref": "ref",
    "mjc:margin": "margin",
    "mjc:group": "group",
    "mjc:springref": "springref",
    "mjc:stiffness": "stiffness",
    "mjc:solreflimit": "solref_limit",
    "mjc:solimplimit": "solimp_limit",
    "mjc:solreffriction": "solref_friction",
    "mjc:solimpfriction": "solimp_friction",
    "mjc:springdamper": "springdamper",
    "mjc:actuatorgravcomp": "actuator_gravcomp",
    "mjc:actuatorfrclimited": "actuator_force_limited",
    "mjc:actuatorfrcrange:min": "actuator_force_min",
    "mjc:actuatorfrcrange:max": "actuator_force_max",
}


def joint_geometry(joint: JointRecord, child_is_first: bool) -> tuple[Pose, Pose, float]:
    """Child's frame in the parent's at zero, the joint's frame in the child's, and the sign of its motion.

    PhysX: q is the motion of body1 against body0, always. Where the child is body0, the child moves by −q.
    """
    parent, child = (joint.ends[1], joint.ends[0]) if child_is_first else joint.ends
    return parent.frame @ child.frame.inverse(), child.frame, -1.0 if child_is_first else 1.0


def read_axes(
    stage: UsdRobotStage, joint: JointRecord, frame: Pose, sign: float, name: str, articulated: bool
) -> tuple[Axis, ...]:
    """The axes of one joint prim, in the child link's frame. `articulated`: between two links of an articulation."""
    record = joint.record
    if record.type_name == "PhysicsFixedJoint":
        return ()
    if record.type_name == "PhysicsRevoluteJoint":
        return (_single(stage, record, frame, sign, name, AxisKind.HINGE, "angular"),)
    if record.type_name == "PhysicsPrismaticJoint":
        return (_single(stage, record, frame, sign, name, AxisKind.SLIDE, "linear"),)
    if record.type_name == "PhysicsSphericalJoint":
        return _spherical(stage, record, frame, sign, name)
    return _d6(stage, record, frame, sign, name, articulated)


def _direction(frame: Pose, sign: float, axis: Vec3) -> Vec3:
    x, y, z = rotate(frame.quat_wxyz, axis)
    # A turned unit axis of a float32 frame: clean what is only rounding, so that files read 0 0 1.
    clean = tuple(round(c) if abs(c - round(c)) < 1e-7 else c for c in (sign * x, sign * y, sign * z))
    return (float(clean[0]), float(clean[1]), float(clean[2]))


def _single(
    stage: UsdRobotStage, record: Record, frame: Pose, sign: float, name: str, kind: AxisKind, instance: str
) -> Axis:
    prim, file = record.prim, stage.file
    unit = DEGREE if kind is AxisKind.HINGE else stage.metres
    source = stage.source(prim)
    lower, upper = _range(stage, record, "physics:lowerLimit", "physics:upperLimit", unit)
    other = "linear" if instance == "angular" else "angular"
    if f"PhysicsDriveAPI:{other}" in record.apis:
        stage.found.warn(
            "E024",
            source,
            f"drive:{other} on a {record.type_name} is ignored, as PhysX does",
            f"author drive:{instance}",
        )
    drive = read_drive(stage, record, instance, unit)
    position, velocity = _initial(stage, record, instance, unit)
    return Axis(
        name=name,
        kind=kind,
        axis=_direction(frame, sign, AXES[axis_token(prim, "physics:axis", "X", file)]),
        anchor_m=frame.pos,
        limits=JointLimits(
            lower=lower,
            upper=upper,
            effort=drive.max_effort if drive is not None else None,
            velocity=_velocity_limit(stage, record, instance, unit),
        ),
        dynamics=_dynamics(stage, record, instance, unit),
        drives=(drive,) if drive is not None else (),
        initial_position=position,
        initial_velocity=velocity,
        mujoco=_mujoco(stage, record),
        source=Source(file, str(record.path)),
        extras=_extras(record),
    )


def _extras(record: Record) -> Mapping[str, object]:
    shown = record.prim.GetDisplayName()
    return {"usd:name": record.path.name, **({"usd:displayName": shown} if shown else {})}


def _range(stage: UsdRobotStage, record: Record, low: str, high: str, unit: float) -> tuple[float | None, float | None]:
    """Limits in rad or m. PhysX locks a joint whose limit is one-sided or reversed: that is said, and kept."""
    lower, upper = limit(record.prim, low, stage.file), limit(record.prim, high, stage.file)
    if lower is None and upper is None:
        return None, None
    if lower is None or upper is None or lower > upper:
        if stage.mujoco_dialect:
            return (None if lower is None else lower * unit), (None if upper is None else upper * unit)
        stage.found.warn(
            "E007",
            stage.source(record.prim),
            f"limits [{lower}, {upper}]: PhysX rejects a one-sided or reversed limit and locks the joint at 0",
            "author both limits, the lower one first",
        )
        return 0.0, 0.0
    return lower * unit, upper * unit


def _initial(stage: UsdRobotStage, record: Record, instance: str, unit: float) -> tuple[float | None, float | None]:
    if f"PhysicsJointStateAPI:{instance}" not in record.apis:
        return None, None
    position = number(record.prim, f"state:{instance}:physics:position", stage.file)
    velocity = number(record.prim, f"state:{instance}:physics:velocity", stage.file)
    return (None if position is None else position * unit), (None if velocity is None else velocity * unit)


def _first(values: Iterable[float | None]) -> float | None:
    return next((v for v in values if v is not None), None)


def _not_negative(stage: UsdRobotStage, record: Record, name: str) -> float | None:
    """An armature, friction or damping: a negative one would feed energy into the joint."""
    found = number(record.prim, name, stage.file)
    if found is None or found >= 0.0:
        return found
    where = Source(stage.file, f"{record.path}.{name}")
    stage.found.warn("E014", where, f"{found:g} is negative: read as 0", "author a number that is not negative")
    return 0.0


def _velocity_limit(stage: UsdRobotStage, record: Record, instance: str, unit: float) -> float | None:
    prim, file = record.prim, stage.file
    found = _first(
        limit(prim, name, file)
        for name in (
            f"physxJointAxis:{instance}:maxJointVelocity",
            "physxJoint:maxJointVelocity",
            "newton:velocityLimit",
        )
    )
    return None if found is None else found * unit


def _dynamics(stage: UsdRobotStage, record: Record, instance: str, unit: float) -> JointDynamics:
    """Armature, friction, damping and spring of an axis. Forces scale with the stage's units of mass and length."""
    prim, file = record.prim, stage.file
    angular = unit == DEGREE and instance != "linear"
    force = stage.kilograms * stage.metres * (stage.metres if angular else 1.0)
    inertia = stage.kilograms * (stage.metres**2 if angular else 1.0)
    per_degree = inertia / DEGREE if angular else stage.kilograms

    def read(*names: str) -> float | None:
        return _first(_not_negative(stage, record, name) for name in names)

    axis = f"physxJointAxis:{instance}:"
    if stage.mujoco_dialect:
        armature = read("mjc:armature", "newton:armature", axis + "armature", "physxJoint:armature") or 0.0
        friction = read("mjc:frictionloss", "newton:friction", axis + "dynamicFrictionEffort") or 0.0
        own = number(prim, "mjc:damping", file)
        newton = read("newton:damping")
        damping = own if own is not None else (newton or 0.0) * per_degree
        return JointDynamics(
            damping=damping,
            friction=friction,
            static_friction=friction,
            stiffness=number(prim, "mjc:stiffness", file) or 0.0,
            spring_reference=number(prim, "mjc:springref", file) or 0.0,
            armature=armature,
        )
    armature = read(axis + "armature", "physxJoint:armature", "newton:armature") or 0.0
    static = read(axis + "staticFrictionEffort")
    dynamic = read(axis + "dynamicFrictionEffort")
    plain = read("physxJoint:jointFriction", "newton:friction")
    friction = dynamic if dynamic is not None else static if static is not None else plain or 0.0
    viscous = read(axis + "viscousFrictionCoefficient", "newton:damping") or 0.0
    if f"PhysxJointAxisAPI:{instance}" not in record.apis and any(
        authored(prim, f"physxJoint:{n}") for n in ("armature", "jointFriction", "maxJointVelocity")
    ):
        stage.found.info(
            "E025",
            stage.source("/"),
            "PhysxJointAPI (armature, jointFriction, maxJointVelocity) is read here and by Isaac Lab 3.0's PhysX "
            "(ovphysx 0.6.4), but ignored by ovphysx 0.7.0",
            "author PhysxJointAxisAPI as well",
        )
    return JointDynamics(
        damping=viscous * per_degree,
        friction=friction * force,
        static_friction=(static if static is not None else friction) * force,
        armature=armature * inertia,
    )


def read_drive(stage: UsdRobotStage, record: Record, instance: str, unit: float, rotation: int = 0) -> Drive | None:
    """The drive of one axis in SI units, or None where none is authored."""
    if f"PhysicsDriveAPI:{instance}" not in record.apis:
        return None
    prim, file = record.prim, stage.file
    start = f"drive:{instance}:physics:"
    angular = instance not in ("linear", *TRANSLATIONS)
    acceleration = str(value(prim, start + "type", "force")) == "acceleration"
    mass = 1.0 if acceleration else stage.kilograms
    # Angular gains are stated per degree; a torque is mass · length² / time².
    gain = mass * (1.0 if acceleration else stage.metres**2) / DEGREE if angular else mass
    force = stage.kilograms * stage.metres * (stage.metres if angular else 1.0)
    most = bound(prim, start + "maxForce", file)
    source = stage.source(prim)
    if most is not None and most > UNLIMITED:
        most = None
    stiffness = number(prim, start + "stiffness", file) or 0.0
    damping = number(prim, start + "damping", file) or 0.0
    if most is not None and most <= 0.0 and (stiffness or damping):
        stage.found.warn(
            "E026",
            source,
            f"drive:{instance} has maxForce {most:g}: PhysX makes it a dead drive, and so does this file",
            "author a positive maxForce, or none",
        )
    return Drive(
        stiffness=stiffness * gain,
        damping=damping * gain,
        max_effort=None if most is None else max(most, 0.0) * force,
        target_position=(number(prim, start + "targetPosition", file) or 0.0) * unit,
        target_velocity=(number(prim, start + "targetVelocity", file) or 0.0) * unit,
        type=DriveType.ACCELERATION if acceleration else DriveType.FORCE,
        rotation=rotation,
        source=source,
    )


def _mujoco(stage: UsdRobotStage, record: Record) -> Mapping[str, object]:
    """What the prim states for MuJoCo itself."""
    if not any(api.startswith("Mjc") for api in record.apis):
        return {}
    found: dict[str, object] = {}
    names = frozenset(record.prim.GetAuthoredPropertyNames())
    for attribute, key in MUJOCO_JOINT.items():
        stated = plain(record.prim, attribute) if attribute in names else None
        if stated is not None:
            found[key] = stated
    return found


BALL_FRAMES: Mapping[str, Quat] = {
    "X": (1.0, 0.0, 0.0, 0.0),
    "Y": (0.5, 0.5, 0.5, 0.5),
    "Z": (0.5, 0.5, -0.5, 0.5),
}
"""PhysX's frame of a spherical joint in the authored one, by `physics:axis` (measured): its first coordinate turns
about the axis; the others about z and x (Y), about −x and −y (Z)."""


def _spherical(stage: UsdRobotStage, record: Record, frame: Pose, sign: float, name: str) -> tuple[Axis, ...]:
    """A ball joint; its cone limits become MuJoCo's one cone."""
    prim, file = record.prim, stage.file
    turn = BALL_FRAMES[axis_token(prim, "physics:axis", "X", file)]
    cones = [limit(prim, f"physics:coneAngle{i}Limit", file) for i in (0, 1)]
    stated = [c for c in cones if c is not None and c >= 0.0]
    return (
        Axis(
            name=name,
            kind=AxisKind.BALL,
            anchor_m=frame.pos,
            limits=JointLimits(lower=0.0, upper=max(stated) * DEGREE) if stated else JointLimits(),
            dynamics=_dynamics(stage, record, "angular", DEGREE),
            drives=_ball_drives(stage, record),
            mujoco=_mujoco(stage, record),
            source=stage.source(prim),
            extras={**_extras(record), "ball:frame_wxyz": quat_multiply(frame.quat_wxyz, turn), "ball:sign": sign},
        ),
    )


def _ball_drives(stage: UsdRobotStage, record: Record) -> tuple[Drive, ...]:
    drives = (read_drive(stage, record, instance, DEGREE, k) for k, instance in enumerate(ROTATIONS))
    return tuple(d for d in drives if d is not None)


def _d6(
    stage: UsdRobotStage, record: Record, frame: Pose, sign: float, name: str, articulated: bool
) -> tuple[Axis, ...]:
    """A generic joint. In an articulation PhysX locks its translations and moves its rotations as a rotation vector.

    One to the world, which PhysX welds, is kept as its author drew it: with its translations. So is one of bodies that
    are no articulation.
    """
    source = stage.source(record.prim)
    free = free_axes(stage, record)
    moving = [instance for instance in TRANSLATIONS if instance in free]
    slides: tuple[Axis, ...] = ()
    if not articulated:
        slides = tuple(_d6_axis(stage, record, frame, sign, f"{name}:{i}", i, free[i]) for i in moving)
    elif moving:
        stage.found.warn(
            "E001", source, f"PhysX locks the translations of a generic joint in an articulation: {', '.join(moving)}"
        )
    turning = [instance for instance in ROTATIONS if instance in free]
    if len(turning) == 3 and stage.options.d6 is D6Style.BALL:
        return (*slides, _d6_ball(stage, record, frame, sign, name, free))
    if len(turning) == 2:
        stage.found.warn(
            "E001",
            source,
            "two free rotations: written as two hinges in a row, equal to PhysX's rotation vector to first order",
        )
    return slides + tuple(
        _d6_axis(stage, record, frame, sign, f"{name}:{ROTATIONS.index(instance)}", instance, free[instance])
        for instance in turning
    )


def _d6_ball(
    stage: UsdRobotStage,
    record: Record,
    frame: Pose,
    sign: float,
    name: str,
    free: dict[str, tuple[float | None, float | None]],
) -> Axis:
    bounds = [abs(b) for instance in ROTATIONS for b in free[instance] if b is not None]
    limited = all(b is not None for instance in ROTATIONS for b in free[instance])
    cone = max(bounds) * DEGREE if limited and bounds else None
    if cone is not None:
        stage.found.warn(
            "E001",
            stage.source(record.prim),
            "three free rotations with a range each: a ball joint has one cone, the widest is kept",
            "--set d6=hinges keeps the ranges and gives up exact kinematics",
        )
    return Axis(
        name=name,
        kind=AxisKind.BALL,
        anchor_m=frame.pos,
        limits=JointLimits(lower=0.0, upper=cone) if cone is not None and cone < math.pi else JointLimits(),
        dynamics=_dynamics(stage, record, "rotX", DEGREE),
        drives=_ball_drives(stage, record),
        mujoco=_mujoco(stage, record),
        source=stage.source(record.prim),
        extras={**_extras(record), "ball:frame_wxyz": frame.quat_wxyz, "ball:sign": sign},
    )


def _d6_axis(
    stage: UsdRobotStage,
    record: Record,
    frame: Pose,
    sign: float,
    name: str,
    instance: str,
    bounds: tuple[float | None, float | None],
) -> Axis:
    """One free axis of a generic joint: a hinge, or a slide."""
    lower, upper = bounds
    linear = instance in TRANSLATIONS
    unit = stage.metres if linear else DEGREE
    drive = read_drive(stage, record, instance, unit)
    position, velocity = _initial(stage, record, instance, unit)
    return Axis(
        name=name,
        kind=AxisKind.SLIDE if linear else AxisKind.HINGE,
        axis=_direction(frame, sign, AXES[instance[-1]]),
        anchor_m=frame.pos,
        limits=JointLimits(
            lower=None if lower is None else lower * unit,
            upper=None if upper is None else upper * unit,
            effort=drive.max_effort if drive is not None else None,
            velocity=_velocity_limit(stage, record, instance, unit),
        ),
        dynamics=_dynamics(stage, record, instance, unit),
        drives=(drive,) if drive is not None else (),
        initial_position=position,
        initial_velocity=velocity,
        mujoco=_mujoco(stage, record),
        source=stage.source(record.prim),
        extras=_extras(record),
    )
