"""When the converters convert, on the genuine base class; a stand-in counts, so what is written is not judged."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from isaaclab_mirror import conversion
from isaaclab_mirror.conversion import ConversionOptions, ConversionResult
from isaaclab_mirror.diagnostics import Diagnostic, Fidelity, InputError, Severity
from isaaclab_mirror.formats.options import ReadOptions

pytestmark = pytest.mark.isaaclab

FORMATS = ("mjcf", "urdf")
MJCF_ONLY = {"fidelity", "contact_model", "timestep", "substeps", "solver", "scene", "ground"}


class Conversions:
    """Stands in for `convert` and `source_files`: writes a file and a mesh, and keeps what it was asked."""

    def __init__(self) -> None:
        self.options: list[ConversionOptions] = []
        self.failure: Exception | None = None
        self.fail_after_writing = False
        self.mesh = "mesh"
        self.mesh_name: str | None = None
        self.seconds = 0.0

    @property
    def count(self) -> int:
        return len(self.options)

    def convert(self, source: str | Path, target: str | Path, options: ConversionOptions) -> ConversionResult:
        self.options.append(options)
        time.sleep(self.seconds)
        target = Path(target)
        if self.failure and not self.fail_after_writing:
            raise self.failure
        mesh = target.parent / "meshes" / f"{self.mesh_name or target.stem}.stl"
        mesh.parent.mkdir(exist_ok=True)
        mesh.write_text(self.mesh)
        target.write_text(f"conversion {self.count}")
        if self.failure:
            raise self.failure
        fidelity = Fidelity()
        fidelity.kept("joints", 12)
        fidelity.approximated("drives", "no force limit", 2)
        fidelity.lost("drives", "a tendon", 1)
        found = Diagnostic("E001", Severity.WARNING, "robot.usda:/robot", "closest joint", "look")
        return ConversionResult(
            target=target,
            robot_name="robot",
            links=13,
            joints=12,
            dofs=12,
            fidelity=fidelity,
            diagnostics=(found,),
            files=(target, mesh),
            sources=self.source_files(source),
            seconds=0.1,
        )

    @staticmethod
    def source_files(source: str | Path, options: ReadOptions | None = None) -> tuple[Path, ...]:
        return tuple(sorted(file for file in Path(source).parent.rglob("*") if file.is_file()))


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> Conversions:
    stand_in = Conversions()
    monkeypatch.setattr(conversion, "convert", stand_in.convert)
    monkeypatch.setattr(conversion, "source_files", stand_in.source_files)
    return stand_in


@pytest.fixture
def asset(tmp_path: Path) -> Path:
    """A robot in four files: the asset, a layer, a payload and a mesh."""
    folder = tmp_path / "asset"
    for name in ("robot.usda", "layers/base.usda", "Payload/physics.usda", "meshes/hip.stl"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder / "robot.usda"


@pytest.fixture(params=FORMATS)
def build(request: pytest.FixtureRequest, asset: Path, tmp_path: Path) -> Callable[..., Any]:
    """Constructs the converter of one format, as a user does, with fields of the configuration to change."""
    return builder(request.param, asset, tmp_path / "out")


def builder(kind: str, asset: Path, output: Path) -> Callable[..., Any]:
    from isaaclab_mirror import isaaclab

    name = f"UsdTo{kind.capitalize()}Converter"
    converter, cfg = getattr(isaaclab, name), getattr(isaaclab, f"{name}Cfg")
    defaults = {"asset_path": str(asset), "usd_dir": str(output)}
    return lambda **changes: converter(cfg(**{**defaults, **changes}))


def path_of(converter: Any) -> Path:
    return Path(converter.mjcf_path if hasattr(converter, "mjcf_path") else converter.urdf_path)


def test_the_converters_extend_the_genuine_base(isaaclab_version: str, build):
    from isaaclab.sim.converters.asset_converter_base import AssetConverterBase
    from isaaclab.sim.converters.asset_converter_base_cfg import AssetConverterBaseCfg

    from isaaclab_mirror.isaaclab import UsdToMjcfConverter, UsdToMjcfConverterCfg

    assert issubclass(UsdToMjcfConverter, AssetConverterBase)
    assert issubclass(UsdToMjcfConverterCfg, AssetConverterBaseCfg)
    assert hasattr(AssetConverterBaseCfg(asset_path="x"), "physics_variant") == (isaaclab_version == "3.0.0")


def test_nothing_changed_converts_once(conversions: Conversions, build):
    first, second, third = build(), build(), build()
    assert conversions.count == 1
    assert path_of(first) == path_of(second) == path_of(third)
    assert path_of(third).read_text() == "conversion 1"


@pytest.mark.parametrize("used", ["robot.usda", "layers/base.usda", "Payload/physics.usda", "meshes/hip.stl"])
def test_a_changed_file_of_the_asset_converts_again(conversions: Conversions, build, asset: Path, used: str):
    build()
    (asset.parent / used).write_text("changed")
    assert path_of(build()).read_text() == "conversion 2"
    build()
    assert conversions.count == 2


def test_a_new_layer_converts_again(conversions: Conversions, build, asset: Path):
    build()
    (asset.parent / "layers" / "sensors.usda").write_text("new")
    build()
    assert conversions.count == 2


def test_a_touched_but_equal_file_does_not_convert_again(conversions: Conversions, build, asset: Path):
    build()
    asset.write_text(asset.read_text())
    build()
    assert conversions.count == 1


def test_exchanged_layers_convert_again(conversions: Conversions, build, asset: Path):
    build()
    layer, payload = asset.parent / "layers" / "base.usda", asset.parent / "Payload" / "physics.usda"
    one, other = layer.read_text(), payload.read_text()
    layer.write_text(other)
    payload.write_text(one)
    build()
    assert conversions.count == 2


@pytest.mark.parametrize("change", [{"fix_base": True}, {"variants": {"Physics": "mujoco"}}, {"strict": True}], ids=str)
def test_a_changed_configuration_converts_again(conversions: Conversions, build, change: dict[str, object]):
    build()
    build(**change)
    build(**change)
    assert conversions.count == 2


@pytest.mark.parametrize("where", ["__version__", "CONVERTER_VERSION"])
def test_a_new_version_converts_again(conversions: Conversions, build, monkeypatch: pytest.MonkeyPatch, where: str):
    import isaaclab_mirror

    build()
    home = conversion if where == "CONVERTER_VERSION" else isaaclab_mirror
    monkeypatch.setattr(home, where, "999.0", raising=False)
    build()
    assert conversions.count == 2


def test_a_missing_output_converts_again(conversions: Conversions, build):
    path_of(build()).unlink()
    assert path_of(build()).is_file()
    assert conversions.count == 2


def test_a_missing_mesh_of_the_output_converts_again(conversions: Conversions, build):
    mesh = Path(build().mesh_dir) / "robot.stl"
    mesh.unlink()
    build()
    assert conversions.count == 2
    assert mesh.is_file()


@pytest.mark.parametrize("content", [None, "", "{}", "[1]", '{"fidelity": 3}'])
def test_a_missing_or_broken_report_converts_again(conversions: Conversions, build, content: str | None):
    report = Path(f"{path_of(build())}.report.json")
    report.unlink() if content is None else report.write_text(content)
    assert build().report.row("joints").kept == 12
    assert conversions.count == 2


def test_force_converts_again_and_is_then_reused(conversions: Conversions, build):
    build()
    build(force_usd_conversion=True)
    build()
    assert conversions.count == 2


@pytest.mark.parametrize("fail_after_writing", [False, True])
def test_a_failed_conversion_records_nothing(conversions: Conversions, build, asset: Path, fail_after_writing: bool):
    build()
    asset.write_text("changed")
    conversions.failure = InputError("E020", asset, "no robot")
    conversions.fail_after_writing = fail_after_writing
    for _ in range(2):
        with pytest.raises(InputError, match="no robot"):
            build()
    assert conversions.count == 3
    conversions.failure = None
    assert path_of(build()).read_text() == "conversion 4"


@pytest.mark.parametrize("fail_after_writing", [False, True])
def test_a_failed_conversion_leaves_the_former_output_as_it_was(conversions: Conversions, build, fail_after_writing):
    build()
    conversions.failure = RuntimeError("disk full")
    conversions.fail_after_writing = fail_after_writing
    with pytest.raises(RuntimeError):
        build(fix_base=True)
    conversions.failure = None
    assert path_of(build()).read_text() == "conversion 1"  # the file is that of this configuration, so it is reused
    assert path_of(build(fix_base=True)).read_text() == "conversion 3"


def test_a_half_exchanged_output_is_not_taken_for_the_former_one(
    conversions: Conversions, build, monkeypatch: pytest.MonkeyPatch
):
    build()
    replace = Path.replace

    def fail_at_the_mesh(self: Path, target: Path) -> Path:
        if self.suffix == ".stl":
            raise OSError("disk full")
        return replace(self, target)

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", fail_at_the_mesh)
        with pytest.raises(OSError, match="disk full"):
            build(fix_base=True)
    assert path_of(build()).read_text() == "conversion 3"


def test_a_first_conversion_that_fails_leaves_no_record(conversions: Conversions, build, tmp_path: Path):
    conversions.failure = RuntimeError("disk full")
    with pytest.raises(RuntimeError):
        build()
    assert [file for file in (tmp_path / "out").rglob("*") if file.is_file()] == []


def test_two_names_in_one_folder_do_not_disturb_each_other(conversions: Conversions, build):
    for _ in range(3):
        assert path_of(build(usd_file_name="left")).read_text() == "conversion 1"
        assert path_of(build(usd_file_name="right", fix_base=True)).read_text() == "conversion 2"
    assert conversions.count == 2


def test_a_second_name_is_not_served_an_older_file(conversions: Conversions, build, asset: Path):
    # 2.3.2 compares one digest per folder: with one record, `left` would hide that `right` is old
    build(usd_file_name="left")
    build(usd_file_name="right")
    asset.write_text("changed")
    build(usd_file_name="left")
    assert path_of(build(usd_file_name="right")).read_text() == "conversion 4"


def test_the_digests_of_two_names_differ(conversions: Conversions, build):
    # where a folder cannot be locked, 2.3.2 may compare the digest of one name with that of another
    digests = [c._config_to_hash(c.cfg) for c in (build(usd_file_name="left"), build(usd_file_name="right"))]
    assert digests[0] != digests[1]


def test_a_mesh_of_another_name_is_never_overwritten_with_a_different_one(conversions: Conversions, build, tmp_path):
    conversions.mesh_name = "hip"
    left = build(usd_file_name="left")
    build(usd_file_name="same_mesh")
    conversions.mesh = "another mesh"
    with pytest.raises(ValueError, match=r"would share meshes/hip\.stl.*another usd_dir"):
        build(usd_file_name="right", fix_base=True)
    assert Path(left.mesh_dir, "hip.stl").read_text() == "mesh"
    assert not list((tmp_path / "out").glob("right*"))


def test_both_formats_in_one_folder_do_not_disturb_each_other(conversions: Conversions, asset: Path, tmp_path: Path):
    builds = [builder(kind, asset, tmp_path / "out") for kind in FORMATS]
    for _ in range(3):
        assert [path_of(build()).name for build in builds] == ["robot.xml", "robot.urdf"]
    assert conversions.count == 2


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")
def test_of_several_that_start_at_once_one_converts_and_the_others_wait(conversions: Conversions, build):
    conversions.seconds = 0.3
    with ThreadPoolExecutor(4) as pool:
        converters = list(pool.map(lambda name: build(usd_file_name=name), ["left", "right", "left", "left"]))
    assert conversions.count == 2
    assert all(converter.report.row("joints").kept == 12 for converter in converters)
    build(usd_file_name="left")
    build(usd_file_name="right")
    assert conversions.count == 2


def test_the_record_of_a_foreign_converter_is_left_alone(conversions: Conversions, build, tmp_path: Path):
    foreign = tmp_path / "out" / ".asset_hash"
    foreign.parent.mkdir()
    foreign.write_text("the record of Isaac Lab's UrdfConverter")
    build()
    foreign_after = foreign.read_text()
    build()
    assert foreign_after == foreign.read_text() == "the record of Isaac Lab's UrdfConverter"
    assert conversions.count == 1


def test_without_a_directory_nothing_is_reused(conversions: Conversions, build):
    first = build(usd_dir=None)
    try:
        assert path_of(first).is_file()
        assert first.report.row("joints").kept == 12
    finally:
        shutil.rmtree(first.usd_dir)
    second = build(usd_dir=None)
    shutil.rmtree(second.usd_dir)
    assert conversions.count == 2


def test_a_moved_folder_is_reused(conversions: Conversions, build, asset: Path, tmp_path: Path):
    build()
    (tmp_path / "out").rename(tmp_path / "moved")
    moved = asset.parent.rename(tmp_path / "asset_moved") / "robot.usda"
    again = build(asset_path=str(moved), usd_dir=str(tmp_path / "moved"))
    assert conversions.count == 1
    assert Path(again.mesh_dir) == tmp_path / "moved" / "meshes"


def test_the_report_is_the_same_after_a_reuse(conversions: Conversions, build):
    fresh, reused = build(), build()
    assert conversions.count == 1
    assert fresh.report.to_json() == reused.report.to_json()
    assert reused.report.row("drives").note == "no force limit; a tendon"
    assert (reused.report.row("drives").approximated, reused.report.row("drives").lost) == (2, 1)
    assert fresh.diagnostics == reused.diagnostics
    assert reused.diagnostics[0].severity is Severity.WARNING


@pytest.mark.parametrize("name", [None, "robot", "robot.usd", "robot.usda", "robot.usdc", "robot.{suffix}"])
def test_every_spelling_of_the_name_gives_one_suffix(conversions: Conversions, build, name: str | None):
    suffix = path_of(build()).suffix
    converter = build(usd_file_name=name and name.format(suffix=suffix[1:]))
    assert path_of(converter).name == converter.usd_file_name == f"robot{suffix}"
    assert converter.usd_path == str(path_of(converter))


def test_dots_in_a_name_are_kept(conversions: Conversions, build):
    assert path_of(build(usd_file_name="go2.v1.2")).stem == "go2.v1.2"


def test_a_name_with_a_folder_is_reused(conversions: Conversions, build):
    assert path_of(build(usd_file_name="sub/robot")).parent.name == "sub"
    build(usd_file_name="sub/robot")
    assert conversions.count == 1


@pytest.mark.parametrize("name", ["../robot", "/robot"])
def test_a_name_outside_the_folder_is_refused(conversions: Conversions, build, name: str):
    with pytest.raises(ValueError, match="within usd_dir"):
        build(usd_file_name=name)
    assert conversions.count == 0


def test_config_yaml_is_written_as_the_base_does(conversions: Conversions, build, tmp_path: Path, asset: Path):
    import yaml

    converter = build(variants={"Physics": "physx"})
    text = (tmp_path / "out" / "config.yaml").read_text()
    written = yaml.safe_load(text.replace("!!python/object/apply:", ""))
    assert written["asset_path"] == str(asset)
    assert written["variants"] == {"Physics": "physx"}
    assert f"Generated by {type(converter).__name__} on" in text
    build(variants={"Physics": "physx"})
    assert (tmp_path / "out" / "config.yaml").read_text() == text


@pytest.mark.parametrize("kind", FORMATS)
def test_the_defaults_are_those_of_convert(kind: str):
    from isaaclab_mirror import isaaclab
    from isaaclab_mirror.isaaclab.usd_converter_base import conversion_options

    cfg = getattr(isaaclab, f"UsdTo{kind.capitalize()}ConverterCfg")(asset_path="robot.usd")
    assert conversion_options(cfg) == ConversionOptions()


@pytest.mark.parametrize("kind", FORMATS)
def test_every_field_is_an_option_and_every_option_a_field(kind: str):
    from dataclasses import fields

    from isaaclab.sim.converters.asset_converter_base_cfg import AssetConverterBaseCfg

    from isaaclab_mirror import isaaclab
    from isaaclab_mirror.formats.options import WriteOptions
    from isaaclab_mirror.physics.options import LoweringOptions

    cfg = getattr(isaaclab, f"UsdTo{kind.capitalize()}ConverterCfg")
    own = {field.name for field in fields(cfg)} - {field.name for field in fields(AssetConverterBaseCfg)}
    rooms = (ReadOptions, LoweringOptions, WriteOptions, ConversionOptions)
    options = {field.name for room in rooms for field in fields(room)} - {"read", "lowering", "write"}
    other = {"mjcf": {"package", "transmissions"}, "urdf": MJCF_ONLY}[kind]
    assert own == options - other


def test_the_fields_are_handed_to_convert(conversions: Conversions, asset: Path, tmp_path: Path):
    build = builder("mjcf", asset, tmp_path / "out")
    build(prim="/robot", d6="hinges", fidelity="physx", solver="training", timestep=0.002, substeps=4, scene=True)
    read, lowering = conversions.options[0].read, conversions.options[0].lowering
    assert (read.prim, read.d6.value) == ("/robot", "hinges")
    assert (lowering.fidelity.value, lowering.solver.value) == ("physx", "training")
    assert (lowering.timestep, lowering.substeps) == (0.002, 4)
    assert conversions.options[0].write.scene


def test_a_value_that_is_not_allowed_is_refused_before_anything_is_written(conversions, build, tmp_path: Path):
    with pytest.raises(ValueError, match=r"d6 is 'cube', which is none of \['ball', 'hinges'\]"):
        build(d6="cube")
    assert not (tmp_path / "out").exists()


def test_a_missing_asset_is_refused_as_the_base_does(conversions: Conversions, build, tmp_path: Path):
    with pytest.raises(ValueError, match="does not exist"):
        build(asset_path=str(tmp_path / "none.usd"))
    assert not (tmp_path / "out").exists()


def test_the_report_stands_beside_the_output_as_json(conversions: Conversions, build):
    output = path_of(build())
    written = json.loads(Path(f"{output}.report.json").read_text())
    assert written["files"] == [output.name, "meshes/robot.stl"]
    assert written["diagnostics"][0]["code"] == "E001"
