"""Sensors of the scene: contact forces with a short history and air times, rays against the ground, frames of links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, combine_frames, multiply, rotate, subtract_frames, yaw_quat
from isaaclab_mirror.contract.contract import Contract, EntityKind, SceneEntity
from isaaclab_mirror.contract.matching import match_names
from isaaclab_mirror.diagnostics import InputError

if TYPE_CHECKING:
    from isaaclab_mirror.adapter.world import World


class ContactSensor:
    """Net contact force of some of the robot's links over the last physics steps, and how long each has (not) touched.

    Updated once per physics step; an environment that steps several at once updates it once, with the time elapsed.
    """

    def __init__(self, entity: SceneEntity, body_names: Sequence[str], env_count: int) -> None:
        leaf = leaf_pattern(entity.prim_path)
        patterns = leaf if leaf != "Robot" else ".*"
        self.body_names = match_names(patterns, body_names, f"scene.{entity.name}.prim_path")
        columns = [list(body_names).index(name) for name in self.body_names]
        self._bodies = np.array(columns, dtype=int)
        self._columns: Array | slice | None = None
        config = entity.config
        self._threshold = float(config.get("force_threshold") or 1.0) ** 2
        self._length = max(int(config.get("history_length") or 0), 1)
        bodies = len(self.body_names)
        self.force = np.zeros((env_count, bodies, 3))
        """Of the last physics step [N]."""
        self._squares = np.zeros((self._length, env_count, bodies))
        """|force|² of the last physics steps, in a ring."""
        self._at = 0
        self.keeps_times = True
        """Whether air and contact times are kept: only some rewards ask for them."""
        self.current_air_time = np.zeros((env_count, bodies))
        self.last_air_time = np.zeros((env_count, bodies))
        self.current_contact_time = np.zeros((env_count, bodies))
        self.last_contact_time = np.zeros((env_count, bodies))

    def reset(self, env_ids: Array | slice) -> None:
        """Forget these environments' past."""
        self.force = self.force.copy()  # it may be the State's own
        self.force[env_ids] = 0.0
        self._squares[:, env_ids] = 0.0
        for times in (self.current_air_time, self.last_air_time, self.current_contact_time, self.last_contact_time):
            times[env_ids] = 0.0

    def update(self, world: World, elapsed_s: float) -> None:
        """Take the forces of the step just done; where they are not measured (nan), nothing touches."""
        forces = world.robot.state.contact_force_w
        if self._columns is None:
            columns = world.layout.bodies[self._bodies]
            self._columns = slice(None) if list(columns) == list(range(forces.shape[1])) else columns
        self.force = force = forces[:, self._columns]
        self._at = (self._at + 1) % self._length
        square = np.einsum("nbi,nbi->nb", force, force, out=self._squares[self._at])
        if self.keeps_times:
            self._count(square > self._threshold, elapsed_s)

    def _count(self, touching: Array, elapsed_s: float) -> None:
        air, contact = self.current_air_time, self.current_contact_time
        off = ~touching
        air += elapsed_s
        contact += elapsed_s
        np.copyto(self.last_air_time, air, where=touching & (air > elapsed_s))
        np.copyto(self.last_contact_time, contact, where=off & (contact > elapsed_s))
        air *= off
        contact *= touching

    def strongest(self) -> Array:
        """Largest force of each body over the history [N], (env_count, bodies)."""
        return np.sqrt(self._squares.max(axis=0))

    def first_contact(self, dt: float) -> Array:
        """Whether a body touched down within the last `dt` seconds."""
        return (self.current_contact_time > 0.0) & (self.current_contact_time < dt + 1e-8)

    def first_air(self, dt: float) -> Array:
        """Whether a body left the ground within the last `dt` seconds."""
        return (self.current_air_time > 0.0) & (self.current_air_time < dt + 1e-8)


