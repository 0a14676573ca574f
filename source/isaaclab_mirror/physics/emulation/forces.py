"""Forces that act once per step, or once per iteration: gravity, efforts, Coriolis forces, damping of links."""

from __future__ import annotations

import math

from isaaclab_mirror.physics.emulation.compiled import compiled
from isaaclab_mirror.physics.emulation.kinematics import add_wrench, find_drift, point_velocity, to_root_com
from isaaclab_mirror.physics.emulation.momentum import add_twist, momentum_of, restoring_twist
from isaaclab_mirror.physics.emulation.native import mj_rne
from isaaclab_mirror.physics.emulation.robot import EXTERNAL, Place, Solve
from isaaclab_mirror.physics.emulation.tables import Body, Dof, Joint, Rules
from isaaclab_mirror.physics.emulation.vectors import (
    Floats,
    Table,
    Three,
    cross,
    dot,
    minus,
    plus,
    times,
    turned,
    turned_back,
)

INNER, FORCE, BIAS = 3, 4, 5
"""Rows of `Solve.scratch` used here."""


@compiled
def add_gravity(rules: Rules, bodies: Table[Body], dofs: Table[Dof], now: Place, whole: bool, out: Floats) -> None:
    """Add gravity as a generalized force; `whole`: also of links for which it is compensated."""
    cdof = now.cdof
    for index in range(1, bodies.shape[0]):
        body = bodies[index]
        share = 1.0 if whole else body.gravity_share
        if body.last_dof >= 0 and share != 0.0:
            weight = times(share * body.mass, rules.gravity)
            arm = minus(now.xipos[index], now.subtree_com[body.tree])
            add_wrench(dofs, body.last_dof, cdof, arm, weight, (0.0, 0.0, 0.0), out)


@compiled
def add_applied(
    rules: Rules, bodies: Table[Body], dofs: Table[Dof], joints: Table[Joint], now: Place, out: Floats
) -> None:
    """Add explicit efforts and what the caller applies (MuJoCo's qfrc_applied, xfrc_applied)."""
    for i in range(out.shape[0]):
        out[i] += now.qfrc_applied[i]
    if rules.efforts:
        for j in range(joints.shape[0]):
            out[rules.first + j] += joints[j].effort
    for index in range(1, bodies.shape[0]):
        wrench, body = now.xfrc_applied[index], bodies[index]
        if wrench.any():
            arm = minus(now.xipos[index], now.subtree_com[body.tree])
            add_wrench(dofs, body.last_dof, now.cdof, arm, wrench[:3], wrench[3:], out)


@compiled
def spin_rate(rules: Rules, body: Body, speed: float) -> float:
    """Rate at which a link's spin is damped [1/s].

    Damping: T = −c I ω. Limit: T = −I ω (1 − ω_max/|ω|)/dt, which ends at the limit; on recorded H1 steps that took
    8 mrad to 0.001.
    """
    rate = body.angular_damping if rules.body_damping else 0.0
    if rules.angular_velocity_limits and speed > body.max_angular_speed:
        rate += (1.0 - body.max_angular_speed / speed) / rules.step_s
    return rate


@compiled
def add_damping(rules: Rules, bodies: Table[Body], dofs: Table[Dof], now: Place, out: Floats) -> None:
    """Add damping of links and the limit of their angular speed, as a generalized force.

    F = −c m (v_com + dt g). Measured, driven arm, c = 0.5: 0.0001 mrad (ignored 2.6, without dt g 0.07).
    """
    for index in range(1, bodies.shape[0]):
        body = bodies[index]
        if body.last_dof < 0:
            continue
        spin, turn = now.cvel[index, :3], now.ximat[index]
        linear = body.linear_damping if rules.body_damping else 0.0
        rate = spin_rate(rules, body, math.sqrt(dot(spin, spin)))
        if rate == 0.0 and linear == 0.0:
            continue
        local = turned_back(turn, spin)
        turning = (body.inertia[0] * local[0], body.inertia[1] * local[1], body.inertia[2] * local[2])
        torque = times(-rate, turned(turn, turning))
        arm = minus(now.xipos[index], now.subtree_com[body.tree])
        moving = plus(point_velocity(now.cvel[index], arm), times(rules.step_s, rules.gravity))
        add_wrench(dofs, body.last_dof, now.cdof, arm, times(-linear * body.mass, moving), torque, out)


