"""From contact points to rows: Jacobians, softness, gaps and friction anchors of one step."""

from __future__ import annotations

from isaaclab_mirror.physics.emulation.anchors import update_anchors
from isaaclab_mirror.physics.emulation.compiled import compiled
from isaaclab_mirror.physics.emulation.contact_points import find_contacts
from isaaclab_mirror.physics.emulation.contact_rows import least_normal, tangents
from isaaclab_mirror.physics.emulation.joint_rows import CFM_SCALE
from isaaclab_mirror.physics.emulation.kinematics import jacobian_row, point_velocity
from isaaclab_mirror.physics.emulation.pair_order import order_pairs
from isaaclab_mirror.physics.emulation.robot import Place, Solve, World
from isaaclab_mirror.physics.emulation.sweep import row_velocity
from isaaclab_mirror.physics.emulation.tables import Anchors, Body, Dof, Rules
from isaaclab_mirror.physics.emulation.vectors import (
    Arms,
    Floats,
    Table,
    Three,
    Vector,
    cross,
    dot,
    minus,
    plus,
    turned,
)


@compiled
def respond(inverse: Floats, jacobian: Floats, out: Floats) -> float:
    """out = M⁻¹ Jᵀ; J M⁻¹ Jᵀ."""
    size = jacobian.shape[0]
    out[:] = 0.0
    for i in range(size):
        if jacobian[i] != 0.0:
            for k in range(size):
                out[k] += inverse[i, k] * jacobian[i]
    total = 0.0
    for k in range(size):
        total += jacobian[k] * out[k]
    return total


@compiled
def link_softness(
    rules: Rules,
    dofs: Table[Dof],
    last_dof: int,
    cdof: Floats,
    arms: Arms,
    inverse: Floats,
    row: Floats,
) -> float:
    """cfm of a link: 0.025 times the largest response of its centre of mass along the world axes [1/kg]."""
    largest = 0.0
    for axis in range(3):
        direction = (1.0 * (axis == 0), 1.0 * (axis == 1), 1.0 * (axis == 2))
        jacobian_row(rules, dofs, last_dof, cdof, arms, direction, row)
        total = 0.0
        i = last_dof
        while i >= 0:  # only what moves the link: the rest of the row is zero
            part = 0.0
            k = last_dof
            while k >= 0:
                part += inverse[i, k] * row[k]
                k = dofs[k].parent
            total += part * row[i]
            i = dofs[i].parent
        largest = max(largest, total)
    return CFM_SCALE * largest


@compiled
def find_softness(solve: Solve, now: Place) -> None:
    """`softness` of every link."""
    rules, bodies, dofs, inverse = solve.rules[0], solve.bodies, solve.dofs, solve.inverse
    cdof, xipos, centres = now.cdof, now.xipos, now.subtree_com
    row = solve.scratch[0]
    for index in range(1, bodies.shape[0]):
        body = bodies[index]
        body.softness = 0.0
        if body.last_dof >= 0:
            arms = (minus(xipos[index], centres[body.tree]), minus(xipos[index], xipos[rules.root]))
            body.softness = link_softness(rules, dofs, body.last_dof, cdof, arms, inverse, row)


@compiled
def add_row(solve: Solve, now: Place, index: int, link: int, point: Three, direction: Three, gap: float) -> None:
    """Write one row: a direction at a point of a link."""
    rules, body, row = solve.rules[0], solve.bodies[link], solve.rows[index]
    jacobian = solve.jacobian[index]
    arms = (minus(point, now.subtree_com[body.tree]), minus(point, now.xipos[rules.root]))
    jacobian_row(rules, solve.dofs, body.last_dof, now.cdof, arms, direction, jacobian)
    diagonal = respond(solve.inverse, jacobian, solve.response[index])
    moment = cross(minus(point, now.xipos[link]), direction)
    row.body = link
    row.softened = 1.0 / (diagonal + body.softness)
    row.gap = gap
    row.moved = 0.0
    row.impulse = 0.0
    row.drift = dot(direction, body.drift[:3]) + dot(moment, body.drift[3:]) if rules.contact_drift else 0.0
    for k in range(3):
        row.direction[k] = direction[k]
        row.moment[k] = moment[k]


