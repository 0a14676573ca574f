"""Shapes of the robot, what they may touch, and where: PhysX's contact points on planes, boxes and height fields."""

from __future__ import annotations

import math

from isaaclab_mirror.physics.emulation.compiled import compiled
from isaaclab_mirror.physics.emulation.robot import World
from isaaclab_mirror.physics.emulation.tables import Ground, Pair, Point, Shape
from isaaclab_mirror.physics.emulation.vectors import (
    Floats,
    Table,
    Three,
    Vector,
    dot,
    minus,
    plus,
    times,
    turned,
    turned_back,
)

PLANE, BOX, FIELD = 0, 1, 2
"""Kinds of ground."""
STRAIGHT = 0.99
"""cos 8.1°: a cylinder stands or lies within this of the ground's normal, or of the ground."""


@compiled
def box_surface(local: Three, half: Three, sharp: bool) -> tuple[float, Vector]:
    """Signed distance of a point from a box and the outward normal there, both in the box's frame.

    `sharp`: the point is a corner of another solid; it touches faces alone, beside them it is infinitely far away.
    """
    outside = 0
    deepest, axis = -math.inf, 0
    for k in range(3):
        depth = abs(local[k]) - half[k]
        if depth > 0.0:
            outside += 1
        if depth > deepest:
            deepest, axis = depth, k
    if outside <= 1:
        sign = 1.0 if local[axis] >= 0.0 else -1.0
        return deepest, (sign * (axis == 0), sign * (axis == 1), sign * (axis == 2))
    if sharp:
        return math.inf, (0.0, 0.0, 1.0)
    away = (
        local[0] - min(max(local[0], -half[0]), half[0]),
        local[1] - min(max(local[1], -half[1]), half[1]),
        local[2] - min(max(local[2], -half[2]), half[2]),
    )
    length = math.sqrt(dot(away, away))
    return length, times(1.0 / length, away)


@compiled
def field_surface(ground: Ground, heights: Floats, local: Three) -> tuple[float, Vector]:
    """Distance of a point from the plane of the triangle beneath it, and its normal, in the field's frame.

    Each cell is cut from (column, row + 1) to (column + 1, row), as MuJoCo cuts it.
    """
    half_x, half_y, height = ground.extent[0], ground.extent[1], ground.extent[2]
    step_x, step_y = 2.0 * half_x / (ground.columns - 1), 2.0 * half_y / (ground.rows - 1)
    x, y = (local[0] + half_x) / step_x, (local[1] + half_y) / step_y
    if not (0.0 <= x <= ground.columns - 1 and 0.0 <= y <= ground.rows - 1):
        return math.inf, (0.0, 0.0, 1.0)
    column, row = min(int(x), ground.columns - 2), min(int(y), ground.rows - 2)
    u, v = x - column, y - row
    corner = ground.start + row * ground.columns + column
    z00, z10 = heights[corner] * height, heights[corner + 1] * height
    z01, z11 = heights[corner + ground.columns] * height, heights[corner + ground.columns + 1] * height
    if u + v <= 1.0:
        slope_x, slope_y = (z10 - z00) / step_x, (z01 - z00) / step_y
        surface = z00 + u * (z10 - z00) + v * (z01 - z00)
    else:
        slope_x, slope_y = (z11 - z01) / step_x, (z11 - z10) / step_y
        surface = z11 - (1.0 - u) * (z11 - z01) - (1.0 - v) * (z11 - z10)
    length = math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    return (local[2] - surface) / length, (-slope_x / length, -slope_y / length, 1.0 / length)


@compiled
def ground_surface(ground: Ground, heights: Floats, point: Three, sharp: bool) -> tuple[float, Vector]:
    """Signed distance of a world point from one ground and the ground's normal there, in world axes."""
    rotation = ground.rotation
    local = turned_back(rotation, minus(point, ground.position))
    if ground.kind == PLANE:
        return local[2], (rotation[2], rotation[5], rotation[8])
    if ground.kind == BOX:
        distance, normal = box_surface(local, ground.extent, sharp)
    else:
        distance, normal = field_surface(ground, heights, local)
    return distance, turned(rotation, normal)


@compiled
def rim_count(facing: Three) -> int:
    """How many points a cylinder touches with, from the ground's normal in its frame: four, two or one.

    Standing (axis within 8.1° of the normal) four of the lower rim, lying (within 8.1° of the ground) one of each rim,
    else the deepest. Read from PhysX's contact reports at tilts from 0 to 89°.
    """
    return 4 if abs(facing[2]) > STRAIGHT else 2 if math.hypot(facing[0], facing[1]) > STRAIGHT else 1


@compiled
def rim_point(shape: Shape, facing: Three, count: int, index: int) -> Vector:
    """One of those points in the cylinder's frame: the deepest first, the others of its rim each 90° on; of the upper
    rim before the lower."""
    length = math.hypot(facing[0], facing[1])
    x, y = (-facing[0] / length, -facing[1] / length) if length > 1e-7 else (0.0, 1.0)
    half = -math.copysign(shape.rim_half, facing[2])
    if count == 2:
        half = shape.rim_half if index == 0 else -shape.rim_half
    elif index == 1:
        x, y = -y, x
    elif index == 2:
        x, y = -x, -y
    elif index == 3:
        x, y = y, -x
    return (shape.rim_radius * x, shape.rim_radius * y, half)


@compiled
def put_point(out: Point, place: Three, normal: Three, gap: float) -> None:
    """Write one record."""
    out.gap = gap
    for k in range(3):
        out.place[k] = place[k]
        out.normal[k] = normal[k]


@compiled
def touch(pair: Pair, world: World, position: Floats, rotation: Floats, found: Table[Point], speculative: bool) -> None:
    """Write one pair's contact points from row `pair.start` on; `pair.count` says how many.

    `position`, `rotation` are the shape's. Every point nearer than the contact offset counts. A sphere's contact lies
    on the sphere, a corner's on the ground beneath it, a cylinder's midway. Measured on planes: spheres, boxes and box
    feet within PhysX's own noise.
    """
    shape, ground, heights = world.shapes[pair.shape_index], world.grounds[pair.ground_index], world.heights
    count, facing = shape.count, (0.0, 0.0, 1.0)
    if shape.rim:
        _, normal = ground_surface(ground, heights, position, False)
        facing = turned_back(rotation, normal)
        count = rim_count(facing)
    nearest = pair.offset_m - pair.rest_m if speculative else 0.0
    pair.count = 0
    for index in range(count):
        if shape.rim:
            local = rim_point(shape, facing, count, index)
        else:
            row = world.points[shape.start + index]
            local = (row[0], row[1], row[2])
        point = plus(position, turned(rotation, local))
        distance, normal = ground_surface(ground, heights, point, shape.radius == 0.0)
        gap = distance - shape.radius - pair.rest_m
        if gap <= nearest:
            depth = 0.5 * distance if shape.rim else shape.radius if shape.radius > 0.0 else distance
            place = minus(point, times(depth, normal))
            put_point(found[pair.start + pair.count], place, normal, gap)
            pair.count += 1


@compiled
def find_contacts(world: World, geom_xpos: Floats, geom_xmat: Floats, speculative: bool) -> None:
    """All contact points of one pose."""
    pairs, found, shapes = world.pairs, world.found, world.shapes
    start = 0
    for index in range(pairs.shape[0]):
        pair = pairs[index]
        geom = shapes[pair.shape_index].geom
        pair.start = start
        touch(pair, world, geom_xpos[geom], geom_xmat[geom], found, speculative)
        start += pair.count
