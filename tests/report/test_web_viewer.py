"""The browser viewer, looked at by a headless browser."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.report.figure import figure_of
from isaaclab_mirror.report.web_viewer import Slider, WebViewer
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.state import Start, State
from tests.report.browser import CHROMIUM, Browser, wait_for

GO2 = Path(__file__).parents[2] / "data/unitree_go2/unitree_go2_physx.usda"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


class Turning:
    """A robot that turns about its vertical axis as the command says: easy to see, and to ask."""

    step_s = 0.02

    def __init__(self) -> None:
        self.sim = MujocoSim(GO2, visuals=True)
        self.command = {"turn": 0.0}
        self.angle_rad, self.resets, self.pushes = 0.0, 0, 0

    def sliders(self) -> Sequence[Slider]:
        return [Slider("turn", -1.0, 1.0, 0.0)]

    def set_command(self, values: Mapping[str, float]) -> None:
        self.command = dict(values)

    def step(self) -> State:
        self.angle_rad += self.step_s * self.command["turn"]
        half = self.angle_rad / 2
        self.sim.reset(Start(root_pos_w=(0, 0, 0.35), root_quat_wxyz=(np.cos(half), 0, 0, np.sin(half))))
        return self.sim.read()

    def reset(self) -> State:
        self.angle_rad, self.resets = 0.0, self.resets + 1
        return self.step()

    def push(self) -> None:
        self.pushes += 1

    def facts(self) -> Mapping[str, str]:
        return {"angle": f"{self.angle_rad:.2f} rad"}


@pytest.mark.slow
def test_sliders_and_buttons_reach_the_robot_and_the_page_logs_no_error(tmp_path):
    player = Turning()
    viewer = WebViewer(figure_of(player.sim.model), player, title="a robot that turns", port=8123)
    thread = threading.Thread(target=viewer.run, kwargs={"seconds": 90})
    thread.start()
    try:
        with Browser(viewer.address) as page:
            wait_for(lambda: "a robot that turns" in page.text() and "angle" in page.text(), 60)
            page.type_into("turn", "0.5")
            wait_for(lambda: player.command["turn"] == 0.5, 10)
            wait_for(lambda: player.angle_rad > 0.3, 20)
            page.press("Push")
            wait_for(lambda: player.pushes == 1, 10)
            page.press("Reset")
            wait_for(lambda: player.resets == 2, 10)
            picture = tmp_path / "viewer.png"
            wait_for(lambda: distinct_colours(page, picture) > 50, 30)
            assert page.errors == []
            page.press("Stop")
            thread.join(10)
            assert not thread.is_alive()
    finally:
        viewer._stop()
        thread.join(10)
        viewer.close()


@pytest.mark.slow
def test_a_replayed_policy_follows_the_sliders_in_the_browser(tmp_path):
    run = Path(__file__).parents[2] / "data/policies/h1_velocity_flat"
    order = [sys.executable, "-m", "isaaclab_mirror", "replay", str(run), "--viewer", "web", "--port", "8150"]
    order += ["--command", "0.5", "0", "0", "--start", "nominal"]
    with subprocess.Popen(order, stdout=subprocess.PIPE, text=True) as replay:
        try:
            assert replay.stdout is not None
            line = next(line for line in replay.stdout if line.startswith("open http"))
            with Browser(line.split()[1]) as page:
                wait_for(lambda: "mean velocity" in page.text(), 90)
                page.type_into("turn [rad/s]", "1")
                wait_for(lambda: "+1.00" in commanded(page), 60)
                page.press("Push")
                picture = tmp_path / "replay.png"
                wait_for(lambda: distinct_colours(page, picture) > 50, 30)
                assert page.errors == []
                page.press("Stop")
                assert replay.wait(30) == 0
        finally:
            replay.kill()


def commanded(page: Browser) -> str:
    """The command that the page tells of: its mean over the episode nears what the slider says."""
    page.press("Reset")
    time.sleep(2.5)  # means begin after the first second
    return next((line for line in page.text().splitlines() if line.startswith("commanded")), "")


def distinct_colours(page: Browser, file: Path) -> int:
    """In the picture of the page: a robot has many shades, an empty page a few."""
    from PIL import Image

    file.write_bytes(page.screenshot())
    return len(np.unique(np.asarray(Image.open(file).convert("RGB")).reshape(-1, 3), axis=0))
