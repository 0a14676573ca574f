from __future__ import annotations

from pathlib import Path

import pytest

from isaaclab_mirror.diagnostics import InputError
from tests.usda import Usda, body, cube, lone, prim, robot, stage

PART = stage(body("part", cube()), default="part")


@pytest.mark.parametrize("arc", ["references", "payload"])
def test_a_body_behind_a_reference_or_payload_is_read_and_its_layer_named_as_a_source(usda: Usda, arc: str):
    usda.write(PART, "parts/part.usda")
    text = stage(robot(prim("Xform", "box", meta=f"prepend {arc} = @./parts/part.usda@"), apis=()))
    read = usda.read(text)
    assert read.inertia().mass_kg == pytest.approx(8.0)
    assert {p.name for p in read.sources} == {"robot.usda", "part.usda"}


def test_a_stronger_sublayer_overrides_a_mass(usda: Usda):
    usda.write(lone(cube(), "float physics:mass = 2"), "base.usda")
    over = 'over "robot"\n{\nover "box"\n{\nfloat physics:mass = 5\n}\n}\n'
    read = usda.read(stage(over, more="subLayers = [@./base.usda@]"))
    assert read.inertia().mass_kg == 5.0


GRIPPERS = stage(
    'def Xform "robot" (\nvariants = {\nstring Gripper = "none"\n}\nprepend variantSets = "Gripper"\n)\n{\n'
    + body("box", cube())
    + 'variantSet "Gripper" = {\n"none" {\n}\n"big" {\n'
    + body("gripper", cube("g", 0.4))
    + "}\n}\n}\n"
)


def test_a_variant_is_read_as_selected_or_as_asked_for(usda: Usda):
    assert [link.name for link in usda.read(GRIPPERS).robot.links] == ["box"]
    asked = usda.read(GRIPPERS, variants={"Gripper": "big"}).robot
    assert {link.name for link in asked.links} == {"box", "gripper"}


def test_colliders_inside_an_instanceable_prototype_count(usda: Usda):
    shape = prim("Xform", "shapes", meta="instanceable = true\nprepend references = </library>")
    text = lone(shape) + prim("Xform", "library", cube())
    read = usda.read(text)
    assert read.inertia().mass_kg == pytest.approx(8.0)


def test_two_instances_of_one_mesh_share_one_asset(usda: Usda):
    from tests.usda import FACES, TETRAHEDRON

    shapes = [prim("Xform", n, meta="instanceable = true\nprepend references = </library>") for n in "ab"]
    text = lone(*shapes) + prim("Xform", "library", prim("Mesh", "m", TETRAHEDRON, FACES))
    made = usda.convert(text)
    assert made.model.nmesh == 1
    assert made.model.ngeom == 2
    assert len([f for f in made.result.files if f.suffix in (".stl", ".obj")]) == 1


def test_a_missing_layer_is_a_diagnostic_and_not_noise_on_stderr(usda: Usda, capfd: pytest.CaptureFixture[str]):
    missing = prim("Xform", "camera", meta="prepend references = @./camera.usd@")
    read = usda.read(stage(robot(body("box", cube()), missing, apis=())))
    assert "camera.usd" in read.said("E011")
    assert capfd.readouterr().err == ""


def test_a_stage_without_physics_is_refused(usda: Usda):
    with pytest.raises(InputError, match="E013"):
        usda.read(stage(robot(cube(apis=()), apis=())))


def test_deformables_are_named_as_out_of_scope(usda: Usda):
    soft = prim("Mesh", "cloth", apis=("PhysxDeformableBodyAPI",))
    assert "/robot/cloth" in usda.read(stage(robot(body("box", cube()), soft, apis=()))).said("E018")


def test_particles_are_named_as_out_of_scope(usda: Usda):
    grains = prim("PhysxParticleSystem", "sand")
    assert "PhysxParticleSystem" in usda.read(stage(robot(body("box", cube()), grains, apis=()))).said("E018")


@pytest.mark.shared
def test_gains_that_slip_between_degrees_and_radians_from_layer_to_layer_are_reported(shared: Path, usda: Usda):
    import json

    folder = shared / "corpus-layered" / "panda_mjcf"
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    file = next(f for f in (folder / truth.get("main", ""), *sorted(folder.rglob("*.usd*"))) if f.is_file())
    assert "slip between its layers" in usda.read(file).said("E040")


def test_an_absolute_path_outside_the_asset_is_refused_until_it_is_allowed(
    usda: Usda, tmp_path_factory: pytest.TempPathFactory
):
    outside = tmp_path_factory.mktemp("elsewhere") / "part.usda"
    outside.write_text(PART, encoding="utf-8")
    text = stage(robot(prim("Xform", "box", meta=f"prepend references = @{outside.as_posix()}@"), apis=()))
    with pytest.raises(InputError, match="E015"):
        usda.read(text)
    assert usda.read(text, allow_outside=True).inertia().mass_kg == pytest.approx(8.0)
