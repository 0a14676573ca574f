"""Differential inverse kinematics and operational-space control, on arrays: Isaac Lab's `isaaclab.controllers`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.diagnostics import InputError

IK_DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "pinv": {"k_val": 1.0},
    "svd": {"k_val": 1.0, "min_singular_value": 1e-5},
    "trans": {"k_val": 1.0},
    "dls": {"lambda_val": 0.01},
    "adaptive_dls": {"lambda_min": 0.05, "lambda_max": 0.2, "sigma_thresh": 0.02},
}


def joint_change(method: str, params: Mapping[str, float], jacobian: Array, error: Array) -> Array:
    """Δq (env_count, joints) that brings a task error (env_count, m) to zero by one of Isaac Lab's methods."""
    if method not in IK_DEFAULTS:
        raise InputError("E122", "ik_method", f"unknown method {method!r}", f"known: {', '.join(IK_DEFAULTS)}")
    params = {**IK_DEFAULTS[method], **params}
    column, transposed = error[..., None], np.swapaxes(jacobian, -1, -2)
    match method:
        case "pinv":
            change = params["k_val"] * (np.linalg.pinv(jacobian) @ column)
        case "svd":
            u, s, vh = np.linalg.svd(jacobian, full_matrices=False)
            kept = s > params["min_singular_value"]
            inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
            right = inverse[..., None] * (np.swapaxes(u, -1, -2) @ column)
            change = params["k_val"] * (np.swapaxes(vh, -1, -2) @ right)
        case "trans":
            change = params["k_val"] * (transposed @ column)
        case _:
            damping = _squared_damping(method, params, jacobian)
            square = jacobian @ transposed + damping[:, None, None] * np.eye(jacobian.shape[1])
            change = transposed @ np.linalg.solve(square, column)
    return change[..., 0]


def _squared_damping(method: str, params: Mapping[str, float], jacobian: Array) -> Array:
    if method == "dls":
        return np.full(len(jacobian), params["lambda_val"] ** 2)
    smallest = np.linalg.svd(jacobian, compute_uv=False)[:, -1]
    ratio = np.minimum(smallest / params["sigma_thresh"], 1.0)
    low, high = params["lambda_min"] ** 2, params["lambda_max"] ** 2
    return low + (1.0 - ratio**2) * (high - low)


def limit_avoidance(joint_pos: Array, limits: Array, jacobian: Array, gain: float, margin: float) -> Array:
    """Δq towards the middle of the limits near a limit, in the null space of the linear rows."""
    low, high = limits.T
    distance = np.minimum(joint_pos - low, high - joint_pos)
    activation = 1.0 - np.clip(distance / margin, 0.0, 1.0)
    centring = -gain * activation * (joint_pos - (low + high) / 2.0)
    linear = jacobian[:, :3]
    null_space = np.eye(jacobian.shape[2]) - np.linalg.pinv(linear) @ linear
    return (null_space @ centring[..., None])[..., 0]


def task_forces(inverse_inertia: Array, accelerations: Array, thresholds: tuple[float, float]) -> Array:
    """Forces (env_count, m, k) that give the task accelerations, damped in badly conditioned directions.

    `inverse_inertia` is J M⁻¹ Jᵀ. Directions whose eigenvalue is above thresholds[1] of the largest are exact.
    """
    matrix = 0.5 * (inverse_inertia + np.swapaxes(inverse_inertia, -1, -2))
    low, high = thresholds
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 0.0)
    scale = np.maximum(values[:, -1:], np.finfo(float).tiny)
    weight = np.clip((values / scale - low) / (high - low), 0.0, 1.0)
    weight = weight * weight * (3.0 - 2.0 * weight)
    inverse = 1.0 / np.maximum(values + low * scale * (1.0 - weight), np.finfo(float).tiny)
    inverse = np.where(values[:, -1:] > 0.0, inverse, 0.0)
    return vectors @ (inverse[..., None] * (np.swapaxes(vectors, -1, -2) @ accelerations))


def row(value: Any, size: int) -> Array:
    """One number or `size` numbers of a config as a row."""
    return np.broadcast_to(np.asarray(value, dtype=float), (size,)).copy()
