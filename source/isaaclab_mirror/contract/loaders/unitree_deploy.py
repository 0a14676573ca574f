"""`deploy.yaml` of unitree_rl_lab: what its exporter writes beside a policy trained in Isaac Lab 2.

Three orders meet in it. The policy's arrays (`default_joint_pos`, scales, offsets, observations) are in the order of
Isaac Lab's articulation; `stiffness` and `damping` in that of the motors in Unitree's SDK; `joint_ids_map[i]` is the
motor of Isaac Lab's joint i. Motors are numbered depth first, as the joints of Unitree's own URDF and MJCF files are.
No joint is named, so that a robot file is needed. Numbers are rounded to three digits by the exporter.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from isaaclab_mirror.contract.contract import (
    ActionTerm,
    ActuatorKind,
    Contract,
    ObservationGroup,
    ObservationTerm,
    Order,
    OrderSource,
    RobotSpec,
    SourceInfo,
    SourceKind,
)
from isaaclab_mirror.contract.loaders.isaaclab_terms import bounds, number_or_several
from isaaclab_mirror.contract.loaders.plain import (
    COMMAND,
    GAIT,
    NOT_STATED,
    joint_positions,
    legged_sim,
    observation,
    pd_group,
    time_out,
    velocity_command,
)
from isaaclab_mirror.contract.node import Node
from isaaclab_mirror.contract.places import place
from isaaclab_mirror.diagnostics import Diagnostics

DT = 0.005
"""Every task of unitree_rl_lab steps its physics so; the file has only the policy's step."""
ARMATURE = 0.01
"""Of every joint in unitree_rl_lab's robot configs; the file does not have it."""
FUNCTIONS = {
    "velocity_commands": "generated_commands",
    "joint_pos": "joint_pos_rel",
    "joint_vel": "joint_vel_rel",
    "gait_phase": GAIT,
}
"""Terms that are called otherwise than their function."""


def is_deploy(data: Mapping[str, Any]) -> bool:
    """Whether a YAML document is a deploy.yaml."""
    return "joint_ids_map" in data and "step_dt" in data


def load_deploy(file: Path, data: Mapping[str, Any]) -> Contract:
    """The contract of a deploy.yaml, joints numbered."""
    found = Diagnostics()
    top = Node(data, file)
    motors = _motors(top)
    places, count = _ranks(motors), len(motors)
    names = tuple(place(k) for k in range(count))
    step = top.number("step_dt")
    decimation = round(step / DT)
    if decimation < 1 or abs(decimation * DT - step) > 1e-6:
        raise top.wrong("step_dt", f"a multiple of the physics step {DT} s of unitree_rl_lab")
    found.info(
        "E110",
        top.where(),
        f"the file has neither physics step, motor model, armature nor effort limits: dt {DT} s, implicit drives and "
        f"armature {ARMATURE} as unitree_rl_lab's tasks have them, limits of the robot's file",
        "change them in a contract.toml if the training had others",
    )
    return Contract(
        name=file.parent.name if file.parent.name != "params" else file.parent.parent.name,
        source=SourceInfo(kind=SourceKind.UNITREE_DEPLOY, files=(file,), framework="isaaclab", version="2.x"),
        sim=legged_sim(DT, decimation, "isaacsim"),
        robot=RobotSpec(
            joint_places=places,
            joint_pos_patterns=dict(zip(names, top.numbers("default_joint_pos", count), strict=True)),
        ),
        joints=Order(source=OrderSource.RECORDING, note=f"{file.name}: joint_ids_map"),
        actuators=(
            pd_group(
                ActuatorKind.IMPLICIT,
                names,
                stiffness=_by_motor(top, "stiffness", motors),
                damping=_by_motor(top, "damping", motors),
                armature=ARMATURE,
            ),
        ),
        observations=(_observations(top.need("observations"), count),),
        actions=tuple(_action(name, node, names) for name, node in top.need("actions").children()),
        commands=tuple(_command(name, node) for name, node in top.child("commands").children()),
        terminations=(time_out(),),
        provenance={
            "sim.dt": f"{NOT_STATED}{DT} s as in unitree_rl_lab's tasks",
            "sim.decimation": f"{file.name}:step_dt",
            "sim.material": f"{NOT_STATED}friction 1, multiplied",
            "robot.default_joint_pos": f"{file.name}:default_joint_pos",
            "actuators.joints.stiffness": f"{file.name}:stiffness",
            "actuators.joints.damping": f"{file.name}:damping",
            "actuators.joints.armature": f"{NOT_STATED}{ARMATURE} as in unitree_rl_lab's robots",
            "observations": f"{file.name}:observations",
            "actions": f"{file.name}:actions",
            "commands": f"{file.name}:commands",
        },
        diagnostics=tuple(found),
    )


