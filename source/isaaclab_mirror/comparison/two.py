"""Two simulators of one robot, matched by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isaaclab_mirror.sims.simulator import Simulator
from isaaclab_mirror.sims.state import Start

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Two:
    """Two simulators and what they have in common."""

    a: Simulator
    b: Simulator
    joints: tuple[str, ...]
    links: tuple[str, ...]

    def columns(self, sim: Simulator) -> NDArray[np.intp]:
        """Of the common joints in a simulator's order."""
        import numpy as np

        return np.array([sim.joint_names.index(name) for name in self.joints], dtype=np.intp)

    def generalized(self, sim: Simulator) -> NDArray[np.intp]:
        """Of the common coordinates in a simulator's mass matrix: the base's six where both have them, then joints."""
        import numpy as np

        base = 0 if sim.fixed_base else 6
        both = not (self.a.fixed_base or self.b.fixed_base)
        return np.concatenate([np.arange(6 if both else 0), base + self.columns(sim)]).astype(np.intp)


def common(a: Simulator, b: Simulator) -> Two:
    """What both have, in the order of `a`."""
    joints = tuple(name for name in a.joint_names if name in b.joint_names)
    return Two(a, b, joints, tuple(name for name in a.link_names if name in b.link_names))


def spread(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Some names, the last among them, evenly."""
    step = max(1, len(names) // count)
    return tuple(names[::-1][::step])


def put(
    sim: Simulator, names: Sequence[str], position: Array, velocity: Array, base: tuple[Array, Array] | None
) -> None:
    """A configuration in every environment; a floating base at the origin."""
    joints = dict(zip(names, position.tolist(), strict=True))
    speeds = dict(zip(names, velocity.tolist(), strict=True))
    quat, twist = base if base is not None else (None, None)
    place = None if base is None else (0.0, 0.0, 0.0)
    sim.reset(Start(joint_pos=joints, joint_vel=speeds, root_pos_w=place, root_quat_wxyz=quat, root_ang_vel_w=twist))
