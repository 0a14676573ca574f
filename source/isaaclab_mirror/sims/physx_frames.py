"""Between PhysX's numbers and ours: stage units and up axis, xyzw, environments side by side, its order of joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.robot.joints import AxisKind
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import quat_conjugate, rotate
from isaaclab_mirror.sims import batched
from isaaclab_mirror.sims.physx_stage import PhysxStage
from isaaclab_mirror.sims.robots import axis_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def grid_cells(count: int) -> list[tuple[int, int]]:
    """Cells of a square grid, the nearest to the first one first: float32 is finest about the origin."""
    reach = math.isqrt(max(count - 1, 0)) // 2 + 1
    cells = [(x, y) for x in range(-reach, reach + 1) for y in range(-reach, reach + 1)]
    return sorted(cells, key=lambda c: (c[0] ** 2 + c[1] ** 2, c))[:count]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frames:
    """PhysX's world in stage units ↔ each environment's own in metres, z up."""

    metres: float
    kilograms: float
    up_wxyz: Array
    origins: Array
    """(env_count, 3): of every environment in PhysX's world [m, z up]."""
    plain: bool
    """Metres, kilograms and z up already."""

    def positions(self, raw: Any) -> Array:
        """(env_count, …, 3) [m, environment]."""
        import numpy as np

        out = np.asarray(raw, dtype=np.float64)
        if not self.plain:
            out = batched.rotate(self.up_wxyz, out * self.metres)
        return out - self.origins.reshape(len(self.origins), *([1] * (out.ndim - 2)), 3)

    def raw_positions(self, positions: Array, rows: Any) -> Array:
        """The inverse, for some environments."""
        out = positions + self.origins[rows]
        return out if self.plain else batched.rotate_back(self.up_wxyz, out) / self.metres

    def quaternions(self, raw: Any) -> Array:
        """wxyz."""
        import numpy as np

        out = np.asarray(raw, dtype=np.float64)[..., [3, 0, 1, 2]]
        return out if self.plain else batched.multiply(np.broadcast_to(self.up_wxyz, out.shape), out)

    def raw_quaternions(self, quat_wxyz: Array) -> Array:
        """xyzw."""
        import numpy as np

        if not self.plain:
            back = self.up_wxyz * np.array([1.0, -1.0, -1.0, -1.0])
            quat_wxyz = batched.multiply(np.broadcast_to(back, quat_wxyz.shape), quat_wxyz)
        return quat_wxyz[..., [1, 2, 3, 0]]

    def vectors(self, raw: Any, unit: float = 1.0) -> Array:
        """Directions; `unit` turns stage units into SI."""
        import numpy as np

        out = np.asarray(raw, dtype=np.float64)
        return out if self.plain else batched.rotate(self.up_wxyz, out * unit)

    def raw_vectors(self, vectors: Array, unit: float = 1.0) -> Array:
        """The inverse."""
        return vectors if self.plain else batched.rotate_back(self.up_wxyz, vectors) / unit

    @property
    def force(self) -> float:
        """N per stage unit of force."""
        return self.kilograms * self.metres


def frames_of(stage: PhysxStage, env_count: int, spacing_m: float) -> Frames:
    """Environments on a grid about the first, which stays where the file has it."""
    import numpy as np

    cells = grid_cells(env_count)
    origins = np.array([(x * spacing_m, y * spacing_m, 0.0) for x, y in cells])
    return Frames(
        metres=stage.metres,
        kilograms=stage.kilograms,
        up_wxyz=np.array(stage.up_wxyz),
        origins=origins,
        plain=stage.metres == 1.0 and stage.kilograms == 1.0 and stage.up_wxyz[0] == 1.0,
    )


