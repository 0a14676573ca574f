"""`PhysxStep`: a MuJoCo model stepped as PhysX steps it, one environment or many at once."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any, cast

import numpy as np

from isaaclab_mirror.physics.emulation.compiled import COMPILED
from isaaclab_mirror.physics.emulation.coverage import Gap, colliders_of, couplings_of, refusal
from isaaclab_mirror.physics.emulation.laws import Laws
from isaaclab_mirror.physics.emulation.native import bindings
from isaaclab_mirror.physics.emulation.robot import (
    Data,
    Memory,
    Model,
    bodies_of,
    is_floating,
    place_of,
    solve_of,
    world_of,
)
from isaaclab_mirror.physics.emulation.settings import ContactParameters, JointParameters, LinkParameters, Settings
from isaaclab_mirror.physics.emulation.step import run_batch
from isaaclab_mirror.physics.emulation.tables import Anchors, Joint, Rules, filled, table
from isaaclab_mirror.physics.emulation.vectors import Floats, Ints, Table


class PhysxStep:
    """PhysX's TGS step in place of `mj_step`.

    The model gives masses, armature, kinematics, gravity and colliders; its own actuators, limits, friction loss,
    damping and contact parameters are not used: joints and contacts are those that are stated here.

        step = PhysxStep(model, JointParameters(names=("hip",), stiffness=40.0, damping=1.0), Settings())
        step.step(data, position_targets=[0.3])
    """

    def __init__(
        self,
        model: Model,
        joints: JointParameters,
        settings: Settings | None = None,
        *,
        contacts: ContactParameters | None = None,
        links: LinkParameters | None = None,
        laws: Laws | None = None,
        threads: int = 1,
        env_count: int = 0,
    ) -> None:
        """Read the model; raises ValueError for one that cannot be stepped (`coverage.refusal`).

        `env_count` rows for `step_arrays`; `step_many` makes rows for every MjData that it is shown.
        """
        if (reason := refusal(model)) is not None:
            raise ValueError(f"the emulation of PhysX cannot step this model: {reason}")
        self.model = model
        self.settings = settings or Settings()
        self.laws = laws or Laws()
        skip = 1 if is_floating(model) else 0
        self.joint_names: tuple[str, ...] = tuple(str(model.joint(j).name) for j in range(skip, int(model.njnt)))
        """Order of all targets, efforts and results."""
        self._colliders = colliders_of(model, contacts or ContactParameters(), self.settings)
        self.gaps: tuple[Gap, ...] = self._colliders.gaps
        """What of the model is left out or approximated."""
        self.pair_names = self._colliders.pair_names
        """Shape and ground of every pair that may touch, by geom name: order of the normal forces."""
        self._rules = rules_of(model, self.settings, self.laws)
        self._joints: Any = joints_of(model, joints, self.joint_names)
        self._bodies = bodies_of(model, links or LinkParameters(), self.settings)
        self._threads = max(1, threads)
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
        self._local = threading.local()
        self._memory = self._memory_for(env_count)
        self._rows: dict[int, int] = {}
        self._datas: list[Any] = []
        self._addresses: Ints = np.zeros((0, 4), dtype=np.int64)

    def step(
        self,
        data: Data,
        position_targets: object = 0.0,
        velocity_targets: object = 0.0,
        efforts: object = 0.0,
        n: int = 1,
    ) -> None:
        """`n` physics steps of one MjData under targets [rad or m, rad/s or m/s] and explicit efforts [N·m or N]."""
        self.step_many([data], position_targets, velocity_targets, efforts, n)

    def step_many(
        self,
        datas: Sequence[Data],
        position_targets: object = 0.0,
        velocity_targets: object = 0.0,
        efforts: object = 0.0,
        n: int = 1,
    ) -> None:
        """The same for many, in parallel; targets and efforts (environments, joints), or one row for all.

        Writes qpos, qvel and time. As after `mj_step`, what is derived from them is that of the state before.
        `qfrc_applied` and `xfrc_applied` act as external forces.
        """
        rows = self._rows_of(datas)
        size = (len(self._datas), len(self.joint_names))
        command = (
            _spread(position_targets, rows, size, "position targets"),
            _spread(velocity_targets, rows, size, "velocity targets"),
            _spread(efforts, rows, size, "efforts"),
        )
        self._run_all(rows, command, self._addresses, n)
        seconds = n * self.settings.step_s
        for data in datas:
            data.time += seconds

    def step_arrays(self, qpos: Floats, qvel: Floats, command: Command, n: int = 1, *, changed: bool = True) -> None:
        """The same for rows of arrays (environments, nq) and (environments, nv), in place.

        `command` is position targets, velocity targets and efforts, float64 (environments, joints), taken as it is.
        """
        count = len(qpos)
        if changed or len(self._addresses) != count:
            if len(self._memory.listed) != count:
                self._memory = self._memory_for(count)
            if qpos.strides[1] != 8 or qvel.strides[1] != 8 or qpos.dtype != np.float64 or qvel.dtype != np.float64:
                raise ValueError("qpos and qvel must be float64 with contiguous rows")
            index = np.arange(count)
            self._addresses = np.zeros((count, 4), dtype=np.int64)
            self._addresses[:, 0] = qpos.ctypes.data + index * qpos.strides[0]
            self._addresses[:, 1] = qvel.ctypes.data + index * qvel.strides[0]
        self._run_all(np.arange(count), command, self._addresses, n)

    def reset(self, rows: Any = slice(None)) -> None:
        """Forget friction anchors and the order of touching pairs of some environments; after writing a state."""
        self._memory.anchors["count"][rows] = 0
        self._memory.anchors["broken"][rows] = False
        self._memory.listed[rows] = 0

    def set_joints(self, **values: Floats) -> None:
        """New numbers of `JointParameters`' fields, in the order of `joint_names`: gains, limits, …"""
        for name, value in values.items():
            self._joints[name][:] = value
        self._local = threading.local()

    @property
    def joint_efforts(self) -> Floats:
        """Drive and explicit effort of the last step (environments, joints) [N·m or N]."""
        return self._memory.joint_effort

    @property
    def normal_forces(self) -> Floats:
        """Normal force of every pair in the last step (environments, pairs) [N]."""
        return self._memory.normal_force

    def contact_forces(self) -> Floats:
        """Force of the ground on every body in the last step (environments, bodies, 3), world axes [N]."""
        forces = np.zeros((len(self._memory.listed), int(self.model.nbody), 3))
        for pair, body in enumerate(self._colliders.pairs["body"]):
            forces[:, body] += self._memory.contact_force[:, pair]
        return forces

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _memory_for(self, count: int) -> Memory:
        pairs = len(self.pair_names)
        return Memory(
            anchors=cast("Any", table(Anchors, count * pairs)).reshape(count, pairs),
            listed=np.zeros(count, dtype=np.int64),
            joint_effort=np.zeros((count, len(self.joint_names))),
            normal_force=np.zeros((count, pairs)),
            contact_force=np.zeros((count, pairs, 3)),
        )

    def _rows_of(self, datas: Sequence[Data]) -> Ints:
        """Where the memory of each MjData stands; a new one gets a row."""
        new = [data for data in datas if data._address not in self._rows]
        for data in new:
            self._rows[data._address] = len(self._datas)
            self._datas.append(data)  # keeps it alive: an address is not used twice
        if new:
            addresses = [[getattr(d, name).ctypes.data for name in COPIED] for d in new]
            self._addresses = np.concatenate([self._addresses, np.array(addresses, dtype=np.int64)])
            more = self._memory_for(len(new))
            grown: list[Any] = [np.concatenate([old, extra]) for old, extra in zip(self._memory, more, strict=True)]
            anchors = grown[0] if COMPILED else grown[0].view(np.recarray)
            self._memory = Memory(anchors, *grown[1:])
        return np.array([self._rows[data._address] for data in datas], dtype=np.int64)

    def _run_all(self, envs: Ints, command: Command, addresses: Ints, n: int) -> None:
        """Shared out evenly among the threads."""
        parts = np.array_split(envs, min(self._threads, max(1, len(envs))))
        if self._pool is None or len(parts) == 1:
            self._run(envs, command, addresses, n)
            return
        for task in [self._pool.submit(self._run, part, command, addresses, n) for part in parts]:
            task.result()

    def _run(self, envs: Ints, command: Command, addresses: Ints, n: int) -> None:
        """These environments, in this thread, in memory of its own."""
        local: Any = self._local
        if not hasattr(local, "solve"):
            make = bindings().MjData
            local.datas = (make(self.model), make(self.model))
            local.places = (place_of(local.datas[0]), place_of(local.datas[1]))
            local.world = world_of(self._colliders)
            local.solve = solve_of(self._rules, self.model, self._bodies, self._joints, local.world)
        address = int(self.model._address)
        run_batch(
            local.solve,
            local.world,
            local.places,
            address,
            self._memory,
            command,
            envs,
            addresses,
            n,
        )


