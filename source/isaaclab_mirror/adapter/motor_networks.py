"""Motors that a small network imitates: ActuatorNetMLP and ActuatorNetLSTM.

The network is read from its TorchScript file as weights, and evaluated in numpy for all environments and joints at
once. A file whose structure is not a plain MLP or LSTM is refused.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.motor_models import F32, DCMotor, MotorInput
from isaaclab_mirror.adapter.registry import actuator
from isaaclab_mirror.contract.contract import ActuatorGroup
from isaaclab_mirror.diagnostics import InputError

Weights = Mapping[str, Array]


def sigmoid(x: Array) -> Array:
    """1 / (1 + e⁻ˣ), without overflow."""
    return (F32(0.5) * (np.tanh(F32(0.5) * x) + F32(1.0))).astype(x.dtype)


def softsign(x: Array) -> Array:
    """x / (1 + |x|)."""
    return x / (F32(1.0) + np.abs(x))


def relu(x: Array) -> Array:
    """Positive part."""
    return np.maximum(x, F32(0.0))


def elu(x: Array) -> Array:
    """x, below 0 eˣ − 1."""
    return np.where(x > 0.0, x, np.expm1(np.minimum(x, F32(0.0))))


ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "softsign": softsign,
    "tanh": np.tanh,
    "relu": relu,
    "elu": elu,
}
"""By a part of the name that TorchScript's graph has for it."""


class Mlp:
    """Linear layers with one activation between."""

    def __init__(self, weights: Weights, activation: str) -> None:
        names = sorted((name for name in weights if name.endswith("weight")), key=_layer)
        self.layers = [
            (np.asarray(weights[n], dtype=F32).T.copy(), np.asarray(weights[n[:-6] + "bias"], dtype=F32)) for n in names
        ]
        self._activation = ACTIVATIONS[activation]

    def __call__(self, x: Array) -> Array:
        """(…, inputs) → (…, outputs)."""
        for index, (weight, bias) in enumerate(self.layers):
            x = x @ weight + bias
            if index + 1 < len(self.layers):
                x = self._activation(x)
        return x


class Lstm:
    """Stacked LSTM layers and a linear output, one step at a time."""

    def __init__(self, weights: Weights, output_scale: float) -> None:
        self.layers: list[tuple[Array, Array, Array]] = []
        prefix = next(name for name in weights if name.endswith("weight_ih_l0"))[: -len("weight_ih_l0")]
        while f"{prefix}weight_ih_l{len(self.layers)}" in weights:
            k = len(self.layers)
            ih, hh = weights[f"{prefix}weight_ih_l{k}"], weights[f"{prefix}weight_hh_l{k}"]
            bias = weights[f"{prefix}bias_ih_l{k}"] + weights[f"{prefix}bias_hh_l{k}"]
            self.layers.append((np.asarray(ih, F32).T.copy(), np.asarray(hh, F32).T.copy(), np.asarray(bias, F32)))
        linear = {name: array for name, array in weights.items() if not name.startswith(prefix) or not prefix}
        linear = {name: array for name, array in linear.items() if "_l" not in name.rpartition(".")[2]}
        self._head = Mlp(linear, "tanh")
        self._scale = F32(output_scale)
        self.hidden_size = self.layers[0][1].shape[0]

    def __call__(self, x: Array, hidden: Array, cell: Array) -> Array:
        """(rows, 2) → (rows, 1); hidden and cell (layers, rows, h) are advanced in place."""
        for k, (ih, hh, bias) in enumerate(self.layers):
            gates = x @ ih + hidden[k] @ hh + bias
            i, f, g, o = np.split(gates, 4, axis=-1)
            cell[k] = sigmoid(f) * cell[k] + sigmoid(i) * np.tanh(g)
            hidden[k] = sigmoid(o) * np.tanh(cell[k])
            x = hidden[k]
        return self._head(x) * self._scale


def _layer(name: str) -> int:
    digits = [part for part in name.split(".") if part.isdigit()]
    return int(digits[-1]) if digits else 0


def read_network(group: ActuatorGroup) -> tuple[Weights, str, float]:
    """Weights, activation and output scale of a TorchScript file."""
    where = f"actuator {group.name}"
    path = group.network_path
    if path is None or not Path(path).is_file():
        raise InputError(
            "E123",
            where,
            f"the actuator network {group.network_file or '(none)'} is not there",
            "put the file beside the run, or name it as network_path in contract.toml",
        )
    torch: Any = importlib.import_module("torch")
    try:
        script = torch.jit.load(str(path), map_location="cpu").eval()
    except (RuntimeError, ValueError, OSError) as error:
        raise InputError("E123", path, f"no TorchScript network: {str(error).splitlines()[0]}") from None
    tensors: dict[str, Any] = dict(script.state_dict())
    weights: dict[str, Array] = {name: tensor.detach().numpy().astype(F32) for name, tensor in tensors.items()}
    try:
        with torch.no_grad():
            if any(name.endswith("weight_ih_l0") for name in weights):
                return weights, "tanh", _scale_of(torch, script, weights)
            return weights, _activation_of(torch, script, weights), 1.0
    except (RuntimeError, ValueError, KeyError, IndexError, TypeError, StopIteration):
        raise InputError("E123", path, NOT_PLAIN, "write it as an @actuator in a file given with --plugin") from None


