"""Kinematics and dynamics of many environments from MuJoCo's own functions, in PhysX's coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isaaclab_mirror.sims import batched
from isaaclab_mirror.sims.mujoco_model import MujocoRobot
from isaaclab_mirror.sims.state import LinkStates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Dynamics:
    """Positions and velocities in, link states and dynamics out; one MjData of its own, which no step touches."""

    def __init__(self, robot: MujocoRobot) -> None:
        """Makes the data."""
        import mujoco
        import numpy as np

        self._robot = robot
        self._data = mujoco.MjData(robot.model)
        base = np.arange(robot.root_dof, robot.root_dof + 6) if robot.floating else np.arange(0)
        self._dofs = np.concatenate([base, robot.joints.dof]).astype(np.intp)

    @property
    def root_com(self) -> Array:
        """The root link's centre of mass in its own frame [m]."""
        return self._robot.model.body_ipos[self._robot.bodies[0]]

    def links(self, qpos: Array, qvel: Array) -> LinkStates:
        """Every link's pose and velocity."""
        import mujoco
        import numpy as np

        model, data, bodies = self._robot.model, self._data, self._robot.bodies
        n, count = len(qpos), len(bodies)
        pos, quat, com, centre = (np.empty((n, count, k)) for k in (3, 4, 3, 3))
        twist = np.empty((n, count, 6))
        roots = model.body_rootid[bodies]
        for k in range(n):
            data.qpos[:], data.qvel[:] = qpos[k], qvel[k]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            pos[k], quat[k], com[k] = data.xpos[bodies], data.xquat[bodies], data.xipos[bodies]
            twist[k], centre[k] = data.cvel[bodies], data.subtree_com[roots]
        angular, linear = (
            twist[..., :3],
            twist[..., 3:],
        )  # MuJoCo: of the point of the link at its tree's centre of mass
        return LinkStates(
            pos_w=pos,
            quat_wxyz=quat,
            lin_vel_w=linear + batched.cross(angular, pos - centre),
            com_lin_vel_w=linear + batched.cross(angular, com - centre),
            ang_vel_w=angular.copy(),
        )

    def _change(self, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """T with MuJoCo's velocities = T·u, and Ṫ·u, (envs, n, n) and (envs, n).

        MuJoCo's free joint: velocity of the origin in the world, angular velocity in the link's frame. u: velocity of
        the centre of mass, angular velocity, both in the world. With r from origin to centre of mass:
            v_o = v_com − ω × r,  ω_b = Rᵀ ω;  and  Ṫu = (−ω × (ω × r), 0): the angular part's change is Rᵀ(ω × ω) = 0.
        """
        import numpy as np

        n, size = len(qpos), len(self._dofs)
        change = np.broadcast_to(np.eye(size), (n, size, size)).copy()
        drift = np.zeros((n, size))
        if self._robot.floating:
            first, dof = self._robot.root_qpos, self._robot.root_dof
            quat = qpos[:, first + 3 : first + 7]
            arm = batched.rotate(quat, np.broadcast_to(self.root_com, (n, 3)))
            omega = batched.rotate(quat, qvel[:, dof + 3 : dof + 6])
            change[:, :3, 3:6] = batched.skew(arm)
            change[:, 3:6, 3:6] = np.swapaxes(batched.matrices(quat), -1, -2)
            drift[:, :3] = -batched.cross(omega, batched.cross(omega, arm))
        return change, drift

    def mass_matrix(self, qpos: Array, qvel: Array) -> Array:
        """Tᵀ M T."""
        import numpy as np

        change, _ = self._change(qpos, qvel)
        return np.swapaxes(change, -1, -2) @ self._own_matrix(qpos) @ change

    def _own_matrix(self, qpos: Array) -> Array:
        """M in MuJoCo's coordinates, (envs, n, n)."""
        import mujoco
        import numpy as np

        model, data, dofs = self._robot.model, self._data, self._dofs
        full = np.zeros((model.nv, model.nv))
        result = np.empty((len(qpos), len(dofs), len(dofs)))
        make = getattr(mujoco, "mj_makeM", mujoco.mj_crb)
        for k in range(len(qpos)):
            data.qpos[:] = qpos[k]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            make(model, data)
            _full_matrix(model, data, full)
            result[k] = full[np.ix_(dofs, dofs)]
        return result

    def bias(self, qpos: Array, qvel: Array) -> Array:
        """Tᵀ (b + M Ṫu)."""
        import mujoco
        import numpy as np

        model, data, dofs = self._robot.model, self._data, self._dofs
        own = np.empty((len(qpos), len(dofs)))
        force = np.zeros(model.nv)
        for k in range(len(qpos)):
            data.qpos[:], data.qvel[:] = qpos[k], qvel[k]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            mujoco.mj_rne(model, data, 0, force)
            own[k] = force[dofs]
        change, drift = self._change(qpos, qvel)
        if self._robot.floating:
            own = own + np.einsum("nij,nj->ni", self._own_matrix(qpos), drift)
        return np.einsum("nji,nj->ni", change, own)

    def jacobian(self, link: int, qpos: Array, qvel: Array) -> Array:
        """J T of a link's origin: linear rows, then angular."""
        import mujoco
        import numpy as np

        model, data, dofs = self._robot.model, self._data, self._dofs
        body = int(self._robot.bodies[link])
        rows = np.zeros((2, 3, model.nv))
        result = np.empty((len(qpos), 6, len(dofs)))
        for k in range(len(qpos)):
            data.qpos[:] = qpos[k]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_jacBody(model, data, rows[0], rows[1], body)
            result[k] = rows.reshape(6, -1)[:, dofs]
        change, _ = self._change(qpos, qvel)
        return result @ change


def _full_matrix(model: object, data: object, full: Array) -> None:
    """MuJoCo 4 takes the data, MuJoCo 3 the sparse matrix."""
    import mujoco

    try:
        mujoco.mj_fullM(model, data, full)
    except TypeError:
        mujoco.mj_fullM(model, full, data.qM)  # type: ignore[attr-defined]
