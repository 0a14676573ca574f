"""All action terms together: the action vector cut into slices, targets of every physics step."""

from __future__ import annotations

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.joint_actions import F32, Action, Targets
from isaaclab_mirror.adapter.registry import ACTIONS
from isaaclab_mirror.adapter.world import World
from isaaclab_mirror.contract.contract import Wrapper
from isaaclab_mirror.diagnostics import InputError


class ActionManager:
    """Isaac Lab's ActionManager, behind the wrapper's clip."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.terms: list[Action] = []
        self._slices: list[slice] = []
        start = 0
        for term in world.contract.actions:
            entry = ACTIONS.get(term.class_type or term.kind, f"action {term.name}")
            action: Action = entry.make(term, world)
            self.terms.append(action)
            self._slices.append(slice(start, start + action.size))
            start += action.size
        self.size = start
        self.action = np.zeros((world.env_count, self.size), dtype=F32)
        """As the environment got it."""
        self.previous = np.zeros_like(self.action)
        self.targets = Targets.zeros(world.env_count, len(world.layout.joint_names))
        self.reads_state = any(term.reads_state for term in self.terms)
        self._low, self._high = wrapper_bounds(world.contract.wrapper, self.size)

    def term(self, name: str) -> Action:
        """An action term by name."""
        for term in self.terms:
            if term.name == name:
                return term
        known = ", ".join(term.name for term in self.terms)
        raise InputError("E122", f"action {name}", f"there is no action term {name!r}", f"there are: {known}")

    @property
    def processed(self) -> Array:
        """What all terms made of the action, side by side."""
        return np.concatenate([term.processed for term in self.terms], axis=-1)

    def reset(self, env_ids: Array | slice) -> None:
        """Actions become 0; the targets stay, as in Isaac Lab."""
        self.action[env_ids] = 0.0
        self.previous[env_ids] = 0.0
        for term in self.terms:
            term.reset(self._world, env_ids)

    def process(self, action: Array) -> None:
        """Once per policy step: the wrapper's clip, then each term's slice."""
        if action.shape != self.action.shape:
            raise InputError(
                "E122", "action", f"the action has shape {action.shape}, expected {self.action.shape}", self.layout()
            )
        self.previous[:] = self.action
        self.action[:] = action
        if self._low is not None:
            np.clip(self.action, self._low, self._high, out=self.action)
        for term, part in zip(self.terms, self._slices, strict=True):
            term.process(self._world, self.action[:, part])

    def apply(self) -> Targets:
        """Once per physics step."""
        for term in self.terms:
            term.apply(self._world, self.targets)
        return self.targets

    def layout(self) -> str:
        """Which terms take how many numbers, for messages."""
        return "the action is " + " + ".join(f"{term.name} {term.size}" for term in self.terms)


def wrapper_bounds(wrapper: Wrapper, size: int) -> tuple[Array | None, Array | None]:
    """Bounds of the raw action, or None: none."""
    if not wrapper.clip_actions:
        return None, None
    bounds = np.asarray(wrapper.clip_actions, dtype=F32)
    if len(bounds) not in (1, size):
        raise InputError("E122", "wrapper.clip_actions", f"{len(bounds)} bounds for {size} actions")
    return np.broadcast_to(bounds[:, 0], (size,)), np.broadcast_to(bounds[:, 1], (size,))
