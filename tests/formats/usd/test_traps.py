"""The 22 traps of how PhysX reads a USD robot, one test each. The numbers were measured with ovphysx 0.7.0."""

from __future__ import annotations

import math

import pytest

from isaaclab_mirror.physics.contact import PHYSX_DEFAULT, combine, pair_friction
from isaaclab_mirror.robot.geometry import Sphere
from isaaclab_mirror.robot.joints import AxisKind, JointType
from isaaclab_mirror.robot.materials import CombineMode
from tests.usda import COLLIDER, FACES, ROOT, TETRAHEDRON, Usda, arm, body, cube, joint, lone, prim, robot, stage

DRIVE = "PhysicsDriveAPI:angular"


def chain(*more: str, apis: tuple[str, ...] = (ROOT,), base_apis: tuple[str, ...] = ()) -> str:
    """base – l1 – l2."""
    return stage(
        robot(
            body("base", cube("c0"), apis=base_apis),
            body("l1", cube("c1"), at=(1, 0, 0)),
            body("l2", cube("c2"), at=(2, 0, 0)),
            joint("Revolute", "j1", "base", "l1", at0=(1, 0, 0)),
            joint("Revolute", "j2", "l1", "l2", at0=(1, 0, 0)),
            *more,
            apis=apis,
        )
    )


def test_trap_1_the_joint_frame_wins_over_the_authored_pose_of_the_body(usda: Usda):
    text = arm().replace("double3 xformOp:translate = (1, 0, 0)", "double3 xformOp:translate = (5, 5, 5)")
    made = usda.convert(text)
    assert made.poses().body("link").xpos == pytest.approx([1, 0, 0], abs=1e-9)


def hinge(*lines: str, child: str, parent: str, **frames: tuple[float, ...]) -> str:
    return stage(
        robot(
            body("base", cube("c0")),
            body("link", cube("c1"), at=(1, 0, 0)),
            joint("Fixed", "weld", None, "base"),
            joint("Revolute", "elbow", parent, child, *lines, **frames),
        )
    )


def test_trap_2_with_reversed_bodies_limits_keep_their_numbers_and_the_axis_flips(usda: Usda):
    lines = ('uniform token physics:axis = "Z"', "float physics:lowerLimit = -30", "float physics:upperLimit = 60")
    forward = usda.convert(hinge(*lines, parent="base", child="link", at0=(1, 0, 0)))
    reverse = usda.convert(hinge(*lines, parent="link", child="base", at1=(1, 0, 0)))
    assert forward.model.joint("elbow").axis == pytest.approx([0, 0, 1])
    assert reverse.model.joint("elbow").axis == pytest.approx([0, 0, -1])
    assert reverse.model.joint("elbow").range == pytest.approx([math.radians(-30), math.radians(60)])
    assert reverse.poses().body("link").xpos == pytest.approx([1, 0, 0])


def test_trap_3_without_a_joint_to_the_world_the_root_link_is_the_centre_of_the_joint_graph(usda: Usda):
    read = usda.read(chain()).robot
    assert read.links[0].name == "l1"
    assert read.joints[0].type is JointType.FLOATING


def test_trap_4_a_root_on_a_body_floats_and_its_joint_to_the_world_is_a_constraint(usda: Usda):
    read = usda.read(chain(joint("Fixed", "weld", None, "base"), apis=(), base_apis=(ROOT,)))
    assert read.robot.links[0].name == "base"
    assert read.robot.joints[0].type is JointType.FLOATING
    assert [loop.name for loop in read.robot.loops] == ["weld"]
    assert "E022" in read.codes


CARTPOLE_RAIL = chain(
    joint("Prismatic", "rail", None, "base", "float physics:lowerLimit = -1", "float physics:upperLimit = 1")
)


def test_trap_5_a_movable_joint_to_the_world_is_kept_as_drawn_and_reported(usda: Usda):
    read = usda.read(CARTPOLE_RAIL)
    assert read.robot.joints[0].type is JointType.PRISMATIC
    assert read.robot.axis("rail").kind is AxisKind.SLIDE
    assert "kept here" in read.said("E023")


def test_trap_5_a_movable_joint_to_the_world_is_a_weld_where_physx_is_asked_for(usda: Usda):
    read = usda.read(CARTPOLE_RAIL, world_joint="weld")
    assert read.robot.joints[0].type is JointType.FIXED
    assert [axis.name for axis in read.robot.axes()] == ["j1", "j2"]
    assert "welded here too" in read.said("E023")


@pytest.mark.parametrize("bounds", [("-30", "inf"), ("-inf", "60"), ("60", "-30")])
def test_trap_6_a_one_sided_or_reversed_limit_locks_the_joint(usda: Usda, bounds: tuple[str, str]):
    made = usda.convert(arm(f"float physics:lowerLimit = {bounds[0]}", f"float physics:upperLimit = {bounds[1]}"))
    assert made.model.joint("elbow").range == pytest.approx([0, 0], abs=2e-6)
    assert made.model.jnt_limited[0]
    assert "E007" in made.codes


