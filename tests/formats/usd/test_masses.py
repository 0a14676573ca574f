"""The table of mass rules of how PhysX reads USD (§4), row by row: cube of side 0.2, density 1000 → 8 kg, I 0.0533."""

from __future__ import annotations

import math

import pytest

from tests.usda import COLLIDER, FACES, MASS, Usda, body, cube, joint, lone, prim, robot, stage

MOMENT = 8 * 0.2**2 / 6
"""0.0533"""


def test_nothing_authored_is_computed_from_the_collider(usda: Usda):
    inertia = usda.read(lone(cube())).inertia()
    assert inertia.mass_kg == pytest.approx(8.0)
    assert inertia.com_m == (0, 0, 0)
    assert inertia.diagonal_kgm2 == pytest.approx((MOMENT,) * 3)


def test_the_density_of_the_physics_material_is_used(usda: Usda):
    bound = cube("shape", 0.2, "rel material:binding:physics = </robot/box/lead>")
    lead = prim("Material", "lead", "float physics:density = 2000", apis=("PhysicsMaterialAPI",))
    assert usda.read(lone(bound, lead)).inertia().mass_kg == pytest.approx(16.0)


def test_mass_alone_scales_what_the_colliders_give(usda: Usda):
    inertia = usda.read(lone(cube(), "float physics:mass = 2")).inertia()
    assert inertia.mass_kg == 2.0
    assert inertia.diagonal_kgm2 == pytest.approx((0.0133333,) * 3, rel=1e-5)


def test_density_alone_is_used(usda: Usda):
    assert usda.read(lone(cube(), "float physics:density = 500")).inertia().mass_kg == pytest.approx(4.0)


def test_a_colliders_own_density_wins_over_the_bodys(usda: Usda):
    shape = cube("shape", 0.2, "float physics:density = 100", apis=(COLLIDER, MASS))
    assert usda.read(lone(shape, "float physics:density = 500")).inertia().mass_kg == pytest.approx(0.8)


def test_a_colliders_own_mass_wins_over_the_bodys_density(usda: Usda):
    shape = cube("shape", 0.2, "float physics:mass = 3", apis=(COLLIDER, MASS))
    assert usda.read(lone(shape, "float physics:density = 500")).inertia().mass_kg == pytest.approx(3.0)


def test_mass_wins_over_density(usda: Usda):
    assert usda.read(lone(cube(), "float physics:mass = 2", "float physics:density = 500")).inertia().mass_kg == 2.0


@pytest.mark.parametrize("mass", ["0", "-3"])
def test_a_mass_of_zero_or_less_is_as_not_authored(usda: Usda, mass: str):
    assert usda.read(lone(cube(), f"float physics:mass = {mass}")).inertia().mass_kg == pytest.approx(8.0)
    read = usda.read(lone(f"float physics:mass = {mass}"))
    assert read.inertia().mass_kg == 1.0
    assert "E004" in read.codes


def test_inertia_alone_is_taken_with_the_mass_of_the_colliders(usda: Usda):
    line = "float3 physics:diagonalInertia = (0.1, 0.2, 0.25)"
    assert usda.read(lone(cube(), line)).inertia().mass_kg == pytest.approx(8.0)
    assert usda.read(lone(cube(), line)).inertia().diagonal_kgm2 == pytest.approx((0.1, 0.2, 0.25))
    assert usda.read(lone(line)).inertia().mass_kg == 1.0


def test_a_centre_of_mass_alone_moves_the_inertia_by_the_parallel_axis_term(usda: Usda):
    # measured .01333 → .03333 for 2 kg moved by 0.1
    inertia = usda.read(lone(cube(), "float physics:mass = 2", "point3f physics:centerOfMass = (0.1, 0, 0)")).inertia()
    assert inertia.com_m == pytest.approx((0.1, 0, 0))
    assert sorted(inertia.diagonal_kgm2) == pytest.approx([0.0133333, 0.0333333, 0.0333333], rel=1e-5)


def test_principal_axes_turn_an_authored_inertia(usda: Usda):
    half = math.sqrt(0.5)
    lines = (
        "float physics:mass = 1",
        "float3 physics:diagonalInertia = (0.1, 0.2, 0.25)",
        f"quatf physics:principalAxes = ({half}, 0, 0, {half})",
    )
    tensor = usda.read(lone(cube(), *lines)).inertia().tensor()
    assert [tensor[k][k] for k in range(3)] == pytest.approx([0.2, 0.1, 0.25])


