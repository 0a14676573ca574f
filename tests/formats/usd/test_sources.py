"""Which files a robot is read from: what the lazy converters for Isaac Lab watch."""

from __future__ import annotations

from pathlib import Path

import pytest

from isaaclab_mirror.conversion import convert, source_files
from tests.usda import Usda, body, cube, lone, prim, robot, stage

PART = stage(body("part", cube()), default="part")
TEXTURED = prim(
    "Material",
    "paint",
    prim("Shader", "map", 'uniform token info:id = "UsdUVTexture"', "asset inputs:file = @./paint.png@"),
)


def layered(usda: Usda) -> Path:
    """A robot behind a sublayer, a reference, a payload and a variant, with a texture; and a file that it leaves."""
    usda.write(lone(cube(), TEXTURED), "base.usda")
    for name in ("parts/referenced.usda", "parts/payload.usda", "parts/variant.usda", "parts/stranger.usda"):
        usda.write(PART, name)
    (usda.folder / "paint.png").write_bytes(b"no picture")
    inside = [
        prim("Xform", "hand", meta="prepend references = @./parts/referenced.usda@"),
        prim("Xform", "foot", meta="prepend payload = @./parts/payload.usda@"),
        'variantSet "Tool" = {\n"none" {\n}\n"drill" {\n'
        + prim("Xform", "tool", meta="prepend references = @./parts/variant.usda@")
        + "}\n}\n",
    ]
    chosen = 'variants = {\nstring Tool = "none"\n}\nprepend variantSets = "Tool"'
    return usda.write(stage(robot(*inside, apis=(), meta=chosen), more="subLayers = [@./base.usda@]"))


def test_every_layer_payload_and_texture_is_named_and_nothing_else(usda: Usda):
    named = {file.relative_to(usda.folder).as_posix() for file in source_files(layered(usda))}
    parts = {"parts/referenced.usda", "parts/payload.usda", "parts/variant.usda"}
    assert named == {"robot.usda", "base.usda", "paint.png", *parts}


def test_a_texture_that_is_not_there_is_named_when_it_arrives(usda: Usda):
    asset = layered(usda)
    (usda.folder / "paint.png").unlink()
    before = source_files(asset)
    (usda.folder / "paint.png").write_bytes(b"no picture")
    assert set(source_files(asset)) - set(before) == {usda.folder / "paint.png"}


@pytest.mark.parametrize("name", ["unitree_go2/unitree_go2.usda", "leap_hand", "unitree_g1", "ur5e"])
def test_no_file_is_read_that_is_not_named(data: Path, tmp_path: Path, name: str):
    found = data / name
    asset = found if found.is_file() else next(file for file in sorted(found.iterdir()) if ".usd" in file.suffix)
    assert set(convert(asset, tmp_path / "robot.xml").sources) <= set(source_files(asset))


@pytest.mark.parametrize("changed", ["robot.usda", "base.usda"])
def test_a_file_that_changed_is_read_anew_though_this_process_holds_the_older_one_open(usda: Usda, changed: str):
    from pxr import Usd

    mass = "float physics:mass = 2"
    usda.write(lone(cube(), mass if changed == "base.usda" else ""), "base.usda")
    over = f'over "robot"\n{{\nover "box"\n{{\n{mass if changed == "robot.usda" else ""}\n}}\n}}\n'
    asset = usda.write(stage(over, more="subLayers = [@./base.usda@]"))
    held = Usd.Stage.Open(str(asset))  # as Isaac Lab does while a task runs
    target = usda.folder / "robot.xml"
    convert(asset, target)
    before = target.read_text()
    file = usda.folder / changed
    file.write_text(file.read_text().replace("mass = 2", "mass = 7.25"))
    convert(asset, target)
    assert held
    assert 'mass="2"' in before
    assert 'mass="7.25"' in target.read_text()
