"""The robot as the task spawns it, and the settings that it runs under: a contract's numbers on a robot model.

What Isaac Lab writes over an asset, in its order: spawn properties (damping, speed limits, self-collision, contact
offsets, base), the scene's material, the actuator groups' numbers, friction drawn at startup, the initial state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isaaclab_mirror.contract.contract import ActuatorGroup, ActuatorKind, Contract, MaterialSpec, RobotSpec
from isaaclab_mirror.contract.friction import startup_frictions
from isaaclab_mirror.contract.resolve import is_stand_in, is_training_asset
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.robot.drives import Drive, DriveType
from isaaclab_mirror.robot.geometry import Geom
from isaaclab_mirror.robot.joints import Axis, AxisKind, Joint, JointType
from isaaclab_mirror.robot.materials import CombineMode, ContactMaterial
from isaaclab_mirror.robot.model import Link, Robot
from isaaclab_mirror.rotations import Pose
from isaaclab_mirror.sims.settings import Ground, SimSettings

TASK_MATERIAL = "task_material"
UNBOUNDED_EXPLICIT = ("ovphysx",)
"""Backends whose PhysX does not bound an explicit effort by the joint's limit: measured on 0.6.4, which Isaac Lab
3.0.0 pins (400 N bounded to 100 N: bit-equal)."""


def robot_of(contract: Contract, robot: Robot) -> Robot:
    """The robot of the contract's file as the task spawns it, joints under the policy's names."""
    if not contract.is_resolved:
        raise InputError("E108", contract.name, "the contract is not resolved: its robot is not known", "give --robot")
    spec = contract.robot
    if spec.scale is not None and any(abs(s - 1.0) > 1e-9 for s in spec.scale):
        raise InputError("E110", contract.name, f"the task scales the robot by {spec.scale}", "scale the asset itself")
    called = {file: policy for policy, file in spec.joint_aliases.items()}
    trained = is_training_asset(contract, robot)
    if is_stand_in(contract, robot):
        robot = _as_physx_has_it(robot)
    joints = tuple(_joint(joint, contract, called, trained) for joint in robot.joints)
    joints = (_based(joints[0], robot, spec), *joints[1:])
    materials, geoms = _surfaces(contract, robot)
    filtering = robot.collision_filter
    if spec.self_collisions is not None:
        filtering = replace(filtering, self_collision=spec.self_collisions)
    return replace(
        robot,
        links=tuple(_link(link, spec) for link in robot.links),
        joints=joints,
        geoms=geoms,
        contact_materials=materials,
        default_contact_material=_material(contract.sim.material, "task_default"),
        actuators=(),
        mimics=tuple(
            replace(m, follower=called.get(m.follower, m.follower), leader=called.get(m.leader, m.leader))
            for m in robot.mimics
        ),
        keyframes=(),
        collision_filter=filtering,
        scene=replace(
            robot.scene,
            gravity=contract.sim.gravity,
            timestep_s=contract.sim.dt,
            solver=contract.sim.solver,
            position_iterations=position_iterations(contract, robot),
            velocity_iterations=velocity_iterations(contract, robot),
            external_forces_every_iteration=contract.sim.external_forces_every_iteration,
        ),
    )


def _as_physx_has_it(robot: Robot) -> Robot:
    """A robot authored for MuJoCo without MuJoCo's contact and solver numbers: the policy knows PhysX's.

    Where masses are MuJoCo's to compute it stays as it is.
    """
    if robot.dialect != "mujoco" or any(link.inertia is None for link in robot.links):
        return robot
    joints = [
        replace(joint, axes=tuple(replace(axis, mujoco=_only(axis.mujoco, "ref")) for axis in joint.axes))
        for joint in robot.joints
    ]
    geoms = [
        geom if geom.collision is None else replace(geom, collision=replace(geom.collision, mujoco={}))
        for geom in robot.geoms
    ]
    return replace(
        robot,
        dialect="physx",
        joints=tuple(joints),
        geoms=tuple(geoms),
        contact_materials=(),
        collision_filter=replace(robot.collision_filter, parent_rule="physx"),
        scene=replace(robot.scene, mujoco={}),
    )


def _only(values: Mapping[str, object], key: str) -> dict[str, object]:
    return {key: values[key]} if key in values else {}


def _joint(joint: Joint, contract: Contract, called: Mapping[str, str], trained: bool) -> Joint:
    if not joint.axes:
        return joint
    axes = tuple(_axis(axis, called.get(axis.name, axis.name), contract, trained) for axis in joint.axes)
    name = axes[0].name if len(axes) == 1 and joint.name == joint.axes[0].name else joint.name
    return replace(joint, name=name, axes=axes)


def _axis(axis: Axis, name: str, contract: Contract, trained: bool) -> Axis:
    """Gains, limits, armature and friction of the actuator group; the start of the task."""
    if axis.kind is AxisKind.BALL:
        return replace(axis, name=name)
    spec = contract.robot
    start = replace(
        axis,
        name=name,
        initial_position=spec.default_joint_pos.get(name, 0.0),
        initial_velocity=spec.default_joint_vel.get(name, 0.0),
    )
    try:
        group, k = contract.actuator_of(name)
    except KeyError:
        return start
    velocity = group.velocity_limit_sim[k]
    return replace(
        start,
        limits=replace(axis.limits, effort=None, velocity=velocity if math.isfinite(velocity) else None),
        dynamics=replace(
            axis.dynamics,
            armature=group.armature[k],
            static_friction=group.friction[k],
            friction=group.dynamic_friction[k],
            damping=group.viscous_friction[k],
        ),
        drives=(_drive(axis, group, k, contract, trained),),
    )


def _drive(axis: Axis, group: ActuatorGroup, k: int, contract: Contract, trained: bool) -> Drive:
    """Implicit: the engine's drive is the motor. Explicit: nothing but the bound on what the motor model sends.

    Isaac Lab leaves the type of the asset's drive: gains of an acceleration drive act on the effective inertia. Of
    another asset than that of the training the type says nothing: gains are forces.
    """
    own = axis.drives[0] if axis.drives else None
    kind = own.type if own is not None and (trained or group.kind is ActuatorKind.PASSIVE) else DriveType.FORCE
    word = _drive_type(contract.robot.spawn)
    kind = DriveType(word) if word in tuple(DriveType) else kind
    limit = group.effort_limit_sim[k]
    if not group.is_implicit and contract.sim.backend in UNBOUNDED_EXPLICIT:
        limit = math.inf
    return Drive(
        stiffness=group.stiffness[k] if group.is_implicit else 0.0,
        damping=group.damping[k] if group.is_implicit else 0.0,
        max_effort=limit if math.isfinite(limit) else None,
        type=kind,
        source=own.source if own is not None else None,
    )


def _drive_type(spawn: Mapping[str, Any]) -> str:
    props = spawn.get("joint_drive_props")
    return str(props.get("drive_type", "")) if isinstance(props, Mapping) else ""  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _based(root: Joint, robot: Robot, spec: RobotSpec) -> Joint:
    """The base where the task puts it: a floating root link itself, a fixed one with its place in the asset."""
    kind = root.type
    if spec.fix_base is True and kind is JointType.FLOATING:
        kind = JointType.FIXED
    elif spec.fix_base is False and kind is JointType.FIXED:
        kind = JointType.FLOATING
    start = Pose(spec.pos, spec.quat_wxyz)
    moved = start if kind is JointType.FLOATING else start @ root.origin
    return replace(root, type=kind, origin=moved)


def _link(link: Link, spec: RobotSpec) -> Link:
    stated = {
        "linear_damping": spec.linear_damping,
        "angular_damping": spec.angular_damping,
        "max_linear_velocity": spec.max_linear_velocity,
        "max_angular_velocity": spec.max_angular_velocity,
        "max_depenetration_velocity": spec.max_depenetration_velocity,
        "disable_gravity": spec.disable_gravity,
    }
    return replace(link, **{name: value for name, value in stated.items() if value is not None})


def _surfaces(contract: Contract, robot: Robot) -> tuple[tuple[ContactMaterial, ...], tuple[Geom, ...]]:
    """Materials and geoms: the scene's material where a collider has none of its own, friction drawn at startup."""
    drop = is_stand_in(contract, robot)
    materials = {} if drop else {material.name: material for material in robot.contact_materials}
    default = _material(contract.sim.material, "task_default")
    drawn = startup_frictions(contract, [link.name for link in robot.links])
    geoms: list[Geom] = []
    for geom in robot.geoms:
        collision = geom.collision
        if collision is None:
            geoms.append(geom)
            continue
        own = None if drop or collision.material is None else materials.get(collision.material)
        name = None if own is None else own.name
        numbers = drawn.get(geom.link or "")
        if numbers is not None:
            base = own or default
            static, dynamic, restitution = numbers
            name = f"{TASK_MATERIAL}_{base.name}_{static:g}_{dynamic:g}_{restitution:g}"
            materials[name] = replace(
                base, name=name, static_friction=static, dynamic_friction=dynamic, restitution=restitution
            )
        spec = contract.robot
        geoms.append(
            replace(
                geom,
                collision=replace(
                    collision,
                    material=name,
                    contact_offset_m=collision.contact_offset_m if spec.contact_offset is None else spec.contact_offset,
                    rest_offset_m=collision.rest_offset_m if spec.rest_offset is None else spec.rest_offset,
                ),
            )
        )
    return tuple(materials.values()), tuple(geoms)