def test_principal_axes_without_an_inertia_turn_the_computed_moments(usda: Usda):
    line = "quatf physics:principalAxes = (0.9238795, 0, 0, 0.3826834)"
    box = prim("Cube", "shape", "double size = 1", "double3 xformOp:scale = (0.1, 0.2, 0.3)",
               'uniform token[] xformOpOrder = ["xformOp:scale"]', apis=(COLLIDER,))  # fmt: skip
    tensor = usda.read(lone(box, line)).inertia().tensor()
    # measured: the moments 0.065, 0.05, 0.025 of the box about the frame that is authored, 45° about z
    assert [*tensor[0], *tensor[1], *tensor[2]] == pytest.approx(
        [0.0575, 0.0075, 0, 0.0075, 0.0575, 0, 0, 0, 0.025], abs=1e-7
    )


def test_without_a_collider_the_inertia_is_that_of_a_small_sphere(usda: Usda):
    inertia = usda.read(lone("float physics:mass = 2")).inertia()
    assert inertia.mass_kg == 2.0
    assert inertia.diagonal_kgm2 == pytest.approx((0.008,) * 3)


def test_without_a_collider_a_density_is_ignored(usda: Usda):
    assert usda.read(lone("float physics:density = 500")).inertia().mass_kg == 1.0


def test_masses_of_two_colliders_add_up(usda: Usda):
    shapes = [
        cube(n, 0.2, f"float physics:mass = {m}", at=(x, 0, 0), apis=(COLLIDER, MASS))
        for n, m, x in (("a", 1, 0), ("b", 3, 1))
    ]
    inertia = usda.read(lone(*shapes)).inertia()
    assert inertia.mass_kg == pytest.approx(4.0)
    assert inertia.com_m == pytest.approx((0.75, 0, 0))


def test_a_bodys_mass_is_distributed_over_two_colliders_by_their_densities(usda: Usda):
    shapes = [
        cube(n, 0.2, f"float physics:density = {d}", at=(x, 0, 0), apis=(COLLIDER, MASS))
        for n, d, x in (("a", 100, 0), ("b", 300, 1))
    ]
    inertia = usda.read(lone(*shapes, "float physics:mass = 8")).inertia()
    assert inertia.mass_kg == 8.0
    assert inertia.com_m == pytest.approx((0.75, 0, 0))


def test_a_scaled_body_scales_its_colliders_and_not_its_authored_inertia(usda: Usda):
    assert usda.read(lone(cube(), scale=(2, 2, 2))).inertia().mass_kg == pytest.approx(64.0)
    lines = ("float physics:mass = 3", "float3 physics:diagonalInertia = (0.1, 0.2, 0.25)")
    inertia = usda.read(lone(cube(), *lines, scale=(2, 2, 2))).inertia()
    assert (inertia.mass_kg, inertia.diagonal_kgm2) == (3.0, pytest.approx((0.1, 0.2, 0.25)))


def test_a_mirrored_body_mirrors_its_centre_of_mass_and_is_turned_about_x(usda: Usda):
    read = usda.read(lone(cube(), "point3f physics:centerOfMass = (0.1, 0, 0)", scale=(-1, 1, 1)))
    assert read.inertia().com_m == pytest.approx((-0.1, 0, 0))
    assert [abs(c) for c in read.robot.joints[0].origin.quat_wxyz] == pytest.approx([0, 1, 0, 0])


@pytest.mark.parametrize(
    ("shape", "kilograms"),
    [
        (prim("Cylinder", "s", "double radius = 0.1", "double height = 0.4", apis=(COLLIDER,)), 12.566),
        (prim("Capsule", "s", "double radius = 0.1", "double height = 0.4", apis=(COLLIDER,)), 16.755),
        (prim("Cone", "s", "double radius = 0.1", "double height = 0.4", apis=(COLLIDER,)), 4.1888),
        (prim("Sphere", "s", "double radius = 0.2", apis=(COLLIDER,)), 33.510),
    ],
)
def test_primitives_weigh_what_their_formulas_say(usda: Usda, shape: str, kilograms: float):
    # PhysX cooks a cone as a mesh: 4.1878, 0.02 % less
    assert usda.read(lone(shape)).inertia().mass_kg == pytest.approx(kilograms, rel=1e-4)


def test_a_cones_centre_of_mass_lies_a_quarter_of_its_height_above_the_base(usda: Usda):
    cone = prim("Cone", "s", "double radius = 0.1", "double height = 0.4", apis=(COLLIDER,))
    assert usda.read(lone(cone)).inertia().com_m == pytest.approx((0, 0, -0.1))


