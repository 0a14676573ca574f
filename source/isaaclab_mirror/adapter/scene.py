"""Scene: what a term may ask of the environment beside the robot's state; and the one that has nothing but a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.state import State


class Scene(Protocol):
    """What the environment offers beside the robot; everything is batched like State."""

    def asset(self, name: str) -> State:
        """An object or another articulation by its name in the scene; an object has no joints and one link."""
        ...

    def heights(self, points_xy: Array) -> Array:
        """Of the ground [m] under points (…, 2) of each environment's frame."""
        ...

    def joint_wrench(self, bodies: Sequence[str]) -> Array:
        """Force and torque that each body's incoming joint transmits, (env_count, bodies, 6)."""
        ...

    def tendon_names(self) -> Sequence[str]:
        """Fixed tendons that take position targets."""
        ...

    def jacobian(self, body: str) -> Array:
        """(env_count, 6, n) of the robot's link origin, world axes, as `Simulator.jacobian`."""
        ...

    def mass_matrix(self) -> Array:
        """(env_count, n, n), as `Simulator.mass_matrix`."""
        ...

    def gravity_forces(self) -> Array:
        """Generalised forces that hold the robot against gravity, (env_count, n)."""
        ...


class EmptyScene:
    """A plane at height 0 and nothing else."""

    def __init__(self, height: float = 0.0) -> None:
        self._height = height

    def asset(self, name: str) -> State:
        """There is none."""
        raise InputError("E124", f"scene.{name}", f"the environment has no {name!r}", "it is not simulated here")

    def heights(self, points_xy: Array) -> Array:
        """The plane."""
        return np.full(points_xy.shape[:-1], self._height)

    def joint_wrench(self, bodies: Sequence[str]) -> Array:
        """Not measured."""
        raise InputError("E124", "scene", "the wrench of a joint is not measured here")

    def tendon_names(self) -> Sequence[str]:
        """None."""
        return ()

    def jacobian(self, body: str) -> Array:
        """Not known without a simulator."""
        raise InputError("E124", "scene", f"the Jacobian of {body!r} is not known here")

    def mass_matrix(self) -> Array:
        """Not known without a simulator."""
        raise InputError("E124", "scene", "the mass matrix is not known here")

    def gravity_forces(self) -> Array:
        """Not known without a simulator."""
        raise InputError("E124", "scene", "the gravity forces are not known here")
