"""lower(robot, engine, options): every number chosen for one engine, and the choice counted in the fidelity table."""

from __future__ import annotations

from collections.abc import Mapping

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.physics import options as opt
from isaaclab_mirror.physics.contact import PHYSX_DEFAULT, measured_contact, pair_friction, standard_contact
from isaaclab_mirror.physics.damping import joint_damping
from isaaclab_mirror.physics.drives import drive_actuator, step_damping, substep_damping
from isaaclab_mirror.physics.dynamics import effective_inertias
from isaaclab_mirror.physics.equalities import lower_loop, lower_mimic, sited_loops
from isaaclab_mirror.physics.filtering import across_slides, corrections, masks
from isaaclab_mirror.physics.friction import measured_friction
from isaaclab_mirror.physics.gravity_load import gravity_softening
from isaaclab_mirror.physics.limits import measured_limit, written_range
from isaaclab_mirror.physics.lowered import Engine, Lowered, LoweredAxis, LoweredContact, LoweredPair, floats
from isaaclab_mirror.physics.options import LoweringOptions
from isaaclab_mirror.physics.softening import leg_inertias, softening
from isaaclab_mirror.physics.solver import lower_solver
from isaaclab_mirror.robot.drives import Actuator, DriveType, Transmission
from isaaclab_mirror.robot.geometry import Collision, Geom
from isaaclab_mirror.robot.joints import Axis
from isaaclab_mirror.robot.materials import CombineMode, ContactMaterial
from isaaclab_mirror.robot.model import Robot

DEFAULT_OFFSET_M = 0.02
"""Contact offset of the standard's example, where none is authored."""


def lower(robot: Robot, engine: Engine, options: LoweringOptions, found: Diagnostics, fidelity: Fidelity) -> Lowered:
    """The robot with the numbers of `engine`. An engine's own numbers in the source come first, else the laws."""
    solver = lower_solver(robot, options, found)
    step_s = solver.timestep_s
    drag = joint_damping(robot) if options.fidelity is opt.Fidelity.PHYSX else {}
    axes = {axis.name: _axis(robot, axis, options, step_s, fidelity, drag.get(axis.name, 0.0)) for axis in robot.axes()}
    colliders = [geom for geom in robot.geoms if geom.collision is not None]
    bits = masks(robot.collision_filter, colliders, found, fidelity)
    materials = {m.name: m for m in robot.contact_materials}
    contacts = {
        geom.name: _contact(robot, geom, materials, bits[geom.name], options, step_s, found) for geom in colliders
    }
    default = robot.default_contact_material or PHYSX_DEFAULT
    surfaces = {
        g.name: materials.get(g.collision.material or "", default) for g in colliders if g.collision is not None
    }
    weaker = [m for m in robot.contact_materials if m.friction_combine in (CombineMode.MIN, CombineMode.MULTIPLY)]
    fidelity.kept("contact materials", len(robot.contact_materials) - len(weaker))
    fidelity.approximated(
        "contact materials", "min or multiply: MuJoCo takes the larger friction of a pair", len(weaker)
    )
    restitution = [m.name for m in robot.contact_materials if m.restitution > 0.0]
    fidelity.lost("restitution", "MuJoCo's contacts have none", len(restitution))
    excludes, pairs = corrections(robot, colliders, bits, fidelity)
    if options.fidelity is opt.Fidelity.PHYSX and robot.dialect != "mujoco":
        excludes += across_slides(robot, colliders)
    count = len(robot.collision_filter.link_pairs) + len(robot.collision_filter.filtered_groups)
    fidelity.kept("collision filters", count + len(robot.collision_filter.geom_pairs))
    robot = sited_loops(robot)
    equalities = [e for loop in robot.loops for e in lower_loop(loop, found, fidelity)]
    equalities += [lower_mimic(mimic, fidelity) for mimic in robot.mimics]
    return Lowered(
        robot=robot,
        engine=engine,
        options=options,
        axes=axes,
        actuators=_actuators(robot, options, step_s, found, fidelity),
        contacts=contacts,
        pairs=tuple(_pair(a, b, contacts, surfaces) for a, b in pairs),
        excludes=tuple(excludes),
        equalities=tuple(equalities),
        solver=solver,
    )


