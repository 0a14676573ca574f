"""Buffers of the past: history as Isaac Lab's CircularBuffer has it, and delays of a few steps."""

from __future__ import annotations

import numpy as np

from isaaclab_mirror.adapter.arrays import Array


class History:
    """The last samples of each environment, oldest first; the first one after a reset fills every slot.

    `zero_fill` is not Isaac Lab's: the slots before the first sample stay zero (some deployment stacks).
    """

    def __init__(self, env_count: int, length: int, size: int, *, zero_fill: bool = False) -> None:
        self._samples = np.zeros((env_count, length, size), dtype=np.float32)
        self._fresh = np.ones(env_count, dtype=bool)
        self._zero_fill = zero_fill

    def reset(self, env_ids: Array | slice) -> None:
        """Forget everything of these environments."""
        self._samples[env_ids] = 0.0
        self._fresh[env_ids] = True

    def push(self, sample: Array) -> None:
        """Add the newest sample, (env_count, size)."""
        self._samples[:, :-1] = self._samples[:, 1:]
        self._samples[:, -1] = sample
        if self._fresh.any():
            if not self._zero_fill:
                self._samples[self._fresh] = sample[self._fresh, None]
            self._fresh[:] = False

    @property
    def samples(self) -> Array:
        """(env_count, length, size), oldest first."""
        return self._samples


class Delay:
    """A value some steps late, the lag of each environment its own and at most the samples since its reset."""

    def __init__(self, env_count: int, longest: int, size: int) -> None:
        self._samples = np.zeros((env_count, longest + 1, size), dtype=np.float32)
        """Newest first."""
        self._pushed = np.zeros(env_count, dtype=int)
        self.lags = np.zeros(env_count, dtype=int)
        self._rows = np.arange(env_count)

    def reset(self, env_ids: Array | slice, lags: Array | int) -> None:
        """Forget the samples and take new lags [steps]."""
        self._pushed[env_ids] = 0
        self.lags[env_ids] = lags

    def __call__(self, sample: Array) -> Array:
        """Push the newest sample, (env_count, size), and give the late one."""
        self._samples[:, 1:] = self._samples[:, :-1]
        self._samples[:, 0] = sample
        self._pushed += 1
        lag = np.minimum(self.lags, self._pushed - 1)
        return self._samples[self._rows, lag]
