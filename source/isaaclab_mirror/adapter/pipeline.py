"""What happens to an observation between its function and the policy: modifiers, noise, clip, scale, delay, history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.history import Delay, History
from isaaclab_mirror.contract.contract import ObservationTerm, bare_name
from isaaclab_mirror.diagnostics import InputError

Rows = Array | slice


class Stateless:
    """A modifier without a past."""

    def __init__(self, apply: Callable[[Array], Array]) -> None:
        self._apply = apply

    def __call__(self, value: Array) -> Array:
        """The modified value."""
        return self._apply(value)

    def reset(self, env_ids: Rows) -> None:
        """Nothing to forget."""


class DigitalFilter:
    """y = Σ Bᵢ x₋ᵢ − Σ Aᵢ y₋ᵢ₋₁, zero before a reset."""

    def __init__(self, a: Any, b: Any) -> None:
        self._a, self._b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        self._x: Array | None = None
        self._y: Array | None = None

    def __call__(self, value: Array) -> Array:
        """The filtered value."""
        if self._x is None or self._y is None:
            self._x = np.zeros((*value.shape, len(self._b)))
            self._y = np.zeros((*value.shape, len(self._a)))
        self._x = np.roll(self._x, 1, axis=-1)
        self._x[..., 0] = value
        result = self._x @ self._b - self._y @ self._a
        self._y = np.roll(self._y, 1, axis=-1)
        self._y[..., 0] = result
        return result

    def reset(self, env_ids: Rows) -> None:
        """Forget the past of these environments."""
        if self._x is not None and self._y is not None:
            self._x[env_ids], self._y[env_ids] = 0.0, 0.0


class Integrator:
    """Trapezoids over `dt`, zero at a reset."""

    def __init__(self, dt: float) -> None:
        self._dt = dt
        self._sum: Array | None = None
        self._last: Array | None = None

    def __call__(self, value: Array) -> Array:
        """The integral so far."""
        if self._sum is None or self._last is None:
            self._sum, self._last = np.zeros_like(value, dtype=float), np.zeros_like(value, dtype=float)
        self._sum = self._sum + (value + self._last) / 2.0 * self._dt
        self._last = np.array(value, dtype=float)
        return self._sum.copy()

    def reset(self, env_ids: Rows) -> None:
        """Forget the past of these environments."""
        if self._sum is not None and self._last is not None:
            self._sum[env_ids], self._last[env_ids] = 0.0, 0.0


Modifier = Stateless | DigitalFilter | Integrator


def modifier(config: Mapping[str, Any], where: str) -> Modifier:
    """One modifier of a term's config."""
    name = bare_name(str(config.get("func") or config.get("class_type") or ""))
    params: Mapping[str, Any] = config.get("params") or {}
    if name == "scale":
        return Stateless(lambda value, by=params["multiplier"]: value * by)
    if name == "bias":
        return Stateless(lambda value, by=params["value"]: value + by)
    if name == "clip":
        return Stateless(lambda value, bounds=params["bounds"]: np.clip(value, bounds[0], bounds[1]))
    if name == "DigitalFilter":
        return DigitalFilter(config["A"], config["B"])
    if name == "Integrator":
        return Integrator(float(config["dt"]))
    raise InputError("E122", where, f"unknown modifier {name!r}", "known: scale, bias, clip, DigitalFilter, Integrator")


