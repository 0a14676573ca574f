"""One TGS iteration: links depth first, each joint's rows once, then the link's contacts, before its children.

That order is Gauss-Seidel: whatever comes later sees what came before. It is why a PhysX drive goes soft under contact
load (its foot is solved after it), and why PhysX and a coupled solver differ at all.
"""

from __future__ import annotations

import math

from isaaclab_mirror.physics.emulation.compiled import compiled
from isaaclab_mirror.physics.emulation.contact_rows import friction_impulse, normal_impulse, normal_target
from isaaclab_mirror.physics.emulation.joint_rows import (
    bounded_drive,
    coupling_impulse,
    drive_error,
    joint_friction,
    joint_limit,
    velocity_limit,
)
from isaaclab_mirror.physics.emulation.robot import Solve
from isaaclab_mirror.physics.emulation.tables import Anchors, Joint, Patch, Row, Rules
from isaaclab_mirror.physics.emulation.vectors import Floats, Table


@compiled
def push(velocity: Floats, response: Floats, impulse: float) -> None:
    """v += M⁻¹Jᵀ·impulse."""
    for k in range(velocity.shape[0]):
        velocity[k] += response[k] * impulse


@compiled
def row_velocity(velocity: Floats, jacobian: Floats, drift: float) -> float:
    """J·v and the link's drift [m/s]."""
    total = drift
    for k in range(velocity.shape[0]):
        total += jacobian[k] * velocity[k]
    return total


@compiled
def drive_change(rules: Rules, joint: Joint, velocity: float, iteration: int) -> float:
    """Change of a joint's drive impulse in this iteration; explicit effort counts only towards the bound."""
    wanted = 0.0
    if rules.drives:
        position = joint.start + joint.moved
        error = drive_error(
            joint.position_target, joint.velocity_target, position, rules.step_s, rules.substep_s, iteration
        )
        forward = rules.substep_s * (joint.stiffness * error + joint.damping * joint.velocity_target)
        wanted = joint.error_scale * forward - joint.velocity_gain * velocity
    effort = joint.effort if rules.efforts and rules.bounded_efforts else 0.0
    bound = joint.max_effort if rules.effort_limits else math.inf
    if rules.every_iteration:
        return bounded_drive(wanted, 0.0, effort, bound, rules.substep_s)
    return bounded_drive(joint.drive_impulse + wanted, joint.drive_impulse, effort, bound, rules.step_s)


@compiled
def friction_change(rules: Rules, joint: Joint, velocity: float, velocity_iteration: bool) -> float:
    """Change of a joint's friction impulse in this iteration."""
    per_iteration = rules.every_iteration and not velocity_iteration
    return joint_friction(
        velocity,
        0.0 if per_iteration else joint.friction_impulse,
        joint.softened,
        joint.static_friction,
        joint.dynamic_friction,
        joint.viscous_friction,
        rules.substep_s if per_iteration else rules.step_s,
    )


@compiled
def limit_change(rules: Rules, joint: Joint, velocity: float, velocity_iteration: bool) -> tuple[float, float]:
    """Changes of the impulses of both limits in this iteration."""
    position = joint.start + joint.moved
    return joint_limit(
        velocity,
        (position - joint.lower, joint.upper - position),
        (joint.lower_impulse, joint.upper_impulse),
        joint.softened,
        rules.substep_s,
        rules.limit_bias,
        velocity_iteration,
    )


@compiled
def joint_change(rules: Rules, joint: Joint, velocity: float, iteration: int, velocity_iteration: bool) -> float:
    """Impulse of all of one joint's rows after another: drive, friction, limit, velocity limit."""
    total = 0.0
    if not velocity_iteration:
        change = drive_change(rules, joint, velocity, iteration)
        joint.drive_impulse += change
        total += change
        velocity += change * joint.response
    if rules.joint_friction and (joint.static_friction > 0.0 or joint.viscous_friction > 0.0):
        change = friction_change(rules, joint, velocity, velocity_iteration)
        joint.friction_impulse += change
        total += change
        velocity += change * joint.response
    if rules.limits:
        lower, upper = limit_change(rules, joint, velocity, velocity_iteration)
        joint.lower_impulse += lower
        joint.upper_impulse += upper
        total += lower + upper
        velocity += (lower + upper) * joint.response
    if rules.velocity_limits:
        total += velocity_limit(velocity, joint.velocity_limit, joint.softened)
    return total


