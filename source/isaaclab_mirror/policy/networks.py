"""Networks rebuilt from their weights: MLP, LSTM, GRU and normalisers on float32 arrays, as PyTorch computes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.policy.policy import State

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]

Weights = Mapping[str, "Array"]
"""Parameters by the names that the library gives them."""
Function = Callable[["Array"], "Array"]


def identity(x: Array) -> Array:
    """Nothing."""
    return x


def _elu(x: Array) -> Array:
    import numpy as np

    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _selu(x: Array) -> Array:
    return 1.0507009873554805 * _elu_scaled(x, 1.6732632423543772)


def _elu_scaled(x: Array, alpha: float) -> Array:
    import numpy as np

    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _relu(x: Array) -> Array:
    import numpy as np

    return np.maximum(x, 0)


def _leaky_relu(x: Array) -> Array:
    import numpy as np

    return np.where(x > 0, x, 0.01 * x)


def _tanh(x: Array) -> Array:
    import numpy as np

    return np.tanh(x)


def _sigmoid(x: Array) -> Array:
    from scipy.special import expit

    return expit(x)


def softplus(x: Array) -> Array:
    """log(1 + eˣ)."""
    import numpy as np

    return np.logaddexp(x, 0)


def _swish(x: Array) -> Array:
    return x * _sigmoid(x)


def _mish(x: Array) -> Array:
    return x * _tanh(softplus(x))


def _gelu(x: Array) -> Array:
    from scipy.special import erf

    return 0.5 * x * (1 + erf(x / 2**0.5))


ACTIVATIONS: dict[str, Function] = {
    "elu": _elu,
    "crelu": _elu,  # rsl_rl gives this name to CELU, which with α = 1 is ELU
    "celu": _elu,
    "selu": _selu,
    "relu": _relu,
    "lrelu": _leaky_relu,
    "leaky_relu": _leaky_relu,
    "leakyrelu": _leaky_relu,
    "tanh": _tanh,
    "sigmoid": _sigmoid,
    "softplus": softplus,
    "gelu": _gelu,
    "swish": _swish,
    "silu": _swish,
    "mish": _mish,
    "identity": identity,
    "linear": identity,
    "none": identity,
}
"""By the names that the libraries' configs use, in lower case."""


def activation(name: str, file: Path) -> Function:
    """By name; an unknown one is refused."""
    found = ACTIVATIONS.get(name.lower())
    if found is None:
        raise InputError("E134", file, f"activation {name!r} is not known", f"known: {', '.join(sorted(ACTIVATIONS))}")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """Linear layers with one activation between them."""

    layers: tuple[tuple[Array, Array], ...]
    """(weight, bias), weight (out, in)."""
    between: Function

    @property
    def input_size(self) -> int:
        """Of the first layer."""
        return self.layers[0][0].shape[1]

    @property
    def output_size(self) -> int:
        """Of the last layer."""
        return self.layers[-1][0].shape[0]

    def __call__(self, x: Array) -> Array:
        """(n, input_size) → (n, output_size)."""
        for place, (weight, bias) in enumerate(self.layers):
            x = x @ weight.T + bias
            if place + 1 < len(self.layers):
                x = self.between(x)
        return x


def dense_layers(weights: Weights, prefix: str, file: Path) -> tuple[tuple[Array, Array], ...]:
    """`prefix.0.weight`, `prefix.2.weight`, … in order, whatever stands between; each fits the next."""
    numbers = {name[len(prefix) + 1 : -len(".weight")] for name in weights if _is_layer(name, prefix)}
    places = sorted(int(number) for number in numbers if number.isdigit())
    if not places or len(places) != len(numbers):
        raise InputError("E134", file, f"no plain layers under {prefix!r}: {', '.join(sorted(weights)[:6])} …")
    return chained([(f"{prefix}.{place}.weight", f"{prefix}.{place}.bias") for place in places], weights, file)


def _is_layer(name: str, prefix: str) -> bool:
    return name.startswith(f"{prefix}.") and name.endswith(".weight")


def chained(names: Sequence[tuple[str, str]], weights: Weights, file: Path) -> tuple[tuple[Array, Array], ...]:
    """Layers by the names of weight and bias; each must fit the next."""
    import numpy as np

    layers: list[tuple[Array, Array]] = []
    for name, bias_name in names:
        weight = weights.get(name)
        if weight is None or weight.ndim != 2:
            raise InputError("E134", file, f"{name} is not the matrix of a linear layer")
        bias = weights.get(bias_name, np.zeros(len(weight), np.float32))
        if bias.shape != (len(weight),) or (layers and layers[-1][0].shape[0] != weight.shape[1]):
            raise InputError("E134", file, f"{name} of shape {weight.shape} does not fit the layers beside it")
        layers.append((weight, bias))
    return tuple(layers)