class Noise:
    """uniform, gaussian and constant noise, added, multiplied or instead of the value; with a bias per environment."""

    def __init__(self, config: Mapping[str, Any], rng: np.random.Generator, where: str) -> None:
        self._rng = rng
        self._where = where
        name = bare_name(str(config.get("func") or config.get("class_type") or ""))
        self._bias_config: Mapping[str, Any] | None = None
        self._per_value = bool(config.get("sample_bias_per_component", True))
        if "noise_cfg" in config:
            self._bias_config = config.get("bias_noise_cfg")
            config = config["noise_cfg"] or {}
            name = bare_name(str(config.get("func", "")))
        if name and name not in ("uniform_noise", "gaussian_noise", "constant_noise"):
            raise InputError("E122", where, f"unknown noise {name!r}", "known: uniform, gaussian, constant")
        self._config = config
        self._bias: Array | None = None

    def reset(self, env_ids: Rows) -> None:
        """Draw a new bias."""
        if self._bias is not None and self._bias_config is not None:
            self._bias[env_ids] = _noisy(self._bias_config, self._bias[env_ids], self._rng)

    def __call__(self, value: Array) -> Array:
        """The noisy value."""
        result = _noisy(self._config, value, self._rng) if self._config else value
        if self._bias_config is not None:
            if self._bias is None:
                begin = np.zeros(value.shape if self._per_value else (len(value), *(1 for _ in value.shape[1:])))
                self._bias = _noisy(self._bias_config, begin, self._rng)
            result = result + self._bias
        return result


def _noisy(config: Mapping[str, Any], value: Array, rng: np.random.Generator) -> Array:
    name = bare_name(str(config["func"]))
    if name == "uniform_noise":
        low, high = np.asarray(config["n_min"]), np.asarray(config["n_max"])
        noise = rng.random(value.shape) * (high - low) + low
    elif name == "gaussian_noise":
        noise = np.asarray(config["mean"]) + np.asarray(config["std"]) * rng.standard_normal(value.shape)
    else:
        noise = np.broadcast_to(np.asarray(config["bias"], dtype=float), value.shape)
    match config.get("operation", "add"):
        case "scale":
            return value * noise
        case "abs":
            return np.array(noise)
        case _:
            return value + noise


class TermPipeline:
    """One term's way to the policy, in Isaac Lab's order: modifiers → noise → clip → scale → delay → history."""

    def __init__(
        self, term: ObservationTerm, env_count: int, rng: np.random.Generator, *, noise: bool, zero_fill: bool = False
    ) -> None:
        self._term = term
        self._rng = rng
        self._env_count = env_count
        self._zero_fill = zero_fill
        self._modifiers = [modifier(config, f"observation {term.name}") for config in term.modifiers]
        self._noise = Noise(term.noise, rng, f"observation {term.name}") if noise and term.noise else None
        self._scale = np.asarray(term.scale, dtype=np.float32) if term.scale else None
        self._delay: Delay | None = None
        self.history: History | None = None
        self._plain = not (
            self._modifiers or self._noise or term.clip or term.scale or term.delay_max_lag or term.history_length
        )

    def reset(self, env_ids: Rows) -> None:
        """Forget these environments' past."""
        for one in self._modifiers:
            one.reset(env_ids)
        if self._noise is not None:
            self._noise.reset(env_ids)
        if self._delay is not None:
            self._delay.reset(env_ids, self._lags(len(self._delay.lags[env_ids])))
        if self.history is not None:
            self.history.reset(env_ids)

    def _lags(self, count: int) -> Array:
        return self._rng.integers(self._term.delay_min_lag, self._term.delay_max_lag + 1, count)

    def __call__(self, value: Array, *, push: bool = True) -> Array:
        """The processed sample, (env_count, d), or with a history (env_count, n, d)."""
        if self._plain:
            return value
        for one in self._modifiers:
            value = one(value)
        if self._noise is not None:
            value = self._noise(value)
        if self._term.clip is not None:
            value = np.clip(value, *self._term.clip)
        value = np.asarray(value, dtype=np.float32)
        if self._scale is not None:
            value = value * self._scale
        if self._term.delay_max_lag > 0:
            if self._delay is None:
                self._delay = Delay(self._env_count, self._term.delay_max_lag, value.shape[-1])
                self._delay.reset(slice(None), self._lags(self._env_count))
            if self._term.delay_hold_prob < 1.0:
                redrawn = self._rng.random(self._env_count) >= self._term.delay_hold_prob
                self._delay.lags[redrawn] = self._lags(int(redrawn.sum()))
            value = self._delay(value)
        if self._term.history_length > 0:
            if self.history is None:
                length = self._term.history_length
                self.history = History(self._env_count, length, value.shape[-1], zero_fill=self._zero_fill)
            if push:
                self.history.push(value)
            return self.history.samples
        return value
