"""MirrorVectorEnv: a task of Isaac Lab in MuJoCo or PhysX with gymnasium's vector interface."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.contract.contract import Contract
from isaaclab_mirror.envs.commanding import hold_commands
from isaaclab_mirror.envs.mirror import Mirror, Step
from isaaclab_mirror.envs.opening import MirrorOptions, open_mirror

if TYPE_CHECKING:
    from isaaclab_mirror.sims.state import Start


class MirrorVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` environments that restart by themselves in the step in which they end, as Isaac Lab's do.

    The observation is the policy's input, the action its output: noise off, commands as the task draws them. The
    observation of a restart is the new episode's; the last one of the old stands in `info["final_obs"]`.
    """

    def __init__(
        self,
        run: Contract | str | Path,
        *,
        num_envs: int = 1,
        robot_file: str | Path | None = None,
        render_mode: str | None = None,
        autoreset: bool = True,
        **options: Any,
    ) -> None:
        """`run`: what `load_contract` reads; `options`: fields of `MirrorOptions` (sim, fidelity, noise, seed, …).

        `autoreset=False` leaves ended environments as they are until `reset(options={"reset_mask": …})`.
        """
        self.mirror: Mirror = open_mirror(run, MirrorOptions(env_count=num_envs, **options), robot_file=robot_file)
        self.num_envs = num_envs
        self.render_mode = render_mode
        mode = AutoresetMode.SAME_STEP if autoreset else AutoresetMode.DISABLED
        rate = round(1.0 / self.mirror.step_dt)
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": rate, "autoreset_mode": mode}
        self._autoreset = autoreset
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (self.mirror.input_size,), np.float32)
        low, high = action_bounds(self.mirror)
        self.single_action_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._filming: Any = None
        self._ready = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """New episodes everywhere, or where `options["reset_mask"]` says.

        `options["starts"]`: a `sims.state.Start` with one row per environment or one for all, instead of the task's
        own draws, from now on (None gives these back). `options["commands"]`: command term → values to hold; the
        name `velocity` stands for the task's velocity command.
        """
        super().reset(seed=seed)
        chosen = options or {}
        if "starts" in chosen:
            starts: Start | None = chosen["starts"]
            self.mirror.starts = starts
        mask = chosen.get("reset_mask")
        rows = np.arange(self.num_envs) if mask is None else np.flatnonzero(np.asarray(mask, dtype=bool))
        if not self._ready:
            rows = np.arange(self.num_envs)
        seeds = None if seed is None else [seed + int(row) for row in rows]
        self.mirror.reset(rows, seeds=seeds)
        if "commands" in chosen:
            hold_commands(self.mirror.adapter, chosen["commands"])
        self._ready = True
        return self.mirror.observe(push=mask is None), {}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """One policy step of every environment."""
        step = self.mirror.step(np.asarray(actions, dtype=np.float32))
        info = self._info(step)
        if self._autoreset and step.done.any():
            rows = np.flatnonzero(step.done)
            final = self.mirror.observe(push=False)
            info["final_obs"], info["_final_obs"] = final, step.done.copy()
            self.mirror.reset(rows)
        self.mirror.follow_up()
        terminated = step.result.terminated | step.exploded
        truncated = step.result.truncated & ~terminated
        return self.mirror.observe(), step.result.reward, terminated, truncated, info

    def _info(self, step: Step) -> dict[str, Any]:
        everyone = np.ones(self.num_envs, dtype=bool)
        info: dict[str, Any] = {}
        for name, values in step.result.terms.items():
            info[f"reward/{name}"], info[f"_reward/{name}"] = np.asarray(values), everyone
        for name, values in step.result.ends.items():
            info[f"end/{name}"], info[f"_end/{name}"] = np.asarray(values), everyone
        if step.exploded.any():
            info["exploded"], info["_exploded"] = step.exploded.copy(), everyone
        return info

    def render(self) -> tuple[Any, ...] | None:
        """A picture of every environment, where `render_mode` is `rgb_array`."""
        if self.render_mode is None:
            return None
        return tuple(self.picture(row) for row in range(self.num_envs))

    def picture(self, row: int) -> Any:
        """One environment, (height, width, 3)."""
        if self._filming is None:
            from isaaclab_mirror.sims.filming import Filming

            self._filming = Filming(self.mirror.robot, self.mirror.simulator.settings)
        return self._filming.picture(self.mirror.state, row)

    def close_extras(self, **kwargs: Any) -> None:
        """Give simulator and screen back."""
        if self._filming is not None:
            self._filming.close()
        self.mirror.close()


def action_bounds(mirror: Mirror) -> tuple[Array, Array]:
    """Of the raw action: the wrapper's clip, else none."""
    bounds = np.asarray(mirror.contract.wrapper.clip_actions or [(-np.inf, np.inf)], dtype=np.float32)
    rows = np.broadcast_to(bounds, (mirror.action_size, 2))
    return rows[:, 0].copy(), rows[:, 1].copy()
