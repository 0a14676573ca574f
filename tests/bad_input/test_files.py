"""Files that are not there, no USD, cut short, or refer to what they should not; outputs that cannot be written."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from tests.bad_input.conftest import Command
from tests.usda import BODY, COLLIDER, FACES, TETRAHEDRON, arm, body, cube, joint, lone, prim, robot, stage


def crate(command: Command) -> bytes:
    """A small robot as a binary layer."""
    from pxr import Sdf

    binary = command.folder / "good.usdc"
    Sdf.Layer.FindOrOpen(str(command.write(arm()))).Export(str(binary))
    content = binary.read_bytes()
    binary.unlink()
    return content


def test_a_missing_file_is_refused(command: Command, suffix: str):
    said = command.refuse(command.folder / "absent.usd", suffix=suffix)
    assert said.startswith("absent.usd: error E010: no such file")


def test_a_folder_is_refused(command: Command):
    folder = command.folder / "robot.usd"
    folder.mkdir()
    assert "robot.usd: error E010: it is a folder" in command.refuse(folder)


@pytest.mark.parametrize("name", ["robot.usd", "robot.usda", "robot.usdc", "robot.usdz"])
@pytest.mark.parametrize(
    "content",
    [b"", b"this is no robot", b"\x00\xff" * 400, b"PK\x03\x04 no zip", b"PXR-USDC", b"#usda 1.0\ndef {"],
    ids=["empty", "words", "bytes", "zip", "crate", "text"],
)
def test_what_is_no_usd_is_refused(command: Command, name: str, content: bytes):
    file = command.folder / name
    file.write_bytes(content)
    assert f"{name}: error E010" in command.refuse(file)


def test_a_broken_text_layer_is_refused_with_the_line(command: Command):
    text = arm().replace("def Xform", "def Xform Xform", 1)
    assert ":7:" in command.refuse(text)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.99])
def test_half_a_binary_layer_is_refused(command: Command, part: float):
    content = crate(command)
    file = command.folder / "half.usdc"
    file.write_bytes(content[: int(len(content) * part)])
    assert "half.usdc: error E010" in command.refuse(file)


def test_a_binary_layer_with_a_corrupt_table_of_contents_is_refused(command: Command):
    content = bytearray(crate(command))
    content[16:24] = (2**40).to_bytes(8, "little")  # where the table of contents starts
    file = command.folder / "corrupt.usdc"
    file.write_bytes(content)
    assert "corrupt.usdc: error E010" in command.refuse(file)


def test_what_usd_throws_while_values_are_read_is_bad_input(command: Command, monkeypatch: pytest.MonkeyPatch):
    from pxr import Tf

    def broken(*_: object) -> None:
        raise Tf.ErrorException("a value lies beyond the end of the file")

    monkeypatch.setattr("isaaclab_mirror.formats.usd.reader.read_topology", broken)
    assert "robot.usda: error E010: USD cannot read it" in command.refuse(arm())


def test_a_package_without_a_layer_is_refused(command: Command):
    file = command.folder / "robot.usdz"
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("readme.txt", "no layer")
    assert "robot.usdz: error E010" in command.refuse(file)


@pytest.mark.parametrize("name", ["robot.obj", "robot", "robot.txt"])
def test_a_suffix_of_no_robot_format_is_refused(command: Command, name: str):
    file = command.folder / name
    file.write_text(arm(), encoding="utf-8")
    assert f"{name}: error E037" in command.refuse(file)


@pytest.mark.parametrize("name", ["robot.obj", "robot", "robot.usda"])
def test_a_target_of_another_format_is_refused(command: Command, name: str):
    assert f"{name}: error E037" in command.refuse(arm(), target=command.folder / "out" / name)


@pytest.mark.parametrize("text", ["#usda 1.0\n", stage(robot(cube(apis=()), apis=()))], ids=["header", "no physics"])
def test_a_stage_without_physics_is_refused(command: Command, suffix: str, text: str):
    said = command.refuse(text, suffix=suffix)
    assert "robot.usda: error E013: no rigid body" in said
    assert "PhysicsRigidBodyAPI" in said


# ---------------------------------------------------------------------------------- layers that are not there
@pytest.mark.parametrize(
    ("meta", "code", "place", "what"),
    [
        ("prepend references = @./gone.usda@", "E011", "/robot/part", "reference gone.usda is not there"),
        ("prepend payload = @./gone.usda@", "E002", "/robot/part", "payload gone.usda is not there"),
        (
            "prepend references = @./garbage.usda@",
            "E011",
            "/robot/part",
            "reference garbage.usda is not there or no USD",
        ),
        ("prepend references = </nothing>", "E011", "/robot/part", "</nothing>"),
        ("prepend references = @./robot.usda@</robot/part>", "E011", "/robot/part", "refers to itself"),
        ("prepend references = @https://example.com/part.usd@", "E011", "/robot/part", "part.usd is not there"),
        ("prepend references = @omniverse://localhost/part.usd@", "E011", "/robot/part", "part.usd is not there"),
        ("prepend references = @/nowhere/at/all/part.usda@", "E011", "/robot/part", "part.usda is not there"),
    ],
)
def test_a_layer_that_does_not_compose_is_named(
    command: Command, suffix: str, meta: str, code: str, place: str, what: str
):
    command.write("#usda 1.0\ndef {", "garbage.usda")
    text = stage(robot(body("box", cube()), prim("Xform", "part", meta=meta), apis=()))
    found = command.accept(text, suffix=suffix)
    assert f"robot.usda:{place}" in found.said(code)
    assert what in found.said(code)
    assert code in found.err
    assert found.load().nbody == 2


@pytest.mark.parametrize("name", ["gone.usda", "robot.usda"])
def test_a_sublayer_that_is_not_there_or_the_layer_itself_is_named(command: Command, name: str):
    found = command.accept(lone(cube(), more=f"subLayers = [@./{name}@]"))
    assert "robot.usda:/" in found.said("E011")


def test_a_robot_all_of_whose_layers_are_absent_is_refused_with_their_names(command: Command, suffix: str):
    text = stage(robot(prim("Xform", "part", meta="prepend payload = @./parts/gone.usda@")))
    said = command.refuse(text, suffix=suffix)
    assert "robot.usda: error E011" in said
    assert "./parts/gone.usda" in said


def test_a_mesh_whose_payload_is_missing_is_left_out(command: Command, suffix: str):
    mesh = prim("Mesh", "shell", apis=(COLLIDER,), meta="prepend payload = @./shell.usda@")
    said = command.accept(lone(mesh), suffix=suffix).said("E002")
    assert "payload shell.usda is not there" in said
    assert "/robot/box/shell" in said
    assert "the mesh has no points or no faces: left out" in said


# ---------------------------------------------------------------------------------- paths that lead out
@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder beside that of the asset."""
    return tmp_path_factory.mktemp("elsewhere")


