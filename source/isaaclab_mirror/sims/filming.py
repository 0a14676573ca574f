"""A robot filmed from its states: any engine's State drawn by MuJoCo, on a checkered floor, followed by the camera."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.mujoco_model import MujocoRobot, robot_model
from isaaclab_mirror.sims.screen import working_gl
from isaaclab_mirror.sims.settings import SimSettings
from isaaclab_mirror.sims.state import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    Rasterize = Callable[[Any, Any, int, int], Image]

TILE_M = 0.5
TILES = 8
"""Tiles of the floor on each side of the robot."""
SHADES = ((0.86, 0.88, 0.90, 1.0), (0.70, 0.74, 0.78, 1.0))
MAX_GEOMS = 20000


@dataclass(frozen=True, slots=True)
class Shot:
    """Size of the picture and where it is taken from; the camera keeps its distance to the robot's root."""

    width: int = 640
    height: int = 480
    azimuth_deg: float = 120.0
    elevation_deg: float = -15.0
    distance: float = 2.2
    """In robot sizes."""


class PosedModel:
    """A robot's MuJoCo model that any engine's states pose, joints by name."""

    def __init__(self, robot: MujocoRobot) -> None:
        """At its own start."""
        import mujoco

        self._robot = robot
        self.model, self.data = robot.model, mujoco.MjData(robot.model)
        self.floating = robot.floating

    @property
    def link_places(self) -> NDArray[np.float64]:
        """Of every link [m], (links, 3); the root first."""
        return self.data.xpos[self._robot.bodies]

    def pose(self, state: State, row: int = 0) -> None:
        """Take the place of one environment of a state."""
        import mujoco
        import numpy as np

        robot, qpos = self._robot, self._robot.home_qpos.copy()[None]
        columns = [state.joint_names.index(name) for name in robot.joints.names]
        robot.joints.put_positions(state.joint_pos[row : row + 1, columns], qpos)
        if robot.floating:
            first = robot.root_qpos
            qpos[0, first : first + 3] = state.root_pos_w[row]
            qpos[0, first + 3 : first + 7] = state.root_quat_wxyz[row]
        self.data.qpos[:] = np.nan_to_num(qpos[0])
        mujoco.mj_kinematics(robot.model, self.data)
        mujoco.mj_comPos(robot.model, self.data)


def posed_model(robot: Robot, settings: SimSettings) -> PosedModel:
    """A robot with everything that is to be seen; one that is all of one grey is painted link by link."""
    import numpy as np

    settings = replace(settings, mujoco_substeps=1)
    made = robot_model(robot, Fidelity.NOMINAL, settings, contact_forces=False, visuals=True)
    moving = made.model.geom_bodyid > 0
    plain = made.model.geom_matid[moving] < 0
    if plain.all() and len(np.unique(made.model.geom_rgba[moving], axis=0)) == 1:
        paint_links(made.model, moving)
    return PosedModel(made)


