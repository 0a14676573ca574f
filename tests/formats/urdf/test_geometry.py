"""Shapes, materials, mesh files, and what is counted as lost."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh
import yourdfpy

from isaaclab_mirror.formats.options import WriteOptions
from isaaclab_mirror.formats.urdf.flat import with_volume
from isaaclab_mirror.formats.urdf.primitives import ellipsoid_mesh, height_field_mesh
from isaaclab_mirror.robot.constraints import CollisionFilter, Loop, LoopType
from isaaclab_mirror.robot.geometry import (
    Approximation,
    Box,
    Capsule,
    Collision,
    Compound,
    Cone,
    Cylinder,
    Ellipsoid,
    Geom,
    HeightField,
    MeshAsset,
    MeshShape,
    Plane,
    Shape,
    Sphere,
)
from isaaclab_mirror.robot.materials import ContactMaterial, Texture, VisualMaterial
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.robot.scene import Keyframe
from isaaclab_mirror.robot.sensors import Sensor, SensorType, Site
from isaaclab_mirror.rotations import Pose
from tests.formats.urdf.robots import Written, free, hinge, joint, robot, write

TETRA = MeshAsset(
    "tetra",
    np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]], dtype=np.float32),
    np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], dtype=np.int32),
)
SQUARE = MeshAsset(
    "square",
    np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float32),
    np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32),
    np.array([[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]], dtype=np.float32),
)


def geom(shape: Shape, link: str | None = "base", name: str = "g", pose: Pose | None = None, **rest) -> Geom:
    return Geom(name=name, link=link, shape=shape, pose=pose or Pose(), **rest)


def shown(folder: Path, *geoms: Geom, fixed: bool = False, options: WriteOptions | None = None, **rest) -> Written:
    base = joint(None, "base") if fixed else free()
    return write(
        robot(base, joint("base", "arm", hinge("a", anchor=(0.5, 0.0, 0.0))), geoms=geoms, **rest), folder, options
    )


def spelled(written: Written, tag: str = "visual", link: str = "base") -> list[tuple[str, dict[str, str]]]:
    return [(e[0].tag, dict(e[0].attrib)) for e in written.link(link).iterfind(f"{tag}/geometry")]


@pytest.mark.parametrize(
    ("shape", "tag", "attributes"),
    [
        (Box((0.1, 0.2, 0.3)), "box", {"size": "0.2 0.4 0.6"}),
        (Sphere(0.25), "sphere", {"radius": "0.25"}),
        (Cylinder(0.1, 0.25), "cylinder", {"radius": "0.1", "length": "0.5"}),
    ],
)
def test_primitives_have_their_full_size(tmp_path: Path, shape: Shape, tag: str, attributes: dict[str, str]):
    assert spelled(shown(tmp_path, geom(shape))) == [(tag, attributes)]


def test_a_geom_is_seen_or_collides_or_both(tmp_path: Path):
    both = geom(Sphere(0.1), name="both", collision=Collision())
    hidden = geom(Sphere(0.2), name="hidden", visible=False, collision=Collision())
    written = shown(tmp_path, both, hidden, geom(Sphere(0.3), name="seen"))
    assert [e.get("name") for e in written.link("base").iterfind("visual")] == ["both", "seen"]
    assert [e.get("name") for e in written.link("base").iterfind("collision")] == ["both_collision", "hidden"]
    assert (written.fidelity.row("visuals").kept, written.fidelity.row("colliders").kept) == (2, 2)
    model = mujoco.MjModel.from_xml_path(str(written.path))
    assert model.geom("hidden").size[0] == 0.2


def test_geometry_on_a_moved_link_stays_where_it_is(tmp_path: Path):
    written = shown(tmp_path, geom(Sphere(0.1), link="arm", pose=Pose((0.5, 0.25, 0.0))))
    assert written.link("arm").find("visual/origin").get("xyz") == "0 0.25 0"


def test_a_capsule_is_a_cylinder_and_two_balls(tmp_path: Path):
    turned = Pose((0.0, 0.0, 1.0), (0.5**0.5, 0.5**0.5, 0.0, 0.0))
    written = shown(tmp_path, geom(Capsule(0.1, 0.2), pose=turned, visible=False, collision=Collision()))
    assert [tag for tag, _ in spelled(written, "collision")] == ["cylinder", "sphere", "sphere"]
    ends = [e.get("xyz").split() for e in written.link("base").iterfind("collision/origin")][1:]
    np.testing.assert_allclose(np.array(ends, dtype=float), [[0, -0.2, 1], [0, 0.2, 1]], atol=1e-15)
    assert written.fidelity.row("colliders").kept == 1
    assert [tag for tag, _ in spelled(shown(tmp_path, geom(Capsule(0.1, 0.0))))] == ["sphere"]


def test_a_compound_is_its_parts(tmp_path: Path):
    inner = Compound(((Pose((0.0, 0.0, 0.25)), Sphere(0.1)), (Pose(), Box((0.1, 0.1, 0.1)))))
    written = shown(
        tmp_path, geom(Compound(((Pose((1.0, 0.0, 0.0)), inner), (Pose(), Sphere(0.2)))), pose=Pose((0.0, 1.0, 0.0)))
    )
    assert [tag for tag, _ in spelled(written)] == ["sphere", "box", "sphere"]
    assert [e.get("xyz") for e in written.link("base").iterfind("visual/origin")] == ["1 1 0.25", "1 1 0", "0 1 0"]


@pytest.mark.parametrize("shape", [Ellipsoid((0.1, 0.2, 0.3)), Cone(0.1, 0.2), HeightField(np.eye(4), (1.0, 2.0))])
def test_shapes_without_a_word_become_meshes_and_are_told(tmp_path: Path, shape: Shape):
    written = shown(tmp_path, geom(shape, collision=Collision()))
    ((tag, attributes),) = spelled(written)
    assert tag == "mesh"
    assert (tmp_path / attributes["filename"]).exists()
    assert "E006" in written.found.codes()
    assert written.fidelity.row("visuals").approximated == 1
    assert mujoco.MjModel.from_xml_path(str(written.path)).ngeom == 2


def test_an_ellipsoid_has_its_volume_and_a_height_field_its_heights():
    mesh = ellipsoid_mesh("e", Ellipsoid((0.1, 0.2, 0.3)))
    solid = trimesh.Trimesh(mesh.vertices_m, mesh.faces, process=False)
    assert solid.is_watertight
    assert solid.volume == pytest.approx(4 / 3 * np.pi * 0.006, rel=0.01)
    heights = np.arange(6.0).reshape(2, 3)
    field = height_field_mesh("h", HeightField(heights, (1.0, 2.0)))
    np.testing.assert_array_equal(field.vertices_m[4], [0.0, 2.0, 4.0])
    assert (trimesh.Trimesh(field.vertices_m, field.faces, process=False).face_normals[:, 2] > 0).all()


def test_a_plane_is_the_top_of_a_box_on_the_world_and_lost_on_a_link(tmp_path: Path):
    ground = geom(Plane(), link=None, collision=Collision())
    written = shown(tmp_path, ground, geom(Plane(), name="lost"), fixed=True)
    assert spelled(written, "collision", "world") == [("box", {"size": "200 200 0.1"})]
    assert written.link("world").find("collision/origin").get("xyz") == "0 0 -0.05"
    assert written.fidelity.row("visuals").lost == 1
    assert [d.code for d in written.found if d.where == "lost"] == ["E006"]


def test_static_geometry_of_a_free_robot_is_told(tmp_path: Path):
    written = shown(tmp_path, geom(Box((1.0, 1.0, 1.0)), link=None))
    assert written.fidelity.row("static geometry").lost == 1
    assert "E040" in written.found.codes()


def test_a_ground_can_be_asked_for(tmp_path: Path):
    written = shown(tmp_path, fixed=True, options=WriteOptions(ground=True))
    assert spelled(written, "collision", "world")[0][0] == "box"


# -------------------------------------------------------------------------------- meshes
def test_one_mesh_used_twice_is_one_file_and_every_reader_finds_it(tmp_path: Path):
    copy = replace(TETRA, name="copy")
    geoms = (geom(MeshShape("tetra"), collision=Collision()), geom(MeshShape("copy"), name="h", link="arm"))
    written = shown(tmp_path, *geoms, meshes=(TETRA, copy))
    assert [f.relative_to(tmp_path).as_posix() for f in written.files] == ["robot.urdf", "meshes/tetra.stl"]
    assert spelled(written) == [("mesh", {"filename": "meshes/tetra.stl"})]
    assert mujoco.MjModel.from_xml_path(str(written.path)).nmesh >= 1
    assert len(yourdfpy.URDF.load(str(written.path)).scene.geometry) == 2


def test_a_package_is_spelled_and_mujoco_still_finds_the_mesh(tmp_path: Path):
    options = WriteOptions(package="my_robot")
    written = shown(tmp_path, geom(MeshShape("tetra")), meshes=(TETRA,), options=options)
    assert spelled(written) == [("mesh", {"filename": "package://my_robot/meshes/tetra.stl"})]
    assert mujoco.MjModel.from_xml_path(str(written.path)).nmesh == 1


def test_mesh_approximations_are_told_from_hulls(tmp_path: Path):
    sdf = Collision(approximation=Approximation.SDF)
    geoms = (geom(MeshShape("tetra"), collision=Collision()), geom(MeshShape("tetra"), name="h", collision=sdf))
    row = shown(tmp_path, *geoms, meshes=(TETRA,)).fidelity.row("colliders")
    assert (row.kept, row.approximated) == (1, 1)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 100.0])
@pytest.mark.parametrize("tilt", [np.eye(3), trimesh.transformations.rotation_matrix(0.7, [1, 2, 3])[:3, :3]])
def test_a_flat_mesh_gets_just_enough_volume_for_mujoco(tmp_path: Path, scale: float, tilt: np.ndarray):
    vertices = ((SQUARE.vertices_m * scale) @ tilt.T).astype(np.float32)
    flat = replace(SQUARE, vertices_m=vertices, texcoords=None)
    written = shown(tmp_path, geom(MeshShape("square"), collision=Collision()), meshes=(flat,))
    model = mujoco.MjModel.from_xml_path(str(written.path))
    assert model.ngeom == 2
    read = trimesh.load(tmp_path / "meshes/square.stl", process=False)
    assert np.abs(read.bounds - [vertices.min(axis=0), vertices.max(axis=0)]).max() <= max(1e-5, 1e-5 * scale)
    assert written.fidelity.row("meshes").approximated == 1


def test_two_sheets_keep_the_texture_and_face_outwards():
    sheets = with_volume(SQUARE)
    corners = sheets.vertices_m[sheets.faces]
    for place, corner in zip(sheets.texcoords, corners.reshape(-1, 3), strict=True):
        np.testing.assert_allclose(place, corner[:2], atol=1e-6)  # the square's coordinates are its x and y
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (normals[:, 2] * corners[:, :, 2].mean(axis=1) > 0).all()


def test_a_solid_mesh_is_left_alone_and_one_without_area_is_left_out(tmp_path: Path):
    assert with_volume(TETRA) is TETRA
    line = replace(TETRA, name="line", faces=np.array([[0, 1, 1]], dtype=np.int32))
    empty = replace(TETRA, name="empty", faces=np.zeros((0, 3), dtype=np.int32))
    geoms = (geom(MeshShape("line")), geom(MeshShape("empty"), name="h"))
    written = shown(tmp_path, *geoms, meshes=(line, empty))
    assert spelled(written) == []
    assert written.fidelity.row("visuals").lost == 2
    assert [d.code for d in written.found].count("E002") == 2


# -------------------------------------------------------------------------------- materials
def test_materials_are_written_once_and_used_by_name(tmp_path: Path):
    red = VisualMaterial(name="red", rgba=(1.0, 0.0, 0.0, 1.0))
    blue = (0.0, 0.0, 1.0, 0.5)
    geoms = [geom(Sphere(0.1), name=f"g{k}", material="red") for k in range(2)]
    geoms += [geom(Sphere(0.1), name=f"h{k}", rgba=blue) for k in range(2)]
    written = shown(tmp_path, *geoms, materials=(red,))
    assert [m.get("name") for m in written.root.iterfind("material")] == ["red", "color_1"]
    used = [e.get("name") for e in written.link("base").iterfind("visual/material")]
    assert used == ["red", "red", "color_1", "color_1"]
    model = mujoco.MjModel.from_xml_path(str(written.path))
    np.testing.assert_allclose(model.geom_rgba, [[1, 0, 0, 1]] * 2 + [[0, 0, 1, 0.5]] * 2)


def test_a_texture_is_copied_and_its_mesh_keeps_coordinates(tmp_path: Path):
    image = tmp_path / "Bild ä.PNG"
    image.write_bytes(b"\x89PNG")  # copied, not read
    wood = VisualMaterial(name="wood", texture="wood")
    bump = replace(TETRA, texcoords=np.zeros((12, 2), dtype=np.float32), name="plain")
    textured = replace(bump, name="textured", vertices_m=TETRA.vertices_m * 2)
    geoms = (geom(MeshShape("textured"), material="wood"), geom(MeshShape("plain"), name="h"))
    rest = {"materials": (wood,), "textures": (Texture("wood", image),), "meshes": (bump, textured)}
    written = shown(tmp_path / "out", *geoms, **rest)
    assert written.root.find("material/texture").get("filename") == "textures/Bild_a.png"
    names = [f.relative_to(tmp_path / "out").as_posix() for f in written.files]
    assert names == ["robot.urdf", "meshes/textured.obj", "meshes/plain.stl", "textures/Bild_a.png"]
    assert written.fidelity.row("textures").kept == 1


def test_a_missing_texture_leaves_the_colour(tmp_path: Path):
    wood = VisualMaterial(name="wood", texture="wood")
    gone = (Texture("wood", tmp_path / "gone.png"),)
    written = shown(tmp_path, geom(Sphere(0.1), material="wood"), materials=(wood,), textures=gone)
    assert written.root.find("material/texture") is None
    assert "E002" in written.found.codes()
    assert not (tmp_path / "textures").exists()


# -------------------------------------------------------------------------------- losses
def full_robot() -> Robot:
    base = free(origin=Pose((0.0, 0.0, 0.4)))
    return robot(
        base,
        joint("base", "arm", hinge("a", initial_position=0.5)),
        loops=(Loop(name="rod", type=LoopType.CONNECT, link0="base", link1="arm", frame0=Pose(), frame1=Pose()),),
        sites=(Site(name="tip", link="arm", pose=Pose()),),
        sensors=(
            Sensor(name="eye", type=SensorType.CAMERA, link="arm"),
            Sensor(name="imu", type=SensorType.IMU, link="base"),
        ),
        keyframes=(Keyframe(name="home"),),
        contact_materials=(ContactMaterial(name="rubber"),),
        collision_filter=CollisionFilter(self_collision=False, link_pairs=frozenset({frozenset({"base", "arm"})})),
    )


def test_what_urdf_cannot_say_is_counted_and_told(tmp_path: Path):
    written = write(full_robot(), tmp_path)
    lost = {row.concept: row.lost for row in written.fidelity if row.lost}
    assert lost == {
        "loop constraints": 1,
        "sites": 1,
        "cameras": 1,
        "sensors": 1,
        "keyframes": 1,
        "collision filters": 2,
        "contact materials": 1,
        "initial positions": 1,
        "initial base pose": 1,
    }
    assert [d.where for d in written.found if d.code == "E005"] == ["rod"]
    assert sum(d.code == "E040" for d in written.found) == len(lost)