class RayCaster:
    """Vertical rays on a grid under a link, against the ground that the scene describes by its heights."""

    body_names: tuple[str, ...] = ()

    def __init__(self, entity: SceneEntity, world: World) -> None:
        config = entity.config
        names = world.layout.body_names
        parts = path_parts(entity.prim_path)
        where = f"scene.{entity.name}.prim_path"
        self._body = (
            0 if parts[-1] == "Robot" else names.index(match_names(leaf_pattern(entity.prim_path), names, where)[0])
        )
        offset: Mapping[str, Any] = config.get("offset") or {}
        rays, direction = grid(config.get("pattern_cfg") or {}, f"scene.{entity.name}.pattern_cfg")
        direction = rotate(world.config_quat(offset.get("rot")), direction)
        if abs(direction[2]) < 1e-9 or abs(direction[0]) + abs(direction[1]) > 1e-9:
            raise InputError("E124", f"scene.{entity.name}", "rays that are not vertical are not offered")
        # The offset moves where rays start, not the sensor: Isaac Lab's height scanner is at its link, not 20 m above.
        self.rays = rays + np.asarray(offset.get("pos") or (0.0, 0.0, 0.0), dtype=float)
        alignment = config.get("ray_alignment")
        if alignment is None:
            alignment = "yaw" if config.get("attach_yaw_only") else "base"
        if alignment not in ("yaw", "world"):
            raise InputError("E124", f"scene.{entity.name}", "rays that tilt with the robot are not offered")
        self._turns = alignment == "yaw"

    def reset(self, env_ids: Array | slice) -> None:
        """Nothing to forget."""

    def update(self, world: World, elapsed_s: float) -> None:
        """Computed when asked for."""

    def heights_above(self, world: World) -> Array:
        """Sensor height above the ground at each ray [m], (env_count, rays)."""
        pos, ground = self._cast(world)
        return pos[:, 2:] - ground

    def ground(self, world: World) -> Array:
        """Height of the ground at each ray [m], (env_count, rays)."""
        return self._cast(world)[1]

    def _cast(self, world: World) -> tuple[Array, Array]:
        robot = world.robot
        pos = robot.body_pos[:, self._body]
        starts = np.broadcast_to(self.rays, (len(pos), *self.rays.shape))
        if self._turns:
            starts = rotate(yaw_quat(robot.body_quat[:, self._body])[:, None], starts)
        return pos, world.scene.heights(pos[:, None, :2] + starts[..., :2])


def grid(config: Mapping[str, Any], where: str) -> tuple[Array, Array]:
    """Ray starts (rays, 3) [m] of Isaac Lab's grid pattern, and their direction."""
    if "resolution" not in config or "size" not in config:
        raise InputError("E122", where, "only the grid pattern is supported", "write the term as a plugin")
    step = float(config["resolution"])
    half_x, half_y = (float(value) / 2.0 for value in config["size"])
    x = np.arange(-half_x, half_x + 1.0e-9, step)
    y = np.arange(-half_y, half_y + 1.0e-9, step)
    outer_first = config.get("ordering", "xy") == "xy"
    grid_x, grid_y = np.meshgrid(x, y, indexing="xy" if outer_first else "ij")
    rays = np.stack([grid_x.ravel(), grid_y.ravel(), np.zeros(grid_x.size)], axis=-1)
    return rays, np.asarray(config.get("direction") or (0.0, 0.0, -1.0), dtype=float)


