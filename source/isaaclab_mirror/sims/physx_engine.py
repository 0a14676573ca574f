"""ovphysx on the CPU: one stage loaded, cloned, stepped, its tensors read and written. Knows nothing of robots."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from isaaclab_mirror.diagnostics import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array32 = NDArray[np.float32]

NEEDED = ("ovphysx", "ovstage", "physx_usd_schemas", "newton_usd_schemas")
"""Modules of the extra `physx`."""
_names = itertools.count()
_started = False


def require_physx() -> None:
    """An error that says how to install PhysX, where it is not there."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(
            "E056",
            "PhysX",
            f"PhysX is not installed (no module {missing[0]!r})",
            "pip install 'isaaclab-mirror[physx]' (Linux, glibc 2.35 or later)",
        )


class Layout(NamedTuple):
    """The articulation's order."""

    body_names: tuple[str, ...]
    dof_names: tuple[str, ...]
    fixed_base: bool


class Advance(NamedTuple):
    """What came of some steps."""

    steps: int
    """Taken; the last one included where it exploded."""
    stable: bool


def _start(threads: int | None) -> None:
    """Once per process: schemas, CPU mode, quiet."""
    global _started
    if _started:
        return
    import warp

    # It prints a word about CUDA when it starts.
    if hasattr(warp.config, "log_level"):
        warp.config.log_level = warp.LOG_ERROR
    else:
        warp.config.quiet = True
    import ovphysx
    import ovstage
    from ovphysx.samples.python_samples.schema_support import physx_schema_paths
    from ovphysx.types import GlobalConfigKey

    ovphysx.set_log_level(4)
    if threads is not None:
        ovphysx.set_global_config(GlobalConfigKey.NUM_THREADS, threads)
    ovstage.population.register_usd_schemas([*map(str, physx_schema_paths()), str(ovphysx.newton_schema_root())])
    ovphysx.PhysX.set_cpu_mode(True)
    _started = True


class Engine(Protocol):
    """What `PhysxSim` asks of PhysX, in this process (`PhysxEngine`) or in another (`ProcessEngine`)."""

    @property
    def sensor_paths(self) -> list[str]: ...
    def articulations(self) -> list[str]: ...
    def clone(self, source: str, targets: Sequence[str], poses: Sequence[Sequence[float]]) -> None: ...
    def warm_up(self, articulations: Sequence[str], sensors: Sequence[str]) -> None: ...
    def layout(self) -> Layout: ...
    def shape(self, name: str) -> tuple[int, ...]: ...
    def read(self, name: str) -> Any: ...
    def read_all(self, names: Sequence[str]) -> list[Any]: ...
    def write(self, name: str, values: Any, rows: Any = None) -> None: ...
    def update_kinematics(self) -> None: ...
    def advance(self, dt_s: float, substeps: int, count: int, limit: float) -> Advance: ...
    def contact_forces(self) -> Any: ...
    def close(self) -> None: ...