@compiled
def accelerate(floating: bool, inverse: Floats, rotation: Floats, arm: Three, force: Floats, out: Floats) -> None:
    """out = M⁻¹ force in our velocity; `inverse` is still in MuJoCo's. Rotation and arm as in to_root_com."""
    size = force.shape[0]
    out[:] = 0.0
    for i in range(size):
        if force[i] != 0.0:
            for k in range(size):
                out[k] += inverse[i, k] * force[i]
    if floating:
        to_root_com(out, rotation, arm)


@compiled
def inverse_to_root_com(inverse: Floats, rotation: Floats, arm: Three, column: Floats) -> None:
    """M⁻¹ from MuJoCo's velocity to ours: rows, then columns."""
    for k in range(inverse.shape[0]):
        to_root_com(inverse[k], rotation, arm)
    for k in range(inverse.shape[0]):
        for i in range(6):
            column[i] = inverse[i, k]
        to_root_com(column, rotation, arm)
        for i in range(6):
            inverse[i, k] = column[i]


@compiled
def coriolis(solve: Solve, now: Place, model: int, rotation: Floats, arm: Three, out: Floats) -> None:
    """Acceleration of our velocity by Coriolis and centrifugal forces: MuJoCo's bias without gravity."""
    rules = solve.rules[0]
    force, bias = solve.scratch[FORCE], solve.scratch[BIAS]
    mj_rne(model, now.address, 0, bias.ctypes.data)
    force[:] = 0.0
    add_gravity(rules, solve.bodies, solve.dofs, now, True, force)
    for k in range(force.shape[0]):
        force[k] = -bias[k] - force[k]
    accelerate(rules.floating, solve.inverse, rotation, arm, force, out)
    if rules.floating:
        # our velocity is the centre of mass', MuJoCo's the origin's: the centripetal part changes sides
        spin = now.cvel[rules.root, :3]
        centripetal = cross(spin, cross(spin, arm))
        for k in range(3):
            out[k] += centripetal[k]


@compiled
def add_coriolis(solve: Solve, now: Place, inner: Floats) -> None:
    """Add dt times the Coriolis acceleration; a floating robot's momentum is restored after it (module momentum)."""
    rules, bodies, dofs, velocity = solve.rules[0], solve.bodies, solve.dofs, solve.velocity
    find_drift(rules, bodies, dofs, now)
    restore = rules.floating and rules.momentum
    before = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    if restore:
        before = momentum_of(rules, bodies, dofs, now, velocity, 0.0)
    for k in range(velocity.shape[0]):
        velocity[k] += rules.step_s * inner[k]
    if restore:
        after = momentum_of(rules, bodies, dofs, now, velocity, 1.0)
        linear, angular = restoring_twist(rules, bodies, now, before, after)
        add_twist(velocity, linear, angular)


@compiled
def apply_forces(solve: Solve, now: Place, model: int) -> None:
    """Velocity after the forces that act once; scratch[EXTERNAL] holds the acceleration by external ones.

    Coriolis forces and damping act once, with the whole dt; gravity and efforts too, unless they act every iteration.
    Afterwards `inverse` is in our velocity.
    """
    rules, bodies, dofs, velocity = solve.rules[0], solve.bodies, solve.dofs, solve.velocity
    rotation, arm = now.xmat[rules.root], minus(now.xipos[rules.root], now.xpos[rules.root])
    external, inner, force = solve.scratch[EXTERNAL], solve.scratch[INNER], solve.scratch[FORCE]
    velocity[:] = now.qvel
    if rules.floating:
        to_root_com(velocity, rotation, arm)
    force[:] = 0.0
    add_damping(rules, bodies, dofs, now, force)
    accelerate(rules.floating, solve.inverse, rotation, arm, force, inner)
    for k in range(velocity.shape[0]):
        velocity[k] += rules.step_s * inner[k]
    force[:] = 0.0
    add_gravity(rules, bodies, dofs, now, False, force)
    add_applied(rules, bodies, dofs, solve.joints, now, force)
    accelerate(rules.floating, solve.inverse, rotation, arm, force, external)
    if not rules.every_iteration:
        for k in range(velocity.shape[0]):
            velocity[k] += rules.step_s * external[k]
    coriolis(solve, now, model, rotation, arm, inner)
    if rules.floating:
        inverse_to_root_com(solve.inverse, rotation, arm, solve.scratch[0])
    if rules.coriolis:
        add_coriolis(solve, now, inner)
    else:
        for index in range(bodies.shape[0]):
            for k in range(6):
                bodies[index].drift[k] = 0.0