NOT_PLAIN = "the network is no plain MLP or LSTM: what is computed from its weights is not what it answers"


def _activation_of(torch: Any, script: Any, weights: Weights) -> str:
    """The one with which the weights answer as the script does."""
    names = sorted((name for name in weights if name.endswith("weight")), key=_layer)
    x = np.linspace(-1.0, 1.0, 3 * weights[names[0]].shape[1], dtype=F32).reshape(3, -1)
    asked: Array = script(torch.from_numpy(x)).numpy()
    for name in ACTIVATIONS:
        if np.allclose(Mlp(weights, name)(x), asked, rtol=1e-4, atol=1e-5):
            return name
    raise ValueError(NOT_PLAIN)


def _scale_of(torch: Any, script: Any, weights: Weights) -> float:
    """Factor between an LSTM's last layer and its output, by asking the network for two steps."""
    ours = Lstm(weights, 1.0)
    shape = (len(ours.layers), 1, ours.hidden_size)
    state = (torch.zeros(shape), torch.zeros(shape))
    hidden, cell = np.zeros(shape, F32), np.zeros(shape, F32)
    asked: list[float] = []
    plain: list[float] = []
    for step in ((0.1, 0.2), (-0.3, 0.5)):
        answer, state = script(torch.tensor([[step]]), state)
        asked.append(float(answer.reshape(-1)[0]))
        plain.append(float(ours(np.array([step], F32), hidden, cell)[0, 0]))
    scale = asked[0] / plain[0] if plain[0] else 1.0
    if not np.allclose(np.array(plain) * scale, asked, rtol=1e-3, atol=1e-5):
        raise ValueError(NOT_PLAIN)
    return scale


def with_network(group: ActuatorGroup, folders: Iterable[Path]) -> ActuatorGroup:
    """The group with its network's file: as the config has it, or by its name in one of these folders."""
    if not group.network_file or group.network_path is not None:
        return group
    name = group.network_file.replace("\\", "/").rpartition("/")[2]
    for path in (Path(group.network_file), *(folder / name for folder in folders)):
        if path.is_file():
            return replace(group, network_path=path)
    return group


class _NetMotor(DCMotor):
    def __init__(self, group: ActuatorGroup, env_count: int, rng: np.random.Generator) -> None:
        super().__init__(group, env_count, rng)
        self.weights, self._activation, self._output_scale = read_network(group)


@actuator("ActuatorNetMLP")
class NetMlp(_NetMotor):
    """Position errors and velocities of a few physics steps → torque → DC curve."""

    def __init__(self, group: ActuatorGroup, env_count: int, rng: np.random.Generator) -> None:
        super().__init__(group, env_count, rng)
        self._net = Mlp(self.weights, self._activation)
        self._idx = list(group.input_idx) or [0]
        length = max(self._idx) + 1
        self._errors = np.zeros((length, env_count, self.joint_count), F32)
        self._speeds = np.zeros_like(self._errors)

    def reset(self, env_ids: Array | slice) -> None:
        """Forget these environments' past."""
        self._errors[:, env_ids] = 0.0
        self._speeds[:, env_ids] = 0.0

    def __call__(self, now: MotorInput) -> tuple[Array, Array]:
        """Effort before and after the curve."""
        self._errors[1:], self._speeds[1:] = self._errors[:-1].copy(), self._speeds[:-1].copy()
        self._errors[0], self._speeds[0] = now.position - now.joint_pos, now.joint_vel
        errors = np.moveaxis(self._errors[self._idx], 0, -1) * F32(self.group.pos_scale)
        speeds = np.moveaxis(self._speeds[self._idx], 0, -1) * F32(self.group.vel_scale)
        parts = [errors, speeds] if self.group.input_order == "pos_vel" else [speeds, errors]
        torque = self._net(np.concatenate(parts, axis=-1))[..., 0] * F32(self.group.torque_scale)
        return torque, self.clip(torque, now.joint_vel)


@actuator("ActuatorNetLSTM")
class NetLstm(_NetMotor):
    """Position error and velocity → LSTM whose state runs on → torque → DC curve."""

    def __init__(self, group: ActuatorGroup, env_count: int, rng: np.random.Generator) -> None:
        super().__init__(group, env_count, rng)
        self._net = Lstm(self.weights, self._output_scale)
        shape = (len(self._net.layers), env_count, self.joint_count, self._net.hidden_size)
        self._hidden, self._cell = np.zeros(shape, F32), np.zeros(shape, F32)

    def reset(self, env_ids: Array | slice) -> None:
        """Forget these environments' past."""
        self._hidden[:, env_ids] = 0.0
        self._cell[:, env_ids] = 0.0

    def __call__(self, now: MotorInput) -> tuple[Array, Array]:
        """Effort before and after the curve."""
        x = np.stack([now.position - now.joint_pos, now.joint_vel], axis=-1).reshape(-1, 2)
        rows = (len(self._net.layers), -1, self._net.hidden_size)
        torque = self._net(x, self._hidden.reshape(rows), self._cell.reshape(rows))
        torque = torque.reshape(now.position.shape)
        return torque, self.clip(torque, now.joint_vel)
