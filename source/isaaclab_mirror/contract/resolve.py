"""Patterns to joints, nulls to numbers: what a contract says once the robot is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from isaaclab_mirror.contract.actions import resolve_action
from isaaclab_mirror.contract.actuators import (
    PASSIVE_NAME,
    Asset,
    GroupResolver,
    JointNumbers,
    check_groups,
    joint_numbers,
    passive_group,
)
from isaaclab_mirror.contract.contract import Contract, Order, OrderSource, RobotSpec, SourceKind
from isaaclab_mirror.contract.matching import match_values
from isaaclab_mirror.contract.naming import aliases_of_names, aliases_of_patterns, policy_names
from isaaclab_mirror.contract.orders import Orders, convention_orders, depth_first_orders, physx_orders
from isaaclab_mirror.contract.places import name_places
from isaaclab_mirror.contract.stance import standing_height
from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.robot.joints import JointType
from isaaclab_mirror.robot.model import Robot

CONVENTIONS = ("physx", "mjwarp", "mujoco", "robot_schema")
DEPTH_FIRST = ("newton", "isaacgym", "mujoco")
"""Backends that number joints depth first."""
OWN_DYNAMICS = (SourceKind.UNITREE_RL_GYM, SourceKind.ONNX_METADATA)
"""Sources that name an MJCF as the robot to run on, so that its joint friction and damping are meant."""


def resolve_contract(contract: Contract, robot: Robot) -> Contract:
    """The contract with joints, orders and every per-joint number for this robot; names are the policy's.

    Where the robot's file calls joints differently, `RobotSpec.joint_aliases` says so, and
    `isaaclab_mirror.contract.robot_edit.robot_of` gives the robot with the policy's names.
    """
    found = Diagnostics()
    file_joints = depth_first_orders(robot).joints
    contract = name_places(contract, robot, found)
    where = _where(contract)
    aliases = _aliases(contract, file_joints, found)
    numbers = joint_numbers(robot)
    called = {file: policy for policy, file in aliases.items()}
    joints, bodies = _orders(contract, robot, called, found)
    own = {called.get(name, name): value for name, value in numbers.items()}
    missing = [name for name in own if name not in joints.names]
    listed = (*joints.names, *missing)
    asset = Asset(
        joints={name: own[name] for name in listed},
        name=_asset_name(robot),
        passive=not is_stand_in(contract, robot),
    )
    _say_stand_in(contract, robot, asset, numbers, found)
    native = contract.sim.use_newton_actuators and contract.source.version == "3.x"
    resolvers = [
        GroupResolver(group, asset, contract.source.version, f"{where}:{_at(contract)}", native)
        for group in contract.actuators
        if group.name != PASSIVE_NAME
    ]
    groups = tuple(resolver.resolve() for resolver in resolvers)
    check_groups(groups, contract.source.version, where, found)
    passive = passive_group(asset, {joint for group in groups for joint in group.joints})
    provenance = dict(contract.provenance)
    for group, resolver in zip(groups, resolvers, strict=True):
        said = {f"actuators.{group.name}.{key}": who for key, who in resolver.provenance.items()}
        provenance = said | provenance  # a loader that reads other keys than Isaac Lab's says its own
    if passive is not None:
        provenance[f"actuators.{passive.name}"] = asset.name
        groups = (*groups, passive)
    provenance |= {"joints": joints.note, "bodies": bodies.note, "robot.joint_limits": asset.name}
    spec = contract.robot
    default_pos = match_values(spec.joint_pos_patterns, listed, f"{where}:{_at(contract)}.init_state.joint_pos")
    default_vel = match_values(spec.joint_vel_patterns, listed, f"{where}:{_at(contract)}.init_state.joint_vel")
    spec = replace(
        spec,
        joint_aliases={policy: file for policy, file in aliases.items() if policy in own},
        joint_limits={name: (asset.joints[name].lower, asset.joints[name].upper) for name in listed},
        default_joint_pos={name: default_pos.get(name, 0.0) for name in listed},
        default_joint_vel={name: default_vel.get(name, 0.0) for name in listed},
    )
    if "robot.pos" not in provenance:
        spec, provenance["robot.pos"] = _own_start(spec, robot, asset.name, contract.sim.terrain.height)
    _check_defaults(spec.default_joint_pos, asset.joints, where, found)
    actions = tuple(resolve_action(term, contract, spec, joints.names, where) for term in contract.actions)
    return replace(
        contract,
        robot=spec,
        joints=joints,
        bodies=bodies,
        actuators=groups,
        actions=actions,
        provenance=provenance,
        diagnostics=(*contract.diagnostics, *(d for d in found if d not in contract.diagnostics)),
    )


def _own_start(spec: RobotSpec, robot: Robot, file: str, ground: float) -> tuple[RobotSpec, str]:
    """Where the robot's file has it; raised where that is inside the ground."""
    origin = robot.joints[0].origin
    x, y, z = origin.pos
    found, who = replace(spec, pos=origin.pos, quat_wxyz=origin.quat_wxyz), file
    known = {spec.joint_aliases.get(name, name): value for name, value in spec.default_joint_pos.items()}
    height = standing_height(robot, known) if robot.joints[0].type is JointType.FLOATING else None
    if height is not None and height + ground > z:
        found, who = replace(found, pos=(x, y, height + ground)), f"{file}: standing on the ground in the default pose"
    return found, who


