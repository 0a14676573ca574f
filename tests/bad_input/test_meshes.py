"""Meshes that are none: without triangles, with broken faces, flat, too small, too large."""

from __future__ import annotations

import pytest

from tests.bad_input.conftest import Command
from tests.usda import COLLIDER, FACES, TETRAHEDRON, body, cube, lone, place, prim, robot, stage

TRIANGLE = "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]"


def points(*corners: tuple[float | str, ...]) -> str:
    return "point3f[] points = [" + ", ".join(f"({x}, {y}, {z})" for x, y, z in corners) + "]"


FLAT = points((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0))
LINE = points((0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0))
SPECK = points((5, 5, 5), (5, 5, 5), (5, 5, 5), (5, 5, 5))

BROKEN = {
    "nothing": ((), "no points or no faces"),
    "no faces": ((TETRAHEDRON,), "no points or no faces"),
    "empty faces": (
        (TETRAHEDRON, "int[] faceVertexCounts = []\nint[] faceVertexIndices = []"),
        "no points or no faces",
    ),
    "no points": ((FACES,), "no points or no faces"),
    "points of integers": (("int[] points = [0, 1, 2]", FACES), "points are of type IntArray, not vectors"),
    "points of two numbers": (("float2[] points = [(0, 0), (1, 0), (0, 1)]", TRIANGLE), "not vectors"),
    "indices of fractions": (
        (TETRAHEDRON, "int[] faceVertexCounts = [3]\nfloat[] faceVertexIndices = [0, 1, 2]"),
        "faceVertexIndices are of type FloatArray, not int[]",
    ),
    "index too large": ((TETRAHEDRON, FACES.replace("1, 2, 3]", "1, 2, 99]")), "Out of range face vertex index 99"),
    "index negative": ((TETRAHEDRON, FACES.replace("1, 2, 3]", "1, 2, -1]")), "Out of range face vertex index -1"),
    "counts that do not add up": ((TETRAHEDRON, FACES.replace("[3, 3, 3, 3]", "[3, 3, 3]")), "Sum of faceVertexCounts"),
    "count negative": (
        (TETRAHEDRON, "int[] faceVertexCounts = [-3, 6]\nint[] faceVertexIndices = [0, 1, 2]"),
        "a negative number of vertices",
    ),
    "edges alone": (
        (TETRAHEDRON, "int[] faceVertexCounts = [2]\nint[] faceVertexIndices = [0, 1]"),
        "no face has three different vertices",
    ),
    "nan": ((TETRAHEDRON.replace("(0, 0, 1)", "(0, 0, nan)"), FACES), "a point is not finite"),
    "inf": ((TETRAHEDRON.replace("(0, 0, 1)", "(0, 0, inf)"), FACES), "a point is not finite"),
    "huge": ((TETRAHEDRON.replace("(0, 0, 1)", "(0, 0, 1e30)"), FACES), "reaches 1e+30 m"),
    "all points equal": ((SPECK, FACES), "the mesh is 0 m large"),
}


