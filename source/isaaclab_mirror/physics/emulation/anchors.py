"""Friction's memory: anchors that a patch of contact keeps from step to step, so that nothing creeps."""

from __future__ import annotations

from isaaclab_mirror.physics.emulation.compiled import compiled
from isaaclab_mirror.physics.emulation.tables import Anchors, Pair, Point
from isaaclab_mirror.physics.emulation.vectors import (
    Floats,
    Table,
    Three,
    Vector,
    dot,
    minus,
    plus,
    turned,
    turned_back,
)

SAME_NORMAL = 0.999
"""cos 2.56°: anchors are made anew when the link has turned further."""
APART_M2 = 1e-8
"""(0.1 mm)²: from here on a second anchor is worth having."""


@compiled
def separation2(a: Three, b: Three) -> float:
    """Squared distance."""
    away = minus(a, b)
    return dot(away, away)


@compiled
def anchors_hold(anchors: Anchors, centre: Three, rotation: Floats, normal: Three, correlation_m: float) -> bool:
    """Whether last step's anchors still stand: nothing slid, the link has not turned, they have not come apart."""
    if anchors.broken or dot(turned_back(rotation, normal), anchors.normal) <= SAME_NORMAL:
        return False
    for k in range(anchors.count):
        here = plus(centre, turned(rotation, anchors.on_link[k]))
        if abs(dot(minus(here, anchors.on_ground[k]), normal)) >= correlation_m:
            return False
    return True


@compiled
def clustered(anchors: Anchors, found: Table[Point], start: int, count: int) -> bool:
    """Two anchors closer than half the diagonal of the contact points are made anew.

    Found on recorded H1 steps: 0.27 → 0.001 mrad.
    """
    if anchors.count != 2 or count < 2:
        return False
    diagonal2 = 0.0
    for k in range(3):
        low, high = found[start].place[k], found[start].place[k]
        for row in range(start + 1, start + count):
            low, high = min(low, found[row].place[k]), max(high, found[row].place[k])
        diagonal2 += (high - low) ** 2
    return 4.0 * separation2(anchors.on_link[0], anchors.on_link[1]) < diagonal2


@compiled
def choose_anchors(
    found: Table[Point], pair: Pair, first: Vector, have: int, threshold_m: float
) -> tuple[Vector, Vector, int]:
    """Up to two anchors out of a pair's contact points, the farthest two that one pass finds; `have` are kept."""
    second = first
    apart2 = 0.0
    for row in range(pair.start, pair.start + pair.count):
        if found[row].gap >= threshold_m:
            continue
        place = found[row].place
        point = (place[0], place[1], place[2])
        if have == 0:
            first, have = point, 1
        elif have == 1:
            apart2 = separation2(point, first)
            if apart2 > APART_M2:
                second, have = point, 2
        else:
            from_first, from_second = separation2(point, first), separation2(point, second)
            if from_first > from_second:
                if from_first > apart2:
                    second, apart2 = point, from_first
            elif from_second > apart2:
                first, apart2 = point, from_second
    return first, second, have


@compiled
def update_anchors(
    anchors: Anchors,
    found: Table[Point],
    pair: Pair,
    link: tuple[Vector, Floats],
    normal: Three,
    limits_m: tuple[float, float],
) -> None:
    """Bring one pair's anchors to this step: keep, drop, or add.

    `link` is the centre of mass and rotation, `limits_m` the friction offset threshold and the correlation distance.
    """
    centre, rotation = link
    if anchors.count > 0 and not anchors_hold(anchors, centre, rotation, normal, limits_m[1]):
        anchors.count = 0
    if anchors.count == 0:
        here = turned_back(rotation, normal)
        for k in range(3):
            anchors.normal[k] = here[k]
    elif clustered(anchors, found, pair.start, pair.count):
        anchors.count = 0
    anchors.broken = False
    have = anchors.count
    if have == 2:
        return
    kept = plus(centre, turned(rotation, anchors.on_link[0]))
    first, second, count = choose_anchors(found, pair, kept, have, limits_m[0])
    for index in range(have, count):
        point = first if index == 0 else second
        local = turned_back(rotation, minus(point, centre))
        for k in range(3):
            anchors.on_link[index, k] = local[k]
            anchors.on_ground[index, k] = point[k]
    anchors.count = count