def _pair(
    a: str, b: str, contacts: Mapping[str, LoweredContact], surfaces: Mapping[str, ContactMaterial]
) -> LoweredPair:
    """An explicit pair says everything itself: friction combined as PhysX combines it, the rest as MuJoCo mixes."""
    first, second = contacts[a], contacts[b]
    slide = pair_friction(surfaces[a], surfaces[b])
    spin, roll = (max(p, q) for p, q in zip(first.friction[1:], second.friction[1:], strict=True))
    return LoweredPair(
        geom1=a,
        geom2=b,
        friction=(slide, slide, spin, roll, roll),
        condim=max(first.condim, second.condim),
        solref=first.solref,
        solimp=first.solimp,
    )


def _axis(
    robot: Robot, axis: Axis, options: LoweringOptions, step_s: float, fidelity: Fidelity, drag: float
) -> LoweredAxis:
    own, limits, dynamics = axis.mujoco, axis.limits, axis.dynamics
    mujoco = robot.dialect == "mujoco"
    fidelity.kept("joints")
    span = None
    if limits.lower is not None and limits.upper is not None:
        span = (limits.lower, limits.upper) if mujoco else written_range(limits.lower, limits.upper)
        fidelity.kept("joint limits")
    friction = {
        opt.JointFriction.DYNAMIC: dynamics.friction,
        opt.JointFriction.STATIC: dynamics.static_friction,
        opt.JointFriction.OFF: 0.0,
    }[options.joint_friction]
    if dynamics.static_friction > dynamics.friction * (1 + 1e-9):
        fidelity.approximated("joint friction", "stiction above sliding friction has no place in MuJoCo")
    elif dynamics.friction:
        fidelity.kept("joint friction")
    if dynamics.armature:
        fidelity.kept("armature")
    if dynamics.damping:
        fidelity.kept("joint damping")
    if limits.velocity is not None:
        fidelity.lost("velocity limits", "MJCF has no joint velocity limit; kept in custom data for the simulator")
    solref, solimp = floats(own.get("solref_limit")), floats(own.get("solimp_limit"))
    if options.fidelity is opt.Fidelity.PHYSX and solref is None and span is not None:
        solref, solimp = measured_limit(step_s)
    friction_ref, friction_imp = floats(own.get("solref_friction")), floats(own.get("solimp_friction"))
    if options.fidelity is opt.Fidelity.PHYSX and friction_ref is None and friction:
        friction_ref, friction_imp = measured_friction(step_s)
    efforts = [d.max_effort for d in axis.drives if d.max_effort is not None]
    return LoweredAxis(
        name=axis.name,
        range=span,
        effort_limit=efforts[0] if efforts else limits.effort,
        velocity_limit=limits.velocity,
        damping=dynamics.damping + drag,
        frictionloss=friction,
        stiffness=dynamics.stiffness,
        springref=dynamics.spring_reference,
        armature=dynamics.armature,
        ref=float(own.get("ref", 0.0)),  # type: ignore[arg-type]
        margin=float(own.get("margin", 0.0)),  # type: ignore[arg-type]
        group=int(own.get("group", 0)),  # type: ignore[arg-type, call-overload]
        actuator_force_range=_force_range(own),
        actuator_gravcomp=bool(own.get("actuator_gravcomp", False)),
        solref_limit=solref,
        solimp_limit=solimp,
        solref_friction=friction_ref,
        solimp_friction=friction_imp,
        springdamper=floats(own.get("springdamper")),  # type: ignore[arg-type]
    )


def _force_range(own: Mapping[str, object]) -> tuple[float, float] | None:
    low, high = float(own.get("actuator_force_min", 0.0)), float(own.get("actuator_force_max", 0.0))  # type: ignore[arg-type]
    limited = str(own.get("actuator_force_limited", "auto"))
    return None if limited == "false" or (limited == "auto" and low == high) else (low, high)


