"""The browser viewer: a robot under its policy, with sliders for the command and buttons to pause, reset and push."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.report.figure import Figure

if TYPE_CHECKING:
    from isaaclab_mirror.sims.state import State

FACTS_EVERY_S = 0.5
PICTURE_EVERY_S = 0.04
"""A browser that draws in software falls behind if it is told more often."""
LONGEST_WAIT_S = 0.05
WORLD = "/environment"
GRID_M = 60.0
CAMERA_M = (2.0, -2.0, 1.4)
"""Where a visitor's camera begins, seen from under the robot's root."""


@dataclass(frozen=True, slots=True)
class Slider:
    """One number of the command that a person may set."""

    name: str
    low: float
    high: float
    value: float


class Player(Protocol):
    """What the viewer shows and steers: one environment under its policy."""

    step_s: float
    """Seconds of simulated time per `step`."""

    def sliders(self) -> Sequence[Slider]:
        """Of the command; empty where the task has none."""
        ...

    def set_command(self, values: Mapping[str, float]) -> None:
        """Hold the command at these values, by the sliders' names."""
        ...

    def step(self) -> State:
        """One action of the policy; starts a new episode after one has ended."""
        ...

    def reset(self) -> State:
        """A new episode."""
        ...

    def push(self) -> None:
        """A sideways knock to the root, as the task's own push event or 0.5 m/s."""
        ...

    def facts(self) -> Mapping[str, str]:
        """What is worth reading beside the picture."""
        ...


class WebViewer:
    """A page at http://host:port. `run` plays until the page's Stop button, Ctrl-C, or `seconds` have passed."""

    def __init__(
        self, figure: Figure, player: Player, *, title: str, host: str = "127.0.0.1", port: int = 8080
    ) -> None:
        """Serve the page; the port next to a taken one is used."""
        self._figure, self._player = figure, player
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._paused, self._stopped, self._follow, self._height = False, False, True, 0.0
        self._server = _serve(host, port, title)
        self.address = f"http://{host}:{self._server.get_port()}"
        self._world = self._server.scene.add_frame(WORLD, show_axes=False)
        self._frames = _put_figure(self._server, figure)
        self._text = self._put_controls(title)

    def _put_controls(self, title: str) -> Any:
        """Buttons and sliders. Their callbacks run in the server's threads: they only leave a note for `run`."""
        gui = self._server.gui
        gui.add_markdown(f"**{title}**")
        pause = gui.add_checkbox("Paused", False)
        follow = gui.add_checkbox("Camera follows", True)
        pause.on_update(lambda _: self._later(lambda: self._set_paused(bool(pause.value))))
        follow.on_update(lambda _: self._later(lambda: self._set_follow(bool(follow.value))))
        for label, act in (("Reset", self._reset), ("Push", self._player.push), ("Stop", self._stop)):
            gui.add_button(label).on_click(lambda _, act=act: self._later(act))
        sliders = self._player.sliders()
        if sliders:
            with gui.add_folder("Command"):
                handles = {s.name: gui.add_slider(s.name, s.low, s.high, 0.01, s.value) for s in sliders}
            for handle in handles.values():
                handle.on_update(lambda _: self._later(lambda: self._set_command(handles)))
        return gui.add_markdown("")

    def _later(self, act: Callable[[], None]) -> None:
        self._events.put(act)

    def _set_paused(self, paused: bool) -> None:
        self._paused = paused

    def _set_follow(self, follow: bool) -> None:
        self._follow = follow

    def _set_command(self, handles: Mapping[str, Any]) -> None:
        self._player.set_command({name: float(handle.value) for name, handle in handles.items()})

    def _reset(self) -> None:
        self.show(self._player.reset())

    def _stop(self) -> None:
        self._stopped = True

    def show(self, state: State) -> None:
        """Pose the robot."""
        with self._server.atomic():
            for link, frame in self._frames.items():
                column = state.link_index(link)
                frame.position = tuple(state.link_pos_w[0, column].tolist())
                frame.wxyz = tuple(state.link_quat_wxyz[0, column].tolist())
            root = state.root_pos_w[0]
            # The world moves, not the visitors' cameras: those are theirs, and what they report comes late.
            self._world.position = (-float(root[0]), -float(root[1]), 0.0) if self._follow else (0.0, 0.0, 0.0)
            self._height = float(root[2])

    def _place_camera(self, client: Any) -> None:
        client.camera.position = CAMERA_M
        client.camera.look_at = (0.0, 0.0, 0.7 * self._height)

    def run(self, seconds: float | None = None) -> None:
        """Play in real time, or as fast as the simulator goes where it is slower."""
        self.show(self._player.reset())
        self._server.on_client_connect(self._place_camera)
        begin = due = time.monotonic()
        told = shown = 0.0
        while not self._stopped and (seconds is None or time.monotonic() - begin < seconds):
            self._take_events()
            if self._paused:
                time.sleep(LONGEST_WAIT_S)
                due = time.monotonic()
                continue
            state = self._player.step()
            due += self._player.step_s
            now = time.monotonic()
            if now - shown > PICTURE_EVERY_S:
                shown = now
                self.show(state)
            if now - told > FACTS_EVERY_S:
                told = now
                self._text.content = "\n".join(f"- {name}: {value}" for name, value in self._player.facts().items())
            if due > now:
                time.sleep(due - now)
            else:
                due = now

    def _take_events(self) -> None:
        while not self._events.empty():
            self._events.get()()

    def close(self) -> None:
        """End the server."""
        self._server.stop()


def _serve(host: str, port: int, title: str) -> Any:
    try:
        import viser
    except ImportError:
        raise InputError(
            "E056", "viewer", "the browser viewer is not installed", "pip install 'isaaclab-mirror[view]'"
        ) from None
    server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    server.scene.set_up_direction("+z")
    server.gui.configure_theme(show_logo=False)
    return server


def _put_figure(server: Any, figure: Figure) -> dict[str, Any]:
    """One frame per link, its surfaces below it."""
    import numpy as np

    if figure.ground_height_m is not None:
        server.scene.add_grid(
            f"{WORLD}/ground", width=GRID_M, height=GRID_M, position=(0.0, 0.0, figure.ground_height_m)
        )
    frames = {link: server.scene.add_frame(f"{WORLD}/robot/{link}", show_axes=False) for link in figure.links}
    for number, patch in enumerate(figure.patches):
        vertices = patch.triangles.reshape(-1, 3).astype(np.float32)
        faces = np.arange(len(vertices), dtype=np.uint32).reshape(-1, 3)
        red, green, blue, opacity = patch.colour
        server.scene.add_mesh_simple(
            f"{WORLD}/robot/{patch.link}/{number}",
            vertices,
            faces,
            color=(int(255 * red), int(255 * green), int(255 * blue)),
            opacity=None if opacity >= 1.0 else opacity,
            flat_shading=True,
            side="double",
        )
    return frames
