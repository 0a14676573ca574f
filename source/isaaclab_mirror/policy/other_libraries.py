"""Checkpoints of skrl, rl_games and stable-baselines3, whose networks agent.yaml describes."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.policy.checkpoints import read_member, weights_of
from isaaclab_mirror.policy.networks import (
    Dense,
    Normalizer,
    Rebuilt,
    Weights,
    activation,
    chained,
    dense_layers,
    identity,
)

if TYPE_CHECKING:
    from isaaclab_mirror.policy.networks import Array, Function

BOUND = 5.0
"""skrl and rl_games bound normalised observations at ±5."""


def is_skrl(checkpoint: Mapping[str, Any]) -> bool:
    """Whether its top level is skrl's."""
    return "policy" in checkpoint and isinstance(checkpoint["policy"], Mapping)


def rebuild_skrl(checkpoint: Mapping[str, Any], config: Mapping[str, Any], file: Path) -> Rebuilt:
    """The policy model: separate (output in `net_container`) or shared with the value (`policy_layer`)."""
    weights = weights_of(checkpoint["policy"], file, "policy")
    model = _at(config, "models", "policy")
    network = model.get("network")
    network = network[0] if isinstance(network, list | tuple) and network else {}
    names = network.get("activations", "elu") if isinstance(network, Mapping) else "elu"
    names = {str(name) for name in ([names] if isinstance(names, str) else names)}
    if len(names) != 1:
        raise InputError("E134", file, f"layers with different activations {sorted(names)} are not rebuilt")
    layers = dense_layers(weights, "net_container", file)
    if "policy_layer.weight" in weights:
        last = chained([("policy_layer.weight", "policy_layer.bias")], weights, file)
        layers = (*layers, *last)
    scaler = checkpoint.get("observation_preprocessor") or checkpoint.get("state_preprocessor")
    dense = Dense(layers, activation(names.pop(), file))
    return Rebuilt(dense, normalizer=_skrl_normalizer(scaler, file), head=_skrl_head(model, file))


def _skrl_head(model: Mapping[str, Any], file: Path) -> Function:
    output = str(model.get("output", "ACTIONS"))
    if output == "ACTIONS":
        return identity
    if found := re.fullmatch(r"(\w+)\(ACTIONS\)", output):
        return activation(found.group(1), file)
    raise InputError("E134", file, f"the policy's output {output!r} is not rebuilt", "export it to ONNX")


def _skrl_normalizer(scaler: Any, file: Path) -> Normalizer | None:
    if not isinstance(scaler, Mapping) or "running_mean" not in scaler:
        return None
    import numpy as np

    weights = weights_of(scaler, file)
    mean, variance = (np.asarray(weights[name]).reshape(-1) for name in ("running_mean", "running_variance"))
    return Normalizer(mean.astype(np.float32), (1.0 / (np.sqrt(variance) + 1e-8)).astype(np.float32), BOUND)


def is_rl_games(checkpoint: Mapping[str, Any]) -> bool:
    """Whether its top level is rl_games'."""
    model = checkpoint.get("model")
    return isinstance(model, Mapping) and any("a2c_network" in str(name) for name in model)


def rebuild_rl_games(checkpoint: Mapping[str, Any], config: Mapping[str, Any], file: Path) -> Rebuilt:
    """The actor of an `a2c_network`, compiled or not."""
    weights = {
        name.replace("_orig_mod.", ""): value for name, value in weights_of(checkpoint["model"], file, "model").items()
    }
    network = "a2c_network."
    if any(f"{network}{part}" in name for name in weights for part in ("rnn", "cnn", "actor_cnn")):
        raise InputError("E134", file, "recurrent and convolutional rl_games networks are not rebuilt")
    settings = _at(config, "params", "network")
    hidden = dense_layers(weights, f"{network}actor_mlp", file)
    mu = chained([(f"{network}mu.weight", f"{network}mu.bias")], weights, file)
    dense = Dense((*hidden, *mu), activation(str(_at(settings, "mlp").get("activation", "elu")), file))
    head = activation(str(_at(settings, "space", "continuous").get("mu_activation", "None")), file)
    if _at(config, "params", "config").get("clip_actions", True) and config:
        bound = _at(config, "params", "env").get("clip_actions")
        head = _rescaled(head, float(bound) if isinstance(bound, int | float) else 1.0)
    return Rebuilt(dense, normalizer=_rl_games_normalizer(weights), head=head)


def _rescaled(head: Function, bound: float) -> Function:
    """The player clamps to ±1 and stretches over the action space."""

    def act(x: Array) -> Array:
        return (head(x).clip(-1.0, 1.0) * bound).astype(x.dtype)

    return act


def _rl_games_normalizer(weights: Weights) -> Normalizer | None:
    if "running_mean_std.running_mean" not in weights:
        return None
    import numpy as np

    mean, variance = (weights[f"running_mean_std.running_{part}"].astype(np.float64) for part in ("mean", "var"))
    return Normalizer(mean.astype(np.float32), (1.0 / np.sqrt(variance + 1e-5)).astype(np.float32), BOUND)


def is_sb3(file: Path) -> bool:
    """Whether a zip archive is a model of stable-baselines3."""
    with zipfile.ZipFile(file) as archive:
        return "policy.pth" in archive.namelist()


def rebuild_sb3(file: Path, config: Mapping[str, Any]) -> Rebuilt:
    """`policy.pth` alone: the other members are pickles."""
    normalizer = next(iter(sorted(file.parent.glob("*vecnormalize*.pkl"))), None)
    if normalizer is not None or config.get("normalize_input"):
        name = normalizer.name if normalizer else "of the run"
        raise InputError(
            "E132", file, f"its observations are normalised by the pickle {name}, which may hold code", "export to ONNX"
        )
    weights = weights_of(read_member(file, "policy.pth"), file, "policy.pth")
    layers = dense_layers(weights, "mlp_extractor.policy_net", file)
    last = chained([("action_net.weight", "action_net.bias")], weights, file)
    return Rebuilt(Dense((*layers, *last), activation(_sb3_activation(config), file)))


def _sb3_activation(config: Mapping[str, Any]) -> str:
    """From `policy_kwargs`, a mapping or the text `dict(activation_fn=nn.ELU, …)`; tanh is the library's default."""
    kwargs = config.get("policy_kwargs", "")
    value = kwargs.get("activation_fn", "") if isinstance(kwargs, Mapping) else kwargs
    found = re.search(r"nn\.(?:modules\.activation[.:])?(\w+)", str(value))
    return found.group(1) if found else "tanh"


def _at(data: Any, *keys: str) -> Mapping[str, Any]:
    """A mapping inside mappings, or an empty one."""
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}
