"""What is written into PhysX: joint properties, targets, efforts, gains, states; in its order and stage units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.physx_engine import Engine
from isaaclab_mirror.sims.physx_frames import Columns
from isaaclab_mirror.sims.robots import DriveTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

UNBOUNDED = 3.4028234663852886e38
"""The largest float32, which is PhysX's word for no bound."""


def write_joint_properties(engine: Engine, robot: Robot, columns: Columns) -> None:
    """Armature, joint friction and velocity limits from the robot model.

    ovphysx 0.7.0 does not read PhysxJointAPI, which Isaac Lab's PhysX does, nor what MuJoCo's schema says of a joint.
    """
    import numpy as np

    axes = [axis for axis in robot.axes() for _ in range(axis.dofs)]
    armature, speed = engine.read("DOF_ARMATURE").copy(), engine.read("DOF_MAX_VELOCITY").copy()
    friction = engine.read("DOF_FRICTION_PROPERTIES").copy()
    if not len(columns.joints):
        return
    for k, column in enumerate(columns.joints):
        axis = axes[columns.canonical[k]]
        position, effort = columns.position_unit[k], columns.effort_unit[k]
        own = axis.dynamics
        armature[:, column] = own.armature * position / effort
        breakaway = max(own.static_friction, own.friction)
        friction[:, column] = (breakaway / effort, own.friction / effort, own.damping * position / effort)
        limit = axis.limits.velocity
        speed[:, column] = UNBOUNDED if limit is None or not np.isfinite(limit) else limit / position
    engine.write("DOF_ARMATURE", armature)
    engine.write("DOF_FRICTION_PROPERTIES", friction)
    engine.write("DOF_MAX_VELOCITY", speed)


class PhysxDrives:
    """Targets, efforts and gains in canonical order, and their way into PhysX's tensors."""

    def __init__(self, engine: Engine, columns: Columns, table: DriveTable, env_count: int) -> None:
        """Writes the gains and bounds of the robot model."""
        import numpy as np

        self._engine, self._columns, self._table = engine, columns, table
        shape = (env_count, len(columns.joint_names))
        self.position_target, self.velocity_target, self.effort = (np.zeros(shape) for _ in range(3))
        self.stiffness, self.damping = table.stiffness.copy(), table.damping.copy()
        self._whole = {name: engine.read(name).copy() for name in ("DOF_STIFFNESS", "DOF_DAMPING", "DOF_MAX_FORCE")}
        self._put("DOF_MAX_FORCE", np.minimum(table.effort_limit / columns.effort_unit, UNBOUNDED))
        self.write_gains(self.stiffness, self.damping)
        total = engine.shape("DOF_POSITION")
        self._out = {
            name: np.zeros(total, np.float32)
            for name in ("DOF_POSITION_TARGET", "DOF_VELOCITY_TARGET", "DOF_ACTUATION_FORCE")
        }
        self._same_units = bool((columns.position_unit == 1).all() and (columns.effort_unit == 1).all())

    def _put(self, name: str, values: Array) -> None:
        """A property of every joint, the same in all environments; balls keep what the stage says."""
        whole, columns = self._whole[name], self._columns
        whole[:, columns.joints[columns.hinges]] = values[columns.hinges]
        if whole.size:
            self._engine.write(name, whole)

    def write_gains(self, stiffness: Array, damping: Array) -> None:
        """[SI], (joints,)."""
        unit = self._columns.position_unit / self._columns.effort_unit
        self.stiffness[:], self.damping[:] = stiffness, damping
        self._put("DOF_STIFFNESS", stiffness * unit)
        self._put("DOF_DAMPING", damping * unit)

    def _write(self, name: str, values: Array, unit: Array) -> None:
        out = self._out[name]
        values = self._columns.turned_back(values)
        out[:, self._columns.joints] = values if self._same_units else values / unit
        if out.size:
            self._engine.write(name, out)

    def write_position_targets(self) -> None:
        """As they are now."""
        self._write("DOF_POSITION_TARGET", self.position_target, self._columns.position_unit)

    def write_velocity_targets(self) -> None:
        """As they are now."""
        self._write("DOF_VELOCITY_TARGET", self.velocity_target, self._columns.position_unit)

    def write_efforts(self) -> None:
        """As they are now."""
        self._write("DOF_ACTUATION_FORCE", self.effort, self._columns.effort_unit)

    def reset(self, rows: Any, position: Array) -> None:
        """Targets at the joints' positions, nothing else."""
        self.position_target[rows] = position
        self.velocity_target[rows], self.effort[rows] = 0.0, 0.0
        self.write_position_targets()
        self.write_velocity_targets()
        self.write_efforts()

    def put_state(self, rows: Any, position: Array, velocity: Array, pose: Array | None, twist: Array | None) -> None:
        """Joint positions and velocities [SI], root pose and velocity [PhysX's own], of some environments."""
        import numpy as np

        engine, columns = self._engine, self._columns
        every = len(rows) == len(self.effort)
        index = None if every else rows
        for name, values in (("ROOT_POSE", pose), ("ROOT_VELOCITY", twist)):
            if values is not None:
                whole = np.zeros(engine.shape(name), np.float32)
                whole[rows] = values
                engine.write(name, whole, index)
        if len(columns.joints):
            for name, values in (("DOF_POSITION", position), ("DOF_VELOCITY", velocity)):
                whole = np.zeros(engine.shape(name), np.float32)
                whole[rows[:, None], columns.joints] = columns.turned_back(values) / columns.position_unit
                engine.write(name, whole, index)
        engine.update_kinematics()