Command = tuple[Floats, Floats, Floats]
"""Position targets, velocity targets, efforts, (environments, joints) each."""
COPIED = ("qpos", "qvel", "qfrc_applied", "xfrc_applied")
"""What a step takes from an MjData; the first two it also gives back."""


def rules_of(model: Model, settings: Settings, laws: Laws) -> Table[Rules]:
    """The one record of settings, laws and what a robot has but once."""
    n, floating = settings.position_iterations, is_floating(model)
    root = int(model.jnt_bodyid[0]) if floating else 0
    moved = model.body_weldid != 0
    row: dict[str, Any] = {
        "step_s": settings.step_s,
        "substep_s": settings.step_s / n,
        "iterations": n,
        "velocity_iterations": settings.velocity_iterations,
        "every_iteration": settings.external_forces_every_iteration,
        "contact_bias": min(0.8, 2.0 / math.sqrt(n)),
        "limit_bias": min(0.9, 2.0 / math.sqrt(n)),
        "friction_offset_threshold_m": settings.friction_offset_threshold_m,
        "friction_correlation_m": settings.friction_correlation_m,
        "floating": floating,
        "root": root,
        "first": 6 if floating else 0,
        "root_com": np.array(model.body_ipos[root]),
        "total_mass": float(np.sum(model.body_mass[moved])),
        "gravity": np.array(model.opt.gravity),
        "coupled": bool(couplings_of(model)),
    }
    return filled(Rules, [row | {f.name: getattr(laws, f.name) for f in fields(laws)}])


