"""Actuators, tendons, equalities, contacts pairs, keyframes and options of an MJCF."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.formats.mjcf.spec import enum, set_polynomial
from isaaclab_mirror.physics.lowered import EqualityType, Lowered, LoweredEquality
from isaaclab_mirror.robot.constraints import Tendon
from isaaclab_mirror.robot.drives import Actuator, Transmission
from isaaclab_mirror.robot.joints import AxisKind, JointType

TOKENS = {
    "integrator": ("mjtIntegrator", "mjINT_"),
    "cone": ("mjtCone", "mjCONE_"),
    "solver": ("mjtSolver", "mjSOL_"),
    "jacobian": ("mjtJacobian", "mjJAC_"),
}


def write_options(spec: Any, lowered: Lowered, found: Diagnostics) -> None:
    """Time step, gravity, solver, flags, compiler."""
    import mujoco

    solver = lowered.solver
    spec.option.timestep = solver.timestep_s
    spec.option.gravity = list(solver.gravity)
    for name, stated in solver.options.items():
        value: Any = stated
        if name in TOKENS:
            value = enum(*TOKENS[name], str(stated))
        elif name == "actuatorgroupdisable":
            continue
        elif isinstance(stated, tuple):
            value = list(stated)
        try:
            setattr(spec.option, name, value)
        except (AttributeError, TypeError) as error:
            found.warn("E034", f"option {name}", f"this MuJoCo cannot take it: {error}")
    for flags, kind, prefix in (
        (solver.disable_flags, mujoco.mjtDisableBit, "mjDSBL_"),
        (solver.enable_flags, mujoco.mjtEnableBit, "mjENBL_"),
    ):
        for flag in sorted(flags):
            bit = getattr(kind, prefix + flag.upper(), None)
            if bit is None:
                found.warn("E034", f"flag {flag}", "this MuJoCo does not know the flag: left at its default")
            elif prefix == "mjDSBL_":
                spec.option.disableflags |= int(bit)
            else:
                spec.option.enableflags |= int(bit)
    for name in ("balanceinertia", "boundinertia", "boundmass", "settotalmass", "alignfree"):
        if name in solver.compiler:
            setattr(spec.compiler, name, solver.compiler[name])


def write_actuator(spec: Any, actuator: Actuator) -> None:
    """One actuator in MuJoCo's general form."""
    import mujoco

    made = spec.add_actuator(name=actuator.name, target=actuator.target)
    made.trntype = enum("mjtTrn", "mjTRN_", actuator.transmission.value)
    made.gear = list(actuator.gear)
    made.gaintype = enum("mjtGain", "mjGAIN_", actuator.gain_type)
    made.biastype = enum("mjtBias", "mjBIAS_", actuator.bias_type)
    made.dyntype = enum("mjtDyn", "mjDYN_", actuator.dyn_type)
    for name, stated in (("gainprm", actuator.gain), ("biasprm", actuator.bias), ("dynprm", actuator.dyn)):
        present = getattr(made, name)
        present[:] = 0.0
        present[: len(stated)] = stated
    for name, stated in (
        ("ctrl", actuator.control_range),
        ("force", actuator.force_range),
        ("act", actuator.activation_range),
    ):
        on = mujoco.mjtLimited.mjLIMITED_TRUE if stated is not None else mujoco.mjtLimited.mjLIMITED_FALSE
        setattr(made, f"{name}limited", on)
        if stated is not None:
            setattr(made, f"{name}range", list(stated))
    if actuator.reference_site is not None:
        made.refsite = actuator.reference_site
    if actuator.transmission is Transmission.SLIDER_CRANK and actuator.slider_site is not None:
        made.slidersite = actuator.slider_site
    for name in ("group", "actdim", "actearly", "cranklength", "inheritrange"):
        if name in actuator.mujoco:
            setattr(made, name, actuator.mujoco[name])
    if "lengthrange" in actuator.mujoco:
        made.lengthrange = list(actuator.mujoco["lengthrange"])  # type: ignore[call-overload]


def write_tendon(spec: Any, tendon: Tendon) -> None:
    """One tendon with its path."""
    import mujoco

    made = spec.add_tendon(name=tendon.name)
    for point in tendon.path:
        if point.kind == "joint":
            made.wrap_joint(point.target, point.coefficient)
        elif point.kind == "site":
            made.wrap_site(point.target)
        elif point.kind == "geom":
            made.wrap_geom(point.target, point.side_site or "")
        else:
            made.wrap_pulley(point.coefficient)
    set_polynomial(made, "stiffness", tendon.stiffness)
    set_polynomial(made, "damping", tendon.damping)
    made.frictionloss = tendon.friction
    made.armature = tendon.armature
    if tendon.rest_length is not None:
        made.springlength = list(tendon.rest_length)
    if tendon.limits is not None:
        made.limited = mujoco.mjtLimited.mjLIMITED_TRUE
        made.range = list(tendon.limits)
    else:
        made.limited = mujoco.mjtLimited.mjLIMITED_FALSE
    own = tendon.mujoco
    for name in ("margin", "width", "group"):
        if name in own:
            setattr(made, name, own[name])
    for name in ("rgba", "solref_limit", "solimp_limit", "solref_friction", "solimp_friction"):
        if name in own:
            setattr(made, name, list(own[name]))  # type: ignore[call-overload]
    if "actuator_force_range" in own:
        made.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE
        made.actfrcrange = list(own["actuator_force_range"])  # type: ignore[call-overload]