def _motors(top: Node) -> tuple[int, ...]:
    """The motor of each of the policy's joints. A robot without some of the family's joints leaves numbers out."""
    numbers = top.numbers("joint_ids_map")
    motors = tuple(int(n) for n in numbers)
    if not motors or any(m != n or m < 0 for m, n in zip(motors, numbers, strict=True)):
        raise top.wrong("joint_ids_map", "each motor's number once")
    if len(set(motors)) != len(motors):
        raise top.wrong("joint_ids_map", "each motor's number once")
    return motors


def _by_motor(top: Node, key: str, motors: tuple[int, ...]) -> tuple[float, ...]:
    """An array in the motors' order, in the policy's: one number per motor of the family, or of this robot alone."""
    values = top.numbers(key)
    if len(values) > max(motors):
        return tuple(values[motor] for motor in motors)
    if len(values) == len(motors):
        return tuple(values[place] for place in _ranks(motors))
    raise top.wrong(key, f"{len(motors)} finite numbers, one per motor")


def _ranks(motors: tuple[int, ...]) -> tuple[int, ...]:
    """Each motor's place among those that this robot has."""
    order = sorted(motors)
    return tuple(order.index(motor) for motor in motors)


def _observations(node: Node, count: int) -> ObservationGroup:
    return ObservationGroup(name="policy", terms=tuple(_observation(key, term, count) for key, term in node.children()))


def _observation(name: str, node: Node, count: int) -> ObservationTerm:
    func = FUNCTIONS.get(name, name)
    params = dict(node.child("params").data)
    if func == "generated_commands":
        params.setdefault("command_name", COMMAND)
    scale = number_or_several(node, "scale")
    size = len(scale) if len(scale) > 1 else (count if func in ("joint_pos_rel", "joint_vel_rel", "last_action") else 3)
    history = node.whole("history_length", 0)
    return observation(
        name,
        func,
        size,
        scale=() if all(s == 1.0 for s in scale) else scale,
        params=params,
        history=history if history > 1 else 0,
        clip=bounds(node, "clip"),
    )


def _action(name: str, node: Node, names: tuple[str, ...]) -> ActionTerm:
    """One number per joint; `joint_ids` says which where it is not all."""
    ids = node.raw("joint_ids")
    joints = names if ids is None else tuple(names[int(k)] for k in node.numbers("joint_ids"))
    if name != "JointPositionAction":
        raise node.error("", f"the action {name!r} is not read from deploy.yaml", "write a contract.toml")
    count = len(joints)
    clip = node.raw("clip")
    pairs = [_pair(node, pair) for pair in cast(tuple[Any, ...], clip)] if isinstance(clip, tuple) and clip else None
    if pairs is not None and len(pairs) != count:
        raise node.wrong("clip", f"{count} pairs of numbers, one per joint")
    return joint_positions(
        joints,
        scale=_per_joint(node, "scale", count, 1.0),
        offset=_per_joint(node, "offset", count, 0.0),
        clip=pairs,
        name=name,
    )


def _per_joint(node: Node, key: str, count: int, default: float) -> tuple[float, ...]:
    """One number each, or one for all."""
    values = number_or_several(node, key) or (default,)
    if len(values) not in (1, count):
        raise node.wrong(key, f"{count} finite numbers, one per joint")
    return values if len(values) == count else values * count


def _pair(node: Node, value: Any) -> tuple[float, float]:
    pair = bounds(Node({"clip": value}, node.file, node.path), "clip")
    if pair is None:
        raise node.wrong("clip", "two numbers per joint")
    return pair


def _command(name: str, node: Node) -> Any:
    ranges = node.child("ranges")
    zero = (0.0, 0.0)
    x, y, z = (bounds(ranges, key) or zero for key in ("lin_vel_x", "lin_vel_y", "ang_vel_z"))
    return velocity_command(x, y, z, name)
