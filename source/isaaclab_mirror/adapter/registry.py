"""Terms and actuators by the names that Isaac Lab gives them, and those of the user's own.

A term is looked up by its bare name (`base_lin_vel`) and, where Isaac Lab has several of one name, by a part of its
module (`stack`, `pick_place`). A name that only a module of the user's defines is taken for Isaac Lab's own, which is
what task packages re-export; a task package of Isaac Lab that redefines a name is told apart.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from isaaclab_mirror.diagnostics import InputError

T = TypeVar("T", bound=Callable[..., Any])

SHIPPED = ("isaaclab_tasks", "isaaclab_contrib", "isaaclab_assets")
"""Packages whose modules redefine names on purpose: a term of theirs must be registered for its module."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered function or class."""

    name: str
    modules: tuple[str, ...]
    """Parts of module paths (`core.lift`) in which Isaac Lab defines it; empty: `isaaclab.envs.mdp`, the user's own."""
    make: Callable[..., Any]
    needs: tuple[str, ...] = ()
    """What a replay must offer for it beside the robot's state: see `coverage`."""


class Registry:
    """Terms of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, list[Entry]] = {}

    def register(self, name: str, *modules: str, needs: tuple[str, ...] = ()) -> Callable[[T], T]:
        """Decorator: under the name that `env.yaml` has, for all modules or for some."""

        def keep(make: T) -> T:
            entries = self._entries.setdefault(name, [])
            if any(set(entry.modules) == set(modules) for entry in entries):
                raise InputError("E121", self.kind, f"{self.kind} {name!r} is registered twice")
            entries.append(Entry(name, modules, make, needs))
            return make

        return keep

    def names(self) -> tuple[str, ...]:
        """Every known name."""
        return tuple(sorted(self._entries))

    def find(self, func: str) -> Entry | None:
        """The entry for `module:name`, or None."""
        module, _, name = func.rpartition(":") if ":" in func else func.rpartition(".")
        entries = self._entries.get(name, [])
        for entry in entries:
            if any(f".{part}." in f".{module}." for part in entry.modules):
                return entry
        if module.split(".")[0] in SHIPPED:
            return None
        general = [entry for entry in entries if not entry.modules]
        if general or module.split(".")[0] == "isaaclab":
            return general[0] if general else None
        return entries[0] if len(entries) == 1 else None

    def get(self, func: str, where: str) -> Entry:
        """The entry for `module:name`; an unknown one is refused with the nearest and with where it is defined."""
        entry = self.find(func)
        if entry is None:
            raise InputError("E120", where, self.unknown(func), self.how_to_add(func))
        return entry

    def unknown(self, func: str) -> str:
        """What to say of a term that is not registered."""
        module, _, name = func.rpartition(":") if ":" in func else func.rpartition(".")
        defined = f", defined in {module.replace('.', '/')}.py" if module else ""
        return f"unknown {self.kind} {name!r}{defined}"

    def nearest(self, func: str) -> str | None:
        """The known name most like it."""
        name = func.rpartition(":")[2].rpartition(".")[2]
        near = get_close_matches(name, self._entries, 1, 0.5)
        return near[0] if near else None

    def how_to_add(self, func: str) -> str:
        """The next step."""
        name = func.rpartition(":")[2].rpartition(".")[2]
        near = self.nearest(func)
        meant = f"the nearest known is {near!r}; " if near and near != name else ""
        decorator = self.kind.replace(" ", "_")
        return f'{meant}write it as @{decorator}("{name}") in a file given with --plugin (docs/adapter.md)'


OBSERVATIONS = Registry("observation term")
ACTIONS = Registry("action term")
COMMANDS = Registry("command term")
TERMINATIONS = Registry("termination term")
REWARDS = Registry("reward term")
EVENTS = Registry("event term")
ACTUATORS = Registry("actuator")

observation_term = OBSERVATIONS.register
action_term = ACTIONS.register
command_term = COMMANDS.register
termination_term = TERMINATIONS.register
reward_term = REWARDS.register
event_term = EVENTS.register
actuator = ACTUATORS.register

BUILT_IN = (
    "observations",
    "object_observations",
    "task_observations",
    "joint_actions",
    "task_space_actions",
    "tendon_actions",
    "commands",
    "object_commands",
    "terminations",
    "task_terminations",
    "rewards",
    "velocity_rewards",
    "task_rewards",
    "object_rewards",
    "events",
    "task_events",
    "randomisations",
    "deploy_terms",
    "motor_models",
    "motor_networks",
)


def load_built_in() -> None:
    """Register Isaac Lab's own terms (once; a module registers when it is imported)."""
    for module in BUILT_IN:
        importlib.import_module(f"isaaclab_mirror.adapter.{module}")


def load_plugin(path: Path) -> None:
    """Run a file of the user's own, whose decorators register terms. It is code: only files that the user names."""
    path = path.resolve()
    name = f"isaaclab_mirror_plugin_{path.stem}_{abs(hash(path))}"
    if name in sys.modules:
        return
    if not path.is_file():
        raise InputError("E121", path, "the plugin is no file", "give a Python file: --plugin my_terms.py")
    load_built_in()
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError("E121", path, "the plugin is no Python file", "its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except InputError:
        del sys.modules[name]
        raise
    except Exception as error:
        del sys.modules[name]
        raise InputError("E121", path, f"the plugin does not run: {type(error).__name__}: {error}") from error
