"""Colliders as PhysX cooks them, read back from PhysX, against volumes that PhysX itself weighs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.conversion import ConversionOptions, convert, inspect_robot
from isaaclab_mirror.formats.decomposition import decompose
from isaaclab_mirror.formats.hulls import hulls_of_edges
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.formats.usd import physx_hulls_client
from isaaclab_mirror.robot.geometry import MeshAsset, MeshShape
from isaaclab_mirror.robot.model import Robot
from tests.usda import BODY, COLLIDER, MASS, ROOT, place, prim, robot, stage

needs_physx = pytest.mark.skipif(find_spec("ovphysx") is None, reason="the extra physx is not installed")
PRISM = """
    point3f[] points = [(0,0,0),(2,0,0),(2,1,0),(1,1,0),(1,2,0),(0,2,0),(0,0,1),(2,0,1),(2,1,1),(1,1,1),(1,2,1),(0,2,1)]
    int[] faceVertexCounts = [6,6,4,4,4,4,4,4]
    int[] faceVertexIndices = [5,4,3,2,1,0, 6,7,8,9,10,11, 0,1,7,6, 1,2,8,7, 2,3,9,8, 3,4,10,9, 4,5,11,10, 5,0,6,11]
"""


def prisms(
    scale: tuple[float, float, float] = (1, 1, 1),
    kind: str = "convexHull",
    mass: str = "float physics:mass = 1",
    **options: object,
) -> str:
    """A lone body away from the origin, with an L-shaped prism of 3 m³ (hull 3.5 m³) as its collider."""
    collider = prim(
        "Mesh",
        "shape",
        PRISM,
        f'uniform token physics:approximation = "{kind}"',
        place((0.5, 0, 0), scale),
        apis=(COLLIDER, "PhysicsMeshCollisionAPI"),
    )
    link = prim("Xform", "box", place((3, 4, 5)), mass, collider, apis=(BODY, MASS, ROOT))
    return stage(robot(link, apis=()), **options)


def volumes(model: Robot) -> list[float]:
    """Of the hulls of all colliders [m³]."""
    from scipy.spatial import ConvexHull

    meshes = [model.mesh(g.shape.mesh) for g in model.geoms if g.collision and isinstance(g.shape, MeshShape)]
    return [float(ConvexHull(np.asarray(mesh.vertices_m, dtype=float)).volume) for mesh in meshes]


def read_cooked(text: str, folder: Path) -> tuple[Robot, str]:
    """The robot with cooked hulls, and what was said of them."""
    file = folder / "prism.usda"
    file.write_text(text)
    model, found, _ = inspect_robot(file, ReadOptions(cooked=True))
    return model, "\n".join(str(d) for d in found if d.code == "E066")


@pytest.mark.physx
@needs_physx
def test_the_hull_of_a_prism_is_physx_own_in_the_frame_of_its_link(tmp_path: Path):
    model, said = read_cooked(prisms(), tmp_path)
    assert "1 mesh colliders are 1 hulls, 1 from PhysX" in said
    assert volumes(model) == pytest.approx([3.5], rel=1e-5)  # PhysX weighs this hull 3500 kg
    (collider,) = [geom for geom in model.geoms if geom.collision]
    corners = np.asarray(model.mesh(collider.shape.mesh).vertices_m)
    assert len(corners) == 10
    assert corners.min(axis=0) == pytest.approx([0.5, 0, 0], abs=1e-5)
    assert corners.max(axis=0) == pytest.approx([2.5, 2, 1], abs=1e-5)
    (seen,) = [geom for geom in model.geoms if geom.visible]
    assert seen.collision is None
    assert len(model.mesh(seen.shape.mesh).vertices_m) == 12  # what is seen stays as it was drawn


@pytest.mark.physx
@needs_physx
def test_a_decomposition_becomes_its_pieces(tmp_path: Path):
    model, said = read_cooked(prisms(kind="convexDecomposition"), tmp_path)
    assert "1 mesh colliders are 3 hulls, 1 from PhysX" in said
    assert len(volumes(model)) == 3
    weighed, _ = read_cooked(prisms(kind="convexDecomposition", mass=""), tmp_path)
    inertia = weighed.link("box").inertia
    assert inertia is not None
    assert inertia.origin == "physx"  # PhysX weighs its pieces, which stand out by its voxels, at 1000 kg/m³
    assert inertia.mass_kg > 3200
    assert sum(volumes(model)) == pytest.approx(inertia.mass_kg / 1000, rel=1e-4)


@pytest.mark.physx
@needs_physx
def test_scale_units_and_up_axis_come_out_in_metres(tmp_path: Path):
    model, _ = read_cooked(prisms(scale=(1, 2, 3), metres=0.01, up="Y"), tmp_path)
    assert volumes(model) == pytest.approx([3.5 * 6 * 1e-6], rel=1e-4)
    (collider,) = [geom for geom in model.geoms if geom.collision]
    corners = np.asarray(model.mesh(collider.shape.mesh).vertices_m)
    assert corners.max(axis=0) == pytest.approx([0.025, 0.04, 0.03], abs=1e-6)


@pytest.mark.physx
@needs_physx
def test_a_converted_robot_collides_with_the_pieces(tmp_path: Path):
    import mujoco

    file = tmp_path / "prism.usda"
    file.write_text(prisms(kind="convexDecomposition"))
    result = convert(file, tmp_path / "prism.xml", ConversionOptions(read=ReadOptions(cooked=True)))
    model = mujoco.MjModel.from_xml_path(str(result.target))
    colliding = [k for k in range(model.ngeom) if model.geom_contype[k] or model.geom_conaffinity[k]]
    assert len(colliding) == 3


def test_without_physx_the_mesh_collides_as_before_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(physx_hulls_client, "physx_available", lambda: False)
    model, said = read_cooked(prisms(), tmp_path)
    assert "warning E066: PhysX's hulls are not known (PhysX is not installed" in said
    assert volumes(model) == pytest.approx([3.5], rel=1e-5)
    (collider,) = [geom for geom in model.geoms if geom.collision]
    corners = np.asarray(model.mesh(collider.shape.mesh).vertices_m)
    assert corners.min(axis=0) == pytest.approx([0.5, 0, 0], abs=1e-6)


def test_a_child_that_dies_is_told_with_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(physx_hulls_client, "physx_available", lambda: True)
    monkeypatch.setattr(physx_hulls_client, "CHILD", "isaaclab_mirror.no_such_module")
    _, said = read_cooked(prisms(), tmp_path)
    assert "PhysX's process ended with code 1" in said


def test_edges_are_told_apart_into_closed_surfaces():
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], np.float32)
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    edges = np.array([(corners[f[k]], corners[f[(k + 1) % 3]]) for f in faces for k in range(3)])
    both = np.concatenate([edges, edges + np.float32(0.5), edges])  # the second overlaps, the third is the first again
    hulls = hulls_of_edges(both)
    assert [len(hull) for hull in hulls] == [4, 4, 4]
    assert np.array_equal(hulls[1], np.unique(corners + 0.5, axis=0))
    assert hulls_of_edges(both[:-1]) == []  # a surface that does not close is not trusted


@pytest.mark.skipif(find_spec("coacd") is None, reason="the extra decompose is not installed")
def test_coacd_stands_in_for_physx_decomposition(tmp_path: Path):
    file = tmp_path / "prism.usda"
    file.write_text(prisms())
    model, _, _ = inspect_robot(file)
    (mesh,) = model.meshes
    assert isinstance(mesh, MeshAsset)
    assert len(decompose(mesh)) >= 2
