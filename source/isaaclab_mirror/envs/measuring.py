"""How an episode went: survival, return, velocity against the command, heading, energy, slip of the feet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isaaclab_mirror.adapter.arrays import Array, heading, rotate, rotate_back, wrap_to_pi
from isaaclab_mirror.envs.commanding import velocity_command
from isaaclab_mirror.envs.mirror import Mirror, Step
from isaaclab_mirror.sims.state import State

SETTLE_S = 1.0
"""Means of velocities leave out this much of an episode's beginning."""
LOW = 0.5
"""A floating base below this share of its starting height has fallen, as has one tilted beyond 60°."""
UPRIGHT = -0.5
EXPLODED, UNSEEN = "exploded", "nan observation"
FAILURES = (EXPLODED, UNSEEN)
SLIP_EVERY = 5
"""Policy steps between two looks at the feet: the poses of all links cost more than everything else measured."""
NEAR = 0.6
"""Share of the height of the highest link: generous, as only what touches counts and a start may be random."""
TOUCH_N = 1.0
"""A link that feels more than this touches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One episode, measured. Velocities: of the root's centre of mass in the root's axes, mean after `SETTLE_S`."""

    index: int
    seed: int
    seconds: float
    """How long it lasted."""
    fell: bool
    termination: str
    """Name of the term that ended it, `fell`, `exploded`, `nan observation`; empty where nothing did."""
    total_return: float
    command: tuple[float, ...]
    """Mean of vx, vy [m/s], wz [rad/s] (of a shorter episode, the last); empty where the task commands no velocity."""
    mean_lin_vel_b: tuple[float, ...]
    mean_ang_vel_b: tuple[float, ...]
    heading_drift_rad: float
    """Turned minus commanded."""
    energy_j: float
    """∫ Σ |τ·q̇| dt."""
    foot_slip_mps: float | None
    """Mean horizontal speed of the feet, level with the ground, while they touch; None without feet."""
    message: str = ""
    reward_terms: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def failed(self) -> bool:
        """Whether it could not be run to an end that the task knows: physics or observation went to infinity."""
        return self.termination in FAILURES

    @property
    def lin_vel_error(self) -> float | None:
        """|mean velocity − mean command| in the plane [m/s]."""
        if not self.command or not self.mean_lin_vel_b:
            return None
        return float(np.hypot(self.mean_lin_vel_b[0] - self.command[0], self.mean_lin_vel_b[1] - self.command[1]))

    @property
    def ang_vel_error(self) -> float | None:
        """Of the mean turning speed [rad/s]."""
        if not self.command or not self.mean_ang_vel_b:
            return None
        return abs(self.mean_ang_vel_b[2] - self.command[2])

    def to_json(self) -> dict[str, Any]:
        """As `--json` writes it."""
        return {
            "index": self.index,
            "seed": self.seed,
            "seconds": self.seconds,
            "fell": self.fell,
            "termination": self.termination,
            "return": self.total_return,
            "command": list(self.command),
            "mean_lin_vel_b": list(self.mean_lin_vel_b),
            "mean_ang_vel_b": list(self.mean_ang_vel_b),
            "lin_vel_error": self.lin_vel_error,
            "ang_vel_error": self.ang_vel_error,
            "heading_drift_rad": self.heading_drift_rad,
            "energy_j": self.energy_j,
            "foot_slip_mps": self.foot_slip_mps,
            "message": self.message,
            "reward_terms": dict(self.reward_terms),
        }


