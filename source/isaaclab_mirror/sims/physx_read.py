"""PhysX's tensors as a `State`: read at once, turned into our frames and orders when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from isaaclab_mirror.sims import batched
from isaaclab_mirror.sims.physx_engine import Engine
from isaaclab_mirror.sims.physx_frames import Columns, Frames
from isaaclab_mirror.sims.physx_tensors import PhysxDrives
from isaaclab_mirror.sims.robots import DriveTable
from isaaclab_mirror.sims.state import LinkStates, State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Raw(NamedTuple):
    """Tensors as PhysX gives them, copies."""

    joint_pos: Any
    joint_vel: Any
    link_pose: Any
    link_velocity: Any


class Reader:
    """Reads all environments."""

    def __init__(
        self,
        engine: Engine,
        frames: Frames,
        columns: Columns,
        table: DriveTable,
        paths: Sequence[Sequence[str]],
    ) -> None:
        """Remembers centres of mass, which no tensor of velocities tells. `paths`: of every link, per environment."""
        import numpy as np

        self._engine, self._frames, self._columns, self._table = engine, frames, columns, table
        coms = engine.read("BODY_COM_POSE")[0][columns.links, :3]
        self.coms: Array = coms.astype(np.float64) * frames.metres
        """(links, 3): centre of mass of each link in its own frame [m]."""
        self._sensors = _sensor_rows(engine.sensor_paths, paths)
        self._fresh = np.zeros(len(frames.origins), bool)
        """Reset and not stepped since: nothing has touched it."""

    def forget(self, rows: Any) -> None:
        """Environments were reset."""
        self._fresh[rows] = True

    def stepped(self) -> None:
        """All environments were."""
        self._fresh[:] = False

    def raw(self) -> Raw:
        """Now."""
        names = ("DOF_POSITION", "DOF_VELOCITY", "LINK_POSE", "LINK_VELOCITY")
        return Raw(*(array.copy() for array in self._engine.read_all(names)))

    def state(self, drives: PhysxDrives, time_s: Array) -> State:
        """Now."""
        import numpy as np

        raw, columns, frames, table = self.raw(), self._columns, self._frames, self._table
        contacts = self._contacts()
        position = columns.turned(raw.joint_pos[:, columns.joints] * columns.position_unit)
        velocity = columns.turned(raw.joint_vel[:, columns.joints] * columns.position_unit)
        root = int(columns.links[0])
        quat = frames.quaternions(raw.link_pose[:, root, 3:])
        of_com = frames.vectors(raw.link_velocity[:, root, :3], frames.metres)
        angular = frames.vectors(raw.link_velocity[:, root, 3:])
        arm = batched.rotate(quat, np.broadcast_to(self.coms[0], angular.shape))
        kp, kd = drives.stiffness * table.inertia, drives.damping * table.inertia
        bound, effort = table.effort_limit, drives.effort.copy()
        targets = drives.position_target.copy(), drives.velocity_target.copy()
        return State(
            time_s=time_s.copy(),
            root_pos_w=frames.positions(raw.link_pose[:, root, :3]),
            root_quat_wxyz=quat,
            root_lin_vel_w=of_com - batched.cross(angular, arm),
            root_com_lin_vel_w=of_com,
            root_ang_vel_w=angular,
            joint_names=columns.joint_names,
            joint_pos=position,
            joint_vel=velocity,
            link_names=columns.link_names,
            find_torque=lambda: np.clip(
                kp * (targets[0] - position) + kd * (targets[1] - velocity) + effort, -bound, bound
            ),
            find_contacts=lambda: contacts,
            find_links=lambda: self._links(raw),
        )

    def _contacts(self) -> Array:
        import numpy as np

        if self._sensors is None:
            return np.full((len(self._fresh), len(self._columns.link_names), 3), np.nan)
        forces = self._frames.vectors(self._engine.contact_forces()[self._sensors], self._frames.force)
        if self._fresh.any():
            forces[self._fresh] = 0.0  # PhysX still tells those of the last step
        return forces

    def _links(self, raw: Raw) -> LinkStates:
        import numpy as np

        frames, links = self._frames, self._columns.links
        quat = frames.quaternions(raw.link_pose[:, links, 3:])
        of_com = frames.vectors(raw.link_velocity[:, links, :3], frames.metres)
        angular = frames.vectors(raw.link_velocity[:, links, 3:])
        arm = batched.rotate(quat, np.broadcast_to(self.coms, of_com.shape))
        return LinkStates(
            pos_w=frames.positions(raw.link_pose[:, links, :3]),
            quat_wxyz=quat,
            lin_vel_w=of_com - batched.cross(angular, arm),
            com_lin_vel_w=of_com,
            ang_vel_w=angular,
        )


def _sensor_rows(sensors: Sequence[str], paths: Sequence[Sequence[str]]) -> NDArray[np.intp] | None:
    """(env_count, links): which contact sensor is whose; None where contacts are not measured."""
    import numpy as np

    rows = {path: k for k, path in enumerate(sensors)}
    if not rows or not all(path in rows for of_env in paths for path in of_env):
        return None
    return np.array([[rows[path] for path in of_env] for of_env in paths], dtype=np.intp)