@pytest.mark.parametrize("apis", [(COLLIDER,), ()], ids=["collider", "visual"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_mesh_that_is_none_is_left_out_and_named(command: Command, suffix: str, name: str, apis: tuple[str, ...]):
    lines, what = BROKEN[name]
    found = command.accept(lone(cube(), prim("Mesh", "shell", *lines, apis=apis)), suffix=suffix)
    assert "robot.usda:/robot/box/shell " in found.said("E002")
    assert what in found.said("E002")
    assert "left out" in found.said("E002")
    model = found.load()
    assert model.nmesh == 0
    assert model.body("box").mass[0] == pytest.approx(8.0)


@pytest.mark.parametrize("apis", [(COLLIDER,), ()], ids=["collider", "visual"])
def test_a_mesh_scaled_to_nothing_is_left_out(command: Command, suffix: str, apis: tuple[str, ...]):
    shell = prim("Mesh", "shell", TETRAHEDRON, FACES, place(scale=(0, 0, 0)), apis=apis)
    assert "/robot/box/shell" in command.accept(lone(cube(), shell), suffix=suffix).said("E002")


def test_a_flat_collider_is_a_thin_box(command: Command):
    found = command.accept(lone(prim("Mesh", "sheet", FLAT, FACES, apis=(COLLIDER,))))
    assert "robot.usda:/robot/box/sheet a flat collision mesh: written as a thin box" in found.said("E006")
    assert found.load().ngeom == 1


@pytest.mark.parametrize(
    ("corners", "faces", "kilograms"),
    [
        (TETRAHEDRON, TRIANGLE, 1000 / 6),
        (TETRAHEDRON.replace("(0, 0, 1)]", "(0, 0, 1), (0, 0, 5)]"), FACES, 5000 / 6),
    ],
)
def test_points_of_no_face_are_part_of_a_colliders_hull(
    command: Command, suffix: str, corners: str, faces: str, kilograms: float
):
    """As in ovphysx 0.7.0, which weighs the second 833.3 kg (and its cooking the first 3 % more)."""
    found = command.accept(lone(prim("Mesh", "shell", corners, faces, apis=(COLLIDER,))), suffix=suffix)
    assert "robot.usda:/robot/box/shell some points are of no face" in found.said("E006")
    model = found.load()
    assert model.body("box").mass[0] == pytest.approx(kilograms, rel=1e-5)
    assert model.mesh_vertnum[0] == 4


def test_points_of_no_face_are_left_out_of_what_is_seen(command: Command, suffix: str):
    corners = TETRAHEDRON.replace("(0, 0, 1)]", "(0, 0, 1), (0, 0, 5)]")
    model = command.accept(lone(cube(), prim("Mesh", "shell", corners, FACES)), suffix=suffix).load()
    assert model.mesh_vertnum[0] == 4


@pytest.mark.parametrize("lines", [(FLAT, FACES), (points((0, 0, 0), (1, 0, 0), (0, 1, 0)), TRIANGLE)])
@pytest.mark.parametrize("apis", [(COLLIDER,), ()], ids=["collider", "visual"])
def test_a_flat_mesh_is_loaded_by_mujoco_from_either_format(
    command: Command, suffix: str, lines: tuple[str, ...], apis: tuple[str, ...]
):
    command.accept(lone(cube(), prim("Mesh", "sheet", *lines, apis=apis)), suffix=suffix).load()


def test_a_mesh_without_area_is_left_out_of_what_is_seen(command: Command, suffix: str):
    found = command.accept(lone(cube(), prim("Mesh", "thread", LINE, FACES)), suffix=suffix)
    assert "robot.usda:/robot/box/thread " in found.said("E002")
    assert "no triangle of any area: left out" in found.said("E002")
    assert found.load().nmesh == 0


def test_the_bounding_box_of_a_flat_mesh_has_a_thickness(command: Command, suffix: str):
    """0.02 m: what ovphysx 0.7.0 makes of a square of 1 m, which it weighs 20 kg."""
    bounding = 'uniform token physics:approximation = "boundingCube"'
    found = command.accept(lone(prim("Mesh", "sheet", FLAT, FACES, bounding, apis=(COLLIDER,))), suffix=suffix)
    assert "robot.usda:/robot/box/sheet the bounding box of a flat mesh: 0.02 m thick" in found.said("E006")
    model = found.load()
    assert model.body("box").mass[0] == pytest.approx(20.0)
    assert min(model.geom_size[0]) == pytest.approx(0.01)


def test_an_approximation_that_does_not_exist_is_the_hull(command: Command, suffix: str):
    guess = 'uniform token physics:approximation = "guess"'
    found = command.accept(lone(prim("Mesh", "shell", TETRAHEDRON, FACES, guess, apis=(COLLIDER,))), suffix=suffix)
    assert "'guess' is no approximation of a mesh: its hull" in found.said("E006")
    assert "use one of convexHull" in found.said("E006")
    assert found.load().nmesh == 1


@pytest.mark.parametrize("limit", ["int x:limit = 3", "int physxConvexHullCollision:hullVertexLimit = -3"])
def test_a_hull_of_fewer_than_no_vertices_is_the_hull(command: Command, limit: str):
    apis = (COLLIDER, "PhysxConvexHullCollisionAPI")
    found = command.accept(lone(prim("Mesh", "shell", TETRAHEDRON, FACES, limit, apis=apis)))
    assert found.load().nmesh == 1


def test_subsets_that_point_outside_the_mesh_are_what_is_left_of_them(command: Command, suffix: str):
    surface = prim("Shader", "s", 'uniform token info:id = "UsdPreviewSurface"', "token outputs:surface")
    paint = prim("Material", "paint", "token outputs:surface.connect = </robot/paint/s.outputs:surface>", surface)
    subset = prim("GeomSubset", "lid", "int[] indices = [0, 99, -1]", "rel material:binding = </robot/paint>")
    text = stage(robot(body("box", cube(), prim("Mesh", "shell", TETRAHEDRON, FACES, subset)), paint, apis=()))
    command.accept(text, suffix=suffix).load()


def test_texture_coordinates_that_do_not_fit_are_left_out(command: Command, suffix: str):
    coordinates = 'texCoord2f[] primvars:st = [(0, 0)] (\ninterpolation = "faceVarying"\n)'
    command.accept(lone(prim("Mesh", "shell", TETRAHEDRON, FACES, coordinates)), suffix=suffix).load()


def test_ten_thousand_meshes_of_one_name_get_names_in_linear_time():
    """Each number is tried once: 10,000 names cost as many attempts, not fifty million."""
    from isaaclab_mirror.formats.usd.names import CountedNames

    class Counted(str):
        asked = 0

        def __hash__(self) -> int:
            return super().__hash__()

        def __format__(self, spec: str) -> str:
            Counted.asked += 1
            return super().__format__(spec)

    names = CountedNames()
    name = Counted("mesh")
    given = [names.of(name) for _ in range(10_000)]
    assert len(set(given)) == 10_000
    assert (given[0], given[1], given[-1]) == ("mesh", "mesh_1", "mesh_9999")
    assert Counted.asked < 10_000