class Measure:
    """Sums over the episodes of all environments of a mirror, one each."""

    def __init__(self, mirror: Mirror, *, slip: bool = True) -> None:
        """Begins at the mirror's state, which has just been reset."""
        n, state = mirror.env_count, mirror.state
        self._mirror = mirror
        self._dt = mirror.step_dt
        self._floating = not mirror.simulator.fixed_base
        self._command = velocity_command(mirror.adapter)
        self._start_height = state.root_pos_w[:, 2] - mirror.contract.sim.terrain.height
        self._yaw = heading(state.root_quat_wxyz)
        self.steps = np.zeros(n, dtype=int)
        self.alive = np.ones(n, dtype=bool)
        self.fell = np.zeros(n, dtype=bool)
        self.ends = [""] * n
        self.messages = [""] * n
        self._return, self._energy = np.zeros(n), np.zeros(n)
        self._turned, self._asked_turn = np.zeros(n), np.zeros(n)
        self._linear, self._angular, self._asked = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        self._settled = np.zeros(n)
        self._told = np.zeros((n, 3))
        """The command of the last step."""
        self._terms: dict[str, Array] = {}
        feet = feet_of(mirror) if slip and self._floating else {}
        self._feet = np.array(list(feet), dtype=int)
        self._soles = np.array(list(feet.values())).reshape(-1, 3)
        self._looks = 0
        self._slip, self._touched = np.zeros(n), np.zeros(n)

    def add(self, step: Step, command: Array | None) -> None:
        """One policy step; `command` is what held during it."""
        alive, state, result = self.alive, step.state, step.result
        counted = alive & ~step.exploded
        everyone = bool(counted.all())
        self.steps += alive
        self._return += result.reward if everyone else np.where(counted, result.reward, 0.0)
        for name, share in result.terms.items():
            if name not in self._terms:
                self._terms[name] = np.zeros(len(alive))
            self._terms[name] += share if everyone else np.where(counted, share, 0.0)
        power = np.abs(state.joint_torque * state.joint_vel).sum(axis=1) * self._dt
        self._energy += power if everyone else np.where(counted, power, 0.0)
        if self._floating:
            self._move(state, counted, command)
            self._looks += 1
        self._end(step, counted)

    def _move(self, state: State, counted: Array, command: Array | None) -> None:
        quat = state.root_quat_wxyz
        yaw = heading(quat)
        turned, self._yaw = wrap_to_pi(yaw - self._yaw), yaw
        self._turned += np.where(counted, turned, 0.0)
        settled = counted & (self.steps * self._dt > SETTLE_S)
        linear, angular = rotate_back(quat, state.root_com_lin_vel_w), rotate_back(quat, state.root_ang_vel_w)
        self._settled += settled
        self._linear[settled] += linear[settled]
        self._angular[settled] += angular[settled]
        if command is not None:
            self._told[counted] = command[counted]
            self._asked[settled] += command[settled]
            self._asked_turn += np.where(counted, command[:, 2] * self._dt, 0.0)
        if len(self._feet) and self._looks % SLIP_EVERY == 0:
            touching = np.linalg.norm(state.contact_force_w[:, self._feet], axis=-1) > TOUCH_N
            touching &= counted[:, None]
            speed = np.linalg.norm(self._contact_speeds(state), axis=-1)
            self._slip += np.where(touching, speed, 0.0).sum(axis=1)
            self._touched += touching.sum(axis=1)

    def _contact_speeds(self, state: State) -> Array:
        """Horizontal velocity of each foot where it is level with the ground, under the middle of its lowest shape."""
        links, feet = state.links, self._feet
        arm = rotate(links.quat_wxyz[:, feet], np.broadcast_to(self._soles, (len(self.alive), len(feet), 3)))
        drop = self._mirror.contract.sim.terrain.height - links.pos_w[:, feet, 2]
        spin, velocity = links.ang_vel_w[:, feet], links.lin_vel_w[:, feet, :2].copy()
        velocity[..., 0] += spin[..., 1] * drop - spin[..., 2] * arm[..., 1]  # ω × (x, y, drop)
        velocity[..., 1] += spin[..., 2] * arm[..., 0] - spin[..., 0] * drop
        return velocity

    def _end(self, step: Step, counted: Array) -> None:
        for row in np.flatnonzero(self.alive & step.exploded) if step.exploded.any() else ():
            self.finish(int(row), EXPLODED, fell=False, message=step.messages.get(int(row), ""))
        result = step.result
        done = result.done
        for row in np.flatnonzero(counted & done) if done.any() else ():
            names = [name for name, value in result.ends.items() if value[row]]
            self.finish(int(row), ", ".join(names), fell=bool(result.terminated[row]))
        if self._floating:
            low = step.state.root_pos_w[:, 2] - self._mirror.contract.sim.terrain.height < LOW * self._start_height
            x, y = step.state.root_quat_wxyz[:, 1], step.state.root_quat_wxyz[:, 2]
            tilted = 2.0 * (x * x + y * y) - 1.0 > UPRIGHT  # z of gravity in the root's axes
            down = self.alive & (low | tilted)
            for row in np.flatnonzero(down) if down.any() else ():
                self.finish(int(row), "fell", fell=True)

    def finish(self, row: int, termination: str, *, fell: bool, message: str = "") -> None:
        """The episode of one environment is over."""
        self.alive[row] = False
        self.ends[row], self.fell[row], self.messages[row] = termination, fell, message

    def episode(self, row: int, index: int, seed: int) -> Episode:
        """What one environment's episode came to."""
        settled = max(float(self._settled[row]), 1.0)
        known = self._floating and self._settled[row] > 0
        asked = self._asked[row] / settled if known else self._told[row]
        return Episode(
            index=index,
            seed=seed,
            seconds=float(self.steps[row] * self._dt),
            fell=bool(self.fell[row]),
            termination=self.ends[row],
            total_return=float(self._return[row]),
            command=tuple(map(float, asked)) if self._floating and self._command is not None else (),
            mean_lin_vel_b=tuple(map(float, self._linear[row] / settled)) if known else (),
            mean_ang_vel_b=tuple(map(float, self._angular[row] / settled)) if known else (),
            heading_drift_rad=float(self._turned[row] - self._asked_turn[row]),
            energy_j=float(self._energy[row]),
            foot_slip_mps=float(self._slip[row] / self._touched[row]) if self._touched[row] else None,
            message=self.messages[row],
            reward_terms={name: float(values[row]) for name, values in self._terms.items()},
        )


