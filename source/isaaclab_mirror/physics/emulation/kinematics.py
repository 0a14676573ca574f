"""Jacobians and link velocities.

The velocity of a floating robot is (root centre of mass, linear; root, angular; joints), all in world axes: PhysX's own
choice. MuJoCo's qvel is (root origin, linear, world; root, angular, body axes; joints).
"""

from __future__ import annotations

from isaaclab_mirror.physics.emulation.compiled import compiled
from isaaclab_mirror.physics.emulation.robot import Place
from isaaclab_mirror.physics.emulation.tables import Body, Dof, Rules
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
    times,
    turned,
    turned_back,
)


@compiled
def to_root_com(vector: Floats, rotation: Floats, arm: Three) -> None:
    """From MuJoCo's velocity to ours, in place: v_com = v_origin + ω × arm. Rotation of the root, arm to its centre."""
    angular = turned(rotation, (vector[3], vector[4], vector[5]))
    linear = plus(vector[:3], cross(angular, arm))
    for k in range(3):
        vector[k] = linear[k]
        vector[3 + k] = angular[k]


@compiled
def from_root_com(vector: Floats, rotation: Floats, arm: Three) -> None:
    """From our velocity to MuJoCo's, in place."""
    angular = (vector[3], vector[4], vector[5])
    linear = minus(vector[:3], cross(angular, arm))
    local = turned_back(rotation, angular)
    for k in range(3):
        vector[k] = linear[k]
        vector[3 + k] = local[k]


@compiled
def jacobian_row(
    rules: Rules,
    dofs: Table[Dof],
    last_dof: int,
    cdof: Floats,
    arms: Arms,
    direction: Three,
    row: Floats,
) -> None:
    """Velocity of a link's point along a direction, per unit of each velocity."""
    row[:] = 0.0
    i = last_dof
    while i >= rules.first:
        axis = cdof[i]
        row[i] = dot(direction, plus(axis[3:], cross(axis[:3], arms[0])))
        i = dofs[i].parent
    if rules.floating:
        turning = cross(arms[1], direction)
        for k in range(3):
            row[k] = direction[k]
            row[3 + k] = turning[k]


@compiled
def add_wrench(
    dofs: Table[Dof], last_dof: int, cdof: Floats, arm: Three, force: Three, torque: Three, out: Floats
) -> None:
    """Add a force and a torque on a link as a generalized force of MuJoCo's velocity; `arm` from the tree's centre."""
    i = last_dof
    while i >= 0:
        axis = cdof[i]
        out[i] += dot(force, plus(axis[3:], cross(axis[:3], arm))) + dot(torque, axis[:3])
        i = dofs[i].parent


@compiled
def point_velocity(spatial: Three, arm: Three) -> Vector:
    """Linear velocity at a point, `arm` away from where the spatial velocity (angular, linear) is taken."""
    return plus(spatial[3:], cross(spatial[:3], arm))


@compiled
def find_spatial(rules: Rules, bodies: Table[Body], dofs: Table[Dof], place: Place, velocity: Floats) -> None:
    """`spatial` of every link for a velocity of ours."""
    cdof, xipos, centres = place.cdof, place.xipos, place.subtree_com
    for k in range(6):
        bodies[0].spatial[k] = 0.0
    for index in range(1, bodies.shape[0]):
        body = bodies[index]
        inherited = bodies[body.parent].spatial
        for k in range(6):
            body.spatial[k] = inherited[k]
        if index == rules.root:
            angular = (velocity[3], velocity[4], velocity[5])
            linear = plus(velocity[:3], cross(angular, minus(centres[index], xipos[index])))
            for k in range(3):
                body.spatial[k] = angular[k]
                body.spatial[3 + k] = linear[k]
            continue
        i = body.last_dof
        while i >= rules.first and dofs[i].body == index:
            for k in range(6):
                body.spatial[k] += cdof[i, k] * velocity[i]
            i -= 1


@compiled
def find_drift(rules: Rules, bodies: Table[Body], dofs: Table[Dof], place: Place) -> None:
    """`drift` of every link: dt·J̇v of its centre of mass, beyond what the root's has.

    PhysX propagates Coriolis accelerations along the links, so that a link's velocity in its contacts is
    J·v + dt·J̇v. Measured (quadruped): left out 0.17 mrad per second.
    """
    cdof_dot, cvel, qvel = place.cdof_dot, place.cvel, place.qvel
    spin = cvel[rules.root, :3]
    arm = minus(place.xipos[rules.root], place.xpos[rules.root])
    of_root = cross(spin, cross(spin, arm))  # zero where the root is the world
    for k in range(6):
        bodies[0].spatial[k] = 0.0
        bodies[0].drift[k] = 0.0
    for index in range(1, bodies.shape[0]):
        body = bodies[index]
        inherited = bodies[body.parent].spatial
        for k in range(6):
            body.spatial[k] = inherited[k]
        i = body.last_dof
        while i >= 0 and dofs[i].body == index:
            for k in range(6):
                body.spatial[k] += cdof_dot[i, k] * qvel[i]
            i -= 1
        arm = minus(place.xipos[index], place.subtree_com[body.tree])
        linear = plus(point_velocity(body.spatial, arm), cross(cvel[index, :3], point_velocity(cvel[index], arm)))
        linear = times(rules.step_s, minus(linear, of_root))
        for k in range(3):
            body.drift[k] = 0.0 if index == rules.root else linear[k]
            body.drift[3 + k] = 0.0 if index == rules.root else rules.step_s * body.spatial[k]
