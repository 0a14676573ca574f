"""Checkpoints of rsl_rl 2 to 5, told apart by their keys.

2.x and 3.x keep actor and critic in one state dict (`actor.0.weight`), 4.x and 5.x in one each (`mlp.0.weight`); the
normaliser is a dict of its own (2.x), `actor_obs_normalizer.*` (3.x) or `obs_normalizer.*` (4.x, 5.x).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import Diagnostic, InputError, Severity
from isaaclab_mirror.policy.checkpoints import weights_of
from isaaclab_mirror.policy.networks import (
    Dense,
    Normalizer,
    Rebuilt,
    Recurrent,
    Weights,
    activation,
    dense_layers,
    identity,
    softplus,
)

if TYPE_CHECKING:
    from isaaclab_mirror.policy.networks import Array, Function

EPSILON = 0.01
"""Added to the standard deviation, in all versions."""


def is_rsl_rl(checkpoint: Mapping[str, Any]) -> bool:
    """Whether its top level is rsl_rl's."""
    return "model_state_dict" in checkpoint or "actor_state_dict" in checkpoint


def rebuild(checkpoint: Mapping[str, Any], config: Mapping[str, Any], file: Path) -> tuple[Rebuilt, list[Diagnostic]]:
    """The actor and its normaliser; `config` is agent.yaml."""
    notes: list[Diagnostic] = []
    if "actor_state_dict" in checkpoint:
        weights = weights_of(checkpoint["actor_state_dict"], file, "actor_state_dict")
        settings = _settings(config, "actor", "student")
        dense, recurrent, normalizer = "mlp", "rnn.rnn", _normalizer(weights, "obs_normalizer.")
    else:
        weights = weights_of(checkpoint["model_state_dict"], file, "model_state_dict")
        settings = _settings(config, "policy")
        role, memory = ("student", "memory_s") if "student.0.weight" in weights else ("actor", "memory_a")
        dense, recurrent = role, f"{memory}.rnn"
        normalizer = _normalizer(weights, f"{role}_obs_normalizer.")
        if normalizer is None and isinstance(checkpoint.get("obs_norm_state_dict"), Mapping):
            normalizer = _normalizer(weights_of(checkpoint["obs_norm_state_dict"], file), "")
    if any("cnn" in name for name in weights):
        raise InputError("E134", file, "the actor has convolutions, which are not rebuilt", "export it to ONNX")
    between = activation(_activation_name(settings, file, notes), file)
    layers = dense_layers(weights, dense, file)
    head, size = _head(settings, len(layers[-1][0]))
    return (
        Rebuilt(
            Dense(layers, between),
            normalizer=normalizer,
            recurrent=Recurrent(weights, recurrent, file) if f"{recurrent}.weight_ih_l0" in weights else None,
            head=head,
            action_size=size,
        ),
        notes,
    )


def _settings(config: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        if isinstance(config.get(name), Mapping) and config[name]:
            return config[name]
    return {}


def _activation_name(settings: Mapping[str, Any], file: Path, notes: list[Diagnostic]) -> str:
    """The weights do not say it."""
    if name := settings.get("activation"):
        return str(name)
    message = "no agent.yaml says which activation the network has: elu is taken, Isaac Lab's default"
    notes.append(Diagnostic("E138", Severity.WARNING, file.name, message, "put the run's params/agent.yaml beside it"))
    return "elu"


def _normalizer(weights: Weights, prefix: str) -> Normalizer | None:
    if f"{prefix}_mean" not in weights:
        return None
    return Normalizer(weights[f"{prefix}_mean"].reshape(-1), 1.0 / (weights[f"{prefix}_std"].reshape(-1) + EPSILON))


def _head(settings: Mapping[str, Any], outputs: int) -> tuple[Function, int]:
    """The deterministic output of the action distribution, and its size."""
    distribution = settings.get("distribution_cfg")
    distribution = distribution if isinstance(distribution, Mapping) else {}
    kind = str(distribution.get("class_name", ""))
    if "Beta" in kind:
        low, high = distribution.get("action_range") or (-1.0, 1.0)
        return _beta_mean(float(low), float(high)), outputs // 2
    if "Heteroscedastic" in kind or settings.get("state_dependent_std"):
        return lambda x: x[:, : outputs // 2], outputs // 2
    return identity, outputs


def _beta_mean(low: float, high: float) -> Function:
    """α/(α + β) over the range, with α and β = 1 + softplus of the two halves."""

    def mean(x: Array) -> Array:
        import numpy as np

        alpha, beta = np.split(1.0 + softplus(x), 2, axis=1)
        return (low + (high - low) * alpha / (alpha + beta)).astype(x.dtype)

    return mean