def summary_of(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Means over episodes; None where no episode measured it."""
    numbers: dict[str, list[float | None]] = {
        "seconds": [e.seconds for e in episodes],
        "return": [e.total_return for e in episodes],
        "lin_vel_error": [e.lin_vel_error for e in episodes],
        "ang_vel_error": [e.ang_vel_error for e in episodes],
        "heading_drift_rad": [e.heading_drift_rad if e.command else None for e in episodes],
        "energy_j": [e.energy_j for e in episodes],
        "foot_slip_mps": [e.foot_slip_mps for e in episodes],
    }
    means = {name: _mean([value for value in values if value is not None]) for name, values in numbers.items()}
    standing = [e for e in episodes if e.mean_lin_vel_b]
    return {
        "episodes": len(episodes),
        "fell": sum(e.fell for e in episodes),
        "failed": sum(e.failed for e in episodes),
        "survival": sum(not (e.fell or e.failed) for e in episodes) / max(len(episodes), 1),
        **means,
        "mean_lin_vel_b": [_mean([e.mean_lin_vel_b[k] for e in standing]) for k in range(3)] if standing else [],
        "mean_ang_vel_b": [_mean([e.mean_ang_vel_b[k] for e in standing]) for k in range(3)] if standing else [],
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def feet_of(mirror: Mirror) -> dict[int, tuple[float, float, float]]:
    """Column of each link at the end of a chain that begins near the ground → middle of its lowest collider.

    In the link's frame [m].
    """
    robot, state, names = mirror.robot, mirror.state, list(mirror.simulator.link_names)
    ground, parents = mirror.contract.sim.terrain.height, {joint.parent for joint in mirror.robot.joints}
    top = float(state.link_pos_w[0, :, 2].max()) - ground
    lowest: dict[int, tuple[float, tuple[float, float, float]]] = {}
    for geom in robot.geoms:
        if geom.collision is None or geom.link is None or geom.link in parents or geom.link not in names:
            continue
        column = names.index(geom.link)
        place = rotate(state.link_quat_wxyz[0, column], np.asarray(geom.pose.pos)) + state.link_pos_w[0, column]
        height = float(place[2]) - ground
        if height < NEAR * top and height < lowest.get(column, (np.inf,))[0]:
            lowest[column] = (height, geom.pose.pos)
    return {column: point for column, (_, point) in sorted(lowest.items())}
