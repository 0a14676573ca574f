"""IO descriptors of Isaac Lab 2.2 to 3.0: the articulation's joints, observations and actions as they ran.

Beside an env.yaml they add what it lacks, the order of the joints. Alone they make a contract whose motors, commands
and start are not stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
from isaaclab_mirror.contract.loaders.plain import COMMAND, legged_sim, pd_group, time_out, velocity_command
from isaaclab_mirror.contract.node import Node
from isaaclab_mirror.contract.safe_yaml import load_yaml
from isaaclab_mirror.diagnostics import Diagnostics

RANGE = (-1.0, 1.0)


def is_descriptor(data: Mapping[str, Any]) -> bool:
    """Whether a YAML document is an IO descriptor."""
    return isinstance(data.get("articulations"), Mapping) and "actions" in data and "observations" in data


def with_descriptor(contract: Contract, file: Path) -> Contract:
    """The contract with the joint order that the descriptor recorded."""
    top = Node(load_yaml(file), file)
    names = _robot(top, contract.robot.name).names("joint_names")
    if not names:
        return contract
    note = f"{file.name}: articulations.{contract.robot.name}.joint_names"
    return replace(
        contract,
        joints=Order(names=names, source=OrderSource.RECORDING, note=note),
        source=replace(contract.source, files=(*contract.source.files, file)),
    )


def load_descriptor(file: Path, data: Mapping[str, Any]) -> Contract:
    """The contract of a descriptor alone."""
    found = Diagnostics()
    top = Node(data, file)
    scene = top.need("scene")
    robot = _robot(top, "robot")
    names = robot.names("joint_names")
    if not names:
        raise robot.wrong("joint_names", "a list of joint names")
    count = len(names)
    found.warn(
        "E110",
        top.where(),
        "IO descriptors have no motor model, commands, ground or start: implicit drives, velocity commands within ±1, "
        "a plane and the robot file's own place are taken",
        "give the run folder with params/env.yaml instead",
    )
    dt = scene.number("physics_dt")
    backend = "isaacsim"
    return Contract(
        name=file.parent.parent.name if file.parent.name == "io_descriptors" else file.parent.name,
        source=SourceInfo(kind=SourceKind.IO_DESCRIPTOR, files=(file,)),
        sim=legged_sim(dt, scene.whole("decimation", least=1), backend),
        robot=RobotSpec(
            joint_pos_patterns=dict(zip(names, robot.numbers("default_joint_pos", count), strict=True)),
        ),
        joints=Order(names=names, source=OrderSource.RECORDING, note=f"{file.name}: {robot.path}.joint_names"),
        actuators=(
            pd_group(
                ActuatorKind.IMPLICIT,
                names,
                stiffness=robot.numbers("default_joint_stiffness", count),
                damping=robot.numbers("default_joint_damping", count),
            ),
        ),
        observations=tuple(_groups(top, names)),
        actions=tuple(_action(k, node, names) for k, node in enumerate(_items(top, "actions"))),
        commands=(velocity_command(RANGE, RANGE, RANGE),),
        terminations=(time_out(),),
        provenance={
            "sim.dt": f"{file.name}:scene.physics_dt",
            "sim.decimation": f"{file.name}:scene.decimation",
            "robot.default_joint_pos": f"{file.name}:{robot.path}.default_joint_pos",
            "actuators.joints.stiffness": f"{file.name}:{robot.path}.default_joint_stiffness",
            "actuators.joints.damping": f"{file.name}:{robot.path}.default_joint_damping",
            "observations": f"{file.name}:observations",
            "actions": f"{file.name}:actions",
        },
        diagnostics=tuple(found),
    )


def _robot(top: Node, name: str) -> Node:
    robots = top.need("articulations")
    if name in robots.data or not robots.data:
        return robots.need(name)
    return robots.need(next(iter(robots.data)))


def _items(node: Node, key: str) -> list[Node]:
    value = node.raw(key)
    if not isinstance(value, tuple) or not all(isinstance(item, Mapping) for item in cast(tuple[Any, ...], value)):
        raise node.wrong(key, "a list of mappings")
    items = cast(tuple[Mapping[str, Any], ...], value)
    return [Node(item, node.file, f"{node.path}.{key}[{k}]".lstrip(".")) for k, item in enumerate(items)]


def _groups(top: Node, names: tuple[str, ...]) -> list[ObservationGroup]:
    groups = top.need("observations")
    return [
        ObservationGroup(name=key, terms=tuple(_observation(item, names) for item in _items(groups, key)))
        for key in groups.data
    ]


def _observation(node: Node, names: tuple[str, ...]) -> ObservationTerm:
    """Joints of a term that are not all of the robot's become its asset_cfg."""
    module, _, func = node.text("full_path").rpartition(".")
    overloads = node.child("overloads")
    joints = node.names("joint_names")
    params: dict[str, Any] = {}
    if joints and joints != names:
        params["asset_cfg"] = {"name": "robot", "joint_names": joints, "body_names": None, "preserve_order": True}
    if func == "generated_commands":
        params["command_name"] = COMMAND
    shape = node.numbers("shape") if node.raw("shape") else ()
    return ObservationTerm(
        name=node.text("name", func),
        func=f"{module}:{func}",
        params=params,
        scale=number_or_several(overloads, "scale"),
        clip=bounds(overloads, "clip"),
        delay_min_lag=overloads.whole("delay_min_lag", 0),
        delay_max_lag=overloads.whole("delay_max_lag", 0),
        delay_hold_prob=overloads.number("delay_hold_prob", 1.0),
        history_length=overloads.whole("history_length", 0),
        flatten_history=overloads.flag("flatten_history_dim", True),
        size=int(shape[0]) if len(shape) == 1 else None,
    )


def _action(k: int, node: Node, names: tuple[str, ...]) -> ActionTerm:
    """Joints in the descriptor's order; offsets are numbers, so that none is taken from the default pose."""
    module, _, kind = node.text("full_path").rpartition(".")
    joints = node.names("joint_names") or names
    params = {key: node.raw(key) for key in ("scale", "offset", "clip")}
    return ActionTerm(
        name=node.text("name", f"action{k}"),
        kind=kind,
        class_type=f"{module}:{kind}",
        joint_patterns=joints,
        preserve_order=True,
        params={"joint_names": joints, **params},
    )
