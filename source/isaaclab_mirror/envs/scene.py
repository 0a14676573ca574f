"""What terms may ask of a running simulator beside the robot's state."""

from __future__ import annotations

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.adapter.world import EmptyScene
from isaaclab_mirror.sims.simulator import Simulator


class SimulatedScene(EmptyScene):
    """A robot on a plane in a simulator; objects of the task are not simulated."""

    def __init__(self, simulator: Simulator, height: float = 0.0) -> None:
        super().__init__(height)
        self._simulator = simulator

    def jacobian(self, body: str) -> Array:
        """(env_count, 6, n) of a link's origin, world axes."""
        return self._simulator.jacobian(body)

    def mass_matrix(self) -> Array:
        """(env_count, n, n)"""
        return self._simulator.mass_matrix()
