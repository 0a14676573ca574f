"""Observation groups: every term through its pipeline, laid out as Isaac Lab's ObservationManager does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.pipeline import TermPipeline
from isaaclab_mirror.adapter.registry import OBSERVATIONS
from isaaclab_mirror.adapter.terms import BoundTerm
from isaaclab_mirror.adapter.world import World
from isaaclab_mirror.contract.contract import ObservationGroup, ObservationTerm
from isaaclab_mirror.diagnostics import Diagnostic, InputError


class Group:
    """One observation group."""

    def __init__(self, group: ObservationGroup, world: World, *, noise: bool) -> None:
        self.group = group
        self._world = world
        self.terms: list[tuple[ObservationTerm, BoundTerm, TermPipeline]] = []
        zero = group.history_fill == "zero"
        for term in group.terms:
            bound = BoundTerm(OBSERVATIONS, term.func, term.params, world, f"observation {term.name}")
            corrupt = noise and group.enable_corruption
            pipeline = TermPipeline(term, world.env_count, world.rng, noise=corrupt, zero_fill=zero)
            self.terms.append((term, bound, pipeline))
        self._lags = list(group.history_lags)
        past = any(term.history_length for term in group.terms)
        self._simple = group.concatenate and not past and group.concatenate_dim in (-1, 0)

    def reset(self, env_ids: Array) -> None:
        """Forget these environments' past."""
        for _, bound, pipeline in self.terms:
            bound.reset(env_ids)
            pipeline.reset(env_ids)

    def compute(self, *, push: bool) -> dict[str, Array]:
        """Every term's processed value: (env_count, d), or (env_count, frames, d) with a history."""
        result: dict[str, Array] = {}
        for term, bound, pipeline in self.terms:
            value = pipeline(bound(), push=push)
            if value.ndim == 3 and self._lags and term.history_length > 0:
                newest = value.shape[1] - 1
                value = value[:, [newest - lag for lag in self._lags]]
            result[term.name] = value
        return result

    def layout(self, values: dict[str, Array]) -> Array | dict[str, Array]:
        """One array, or a mapping where the group does not concatenate; float32."""
        group, count = self.group, self._world.env_count
        if self._simple:
            return np.concatenate(list(values.values()), axis=-1, dtype=np.float32, casting="same_kind")
        stacked = [value for value in values.values() if value.ndim == 3]
        by_time = group.history_order == "time" and group.flatten_history and group.concatenate
        if by_time and len(stacked) == len(values) and stacked:
            return np.concatenate(stacked, axis=-1).reshape(count, -1)
        flat = {
            term.name: np.asarray(value.reshape(count, -1) if flattened(term, value) else value, dtype=np.float32)
            for (term, _, _), value in zip(self.terms, values.values(), strict=True)
        }
        if not group.concatenate:
            return flat
        axis = group.concatenate_dim if group.concatenate_dim < 0 else group.concatenate_dim + 1
        return np.concatenate(list(flat.values()), axis=axis)


def flattened(term: ObservationTerm, value: Array) -> bool:
    """Whether a term's frames stand in one row."""
    return term.history_length > 0 and term.flatten_history and value.ndim == 3


class ObservationManager:
    """The groups of a contract; one that cannot be built and is not the policy's is left out and told."""

    def __init__(self, world: World, *, noise: bool) -> None:
        self._world = world
        self.groups: dict[str, Group] = {}
        self.missing: list[Diagnostic] = []
        for group in world.contract.observations:
            try:
                self.groups[group.name] = Group(group, world, noise=noise)
            except InputError as error:
                if group.name in world.contract.policy_groups:
                    raise
                self.missing.append(error.diagnostic)
        self.sizes: dict[str, dict[str, int]] = {}
        """group → term → values with history, of the policy's groups."""

    @property
    def needs(self) -> set[str]:
        """What the policy's terms need beside the state."""
        names = self._world.contract.policy_groups
        return {need for name in names for _, bound, _ in self.groups[name].terms for need in bound.needs}

    def ask_sizes(self) -> None:
        """Ask every term of the policy's groups once, as Isaac Lab does: what is missing is told now."""
        for name in self._world.contract.policy_groups:
            self.sizes[name] = self._ask(self.groups[name])

    def _ask(self, group: Group) -> dict[str, int]:
        found: dict[str, int] = {}
        with self._world.imagined():
            for term, bound, _ in group.terms:
                count = int(np.prod(np.shape(bound())[1:]))
                found[term.name] = count * max(term.history_length, 1)
                if term.history_length > 0 and group.group.history_lags:
                    found[term.name] = count * len(group.group.history_lags)
        return found

    def reset(self, env_ids: Array) -> None:
        """Forget these environments' past."""
        for group in self.groups.values():
            group.reset(env_ids)

    def compute(self, names: Sequence[str], *, push: bool) -> dict[str, Array | dict[str, Array]]:
        """The groups named."""
        result: dict[str, Array | dict[str, Array]] = {}
        for name in names:
            group = self.groups[name]
            result[name] = group.layout(group.compute(push=push))
        return result

    def terms(self, name: str, *, push: bool = False) -> dict[str, Array]:
        """One group term by term, flattened: for messages and comparisons."""
        values = self.groups[name].compute(push=push)
        return {term: value.reshape(self._world.env_count, -1) for term, value in values.items()}
