"""A batch of MuJoCo environments as a `State`: copies at once, what costs something when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from isaaclab_mirror.sims import batched
from isaaclab_mirror.sims.mujoco_drives import Controls
from isaaclab_mirror.sims.mujoco_dynamics import Dynamics
from isaaclab_mirror.sims.mujoco_model import MujocoRobot
from isaaclab_mirror.sims.state import State
from isaaclab_mirror.sims.steppers import Batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROOT = {
    "root_pos_w": "pos_w",
    "root_quat_wxyz": "quat_wxyz",
    "root_lin_vel_w": "lin_vel_w",
    "root_com_lin_vel_w": "com_lin_vel_w",
    "root_ang_vel_w": "ang_vel_w",
}
"""Field of a State → the same of LinkStates."""


class Reader:
    """Reads one batch."""

    def __init__(self, robot: MujocoRobot, batch: Batch, controls: Controls, dynamics: Dynamics) -> None:
        """Remembers the root of a base that cannot move at all."""
        import numpy as np

        self._robot, self._batch, self._controls, self._dynamics = robot, batch, controls, dynamics
        model, body = robot.model, int(robot.bodies[0])
        self.welded = bool(model.body_dofnum[body] == 0 and model.body_parentid[body] == 0)
        links = dynamics.links(robot.home_qpos[None], np.zeros((1, model.nv)))
        self.home = {name: getattr(links, of)[:, 0] for name, of in ROOT.items()}
        """The root link at the robot's own start, (1, …) each."""

    def state(self) -> State:
        """Now."""
        batch, robot = self._batch, self._robot
        qpos, qvel = batch.qpos.copy(), batch.qvel.copy()
        position, velocity = robot.joints.positions(qpos), qvel[:, robot.joints.dof]
        return State(
            time_s=batch.time.copy(),
            **self._root(qpos, qvel),
            joint_names=robot.joints.names,
            joint_pos=position,
            joint_vel=velocity,
            link_names=robot.link_names,
            find_torque=self._controls.torque(position, velocity),
            find_contacts=self._contacts(),
            find_links=lambda: self._dynamics.links(qpos, qvel),
        )

    def _root(self, qpos: Array, qvel: Array) -> dict[str, Array]:
        import numpy as np

        if self.welded:
            return {name: np.repeat(row, len(qpos), axis=0) for name, row in self.home.items()}
        if not self._robot.floating:
            links = self._dynamics.links(qpos, qvel)
            return {name: getattr(links, of)[:, 0] for name, of in ROOT.items()}
        first, dof = self._robot.root_qpos, self._robot.root_dof
        quat, linear = qpos[:, first + 3 : first + 7], qvel[:, dof : dof + 3]
        angular = batched.rotate(quat, qvel[:, dof + 3 : dof + 6])
        arm = batched.rotate(quat, self._dynamics.root_com[None])
        return {
            "root_pos_w": qpos[:, first : first + 3],
            "root_quat_wxyz": quat,
            "root_lin_vel_w": linear,
            "root_com_lin_vel_w": linear + batched.cross(angular, arm),
            "root_ang_vel_w": angular,
        }

    def _contacts(self) -> Callable[[], Array]:
        """The stepper's own, the sensors', or nan where nothing measures."""
        import numpy as np

        batch, touch = self._batch, self._robot.touch
        shape = (batch.env_count, len(self._robot.link_names), 3)
        if batch.contact_force is not None:
            forces = batch.contact_force.copy()
            return lambda: forces
        if touch is None:
            return lambda: np.full(shape, np.nan)
        sensors = batch.sensordata.copy()
        # The sensor tells the force that the link exerts.
        return lambda: -sensors[:, touch[:, None] + np.arange(3)]
