"""Traces: episodes as they were run, in one npz file that is plain arrays and JSON (docs/traces.md).

An array is (steps, episodes, …); row k of an episode is what the policy saw, did and caused in its policy step k.
Beyond an episode's end an array is nan. Joints and links are named in `meta`, and everything is matched by name.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.files import move_into_place, staging_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isaaclab_mirror.envs.episodes import Moment
    from isaaclab_mirror.envs.mirror import Mirror

    Array = NDArray[np.float32]

SCHEMA = 1
LARGEST = 2**33
"""Bytes of all arrays together."""

FIELDS: Mapping[str, tuple[str, str]] = {
    "root_pos_w": ("3", "root link [m], before the step"),
    "root_quat_wxyz": ("4", "root link"),
    "root_com_lin_vel_w": ("3", "centre of mass of the root link [m/s]"),
    "root_ang_vel_w": ("3", "[rad/s]"),
    "joint_pos": ("joints", "[rad or m]"),
    "joint_vel": ("joints", "[rad/s or m/s]"),
    "observation": ("observations", "the policy's input"),
    "action": ("actions", "the policy's output"),
    "joint_target": ("joints", "position target that the actions make of it [rad or m]"),
    "joint_torque": ("joints", "applied at the end of the step [N·m or N]"),
    "contact_force_w": ("links, 3", "net contact force on every link at the end of the step [N]"),
    "command": ("3", "velocity command: vx, vy [m/s], wz [rad/s]; nan where the task has none"),
    "reward": ("", "of the step"),
}
"""Arrays of a trace: what follows (steps, episodes), and what it is. State: before each step."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Episodes of one policy in one engine."""

    joint_names: tuple[str, ...]
    """In the policy's order."""
    link_names: tuple[str, ...]
    step_dt: float
    """Seconds between rows."""
    lengths: NDArray[np.int64]
    """Policy steps of each episode, (episodes,)."""
    arrays: Mapping[str, Array]
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Everything else: contract, engine, settings, seeds, observation terms."""

    @property
    def episode_count(self) -> int:
        """Number of episodes."""
        return len(self.lengths)

    def joint(self, name: str, array: str = "joint_pos") -> Array:
        """One joint's values of an array, (steps, episodes)."""
        if name not in self.joint_names:
            raise InputError(
                "E140", "trace", f"there is no joint {name!r}", f"there are: {', '.join(self.joint_names)}"
            )
        return self.arrays[array][..., self.joint_names.index(name)]

    def in_order(self, joint_names: Sequence[str], array: str = "joint_pos") -> Array:
        """A joint array with its joints in another order, by name."""
        for name in joint_names:
            self.joint(name, array)
        return self.arrays[array][..., [self.joint_names.index(name) for name in joint_names]]


class TraceRecorder:
    """Keeps what happens in `run_episodes`; `trace` is the whole of it."""

    def __init__(self, keep: int | None = None) -> None:
        """`keep`: so many episodes at most, the first ones."""
        self._keep = keep
        self._batches: list[tuple[list[int], list[dict[str, Array]], NDArray[np.int64]]] = []
        self._mirror: Mirror | None = None

    def begin(self, mirror: Mirror, episodes: Sequence[int]) -> None:
        """A batch of episodes begins."""
        import numpy as np

        wanted = [number for number in episodes if self._keep is None or number < self._keep]
        self._mirror = mirror
        self._batches.append((wanted, [], np.zeros(len(wanted), np.int64)))

    def add(self, mirror: Mirror, moment: Moment) -> None:
        """A policy step."""
        import numpy as np

        wanted, rows, lengths = self._batches[-1]
        if not wanted:
            return
        columns = mirror.adapter.world.layout.joints
        before, after, count = moment.before, moment.step.state, len(wanted)
        values: dict[str, Any] = {
            "root_pos_w": before.root_pos_w,
            "root_quat_wxyz": before.root_quat_wxyz,
            "root_com_lin_vel_w": before.root_com_lin_vel_w,
            "root_ang_vel_w": before.root_ang_vel_w,
            "joint_pos": before.joint_pos[:, columns],
            "joint_vel": before.joint_vel[:, columns],
            "observation": moment.observation,
            "action": moment.action,
            "joint_target": mirror.adapter.actions.targets.position,
            "joint_torque": after.joint_torque[:, columns],
            "contact_force_w": after.contact_force_w,
            "command": np.full((mirror.env_count, 3), np.nan) if moment.command is None else moment.command,
            "reward": moment.step.result.reward,
        }
        alive = moment.alive[:count]
        row: dict[str, Array] = {}
        for name, value in values.items():
            kept = np.array(value[:count], dtype=np.float32)
            kept[~alive] = np.nan
            row[name] = kept
        rows.append(row)
        lengths += alive

    def trace(self, **meta: Any) -> Trace:
        """All of it; `meta` is what the caller wants to be told with it."""
        import numpy as np

        if self._mirror is None:
            raise InputError("E140", "trace", "nothing was recorded")
        mirror = self._mirror
        steps = max((len(rows) for _, rows, _ in self._batches), default=0)
        arrays = {
            name: np.concatenate([_stacked(rows, name, steps) for wanted, rows, _ in self._batches if wanted], axis=1)
            for name in FIELDS
        }
        return Trace(
            joint_names=mirror.adapter.world.layout.joint_names,
            link_names=tuple(mirror.simulator.link_names),
            step_dt=mirror.step_dt,
            lengths=np.concatenate([lengths for _, _, lengths in self._batches]),
            arrays=arrays,
            meta={**meta_of(mirror), **meta},
        )


