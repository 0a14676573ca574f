"""Targets and efforts as MuJoCo controls: what a joint's actuator is told so that it does what the caller means."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.sims.mujoco_model import MujocoRobot, lowered_robot
from isaaclab_mirror.sims.robots import with_gains
from isaaclab_mirror.sims.settings import SimSettings
from isaaclab_mirror.sims.steppers import Drives

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Controls:
    """Folds targets and efforts into controls.

    An actuator pushes with gear·(gain·control + bias(q, v)). Wanted is kp·(q* − q) + kd·(v* − v) + effort, bounded as a
    whole, as PhysX bounds it. The bias holds −kp·q − kv·v already, so
        control = (kp·q* + kd·v* + effort) / (gear·gain),
    and the actuator's force range bounds drive and effort together.
    """

    def __init__(self, robot: MujocoRobot, drives: Drives) -> None:
        """Takes the model's actuators as they are now."""
        self._robot = robot
        self.drives = drives
        self._driven = (robot.actuators >= 0).nonzero()[0]
        self._columns = robot.actuators[self._driven]
        self._whole = len(self._driven) == len(robot.actuators)
        self._free_targets()
        self.refresh()

    def _free_targets(self) -> None:
        """PhysX bounds no target: neither do position actuators here."""
        import mujoco

        model = self._robot.model
        affine = model.actuator_biastype[self._columns] == int(mujoco.mjtBias.mjBIAS_AFFINE)
        model.actuator_ctrllimited[self._columns[affine]] = 0

    def refresh(self) -> None:
        """The model's gains have changed."""
        import numpy as np

        model, columns, drives = self._robot.model, self._columns, self.drives
        gear = model.actuator_gear[columns, 0]
        push = gear * model.actuator_gainprm[columns, 0]
        stiffness = -model.actuator_biasprm[columns, 1] * gear**2
        nominal = (drives.stiffness * self._robot.drives.inertia)[self._driven]
        damping = (drives.damping * self._robot.drives.inertia)[self._driven]
        # A law may have scaled the gains: a velocity target is scaled with them.
        scale = np.divide(stiffness, nominal, out=np.ones_like(nominal), where=nominal > 0)
        self._position, self._velocity, self._effort = stiffness / push, damping * scale / push, 1.0 / push

    def update(self, rows: Any = slice(None)) -> None:
        """Controls of some environments from targets and efforts."""
        drives, driven = self.drives, self._driven
        if self._whole:
            q, v, effort = drives.position_target[rows], drives.velocity_target[rows], drives.effort[rows]
        else:
            q, v = drives.position_target[rows][:, driven], drives.velocity_target[rows][:, driven]
            effort = drives.effort[rows][:, driven]
        value = self._position * q + self._velocity * v + self._effort * effort
        if isinstance(rows, slice):
            drives.control[rows, self._columns] = value
        else:
            drives.control[rows[:, None], self._columns] = value

    def torque(self, joint_pos: Array, joint_vel: Array) -> Callable[[], Array]:
        """The drive law of the source at a state, bounded [N·m or N]; from copies, when asked."""
        import numpy as np

        d, inertia = self.drives, self._robot.drives.inertia
        kp, kd, bound = d.stiffness * inertia, d.damping * inertia, d.effort_limit
        q, v, effort = d.position_target.copy(), d.velocity_target.copy(), d.effort.copy()
        return lambda: np.clip(kp * (q - joint_pos) + kd * (v - joint_vel) + effort, -bound, bound)


def put_gains(robot: MujocoRobot, settings: SimSettings, stiffness: Array, damping: Array) -> None:
    """Write gains into the model, through the laws of its fidelity."""
    import mujoco

    model, names = robot.model, robot.joints.names
    affine, plain = int(mujoco.mjtBias.mjBIAS_AFFINE), int(mujoco.mjtBias.mjBIAS_NONE)
    lowered: dict[str, Any] = {}
    if robot.robot is not None:
        gained = with_gains(
            robot.robot,
            dict(zip(names, stiffness.tolist(), strict=True)),
            dict(zip(names, damping.tolist(), strict=True)),
        )
        fidelity = Fidelity.NOMINAL if robot.fidelity is Fidelity.EMULATE else robot.fidelity
        lowered = {a.target: a for a in lowered_robot(gained, fidelity, settings).actuators}
    for column, name in enumerate(names):
        k = int(robot.actuators[column])
        if k < 0:
            continue
        made = lowered.get(name)
        if made is not None:
            gain, bias = made.gain[0], (*made.bias, 0.0, 0.0, 0.0)[:3]
        else:
            kp, kd = float(stiffness[column]), float(damping[column])
            gain, bias = kp or kd or 1.0, (0.0, -kp, -kd)
        model.actuator_gear[k, 0] = 1.0
        model.actuator_gainprm[k, 0] = gain
        model.actuator_biasprm[k, :3] = bias
        model.actuator_biastype[k] = affine if any(bias) else plain
