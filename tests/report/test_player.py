"""What the viewers play: a policy in one environment, steered by a person."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.envs.mirror import Mirror
from isaaclab_mirror.envs.opening import MirrorOptions, open_mirror
from isaaclab_mirror.policy.loading import load_policy
from isaaclab_mirror.report.player import NAMES, PUSH_MPS, MirrorPlayer

pytestmark = pytest.mark.shared


@pytest.fixture
def played(shared: Path):
    pytest.importorskip("onnxruntime", reason="needs the extra `policy`")
    with open_mirror(shared / "policies/go2-flat-isaaclab3-here", MirrorOptions()) as mirror:
        assert mirror.contract.policy is not None
        yield MirrorPlayer(mirror, load_policy(mirror.contract.policy)), mirror


def test_the_sliders_have_the_tasks_own_ranges(played: tuple[MirrorPlayer, Mirror]):
    sliders = played[0].sliders()
    assert [slider.name for slider in sliders] == list(NAMES)
    assert [(slider.low, slider.high) for slider in sliders] == [(0.0, 1.0), (-0.2, 0.2), (-0.5, 0.5)]


def test_a_command_is_held_also_by_the_next_episode(played: tuple[MirrorPlayer, Mirror]):
    player, mirror = played
    player.set_command(dict(zip(NAMES, (0.4, 0.1, -0.2), strict=True)))
    player.reset()
    for _ in range(3):
        player.step()
    np.testing.assert_allclose(mirror.adapter.world.commands["base_velocity"].value[0], [0.4, 0.1, -0.2])
    assert player.facts()["time"] == "0.1 s"


def test_a_push_knocks_the_root_sideways_and_leaves_the_pose(played: tuple[MirrorPlayer, Mirror]):
    player, mirror = played
    before = player.reset()
    player.push()
    knock = mirror.state.root_com_lin_vel_w[0] - before.root_com_lin_vel_w[0]
    assert np.linalg.norm(knock[:2]) == pytest.approx(PUSH_MPS)
    assert knock[2] == pytest.approx(0.0)
    np.testing.assert_allclose(mirror.state.joint_pos, before.joint_pos)


def test_a_new_episode_begins_after_one_has_ended(played: tuple[MirrorPlayer, Mirror]):
    player, mirror = played
    mirror.adapter.world.episode_steps[:] = mirror.adapter.max_episode_steps - 1
    player.step()
    assert player.facts()["last end"] == "time_out"
    player.step()
    assert (player.facts()["episode"], player.facts()["time"]) == ("2", "0.0 s")
