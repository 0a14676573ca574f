"""Mesh files: read back by others to the bit, one per content, under names that any system takes."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.meshes import FileNames, MeshFolder, mesh_suffix, safe_stem, write_mesh
from isaaclab_mirror.robot.geometry import MeshAsset


def tetrahedron(name: str = "tetra", scale: float = 0.1, textured: bool = False) -> MeshAsset:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32) * np.float32(scale)
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], dtype=np.int32)
    texcoords = np.linspace(0, 1, 24, dtype=np.float32).reshape(12, 2) if textured else None
    return MeshAsset(name, vertices, faces, texcoords)


def random_mesh(seed: int, count: int = 50) -> MeshAsset:
    rng = np.random.default_rng(seed)
    vertices = (rng.normal(size=(count, 3)) * 10.0 ** rng.integers(-6, 3)).astype(np.float32)
    return MeshAsset(f"random{seed}", vertices, rng.integers(0, count, size=(2 * count, 3)).astype(np.int32))


@pytest.mark.parametrize("mesh_format", ["stl", "obj"])
@pytest.mark.parametrize("seed", range(5))
def test_every_triangle_comes_back_to_the_bit(tmp_path: Path, mesh_format: str, seed: int):
    mesh = random_mesh(seed)
    read = trimesh.load(write_mesh(mesh, tmp_path, mesh_format=mesh_format), process=False)
    corners = np.asarray(read.vertices, dtype=np.float32)[read.faces]
    np.testing.assert_array_equal(corners, mesh.vertices_m[mesh.faces])


def test_normals_of_an_stl_point_outwards(tmp_path: Path):
    read = trimesh.load(write_mesh(tetrahedron(scale=1e-4), tmp_path), process=True)
    assert read.is_watertight
    assert read.volume == pytest.approx(1e-12 / 6, rel=1e-5)
    data = (tmp_path / "tetra.stl").read_bytes()
    assert not data.startswith(b"solid")
    slanted = np.frombuffer(data, "<f4", 3, offset=84 + 3 * 50)
    np.testing.assert_allclose(slanted, [3**-0.5] * 3, rtol=1e-6)


def test_texture_coordinates_make_an_obj_that_keeps_them(tmp_path: Path):
    mesh = tetrahedron(textured=True)
    path = write_mesh(mesh, tmp_path)
    assert path.name == "tetra.obj"
    lines = path.read_text().splitlines()
    places = [tuple(map(float, line.split()[1:])) for line in lines if line.startswith("vt ")]
    corners = [tuple(map(int, c.split("/"))) for line in lines if line.startswith("f ") for c in line.split()[1:]]
    np.testing.assert_array_equal(np.array([places[t - 1] for _, t in corners], dtype=np.float32), mesh.texcoords)
    np.testing.assert_array_equal([v - 1 for v, _ in corners], mesh.faces.reshape(-1))


def test_equal_texture_coordinates_are_written_once(tmp_path: Path):
    mesh = replace(tetrahedron(), texcoords=np.tile(np.float32([0.25, 0.75]), (12, 1)))
    assert write_mesh(mesh, tmp_path).read_text().count("vt ") == 1


@pytest.mark.parametrize("mesh_format", ["stl", "obj"])
def test_mujoco_reads_both_formats(tmp_path: Path, mesh_format: str):
    import mujoco

    path = write_mesh(tetrahedron(textured=mesh_format == "obj"), tmp_path, mesh_format=mesh_format)
    spec = mujoco.MjSpec()
    spec.add_mesh(name="m", file=str(path))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="m")
    assert spec.compile().mesh_facenum[0] == 4


def test_a_mesh_beyond_mujocos_bound_for_stl_becomes_an_obj():
    many = replace(tetrahedron(), faces=np.zeros((200_001, 3), dtype=np.int32))
    assert mesh_suffix(many) == ".obj"
    assert mesh_suffix(replace(many, faces=many.faces[1:])) == ".stl"


def test_one_content_has_one_file(tmp_path: Path):
    folder = MeshFolder(tmp_path / "meshes")
    first = folder.add(tetrahedron("left"))
    assert folder.add(tetrahedron("right")) == first
    assert folder.add(tetrahedron("left", scale=0.2)) != first
    assert folder.add(tetrahedron("left", textured=True)).suffix == ".obj"
    assert folder.files == sorted((tmp_path / "meshes").iterdir(), key=folder.files.index)
    assert len(folder.files) == 3


def test_names_differ_also_without_case(tmp_path: Path):
    folder = MeshFolder(tmp_path)
    names = [folder.add(tetrahedron(n, scale=1 + k)).name for k, n in enumerate(("Arm", "arm", "ARM", "arm_1"))]
    assert names == ["Arm.stl", "arm_1.stl", "ARM_2.stl", "arm_1_1.stl"]


@given(st.lists(st.text(max_size=200), max_size=30))
def test_any_names_become_safe_and_unique(names: list[str]):
    given_names = FileNames()
    files = [given_names.give(name, ".stl") for name in names]
    assert len({file.lower() for file in files}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.stl", file) and len(file) < 128 for file in files)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("../../etc/passwd", "etc_passwd"),
        ("Gelenk Größe", "Gelenk_Groe"),
        ("机器人", "mesh"),
        ("con.x", "con.x_"),
        ("", "mesh"),
    ],
)
def test_hostile_and_foreign_names_are_tamed(name: str, stem: str):
    assert safe_stem(name) == stem


@pytest.mark.parametrize(
    "broken",
    [
        replace(tetrahedron(), faces=np.zeros((0, 3), dtype=np.int32)),
        replace(tetrahedron(), faces=np.array([[0, 1, 4]], dtype=np.int32)),
        replace(tetrahedron(), vertices_m=np.full((4, 3), np.nan, dtype=np.float32)),
        replace(tetrahedron(), texcoords=np.zeros((3, 2), dtype=np.float32)),
    ],
)
def test_a_mesh_that_no_reader_takes_is_refused_and_nothing_written(tmp_path: Path, broken: MeshAsset):
    with pytest.raises(InputError, match="E002"):
        write_mesh(broken, tmp_path / "meshes")
    assert not list(tmp_path.rglob("*.*"))


def test_an_unknown_format_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"ply.*not known"):
        write_mesh(tetrahedron(), tmp_path, mesh_format="ply")
