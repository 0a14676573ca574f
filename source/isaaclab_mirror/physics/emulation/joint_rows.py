"""Laws of one joint: what each adds to the joint's impulse in one TGS iteration.

Every function returns a change of impulse [N·m·s or N·s]. `response` is (M⁻¹)jj, the change of the joint's velocity per
impulse; `softened` = 1/((M⁻¹)jj + cfm) is the impulse that PhysX applies per wanted change of velocity.
"""

from __future__ import annotations

import math

from isaaclab_mirror.physics.emulation.compiled import compiled

CFM_SCALE = 0.025
"""PhysX's softening of joint and contact rows: this share of the largest diagonal of J_com M⁻¹ J_comᵀ of the link."""


@compiled
def drive_gains(
    stiffness: float, damping: float, response: float, softened: float, acceleration: bool, substep_s: float
) -> tuple[float, float]:
    """Impulse per velocity error and per position error of one implicit sub-step h.

    One iteration is an implicit Euler step of the drive: with a = h (h kp + kd) and r = (M⁻¹)jj,
        v' = v + r·h·[kp (q* − q − h v') + kd (v* − v')]  ⇒  impulse = (h kp (q* − q) + h kd v* − a v) / (1 + a r).
    An acceleration drive has its gains times the inertia J = `softened`: (…)·J / (1 + a).

    Measured: 6-DOF arm, 4 s, 0.0001 mrad rms (N 1–16, gains ×1, ×10); acceleration drives 0.0003 mrad, with
    J = 1/(M⁻¹)jj instead 0.20 mrad.
    """
    a = substep_s * (substep_s * stiffness + damping)
    scale = softened / (1.0 + a) if acceleration else 1.0 / (1.0 + a * response)
    return scale * a, scale


@compiled
def drive_error(
    target: float, velocity_target: float, position: float, step_s: float, substep_s: float, iteration: int
) -> float:
    """Position error that iteration k sees [rad or m].

    A velocity target moves the position target along: PhysX aims at where the target stands at the end of the
    iteration, q* − v*·(dt − h) + v*·k·h.
    """
    return target - velocity_target * (step_s - substep_s - iteration * substep_s) - position


@compiled
def bounded_drive(wanted: float, applied: float, effort: float, max_effort: float, time_s: float) -> float:
    """The drive's impulse with drive and explicit effort together bounded by maxForce; `effort` acts elsewhere.

    `wanted` is the accumulated impulse over `time_s`: the step (external forces once per step), or one iteration
    (external forces every iteration, `applied` = 0). Returns the change.

    Measured: arm, maxForce 15 N·m, 0.078 mrad (PhysX against itself 0.256), every iteration 0.005 (0.064).
    """
    bound = max_effort * time_s
    return min(max(wanted + effort * time_s, -bound), bound) - effort * time_s - applied


@compiled
def joint_friction(
    velocity: float, applied: float, softened: float, static: float, dynamic: float, viscous: float, time_s: float
) -> float:
    """Coulomb friction with stiction: what would stop the joint, up to fs·dt; beyond, (fd + fv |v|)·dt.

    `applied` is the friction impulse so far over `time_s` (with external forces every iteration: 0 over h).
    Measured: arm, fs 0.6, fd 0.3, fv 0.1, 0.0001 mrad, external forces once and every iteration.
    """
    wanted = applied - velocity * softened
    if abs(wanted) > static * time_s:
        bound = (dynamic + viscous * abs(velocity)) * time_s
        wanted = min(max(wanted, -bound), bound)
    return wanted - applied


@compiled
def limit_target(velocity: float, gap: float, substep_s: float, bias: float, velocity_iteration: bool) -> float:
    """Velocity away from a limit that its row asks for; `gap` < 0 is beyond it, velocities count away from it."""
    if gap >= 0.0:
        return -gap / substep_s
    return min(velocity, 0.0) if velocity_iteration else -gap / substep_s * bias


@compiled
def joint_limit(
    velocity: float,
    gaps: tuple[float, float],
    applied: tuple[float, float],
    softened: float,
    substep_s: float,
    bias: float,
    velocity_iteration: bool,
) -> tuple[float, float]:
    """Changes of the impulses of the lower (≥ 0) and the upper limit (≤ 0): rigid, inelastic, without a margin.

    A limit acts if it is crossed or would be within h: it asks for the velocity that ends on it (beyond: that removes
    the share `bias` of the error). Clear of both, what was given is taken back until the joint stands.

    Measured: driven arm, six limited joints, 4 s: 0.00004 mrad (N 1, 4, 8; velocity iterations 0–4).
    """
    below, above = gaps
    lower, upper = applied
    if below < 0.0 or below + velocity * substep_s < 0.0:
        wanted = limit_target(velocity, below, substep_s, bias, velocity_iteration)
        return max(lower + (wanted - velocity) * softened, 0.0) - lower, 0.0
    if above < 0.0 or above - velocity * substep_s < 0.0:
        wanted = -limit_target(-velocity, above, substep_s, bias, velocity_iteration)
        return 0.0, min(upper + (wanted - velocity) * softened, 0.0) - upper
    if velocity > 0.0:
        return max(-velocity * softened, -lower), 0.0
    return 0.0, min(-velocity * softened, -upper)


@compiled
def coupling_impulse(
    velocity: float, error: float, response: float, substep_s: float, bias: float, velocity_iteration: bool
) -> float:
    """Impulse along e_follower − ratio·e_leader that brings a mimic joint to its leader, rigidly.

    `velocity` and `error` are those of q − ratio·q_leader − shift, `response` is that combination's J M⁻¹ Jᵀ, without
    softening. An iteration asks for −error/h·bias (bias as of a limit); all couplings come before the first joint.

    Measured (fingers of a Franka that start 4 mm apart, 0.2 s, rms): 0.00004 mrad and mm (N = 4; 1: .00015,
    16: .00008; with a velocity iteration or forces in every iteration .00003). After the joints: .004, bias 1: .0007.
    """
    target = 0.0 if velocity_iteration else -error / substep_s * bias
    return (target - velocity) / response


@compiled
def velocity_limit(velocity: float, limit: float, softened: float) -> float:
    """An inelastic impulse back to the largest speed.

    Measured with `velocity_ratio`: arm, six joints at 1.2 rad/s, 0.0001 mrad; without the ratio 8.9.
    """
    if abs(velocity) <= limit:
        return 0.0
    return (math.copysign(limit, velocity) - velocity) * softened


@compiled
def velocity_ratio(velocity: float, limit: float) -> float:
    """By the smallest of these ratios PhysX multiplies **all** joint velocities at the start of a step."""
    return min(1.0, limit / max(abs(velocity), 1e-30))
