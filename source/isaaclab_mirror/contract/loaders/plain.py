"""Terms in Isaac Lab's words for sources that name none: PD joints, position actions, the usual observations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isaaclab_mirror.contract.contract import (
    ActionTerm,
    ActuatorGroup,
    ActuatorKind,
    MaterialSpec,
    ObservationTerm,
    SimSpec,
    Term,
    TerrainSpec,
)
from isaaclab_mirror.contract.node import Node

OBSERVATIONS = "isaaclab.envs.mdp.observations"
GAIT = "isaaclab_tasks.contrib.dr_legs.mdp.observations:gait_phase"
COMMAND = "base_velocity"
EPISODE_S = 20.0
GROUND = MaterialSpec(
    static_friction=1.0, dynamic_friction=1.0, friction_combine="multiply", restitution_combine="multiply"
)
"""Isaac Lab's and legged_gym's ground for walking robots, where the source is silent."""
NOT_STATED = "not stated in the source: "


def legged_sim(dt: float, decimation: int, backend: str, **further: Any) -> SimSpec:
    """A plane as walking robots are trained on."""
    return SimSpec(
        dt=dt,
        decimation=decimation,
        backend=backend,
        material=GROUND,
        terrain=TerrainSpec(kind="plane", material=GROUND),
        episode_length_s=EPISODE_S,
        **further,
    )


def per_name(names: Sequence[str], values: Sequence[float] | None) -> dict[str, float] | None:
    """name → number."""
    return None if values is None else dict(zip(names, values, strict=True))


def listed(node: Node, key: str, count: int) -> tuple[float, ...]:
    """A list with one number per joint."""
    return node.numbers(key, count)


def pd_group(
    kind: ActuatorKind,
    names: Sequence[str],
    *,
    stiffness: Sequence[float],
    damping: Sequence[float],
    effort: Sequence[float] | None = None,
    armature: float | None = None,
    friction: float | None = None,
) -> ActuatorGroup:
    """All joints in one group."""
    config: dict[str, Any] = {
        "joint_names_expr": tuple(names),
        "stiffness": per_name(names, stiffness),
        "damping": per_name(names, damping),
        "effort_limit": per_name(names, effort),
        "armature": armature,
        "friction": friction,
    }
    return ActuatorGroup(name="joints", kind=kind, joint_patterns=tuple(names), config=config)


def joint_positions(
    names: Sequence[str],
    *,
    scale: Sequence[float],
    offset: Sequence[float] | None = None,
    clip: Sequence[tuple[float, float]] | None = None,
    name: str = "joint_pos",
) -> ActionTerm:
    """Targets around the default pose (`offset` None) or an offset of their own, in exactly this order."""
    params: dict[str, Any] = {
        "joint_names": tuple(names),
        "scale": per_name(names, scale),
        "offset": 0.0 if offset is None else per_name(names, offset),
        "clip": None if clip is None else dict(zip(names, clip, strict=True)),
    }
    return ActionTerm(
        name=name,
        kind="JointPositionAction",
        class_type="isaaclab.envs.mdp.actions.joint_actions:JointPositionAction",
        joint_patterns=tuple(names),
        preserve_order=True,
        use_default_offset=offset is None,
        params=params,
    )


def observation(
    name: str,
    func: str,
    size: int,
    *,
    scale: Sequence[float] = (),
    params: Mapping[str, Any] | None = None,
    history: int = 0,
    clip: tuple[float, float] | None = None,
) -> ObservationTerm:
    """One of Isaac Lab's functions, or (`func` with a colon) of a task package of its."""
    return ObservationTerm(
        name=name,
        func=func if ":" in func else f"{OBSERVATIONS}:{func}",
        params=dict(params or {}),
        scale=tuple(scale),
        clip=clip,
        history_length=history,
        size=size,
    )


def velocity_command(
    lin_x: tuple[float, float], lin_y: tuple[float, float], ang_z: tuple[float, float], name: str = COMMAND
) -> Term:
    """A velocity command without heading control."""
    func = "isaaclab.envs.mdp.commands.velocity_command:UniformVelocityCommand"
    config: dict[str, Any] = {
        "class_type": func,
        "asset_name": "robot",
        "resampling_time_range": (10.0, 10.0),
        "heading_command": False,
        "heading_control_stiffness": 1.0,
        "rel_standing_envs": 0.0,
        "rel_heading_envs": 0.0,
        "ranges": {"lin_vel_x": lin_x, "lin_vel_y": lin_y, "ang_vel_z": ang_z, "heading": None},
    }
    return Term(name=name, func=func, params=config)


def time_out() -> Term:
    """The only end that such sources have."""
    return Term(name="time_out", func="isaaclab.envs.mdp.terminations:time_out", time_out=True)