def _material(spec: MaterialSpec, name: str) -> ContactMaterial:
    return ContactMaterial(
        name=name,
        static_friction=spec.static_friction,
        dynamic_friction=spec.dynamic_friction,
        restitution=spec.restitution,
        friction_combine=CombineMode(spec.friction_combine),
        restitution_combine=CombineMode(spec.restitution_combine),
    )


def position_iterations(contract: Contract, robot: Robot | None = None) -> int:
    """Of the articulation, within the scene's bounds."""
    own = contract.robot.position_iterations
    if own is None and robot is not None:
        own = robot.scene.position_iterations
    own = SimSettings().position_iterations if own is None else own
    return min(max(own, contract.sim.min_position_iterations, 1), contract.sim.max_position_iterations)


def velocity_iterations(contract: Contract, robot: Robot | None = None) -> int:
    """Of the articulation, within the scene's bounds."""
    own = contract.robot.velocity_iterations
    if own is None and robot is not None:
        own = robot.scene.velocity_iterations
    own = SimSettings().velocity_iterations if own is None else own
    return min(max(own, contract.sim.min_velocity_iterations), contract.sim.max_velocity_iterations)


def sim_settings_of(contract: Contract, robot: Robot | None = None) -> SimSettings:
    """What both engines run with. Terrain of any kind is a plane here: rough terrain is made at run time."""
    sim = contract.sim
    ground = None
    if sim.terrain.kind != "none":
        ground = Ground(height_m=sim.terrain.height, material=_material(sim.terrain.material, "terrain"))
    values: dict[str, Any] = {
        "timestep_s": sim.dt,
        "decimation": sim.decimation,
        "gravity": sim.gravity,
        "solver": sim.solver,
        "position_iterations": position_iterations(contract, robot),
        "velocity_iterations": velocity_iterations(contract, robot),
        "external_forces_every_iteration": sim.external_forces_every_iteration,
        "bounce_threshold_mps": sim.bounce_threshold,
        "friction_offset_threshold_m": sim.friction_offset_threshold,
        "friction_correlation_distance_m": sim.friction_correlation_distance,
        "ground": ground,
        "efforts_bounded": sim.backend not in UNBOUNDED_EXPLICIT,
    }
    return SimSettings(**values, provenance=dict.fromkeys(values, f"contract {contract.name}"))
