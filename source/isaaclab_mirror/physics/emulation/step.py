"""One physics step of one environment, and many environments in one compiled call."""

from __future__ import annotations

from isaaclab_mirror.physics.emulation.compiled import compiled
from isaaclab_mirror.physics.emulation.contact_setup import find_softness, set_up_contacts
from isaaclab_mirror.physics.emulation.forces import apply_forces
from isaaclab_mirror.physics.emulation.joint_rows import drive_gains, velocity_ratio
from isaaclab_mirror.physics.emulation.kinematics import find_spatial, from_root_com
from isaaclab_mirror.physics.emulation.momentum import add_twist, momentum_of, restoring_twist, total_momentum
from isaaclab_mirror.physics.emulation.native import (
    copy_bytes,
    mj_com_pos,
    mj_com_vel,
    mj_factor_m,
    mj_kinematics,
    mj_make_m,
    mj_solve_m,
)
from isaaclab_mirror.physics.emulation.robot import EXTERNAL, Memory, Place, Solve, World
from isaaclab_mirror.physics.emulation.sweep import sweep
from isaaclab_mirror.physics.emulation.tables import Body, Joint, Row, Rules
from isaaclab_mirror.physics.emulation.vectors import (
    Floats,
    Ints,
    Table,
    dot,
    minus,
    plus,
    quaternion_turned,
    rotate_quaternion,
    times,
)


@compiled
def slow_down(rules: Rules, joints: Table[Joint], qvel: Floats) -> None:
    """Velocity limits at the start of a step: one ratio for all joints (joint_rows.velocity_ratio)."""
    ratio = 1.0
    for j in range(joints.shape[0]):
        ratio = min(ratio, velocity_ratio(qvel[rules.first + j], joints[j].velocity_limit))
    for j in range(joints.shape[0]):
        qvel[rules.first + j] *= ratio


@compiled
def read_robot(solve: Solve, now: Place, model: int) -> None:
    """Kinematics, velocities and M⁻¹ at the start of the step: MuJoCo's."""
    mj_kinematics(model, now.address)
    mj_com_pos(model, now.address)
    mj_make_m(model, now.address)
    mj_factor_m(model, now.address)
    mj_com_vel(model, now.address)
    mj_solve_m(model, now.address, solve.inverse.ctypes.data, solve.identity.ctypes.data, solve.velocity.shape[0])


@compiled
def set_up_joints(rules: Rules, bodies: Table[Body], joints: Table[Joint], inverse: Floats, qpos: Floats) -> None:
    """This step's constants of every joint; nothing applied yet."""
    for j in range(joints.shape[0]):
        joint, dof = joints[j], rules.first + j
        body = bodies[joint.body]
        joint.response = inverse[dof, dof]
        joint.softened = 1.0 / (joint.response + max(body.softness, bodies[body.parent].softness))
        acceleration = joint.acceleration and rules.acceleration_drives
        joint.velocity_gain, joint.error_scale = drive_gains(
            joint.stiffness, joint.damping, joint.response, joint.softened, acceleration, rules.substep_s
        )
        joint.start = qpos[dof + 1] if rules.floating else qpos[dof]
        joint.moved = 0.0
        joint.drive_impulse = 0.0
        joint.friction_impulse = 0.0
        joint.lower_impulse = 0.0
        joint.upper_impulse = 0.0


@compiled
def move(solve: Solve, qpos: Floats, root_com: Floats) -> None:
    """Advance a pose by h of the present velocity; `root_com` is the root's centre of mass [m], in place."""
    rules, joints, velocity, travelled = solve.rules[0], solve.joints, solve.velocity, solve.travelled
    h = rules.substep_s
    for k in range(velocity.shape[0]):
        travelled[k] += h * velocity[k]
    for j in range(joints.shape[0]):
        joint, dof = joints[j], rules.first + j
        joint.moved += h * velocity[dof]
        qpos[dof + 1 if rules.floating else dof] = joint.start + joint.moved
    if rules.floating:
        rotate_quaternion(qpos[3:7], times(h, velocity[3:6]))
        arm = quaternion_turned(qpos[3:7], rules.root_com)
        for k in range(3):
            root_com[k] += h * velocity[k]
            qpos[k] = root_com[k] - arm[k]


@compiled
def move_contacts(
    rules: Rules, bodies: Table[Body], rows: Table[Row], row_count: int, ways: tuple[Floats, Floats], elapsed_s: float
) -> None:
    """How far every contact row has moved since the start of the step.

    Centres of mass as the links really moved (`ways`: before, now), rotations to first order (`spatial` must be that of
    what was travelled), contact points and directions frozen.
    """
    before, here = ways
    drifted_s = elapsed_s if rules.contact_drift else 0.0
    for index in range(row_count):
        row = rows[index]
        body = bodies[row.body]
        travel = minus(here[row.body], before[row.body])
        turn = plus(body.spatial[:3], times(drifted_s, body.drift[3:]))
        row.moved = dot(row.direction, travel) + dot(row.moment, turn)


