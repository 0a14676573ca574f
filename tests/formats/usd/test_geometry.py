from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.robot.geometry import Approximation, Box, Ellipsoid, MeshShape, Sphere
from tests.usda import COLLIDER, FACES, TETRAHEDRON, Usda, body, cube, lone, prim, robot, stage

QUADS = "point3f[] points = [(0,0,0),(1,0,0),(1,1,0),(0,1,0),(2,0,0),(2,1,1)]\nint[] faceVertexCounts = [4, 4]\nint[] faceVertexIndices = [0,1,2,3, 1,4,5,2]"


def mesh(*lines: str, apis: tuple[str, ...] = (), name: str = "shape") -> str:
    return prim("Mesh", name, TETRAHEDRON, FACES, *lines, apis=apis)


def test_a_non_uniform_scale_is_baked_into_the_vertices(usda: Usda):
    read = usda.read(lone(mesh(), scale=(1, 2, 3))).robot
    assert read.meshes[0].vertices_m.max(axis=0) == pytest.approx([1, 2, 3])


def test_a_mirrored_mesh_still_looks_outward(usda: Usda):
    from isaaclab_mirror.robot.inertia import mesh_properties

    (asset,) = usda.read(lone(mesh(), scale=(-1, 1, 1))).robot.meshes
    a, b, c = (asset.vertices_m[asset.faces[:, k]].astype(float) for k in range(3))
    assert float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6 == pytest.approx(1 / 6, rel=1e-6)
    assert mesh_properties(asset.vertices_m, asset.faces, 1.0).mass_kg == pytest.approx(1 / 6, rel=1e-6)


def test_a_mirrored_mesh_lands_where_usd_puts_it(usda: Usda):
    read = usda.read(lone(mesh(), scale=(-1, 1, 1))).robot
    (geom,) = read.geoms
    world = read.joints[0].origin @ geom.pose
    corners = {
        tuple(round(float(x), 6) + 0.0 for x in world.apply(tuple(map(float, v)))) for v in read.meshes[0].vertices_m
    }
    assert corners == {(0, 0, 0), (-1, 0, 0), (0, 1, 0), (0, 0, 1)}


def test_a_visual_sphere_with_a_non_uniform_scale_is_seen_as_an_ellipsoid(usda: Usda):
    ball = prim("Sphere", "shape", "double radius = 0.1")
    (geom,) = usda.read(lone(ball, scale=(1, 2, 1))).robot.geoms
    assert geom.shape == Ellipsoid((0.1, 0.2, 0.1))


@pytest.mark.parametrize("token", [a.value for a in Approximation if a is not Approximation.TRIANGLES])
def test_every_approximation_is_read(usda: Usda, token: str):
    shape = mesh(f'uniform token physics:approximation = "{token}"', apis=(COLLIDER, "PhysicsMeshCollisionAPI"))
    (geom,) = usda.read(lone(shape)).robot.geoms
    assert geom.collision.approximation.value == token


def test_bounding_shapes_are_those_of_the_box_of_the_points(usda: Usda):
    shapes = [
        mesh(f'uniform token physics:approximation = "{t}"', apis=(COLLIDER,), name=t)
        for t in ("boundingCube", "boundingSphere")
    ]
    cube_, ball = usda.read(lone(*shapes)).robot.geoms
    assert cube_.shape == Box((0.5, 0.5, 0.5))
    assert cube_.pose.pos == pytest.approx((0.5, 0.5, 0.5))
    assert ball.shape == Sphere(pytest.approx(0.75**0.5))


def test_a_static_mesh_is_a_triangle_mesh_and_a_moving_one_its_hull(usda: Usda):
    text = stage(robot(body("box", mesh(apis=(COLLIDER,))), mesh(apis=(COLLIDER,), name="floor"), apis=()))
    found = {g.link: g.collision.approximation for g in usda.read(text).robot.geoms}
    assert found == {"box": Approximation.CONVEX_HULL, None: Approximation.TRIANGLES}


def test_contact_and_rest_offsets_are_read_and_infinities_are_none(usda: Usda):
    shape = cube("shape", 0.2, "float physxCollision:contactOffset = 0.02", "float physxCollision:restOffset = -inf")
    (geom,) = usda.read(lone(shape)).robot.geoms
    assert (geom.collision.contact_offset_m, geom.collision.rest_offset_m) == (0.02, None)


def preview(*lines: str, name: str = "paint") -> str:
    return prim("Material", name, prim("Shader", "surface", 'uniform token info:id = "UsdPreviewSurface"', *lines))


def test_a_preview_surface_is_a_material_in_display_colours(usda: Usda):
    paint = preview(
        "color3f inputs:diffuseColor = (1, 0.214, 0)", "float inputs:opacity = 0.5", "float inputs:roughness = 0.4"
    )
    made = usda.convert(lone(mesh("rel material:binding = </robot/box/paint>"), paint))
    # USD's colours are linear light: 0.214 shows as one half
    assert made.model.material("paint").rgba == pytest.approx([1, 0.5, 0, 0.5], abs=2e-3)
    assert made.model.geom("shape").matid[0] == 0