def clone_poses(stage: PhysxStage, frames: Frames) -> list[tuple[float, ...]]:
    """Absolute pose (x, y, z, qx, qy, qz, qw) [stage units] of the robot's prim in every environment but the first."""
    w, x, y, z = stage.scope_quat_wxyz
    back = quat_conjugate(stage.up_wxyz)
    poses = []
    for origin in frames.origins[1:]:
        shift = rotate(back, (origin[0], origin[1], origin[2]))
        place = [p + s / stage.metres for p, s in zip(stage.scope_pos, shift, strict=True)]
        poses.append((*place, x, y, z, w))
    return poses


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Where canonical joints and links stand in PhysX's tensors, and the unit of each joint."""

    joint_names: tuple[str, ...]
    """Canonical, those that PhysX has."""
    joints: NDArray[np.intp]
    """(joints,): PhysX's column of each."""
    canonical: NDArray[np.intp]
    """(joints,): place of each in the robot model's own list of coordinates."""
    link_names: tuple[str, ...]
    links: NDArray[np.intp]
    position_unit: Array
    """(joints,): rad or m per stage unit."""
    effort_unit: Array
    """(joints,): N·m or N per stage unit."""
    hinges: NDArray[np.bool_]
    """(joints,): coordinates of their own, not part of a ball."""
    balls: tuple[tuple[int, Array], ...] = ()
    """First column of a ball (canonical), and the matrix that turns PhysX's three into ours.

    PhysX tells a ball's rotation vector and speed in the joint's frame, we (and MuJoCo) in the link's own axes.
    """

    def turned(self, values: Array) -> Array:
        """PhysX's coordinates (envs, joints) as ours, balls in the axes of their link; in place."""
        for first, turn in self.balls:
            values[:, first : first + 3] = values[:, first : first + 3] @ turn.T
        return values

    def turned_back(self, values: Array) -> Array:
        """The inverse, of a copy."""
        if not self.balls:
            return values
        result = values.copy()
        for first, turn in self.balls:
            result[:, first : first + 3] = result[:, first : first + 3] @ turn
        return result


def columns_of(robot: Robot, stage: PhysxStage, dof_names: Sequence[str], body_names: Sequence[str]) -> Columns:
    """Match PhysX's names with the robot's; a joint that PhysX does not have is left out."""
    import numpy as np

    dofs = {name: k for k, name in enumerate(dof_names)}
    bodies = {name: k for k, name in enumerate(body_names)}
    names: list[str] = []
    places, canonical, hinges, slides, balls = [], [], [], [], []
    place = 0
    for axis in robot.axes():
        leaf = stage.joint_paths.get(axis.name, axis.name).rsplit("/", 1)[-1]
        for k, name in enumerate(axis_names(axis)):
            suffix = f":{k}" if axis.kind is AxisKind.BALL else ""
            column = dofs.get(name, dofs.get(leaf + suffix))
            if column is not None:
                if axis.kind is AxisKind.BALL and k == 0:
                    frame = np.array(axis.extras.get("ball:frame_wxyz", (1.0, 0.0, 0.0, 0.0)), dtype=float)
                    sign = np.array(axis.extras.get("ball:sign", 1.0), dtype=float)
                    balls.append((len(names), sign * batched.matrices(frame)))
                names.append(name)
                places.append(column)
                canonical.append(place + k)
                hinges.append(axis.kind is not AxisKind.BALL)
                slides.append(axis.kind is AxisKind.SLIDE)
        place += axis.dofs
    links = [
        (link.name, column)
        for link in robot.links
        if (column := bodies.get(link.name, bodies.get(stage.link_paths.get(link.name, "").rsplit("/", 1)[-1])))
        is not None
    ]
    if not links or links[0][0] != robot.links[0].name:
        raise InputError(
            "E058",
            str(robot.source or robot.name),
            f"PhysX's articulation has no link {robot.links[0].name!r}: it has {', '.join(body_names[:6])}",
        )
    slide = np.array(slides, dtype=bool)
    return Columns(
        joint_names=tuple(names),
        joints=np.array(places, dtype=np.intp),
        canonical=np.array(canonical, dtype=np.intp),
        link_names=tuple(name for name, _ in links),
        links=np.array([column for _, column in links], dtype=np.intp),
        position_unit=np.where(slide, stage.metres, 1.0),
        effort_unit=np.where(slide, stage.kilograms * stage.metres, stage.kilograms * stage.metres**2),
        hinges=np.array(hinges, dtype=bool),
        balls=tuple(balls),
    )