class Filming:
    """Draws states of one robot; `close` gives the screen back."""

    def __init__(
        self, robot: Robot, settings: SimSettings, shot: Shot | None = None, *, rasterize: Rasterize | None = None
    ) -> None:
        """With OpenGL where some works, else by `rasterize`: (model, scene, width, height) → picture."""
        import mujoco

        self.shot = shot or Shot()
        self._posed = posed_model(robot, settings)
        self._model = self._posed.model
        self._floor = settings.ground.height_m if settings.ground is not None else None
        self._scene = mujoco.MjvScene(self._model, maxgeom=MAX_GEOMS)
        self._options = _looks(self._model)
        self._camera = mujoco.MjvCamera()
        self._camera.azimuth, self._camera.elevation = self.shot.azimuth_deg, self.shot.elevation_deg
        self._size = 0.0
        self._rasterize = rasterize
        self._open_screen()

    def _open_screen(self) -> None:
        import mujoco

        model, shot = self._model, self.shot
        self._screen: Any = None
        self._context: Any = None
        backend = working_gl()
        if backend is None:
            return
        os.environ["PYOPENGL_PLATFORM"] = backend
        model.vis.global_.offwidth, model.vis.global_.offheight = shot.width, shot.height
        self._screen = importlib.import_module(f"mujoco.{backend}").GLContext(shot.width, shot.height)
        self._screen.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)

    def picture(self, state: State, row: int = 0) -> Image:
        """One environment of a state, (height, width, 3)."""
        import mujoco

        self._posed.pose(state, row)
        self._follow()
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(
            self._model,
            self._posed.data,
            self._options,
            mujoco.MjvPerturb(),
            self._camera,
            everything,
            self._scene,
        )
        self._lay_floor()
        return self._draw()

    def _follow(self) -> None:
        import numpy as np

        model, places = self._model, self._posed.link_places
        if not self._size:
            low, high = places.min(axis=0), places.max(axis=0)
            self._size = max(float(np.linalg.norm(high - low)), 0.3)
            self._camera.distance = self.shot.distance * self._size
            model.vis.map.znear = 0.01 * self._camera.distance / model.stat.extent
            model.vis.map.zfar = 12 * self._camera.distance / model.stat.extent
            self._height = float(places[:, 2].mean())
        self._camera.lookat[:] = (*places[0, :2], self._height)

    def _lay_floor(self) -> None:
        """Tiles around the robot, fixed to the world so that its way is seen."""
        import mujoco
        import numpy as np

        if self._floor is None:
            return
        scene = self._scene
        for geom in scene.geoms[: scene.ngeom]:
            if geom.type == mujoco.mjtGeom.mjGEOM_PLANE:
                geom.rgba[3] = 0.0
        tile = max(TILE_M, self._size / 2)
        x, y = (round(float(centre) / tile) for centre in self._camera.lookat[:2])
        wide = (TILES + 0.5) * tile
        boxes = [(x * tile, y * tile, wide, -0.012, SHADES[0])]
        boxes += [
            ((x + i) * tile, (y + j) * tile, tile / 2, -0.006, SHADES[1])
            for i in range(-TILES, TILES + 1)
            for j in range(-TILES, TILES + 1)
            if (x + i + y + j) % 2
        ]
        for at_x, at_y, half, below, colour in boxes:
            geom = scene.geoms[scene.ngeom]
            size, place = np.array([half, half, 0.005]), np.array([at_x, at_y, self._floor + below])
            shade = np.array(colour, dtype=np.float32)
            mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_BOX, size, place, np.eye(3).ravel(), shade)
            scene.ngeom += 1

    def _draw(self) -> Image:
        import mujoco
        import numpy as np

        shot, scene = self.shot, self._scene
        if self._screen is None:
            if self._rasterize is None:
                raise InputError("E143", "picture", "no OpenGL works here", "install Mesa's EGL or OSMesa")
            return self._rasterize(self._model, scene, shot.width, shot.height)
        self._screen.make_current()
        if scene.nlight:
            light = scene.lights[0]
            light.ambient[:], light.diffuse[:], light.specular[:] = 0.5, 0.6, 0.1
        scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW.value] = 0
        scene.flags[mujoco.mjtRndFlag.mjRND_SKYBOX.value] = 0
        area = mujoco.MjrRect(0, 0, shot.width, shot.height)
        mujoco.mjr_render(area, scene, self._context)
        picture = np.empty((shot.height, shot.width, 3), dtype=np.uint8)
        depth = np.empty((shot.height, shot.width), dtype=np.float32)
        mujoco.mjr_readPixels(picture, depth, area, self._context)
        picture[depth >= 1.0] = 244
        return picture[::-1]

    def close(self) -> None:
        """Give the screen back."""
        if self._screen is not None:
            self._context.free()
            self._screen.free()
            self._screen = self._context = None


def _looks(model: Any) -> Any:
    """What is to be seen, or what collides where there is nothing else."""
    import mujoco

    options = mujoco.MjvOption()
    moving = model.geom_bodyid > 0
    if not (moving & (model.geom_group <= 2)).any():
        options.geomgroup[:] = 1
    options.sitegroup[:] = 0
    return options


def paint_links(model: Any, geoms: Any) -> None:
    """One colour per link on these geoms (a mask), so that its parts can be told from its neighbours'."""
    import numpy as np

    model.geom_matid[geoms] = -1
    hues = (model.geom_bodyid[geoms] * 0.381966) % 1.0
    model.geom_rgba[geoms, :3] = 0.62 + 0.25 * np.cos(2 * np.pi * (hues[:, None] + np.array([0.0, 1 / 3, 2 / 3])))
    model.geom_rgba[geoms, 3] = 1.0
