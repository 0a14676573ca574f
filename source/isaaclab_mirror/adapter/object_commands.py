"""Commands about objects: a pose to lift them to, an orientation to turn them to in the hand."""

from __future__ import annotations

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, error_angle, random_quaternions, unique
from isaaclab_mirror.adapter.commands import Command, UniformPoseCommand
from isaaclab_mirror.adapter.registry import command_term
from isaaclab_mirror.adapter.world import World
from isaaclab_mirror.contract.contract import Term
from isaaclab_mirror.diagnostics import InputError


@command_term("ObjectUniformPoseCommand", "lift", needs=("objects",))
class ObjectUniformPoseCommand(UniformPoseCommand):
    """The same as for a body, for an object of the scene."""

    def tracked(self, world: World) -> tuple[Array, Array]:
        """The object's pose."""
        asset = world.asset(str(self.config.get("object_name", "object")))
        return asset.root_pos, asset.root_quat


@command_term("ReorientCommand", "reorient", needs=("objects",))
class ReorientCommand(Command):
    """Where the object began (plus an offset) and any orientation; a new one when it is reached."""

    size = 7
    quat_at = 3

    def __init__(self, term: Term, world: World) -> None:
        super().__init__(term, world)
        name = str(self.config.get("asset_name", "object"))
        try:
            start = world.contract.entity(name).pos
        except KeyError:
            raise InputError("E124", f"command {term.name}", f"the scene has no {name!r}") from None
        self._asset = name
        self.value[:, :3] = np.asarray(start) + np.asarray(self.config.get("init_pos_offset") or (0.0, 0.0, 0.0))
        self.value[:, 3] = 1.0
        self._error = np.full(world.env_count, np.inf)
        self._fresh = np.zeros(world.env_count, dtype=bool)

    def reset(self, world: World, env_ids: Array | slice) -> None:
        """A goal that the start already meets is not counted as reached."""
        super().reset(world, env_ids)
        self._fresh[env_ids] = world.episode_steps[env_ids] > 0

    def resample(self, world: World, rows: Array) -> None:
        """Uniform on all orientations."""
        quat = random_quaternions(self.rng, len(rows))
        self.value[rows, 3:] = unique(quat) if self.config.get("make_quat_unique") else quat

    def measure(self, world: World) -> None:
        """Angle to the goal [rad]."""
        self._error = error_angle(world.asset(self._asset).root_quat, self.value[:, 3:])

    def update(self, world: World) -> None:
        """A new goal where the last one is reached."""
        if not self.config.get("update_goal_on_success"):
            return
        reached = self._error < float(self.config["orientation_success_threshold"])
        rows = np.flatnonzero(reached & ~self._fresh & ~self.fixed)
        self._fresh[:] = False
        if len(rows):
            self._draw(world, rows)


@command_term("InHandReOrientationCommand", "inhand", needs=("objects",))
class InHandReOrientationCommand(ReorientCommand):
    """The same in Isaac Lab 2."""