def test_trap_7_the_translations_of_a_generic_joint_are_locked(usda: Usda):
    read = usda.read(arm(kind="D6"))
    (axis,) = read.robot.joint_of("link").axes
    assert axis.kind is AxisKind.BALL
    assert "transX, transY, transZ" in read.said("E001")


def test_trap_8_gains_are_stated_per_degree(usda: Usda):
    lines = ("float drive:angular:physics:stiffness = 10", "float drive:angular:physics:damping = 2")
    made = usda.convert(arm(*lines, apis=(DRIVE,)))
    assert made.model.actuator("elbow").gainprm[0] == pytest.approx(572.957795, rel=1e-8)
    assert made.model.actuator("elbow").biasprm[2] == pytest.approx(-114.591559, rel=1e-8)


def test_trap_8_linear_gains_are_as_they_stand(usda: Usda):
    made = usda.convert(
        arm("float drive:linear:physics:stiffness = 10", apis=("PhysicsDriveAPI:linear",), kind="Prismatic")
    )
    assert made.model.actuator("elbow").gainprm[0] == 10.0


def test_trap_9_physx_joint_api_is_read_and_said_to_be_ignored_by_newer_physx(usda: Usda):
    read = usda.read(arm("float physxJoint:armature = 0.5", apis=("PhysxJointAPI",)))
    assert read.robot.axis("elbow").dynamics.armature == 0.5
    assert "0.7.0" in read.said("E025")


def test_trap_9_the_velocity_limit_of_physx_joint_api_is_reported_too(usda: Usda):
    read = usda.read(arm("float physxJoint:maxJointVelocity = 90", apis=("PhysxJointAPI",)))
    assert read.robot.axis("elbow").limits.velocity == pytest.approx(1.5707963)
    assert "0.7.0" in read.said("E025")


def test_trap_10_a_disabled_collider_counts_for_mass_and_touches_nothing(usda: Usda):
    made = usda.convert(lone(cube("shape", 0.2, "bool physics:collisionEnabled = 0")))
    assert made.model.body("box").mass[0] == pytest.approx(8.0)
    assert (made.model.geom_contype == 0).all()


def test_trap_11_an_authored_centre_of_mass_scales_and_an_authored_mass_does_not(usda: Usda):
    inertia = usda.read(
        lone(cube(), "float physics:mass = 3", "point3f physics:centerOfMass = (0.1, 0, 0)", scale=(2, 1, 1))
    ).inertia()
    assert inertia.mass_kg == 3.0
    assert inertia.com_m == pytest.approx((0.2, 0, 0))


def test_trap_12_links_collide_with_each_other_by_default_but_never_neighbours(usda: Usda):
    made = usda.convert(chain(joint("Fixed", "weld", None, "base")))
    from tests.contacts import touching

    assert touching(made.model) == {frozenset(("base", "l2"))}


@pytest.mark.parametrize(
    "flag", ["bool physxArticulation:enabledSelfCollisions = 0", "bool newton:selfCollisionEnabled = 0"]
)
def test_trap_12_self_collision_is_turned_off_by_either_flag(usda: Usda, flag: str):
    from tests.contacts import touching

    text = stage(
        robot(
            flag,
            body("base", cube("c0")),
            body("l1", cube("c1")),
            body("l2", cube("c2")),
            joint("Revolute", "j1", "base", "l1"),
            joint("Revolute", "j2", "l1", "l2"),
        )
    )
    assert touching(usda.convert(text).model) == set()


def _with_material(*lines: str, name: str = "rubber") -> str:
    return stage(
        robot(
            body("box", cube("shape", 0.2, f"rel material:binding:physics = </robot/{name}>")),
            prim("Material", name, *lines, apis=("PhysicsMaterialAPI",)),
            apis=(),
        )
    )


def test_trap_13_a_material_that_authors_no_friction_has_none(usda: Usda):
    assert usda.convert(_with_material()).model.geom("shape").friction[0] == 0.0


def test_trap_13_a_collider_without_a_material_has_half(usda: Usda):
    assert usda.convert(lone(cube())).model.geom("shape").friction[0] == 0.5


@pytest.mark.parametrize(
    ("mode_a", "mode_b", "friction"),
    [
        (CombineMode.AVERAGE, CombineMode.AVERAGE, 0.3),
        (CombineMode.MIN, CombineMode.AVERAGE, 0.2),
        (CombineMode.MULTIPLY, CombineMode.MIN, 0.08),
        (CombineMode.MAX, CombineMode.MIN, 0.4),
        (CombineMode.MAX, CombineMode.MULTIPLY, 0.4),
    ],
)
def test_trap_14_the_stronger_combine_mode_of_a_pair_is_used(mode_a: CombineMode, mode_b: CombineMode, friction: float):
    assert combine(0.2, 0.4, mode_a, mode_b) == pytest.approx(friction)
    assert combine(0.4, 0.2, mode_b, mode_a) == pytest.approx(friction)


