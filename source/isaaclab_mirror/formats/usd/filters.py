"""Which geoms never touch: the self-collision flag, filtered pairs, collision groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.values import targets, value
from isaaclab_mirror.robot.constraints import CollisionFilter

if TYPE_CHECKING:
    from pxr import Sdf


def read_filter(
    stage: UsdRobotStage,
    root: Record | None,
    links: Mapping[Sdf.Path, str],
    colliders: Mapping[Sdf.Path, list[str]],
) -> CollisionFilter:
    """The collision filter of the robot; `colliders` maps prims to the names of the colliding geoms made from them."""
    link_pairs, geom_pairs = _filtered_pairs(stage, links, colliders)
    groups, filtered = _groups(stage, colliders)
    return CollisionFilter(
        self_collision=_self_collision(root),
        link_pairs=link_pairs,
        geom_pairs=geom_pairs,
        groups=groups,
        filtered_groups=filtered,
        parent_rule="mujoco" if stage.mujoco_dialect else "physx",
    )


def _self_collision(root: Record | None) -> bool:
    """On by default; either schema's flag turns it off."""
    if root is None:
        return True
    for name in ("physxArticulation:enabledSelfCollisions", "newton:selfCollisionEnabled"):
        if value(root.prim, name, True) is False or value(root.prim, name, True) == 0:
            return False
    return True


def _below(path: Sdf.Path, colliders: Iterable[Sdf.Path]) -> list[Sdf.Path]:
    return [c for c in colliders if c.HasPrefix(path)]


def _filtered_pairs(
    stage: UsdRobotStage, links: Mapping[Sdf.Path, str], colliders: Mapping[Sdf.Path, list[str]]
) -> tuple[frozenset[frozenset[str]], frozenset[frozenset[str]]]:
    """Pairs of links, and of single geoms where a pair names colliders."""
    of_links: set[frozenset[str]] = set()
    of_geoms: set[frozenset[str]] = set()
    for record in stage.filtered:
        for other in targets(record.prim, "physics:filteredPairs"):
            if record.path in links and other in links:
                of_links.add(frozenset((links[record.path], links[other])))
                continue
            mine, theirs = _below(record.path, colliders), _below(other, colliders)
            if not stage.stage.GetPrimAtPath(other):
                stage.found.warn("E012", stage.source(record.prim), f"filteredPairs names {other}, which is not there")
            of_geoms.update(
                frozenset((a, b)) for p in mine for q in theirs for a in colliders[p] for b in colliders[q] if a != b
            )
    return frozenset(of_links), frozenset(of_geoms)


def _groups(
    stage: UsdRobotStage, colliders: Mapping[Sdf.Path, list[str]]
) -> tuple[dict[str, tuple[str, ...]], frozenset[frozenset[str]]]:
    """Collision groups with their members, and the pairs of groups that do not collide."""
    records = stage.others.get("PhysicsCollisionGroup", [])
    if not records:
        return {}, frozenset()
    from pxr import Usd

    members: dict[str, tuple[str, ...]] = {}
    filtered: set[frozenset[str]] = set()
    inverted: list[tuple[str, set[str]]] = []
    names = {record.path: str(record.path) for record in records}
    for record in records:
        query = Usd.CollectionAPI(record.prim, "colliders").ComputeMembershipQuery()
        members[names[record.path]] = tuple(
            g for p, geoms in colliders.items() if query.IsPathIncluded(p) for g in geoms
        )
        others = {names[p] for p in targets(record.prim, "physics:filteredGroups") if p in names}
        if value(record.prim, "physics:invertFilteredGroups", False):
            inverted.append((names[record.path], others))
        else:
            filtered.update(frozenset((names[record.path], other)) for other in others)
    for name, allowed in inverted:
        filtered.update(frozenset((name, other)) for other in names.values() if other not in allowed)
    return members, frozenset(filtered)
