"""Mesh colliders as PhysX's own cooking makes them: its hulls and decompositions in place of the meshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import Diagnostics
from isaaclab_mirror.formats.decomposition import decompose
from isaaclab_mirror.formats.hulls import convex_hull, hulls_of_edges
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.formats.usd import values
from isaaclab_mirror.formats.usd.names import CountedNames
from isaaclab_mirror.formats.usd.physx_hulls_client import cooked_lines
from isaaclab_mirror.formats.usd.stage import UsdRobotStage, open_stage
from isaaclab_mirror.robot.constraints import CollisionFilter
from isaaclab_mirror.robot.geometry import Approximation, Geom, MeshAsset, MeshShape
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

COOKED = (Approximation.CONVEX_HULL, Approximation.CONVEX_DECOMPOSITION)


def with_cooked_hulls(robot: Robot, options: ReadOptions, found: Diagnostics) -> Robot:
    """The robot with PhysX's hulls as collision meshes; those it does not tell are made here by the same limits."""
    chosen = [geom for geom in robot.geoms if is_cooked(robot, geom)]
    if not chosen or robot.source is None:
        found.info("E066", str(robot.source or robot.name), "no mesh collider is cooked by PhysX: nothing to replace")
        return robot
    stage = open_stage(robot.source.file, options, Diagnostics())
    told, why = cooked_lines(stage, [_path(geom) for geom in chosen])
    hulls: dict[str, list[MeshAsset]] = {}
    for geom in chosen:
        edges = told.get(_path(geom))
        points = hulls_of_edges(edges) if edges is not None else []
        if points:
            own = [_in_link(stage, robot, geom, hull) for hull in points]
        else:
            reason = why or "PhysX drew no shape of it"
            found.warn("E066", geom.source or geom.name, f"PhysX's hulls are not known ({reason}): made here")
            own = _made_here(robot, geom)
        hulls[geom.name] = [convex_hull(MeshAsset(geom.name, _f32(p), _no_faces(), None, geom.source)) for p in own]
    count = sum(map(len, hulls.values()))
    found.info("E066", str(robot.source), f"{len(chosen)} mesh colliders are {count} hulls, {len(told)} from PhysX")
    return _replaced(robot, hulls)


def is_cooked(robot: Robot, geom: Geom) -> bool:
    """A convex mesh of a moving link; not where MuJoCo is to compute the link's mass from it."""
    collision = geom.collision
    if collision is None or geom.link is None or not isinstance(geom.shape, MeshShape) or geom.source is None:
        return False
    return collision.approximation in COOKED and robot.link(geom.link).inertia is not None


def _path(geom: Geom) -> str:
    return geom.source.where if geom.source is not None else ""


def _in_link(stage: UsdRobotStage, robot: Robot, geom: Geom, points: Points) -> Points:
    """From the world [stage units] into the frame of the geom's link [m]."""
    path = str(robot.link(geom.link or "").extras["usd:path"])
    pose, _ = values.decompose(stage.cache.GetLocalToWorldTransform(stage.stage.GetPrimAtPath(path)))
    return moved(pose.inverse(), points) * stage.metres


def moved(pose: Pose, points: Points) -> Points:
    """Points of a frame in the outer one."""
    import numpy as np

    origin = np.array(pose.pos)
    rows = np.array([pose.apply(unit) for unit in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]) - origin
    return points @ rows + origin


def _made_here(robot: Robot, geom: Geom) -> list[Points]:
    """Hull or decomposition of the mesh itself, in the link's frame."""
    import numpy as np

    mesh = next(mesh for mesh in robot.meshes if isinstance(geom.shape, MeshShape) and mesh.name == geom.shape.mesh)
    several = geom.collision is not None and geom.collision.approximation is Approximation.CONVEX_DECOMPOSITION
    parts = decompose(mesh) if several else [np.asarray(mesh.vertices_m, dtype=np.float64)]
    return [moved(geom.pose, part) for part in parts]


def _replaced(robot: Robot, hulls: Mapping[str, Sequence[MeshAsset]]) -> Robot:
    """Geoms and filters with hulls in place of colliders; what is seen stays as it is."""
    names, meshes = CountedNames(), CountedNames()
    for geom in robot.geoms:
        names.of(geom.name)
    for mesh in robot.meshes:
        meshes.of(mesh.name)
    geoms: list[Geom] = []
    assets = list(robot.meshes)
    new_names: dict[str, tuple[str, ...]] = {}
    for geom in robot.geoms:
        if geom.name not in hulls or geom.collision is None:
            geoms.append(geom)
            continue
        if geom.visible:
            geoms.append(replace(geom, name=names.of(f"{geom.name}_seen"), collision=None))
        collision = replace(geom.collision, approximation=Approximation.CONVEX_HULL, max_hull_vertices=None)
        mine: list[str] = []
        for k, hull in enumerate(hulls[geom.name]):
            asset = replace(hull, name=meshes.of(f"{geom.name}_hull"))
            assets.append(asset)
            mine.append(geom.name if k == 0 else names.of(f"{geom.name}_{k}"))
            shape = MeshShape(asset.name)
            geoms.append(
                replace(
                    geom, name=mine[-1], shape=shape, pose=Pose(), visible=False, material=None, collision=collision
                )
            )
        new_names[geom.name] = tuple(mine)
    used = {geom.shape.mesh for geom in geoms if isinstance(geom.shape, MeshShape)}
    left = {geom.shape.mesh for geom in robot.geoms if isinstance(geom.shape, MeshShape)} - used
    kept = tuple(mesh for mesh in assets if mesh.name not in left)
    filters = _renamed(robot.collision_filter, new_names)
    return replace(robot, geoms=tuple(geoms), meshes=kept, collision_filter=filters)


def _renamed(filters: CollisionFilter, names: Mapping[str, tuple[str, ...]]) -> CollisionFilter:
    """Every hull is filtered as its collider was."""
    pairs: set[frozenset[str]] = set()
    for pair in filters.geom_pairs:
        first, *rest = sorted(pair)
        second = rest[0] if rest else first
        pairs |= {frozenset((a, b)) for a in names.get(first, (first,)) for b in names.get(second, (second,))}
    groups = {
        group: tuple(new for member in members for new in names.get(member, (member,)))
        for group, members in filters.groups.items()
    }
    return replace(filters, geom_pairs=frozenset(pairs), groups=groups)


def _f32(points: Points) -> NDArray[np.float32]:
    import numpy as np

    return points.astype(np.float32)


def _no_faces() -> NDArray[np.int32]:
    import numpy as np

    return np.zeros((0, 3), np.int32)
