"""Policy: observations in, actions out, one recurrent state per environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from isaaclab_mirror.contract.contract import PolicyKind
from isaaclab_mirror.diagnostics import Diagnostic, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

State = tuple["Array", ...]
"""What a recurrent network carries: (layers, env_count, hidden) each; empty where it carries nothing."""


class Network(Protocol):
    """What a file holds: a function of observations and state, without a memory of its own."""

    input_size: int | None
    """None: the file does not say."""
    action_size: int | None
    state_shapes: tuple[tuple[int, int], ...]
    """(layers, hidden) of each array of the state."""

    def __call__(self, observations: Array, state: State) -> tuple[Array, State]:
        """(n, input_size) → (n, action_size), and the state after it."""
        ...


class Actor(Protocol):
    """What chooses actions: a policy, or what was recorded of one."""

    file: Path

    @property
    def input_size(self) -> int | None:
        """Values of one observation; None: any number."""
        ...

    @property
    def action_size(self) -> int | None:
        """Values of one action; None: not known."""
        ...

    def __call__(self, observations: Array) -> Array:
        """Actions (env_count, action_size) for observations (env_count, input_size), both float32."""
        ...

    def reset(self, env_ids: Any = None) -> None:
        """New episodes begin in these environments, or in all."""
        ...


class Policy:
    """A network with its state, one row per environment: rows never mix."""

    def __init__(self, file: Path, kind: PolicyKind, network: Network, notes: Sequence[Diagnostic] = ()) -> None:
        """`load_policy` makes one."""
        self.file = file
        self.kind = kind
        self.notes = tuple(notes)
        """What a user should know of how the file was read."""
        self._network = network
        self._state: State = ()
        self._env_count = 0

    @property
    def input_size(self) -> int | None:
        """Values of one observation; None where the file does not say."""
        return self._network.input_size

    @property
    def action_size(self) -> int | None:
        """Values of one action; None where the file does not say."""
        return self._network.action_size

    @property
    def is_recurrent(self) -> bool:
        """Whether it remembers."""
        return bool(self._network.state_shapes)

    def __call__(self, observations: Array) -> Array:
        """Actions (env_count, action_size) for observations (env_count, input_size), both float32."""
        import numpy as np

        given = np.ascontiguousarray(observations, dtype=np.float32)
        if given.ndim != 2 or (self.input_size is not None and given.shape[1] != self.input_size):
            wanted = "any number of" if self.input_size is None else str(self.input_size)
            raise InputError(
                "E131", self.file, f"the policy takes {wanted} values per environment, not an array of {given.shape}"
            )
        if len(given) != self._env_count:
            self._begin(len(given))
        actions, self._state = self._network(given, self._state)
        if not np.isfinite(actions).all():
            raise self._not_finite(actions, given)
        return actions

    def _begin(self, env_count: int) -> None:
        import numpy as np

        if self._env_count and self.is_recurrent:
            raise InputError(
                "E131",
                self.file,
                f"the policy remembers {self._env_count} environments and was asked for {env_count}",
                "reset() it first",
            )
        self._env_count = env_count
        self._state = tuple(np.zeros((n, env_count, h), np.float32) for n, h in self._network.state_shapes)

    def _not_finite(self, actions: Array, observations: Array) -> InputError:
        import numpy as np

        row = int(np.flatnonzero(~np.isfinite(actions).all(axis=1))[0])
        column = int(np.flatnonzero(~np.isfinite(actions[row]))[0])
        what = f"the policy's action {column} is {actions[row, column]} in environment {row}"
        if np.isfinite(observations[row]).all():
            return InputError("E133", self.file, what, "its observation is finite: the file holds numbers that are not")
        bad = int(np.flatnonzero(~np.isfinite(observations[row]))[0])
        return InputError("E133", self.file, what, f"value {bad} of its observation is {observations[row, bad]}")

    def reset(self, env_ids: Any = None) -> None:
        """Forget these environments' past (indices or a mask), or everything."""
        if env_ids is None:
            self._env_count, self._state = 0, ()
            return
        for part in self._state:
            part[:, env_ids] = 0.0


def check_sizes(policy: Actor, terms: Sequence[tuple[str, int]], action_size: int) -> None:
    """Refuse a policy that does not fit: `terms` are the observation's parts with their sizes, in order."""
    total = sum(size for _, size in terms)
    if policy.input_size is not None and policy.input_size != total:
        listing = " + ".join(f"{name} {size}" for name, size in terms)
        raise InputError(
            "E131",
            policy.file,
            f"the policy takes {policy.input_size} values, the contract's observation has {total} = {listing}",
            _which_term(policy.input_size - total, terms),
        )
    if policy.action_size is not None and policy.action_size != action_size:
        raise InputError(
            "E131",
            policy.file,
            f"the policy gives {policy.action_size} values, the contract's actions take {action_size}",
            "is it the policy of this task and robot?",
        )


def _which_term(difference: int, terms: Sequence[tuple[str, int]]) -> str:
    alike = [name for name, size in terms if size == -difference]
    if alike:
        return f"it fits without {' or '.join(repr(name) for name in alike)}"
    missing = f"{difference} values are missing" if difference > 0 else f"{-difference} values are too many"
    return f"{missing}: is it the policy of this task, and is the history as in training?"
