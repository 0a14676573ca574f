from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats

from isaaclab_mirror.robot.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Plane, Shape, Sphere
from isaaclab_mirror.robot.inertia import (
    Inertia,
    combined,
    diagonalize,
    is_closed,
    mesh_properties,
    rotated_diagonal,
    shape_properties,
)
from isaaclab_mirror.rotations import Pose, quat_from_axis_angle


@pytest.mark.parametrize(
    ("shape", "made"),
    [
        (Box((0.1, 0.2, 0.3)), lambda t: t.box((0.2, 0.4, 0.6))),
        (Sphere(0.3), lambda t: t.icosphere(5, 0.3)),
        (Cylinder(0.2, 0.5), lambda t: t.cylinder(0.2, 1.0, 512)),
        (Capsule(0.2, 0.5), lambda t: t.capsule(1.0, 0.2, (256, 256))),
    ],
    ids=["box", "sphere", "cylinder", "capsule"],
)
def test_closed_forms_equal_fine_meshes(shape: Shape, made):
    trimesh = pytest.importorskip("trimesh")
    mesh = made(trimesh.creation)
    mesh.apply_translation(-mesh.bounds.mean(axis=0))
    ours = shape_properties(shape, 1000.0)
    assert ours.mass_kg == pytest.approx(1000 * mesh.volume, rel=2e-3)
    assert np.array(ours.tensor_kgm2) == pytest.approx(1000 * mesh.moment_inertia, rel=4e-3, abs=1e-2)


@pytest.mark.parametrize("kind", ["box", "icosphere", "torus"])
def test_a_mesh_weighs_what_trimesh_says(kind: str):
    trimesh = pytest.importorskip("trimesh")
    mesh = {
        "box": lambda: trimesh.creation.box((1, 2, 3)),
        "icosphere": lambda: trimesh.creation.icosphere(2, 0.5),
        "torus": lambda: trimesh.creation.torus(1.0, 0.25),
    }[kind]()
    mesh.apply_translation((5, -3, 2))
    ours = mesh_properties(mesh.vertices, mesh.faces, 1.0)
    assert ours.mass_kg == pytest.approx(mesh.volume, rel=1e-9)
    assert ours.com_m == pytest.approx(tuple(mesh.center_mass), rel=1e-9)
    assert np.array(ours.tensor_kgm2) == pytest.approx(mesh.moment_inertia, rel=1e-7, abs=1e-9)


def test_an_inside_out_mesh_weighs_the_same():
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1, 2, 3))
    assert mesh_properties(box.vertices, box.faces[:, ::-1], 1.0).mass_kg == pytest.approx(6.0)


def test_a_mesh_is_closed_until_a_face_is_missing():
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1, 2, 3))
    assert is_closed(box.vertices, box.faces)
    assert not is_closed(box.vertices, box.faces[1:])
    split = box.vertices[box.faces.reshape(-1)]  # every triangle with corners of its own
    assert is_closed(split, np.arange(len(split)).reshape(-1, 3))


def test_a_flat_mesh_and_a_plane_weigh_nothing():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    assert mesh_properties(square, np.array([[0, 1, 2], [0, 2, 3]]), 1.0) is None
    assert shape_properties(Plane(), 1.0) is None


def test_an_ellipsoid_of_equal_radii_is_a_sphere_and_a_cones_weight_a_third_of_its_cylinders():
    assert shape_properties(Ellipsoid((0.2,) * 3), 1.0) == shape_properties(Sphere(0.2), 1.0)
    cone, tube = shape_properties(Cone(0.1, 0.2), 1.0), shape_properties(Cylinder(0.1, 0.2), 1.0)
    assert cone.mass_kg == pytest.approx(tube.mass_kg / 3)


def test_two_halves_make_the_whole():
    half = shape_properties(Box((0.5, 1, 1)), 1.0)
    whole = combined([half.moved(Pose((-0.5, 0, 0))), half.moved(Pose((0.5, 0, 0)))])
    expected = shape_properties(Box((1, 1, 1)), 1.0)
    assert whole.mass_kg == expected.mass_kg
    assert np.array(whole.tensor_kgm2) == pytest.approx(np.array(expected.tensor_kgm2))


@settings(max_examples=50, deadline=None)
@given(a=floats(0.1, 10), b=floats(0.1, 10), c=floats(0.1, 10), angle=floats(-3, 3))
def test_diagonalizing_undoes_a_rotation(a: float, b: float, c: float, angle: float):
    tensor = rotated_diagonal((a, b, c), quat_from_axis_angle((0.6, 0.0, 0.8), angle))
    moments, axes = diagonalize(tensor)
    assert sorted(moments) == pytest.approx(sorted((a, b, c)), rel=1e-6)
    assert np.array(rotated_diagonal(moments, axes)) == pytest.approx(np.array(tensor), rel=1e-6, abs=1e-6)


def test_moments_that_break_the_triangle_inequality_are_of_no_body():
    assert Inertia(mass_kg=1, diagonal_kgm2=(1, 1, 2)).is_physical
    assert not Inertia(mass_kg=1, diagonal_kgm2=(1, 1, 2.1)).is_physical
    assert not Inertia(mass_kg=1, diagonal_kgm2=(0, 1, 1)).is_physical
    assert math.isclose(Inertia(mass_kg=1, diagonal_kgm2=(1, 2, 3)).tensor()[2][2], 3)
