"""The converters on the genuine base class with the genuine conversion, on the layered Go2 that ships with us."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

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


def test_a_changed_payload_of_the_go2_converts_again(go2: Path, tmp_path: Path):
    from pxr import Sdf

    from isaaclab_mirror.isaaclab import UsdToMjcfConverter, UsdToMjcfConverterCfg

    cfg = UsdToMjcfConverterCfg(asset_path=str(go2), usd_dir=str(tmp_path / "out"))
    output = Path(UsdToMjcfConverter(cfg).mjcf_path)
    written = output.stat().st_mtime_ns
    UsdToMjcfConverter(cfg)
    assert output.stat().st_mtime_ns == written
    payload = next(file for file in sorted((go2.parent / "Payload").rglob("*hysics*.usd*")))
    layer = Sdf.Layer.FindOrOpen(str(payload))
    layer.comment = "edited"
    layer.Save()
    UsdToMjcfConverter(cfg)
    assert output.stat().st_mtime_ns != written


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