def test_a_scaled_cylinder_takes_the_larger_radial_scale(usda: Usda):
    tube = prim("Cylinder", "s", "double radius = 0.1", "double height = 0.4", apis=(COLLIDER,))
    assert usda.read(lone(tube, scale=(1, 2, 3))).inertia().mass_kg == pytest.approx(150.796, rel=1e-5)


L_PRISM = (
    "point3f[] points = [(0,0,0),(2,0,0),(2,1,0),(1,1,0),(1,2,0),(0,2,0),(0,0,1),(2,0,1),(2,1,1),(1,1,1),(1,2,1),(0,2,1)]\n"
    "int[] faceVertexCounts = [4,4,4,4,4,4,4,4,4,4]\n"
    "int[] faceVertexIndices = [0,3,2,1, 0,5,4,3, 6,7,8,9, 6,9,10,11, 0,1,7,6, 1,2,8,7, 2,3,9,8, 3,4,10,9, 4,5,11,10, 5,0,6,11]"
)


@pytest.mark.parametrize(
    ("approximation", "kilograms"),
    [
        (None, 3500),
        ("none", 3500),
        ("meshSimplification", 3500),
        ("convexHull", 3500),
        ("sdf", 3000),
        ("boundingCube", 4000),
    ],
)
def test_an_l_shaped_mesh_weighs_as_its_approximation_does(usda: Usda, approximation: str | None, kilograms: float):
    token = f'uniform token physics:approximation = "{approximation}"' if approximation else ""
    mesh = prim("Mesh", "s", L_PRISM, token, apis=(COLLIDER, "PhysicsMeshCollisionAPI"))
    assert usda.read(lone(mesh)).inertia().mass_kg == pytest.approx(kilograms, rel=1e-5)


def test_a_convex_decomposition_weighs_as_the_mesh_does(usda: Usda):
    # PhysX's voxels overshoot: 3216 kg, or 2994 with shrinkWrap, for a true 3000; the hull would be 3500
    token = 'uniform token physics:approximation = "convexDecomposition"'
    mesh = prim("Mesh", "s", L_PRISM, token, apis=(COLLIDER, "PhysicsMeshCollisionAPI"))
    assert usda.read(lone(mesh)).inertia().mass_kg == pytest.approx(3000, rel=1e-5)


def test_a_flat_mesh_without_volume_leaves_the_body_as_without_a_collider(usda: Usda):
    flat = "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]"
    mesh = prim("Mesh", "s", flat, FACES, apis=(COLLIDER, "PhysicsMeshCollisionAPI"))
    assert usda.read(lone(mesh)).inertia().mass_kg == 1.0


def two_links(diagonal: tuple[float, ...]) -> str:
    """An arm whose `link` weighs 2 kg, has a cube of 0.2 m and these moments."""
    moments = f"float3 physics:diagonalInertia = {diagonal}"
    return stage(
        robot(
            body("base", cube("base_shape")),
            body("link", cube("link_shape"), "float physics:mass = 2", moments, at=(1, 0, 0)),
            joint("Fixed", "weld", None, "base"),
            joint("Revolute", "elbow", "base", "link", at0=(1, 0, 0)),
        )
    )


@pytest.mark.parametrize("diagonal", [(0.1, 0.0, 0.3), (0.0, 0.0, 1e-18), (-1e-20, 0.0, 1e-20)])
def test_a_moment_of_zero_leaves_a_link_of_an_articulation_with_physxs_default(usda: Usda, diagonal):
    # ovphysx 0.7.0: "components must be > 0 for articulations"; the link reads back (1, 1, 1), with or without colliders
    read = usda.read(two_links(diagonal))
    assert read.inertia("link").diagonal_kgm2 == (1.0, 1.0, 1.0)
    assert "/robot/link" in read.said("E003")


@pytest.mark.parametrize("diagonal", [(-1e-18, -1e-18, 0.0), (-0.1, -0.2, -0.3)])
def test_moments_of_which_none_is_positive_are_as_not_authored(usda: Usda, diagonal):
    # iCub's r_hip_2 says (-5.4e-20, -5.4e-20, 0): PhysX computes the moments from its colliders
    read = usda.read(two_links(diagonal))
    assert read.inertia("link").diagonal_kgm2 == pytest.approx((2 * 0.2**2 / 6,) * 3)
    assert "no positive moment" in read.said("E003")


def test_a_negative_moment_beside_a_positive_one_counts_by_its_size(usda: Usda):
    assert usda.read(two_links((-0.1, 0.2, 0.25))).inertia("link").diagonal_kgm2 == pytest.approx((0.1, 0.2, 0.25))