def test_a_display_colour_is_kept(usda: Usda):
    made = usda.convert(lone(mesh("color3f[] primvars:displayColor = [(0.2, 0.4, 0.6)]")))
    assert made.model.geom("shape").rgba == pytest.approx([0.2, 0.4, 0.6, 1], abs=1e-6)


def test_subsets_become_a_part_for_each_material(usda: Usda):
    subset = prim(
        "GeomSubset",
        "half",
        "int[] indices = [0]",
        'uniform token elementType = "face"',
        "rel material:binding = </robot/box/red>",
    )
    shape = prim("Mesh", "shape", QUADS, "rel material:binding = </robot/box/blue>", subset)
    read = usda.read(lone(shape, preview(name="red"), preview(name="blue"))).robot
    assert {g.material for g in read.geoms} == {"red", "blue"}
    assert [len(read.mesh(g.shape.mesh).faces) for g in read.geoms if isinstance(g.shape, MeshShape)] == [2, 2]


def test_a_texture_is_copied_with_its_coordinates(usda: Usda):
    image = pytest.importorskip("PIL.Image")
    usda.folder.mkdir(exist_ok=True)
    image.new("RGB", (4, 4), (255, 0, 0)).save(usda.folder / "red.png")
    paint = prim(
        "Material", "paint",
        prim("Shader", "surface", 'uniform token info:id = "UsdPreviewSurface"',
             "color3f inputs:diffuseColor.connect = </robot/box/paint/image.outputs:rgb>"),
        prim("Shader", "image", 'uniform token info:id = "UsdUVTexture"', "asset inputs:file = @./red.png@", "float3 outputs:rgb"),
    )  # fmt: skip
    st = 'texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1), (1, 1)] (\ninterpolation = "vertex"\n)'
    made = usda.convert(lone(mesh("rel material:binding = </robot/box/paint>", st), paint))
    assert made.model.ntex == 1
    assert made.model.mesh_texcoordnum[0] > 0
    assert any(f.suffix == ".png" for f in made.result.files)


def test_a_missing_texture_is_reported_and_the_colour_kept(usda: Usda):
    paint = prim(
        "Material", "paint",
        prim("Shader", "surface", 'uniform token info:id = "UsdPreviewSurface"',
             "color3f inputs:diffuseColor.connect = </robot/box/paint/image.outputs:rgb>"),
        prim("Shader", "image", 'uniform token info:id = "UsdUVTexture"', "asset inputs:file = @./gone.png@", "float3 outputs:rgb"),
    )  # fmt: skip
    assert "gone.png" in usda.read(lone(mesh("rel material:binding = </robot/box/paint>"), paint)).said("E002")


def test_what_is_invisible_or_a_guide_is_not_shown(usda: Usda):
    hidden = mesh('token visibility = "invisible"', name="a")
    guide = mesh('uniform token purpose = "guide"', name="b")
    assert usda.read(lone(hidden, guide, cube())).robot.geoms[0].name == "shape"


@pytest.mark.parametrize("binding", ["material:binding:physics", "material:binding"])
def test_a_physics_material_is_inherited_from_the_body_under_either_purpose(usda: Usda, binding: str):
    rubber = prim(
        "Material",
        "rubber",
        "float physics:dynamicFriction = 0.2",
        "float physics:staticFriction = 0.9",
        apis=("PhysicsMaterialAPI",),
    )
    made = usda.convert(lone(f"rel {binding} = </robot/box/rubber>", cube(), rubber))
    assert made.model.geom("shape").friction[0] == pytest.approx(0.2)  # the dynamic one


def test_a_material_bound_to_the_scene_is_the_default(usda: Usda):
    ice = prim("Material", "ice", "float physics:dynamicFriction = 0.1", apis=("PhysicsMaterialAPI",))
    scene = prim("PhysicsScene", "scene", "rel material:binding:physics = </ice>")
    assert usda.convert(lone(cube()) + ice + scene).model.geom("shape").friction[0] == pytest.approx(0.1)


def test_a_broken_mesh_is_left_out_and_reported(usda: Usda):
    broken = prim(
        "Mesh",
        "shape",
        "point3f[] points = [(0, 0, 0)]",
        "int[] faceVertexCounts = [3]",
        "int[] faceVertexIndices = [0, 1, 2]",
    )
    assert "broken topology" in usda.read(lone(cube("c"), broken)).said("E002")


def test_the_go2s_colours_and_meshes_come_through(data: Path, usda: Usda):
    made = usda.convert(data / "unitree_go2" / "unitree_go2_physx.usda")
    visuals = [g for g in range(made.model.ngeom) if made.model.geom_group[g] == 2 and made.model.geom_contype[g] == 0]
    assert len(visuals) > 10
    assert all(made.model.geom_matid[g] >= 0 or (made.model.geom_rgba[g] != 0.5).any() for g in visuals)