def _stacked(rows: Sequence[Mapping[str, Array]], name: str, steps: int) -> Array:
    import numpy as np

    made = np.stack([row[name] for row in rows])
    if len(made) == steps:
        return made
    padding = np.full((steps - len(made), *made.shape[1:]), np.nan, np.float32)
    return np.concatenate([made, padding])


def meta_of(mirror: Mirror) -> dict[str, Any]:
    """What a trace says of where it came from."""
    contract = mirror.contract
    return {
        "contract": contract.name,
        "contract_sha256": contract_hash(mirror),
        "task": contract.source.task,
        "engine": mirror.simulator.engine,
        "settings": mirror.simulator.settings.to_json(),
        "observation_terms": mirror.observation_terms,
        "physics_dt": contract.sim.dt,
        "decimation": contract.sim.decimation,
    }


def contract_hash(mirror: Mirror) -> str:
    """Equal for traces that may be compared: rates, orders, gains, observation and action terms."""
    c = mirror.contract
    told = repr((c.sim.dt, c.sim.decimation, c.joint_names, c.actuators, c.observations, c.actions, c.policy_groups))
    return hashlib.sha256(told.encode()).hexdigest()


def write_trace(trace: Trace, file: Path) -> None:
    """Write an npz; complete or not there at all."""
    import numpy as np

    meta = {
        "schema": SCHEMA,
        "joint_names": trace.joint_names,
        "link_names": trace.link_names,
        "step_dt": trace.step_dt,
        **trace.meta,
    }
    with staging_folder(file) as folder:
        draft = folder / file.name
        with draft.open("wb") as stream:
            text = np.array(json.dumps(meta, ensure_ascii=False, default=str))
            saved: dict[str, Any] = {"meta_json": text, "lengths": trace.lengths, **trace.arrays}
            np.savez_compressed(stream, **saved)
        move_into_place([draft], folder, file)


def read_trace(file: Path) -> Trace:
    """Read what `write_trace` wrote; anything else is refused, and nothing in it is run."""
    import numpy as np

    if not file.is_file():
        raise InputError("E140", file, "there is no such trace file", "check the path")
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(info.file_size for info in archive.infolist()) > LARGEST:
                raise InputError("E140", file, "the trace is too large")
        with np.load(file, allow_pickle=False) as data:
            loaded = {name: data[name] for name in data.files}
        meta = json.loads(str(loaded.pop("meta_json")))
        lengths = loaded.pop("lengths").astype(np.int64)
    except (zipfile.BadZipFile, ValueError, KeyError, OSError, EOFError) as error:
        raise InputError(
            "E140", file, f"no trace: {' '.join(str(error).split())[:160]}", "see docs/traces.md"
        ) from None
    return _checked(file, meta, lengths, loaded)


def _checked(file: Path, meta: Any, lengths: NDArray[np.int64], arrays: dict[str, Any]) -> Trace:
    if not isinstance(meta, dict) or meta.get("schema") != SCHEMA:
        raise InputError("E140", file, f"schema {_get(meta, 'schema')!r} where {SCHEMA} is expected")
    missing = [name for name in FIELDS if name not in arrays]
    if missing:
        raise InputError("E140", file, f"it has no {missing[0]}", "see docs/traces.md")
    names = {key: tuple(map(str, meta.pop(key, ()))) for key in ("joint_names", "link_names")}
    wide = {"joint_pos": len(names["joint_names"]), "contact_force_w": len(names["link_names"])}
    steps = len(arrays["reward"])
    for name, array in arrays.items():
        expected = wide.get(name, wide["joint_pos"] if name.startswith("joint_") else None)
        if array.shape[:2] != (steps, len(lengths)) or (expected is not None and array.shape[2] != expected):
            raise InputError("E140", file, f"{name} has the shape {array.shape}, which does not fit the other arrays")
    if len(lengths) and (lengths.min() < 0 or lengths.max() > steps):
        raise InputError("E140", file, f"lengths reach to {lengths.max()} of {steps} steps")
    del meta["schema"]
    return Trace(
        joint_names=names["joint_names"],
        link_names=names["link_names"],
        step_dt=float(meta.pop("step_dt")),
        lengths=lengths,
        arrays=arrays,
        meta=meta,
    )


def _get(meta: Any, key: str) -> Any:
    return meta.get(key) if isinstance(meta, dict) else None
