"""rl_sar's policy folders: `config.yaml` (and the robot's `base.yaml`, in the folder or the one above).

The policy's joints are `joint_names` of base.yaml through `joint_mapping`; every array is in that order. PD runs at the
physics rate within `torque_limits`; actions are clipped before they are remembered, the whole observation is clipped.
`observations_history` lists lags (0 the newest) in the order in which frames stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

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
    Wrapper,
)
from isaaclab_mirror.contract.loaders.plain import (
    COMMAND,
    NOT_STATED,
    joint_positions,
    legged_sim,
    observation,
    pd_group,
    time_out,
    velocity_command,
)
from isaaclab_mirror.contract.node import Node
from isaaclab_mirror.contract.safe_yaml import load_yaml
from isaaclab_mirror.diagnostics import Diagnostics, InputError

RANGE = (-1.0, 1.0)
"""robot_lab's commands [m/s, rad/s]; the files have none."""
BASE = "base.yaml"
WITHOUT_WHEELS = "robot_lab.tasks.locomotion.velocity.mdp.observations:joint_pos_rel_without_wheel"
"""robot_lab's term: joint positions from the default, 0 for wheels."""


def section_of(data: Mapping[str, Any]) -> str | None:
    """The key below which a config.yaml of rl_sar has its numbers; None where it is none."""
    for key, value in data.items():
        if isinstance(value, Mapping) and "observations" in value and "rl_kp" in value:
            return key
    return None


def is_rl_sar(data: Mapping[str, Any]) -> bool:
    """Whether a YAML document is a config.yaml of rl_sar."""
    return section_of(data) is not None


def load_rl_sar(file: Path, data: Mapping[str, Any]) -> Contract:
    """The contract of such a folder; joints are named."""
    found = Diagnostics()
    key = section_of(data) or ""
    config = Node(data, file).need(key)
    base = _base(file, key)
    both = Node({**base.data, **config.data}, file, key)
    count = both.whole("num_of_dofs", least=1)
    names = _names(both, base, count)
    wheels = _wheels(both, names)
    return Contract(
        name=file.parent.name,
        source=SourceInfo(kind=SourceKind.RL_SAR, files=(file, base.file), framework="isaaclab", version="unknown"),
        sim=legged_sim(both.number("dt"), both.whole("decimation", least=1), "isaacsim"),
        robot=RobotSpec(
            joint_pos_patterns=dict(zip(names, both.numbers("default_dof_pos", count), strict=True)),
        ),
        joints=Order(names=names, source=OrderSource.RECORDING, note=f"{base.file.name}: joint_names, joint_mapping"),
        actuators=(
            pd_group(
                ActuatorKind.IDEAL_PD,
                names,
                stiffness=both.numbers("rl_kp", count),
                damping=both.numbers("rl_kd", count),
                effort=both.numbers("torque_limits", count),
            ),
        ),
        observations=(_group(both, count, wheels),),
        actions=_actions(both, names, wheels),
        commands=(velocity_command(RANGE, RANGE, RANGE),),
        terminations=(time_out(),),
        wrapper=Wrapper(clip_actions=_clip(both, count), clip_observations=both.optional_number("clip_obs")),
        extras={"policy_names": (both.text("model_name", ""),)},
        provenance={
            "sim.dt": f"{base.file.name}:dt",
            "sim.decimation": f"{base.file.name}:decimation",
            "sim.material": f"{NOT_STATED}friction 1, multiplied",
            "robot.default_joint_pos": f"{file.name}:default_dof_pos",
            "actuators.joints.stiffness": f"{file.name}:rl_kp",
            "actuators.joints.damping": f"{file.name}:rl_kd",
            "actuators.joints.effort_limit": f"{file.name}:torque_limits",
            "observations": f"{file.name}:observations",
            "actions": f"{file.name}:action_scale",
            "commands": f"{NOT_STATED}robot_lab's ±1",
            "wrapper": f"{file.name}:clip_actions_lower, clip_actions_upper, clip_obs",
        },
        diagnostics=tuple(found),
    )


def _base(file: Path, key: str) -> Node:
    """base.yaml of the robot, beside config.yaml or above it; an older config.yaml has everything itself."""
    robot = key.partition("/")[0]
    for candidate in (file.parent / BASE, file.parent.parent / BASE):
        if candidate.is_file():
            data = load_yaml(candidate)
            top = Node(data, candidate)
            return top.need(robot) if robot in data else top
    return Node({}, file, key)


