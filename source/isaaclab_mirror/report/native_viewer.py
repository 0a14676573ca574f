"""MuJoCo's own window: shows a player's states, whichever engine they come from. Needs a display."""

from __future__ import annotations

import os
import sys
import time

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.report.web_viewer import Player
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.filming import posed_model
from isaaclab_mirror.sims.settings import SimSettings


def show_native(robot: Robot, settings: SimSettings, player: Player, seconds: float | None = None) -> None:
    """Play in real time until the window is closed, or `seconds` have passed."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise _no_window("there is no display")  # MuJoCo would end the process
    posed = posed_model(robot, settings)
    try:
        import mujoco.viewer

        window = mujoco.viewer.launch_passive(posed.model, posed.data, show_left_ui=False, show_right_ui=False)
    except Exception as error:  # noqa: BLE001 GLFW raises its own classes, by platform
        raise _no_window(str(error)) from None
    with window:
        posed.pose(player.reset(), 0)
        begin = due = time.monotonic()
        while window.is_running() and (seconds is None or time.monotonic() - begin < seconds):
            state = player.step()
            with window.lock():
                posed.pose(state, 0)
                if posed.floating:
                    window.cam.lookat[:] = state.root_pos_w[0]
            window.sync()
            due += player.step_s
            now = time.monotonic()
            if due > now:
                time.sleep(due - now)
            else:
                due = now


def _no_window(why: str) -> InputError:
    hint = "use --viewer web, or --video FILE without a display"
    return InputError("E142", "viewer", f"no window can be opened: {why}", hint)