@dataclass(frozen=True, slots=True, eq=False)
class Normalizer:
    """(x − mean) · factor, bounded at ±`bound`."""

    mean: Array
    factor: Array
    bound: float | None = None

    def __call__(self, x: Array) -> Array:
        """Normalised observations."""
        y = (x - self.mean) * self.factor
        return y if self.bound is None else y.clip(-self.bound, self.bound)


class Recurrent:
    """LSTM or GRU layers from PyTorch's weights: `weight_ih_l0` (gates·h, in), `weight_hh_l0` (gates·h, h), biases."""

    def __init__(self, weights: Weights, prefix: str, file: Path) -> None:
        """LSTM and GRU are told apart by the rows of weight_hh: 4 h or 3 h."""
        import numpy as np

        self._layers: list[tuple[Array, Array, Array, Array]] = []
        while f"{prefix}.weight_ih_l{len(self._layers)}" in weights:
            k = len(self._layers)
            ih, hh = weights[f"{prefix}.weight_ih_l{k}"], weights[f"{prefix}.weight_hh_l{k}"]
            none = np.zeros(len(ih), np.float32)
            bias_ih, bias_hh = (weights.get(f"{prefix}.bias_{part}_l{k}", none) for part in ("ih", "hh"))
            self._layers.append((ih, hh, bias_ih, bias_hh))
        if not self._layers:
            raise InputError("E134", file, f"no recurrent layers under {prefix!r}")
        rows, self.hidden = self._layers[0][1].shape
        self.is_lstm = rows == 4 * self.hidden
        if rows not in (3 * self.hidden, 4 * self.hidden):
            raise InputError("E134", file, f"{prefix}: {rows} rows for {self.hidden} units are neither LSTM nor GRU")
        self.input_size = self._layers[0][0].shape[1]

    @property
    def state_shapes(self) -> tuple[tuple[int, int], ...]:
        """h, and c of an LSTM."""
        return ((len(self._layers), self.hidden),) * (2 if self.is_lstm else 1)

    def __call__(self, x: Array, state: State) -> tuple[Array, State]:
        """One step."""
        new = tuple(part.copy() for part in state)
        for k, (ih, hh, bias_ih, bias_hh) in enumerate(self._layers):
            from_input, from_past = x @ ih.T + bias_ih, new[0][k] @ hh.T + bias_hh
            if self.is_lstm:
                i, f, g, o = _split(from_input + from_past, 4)
                new[1][k] = _sigmoid(f) * new[1][k] + _sigmoid(i) * _tanh(g)
                new[0][k] = _sigmoid(o) * _tanh(new[1][k])
            else:
                (r1, z1, n1), (r2, z2, n2) = _split(from_input, 3), _split(from_past, 3)
                r, z = _sigmoid(r1 + r2), _sigmoid(z1 + z2)
                new[0][k] = (1 - z) * _tanh(n1 + r * n2) + z * new[0][k]
            x = new[0][k]
        return x, new


def _split(x: Array, parts: int) -> list[Array]:
    import numpy as np

    return np.split(x, parts, axis=1)


class Rebuilt:
    """Normaliser → recurrent layers → linear layers → what the distribution makes of it."""

    def __init__(
        self,
        dense: Dense,
        *,
        normalizer: Normalizer | None = None,
        recurrent: Recurrent | None = None,
        head: Function = identity,
        action_size: int | None = None,
    ) -> None:
        """`head` takes the last layer's output to the deterministic action."""
        self._dense, self._normalizer, self._recurrent, self._head = dense, normalizer, recurrent, head
        self.input_size: int | None = recurrent.input_size if recurrent else dense.input_size
        self.action_size: int | None = action_size or dense.output_size
        self.state_shapes = recurrent.state_shapes if recurrent else ()

    def __call__(self, observations: Array, state: State) -> tuple[Array, State]:
        """See `Network`."""
        x = self._normalizer(observations) if self._normalizer else observations
        if self._recurrent is not None:
            x, state = self._recurrent(x, state)
        return self._head(self._dense(x)), state