def _names(both: Node, base: Node, count: int) -> tuple[str, ...]:
    """Policy joint i is joint `joint_mapping[i]` of the list."""
    names = both.names("joint_names")
    if len(names) != count:
        hint = "rl_sar keeps joint_names in the robot's base.yaml: put it beside config.yaml"
        raise InputError("E104", base.where("joint_names"), f"{len(names)} names for {count} joints", hint)
    if "joint_mapping" not in both:
        return names
    mapping = both.numbers("joint_mapping", count)
    if sorted(mapping) != list(range(count)):
        raise both.wrong("joint_mapping", "each joint's number once")
    return tuple(names[int(k)] for k in mapping)


def _group(both: Node, count: int, wheels: tuple[str, ...]) -> ObservationGroup:
    terms = tuple(_term(both, name, count, wheels) for name in both.names("observations"))
    stated = sum(term.size or 0 for term in terms)
    lags = tuple(int(k) for k in both.numbers("observations_history")) if both.raw("observations_history") else ()
    size = both.whole("num_observations", stated)
    if size not in (stated, stated * len(lags)):
        listing = ", ".join(f"{term.name} {term.size}" for term in terms)
        raise both.wrong("num_observations", f"{stated}, what the observations add up to ({listing})")
    if not lags:
        return ObservationGroup(name="policy", terms=terms)
    length = max(lags) + 1
    return ObservationGroup(
        name="policy",
        terms=tuple(replace(term, history_length=length) for term in terms),
        history_length=length,
        history_order=both.text("observations_history_priority", "time"),
        history_lags=lags,
    )


def _term(both: Node, name: str, count: int, wheels: tuple[str, ...]) -> ObservationTerm:
    def scale(key: str) -> tuple[float, ...]:
        value = both.raw(key)
        numbers = both.numbers(key) if isinstance(value, tuple) else (both.number(key, 1.0),)
        return () if all(n == 1.0 for n in numbers) else numbers

    if name == "lin_vel":
        return observation(name, "base_lin_vel", 3, scale=scale("lin_vel_scale"))
    if name in ("ang_vel", "ang_vel_body"):
        return observation(name, "base_ang_vel", 3, scale=scale("ang_vel_scale"))
    if name == "ang_vel_world":
        return observation(name, "root_ang_vel_w", 3, scale=scale("ang_vel_scale"))
    if name == "gravity_vec":
        return observation(name, "projected_gravity", 3)
    if name == "commands":
        params = {"command_name": COMMAND}
        return observation(name, "generated_commands", 3, scale=scale("commands_scale"), params=params)
    if name == "dof_pos" and wheels:
        entity = {"name": "robot", "joint_names": wheels, "body_names": None, "preserve_order": True}
        params = {"wheel_asset_cfg": entity}
        return observation(name, WITHOUT_WHEELS, count, scale=scale("dof_pos_scale"), params=params)
    if name == "dof_pos":
        return observation(name, "joint_pos_rel", count, scale=scale("dof_pos_scale"))
    if name == "dof_vel":
        return observation(name, "joint_vel_rel", count, scale=scale("dof_vel_scale"))
    if name == "actions":
        return observation(name, "last_action", count)
    known = "lin_vel, ang_vel, ang_vel_world, gravity_vec, commands, dof_pos, dof_vel, actions"
    raise both.error("observations", f"the observation {name!r} is not known", f"known: {known}")


def _wheels(both: Node, names: tuple[str, ...]) -> tuple[str, ...]:
    """Joints driven by velocity: the last ones of the policy's order."""
    if not both.raw("wheel_indices"):
        return ()
    wheels = tuple(int(k) for k in both.numbers("wheel_indices"))
    if wheels != tuple(range(len(names) - len(wheels), len(names))):
        raise both.wrong("wheel_indices", "the last joints, in order")
    return names[-len(wheels) :]


def _actions(both: Node, names: tuple[str, ...], wheels: tuple[str, ...]) -> tuple[ActionTerm, ...]:
    """Positions of the legs, then velocities of the wheels."""
    scale = both.numbers("action_scale", len(names))
    legs = len(names) - len(wheels)
    positions = joint_positions(names[:legs], scale=scale[:legs])
    if not wheels:
        return (positions,)
    spin = joint_positions(wheels, scale=scale[legs:], name="joint_vel")
    kind = "isaaclab.envs.mdp.actions.joint_actions:JointVelocityAction"
    return (positions, replace(spin, kind="JointVelocityAction", class_type=kind))


def _clip(both: Node, count: int) -> tuple[tuple[float, float], ...]:
    if "clip_actions_lower" not in both:
        return ()
    lower, upper = both.numbers("clip_actions_lower", count), both.numbers("clip_actions_upper", count)
    return tuple(zip(lower, upper, strict=True))
