"""Twelve more traps, met in robots that others published, one test each (hand-written here; measured there)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.robot.joints import JointType
from tests.usda import Usda, arm, body, cube, joint, lone, prim, robot, stage

DRIVE = "PhysicsDriveAPI:angular"


def locked(*instances: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Attribute lines and schemas that lock axes of a generic joint."""
    lines = tuple(f"float limit:{i}:physics:{end} = {x}" for i in instances for end, x in (("low", 1), ("high", -1)))
    return lines, tuple(f"PhysicsLimitAPI:{i}" for i in instances)


def test_trap_1_three_free_rotations_are_a_rotation_vector_and_so_a_ball(usda: Usda):
    made = usda.convert(arm(kind="D6"))
    q = np.array([0.4, -0.7, 1.1])
    angle = float(np.linalg.norm(q))
    quat = (math.cos(angle / 2), *(math.sin(angle / 2) * q / angle))
    data = made.poses(elbow=quat)
    k = np.array([[0, -q[2], q[1]], [q[2], 0, -q[0]], [-q[1], q[0], 0]])
    turn = np.eye(3) + math.sin(angle) / angle * k + (1 - math.cos(angle)) / angle**2 * k @ k  # exp(q)
    assert data.body("link").xmat.reshape(3, 3) == pytest.approx(turn, abs=1e-12)


def test_trap_1_two_free_rotations_are_two_hinges_and_the_difference_is_said(usda: Usda):
    lines, apis = locked("rotX", "transX", "transY", "transZ")
    read = usda.read(arm(*lines, kind="D6", apis=apis))
    assert [axis.name for axis in read.robot.joint_of("link").axes] == ["elbow:1", "elbow:2"]
    assert "first order" in read.said("E001")


def test_trap_1_three_hinges_where_they_are_asked_for(usda: Usda):
    read = usda.read(arm(kind="D6"), d6="hinges")
    assert [axis.name for axis in read.robot.joint_of("link").axes] == ["elbow:0", "elbow:1", "elbow:2"]


def test_trap_1_one_free_rotation_keeps_its_limits(usda: Usda):
    lines, apis = locked("rotX", "rotY", "transX", "transY", "transZ")
    free = ("float limit:rotZ:physics:low = -30", "float limit:rotZ:physics:high = 60")
    read = usda.read(arm(*lines, *free, kind="D6", apis=(*apis, "PhysicsLimitAPI:rotZ")))
    (axis,) = read.robot.joint_of("link").axes
    assert axis.name == "elbow:2"
    assert (axis.limits.lower, axis.limits.upper) == pytest.approx((math.radians(-30), math.radians(60)))
    assert read.robot.joint_of("link").type is JointType.REVOLUTE