@pytest.mark.parametrize("arc", ["references", "payload"])
def test_an_absolute_path_out_of_the_folder_is_refused(command: Command, suffix: str, elsewhere: Path, arc: str):
    secret = elsewhere / "secret.usda"
    secret.write_text(stage(body("part", cube()), default="part"), encoding="utf-8")
    text = stage(robot(body("box", cube()), prim("Xform", "part", meta=f"prepend {arc} = @{secret.as_posix()}@")))
    said = command.refuse(text, suffix=suffix)
    assert "E015" in said
    assert "--set allow_outside=true" in said
    command.accept(text, "--set", "allow_outside=true", suffix=suffix)


def test_a_reference_to_a_file_of_the_machine_is_refused(command: Command, elsewhere: Path):
    (elsewhere / "hostname").write_text("a secret", encoding="utf-8")
    reference = f"prepend references = @{(elsewhere / 'hostname').as_posix()}@"
    said = command.refuse(stage(robot(body("box", cube()), prim("Xform", "part", meta=reference))))
    assert "E015" in said
    assert "a secret" not in said


def test_a_relative_path_out_of_the_folder_is_read_and_said(command: Command, suffix: str):
    command.write(stage(body("part", cube()), default="part"), "library/part.usda")
    text = stage(robot(prim("Xform", "box", meta="prepend references = @../library/part.usda@"), apis=()))
    found = command.accept(command.write(text, "robot/robot.usda"), suffix=suffix)
    assert "part.usda" in found.said("E015")
    assert found.load().nbody == 2


def painted(image: str) -> str:
    kind = 'uniform token info:id = "UsdUVTexture"'
    reader = prim("Shader", "image", kind, f"asset inputs:file = @{image}@", "float3 outputs:rgb")
    surface = prim(
        "Shader",
        "surface",
        'uniform token info:id = "UsdPreviewSurface"',
        "color3f inputs:diffuseColor.connect = </robot/box/paint/image.outputs:rgb>",
        "token outputs:surface",
    )
    paint = prim("Material", "paint", "token outputs:surface.connect = <surface.outputs:surface>", surface, reader)
    return lone(prim("Mesh", "m", TETRAHEDRON, FACES, "rel material:binding = </robot/box/paint>"), paint)


def test_a_texture_that_is_not_there_is_named(command: Command, suffix: str):
    assert "gone.png" in command.accept(painted("./gone.png"), suffix=suffix).said("E002")


def test_a_texture_of_the_machine_is_not_copied(command: Command, suffix: str, elsewhere: Path):
    (elsewhere / "private.png").write_bytes(b"\x89PNG")
    found = command.accept(painted((elsewhere / "private.png").as_posix()), suffix=suffix)
    assert "private.png lies outside" in found.said("E015")
    assert not list(command.output.rglob("*.png"))


def test_a_texture_that_a_relative_path_takes_from_outside_is_said(command: Command, suffix: str):
    from PIL import Image

    Image.new("RGB", (2, 2)).save(command.folder / "wood.png")
    found = command.accept(command.write(painted("../wood.png"), "robot/robot.usda"), suffix=suffix)
    assert "wood.png is read from outside" in found.said("E015")
    assert len(list(command.output.rglob("*.png"))) == 1


