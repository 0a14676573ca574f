"""State: what both engines tell of `env_count` copies of a robot, in one set of units, frames and orders.

SI units, radians, quaternions wxyz. `_w`: in the world frame of the environment, whose origin is the environment's own
(copies that an engine places apart are moved back). Joints and links stand in canonical order: that of the robot model,
depth first, which is MuJoCo's; match by name when an order comes from elsewhere (Isaac Lab's is breadth first).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkStates:
    """Pose and velocity of every link, (env_count, links, …)."""

    pos_w: Array
    """Of the link's origin [m]."""
    quat_wxyz: Array
    lin_vel_w: Array
    """Of the link's origin [m/s]."""
    com_lin_vel_w: Array
    """Of the link's centre of mass [m/s]: what PhysX and Isaac Lab's `body_com_lin_vel_w` mean."""
    ang_vel_w: Array
    """[rad/s]"""

    def rows(self, env_ids: Any) -> LinkStates:
        """Of some environments."""
        return LinkStates(**{f.name: getattr(self, f.name)[env_ids] for f in fields(self)})


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """Everything at one moment; arrays are copies that later steps do not touch."""

    time_s: Array
    """Since the last reset of each environment, (env_count,)."""
    root_pos_w: Array
    """Of the root link's origin [m], (env_count, 3)."""
    root_quat_wxyz: Array
    root_lin_vel_w: Array
    """Of the root link's origin [m/s]: Isaac Lab's `root_link_lin_vel_w`."""
    root_com_lin_vel_w: Array
    """Of the root link's centre of mass [m/s]: Isaac Lab's `root_com_lin_vel_w`, PhysX's root velocity."""
    root_ang_vel_w: Array
    """[rad/s]"""
    joint_names: tuple[str, ...]
    joint_pos: Array
    """[rad or m], (env_count, joints). The three of a ball joint (`name:0` …) are its rotation vector."""
    joint_vel: Array
    """[rad/s or m/s]"""
    link_names: tuple[str, ...]
    find_torque: Callable[[], Array] = field(repr=False)
    find_contacts: Callable[[], Array] = field(repr=False)
    find_links: Callable[[], LinkStates] = field(repr=False)
    """What costs something is computed, from copies, when it is first asked for."""

    @cached_property
    def joint_torque(self) -> Array:
        """Drive and effort together at this state, bounded: clip(kp (q* − q) + kd (v* − v) + effort) [N·m or N].

        The law that the source states, in both engines: what Isaac Lab calls `applied_torque`.
        """
        return self.find_torque()

    @cached_property
    def contact_force_w(self) -> Array:
        """Net contact force on every link during the last step [N], (env_count, links, 3); nan where not measured."""
        return self.find_contacts()

    @cached_property
    def links(self) -> LinkStates:
        """Every link's pose and velocity."""
        return self.find_links()

    @property
    def link_pos_w(self) -> Array:
        """Of every link's origin [m], (env_count, links, 3)."""
        return self.links.pos_w

    @property
    def link_quat_wxyz(self) -> Array:
        """(env_count, links, 4)"""
        return self.links.quat_wxyz

    @property
    def link_lin_vel_w(self) -> Array:
        """Of every link's origin [m/s], (env_count, links, 3)."""
        return self.links.lin_vel_w

    @property
    def link_com_lin_vel_w(self) -> Array:
        """Of every link's centre of mass [m/s], (env_count, links, 3)."""
        return self.links.com_lin_vel_w

    @property
    def link_ang_vel_w(self) -> Array:
        """[rad/s], (env_count, links, 3)"""
        return self.links.ang_vel_w

    @property
    def env_count(self) -> int:
        """Number of environments."""
        return len(self.time_s)

    def joint_index(self, name: str) -> int:
        """Column of a joint."""
        return self.joint_names.index(name)

    def link_index(self, name: str) -> int:
        """Column of a link."""
        return self.link_names.index(name)

    def rows(self, env_ids: Any) -> State:
        """The state of some environments: a slice or an array of indices."""
        arrays = {name: getattr(self, name)[env_ids] for name in ARRAYS}
        return State(
            joint_names=self.joint_names,
            link_names=self.link_names,
            find_torque=lambda: self.joint_torque[env_ids],
            find_contacts=lambda: self.contact_force_w[env_ids],
            find_links=lambda: self.links.rows(env_ids),
            **arrays,
        )


ARRAYS = (
    "time_s",
    "root_pos_w",
    "root_quat_wxyz",
    "root_lin_vel_w",
    "root_com_lin_vel_w",
    "root_ang_vel_w",
    "joint_pos",
    "joint_vel",
)
"""Fields of a State that are arrays."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Start:
    """Part of a state to reset to; None is the robot's own initial value.

    Arrays are (envs, …) or one row for all. Joints: an array in canonical order, or a mapping from names, the
    others at their initial value. Of a fixed base the pose can be set, in MuJoCo as in PhysX; its velocity is zero.
    """

    root_pos_w: ArrayLike | None = None
    """Of the root link's origin [m]."""
    root_quat_wxyz: ArrayLike | None = None
    root_lin_vel_w: ArrayLike | None = None
    """Of the root link's origin [m/s]; not together with `root_com_lin_vel_w`."""
    root_com_lin_vel_w: ArrayLike | None = None
    """Of the root link's centre of mass [m/s]."""
    root_ang_vel_w: ArrayLike | None = None
    joint_pos: ArrayLike | Mapping[str, ArrayLike] | None = None
    joint_vel: ArrayLike | Mapping[str, ArrayLike] | None = None


def start_of(state: State | Start | None) -> Start:
    """What a reset needs of a state."""
    if state is None:
        return Start()
    if isinstance(state, Start):
        return state
    return Start(
        root_pos_w=state.root_pos_w,
        root_quat_wxyz=state.root_quat_wxyz,
        root_lin_vel_w=state.root_lin_vel_w,
        root_ang_vel_w=state.root_ang_vel_w,
        joint_pos=state.joint_pos,
        joint_vel=state.joint_vel,
    )
