"""LEAPP bundles (Isaac Lab 3): a graph with observations, network and actions inside, fed with raw robot data.

The graph's inputs are properties of the articulation (`state:robot:joint_pos`) and commands, its outputs calls of the
articulation's setters (`write:robot:set_joint_position_target_index`). So there is no observation to compute and no
action to scale: the contract says rates, joints in their order, and what goes in and out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any, cast

from isaaclab_mirror.contract.contract import (
    ActionTerm,
    ActuatorGroup,
    ActuatorKind,
    Contract,
    ObservationGroup,
    ObservationTerm,
    Order,
    OrderSource,
    PolicyKind,
    PolicySpec,
    SourceInfo,
    SourceKind,
)
from isaaclab_mirror.contract.loaders.plain import NOT_STATED, legged_sim, time_out, velocity_command
from isaaclab_mirror.contract.node import Node
from isaaclab_mirror.diagnostics import Diagnostics

DT = 0.005
DECIMATION = 4
RANGE = (-1.0, 1.0)


def is_leapp(data: Mapping[str, Any]) -> bool:
    """Whether a YAML document describes a LEAPP graph."""
    return isinstance(data.get("models"), Mapping) and isinstance(data.get("pipeline"), Mapping)


def load_leapp(file: Path, data: Mapping[str, Any]) -> Contract:
    """The contract of a LEAPP bundle."""
    found = Diagnostics()
    top = Node(data, file)
    _check_models(top)
    frequency = top.need("pipeline").child("configs").number("frequency")
    if frequency <= 0.0:
        raise top.need("pipeline").child("configs").wrong("frequency", "a positive number of Hz")
    dt, decimation = _rates(1.0 / frequency)
    inputs, outputs = list(_tensors(top, "inputs")), list(_tensors(top, "outputs"))
    joints = max((_names(node) for node, kind in inputs if kind.startswith("state:")), key=len, default=())
    found.warn(
        "E110",
        top.where(),
        "a LEAPP graph has no physics step, motors, ground or start: "
        f"{dt:g} s × {decimation}, the robot file's own drives and place, and a plane are taken",
        "give the run folder with params/env.yaml instead",
    )
    robot = next((kind.split(":")[1] for _, kind in inputs if kind.startswith("state:")), "robot")
    terms = tuple(_observation(node, kind) for node, kind in inputs if kind)
    return Contract(
        name=file.parent.name,
        source=SourceInfo(kind=SourceKind.LEAPP, files=(file,), version="3.x"),
        sim=legged_sim(dt, decimation, "isaacsim"),
        joints=Order(
            names=joints,
            source=OrderSource.RECORDING if joints else OrderSource.UNKNOWN,
            note=f"{file.name}: element_names",
        ),
        quat_order="xyzw",
        actuators=(
            ActuatorGroup(
                name="joints",
                kind=ActuatorKind.IMPLICIT,
                joint_patterns=joints or (".*",),
                config={"joint_names_expr": joints or (".*",)},
            ),
        ),
        observations=(ObservationGroup(name="policy", terms=terms, concatenate=False),),
        actions=tuple(_action(node, kind, robot) for node, kind in outputs if kind.startswith("write:")),
        commands=tuple(
            velocity_command(RANGE, RANGE, RANGE, kind.split(":")[1])
            for _, kind in inputs
            if kind.startswith("command:")
        ),
        terminations=(time_out(),),
        policy=PolicySpec(file=file, kind=PolicyKind.LEAPP),
        provenance={
            "sim.dt": f"{NOT_STATED}{dt:g} s",
            "sim.decimation": f"{file.name}:pipeline.configs.frequency",
            "sim.material": f"{NOT_STATED}friction 1, multiplied",
            "observations": f"{file.name}:models, inputs",
            "actions": f"{file.name}:models, outputs",
        },
        diagnostics=tuple(found),
    )


def _rates(step: float) -> tuple[float, int]:
    """The usual physics step where the policy's is a multiple of it, else a quarter of the policy's."""
    decimation = round(step / DT)
    if decimation >= 1 and abs(decimation * DT - step) < 1e-6:
        return DT, decimation
    return step / DECIMATION, DECIMATION


def _check_models(top: Node) -> None:
    """Model files stand below the bundle's folder."""
    for _, model in top.need("models").children():
        path = model.child("parameters").text("model_path", "")
        if Path(path).is_absolute() or ".." in Path(path).parts:
            raise model.child("parameters").error("model_path", f"{path!r} leaves the bundle's folder")


def _tensors(top: Node, key: str) -> Iterator[tuple[Node, str]]:
    """Every tensor with its connection to Isaac Lab; empty for what the graph feeds back to itself."""
    for name, model in top.need("models").children():
        items = model.raw(key)
        if not isinstance(items, tuple):
            raise model.wrong(key, "a list of tensors")
        for k, item in enumerate(cast(tuple[Any, ...], items)):
            if not isinstance(item, Mapping):
                raise model.wrong(key, "a list of tensors")
            node = Node(cast(Mapping[str, Any], item), top.file, f"models.{name}.{key}[{k}]")
            yield node, node.name_of("isaaclab_connection")


def _names(node: Node) -> tuple[str, ...]:
    """The names along the tensor's last named axis."""
    value = node.raw("element_names")
    if not isinstance(value, tuple) or not value:
        return ()
    axes = cast(tuple[Any, ...], value)
    last = axes if isinstance(axes[0], str) else axes[-1]
    return tuple(str(name) for name in cast(tuple[Any, ...], last)) if isinstance(last, tuple) else ()


def _size(node: Node) -> int | None:
    """Values of one environment."""
    shape = node.raw("shape")
    if not isinstance(shape, tuple):
        return None
    sizes = [item for item in cast(tuple[Any, ...], shape) if isinstance(item, int)]
    return prod(sizes[1:]) if len(sizes) > 1 else None


def _observation(node: Node, kind: str) -> ObservationTerm:
    return ObservationTerm(name=node.text("name"), func=f"leapp:{kind}", size=_size(node))


def _action(node: Node, kind: str, robot: str) -> ActionTerm:
    names = _names(node)
    return ActionTerm(
        name=node.text("name"),
        kind=kind.split(":")[-1],
        class_type=f"leapp:{kind}",
        asset="robot" if kind.split(":")[1] == robot else kind.split(":")[1],
        joint_patterns=names,
        preserve_order=True,
        size=_size(node),
        params={"joint_names": names},
    )