@compiled
def link_velocity(rules: Rules, body: Body, arm: Three) -> Vector:
    """Linear velocity of a link's centre of mass as contacts see it [m/s]; `spatial` must be this velocity's."""
    linear = point_velocity(body.spatial, arm)
    return plus(linear, body.drift[:3]) if rules.contact_drift else linear


@compiled
def add_friction(solve: Solve, world: World, now: Place, anchors: Anchors, index: int, start: int) -> None:
    """Bring the anchors of one patch to this step and write their rows."""
    rules, patch = solve.rules[0], solve.patches[index]
    pair = world.pairs[patch.pair]
    body = solve.bodies[pair.body]
    place, rotation = now.xipos[pair.body], now.xmat[pair.body]
    centre = (place[0], place[1], place[2])
    facing = world.found[pair.start].normal
    normal = (facing[0], facing[1], facing[2])
    limits = (rules.friction_offset_threshold_m, rules.friction_correlation_m)
    update_anchors(anchors, world.found, pair, (centre, rotation), normal, limits)
    arm = minus(centre, now.subtree_com[body.tree])
    along, across = tangents(normal, link_velocity(rules, body, arm))
    for k in range(anchors.count):
        point = plus(centre, turned(rotation, anchors.on_link[k]))
        slip = minus(point, anchors.on_ground[k])
        add_row(solve, now, start + 2 * k, pair.body, point, along, dot(slip, along))
        add_row(solve, now, start + 2 * k + 1, pair.body, point, across, dot(slip, across))
    patch.anchors = anchors.count
    patch.static_friction = pair.static_friction if rules.static_friction else pair.dynamic_friction
    patch.dynamic_friction = pair.dynamic_friction


@compiled
def add_patch(solve: Solve, world: World, now: Place, anchors: Anchors, index: int, start: int) -> int:
    """Rows of one touching pair from row `start` on; the row after them."""
    rules, patch = solve.rules[0], solve.patches[index]
    pair = world.pairs[patch.pair]
    needed = 0.0
    for k in range(pair.count):
        point = world.found[pair.start + k]
        row = start + k
        add_row(solve, now, row, pair.body, point.place, point.normal, point.gap)
        speed = row_velocity(solve.velocity, solve.jacobian[row], solve.rows[row].drift)
        needed += least_normal(point.gap, speed, solve.rows[row].softened, rules.step_s)
    patch.owner = solve.bodies[pair.body].owner
    patch.start = start
    patch.normals = pair.count
    patch.anchors = 0
    patch.fastest = solve.bodies[pair.body].max_depenetration_speed
    patch.least = 0.25 * needed / pair.count
    if rules.contact_friction:
        add_friction(solve, world, now, anchors, index, start + pair.count)
    return start + pair.count + 2 * patch.anchors


@compiled
def set_up_contacts(
    solve: Solve, world: World, now: Place, anchors: Table[Anchors], listed: int
) -> tuple[int, int, int]:
    """All contacts of this step's pose: patches, rows, and how many pairs the list of touching pairs holds."""
    rules, pairs = solve.rules[0], world.pairs
    if not rules.contacts:
        return 0, 0, listed
    find_contacts(world, now.geom_xpos, now.geom_xmat, rules.speculative_contacts)
    for index in range(pairs.shape[0]):
        if pairs[index].count == 0:
            anchors[index].count = 0
    count, listed = order_pairs(anchors, listed, world, (now.geom_xpos, now.geom_xmat), solve.patches, rules.pair_order)
    row = 0
    for index in range(count):
        row = add_patch(solve, world, now, anchors[solve.patches[index].pair], index, row)
    return count, row, listed
