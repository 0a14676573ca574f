"""Both engines on one robot under the same settings: opened for a test, kept while the next asks for the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from isaaclab_mirror.diagnostics import Diagnostic, InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.mujoco_facts import weighed
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.robots import is_floating, load_robot, locked, untouchable
from isaaclab_mirror.sims.settings import SimSettings
from isaaclab_mirror.sims.simulator import Simulator

if TYPE_CHECKING:
    from isaaclab_mirror.comparison.recording import Bench

T = TypeVar("T")

RAISED_M = 2.0

OpenPhysx = Callable[[Robot, ReadOptions, SimSettings], Simulator]
"""Loads a robot in PhysX: in a child process, or in this one."""


def physx_in_process(robot: Robot, read: ReadOptions, settings: SimSettings) -> Simulator:
    """PhysX in this process, which `validate_apart` makes one of its own.

    No worker threads: one robot is stepped in 0.1 ms without and in 3 ms with them (7-DOF arm, 2 busy cores).
    """
    from isaaclab_mirror.sims.physx_sim import PhysxSim

    return PhysxSim(robot, read=read, settings=settings, threads=0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variant:
    """A robot as one test needs it: base as it is, held or freed; ground or none; joints locked."""

    robot: Robot
    read: ReadOptions
    settings: SimSettings


class Engines:
    """Opens PhysX and MuJoCo on variants of one file. A context manager."""

    def __init__(self, file: Path, read: ReadOptions, fidelity: Fidelity, open_physx: OpenPhysx) -> None:
        """Reads the file: what cannot be read has raised."""
        from isaaclab_mirror.conversion import inspect_robot

        self.file, self.read, self.fidelity, self._open_physx = file, read, fidelity, open_physx
        self.robot, found, _ = inspect_robot(file, read)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(found)
        self._robots: dict[bool | None, Robot] = {read.fix_base: self.robot}
        self._held: Robot | None = None
        self._open: tuple[Variant, Simulator, MujocoSim] | None = None

    def variant(self, settings: SimSettings, *, fix_base: bool | None = None) -> Variant:
        """The robot with its base as the file has it (None), held in the air, or freed."""
        as_asked = is_free(self.robot) if fix_base is False else not is_floating(self.robot)
        if fix_base is None or as_asked:
            return Variant(robot=self.robot, read=self.read, settings=settings)
        read = replace(self.read, fix_base=fix_base)
        if fix_base not in self._robots:
            robot = load_robot(self.file, read)
            self._robots[fix_base] = _raised(robot) if fix_base else _untied(robot)
        return Variant(robot=self._robots[fix_base], read=read, settings=settings)

    def held(self, settings: SimSettings) -> Variant:
        """Base held in the air, nothing touching: what is left is joints and their drives."""
        plain = self.variant(settings, fix_base=True)
        if self._held is None:
            self._held = untouchable(self._weighed(plain))
        return replace(plain, robot=self._held)

    def falling(self, settings: SimSettings) -> Variant:
        """Base free, every joint rigid, nothing touching."""
        plain = self.variant(settings, fix_base=False)
        return replace(plain, robot=locked(self._weighed(plain), ()))

    def _weighed(self, variant: Variant) -> Robot:
        """With the masses that MuJoCo computes from geoms that will not be there."""
        if all(link.inertia is not None for link in variant.robot.links):
            return variant.robot
        with self.open_mujoco(variant) as sim:
            return weighed(variant.robot, sim.robot)

    def open(self, variant: Variant) -> tuple[Simulator, MujocoSim]:
        """Both engines on a variant; those of the variant before are closed."""
        if self._open is not None:
            before, physx, mujoco = self._open
            if before.robot is variant.robot and before.settings == variant.settings:
                return physx, mujoco
            self.close()
        mujoco = self.open_mujoco(variant)
        try:
            physx = _named("PhysX", lambda: self._open_physx(variant.robot, variant.read, variant.settings))
        except BaseException:
            mujoco.close()
            raise
        self._open = variant, physx, mujoco
        return physx, mujoco

    def open_mujoco(self, variant: Variant) -> MujocoSim:
        """MuJoCo alone; the caller closes it."""
        return _named("MuJoCo", lambda: MujocoSim(variant.robot, settings=variant.settings, fidelity=self.fidelity))

    def close(self) -> None:
        """Close what is open."""
        if self._open is not None:
            _, physx, mujoco = self._open
            self._open = None
            mujoco.close()
            physx.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def is_free(robot: Robot) -> bool:
    """Whether nothing holds the base: neither its own joint nor a constraint to the world."""
    root = robot.links[0].name
    return is_floating(robot) and not any({loop.link0, loop.link1} == {None, root} for loop in robot.loops)


def _raised(robot: Robot) -> Robot:
    """A held robot hangs clear of whatever ground its file brings."""
    origin = robot.joints[0].origin
    x, y, z = origin.pos
    return load_robot(robot, base_pose=replace(origin, pos=(x, y, z + RAISED_M)))


def _untied(robot: Robot) -> Robot:
    """Without the weld that held the base, which the reader keeps as a constraint to the world."""
    root = robot.links[0].name
    loops = tuple(loop for loop in robot.loops if {loop.link0, loop.link1} != {None, root})
    return replace(robot, loops=loops)


def benches(physx: Simulator, mujoco: Simulator, *, forces: bool = False) -> tuple[Bench, Bench]:
    """Both engines with the joints that both have, in one order."""
    from isaaclab_mirror.comparison.recording import Bench

    names = [name for name in physx.joint_names if name in mujoco.joint_names]
    return Bench(physx, names, forces=forces), Bench(mujoco, names, forces=forces)


def _named(engine: str, make: Callable[[], T]) -> T:
    """Errors of loading say which engine refused."""
    try:
        return make()
    except InputError as error:
        found = error.diagnostic
        if found.where.startswith(engine) or found.message.startswith(engine):
            raise
        raise InputError(found.code, f"{engine}: {found.where}", found.message, found.hint) from error
