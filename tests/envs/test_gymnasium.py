"""The two environments as gymnasium sees them."""

from __future__ import annotations

import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from isaaclab_mirror import MirrorEnv, MirrorVectorEnv
from isaaclab_mirror.envs.mirror_env import ID, register
from isaaclab_mirror.sims.state import Start


def test_the_environment_passes_gymnasiums_own_check(contract):
    env = MirrorEnv(contract)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*(Box|render|spec).*")
        check_env(env, skip_render_check=True)
    env.close()


def test_it_is_made_by_name(contract):
    register()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gymnasium.make(ID, run=contract)
        envs = gymnasium.make_vec(ID, num_envs=3, run=contract)
    assert env.reset(seed=1)[0].shape == (3,)
    assert envs.reset(seed=1)[0].shape == (3, 3)
    env.close()
    envs.close()


def test_the_package_announces_it_to_gymnasium():
    from importlib.metadata import entry_points

    assert [point.value for point in entry_points(group="gymnasium.envs") if "isaaclab_mirror" in point.value] == [
        "isaaclab_mirror.envs.mirror_env:register"
    ]


def test_an_ended_environment_restarts_in_the_same_step_and_keeps_its_last_observation(contract):
    envs = MirrorVectorEnv(contract, num_envs=2)
    envs.reset(options={"starts": Start(joint_pos={"swing": np.array([0.3, 2.5])})})
    observation, reward, terminated, truncated, info = envs.step(np.zeros((2, 1)))
    assert terminated.tolist() == [False, True]
    assert not truncated.any()
    assert info["_final_obs"].tolist() == [False, True]
    assert info["final_obs"][1, 0] > 1.7
    # the restart begins at the given start again: 2.5 − 0.3 from the default, at rest, no last action
    np.testing.assert_allclose(observation[1], [2.2, 0.0, 0.0], atol=1e-6)
    assert reward[0] == pytest.approx(0.02)
    assert info["end/far"].tolist() == [False, True]
    envs.close()


def test_time_runs_out_as_truncation(contract):
    env = MirrorEnv(contract)
    env.reset(seed=0)
    for _ in range(49):
        assert not any(env.step(np.zeros(1, np.float32))[2:4])
    _, _, terminated, truncated, info = env.step(np.zeros(1, np.float32))
    assert (terminated, truncated, bool(info["end/time_out"])) == (False, True, True)
    env.close()


def test_a_seed_decides_the_start(contract):
    env = MirrorEnv(contract)
    first, again, other = (env.reset(seed=seed)[0] for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3
    env.close()


@pytest.mark.shared
def test_a_picture_shows_the_robot(shared: Path):
    from isaaclab_mirror.sims.screen import working_gl

    if working_gl() is None:
        pytest.skip("no OpenGL works here")
    env = MirrorEnv(shared / "policies" / "cartpole-isaaclab3-here", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    env.close()
    assert picture.shape == (480, 640, 3)
    middle = picture[100:380, 160:480].reshape(-1, 3).astype(float)
    assert len(np.unique(middle // 32, axis=0)) > 4
