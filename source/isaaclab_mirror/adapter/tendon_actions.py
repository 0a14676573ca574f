"""Position targets for fixed tendons: motors that pull several joints at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.joint_actions import F32, Action, Targets
from isaaclab_mirror.adapter.registry import action_term
from isaaclab_mirror.adapter.world import World
from isaaclab_mirror.contract.contract import ActionTerm
from isaaclab_mirror.contract.matching import match_names, match_values
from isaaclab_mirror.diagnostics import InputError


@action_term("FixedTendonPositionAction", needs=("fixed tendons",))
class FixedTendonPosition(Action):
    """raw · scale + offset, then clip, for tendons by name."""

    def __init__(self, term: ActionTerm, world: World) -> None:
        patterns: Any = term.params.get("tendon_names") or ()
        self._where = f"action {term.name}"
        names = tuple(world.scene.tendon_names())
        if not names:
            raise InputError("E124", self._where, "the simulator has no fixed tendons to pull")
        ordered = bool(term.params.get("preserve_order", term.preserve_order))
        self.tendon_names = match_names(patterns, names, f"{self._where}.tendon_names", preserve_order=ordered)
        super().__init__(term, world)
        self.scale = self._per_tendon("scale", 1.0)
        self.offset = self._per_tendon("offset", 0.0)
        if clip := term.params.get("clip"):
            found = match_values(dict(clip), self.tendon_names, f"{self._where}.clip")
            self.bounds = np.array([found.get(name, (-np.inf, np.inf)) for name in self.tendon_names], dtype=F32).T

    def value_count(self) -> int:
        """One per tendon."""
        return len(self.tendon_names)

    def _per_tendon(self, key: str, default: float) -> Array:
        value: Any = self.term.params.get(key)
        if value is None or isinstance(value, int | float):
            return np.full(self.size, default if value is None else value, dtype=F32)
        found = match_values(dict(value), self.tendon_names, f"{self._where}.{key}")
        return np.array([found.get(name, default) for name in self.tendon_names], dtype=F32)

    def reset(self, world: World, env_ids: Array | slice) -> None:
        """Unlike joint actions, the processed values become 0 too."""
        super().reset(world, env_ids)
        self.processed[env_ids] = 0.0

    def apply(self, world: World, targets: Targets) -> None:
        """Held over the decimation."""
        for column, name in enumerate(self.tendon_names):
            targets.tendons[name] = self.processed[:, column]
