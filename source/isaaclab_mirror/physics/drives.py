"""Drives: PhysX's implicit PD drive as a MuJoCo actuator."""

from __future__ import annotations

from isaaclab_mirror.robot.drives import Actuator, Drive, Transmission


def step_damping(drive: Drive, *, step_s: float, iterations: int) -> float:
    """Damping with which one MuJoCo step of `step_s` acts as PhysX's `iterations` TGS iterations.

    One iteration is an implicit Euler sub-step of h = dt/N in position and velocity,
        v' = v + h/J · [kp (q* − q − h v') − kd v'],
    MuJoCo's `implicitfast` is implicit in velocity alone. Collecting v' gives kv = kd + h·kp per sub-step; over a whole
    step the mean of the sub-steps remains: kv = kd + a·dt·kp with a = (N + 1)/(2N).

    Measured (6-DOF arm, 200 Hz, N = 4, 4 s): 2.43 mrad rms, with kv = kd 9.73; gains × 10: 0.777 against 10.50.
    """
    return drive.damping + (iterations + 1) / (2 * iterations) * step_s * drive.stiffness


def substep_damping(drive: Drive, *, step_s: float, iterations: int) -> float:
    """Damping with which a MuJoCo step of h = step_s/iterations acts as one TGS iteration: kv = kd + h·kp.

    Measured (as above): 2.39 mrad rms; with kv = kd 4.54. Worse than `step_damping` once drives saturate (70 mrad).
    """
    return drive.damping + step_s / iterations * drive.stiffness


def drive_actuator(name: str, axis: str, drive: Drive, damping: float, inertia: float = 1.0) -> Actuator:
    """A drive as MuJoCo's general actuator, named after its joint as Isaac Lab knows it.

    Position drive: gain kp on the control, bias −kp·q − kv·v. Velocity drive (no stiffness): gain kv, bias −kv·v. No
    gains at all: a motor, whose control is the effort. `inertia` scales the gains of an acceleration drive.
    """
    bound = None if drive.max_effort is None else (-drive.max_effort, drive.max_effort)
    gear = [0.0] * 6
    gear[drive.rotation] = 1.0
    kp, kv = drive.stiffness * inertia, damping * inertia
    if kp == 0.0 and kv == 0.0:
        gain, bias, bias_type = (1.0,), (), "none"
    elif kp == 0.0:
        gain, bias, bias_type = (kv,), (0.0, 0.0, -kv), "affine"
    else:
        gain, bias, bias_type = (kp,), (0.0, -kp, -kv), "affine"
    return Actuator(
        name=name,
        transmission=Transmission.JOINT,
        target=axis,
        gear=tuple(gear),
        gain=gain,
        bias=bias,
        bias_type=bias_type,
        force_range=bound,
        source=drive.source,
    )