def _contact(
    robot: Robot,
    geom: Geom,
    materials: Mapping[str, ContactMaterial],
    bits: tuple[int, int],
    options: LoweringOptions,
    step_s: float,
    found: Diagnostics,
) -> LoweredContact:
    collision = geom.collision or Collision()
    own = collision.mujoco
    default = robot.default_contact_material or PHYSX_DEFAULT
    material = materials.get(collision.material or "", default)
    mujoco = robot.dialect == "mujoco"
    spin = material.torsional_friction_m
    roll = material.rolling_friction_m
    solref, solimp = floats(own.get("solref")), floats(own.get("solimp"))
    group = own.get("group")
    if not mujoco and solref is None:
        model = options.contact_model
        if model is opt.ContactModel.AUTO:
            physx = options.fidelity is opt.Fidelity.PHYSX
            model = opt.ContactModel.MEASURED if physx else opt.ContactModel.MUJOCO
        if model is opt.ContactModel.MEASURED:
            solref, solimp = measured_contact(step_s)
        elif model is opt.ContactModel.STANDARD:
            solref, solimp = standard_contact(collision.contact_offset_m or DEFAULT_OFFSET_M)
            found.warn(
                "E031",
                "contact_model",
                "the standard's contact formula 4.1.1 reads a margin as a stiffness: contacts sink by centimetres",
                "use contact_model=measured unless conformance is the point",
            )
    return LoweredContact(
        friction=(
            material.dynamic_friction,
            spin if spin is not None else (0.005 if mujoco else 0.0),
            roll if roll is not None else (0.0001 if mujoco else 0.0),
        ),
        condim=int(own.get("condim", 3)),  # type: ignore[arg-type, call-overload]
        solref=solref,
        solimp=solimp,
        margin=float(own.get("margin", 0.0)),  # type: ignore[arg-type]
        gap=float(own.get("gap", 0.0)),  # type: ignore[arg-type]
        priority=int(own.get("priority", 0)),  # type: ignore[arg-type, call-overload]
        solmix=float(own.get("solmix", 1.0)),  # type: ignore[arg-type]
        contype=bits[0],
        conaffinity=bits[1],
        group=int(group) if group is not None else (0 if mujoco else 2 if geom.visible else 3),  # type: ignore[arg-type, call-overload]
    )


def _actuators(
    robot: Robot, options: LoweringOptions, step_s: float, found: Diagnostics, fidelity: Fidelity
) -> tuple[Actuator, ...]:
    """The source's own actuators; for axes that none of them drives, the drives."""
    drives = {axis.name for axis in robot.axes() if axis.drives}
    if robot.dialect == "mujoco":
        result = list(robot.actuators)
    else:
        # PhysX's drive is what moves the joint; an actuator of MuJoCo's schema beside it would push twice.
        result = [a for a in robot.actuators if a.target not in drives]
        fidelity.approximated(
            "actuators",
            "stated beside a PhysX drive of the same joint: the drive is kept",
            len(robot.actuators) - len(result),
        )
    fidelity.kept("actuators", len(result))
    driven = {a.target for a in result if a.transmission in (Transmission.JOINT, Transmission.JOINT_IN_PARENT)}
    inertias: Mapping[str, float] | None = None
    iterations, pgs = robot.scene.position_iterations or 4, robot.scene.solver == "PGS"
    legs: Mapping[str, float] = {}
    arms: Mapping[str, float] = {}
    if options.fidelity is opt.Fidelity.PHYSX and robot.dialect != "mujoco" and not pgs:
        legs = leg_inertias(robot)
        arms = gravity_softening(robot, substep_s=step_s * options.substeps / iterations)
    for axis in robot.axes():
        if axis.name in driven or (robot.actuators and robot.dialect == "mujoco"):
            continue
        for drive in axis.drives:
            if drive.is_dead:
                fidelity.lost("drives", "maxForce 0: dead in PhysX too")
                continue
            inertia = 1.0
            if drive.type is DriveType.ACCELERATION:
                if inertias is None:
                    inertias = effective_inertias(robot)
                inertia = inertias.get(axis.name, 1.0)
                fidelity.approximated("drives", "acceleration drive: gains × effective inertia at the zero pose")
                found.warn(
                    "E032",
                    str(axis.source or axis.name),
                    f"acceleration drive: its gains move with the pose; written for {inertia:.4g} at zero",
                )
            damping, lowered = drive.damping, False
            if options.fidelity is opt.Fidelity.PHYSX:
                whole_s = step_s * options.substeps
                law = substep_damping if options.substeps > 1 else step_damping
                damping = law(drive, step_s=whole_s, iterations=1 if pgs else iterations)
                inertia *= arms.get(axis.name, 1.0)
                if axis.name in legs and drive.stiffness:
                    soft = softening(
                        drive,
                        substep_s=whole_s / iterations,
                        inertia=legs[axis.name],
                    )
                    inertia *= soft
                    lowered = True
            if lowered:
                fidelity.approximated("drives", "of legs: gains lowered, PhysX's give way under the ground's load")
            elif axis.name in arms:
                fidelity.approximated("drives", "of arms: gains scaled, PhysX's give way under gravity's load")
            elif drive.type is not DriveType.ACCELERATION:
                fidelity.kept("drives")
            if drive.target_velocity and drive.stiffness:
                fidelity.lost("drive velocity targets", "a position actuator holds one control")
            suffix = f":{drive.rotation}" if len(axis.drives) > 1 else ""
            result.append(drive_actuator(axis.name + suffix, axis.name, drive, damping, inertia))
    return tuple(result)
