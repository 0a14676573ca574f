"""Commands that a person holds: velocities of a legged robot, or any command term by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isaaclab_mirror.adapter.adapter import Adapter
from isaaclab_mirror.diagnostics import InputError

VELOCITY = 3
"""Values of a velocity command: vx, vy [m/s], wz [rad/s]."""


def velocity_command(adapter: Adapter) -> str | None:
    """Name of the command term that is a velocity; None where the task has none."""
    return next((name for name, term in adapter.world.commands.items() if term.size == VELOCITY), None)


def hold_commands(adapter: Adapter, commands: Mapping[str, Sequence[float]]) -> None:
    """Hold commands at values; the name `velocity` stands for whatever the task calls its velocity command."""
    for name, values in commands.items():
        term = name
        if name == "velocity" and name not in adapter.world.commands:
            found = velocity_command(adapter)
            if found is None:
                known = ", ".join(adapter.world.commands) or "none"
                raise InputError(
                    "E122", "command", "the task has no velocity command", f"leave --command out; its commands: {known}"
                )
            term = found
        adapter.set_command(term, values)
