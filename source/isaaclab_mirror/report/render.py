"""Pictures of an MJCF robot without a screen: by MuJoCo's renderer where some OpenGL works, else by `rasterizer`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.sims.filming import paint_links
from isaaclab_mirror.sims.screen import settle_gl, working_gl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

MAX_GEOMS = 20000


__all__ = ["Shown", "View", "render_file", "settle_gl", "working_gl"]


class Shown(StrEnum):
    """Which geoms are drawn."""

    VISUAL = "visual"
    """What is there to be seen: groups 0 to 2, as MuJoCo's viewer shows them."""
    COLLISION = "collision"
    """What collides."""


@dataclass(frozen=True, slots=True)
class View:
    """Size of the picture and where it is taken from."""

    width: int = 480
    height: int = 480
    azimuth_deg: float = 135.0
    elevation_deg: float = -20.0


def render_file(
    mjcf: Path, png: Path, *, view: View | None = None, shown: tuple[Shown, ...] = (Shown.VISUAL,), gl: str | None = ""
) -> str:
    """Draw a robot at its `home` keyframe, the kinds asked for side by side; returns what drew it.

    `gl` chooses: `egl`, `osmesa`, None for no OpenGL; empty takes what works.
    """
    import numpy as np
    from PIL import Image as Pictures

    view = view or View()
    backend = working_gl() if gl == "" else gl
    pictures = [_draw(mjcf, view, kind, backend) for kind in shown]
    png.parent.mkdir(parents=True, exist_ok=True)
    Pictures.fromarray(np.concatenate(pictures, axis=1)).save(png)
    return f"MuJoCo ({backend})" if backend else "the software rasterizer"


def _draw(mjcf: Path, view: View, shown: Shown, backend: str | None) -> Image:
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(mjcf))
    data = mujoco.MjData(model)
    if model.nkey:
        home = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "home")
        mujoco.mj_resetDataKeyframe(model, data, max(home, 0))
    mujoco.mj_forward(model, data)
    options = mujoco.MjvOption()
    _show(model, options, shown)
    scene = mujoco.MjvScene(model, maxgeom=MAX_GEOMS)
    camera = _camera(model, data, view)
    mujoco.mjv_updateScene(model, data, options, mujoco.MjvPerturb(), camera, mujoco.mjtCatBit.mjCAT_ALL.value, scene)
    if backend is None:
        from isaaclab_mirror.report.rasterizer import rasterize

        return rasterize(model, scene, view.width, view.height)
    return _draw_gl(model, scene, view, backend)


def _show(model: Any, options: Any, shown: Shown) -> None:
    """Leave visible what is asked for; collision geometry in one colour per link, so that its parts can be told."""
    import mujoco
    import numpy as np

    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    in_view = model.geom_group <= 2
    options.geomgroup[:] = 1
    options.sitegroup[:] = 0
    wanted = collides if shown is Shown.COLLISION else in_view
    if not wanted.any():
        wanted = np.ones_like(collides)
    model.geom_rgba[~wanted, 3] = 0.0
    model.geom_matid[~wanted] = -1
    if shown is Shown.COLLISION:
        paint_links(model, wanted)
        options.flags[mujoco.mjtVisFlag.mjVIS_CONVEXHULL.value] = 1  # MuJoCo collides with the hull of a mesh


def _camera(model: Any, data: Any, view: View) -> Any:
    """A free camera that has every drawn geom in view."""
    import mujoco
    import numpy as np

    finite = (model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE) & (
        (model.geom_rgba[:, 3] > 0.0) | (model.geom_matid >= 0)
    )
    centres, halves = model.geom_aabb[finite, :3], model.geom_aabb[finite, 3:]
    turns = data.geom_xmat[finite].reshape(-1, 3, 3)
    middles = data.geom_xpos[finite] + np.einsum("nij,nj->ni", turns, centres)
    reaches = np.einsum("nij,nj->ni", np.abs(turns), halves)
    low, high = ((middles - reaches).min(0), (middles + reaches).max(0)) if finite.any() else (-np.ones(3), np.ones(3))
    radius = max(float(np.linalg.norm(high - low)) / 2, 1e-3)
    camera = mujoco.MjvCamera()
    camera.lookat[:] = (low + high) / 2
    camera.distance = 1.02 * radius / np.sin(np.radians(model.vis.global_.fovy) / 2)
    camera.azimuth, camera.elevation = view.azimuth_deg, view.elevation_deg
    model.vis.map.znear = 0.01 * camera.distance / model.stat.extent
    model.vis.map.zfar = 10 * camera.distance / model.stat.extent
    return camera


def _draw_gl(model: Any, scene: Any, view: View, backend: str) -> Image:
    import importlib

    import mujoco
    import numpy as np

    from isaaclab_mirror.report.rasterizer import BACKGROUND

    os.environ["PYOPENGL_PLATFORM"] = backend
    model.vis.global_.offwidth, model.vis.global_.offheight = view.width, view.height
    screen = importlib.import_module(f"mujoco.{backend}").GLContext(view.width, view.height)
    try:
        screen.make_current()
        context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
        area = mujoco.MjrRect(0, 0, view.width, view.height)
        _light(scene)
        mujoco.mjr_render(area, scene, context)
        picture = np.empty((view.height, view.width, 3), dtype=np.uint8)
        depth = np.empty((view.height, view.width), dtype=np.float32)
        mujoco.mjr_readPixels(picture, depth, area, context)
        picture[depth >= 1.0] = BACKGROUND  # where nothing was drawn
        context.free()
    finally:
        screen.free()
    return picture[::-1]


def _light(scene: Any) -> None:
    """Robots come without lamps: the camera's own is made bright enough to see by."""
    import mujoco

    if scene.nlight:
        light = scene.lights[0]
        light.ambient[:], light.diffuse[:], light.specular[:] = 0.35, 0.65, 0.15
    scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW.value] = 0
    scene.flags[mujoco.mjtRndFlag.mjRND_SKYBOX.value] = 0
