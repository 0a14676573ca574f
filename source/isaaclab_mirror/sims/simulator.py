"""Simulator: what both engines can do, nothing else; and the checks of what goes in and comes out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.settings import SimSettings
from isaaclab_mirror.sims.state import Start, State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    JointValues = ArrayLike | Mapping[str, ArrayLike]
    """(joints,), (env_count, joints) in canonical order, one number for all, or by name: a number or (env_count,)."""

LARGEST_SPEED = 1e6
"""A joint or link beyond this [rad/s or m/s] has exploded, whatever the robot."""


@runtime_checkable
class Simulator(Protocol):
    """One engine, `env_count` copies of one robot. A context manager; `close` may be called twice."""

    engine: str
    """`MuJoCo` or `PhysX`, for messages."""
    joint_names: tuple[str, ...]
    """Canonical order: the robot model's, depth first."""
    link_names: tuple[str, ...]
    env_count: int
    settings: SimSettings

    @property
    def step_s(self) -> float:
        """Seconds that `step(1)` advances."""
        ...

    @property
    def fixed_base(self) -> bool:
        """Whether the root link cannot move freely."""
        ...

    def reset(self, state: State | Start | None = None, env_ids: Sequence[int] | None = None) -> None:
        """To a state, part of one, or the robot's own start; targets become the joint positions, efforts zero."""
        ...

    def set_position_targets(self, values: JointValues, env_ids: Sequence[int] | None = None) -> None:
        """[rad or m], held until the next call. By name: the others keep theirs."""
        ...

    def set_velocity_targets(self, values: JointValues, env_ids: Sequence[int] | None = None) -> None:
        """[rad/s or m/s], held until the next call."""
        ...

    def set_efforts(self, values: JointValues, env_ids: Sequence[int] | None = None) -> None:
        """Beside what the drives do [N·m or N], held until the next call; the drive's bound holds for both together."""
        ...

    def set_gains(self, stiffness: JointValues | None = None, damping: JointValues | None = None) -> None:
        """Of the drives [N·m/rad, N·m·s/rad or N/m, N·s/m], the same in all environments."""
        ...

    def step(self, count: int = 1) -> None:
        """Advance by `count · step_s`. Raises an InputError that says which joint exploded, if one did."""
        ...

    def read(self) -> State:
        """The state now."""
        ...

    def gains(self) -> tuple[Array, Array]:
        """Stiffness and damping of the drives, (joints,) each."""
        ...

    def effort_limits(self) -> Array:
        """Bound of drive and effort together [N·m or N], (joints,); inf where there is none."""
        ...

    def joint_limits(self) -> Array:
        """Lower and upper [rad or m], (joints, 2); ±inf where there is none."""
        ...

    def masses(self) -> Array:
        """Of every link [kg], (links,)."""
        ...

    def centers_of_mass(self) -> Array:
        """Of every link in its own frame [m], (links, 3)."""
        ...

    def mass_matrix(self) -> Array:
        """(env_count, n, n), armature included; M u̇ + bias = τ.

        u is the joint velocities; with a floating base first the linear velocity of the root link's **centre of
        mass** and its angular velocity, both in world axes (PhysX's coordinates), n = 6 + joints.
        """
        ...

    def bias(self) -> Array:
        """Coriolis, centrifugal and gravity forces in the coordinates of `mass_matrix`, (env_count, n)."""
        ...

    def jacobian(self, link: str) -> Array:
        """(env_count, 6, n): linear velocity of the link's **origin**, then angular, world axes, per u."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


def name_index(engine: str, kind: str, name: str, names: Sequence[str]) -> int:
    """Where a joint or link stands; an unknown name is refused with the nearest one."""
    try:
        return names.index(name)
    except ValueError:
        near = get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names[:12])}"
        raise InputError("E051", engine, f"there is no {kind} {name!r}", hint) from None


def env_rows(engine: str, env_ids: Sequence[int] | None, env_count: int) -> Any:
    """An index for the rows of the environments asked for."""
    import numpy as np

    if env_ids is None:
        return slice(None)
    rows = np.atleast_1d(np.asarray(env_ids))
    if rows.dtype == bool and rows.shape == (env_count,):
        return np.flatnonzero(rows)
    if rows.dtype.kind not in "iu" and rows.size:
        raise InputError("E052", engine, f"env_ids are {rows.dtype}, not whole numbers")
    if rows.size and (rows.min() < 0 or rows.max() >= env_count):
        raise InputError("E052", engine, f"env_ids reach from {rows.min()} to {rows.max()}, there are {env_count}")
    return rows.astype(int)


def finite_rows(engine: str, what: str, value: ArrayLike, shape: tuple[int, int]) -> Array:
    """`value` as rows of that shape; refused where it does not fit or is not finite."""
    import numpy as np

    if isinstance(value, np.ndarray) and value.shape == shape and value.dtype == float and math.isfinite(value.sum()):
        return value  # what a replay gives in every step; a sum that is not finite is looked into below
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError("E052", engine, f"{what}: not an array of numbers") from None
    if (
        array.ndim > 2
        or (array.ndim and array.shape[-1] != shape[1])
        or (array.ndim == 2 and len(array) not in (1, shape[0]))
    ):
        raise InputError("E052", engine, f"{what} of shape {array.shape} where {shape} or {shape[1:]} is expected")
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(np.broadcast_to(array, shape)))[0]
        raise InputError("E053", engine, f"{what} is not finite (environment {where[0]}, column {where[1]})")
    return np.broadcast_to(array, shape)


def put_joint_values(engine: str, what: str, values: JointValues, names: Sequence[str], rows: Any, into: Array) -> None:
    """Write values for joints into `into` (env_count, joints); those that a mapping does not name are left."""
    import numpy as np

    count = len(into[rows])
    if not isinstance(values, Mapping):
        try:
            into[rows] = finite_rows(engine, what, values, (count, len(names)))
        except InputError as error:
            raise _naming_joint(error, engine, what, values, names) from None
        return
    staged: list[tuple[int, Array]] = []
    for name, value in values.items():
        column = name_index(engine, "joint", name, names)
        try:
            numbers = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise InputError("E052", engine, f"{what} of joint {name!r} is no number") from None
        if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) not in (1, count)):
            raise InputError("E052", engine, f"{what} of {name!r} has shape {numbers.shape} for {count} environments")
        if not np.isfinite(numbers).all():
            raise InputError("E053", engine, f"{what} of joint {name!r} is not finite")
        staged.append((column, numbers))
    everything = np.arange(len(into))[rows]
    for column, numbers in staged:  # after all were checked: a refused call changes nothing
        into[everything, column] = numbers


def _naming_joint(error: InputError, engine: str, what: str, values: Any, names: Sequence[str]) -> InputError:
    """The same refusal with the joint's name where a column is not finite."""
    import numpy as np

    if error.diagnostic.code != "E053":
        return error
    bad = ~np.isfinite(np.atleast_1d(np.asarray(values, dtype=float)))
    column = int(np.argwhere(bad)[0][-1])
    name = names[column] if bad.shape[-1] == len(names) else names[0]
    return InputError("E053", engine, f"{what} of joint {name!r} is not finite")


def exploded(
    engine: str, joint_names: Sequence[str], joint_pos: Array, joint_vel: Array, root_vel: Array | None, time_s: Array
) -> InputError:
    """What to say of a state that is not finite or beyond all speeds: which joint, which environment, when.

    `root_vel`: (env_count, k) velocities of a floating base.
    """
    import numpy as np

    speed = np.where(np.isfinite(joint_vel) & np.isfinite(joint_pos), np.abs(joint_vel), np.inf)
    base = np.zeros((len(speed), 1)) if root_vel is None else np.where(np.isfinite(root_vel), np.abs(root_vel), np.inf)
    fastest = np.concatenate([speed, base], axis=1)
    env = int(fastest.max(axis=1).argmax())
    column = int(fastest[env].argmax())
    subject = "the root link"
    if column < len(joint_names):
        subject = f"joint {joint_names[column]!r} (q = {joint_pos[env, column]:.4g}, v = {joint_vel[env, column]:.4g})"
    return InputError(
        "E055",
        engine,
        f"the state exploded at {subject}, environment {env}, t = {time_s[env]:.4g} s",
        "reset; look for gains too stiff for the time step, tiny inertias, or a start inside the ground",
    )
