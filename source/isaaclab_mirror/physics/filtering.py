"""Collision filtering: PhysX's rules as contype/conaffinity bits, excludes and pairs.

PhysX: geoms collide unless their links are joint neighbours, their pair or groups are filtered, or self-collision is
off. MuJoCo drops by itself: geoms of one weld group (links joined by fixed joints), and a group against its parent
group unless that is the world. What it drops too little is excluded; what it drops too much is paired explicitly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.robot.constraints import CollisionFilter
from isaaclab_mirror.robot.geometry import Geom, Plane
from isaaclab_mirror.robot.joints import JointType
from isaaclab_mirror.robot.model import Robot

WORLD = "world"
MAX_PAIRS = 2000
"""More explicit pairs than this make a file that nobody reads: the rest is counted as lost."""


def masks(
    filter_: CollisionFilter, colliders: Sequence[Geom], found: Diagnostics, fidelity: Fidelity
) -> dict[str, tuple[int, int]]:
    """contype and conaffinity of every collider: one bit per class of geoms that are filtered alike.

    Bit 0 stays what anything else in a scene has (contype 1, conaffinity 1), so that the robot meets it.
    """
    of_groups: dict[str, set[str]] = defaultdict(set)
    for group, members in filter_.groups.items():
        for name in members:
            of_groups[name].add(group)
    partners: dict[str, set[str]] = defaultdict(set)
    for pair in filter_.geom_pairs:
        if len(pair) == 2:
            a, b = pair
            partners[a].add(b)
            partners[b].add(a)
    classes: dict[tuple[bool, frozenset[str], frozenset[str]], list[str]] = defaultdict(list)
    for geom in colliders:
        key = (geom.link is not None, frozenset(of_groups[geom.name]), frozenset(partners[geom.name]))
        classes[key].append(geom.name)

    def collide(a: tuple[bool, frozenset[str], frozenset[str]], b: tuple[bool, frozenset[str], frozenset[str]]) -> bool:
        if a[0] and b[0] and not filter_.self_collision:
            return False
        if any(frozenset((g, h)) in filter_.filtered_groups for g in a[1] for h in b[1]):
            return False
        return not any(name in a[2] for name in classes[b])

    keys = list(classes)
    if len(keys) > 30:
        found.warn("E030", "collision filter", f"{len(keys)} classes of filtered geoms, 30 fit into MuJoCo's masks")
        fidelity.lost("collision filters", "more classes than bits", len(keys) - 30)
        return {geom.name: (1, 1) for geom in colliders}
    plain = [k for k in keys if collide(k, k) and all(collide(k, other) for other in keys)]
    bits = {key: 1 if key in plain else 0 for key in keys}
    next_bit = 1
    for key in keys:
        if key not in plain and any(collide(key, other) for other in keys if other[0]):
            bits[key] = 1 << next_bit
            next_bit += 1
    result: dict[str, tuple[int, int]] = {}
    for key, names in classes.items():
        affinity = 1  # anything else in a scene
        for other in keys:
            if collide(key, other):
                affinity |= bits[other]
            elif bits[other] == 1:
                affinity &= ~1
        contype = bits[key] if key[0] else bits[key] or 1
        for name in names:
            result[name] = (contype, affinity)
    return result


def weld_groups(robot: Robot) -> tuple[dict[str, str], dict[str, str | None]]:
    """Link → the link that heads its weld group (`world` where it is held), and head → head of the parent group."""
    head: dict[str, str] = {}
    above: dict[str, str | None] = {WORLD: None}
    for joint in robot.joints:
        parent = WORLD if joint.parent is None else head[joint.parent]
        if joint.type is JointType.FIXED:
            head[joint.child] = parent
        else:
            head[joint.child] = joint.child
            above[joint.child] = parent
    return head, above


def excluded_links(robot: Robot) -> set[frozenset[str]]:
    """Pairs of links that never touch by the source's rules, self-collision flag aside."""
    pairs = {pair for pair in robot.collision_filter.link_pairs if len(pair) == 2}
    if robot.collision_filter.parent_rule == "physx":
        pairs |= {frozenset((j.parent, j.child)) for j in robot.joints if j.parent is not None}
    return pairs


def corrections(
    robot: Robot, colliders: Sequence[Geom], bits: Mapping[str, tuple[int, int]], fidelity: Fidelity
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Excludes (links) that MuJoCo's own rules do not make, and pairs (geoms) that they wrongly drop."""
    head, above = weld_groups(robot)
    never = excluded_links(robot)
    bearing: dict[str, list[Geom]] = defaultdict(list)
    for geom in colliders:
        if geom.link is not None:
            bearing[geom.link].append(geom)

    def dropped(a: str, b: str) -> bool:
        x, y = head[a], head[b]
        if x == y:
            return True
        return WORLD not in (x, y) and (above[x] == y or above[y] == x)

    def touch(a: Geom, b: Geom) -> bool:
        (ca, fa), (cb, fb) = bits[a.name], bits[b.name]
        return bool(ca & fb or cb & fa)

    excludes: list[tuple[str, str]] = []
    for pair in sorted(tuple(sorted(p)) for p in never):
        a, b = pair
        here = a in head and b in head and not dropped(a, b)
        if here and any(touch(g, h) for g in bearing[a] for h in bearing[b]):
            excludes.append((a, b))
    if robot.collision_filter.parent_rule != "physx" or not robot.collision_filter.self_collision:
        return excludes, []
    return excludes, _dropped_pairs(head, above, never, bearing, fidelity, touch)


def across_slides(robot: Robot, colliders: Sequence[Geom]) -> list[tuple[str, str]]:
    """Links on one slide to the world, beside static colliders: PhysX lets the two pass.

    A contact acts by what the link can give way along its normal, and across its slide that is nothing: PhysX's force
    is zero (measured: a cart whose box stands 2 cm inside two rails follows its drive), MuJoCo's friction holds the
    cart or pushes it. What stands in the way along the slide is left out too; the slide's limits hold there.
    """
    if all(geom.link is not None for geom in colliders):
        return []
    bearing = {geom.link for geom in colliders}
    return [
        (WORLD, joint.child)
        for joint in robot.joints
        if joint.parent is None and joint.type is JointType.PRISMATIC and joint.child in bearing
    ]


def _dropped_pairs(
    head: Mapping[str, str],
    above: Mapping[str, str | None],
    never: set[frozenset[str]],
    bearing: Mapping[str, list[Geom]],
    fidelity: Fidelity,
    touch: Callable[[Geom, Geom], bool],
) -> list[tuple[str, str]]:
    """Geom pairs of links that are not neighbours although their weld groups are."""
    groups: dict[str, list[str]] = defaultdict(list)
    for link, top in head.items():
        if bearing[link] and not all(isinstance(g.shape, Plane) for g in bearing[link]):
            groups[top].append(link)
    pairs: list[tuple[str, str]] = []
    skipped = 0
    for top, parent in above.items():
        if parent is None or parent == WORLD:
            continue
        for a in groups[parent]:
            for b in groups[top]:
                if frozenset((a, b)) in never:
                    continue
                for g in bearing[a]:
                    for h in bearing[b]:
                        if not touch(g, h):
                            continue
                        if len(pairs) < MAX_PAIRS:
                            pairs.append((g.name, h.name))
                        else:
                            skipped += 1
    fidelity.lost("collision pairs", f"more than {MAX_PAIRS} explicit pairs", skipped)
    return pairs