def test_trap_2_a_joint_may_name_a_prim_below_the_body_and_its_frame_stands_there(usda: Usda):
    text = stage(
        robot(
            body("base", cube("c0"), prim("Xform", "mount", "double3 xformOp:translate = (0, 0, 0.36)",
                 "double xformOp:rotateX = 90", 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateX"]')),
            body("rotor", cube("c1"), at=(0, 0, 1)),
            joint("Fixed", "weld", None, "base"),
            joint("Revolute", "spin", "base/mount", "rotor", 'uniform token physics:axis = "Z"'),
        )
    )  # fmt: skip
    data = usda.convert(text).poses()
    assert data.body("rotor").xpos == pytest.approx([0, 0, 0.36])
    assert data.body("rotor").xmat.reshape(3, 3) @ [0, 0, 1] == pytest.approx([0, -1, 0], abs=1e-9)


def test_trap_3_unauthored_metres_per_unit_are_metres_not_usds_centimetres(usda: Usda):
    read = usda.read(lone(cube(), metres=None))
    assert read.inertia().mass_kg == pytest.approx(8.0)
    assert "taken as metres" in read.said("E017")


@pytest.mark.parametrize("bound", ["0", "-1"])
def test_trap_4_a_force_limit_of_zero_or_less_is_a_dead_drive(usda: Usda, bound: str):
    lines = ("float drive:angular:physics:stiffness = 10", f"float drive:angular:physics:maxForce = {bound}")
    made = usda.convert(arm(*lines, apis=(DRIVE,)))
    assert made.model.nu == 0
    assert "E026" in made.codes


def test_trap_4_an_infinite_force_limit_is_none(usda: Usda):
    lines = ("float drive:angular:physics:stiffness = 10", "float drive:angular:physics:maxForce = inf")
    made = usda.convert(arm(*lines, apis=(DRIVE,)))
    assert not made.model.actuator_forcelimited[0]


TWINS = (joint("Revolute", "also", "base", "link", 'uniform token physics:axis = "Y"', at0=(1, 0, 0)),)


def test_trap_5_of_several_joints_between_one_pair_physx_keeps_the_first_path(usda: Usda):
    read = usda.read(arm(more=TWINS))
    assert [axis.name for axis in read.robot.axes()] == ["also"]
    assert "/robot/elbow" in read.said("E021")


def test_trap_5_in_mujocos_dialect_all_of_them_are_kept(usda: Usda):
    read = usda.read(arm(more=TWINS) + prim("PhysicsScene", "scene", apis=("MjcSceneAPI",)))
    assert [axis.name for axis in read.robot.joint_of("link").axes] == ["elbow", "also"]


def test_trap_6_repeated_leaf_names_are_counted_in_link_order(usda: Usda):
    text = stage(
        robot(
            body("base", cube("c")),
            *(prim("Xform", side, body("arm", cube("c"))) for side in "ab"),
            prim("Xform", "c", body("arm", cube("c"))),
            joint("Fixed", "weld", None, "base"),
            prim("Scope", "x", joint("Revolute", "hinge", "base", "c/arm")),
            prim("Scope", "y", joint("Revolute", "hinge", "base", "b/arm")),
            prim("Scope", "z", joint("Revolute", "hinge", "base", "a/arm")),
        )
    )
    read = usda.read(text).robot
    names = {link.extras["usd:path"]: link.name for link in read.links}
    # Breadth first, children by joint path: x joins c, y joins b, z joins a.
    assert names == {"/robot/base": "base", "/robot/c/arm": "arm", "/robot/b/arm": "arm_0", "/robot/a/arm": "arm_1"}
    assert [read.joint_of(n).name for n in ("arm", "arm_0", "arm_1")] == ["hinge", "hinge_0", "hinge_1"]


def follower(*lines: str, instance: str, kind: str) -> str:
    start = f"physxMimicJoint:{instance}:"
    return arm(
        more=(
            body("tip", cube("tip_shape")),
            joint(kind, "finger", "base", "tip", f"rel {start}referenceJoint = </robot/elbow>", *lines,
                  apis=(f"PhysxMimicJointAPI:{instance}",)),
        )
    )  # fmt: skip


def test_trap_7_a_mimic_on_a_sliding_follower_acts_with_a_rotary_instance(usda: Usda):
    (found,) = usda.read(follower(instance="rotY", kind="Prismatic")).robot.mimics
    assert (found.follower, found.leader) == ("finger", "elbow")
    assert found.coefficients == pytest.approx((0.0, -1.0))  # gearing unauthored is 1


def test_trap_7_a_mimic_on_a_translation_is_ignored_and_that_is_said(usda: Usda):
    read = usda.read(follower(instance="transZ", kind="Prismatic"))
    assert read.robot.mimics == ()
    assert "E027" in read.codes


def test_trap_7_a_mimic_of_a_mimic_acts(usda: Usda):
    start = "physxMimicJoint:rotX:"
    third = joint(
        "Revolute",
        "last",
        "base",
        "third",
        f"rel {start}referenceJoint = </robot/finger>",
        apis=("PhysxMimicJointAPI:rotX",),
    )
    text = (
        follower(instance="rotX", kind="Revolute").rstrip().removesuffix("}")
        + body("third", cube("c3"))
        + third
        + "}\n"
    )
    assert [(m.follower, m.leader) for m in usda.read(text).robot.mimics] == [("finger", "elbow"), ("last", "finger")]


def test_trap_8_a_body_that_only_excluded_joints_reach_is_free_and_held_by_equalities(usda: Usda):
    held = (
        body("rod", cube("rod_shape"), at=(3, 0, 0)),
        joint("Spherical", "ball", "link", "rod", "bool physics:excludeFromArticulation = 1", at0=(2, 0, 0)),
    )
    made = usda.convert(arm(more=held))
    rod = made.model.body("rod")
    assert made.model.joint(rod.jntadr[0]).type[0] == 0  # free
    assert made.model.neq == 1
    assert made.poses().body("rod").xpos == pytest.approx([3, 0, 0])


def test_trap_9_a_state_saved_while_moving_is_the_home_keyframe(usda: Usda):
    lines = ("float state:angular:physics:position = 30", "float state:angular:physics:velocity = 60")
    made = usda.convert(arm(*lines, apis=("PhysicsJointStateAPI:angular",)))
    key = made.model.key("home")
    assert key.qpos == pytest.approx([0.5235988])
    assert key.qvel == pytest.approx([1.0471976])


def test_trap_9_zero_outside_the_limits_starts_at_the_nearest_limit(usda: Usda):
    made = usda.convert(arm("float physics:lowerLimit = 30", "float physics:upperLimit = 100"))
    assert made.model.key("home").qpos == pytest.approx([math.radians(30)])


def test_trap_10_a_massless_frame_weighs_a_kilogram_and_that_is_said(usda: Usda):
    read = usda.read(lone("float physics:mass = 0"))
    assert read.inertia().mass_kg == 1.0
    assert read.inertia().diagonal_kgm2 == pytest.approx((0.004,) * 3)
    assert "1 kg" in read.said("E004")


def test_trap_11_overs_without_their_layer_are_nothing_and_the_absent_layer_is_named(usda: Usda):
    over = 'over "robot" (\nprepend apiSchemas = ["PhysicsRigidBodyAPI"]\n)\n{\n}\n'
    with pytest.raises(InputError, match=r"robot_base\.usd"):
        usda.read(stage(over, more="subLayers = [@./robot_base.usd@]"))


def variants(chosen: str, *names: str) -> str:
    inside = "\n".join(f'"{n}" {{\n{body("box", cube()) if n.lower() == "physx" else ""}\n}}' for n in names)
    select = f'variants = {{\nstring Physics = "{chosen}"\n}}' if chosen else ""
    return stage(
        f'def Xform "robot" (\n{select}\nprepend variantSets = "Physics"\n)\n{{\nvariantSet "Physics" = {{\n{inside}\n}}\n}}\n'
    )


@pytest.mark.parametrize(
    ("chosen", "names"), [("PhysX", ("None", "PhysX")), ("", ("none", "physx", "mujoco")), ("", ("None", "PhysX"))]
)
def test_trap_12_the_physics_variant_is_read_under_the_names_of_every_era(
    usda: Usda, chosen: str, names: tuple[str, ...]
):
    read = usda.read(variants(chosen, *names))
    assert [link.name for link in read.robot.links] == ["box"]
    assert ("E016" in read.codes) == (not chosen)


def test_trap_12_a_variant_that_is_not_there_is_refused_with_those_that_are(usda: Usda):
    with pytest.raises(InputError, match="None, PhysX"):
        usda.read(variants("PhysX", "None", "PhysX"), variants={"Physics": "bullet"})
