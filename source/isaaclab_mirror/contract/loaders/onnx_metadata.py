"""ONNX files that say what they expect in their metadata, as mjlab's and BeyondMimic's exporters write it.

Lists are comma-separated text, rounded to three digits by the exporters. There is no time step, no scale of an
observation and no command range: those are Isaac Lab's usual ones, and said. BeyondMimic numbers joints as Isaac Lab's
articulation does, mjlab as MuJoCo does; the names in the file are in that order, so that it does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from isaaclab_mirror.contract.contract import (
    ActuatorKind,
    Contract,
    ObservationGroup,
    ObservationTerm,
    Order,
    OrderSource,
    PolicyKind,
    PolicySpec,
    RobotSpec,
    SourceInfo,
    SourceKind,
)
from isaaclab_mirror.contract.loaders.plain import (
    COMMAND,
    NOT_STATED,
    OBSERVATIONS,
    joint_positions,
    legged_sim,
    pd_group,
    time_out,
    velocity_command,
)
from isaaclab_mirror.contract.node import Node, as_number
from isaaclab_mirror.diagnostics import Diagnostics, InputError

NEEDED = ("joint_names", "joint_stiffness", "joint_damping", "default_joint_pos", "observation_names", "action_scale")
DT, DECIMATION = 0.005, 4
METADATA_FIELD, STRING = 14, 2
"""ModelProto.metadata_props; wire type of length-delimited fields."""
FUNCTIONS = {
    "joint_pos": "joint_pos_rel",
    "joint_vel": "joint_vel_rel",
    "actions": "last_action",
    "command": "generated_commands",
    "velocity_commands": "generated_commands",
    "imu_ang_vel": "base_ang_vel",
    "imu_lin_vel": "base_lin_vel",
}
"""Observation terms that are called otherwise than Isaac Lab's function."""
RANGE = (-1.0, 1.0)


def read_metadata(file: Path) -> dict[str, str]:
    """The custom metadata of an ONNX file, without loading its graph."""
    try:
        data = memoryview(file.read_bytes())
    except OSError as error:
        raise InputError("E107", file, f"it cannot be read: {error.strerror}", "check the path") from None
    try:
        entries = [dict(_fields(value)) for field, value in _fields(data) if field == METADATA_FIELD]
        return {bytes(entry[1]).decode(): bytes(entry.get(2, b"")).decode() for entry in entries if 1 in entry}
    except (ValueError, IndexError):
        raise InputError("E107", file, "it is no ONNX file", "was it copied as a whole?") from None


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The length-delimited fields of a protobuf message; the others are skipped."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == STRING:
            size, at = _varint(data, at)
            if at + size > len(data):
                raise ValueError("cut")
            yield key >> 3, data[at : at + size]
            at += size
        elif kind == 0:
            _, at = _varint(data, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError(f"wire type {kind}")


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("number too long")


def is_self_describing(metadata: Mapping[str, str]) -> bool:
    """Whether the metadata say what the policy expects."""
    return all(key in metadata for key in NEEDED)


def load_onnx_metadata(file: Path, metadata: Mapping[str, str]) -> Contract:
    """The contract of such a file."""
    found = Diagnostics()
    data: dict[str, Any] = {key: _parsed(value) for key, value in metadata.items()}
    top = Node(data, file)
    missing = [key for key in NEEDED if key not in metadata]
    if missing:
        raise InputError(
            "E104",
            f"{file.name}: metadata",
            f"the key {missing[0]} is missing: the file does not say what the policy expects",
            "give the folder with the policy's config (env.yaml, deploy.yaml, …)",
        )
    commands = _commands(data)
    names = _names(data["joint_names"])
    count = len(names)
    scale = top.numbers("action_scale")
    found.warn(
        "E110",
        f"{file.name}: metadata",
        f"it has no time step, observation scale or command range: {DT} s × {DECIMATION}, none and ±1 are taken",
        "write a contract.toml with the training's if they differ",
    )
    terms = tuple(_observation(name, count, commands) for name in _names(data["observation_names"]))
    return Contract(
        name=file.stem,
        source=SourceInfo(
            kind=SourceKind.ONNX_METADATA, files=(file,), version="2.x", task=metadata.get("run_path", "")
        ),
        sim=legged_sim(DT, DECIMATION, "isaacsim"),
        robot=RobotSpec(joint_pos_patterns=dict(zip(names, top.numbers("default_joint_pos", count), strict=True))),
        joints=Order(names=names, source=OrderSource.RECORDING, note=f"{file.name}: metadata joint_names"),
        actuators=(
            pd_group(
                ActuatorKind.IMPLICIT,
                names,
                stiffness=top.numbers("joint_stiffness", count),
                damping=top.numbers("joint_damping", count),
            ),
        ),
        observations=(ObservationGroup(name="policy", terms=terms),),
        actions=(
            joint_positions(names, scale=scale * count if len(scale) == 1 else top.numbers("action_scale", count)),
        ),
        commands=tuple(velocity_command(RANGE, RANGE, RANGE, name) for name in commands),
        terminations=(time_out(),),
        policy=PolicySpec(file=file, kind=PolicyKind.ONNX),
        extras={key: data[key] for key in ("anchor_body_name", "body_names") if key in data},
        provenance={
            "sim.dt": f"{NOT_STATED}{DT} s",
            "sim.decimation": f"{NOT_STATED}{DECIMATION}",
            "sim.material": f"{NOT_STATED}friction 1, multiplied",
            "robot.default_joint_pos": f"{file.name}: metadata default_joint_pos",
            "actuators.joints.stiffness": f"{file.name}: metadata joint_stiffness",
            "actuators.joints.damping": f"{file.name}: metadata joint_damping",
            "observations": f"{file.name}: metadata observation_names",
            "actions": f"{file.name}: metadata action_scale",
            "commands": f"{NOT_STATED}±1",
        },
        diagnostics=tuple(found),
    )


def _parsed(text: str) -> Any:
    """Numbers as a tuple of numbers, names as a tuple of names; brackets and quotes of other exporters are dropped."""
    items = [item.strip().strip("'\"") for item in text.strip().strip("[]").split(",")]
    numbers = [as_number(item) for item in items]
    if all(number is not None for number in numbers):
        return tuple(numbers)
    return tuple(items) if len(items) > 1 else items[0]


def _names(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(str(item) for item in value)


def _commands(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The velocity command, unless the only command is another (a motion to track)."""
    names = [name for name in _names(data.get("command_names", COMMAND)) if name]
    return tuple(name for name in names if name != "motion")


def _observation(name: str, count: int, commands: tuple[str, ...]) -> ObservationTerm:
    func = FUNCTIONS.get(name, name)
    known = {"joint_pos_rel": count, "joint_vel_rel": count, "last_action": count, "generated_commands": 3}
    known |= {"base_ang_vel": 3, "base_lin_vel": 3, "projected_gravity": 3}
    params = {"command_name": commands[0] if commands else "motion"} if func == "generated_commands" else {}
    return ObservationTerm(name=name, func=f"{OBSERVATIONS}:{func}", params=params, size=known.get(func))
