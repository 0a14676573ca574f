"""The converters on the genuine base class with the genuine conversion, on the layered Go2 that ships with us."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.usda import Usda, body, cube, lone, prim, robot, stage

pytestmark = pytest.mark.isaaclab

ROOT = Path(__file__).parents[2]


@pytest.fixture
def go2(tmp_path: Path) -> Path:
    """A copy that may be changed: `unitree_go2.usda` and its payloads."""
    return Path(shutil.copytree(ROOT / "data" / "unitree_go2", tmp_path / "asset")) / "unitree_go2.usda"


def test_the_go2_becomes_an_mjcf_that_mujoco_loads(go2: Path, tmp_path: Path):
    import mujoco

    from isaaclab_mirror.isaaclab import UsdToMjcfConverter, UsdToMjcfConverterCfg

    cfg = UsdToMjcfConverterCfg(asset_path=str(go2), usd_dir=str(tmp_path / "out"))
    converter = UsdToMjcfConverter(cfg)
    model = mujoco.MjModel.from_xml_path(converter.mjcf_path)
    assert model.njnt == 13  # twelve hinges and the free joint
    assert Path(converter.mesh_dir).is_dir()
    assert len(converter.report) > 0


def test_the_go2_becomes_a_urdf_with_its_meshes(go2: Path, tmp_path: Path):
    from isaaclab_mirror.isaaclab import UsdToUrdfConverter, UsdToUrdfConverterCfg

    converter = UsdToUrdfConverter(UsdToUrdfConverterCfg(asset_path=str(go2), usd_dir=str(tmp_path / "out")))
    robot = ElementTree.parse(converter.urdf_path).getroot()  # noqa: S314 - we wrote it
    assert sum(joint.get("type") == "revolute" for joint in robot.iter("joint")) == 12
    for mesh in robot.iter("mesh"):
        assert (Path(converter.urdf_path).parent / mesh.attrib["filename"]).is_file()


PART = stage(body("part", cube()), default="part")


@pytest.fixture
def layered(tmp_path: Path) -> Path:
    """A robot in a sublayer, a reference, a payload and a texture; `stranger.usda` lies beside it, unused."""
    usda = Usda(tmp_path / "asset")
    image = prim("Shader", "image", 'uniform token info:id = "UsdUVTexture"', "asset inputs:file = @./image.png@")
    usda.write(lone(cube(), "float physics:mass = 2", prim("Material", "paint", image)), "sublayer.usda")
    for name in ("referenced.usda", "payload.usda", "stranger.usda"):
        usda.write(PART, name)
    (usda.folder / "image.png").write_bytes(b"no picture")
    hand = prim("Xform", "hand", meta="prepend references = @./referenced.usda@")
    foot = prim("Xform", "foot", meta="prepend payload = @./payload.usda@")
    return usda.write(stage(robot(hand, foot, apis=()), more="subLayers = [@./sublayer.usda@]"))


def written(converter: Any) -> int:
    """When the output was written."""
    return Path(converter.usd_path).stat().st_mtime_ns


@pytest.mark.parametrize(
    "used", ["robot.usda", "sublayer.usda", "referenced.usda", "payload.usda", "image.png", "stranger.usda"]
)
def test_a_change_of_a_used_file_converts_again_and_no_other(layered: Path, tmp_path: Path, used: str):
    from isaaclab_mirror.isaaclab import UsdToMjcfConverter, UsdToMjcfConverterCfg

    cfg = UsdToMjcfConverterCfg(asset_path=str(layered), usd_dir=str(tmp_path / "out"))
    first = written(UsdToMjcfConverter(cfg))
    assert written(UsdToMjcfConverter(cfg)) == first
    with layered.with_name(used).open("a") as file:
        file.write("\n# edited\n")
    assert (written(UsdToMjcfConverter(cfg)) != first) == (used != "stranger.usda")


def test_the_output_has_what_a_changed_layer_says_though_a_stage_holds_it_open(layered: Path, tmp_path: Path):
    from pxr import Usd

    from isaaclab_mirror.isaaclab import UsdToMjcfConverter, UsdToMjcfConverterCfg

    held = Usd.Stage.Open(str(layered))  # as a running task does
    cfg = UsdToMjcfConverterCfg(asset_path=str(layered), usd_dir=str(tmp_path / "out"))
    assert 'mass="2"' in Path(UsdToMjcfConverter(cfg).mjcf_path).read_text()
    layer = layered.with_name("sublayer.usda")
    layer.write_text(layer.read_text().replace("mass = 2", "mass = 7.25"))
    assert held
    assert 'mass="7.25"' in Path(UsdToMjcfConverter(cfg).mjcf_path).read_text()


def test_a_robot_that_cannot_be_read_records_nothing_until_it_is_mended(layered: Path, tmp_path: Path):
    from isaaclab_mirror.diagnostics import InputError
    from isaaclab_mirror.isaaclab import UsdToUrdfConverter, UsdToUrdfConverterCfg

    whole = layered.read_text()
    cfg = UsdToUrdfConverterCfg(asset_path=str(layered), usd_dir=str(tmp_path / "out"))
    layered.write_text("#usda 1.0\n")
    for _ in range(2):
        with pytest.raises(InputError):
            UsdToUrdfConverter(cfg)
        assert not list((tmp_path / "out").rglob("*.*"))
    layered.write_text(whole)
    assert Path(UsdToUrdfConverter(cfg).urdf_path).is_file()


def test_both_converters_share_a_folder_and_its_meshes(go2: Path, tmp_path: Path):
    from isaaclab_mirror.isaaclab import (
        UsdToMjcfConverter,
        UsdToMjcfConverterCfg,
        UsdToUrdfConverter,
        UsdToUrdfConverterCfg,
    )

    out = str(tmp_path / "out")
    mjcf = UsdToMjcfConverterCfg(asset_path=str(go2), usd_dir=out)
    urdf = UsdToUrdfConverterCfg(asset_path=str(go2), usd_dir=out)
    first = [written(UsdToMjcfConverter(mjcf)), written(UsdToUrdfConverter(urdf))]
    assert [written(UsdToMjcfConverter(mjcf)), written(UsdToUrdfConverter(urdf))] == first


@pytest.mark.parametrize("name", ["go2.xml", "go2.urdf"])
def test_the_script_converts(go2: Path, tmp_path: Path, name: str, capsys, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["convert_usd.py", str(go2), str(tmp_path / "out" / name), "--fix_base"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(str(ROOT / "scripts" / "convert_usd.py"), run_name="__main__")
    assert stop.value.code == 0
    assert (tmp_path / "out" / name).is_file()
    assert name in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["go2.sdf"], "must end in .xml, .mjcf or .urdf"),
        (["go2.urdf", "--timestep", "0.01"], "timestep does not apply to .urdf"),
        (["go2.xml", "--variant", "Physics"], "--variant must be SET=NAME"),
    ],
)
def test_the_script_refuses_with_one_message(go2: Path, arguments: list[str], message: str, capsys):
    main = runpy.run_path(str(ROOT / "scripts" / "convert_usd.py"))["main"]
    with pytest.raises(SystemExit) as stop:
        main([str(go2), *arguments])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_the_script_says_in_one_message_what_is_wrong_with_an_asset(tmp_path: Path, capsys):
    asset = tmp_path / "empty.usda"
    asset.write_text("#usda 1.0\n")
    main = runpy.run_path(str(ROOT / "scripts" / "convert_usd.py"))["main"]
    assert main([str(asset), str(tmp_path / "out" / "robot.xml")]) == 2
    assert "empty.usda: error E" in capsys.readouterr().err
    assert not (tmp_path / "out" / "robot.xml").exists()