class FrameTransformer:
    """Frames fixed to links of the robot or of other assets: Isaac Lab's `target_pos_w`, `target_quat_w`."""

    def __init__(self, entity: SceneEntity, world: World) -> None:
        self._frames: list[tuple[str, str, Array, Array]] = []
        names: list[str] = []
        self._source = entity
        for target in entity.config.get("target_frames") or ():
            where = f"scene.{entity.name}.target_frames"
            asset, bodies = owner_of(str(target["prim_path"]), world.contract, world.layout.body_names, where)
            offset: Mapping[str, Any] = target.get("offset") or {}
            pos = np.asarray(offset.get("pos") or (0.0, 0.0, 0.0), dtype=float)
            for body in bodies:
                self._frames.append((asset, body, pos, world.config_quat(offset.get("rot"))))
                names.append(str(target.get("name") or body))
        self.body_names = tuple(names)

    def reset(self, env_ids: Array | slice) -> None:
        """Nothing to forget."""

    def update(self, world: World, elapsed_s: float) -> None:
        """Computed when asked for."""

    def target(self, world: World, index: int) -> tuple[Array, Array]:
        """Position [m] and orientation of one target."""
        name, body, pos_b, quat_b = self._frames[index]
        asset = world.asset(name)
        if body not in asset.body_names and len(asset.body_names) > 1:
            raise InputError("E124", f"scene.{name}", f"it has no link {body!r}")
        column = asset.body_names.index(body) if body in asset.body_names else 0
        pos, quat = asset.body_pos[:, column], asset.body_quat[:, column]
        return pos + rotate(quat, np.broadcast_to(pos_b, pos.shape)), multiply(
            quat, np.broadcast_to(quat_b, quat.shape)
        )

    def in_source(self, world: World, index: int) -> tuple[Array, Array]:
        """One target in the frame of the sensor's own prim: Isaac Lab's `target_pos_source`."""
        offset: Mapping[str, Any] = self._source.config.get("source_frame_offset") or {}
        where = f"scene.{self._source.name}.prim_path"
        _, bodies = owner_of(self._source.prim_path, world.contract, world.layout.body_names, where)
        column = world.layout.body_names.index(bodies[0])
        robot = world.robot
        shift = np.asarray(offset.get("pos") or (0.0, 0.0, 0.0), dtype=float)
        turn = world.config_quat(offset.get("rot"))
        pos, quat = combine_frames(robot.body_pos[:, column], robot.body_quat[:, column], shift, turn)
        return subtract_frames(pos, quat, *self.target(world, index))

    @property
    def count(self) -> int:
        """Number of targets."""
        return len(self._frames)


def path_parts(path: str) -> list[str]:
    """A prim path with patterns (`{ENV_REGEX_NS}/Robot/[^/]*`) cut at the slashes that are not inside brackets."""
    parts, depth = [""], 0
    for character in path:
        depth += (character in "[(") - (character in "])")
        if character == "/" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part] or [".*"]


def leaf_pattern(path: str) -> str:
    """The name pattern at the end of a prim path, without groups of folders before it (`(Geometry/.*/)?hand`)."""
    return re.sub(r"^(\((\?:)?[^()]*/\)[?*+]?)+", "", path_parts(path)[-1])


def owner_of(path: str, contract: Contract, robot_bodies: Sequence[str], where: str) -> tuple[str, tuple[str, ...]]:
    """Asset and bodies that a prim path of a config means."""
    leaf = leaf_pattern(path)
    holders = [entity for entity in others(contract) if entity.prim_path and path.startswith(entity.prim_path)]
    if holders:
        return max(holders, key=lambda entity: len(entity.prim_path)).name, (leaf,)
    return contract.robot.name, match_names(leaf, robot_bodies, where)


def build_sensors(world: World) -> None:
    """Make the sensors of the contract that terms can read; one that cannot be made is told when it is asked for."""
    for entity in world.contract.scene:
        try:
            sensor = _sensor(entity, world)
        except InputError as error:
            world.broken_sensors[entity.name] = error
            continue
        if sensor is not None:
            world.sensors[entity.name] = sensor


def _sensor(entity: SceneEntity, world: World) -> ContactSensor | RayCaster | FrameTransformer | None:
    match entity.kind:
        case EntityKind.CONTACT_SENSOR:
            if any(entity.prim_path.startswith(e.prim_path) for e in others(world.contract) if e.prim_path):
                return None  # of an object
            return ContactSensor(entity, world.layout.body_names, world.env_count)
        case EntityKind.RAY_CASTER:
            return RayCaster(entity, world)
        case EntityKind.FRAME_TRANSFORMER:
            return FrameTransformer(entity, world)
        case _:
            return None


def others(contract: Contract) -> list[SceneEntity]:
    """Assets beside the robot."""
    kinds = (EntityKind.ARTICULATION, EntityKind.RIGID_OBJECT, EntityKind.DEFORMABLE)
    return [entity for entity in contract.scene if entity.kind in kinds]
