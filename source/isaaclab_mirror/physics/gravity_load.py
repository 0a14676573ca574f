"""How soft PhysX makes the drives of an arm or a hand that gravity loads: a held base, nothing touching."""

from __future__ import annotations

from collections.abc import Mapping

from isaaclab_mirror.physics.dynamics import gravity_efforts, mass_matrix
from isaaclab_mirror.robot.drives import Drive, DriveType
from isaaclab_mirror.robot.home import home_positions, is_floating
from isaaclab_mirror.robot.model import Robot

LEAST, MOST = 0.5, 1.3
"""Beyond these the law says nothing: gravity loads the joint itself hardly at all, or the pose is a special one."""
LARGEST = 200
"""Joints of a robot for which a dense mass matrix is worth inverting."""


def gravity_softening(robot: Robot, *, substep_s: float) -> dict[str, float]:
    """Axis → factor on its gains, for the drives of a robot whose base is held; the others keep theirs.

    PhysX solves a joint's drive before those further out, once per iteration, and what they push comes back on it.
    Summed over the iterations of a step at rest:
        kp_j·e_j = τ_j − a_j·Σ (M⁻¹)_ji·τ_i over the joints i solved after j,   a = h (h·kp + kd)
    with τ the efforts that hold the robot against gravity. A coupled solver, which sags by τ_j/kp_j, must be told
    s_j = τ_j / (τ_j − a_j·Σ (M⁻¹)_ji·τ_i), here at the start pose. Under a foot's load the same sum is `softening`.

    Measured (sinusoids of 0.5 to 1.7 Hz, N = 4, 3 s, rms mrad from PhysX): franka_panda 0.84 → 0.50, leap_hand
    1.18 → 0.75. Sag of the Franka's second joint: 1.07 mrad, law 0.88; of a finger's: 1.06 and 1.84, law 1.35 and 1.54.
    """
    import numpy as np

    drives: Mapping[str, Drive] = {axis.name: axis.drives[0] for axis in robot.axes() if len(axis.drives) == 1}
    if is_floating(robot) or not drives or robot.dofs > LARGEST:
        return {}
    stand = home_positions(robot)
    matrix, names = mass_matrix(robot, stand)
    inverse = np.linalg.pinv(matrix)
    effort = gravity_efforts(robot, stand)
    found: dict[str, float] = {}
    for j, name in enumerate(names):
        drive = drives.get(name)
        if drive is None or drive.is_dead or drive.stiffness <= 0:
            continue
        response = substep_s * (substep_s * drive.stiffness + drive.damping)
        if drive.type is DriveType.ACCELERATION:
            response /= inverse[j, j]
        held = effort[j] - response * float(inverse[j, j + 1 :] @ effort[j + 1 :])
        share = float(effort[j] / held) if held else 0.0
        if LEAST < share < MOST:
            found[name] = share
    return found