def test_a_texture_that_is_no_image_is_not_copied(command: Command, suffix: str):
    (command.folder / "notes.txt").write_text("no image", encoding="utf-8")
    assert "notes.txt is not an image" in command.accept(painted("./notes.txt"), suffix=suffix).said("E015")


# ---------------------------------------------------------------------------------- which robot, which units
def two_robots(apis: tuple[str, ...]) -> str:
    halves = [
        robot(body("a", cube()), body("b", cube()), joint("Revolute", "j", f"/{n}/a", f"/{n}/b"), name=n, apis=apis)
        for n in ("left", "right")
    ]
    return stage(*halves, default=None)


@pytest.mark.parametrize("apis", [(), ("PhysicsArticulationRootAPI",)])
def test_several_robots_are_refused_with_their_names(command: Command, suffix: str, apis: tuple[str, ...]):
    said = command.refuse(two_robots(apis), suffix=suffix)
    assert "robot.usda: error E020: 2 robots" in said
    assert "--prim: /left, /right" in said
    assert command.accept(two_robots(apis), "--prim", "/left", suffix=suffix).load().nbody == 3


def test_without_a_default_prim_the_only_robot_is_taken(command: Command, suffix: str):
    assert command.accept(arm(default=None), suffix=suffix).load().njnt == 1


def test_a_prim_or_variant_that_is_not_there_is_refused(command: Command):
    assert "E020: no prim /nothing" in command.refuse(arm(), "--prim", "/nothing")
    assert "E020: no prim not a path" in command.refuse(arm(), "--prim", "not a path")
    assert "E016: no variant Physics=none" in command.refuse(arm(), "--variant", "Physics=none")


def test_unsaid_units_and_axes_are_said(command: Command):
    said = command.accept(arm(metres=None, up=None)).said("E017")
    assert "metersPerUnit is not authored: lengths are taken as metres" in said
    assert "upAxis is not authored: z is taken as up" in said


def test_a_body_inside_an_instance_is_named(command: Command):
    wheel = prim("Xform", "wheel", meta="instanceable = true\nprepend references = </library>")
    library = prim("Xform", "library", prim("Xform", "rim", cube(), apis=(BODY,)))
    found = command.accept(stage(robot(body("box", cube()), wheel, apis=()), library))
    assert "/robot/wheel/rim" in found.said("E019")


# ---------------------------------------------------------------------------------- names and places
@pytest.mark.parametrize(
    "name", ["my robot.usda", "机器人.usda", "Größe ñ.usda", "it's & <b>.usda", "--.usda", "a%20b.usda"]
)
def test_a_file_may_have_any_name(command: Command, suffix: str, name: str):
    folder = command.folder / "a folder – ü"
    source = command.write(lone(prim("Mesh", "m", TETRAHEDRON, FACES, apis=(COLLIDER,))), f"{folder.name}/{name}")
    target = folder / "out put" / Path(name).with_suffix(suffix).name
    assert command.accept(source, target=target).load().nmesh == 1


def test_an_output_folder_that_is_a_file_is_refused(command: Command, suffix: str):
    (command.folder / "taken").write_text("a file", encoding="utf-8")
    said = command.refuse(arm(), target=command.folder / "taken" / f"robot{suffix}")
    assert "taken: error E036: the output folder cannot be written" in said


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="who may everything is stopped by no permission")
def test_an_output_folder_without_permission_is_refused(command: Command, suffix: str):
    closed = command.folder / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    try:
        assert "E036" in command.refuse(arm(), target=closed / f"robot{suffix}")
    finally:
        closed.chmod(0o700)


def test_a_full_disk_is_refused(command: Command, suffix: str, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    assert "No space left on device" in command.refuse(arm(), suffix=suffix)


def test_when_the_target_is_a_folder_the_old_meshes_stay(command: Command, suffix: str):
    meshes = command.output / ("assets" if suffix == ".xml" else "meshes")
    meshes.mkdir(parents=True)
    (meshes / "m.stl").write_text("old", encoding="utf-8")
    target = command.output / f"robot{suffix}"
    target.mkdir()
    said = command.refuse(lone(prim("Mesh", "m", TETRAHEDRON, FACES, apis=(COLLIDER,))), target=target)
    assert f"robot{suffix}: error E036: cannot be written" in said


def test_when_a_file_stands_where_the_meshes_go_nothing_is_written(command: Command, suffix: str):
    command.output.mkdir()
    (command.output / ("assets" if suffix == ".xml" else "meshes")).write_text("mine", encoding="utf-8")
    target = command.output / f"robot{suffix}"
    target.write_text("old", encoding="utf-8")
    said = command.refuse(lone(prim("Mesh", "m", TETRAHEDRON, FACES, apis=(COLLIDER,))), target=target)
    assert "E036" in said


def test_a_refused_robot_leaves_no_new_folder(command: Command):
    chain = [body(f"b{k}", cube()) for k in range(1200)]
    chain += [joint("Fixed", f"j{k}", f"b{k}", f"b{k + 1}") for k in range(1199)]
    command.refuse(stage(robot(*chain)), target=command.folder / "new/folder/robot.xml")