@compiled
def finish_root(solve: Solve, now: Place, after: Place, model: int) -> None:
    """A floating robot keeps |L| and P of the old pose, and its centre of mass goes where P said."""
    rules, bodies, dofs = solve.rules[0], solve.bodies, solve.dofs
    root = rules.root
    way = momentum_of(rules, bodies, dofs, now, solve.travelled, rules.step_s)[0]
    kept = momentum_of(rules, bodies, dofs, now, solve.velocity, 1.0)
    after.qvel[:] = solve.velocity
    from_root_com(after.qvel, after.xmat[root], minus(after.xipos[root], after.xpos[root]))
    mj_com_pos(model, after.address)
    mj_com_vel(model, after.address)
    for index in range(1, bodies.shape[0]):
        for k in range(6):
            bodies[index].spatial[k] = after.cvel[index, k]
    linear, angular = restoring_twist(rules, bodies, after, kept, total_momentum(bodies, after.cinert))
    add_twist(solve.velocity, linear, angular)
    for k in range(3):
        after.qpos[k] += now.subtree_com[root, k] + way[k] / rules.total_mass - after.subtree_com[root, k]


@compiled
def write_results(solve: Solve, patch_count: int, memory: Memory, env: int) -> None:
    """Efforts and contact forces of this step."""
    rules, joints = solve.rules[0], solve.joints
    for j in range(joints.shape[0]):
        effort = joints[j].effort if rules.efforts else 0.0
        memory.joint_effort[env, j] = joints[j].drive_impulse / rules.step_s + effort
    memory.normal_force[env, :] = 0.0
    memory.contact_force[env, :, :] = 0.0
    for index in range(patch_count):
        patch = solve.patches[index]
        first_tangent = patch.start + patch.normals
        for r in range(patch.start, first_tangent + 2 * patch.anchors):
            row = solve.rows[r]
            force = row.impulse / rules.step_s
            if r < first_tangent:
                memory.normal_force[env, patch.pair] += force
            for k in range(3):
                memory.contact_force[env, patch.pair, k] += force * row.direction[k]


@compiled
def physics_step(solve: Solve, world: World, now: Place, after: Place, model: int, memory: Memory, env: int) -> None:
    """One step of PhysX: `now` holds the state before, and after."""
    rules, bodies, dofs = solve.rules[0], solve.bodies, solve.dofs
    anchors = memory.anchors[env]
    if rules.velocity_limits:
        slow_down(rules, solve.joints, now.qvel)
    read_robot(solve, now, model)
    apply_forces(solve, now, model)
    find_softness(solve, now)
    set_up_joints(rules, bodies, solve.joints, solve.inverse, now.qpos)
    find_spatial(rules, bodies, dofs, now, solve.velocity)
    patch_count, row_count, listed = set_up_contacts(solve, world, now, anchors, memory.listed[env])
    memory.listed[env] = listed
    after.qpos[:] = now.qpos
    solve.travelled[:] = 0.0
    root_com = solve.scratch[1]
    if rules.floating:
        root_com[:3] = now.xipos[rules.root]
    for iteration in range(rules.iterations):
        if rules.every_iteration:
            for k in range(solve.velocity.shape[0]):
                solve.velocity[k] += rules.substep_s * solve.scratch[EXTERNAL, k]
        sweep(solve, anchors, patch_count, iteration, False)
        move(solve, after.qpos, root_com)
        if row_count > 0 or iteration == rules.iterations - 1:
            mj_kinematics(model, after.address)
        if row_count > 0:
            find_spatial(rules, bodies, dofs, now, solve.travelled)
            elapsed_s = (iteration + 1) * rules.substep_s
            move_contacts(rules, bodies, solve.rows, row_count, (now.xipos, after.xipos), elapsed_s)
    for _ in range(rules.velocity_iterations):
        sweep(solve, anchors, patch_count, rules.iterations, True)
    if rules.floating and rules.momentum:
        finish_root(solve, now, after, model)
    write_results(solve, patch_count, memory, env)
    now.qpos[:] = after.qpos
    now.qvel[:] = solve.velocity
    if rules.floating:
        root = rules.root
        from_root_com(now.qvel, after.xmat[root], minus(after.xipos[root], after.xpos[root]))


@compiled
def run_batch(
    solve: Solve,
    world: World,
    places: tuple[Place, Place],
    model: int,
    memory: Memory,
    command: tuple[Floats, Floats, Floats],
    envs: Ints,
    addresses: Ints,
    count: int,
) -> None:
    """`count` steps of the environments `envs`, which say their rows in memory, command and addresses.

    `command` is position targets, velocity targets and efforts (environments, joints); `addresses` are those of qpos,
    qvel, qfrc_applied and xfrc_applied (0: none). The state is copied into this thread's MjData and back, so that
    thousands of environments need no more than one for each thread.
    """
    now, after = places
    joints = solve.joints
    for env in envs:
        copy_bytes(now.qpos.ctypes.data, addresses[env, 0], 8 * now.qpos.size)
        copy_bytes(now.qvel.ctypes.data, addresses[env, 1], 8 * now.qvel.size)
        if addresses[env, 2] != 0:
            copy_bytes(now.qfrc_applied.ctypes.data, addresses[env, 2], 8 * now.qfrc_applied.size)
            copy_bytes(now.xfrc_applied.ctypes.data, addresses[env, 3], 8 * now.xfrc_applied.size)
        for j in range(joints.shape[0]):
            joints[j].position_target = command[0][env, j]
            joints[j].velocity_target = command[1][env, j]
            joints[j].effort = command[2][env, j]
        for _ in range(count):
            physics_step(solve, world, now, after, model, memory, env)
        copy_bytes(addresses[env, 0], now.qpos.ctypes.data, 8 * now.qpos.size)
        copy_bytes(addresses[env, 1], now.qvel.ctypes.data, 8 * now.qvel.size)