class PhysxEngine:
    """One loaded stage."""

    def __init__(self, file: Path, *, threads: int | None = None) -> None:
        """Load it; `clone`, then `warm_up`, come before anything else. `threads` holds for the first of a process."""
        require_physx()
        _start(threads)
        import ovphysx
        import ovstage
        from ovphysx.types import TensorType

        self._types = TensorType
        self._bindings: dict[str, Any] = {}
        self._buffers: dict[str, Any] = {}
        self._contacts: Any = None
        self._physx: Any = ovphysx.PhysX()
        self._stage: Any = ovstage.Stage(f"isaaclab_mirror_{next(_names)}")
        try:
            with _silent(1):
                ovstage.population.open_usd(self._stage, str(file), ordinal=1, domains=ovstage.PopulationDomain.ALL)
                self._stage.advance_write_floor(ordinal=1).wait()
                self._physx.wait_task(self._physx.attach_ovstage(self._stage, read_ordinal=1))
                self._physx.wait_all()
        except Exception as error:
            self.close()
            raise InputError("E058", "PhysX", f"PhysX cannot load the stage: {_short(error)}") from error

    def articulations(self) -> list[str]:
        """Prim paths of the articulations that PhysX made of the stage, that of most joints first."""
        from ovphysx.types import SimObjectType

        found: dict[str, int] = {}
        with _silent(1, 2), warnings.catch_warnings():  # warp looks for CUDA, which nothing here uses
            warnings.simplefilter("ignore", RuntimeWarning)
            with self._physx.read_sync(SimObjectType.ARTICULATION, ["dofCount"]) as read:
                for group in read.groups:
                    paths = map(str, read.dictionary.get_path_strings(group.prim_list))
                    found.update(zip(paths, group.tensors[0].numpy().reshape(-1).tolist(), strict=False))
        return sorted(found, key=lambda path: (-found[path], path))

    def clone(self, source: str, targets: Sequence[str], poses: Sequence[Sequence[float]]) -> None:
        """Copies of a subtree, at absolute poses (x, y, z, qx, qy, qz, qw) of its root."""
        with _silent(1):
            task = self._physx.clone(source, list(targets), anchor_transforms=[tuple(p) for p in poses])
            self._physx.wait_task(task)
            self._physx.wait_all()

    def warm_up(self, articulations: Sequence[str], sensors: Sequence[str]) -> None:
        """PhysX makes its structures; the articulations and contact sensors of all environments are bound."""
        self._paths = list(articulations)
        if sensors:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                self._contacts = self._physx.create_contact_binding(sensor_patterns=list(sensors))
        with _silent(1):
            self._physx.warmup()
            self._physx.wait_all()

    @property
    def sensor_paths(self) -> list[str]:
        """Prim paths of the contact sensors, in the order of `contact_forces`."""
        return [] if self._contacts is None else list(self._contacts.sensor_paths)

    def binding(self, name: str) -> Any:
        """The tensor binding of all environments, by the name of its type without ARTICULATION_."""
        made = self._bindings.get(name)
        if made is None:
            kind = getattr(self._types, f"ARTICULATION_{name}")
            with _silent(1), warnings.catch_warnings():  # it reads the stage once more
                warnings.simplefilter("ignore", DeprecationWarning)
                made = self._physx.create_tensor_binding(prim_paths=self._paths, tensor_type=kind)
            self._bindings[name] = made
        return made

    def layout(self) -> Layout:
        """Names in PhysX's order."""
        made = self.binding("DOF_POSITION")
        return Layout(tuple(made.body_names), tuple(made.dof_names), bool(made.is_fixed_base))

    def shape(self, name: str) -> tuple[int, ...]:
        """Of a tensor."""
        return tuple(int(size) for size in self.binding(name).shape)

    def _buffer(self, name: str) -> Any:
        """The float32 (or uint8) array that a tensor is read into, kept from call to call."""
        import numpy as np

        made = self._buffers.get(name)
        if made is None:
            binding = self.binding(name)
            made = np.zeros(binding.shape, np.uint8 if "uint8" in str(binding.dtype_name) else np.float32)
            self._buffers[name] = made
        return made

    def read(self, name: str) -> Any:
        """A tensor, in a buffer that the next read of it overwrites."""
        buffer = self._buffer(name)
        self.binding(name).read(buffer)
        return buffer

    def read_all(self, names: Sequence[str]) -> list[Any]:
        """Several tensors, each as by `read`."""
        return [self.read(name) for name in names]

    def write(self, name: str, values: Any, rows: Any = None) -> None:
        """A whole tensor, or some environments' rows of it (the others' values are not used)."""
        import numpy as np

        array = np.ascontiguousarray(values, dtype=np.float32)
        if rows is None:
            self.binding(name).write(array)
        else:
            self.binding(name).write(array, indices=np.ascontiguousarray(rows, dtype=np.int32))

    def update_kinematics(self) -> None:
        """After positions were written: link poses follow."""
        self._physx.update_articulations_kinematic()

    def advance(
        self, dt_s: float, substeps: int, count: int, limit: float, beat: Callable[[], None] | None = None
    ) -> Advance:
        """`count` times `substeps` steps, or until a link is faster than `limit` [stage units/s, rad/s] or not finite.

        `beat` is called after every step.
        """
        import numpy as np

        for k in range(count):
            for _ in range(substeps):
                self._physx.step_sync(dt_s)
            if not float(np.abs(self.read("LINK_VELOCITY")).max()) < limit:  # nan fails too
                return Advance(k + 1, stable=False)
            if beat is not None:
                beat()
        return Advance(count, stable=True)

    def contact_forces(self) -> Any:
        """Net normal and friction force of each sensor during the last step, (sensors, 3)."""
        import numpy as np

        normal = np.zeros((self._contacts.sensor_count, 3), np.float32)
        friction = np.zeros_like(normal)
        self._contacts.read_net_normal_forces(normal)
        self._contacts.read_net_friction_forces(friction)
        return normal + friction

    def collider_edges(self, colliders: Sequence[str]) -> list[Array32]:
        """What PhysX draws of each collider (n, 2, 3), in the world [stage units]; takes a step for each."""
        import numpy as np
        from ovphysx.types import SimObjectType

        drawing = SimObjectType.DEBUG_RENDER
        found: list[Array32] = []
        with _silent(1, 2), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for name in ("enabled", "scale", "collisionShapes"):
                self._put_setting(name, np.ones(1))
            for path in colliders:
                with self._physx.read_sync(drawing, ["linePosition"]) as read:
                    token = int(read.dictionary.intern_path(path))
                self._put_setting("scope", np.array([1, token], dtype=np.uint64))
                self._physx.step_sync(1e-4)
                with self._physx.read_sync(drawing, ["linePosition"]) as read:
                    drawn = [np.array(group.tensors[0].numpy(), np.float32) for group in read.groups]
                found.append(np.concatenate(drawn) if drawn else np.zeros((0, 2, 3), np.float32))
        return found

    def _put_setting(self, name: str, values: Any) -> None:
        """The first numbers of a setting of PhysX's drawing."""
        from ovphysx.types import SimObjectType

        extra = {"values": [int(v) for v in values]} if name == "scope" else {}
        with self._physx.write_sync(SimObjectType.DEBUG_RENDER, [name], **extra) as write:
            for group in write.groups:
                group.tensors[0].numpy().reshape(-1)[: len(values)] = values
                write.commit_sync(group)

    def close(self) -> None:
        """Give everything back, in PhysX's order; twice is once."""
        for binding in (*self._bindings.values(), self._contacts):
            if binding is not None:
                binding.destroy()
        self._bindings, self._contacts, self._buffers = {}, None, {}
        if self._physx is not None:
            if self._physx.is_stage_attached(self._stage):
                self._physx.wait_task(self._physx.detach_ovstage())
            self._stage.destroy()
            self._physx.destroy()
            self._physx = self._stage = None


@contextlib.contextmanager
def _silent(*descriptors: int) -> Iterator[None]:
    """PhysX and warp print warnings, whatever their log level, to stdout too, where a command writes its JSON."""
    native = ctypes.CDLL(None)  # whose own buffer would come out later
    sys.stdout.flush()
    native.fflush(None)
    kept, nowhere = [os.dup(k) for k in descriptors], os.open(os.devnull, os.O_WRONLY)
    try:
        for k in descriptors:
            os.dup2(nowhere, k)
        yield
    finally:
        native.fflush(None)
        for k, own in zip(descriptors, kept, strict=True):
            os.dup2(own, k)
            os.close(own)
        os.close(nowhere)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
