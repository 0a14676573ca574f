"""Rows of starts and states: which environments begin where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.contract.contract import Contract
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.state import Start, State, start_of


def rows_of(env_ids: Sequence[int] | Array | None, env_count: int) -> Array:
    """Indices from indices, a mask, or None for all."""
    if env_ids is None:
        return np.arange(env_count)
    rows = np.asarray(env_ids)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(int)


def part_of(state: State, rows: Array) -> Start:
    """The state of some environments, to reset them to."""
    return start_of(state.rows(rows))


def start_rows(start: Start, rows: Array, env_count: int) -> Start:
    """A start's rows of these environments: one row stands for all."""
    return Start(**{f.name: _rows(getattr(start, f.name), rows, env_count, f.name) for f in fields(start)})


def _rows(value: Any, rows: Array, env_count: int, what: str) -> Any:
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {name: _per_env(inner, rows, env_count, what) for name, inner in value.items()}
    array = np.asarray(value, dtype=float)
    return array if array.ndim < 2 or len(array) == 1 else _counted(array, rows, env_count, what)


def _per_env(value: Any, rows: Array, env_count: int, what: str) -> Any:
    array = np.asarray(value, dtype=float)
    return array if array.ndim == 0 or len(array) == 1 else _counted(array, rows, env_count, what)


def _counted(array: Array, rows: Array, env_count: int, what: str) -> Array:
    if len(array) != env_count:
        raise InputError("E052", "starts", f"{what} has {len(array)} rows for {env_count} environments")
    return array[rows]


def take(start: Start, rows: Array) -> Start:
    """Some rows of a start of many."""
    return Start(**{f.name: _taken(getattr(start, f.name), rows) for f in fields(start)})


def _taken(value: Any, rows: Array) -> Any:
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {name: _taken_one(inner, rows, 0) for name, inner in value.items()}
    return _taken_one(value, rows, 1)


def _taken_one(value: Any, rows: Array, shared_dims: int) -> Any:
    array = np.asarray(value, dtype=float)
    return array if array.ndim <= shared_dims or len(array) == 1 else array[rows]


def nominal_start(contract: Contract) -> Start:
    """The task's default state: pose, joints and velocities without anything drawn."""
    robot = contract.robot
    return Start(
        root_pos_w=robot.pos,
        root_quat_wxyz=robot.quat_wxyz,
        root_com_lin_vel_w=robot.lin_vel,
        root_ang_vel_w=robot.ang_vel,
        joint_pos=dict(robot.default_joint_pos),
        joint_vel=dict(robot.default_joint_vel),
    )