def joints_of(model: Model, joints: JointParameters, names: Sequence[str]) -> Table[Joint]:
    """Every joint's record, with what was stated."""
    first = 6 if is_floating(model) else 0
    body = np.array(model.dof_bodyid[first:], dtype=np.int64)
    records: Any = table(Joint, len(names))
    for name, values in joints.ordered(names).items():
        records[name][:] = values
    records["body"][:] = body
    records["leader"][:] = -1
    for coupling in couplings_of(model).values():
        follower = names.index(coupling.follower)
        records["leader"][follower] = names.index(coupling.leader)
        records["ratio"][follower], records["shift"][follower] = coupling.ratio, coupling.shift
    records["ends"][:] = np.append(body[1:] != body[:-1], True)[: len(names)]
    return records


def _spread(values: object, rows: Ints, size: tuple[int, int], what: str) -> Floats:
    """Values for the environments `rows`, where their memory stands."""
    given = np.asarray(values, dtype=np.float64)
    if not np.isfinite(given).all():
        raise ValueError(f"{what} are not finite")
    full = np.zeros(size)
    try:
        full[rows] = given
    except ValueError:
        message = f"{what} of shape {given.shape} do not fit {len(rows)} environments × {size[1]} joints"
        raise ValueError(message) from None
    return full