@compiled
def solve_normals(
    rules: Rules,
    patch: Patch,
    rows: Table[Row],
    jacobian: Floats,
    response: Floats,
    velocity: Floats,
    velocity_iteration: bool,
) -> float:
    """One patch's points one after another; their impulses in sum."""
    total = 0.0
    for index in range(patch.start, patch.start + patch.normals):
        row = rows[index]
        gap = row.gap + row.moved
        if velocity_iteration and gap < 0.0:
            gap = 0.0
        target = normal_target(row.gap, gap, (rules.substep_s, rules.contact_bias, patch.fastest))
        speed = row_velocity(velocity, jacobian[index], row.drift)
        change = normal_impulse(speed, target, row.impulse, row.softened)
        if change != 0.0:
            row.impulse += change
            push(velocity, response[index], change)
        total += row.impulse
    return total


@compiled
def solve_friction(
    rules: Rules,
    patch: Patch,
    rows: Table[Row],
    jacobian: Floats,
    response: Floats,
    velocity: Floats,
    normal: float,
) -> bool:
    """One patch's anchors, which share the normal impulse equally; whether one slides."""
    share = max(normal, patch.least) / patch.anchors
    bounds = (patch.static_friction * share, patch.dynamic_friction * share)
    slides = False
    for anchor in range(patch.anchors):
        first = patch.start + patch.normals + 2 * anchor
        a, b = rows[first], rows[first + 1]
        speeds = (
            row_velocity(velocity, jacobian[first], a.drift),
            row_velocity(velocity, jacobian[first + 1], b.drift),
        )
        along, across, slid = friction_impulse(
            speeds,
            (a.gap + a.moved, b.gap + b.moved),
            (a.impulse, b.impulse),
            (a.softened, b.softened),
            bounds,
            (rules.substep_s, rules.contact_bias),
        )
        slides = slides or slid
        push(velocity, response[first], along - a.impulse)
        push(velocity, response[first + 1], across - b.impulse)
        a.impulse, b.impulse = along, across
    return slides


@compiled
def solve_contacts(
    solve: Solve, patch_count: int, body: int, anchors: Table[Anchors], velocity_iteration: bool
) -> None:
    """Every patch of one link, and of what is welded to it: normals, then friction."""
    rules, patches, rows = solve.rules[0], solve.patches, solve.rows
    jacobian, response, velocity = solve.jacobian, solve.response, solve.velocity
    for index in range(patch_count):
        patch = patches[index]
        if patch.owner != body:
            continue
        normal = solve_normals(rules, patch, rows, jacobian, response, velocity, velocity_iteration)
        if patch.anchors > 0:
            slides = solve_friction(rules, patch, rows, jacobian, response, velocity, normal)
            anchors[patch.pair].broken = slides


@compiled
def solve_couplings(solve: Solve, velocity_iteration: bool) -> None:
    """Every joint that follows another, brought to it."""
    rules, joints, velocity, inverse = solve.rules[0], solve.joints, solve.velocity, solve.inverse
    for j in range(joints.shape[0]):
        joint = joints[j]
        if joint.leader < 0:
            continue
        leader, ratio = joints[joint.leader], joint.ratio
        own, other = rules.first + j, rules.first + joint.leader
        error = joint.start + joint.moved - ratio * (leader.start + leader.moved) - joint.shift
        response = inverse[own, own] - ratio * (2.0 * inverse[own, other] - ratio * inverse[other, other])
        speed = velocity[own] - ratio * velocity[other]
        impulse = coupling_impulse(speed, error, response, rules.substep_s, rules.limit_bias, velocity_iteration)
        push(velocity, inverse[own], impulse)
        push(velocity, inverse[other], -ratio * impulse)


@compiled
def sweep(solve: Solve, anchors: Table[Anchors], patch_count: int, iteration: int, velocity_iteration: bool) -> None:
    """All rows of the robot once, in place. Velocity iterations do not touch the drives."""
    rules, joints, velocity, inverse = solve.rules[0], solve.joints, solve.velocity, solve.inverse
    if rules.coupled and rules.couplings:
        solve_couplings(solve, velocity_iteration)
    if rules.floating and patch_count > 0:
        solve_contacts(solve, patch_count, rules.root, anchors, velocity_iteration)
    for j in range(joints.shape[0]):
        joint, dof = joints[j], rules.first + j
        change = joint_change(rules, joint, velocity[dof], iteration, velocity_iteration)
        if change != 0.0:
            push(velocity, inverse[dof], change)
        if patch_count > 0 and joint.ends:
            solve_contacts(solve, patch_count, joint.body, anchors, velocity_iteration)
