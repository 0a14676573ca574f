"""A policy in one environment as the viewers play it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.envs.commanding import VELOCITY, velocity_command
from isaaclab_mirror.envs.episodes import term_at
from isaaclab_mirror.envs.measuring import Measure
from isaaclab_mirror.envs.mirror import Mirror
from isaaclab_mirror.policy.policy import Policy, check_sizes
from isaaclab_mirror.report.web_viewer import Slider
from isaaclab_mirror.sims.state import Start, State

if TYPE_CHECKING:
    from numpy.random import Generator

NAMES = ("vx [m/s]", "vy [m/s]", "turn [rad/s]")
RANGES = ("lin_vel_x", "lin_vel_y", "ang_vel_z")
WIDE = 1.0
"""Half the range of a slider whose command the task does not bound."""
PUSH_MPS = 0.5


class MirrorPlayer:
    """See `web_viewer.Player`: starts a new episode after one has ended."""

    def __init__(self, mirror: Mirror, policy: Policy, *, seed: int = 0) -> None:
        """The mirror has one environment."""
        import numpy as np

        check_sizes(policy, mirror.observation_terms, mirror.action_size)
        self._mirror, self._policy, self._seed = mirror, policy, seed
        self._name = velocity_command(mirror.adapter)
        self._rng: Generator = np.random.default_rng(seed)
        self._episode = 0
        self._last = ""
        self.step_s = mirror.step_dt
        self._held: tuple[float, ...] | None = None
        self.reset()

    def sliders(self) -> Sequence[Slider]:
        """Of the velocity command, within the task's ranges."""
        if self._name is None:
            return ()
        command = self._mirror.adapter.world.commands[self._name]
        ranges: Any = command.config.get("ranges") or {}
        values = [float(x) for x in command.value[0]]
        made: list[Slider] = []
        for name, key, value in zip(NAMES, RANGES, values, strict=True):
            bounds = ranges.get(key) if isinstance(ranges, Mapping) else None
            low, high = (float(bounds[0]), float(bounds[1])) if bounds else (-WIDE, WIDE)
            low, high = min(low, value), max(high, value)
            made.append(Slider(name, low, high if high > low else low + WIDE, value))
        return made

    def set_command(self, values: Mapping[str, float]) -> None:
        """Hold the command."""
        if self._name is not None:
            self._held = tuple(values[name] for name in NAMES[:VELOCITY])
            self._mirror.adapter.set_command(self._name, self._held)

    def reset(self) -> State:
        """A new episode."""
        self._mirror.reset(seeds=[self._seed + self._episode])
        self._episode += 1
        if self._held is not None and self._name is not None:
            self._mirror.adapter.set_command(self._name, self._held)
        self._policy.reset()
        self._measure = Measure(self._mirror, slip=False)
        self._observation = self._mirror.observe()
        return self._mirror.state

    def step(self) -> State:
        """One action."""
        import numpy as np

        mirror, measure = self._mirror, self._measure
        if not measure.alive[0]:
            return self.reset()
        bad = np.flatnonzero(~np.isfinite(self._observation[0]))
        if len(bad):
            measure.finish(0, f"observation {term_at(mirror, int(bad[0]))!r} is not finite", fell=False)
            self._last = measure.ends[0]
            return mirror.state
        command = None if self._name is None else mirror.adapter.world.commands[self._name].value.copy()
        step = mirror.step(self._policy(self._observation))
        measure.add(step, command)
        self._last = measure.ends[0] or self._last
        mirror.follow_up()
        self._observation = mirror.observe()
        return step.state

    def push(self) -> None:
        """A sideways knock to the root."""
        import numpy as np

        state = self._mirror.state
        angle = self._rng.uniform(0.0, 2.0 * np.pi)
        knock = PUSH_MPS * np.array([np.cos(angle), np.sin(angle), 0.0])
        self._mirror.put(
            Start(
                root_pos_w=state.root_pos_w,
                root_quat_wxyz=state.root_quat_wxyz,
                root_com_lin_vel_w=state.root_com_lin_vel_w + knock,
                root_ang_vel_w=state.root_ang_vel_w,
                joint_pos=state.joint_pos,
                joint_vel=state.joint_vel,
            )
        )

    def facts(self) -> Mapping[str, str]:
        """What is worth reading beside the picture."""
        episode, state = self._measure.episode(0, self._episode, self._seed), self._mirror.state
        shown = {"episode": str(self._episode), "time": f"{episode.seconds:.1f} s"}
        if episode.command:
            shown["commanded"] = " ".join(f"{x:+.2f}" for x in episode.command)
        if episode.command and episode.mean_lin_vel_b:
            mean = (*episode.mean_lin_vel_b[:2], episode.mean_ang_vel_b[2])
            shown["mean velocity"] = " ".join(f"{x:+.2f}" for x in mean)
        shown["height"] = f"{state.root_pos_w[0, 2]:.3f} m"
        if self._last:
            shown["last end"] = self._last
        return shown
