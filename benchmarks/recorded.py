"""Recordings of live Isaac Lab tasks as starts and references: quaternions there are xyzw, joints in Isaac's order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from isaaclab_mirror.sims.state import Start


def meta_of(data: Any) -> dict[str, Any]:
    """What a recording says of itself."""
    return json.loads(str(data["meta_json"]))


def recorded_starts(file: Path, *, count: int | None = None) -> Start:
    """The first state of every episode of an `evaluation.npz`, one row each."""
    with np.load(file) as data:
        names, rows = meta_of(data)["joint_names"], slice(count)
        joints = {
            key: dict(zip(names, data[f"init/{key}"][rows].astype(float).T, strict=True))
            for key in ("joint_pos", "joint_vel")
        }
        if "init/root_link_pose_w" not in data:
            return Start(**joints)
        pose, velocity = data["init/root_link_pose_w"][rows].astype(float), data["init/root_com_vel_w"][rows]
        return Start(
            root_pos_w=pose[:, :3] - data["env_origins"][rows],
            root_quat_wxyz=pose[:, [6, 3, 4, 5]],
            root_com_lin_vel_w=velocity[:, :3].astype(float),
            root_ang_vel_w=velocity[:, 3:].astype(float),
            **joints,
        )