def write_equality(spec: Any, equality: LoweredEquality) -> None:
    """One equality constraint."""
    import mujoco

    made = spec.add_equality(name=equality.name, type=enum("mjtEq", "mjEQ_", equality.type.value))
    made.name1 = equality.name1
    if equality.name2 is not None:
        made.name2 = equality.name2
    if equality.type is EqualityType.JOINT:
        made.objtype = mujoco.mjtObj.mjOBJ_JOINT
    else:
        made.objtype = mujoco.mjtObj.mjOBJ_SITE if equality.by_site else mujoco.mjtObj.mjOBJ_BODY
    made.active = equality.active
    made.data[:] = 0.0
    made.data[: len(equality.data)] = equality.data
    if equality.by_site and equality.type is EqualityType.WELD:
        made.data[10] = 1.0
    if equality.solref is not None:
        made.solref = list(equality.solref)
    if equality.solimp is not None:
        made.solimp = list(equality.solimp)


def write_contacts(spec: Any, lowered: Lowered) -> None:
    """Excludes and explicit pairs."""
    for first, second in lowered.excludes:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    for pair in lowered.pairs:
        made = spec.add_pair(geomname1=pair.geom1, geomname2=pair.geom2)
        if pair.friction is not None:
            made.friction = list(pair.friction)
        if pair.condim is not None:
            made.condim = pair.condim
        if pair.solref is not None:
            made.solref = list(pair.solref)
        if pair.solimp is not None:
            made.solimp = list(pair.solimp)


def home_qpos(lowered: Lowered) -> list[float]:
    """Positions at the source's own initial state, in MuJoCo's order: joints depth first."""
    qpos: list[float] = []
    for joint in lowered.robot.joints:
        link = lowered.robot.link(joint.child)
        if joint.type is JointType.FLOATING:
            if link.kinematic and joint.parent is None:
                continue  # a mocap body has no joint
            qpos += [*joint.origin.pos, *joint.origin.quat_wxyz]
        for axis in joint.axes:
            if axis.kind is AxisKind.BALL:
                qpos += [1.0, 0.0, 0.0, 0.0]
                continue
            numbers = lowered.axes[axis.name]
            start = axis.initial_position if axis.initial_position is not None else numbers.ref
            if numbers.range is not None and axis.initial_position is None and lowered.robot.dialect == "physx":
                start = min(max(start, numbers.range[0]), numbers.range[1])
            qpos.append(start)
    return qpos


def home_qvel(lowered: Lowered) -> list[float]:
    """Velocities of the source's own initial state (a stage may be saved while it moves), in MuJoCo's order."""
    qvel: list[float] = []
    for joint in lowered.robot.joints:
        is_mocap = lowered.robot.link(joint.child).kinematic and joint.parent is None
        if joint.type is JointType.FLOATING and not is_mocap:
            qvel += [0.0] * 6
        for axis in joint.axes:
            qvel += [axis.initial_velocity or 0.0] if axis.dofs == 1 else [0.0] * 3
    return qvel


def home_control(lowered: Lowered) -> list[float]:
    """Controls that hold the drives' targets."""
    targets = {axis.name: axis.drives[0] for axis in lowered.robot.axes() if len(axis.drives) == 1}
    controls = []
    for actuator in lowered.actuators:
        drive = targets.get(actuator.target)
        authored = any(a is actuator for a in lowered.robot.actuators)
        if drive is None or authored or not (drive.stiffness or drive.damping):
            controls.append(0.0)
        else:
            controls.append(drive.target_position if drive.stiffness else drive.target_velocity)
    return controls


def write_keyframes(spec: Any, lowered: Lowered, found: Diagnostics, fidelity: Fidelity) -> None:
    """The source's keyframes, and `home` where it has none of that name."""
    home, control = home_qpos(lowered), home_control(lowered)
    names = set()
    for key in lowered.robot.keyframes:
        qpos, ctrl = key.mujoco.get("qpos", ()), key.mujoco.get("ctrl", ())
        if (qpos and len(qpos) != len(home)) or (ctrl and len(ctrl) != len(control)):
            found.warn(
                "E035",
                f"keyframe {key.name}",
                f"{len(qpos)} positions for {len(home)}, {len(ctrl)} controls for {len(control)}: left out",
            )
            fidelity.lost("keyframes", "sizes do not fit the model")
            continue
        made = spec.add_key(name=key.name)
        for name in ("qpos", "qvel", "act", "ctrl", "mpos", "mquat"):
            if key.mujoco.get(name):
                setattr(made, name, list(key.mujoco[name]))
        names.add(key.name)
        fidelity.kept("keyframes")
    if "home" not in names and home:
        made = spec.add_key(name="home")
        made.qpos = home
        if any(velocity := home_qvel(lowered)):
            made.qvel = velocity
        if control:
            made.ctrl = control


def write_custom(spec: Any, lowered: Lowered) -> None:
    """What no MJCF attribute can hold: which numbers the file carries, and velocity limits for the simulator."""
    spec.add_text(name="isaaclab_mirror_fidelity", data=lowered.options.fidelity.value)
    limits = {n: a.velocity_limit for n, a in lowered.axes.items() if a.velocity_limit is not None}
    if limits:
        # Not JSON: a text with quotes is written as CDATA, which MuJoCo 3.4 does not read.
        data = " ".join(f"{quote(name)}={limit!r}" for name, limit in limits.items())
        spec.add_text(name="isaaclab_mirror_velocity_limits", data=data)