def test_trap_14_combine_modes_are_read_from_the_material(usda: Usda):
    read = usda.read(
        _with_material(
            "float physics:dynamicFriction = 0.2",
            'uniform token physxMaterial:frictionCombineMode = "multiply"',
            'uniform token physxMaterial:restitutionCombineMode = "max"',
        )
    )
    (material,) = read.robot.contact_materials
    assert (material.friction_combine, material.restitution_combine) == (CombineMode.MULTIPLY, CombineMode.MAX)


def test_trap_15_one_side_without_a_material_averages_with_half(usda: Usda):
    (material,) = usda.read(_with_material("float physics:dynamicFriction = 0.2")).robot.contact_materials
    assert pair_friction(material, PHYSX_DEFAULT) == pytest.approx(0.35)


def test_trap_16_a_zero_moment_is_kept_in_the_model_and_mended_for_mujoco(usda: Usda):
    text = lone(cube(), "float physics:mass = 1", "float3 physics:diagonalInertia = (0.1, 0, 0.3)")
    assert usda.read(text).inertia().diagonal_kgm2 == pytest.approx((0.1, 0, 0.3))
    made = usda.convert(text)
    assert "E003" in made.codes
    a, b, c = sorted(made.model.body("box").inertia)
    assert a > 0
    assert a + b >= c


def test_trap_17_centimetres_become_metres_and_it_is_said_that_physx_computes_in_stage_units(usda: Usda):
    read = usda.read(lone(cube("shape", 20.0), metres=0.01))
    assert read.inertia().mass_kg == pytest.approx(8.0)  # density 1000 kg/m³ stays physical
    assert read.inertia().diagonal_kgm2 == pytest.approx((0.0533333,) * 3, rel=1e-5)
    assert "PhysX itself does not apply metersPerUnit" in read.said("E017")


def test_trap_18_the_direction_of_gravity_is_not_normalised(usda: Usda):
    scene = prim(
        "PhysicsScene", "scene", "vector3f physics:gravityDirection = (0, 0, -2)", "float physics:gravityMagnitude = 5"
    )
    read = usda.read(lone(cube()) + scene)
    assert read.robot.scene.gravity == pytest.approx((0, 0, -10))
    assert "E028" in read.codes


def mimic(*lines: str, api: str = "PhysxMimicJointAPI:rotZ", kind: str = "Revolute") -> str:
    """A follower `finger` of `elbow`, both on the base."""
    follower = (
        body("tip", cube("tip_shape"), at=(0, 1, 0)),
        joint(kind, "finger", "base", "tip", *lines, apis=(api,), at0=(0, 1, 0)),
    )
    return arm(more=follower)


def test_trap_19_a_follower_moves_against_its_leader_by_the_gearing(usda: Usda):
    start = "physxMimicJoint:rotZ:"
    lines = (f"rel {start}referenceJoint = </robot/elbow>", f"float {start}gearing = 2", f"float {start}offset = 10")
    made = usda.convert(mimic(*lines))
    # q_f + 2·q_ref + 10° = 0: measured −1.4545 → 2.7345
    assert made.model.eq_data[0][:2] == pytest.approx([-math.radians(10), -2.0])
    assert -math.radians(10) - 2 * -1.4545 == pytest.approx(2.7345, abs=1e-3)


def test_trap_19_newtons_mimic_states_the_follower_itself(usda: Usda):
    lines = ("rel newton:mimicJoint = </robot/elbow>", "float newton:mimicCoef0 = 0.1", "float newton:mimicCoef1 = 2")
    (found,) = usda.read(mimic(*lines, api="NewtonMimicAPI")).robot.mimics
    assert found.coefficients[:2] == pytest.approx((math.radians(0.1), 2.0))  # measured .2299 = 2·.11408 + .1°


def test_trap_20_a_whole_body_inside_an_instance_is_no_body_and_that_is_said(usda: Usda):
    text = stage(
        robot(
            body("base", cube("c0")),
            prim("Xform", "copy", meta="instanceable = true\nprepend references = </prototype>"),
            apis=(),
        ),
        prim("Xform", "prototype", body("hidden", cube("c1"))),
    )
    read = usda.read(text)
    assert [link.name for link in read.robot.links] == ["base"]
    assert "/robot/copy/hidden" in read.said("E019")


def test_trap_21_the_hull_vertex_limit_is_kept(usda: Usda):
    mesh = prim(
        "Mesh", "shape", TETRAHEDRON, FACES, "int physxConvexHullCollision:hullVertexLimit = 8",
        apis=(COLLIDER, "PhysicsMeshCollisionAPI", "PhysxConvexHullCollisionAPI"),
    )  # fmt: skip
    assert 'maxhullvert="8"' in usda.convert(lone(mesh)).xml


def test_trap_22_a_colliding_sphere_takes_the_largest_scale(usda: Usda):
    ball = prim("Sphere", "shape", "double radius = 0.1", apis=(COLLIDER,))
    read = usda.read(lone(ball, scale=(1, 2, 1)))
    (geom,) = read.robot.geoms
    assert geom.shape == Sphere(0.2)
    assert read.inertia().mass_kg == pytest.approx(33.5103, rel=1e-5)
