"""MirrorEnv: one environment of a `MirrorVectorEnv`, with gymnasium's plain interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np

from isaaclab_mirror.adapter.arrays import Array
from isaaclab_mirror.contract.contract import Contract
from isaaclab_mirror.envs.mirror_vector_env import MirrorVectorEnv

ID = "IsaacLabMirror-v0"


class MirrorEnv(gymnasium.Env[Any, Any]):
    """A task of Isaac Lab in MuJoCo or PhysX. It does not restart by itself: call `reset` when an episode has ended."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(self, run: Contract | str | Path, *, render_mode: str | None = None, **options: Any) -> None:
        """As `MirrorVectorEnv`, with one environment."""
        self.vector = MirrorVectorEnv(run, num_envs=1, autoreset=False, render_mode=render_mode, **options)
        self.metadata = {**MirrorEnv.metadata, "render_fps": self.vector.metadata["render_fps"]}  # pyright: ignore[reportIncompatibleVariableOverride, reportAttributeAccessIssue]
        self.observation_space = self.vector.single_observation_space
        self.action_space = self.vector.single_action_space
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """A new episode; `options` as in `MirrorVectorEnv.reset`."""
        super().reset(seed=seed)
        observation, _ = self.vector.reset(seed=seed, options=options)
        return observation[0], {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One policy step."""
        observation, reward, terminated, truncated, info = self.vector.step(np.asarray(action)[None])
        plain = {name: values[0] for name, values in info.items() if not name.startswith("_")}
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), plain

    def render(self) -> Any:
        """A picture, where `render_mode` is `rgb_array`."""
        return None if self.render_mode is None else self.vector.picture(0)

    def close(self) -> None:
        """Give the simulator back."""
        self.vector.close()


def register() -> None:
    """Let `gymnasium.make("IsaacLabMirror-v0", run=…)` and `make_vec` find it."""
    if ID not in gymnasium.registry:
        gymnasium.register(
            ID,
            entry_point="isaaclab_mirror.envs.mirror_env:MirrorEnv",
            vector_entry_point="isaaclab_mirror.envs.mirror_vector_env:MirrorVectorEnv",
        )
