"""Terms made ready to run: parameters resolved once, classes made once, unknown ones told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.registry import Registry
from isaaclab_mirror.adapter.world import World, resolve_params


class BoundTerm:
    """A function or class of a registry with its parameters: call it with nothing, get (env_count, …)."""

    def __init__(self, registry: Registry, func: str, params: Mapping[str, Any], world: World, where: str) -> None:
        entry = registry.get(func, where)
        self.needs = entry.needs
        self._world = world
        self._params = resolve_params(params, world, where)
        self._call: Callable[..., Array] = entry.make
        self._instance: Any = None
        if isinstance(entry.make, type):
            self._instance = entry.make(world, self._params)
            self._call = self._instance

    def __call__(self) -> Array:
        """The value now."""
        return self._call(self._world, **self._params)

    def reset(self, env_ids: Array | slice) -> None:
        """Forget these environments' past, where the term has one."""
        forget = getattr(self._instance, "reset", None)
        if forget is not None:
            forget(env_ids)