def rename_joints(contract: Contract, robot: Robot) -> Contract:
    """A resolved contract for another file of its robot: numbers stay, only what the file calls its joints is new."""
    found = Diagnostics()
    names = depth_first_orders(robot).joints
    aliases = aliases_of_names(contract.joint_names, names, f"{_where(contract)}: joint order", found)
    return replace(
        contract,
        robot=replace(contract.robot, joint_aliases=aliases),
        diagnostics=(*contract.diagnostics, *(d for d in found if d not in contract.diagnostics)),
    )


def _where(contract: Contract) -> str:
    return contract.source.files[0].name if contract.source.files else contract.name


def _at(contract: Contract) -> str:
    """Key below which the robot stands in the source."""
    isaac = contract.source.kind in (SourceKind.ISAACLAB_RUN, SourceKind.ISAACLAB_ENV)
    return f"scene.{contract.robot.name}" if isaac else "robot"


def _asset_name(robot: Robot) -> str:
    return robot.source.file.name if robot.source is not None else robot.name


def _aliases(contract: Contract, file_joints: tuple[str, ...], found: Diagnostics) -> dict[str, str]:
    """Policy name → file name where they differ."""
    where = _where(contract)
    if contract.robot.joint_aliases:
        known = set(file_joints)
        return {policy: file for policy, file in contract.robot.joint_aliases.items() if file in known}
    stated = contract.joints.names
    if stated:
        return aliases_of_names(stated, file_joints, f"{where}: joint order", found)
    ordering = contract.robot.joint_ordering
    if ordering and ordering[0] not in CONVENTIONS:
        return aliases_of_names(ordering, file_joints, f"{where}: joint_ordering", found)
    patterns = [pattern for group in contract.actuators for pattern in group.joint_patterns]
    patterns += list(contract.robot.joint_pos_patterns)
    patterns += [pattern for term in contract.actions for pattern in term.joint_patterns]
    return aliases_of_patterns(patterns, file_joints, where, found)


def _orders(contract: Contract, robot: Robot, called: Mapping[str, str], found: Diagnostics) -> tuple[Order, Order]:
    """Joints and bodies in the policy's order: as written down, as configured, by the engine's rule, or guessed."""
    joints = _order(contract, robot, called, found, contract.joints, contract.robot.joint_ordering, 0)
    bodies = _order(contract, robot, {}, found, contract.bodies, contract.robot.body_ordering, 1)
    return joints, bodies


