"""Pictures come out whatever OpenGL is there, and both ways of drawing agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from isaaclab_mirror.report.rasterizer import BACKGROUND
from isaaclab_mirror.report.render import Shown, View, render_file, working_gl

SCENE = """
<mujoco><asset><mesh name="t" vertex="0 0 0  .3 0 0  0 .3 0  0 0 .3"/></asset><worldbody>
  <geom type="capsule" size=".05 .2" pos="0 0 .3" rgba="1 0 0 1"/>
  <geom type="box" size=".1 .2 .05" pos=".3 0 0" rgba="0 1 0 1"/>
  <geom type="cylinder" size=".1 .1" pos="-.3 0 0" rgba="0 0 1 1"/>
  <geom type="ellipsoid" size=".1 .2 .05" pos="0 .4 0" rgba="0 1 1 1"/>
  <geom type="mesh" mesh="t" pos="0 -.5 0" rgba="1 1 0 1" contype="0" conaffinity="0"/>
  <geom type="sphere" size=".1" group="3" pos="0 0 .8" rgba="1 0 1 1"/>
</worldbody></mujoco>"""


@pytest.fixture
def mjcf(tmp_path: Path) -> Path:
    file = tmp_path / "scene.xml"
    file.write_text(SCENE, encoding="utf-8")
    return file


def drawn(mjcf: Path, gl: str | None, shown: Shown) -> np.ndarray:
    png = mjcf.with_suffix(".png")
    render_file(mjcf, png, view=View(160, 160), shown=(shown,), gl=gl)
    return np.asarray(Image.open(png)).astype(int)


def has(picture: np.ndarray, *rgb: int) -> bool:
    """Whether some pixel has that hue, whatever its shade."""
    strength = picture.max(-1, keepdims=True)
    return bool(((picture >= 0.6 * strength) == np.array(rgb, dtype=bool)).all(-1)[(strength > 60)[..., 0]].any())


def test_every_shape_is_drawn_without_opengl(mjcf: Path):
    picture = drawn(mjcf, None, Shown.VISUAL)
    for rgb in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 1, 0)):
        assert has(picture, *rgb), rgb
    assert not has(picture, 1, 0, 1)  # group 3 is not for show
    assert (picture[0] == BACKGROUND).all()


def test_the_collision_picture_shows_colliders_alone(mjcf: Path):
    both = drawn(mjcf, None, Shown.COLLISION)
    assert not has(both, 1, 1, 0)
    assert (both != BACKGROUND).any()


@pytest.mark.parametrize("shown", list(Shown))
def test_the_rasterizer_draws_where_mujoco_draws(mjcf: Path, shown: Shown):
    backend = working_gl()
    if backend is None:
        pytest.skip("no OpenGL here")
    ours, theirs = (drawn(mjcf, gl, shown) != BACKGROUND for gl in (None, backend))
    covered = ours.any(-1), theirs.any(-1)
    assert (covered[0] != covered[1]).sum() <= 0.05 * covered[1].sum()


def test_two_kinds_stand_side_by_side(mjcf: Path):
    png = mjcf.with_name("pair.png")
    render_file(mjcf, png, view=View(80, 60), shown=(Shown.VISUAL, Shown.COLLISION), gl=None)
    assert Image.open(png).size == (160, 60)