def _order(
    contract: Contract,
    robot: Robot,
    called: Mapping[str, str],
    found: Diagnostics,
    stated: Order,
    ordering: tuple[str, ...],
    which: int,
) -> Order:
    what, where = ("joint", "body")[which], _where(contract)
    if stated.names:
        return stated
    known = depth_first_orders(robot)[which]
    if ordering and ordering[0] not in CONVENTIONS:
        names = tuple(ordering)
        lost = [name for name in names if name not in policy_names(known, _inverse(called))]
        if lost:
            raise InputError("E101", f"{where}: {what}_ordering", f"the robot has no {what} {lost[0]!r}")
        return Order(names=names, source=OrderSource.CONFIG, note=f"{where}: {what}_ordering")
    if ordering:
        orders = convention_orders(robot, ordering[0], f"{where}: {what}_ordering")
        note = f"{where}: {what}_ordering = {ordering[0]}"
        return Order(names=_called(orders[which], called), source=OrderSource.CONFIG, note=note)
    depth_first = contract.sim.backend in DEPTH_FIRST
    merge = bool(contract.robot.spawn.get("merge_fixed_joints"))
    orders: Orders = depth_first_orders(robot) if depth_first else physx_orders(robot, merge_fixed=merge)
    names = _called(orders[which], called)
    rule = "depth first" if depth_first else "PhysX: breadth first, children by joint path"
    trained = is_training_asset(contract, robot)
    if trained and not depth_first:
        return Order(names=names, source=OrderSource.PHYSX_RULE, note=f"{rule}, on {_asset_name(robot)}")
    if which == 0:
        other = "" if trained else ", which is not the training asset"
        found.warn(
            "E105",
            f"{where}: joint order",
            f"the {what} order is not written down: {rule}, on {_asset_name(robot)}{other}",
            "export IO descriptors, set joint_ordering, or give the training USD with --robot",
        )
    return Order(names=names, source=OrderSource.GUESS, note=f"{rule}, on {_asset_name(robot)}")


def _called(names: tuple[str, ...], called: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(called.get(name, name) for name in names)


def _inverse(mapping: Mapping[str, str]) -> dict[str, str]:
    return {value: key for key, value in mapping.items()}


def is_stand_in(contract: Contract, robot: Robot) -> bool:
    """A robot authored for MuJoCo (MJCF, or a USD made of one) in place of the USD of the training.

    Its joint friction, damping and materials are MuJoCo modelling.
    """
    usd = robot.source is not None and robot.source.file.suffix.lower().startswith(".usd")
    if contract.source.kind in OWN_DYNAMICS or (usd and is_training_asset(contract, robot)):
        return False
    return not usd or robot.dialect == "mujoco"


def is_training_asset(contract: Contract, robot: Robot) -> bool:
    """A USD, or the URDF that was imported, with the config's name: PhysX's rule on it is the order of the training."""
    if robot.source is None or not robot.source.file.suffix.lower().startswith((".usd", ".urdf")):
        return False
    reference = contract.robot.reference.replace("\\", "/").rpartition("/")[2]
    return robot.source.file.stem == reference.rpartition(".")[0] or robot.source.file.name == reference


def _say_stand_in(
    contract: Contract, robot: Robot, asset: Asset, numbers: Mapping[str, JointNumbers], found: Diagnostics
) -> None:
    if asset.passive or not any(
        n.static_friction or n.dynamic_friction or n.viscous_friction for n in numbers.values()
    ):
        return
    found.info(
        "E108",
        _asset_name(robot),
        "its joint friction and damping are MuJoCo modelling: left out, as the policy was trained on another asset",
        "state them in a contract.toml if the training had them",
    )


def _check_defaults(
    defaults: Mapping[str, float], joints: Mapping[str, JointNumbers], where: str, found: Diagnostics
) -> None:
    for name, value in defaults.items():
        low, high = joints[name].lower, joints[name].upper
        if not low - 1e-6 <= value <= high + 1e-6:
            found.warn(
                "E109",
                f"{where}: {name}",
                f"the default position {value:g} is outside the file's limits {low:g} … {high:g}",
                "Isaac Lab refuses such a start: is it the robot of the training?",
            )
