from __future__ import annotations

import math

import pytest

from isaaclab_mirror.robot.drives import DriveType
from isaaclab_mirror.robot.joints import AxisKind, JointType
from tests.usda import Usda, arm, body, cube, joint, prim, robot, stage

DRIVE = "PhysicsDriveAPI:angular"
MUJOCO = prim("PhysicsScene", "scene", apis=("MjcSceneAPI",))


def elbow(usda: Usda, *lines: str, more: str = "", **options: object):
    return usda.read(arm(*lines, **options) + more).robot.axis("elbow")  # type: ignore[arg-type]


def test_limits_become_radians(usda: Usda):
    axis = elbow(usda, "float physics:lowerLimit = -30", "float physics:upperLimit = 60")
    assert (axis.limits.lower, axis.limits.upper) == pytest.approx((-0.5235988, 1.0471976))


def test_an_unauthored_axis_is_x_and_an_unlimited_revolute_is_continuous(usda: Usda):
    read = usda.read(arm()).robot
    assert read.axis("elbow").axis == (1, 0, 0)
    assert read.joint_of("link").type is JointType.CONTINUOUS


def test_targets_of_a_drive_become_radians_and_the_home_control(usda: Usda):
    lines = ("float drive:angular:physics:stiffness = 1", "float drive:angular:physics:targetPosition = 30")
    assert usda.convert(arm(*lines, apis=(DRIVE,))).model.key("home").ctrl == pytest.approx([0.5235988])


def test_a_velocity_target_is_the_home_control_of_a_drive_without_stiffness(usda: Usda):
    lines = ("float drive:angular:physics:damping = 1", "float drive:angular:physics:targetVelocity = 60")
    made = usda.convert(arm(*lines, apis=(DRIVE,)))
    assert made.model.key("home").ctrl == pytest.approx([1.0471976])
    assert made.model.actuator("elbow").gainprm[0] == pytest.approx(57.29578)


def test_the_force_limit_of_a_drive_is_kept(usda: Usda):
    lines = ("float drive:angular:physics:stiffness = 1", "float drive:angular:physics:maxForce = 87")
    assert usda.convert(arm(*lines, apis=(DRIVE,))).model.actuator("elbow").forcerange == pytest.approx([-87, 87])


def test_an_acceleration_drive_has_its_gains_times_the_inertia_at_zero(usda: Usda):
    lines = ("float drive:angular:physics:stiffness = 10", 'uniform token drive:angular:physics:type = "acceleration"')
    made = usda.convert(arm(*lines, apis=(DRIVE,)))
    # the 8 kg cube of side 0.2 turns about its own centre: 0.0533 kg·m²
    assert made.model.actuator("elbow").gainprm[0] == pytest.approx(572.9578 * 8 * 0.04 / 6, rel=1e-6)
    assert "E032" in made.codes
    assert elbow(usda, *lines, apis=(DRIVE,)).drives[0].type is DriveType.ACCELERATION


def test_a_linear_drive_on_a_revolute_joint_is_ignored_and_reported(usda: Usda):
    read = usda.read(arm("float drive:linear:physics:stiffness = 10", apis=("PhysicsDriveAPI:linear",)))
    assert read.robot.axis("elbow").drives == ()
    assert "E024" in read.codes


def test_physx_joint_axis_api_is_read_with_its_units(usda: Usda):
    start = "float physxJointAxis:angular:"
    axis = elbow(
        usda, f"{start}armature = 0.5", f"{start}maxJointVelocity = 90", f"{start}staticFrictionEffort = 0.3",
        f"{start}dynamicFrictionEffort = 0.2", f"{start}viscousFrictionCoefficient = 0.1", apis=("PhysxJointAxisAPI:angular",),
    )  # fmt: skip
    assert axis.dynamics.armature == 0.5
    assert axis.limits.velocity == pytest.approx(1.5707963)
    assert (axis.dynamics.static_friction, axis.dynamics.friction) == (0.3, 0.2)
    assert axis.dynamics.damping == pytest.approx(5.729578)


def test_the_instance_of_another_axis_is_ignored(usda: Usda):
    assert (
        elbow(usda, "float physxJointAxis:rotZ:armature = 0.5", apis=("PhysxJointAxisAPI:rotZ",)).dynamics.armature
        == 0.0
    )


ARMATURES = (
    "float physxJointAxis:angular:armature = 1",
    "float physxJoint:armature = 2",
    "float newton:armature = 3",
    "float mjc:armature = 4",
)
ALL_APIS = ("PhysxJointAxisAPI:angular", "PhysxJointAPI", "NewtonJointAPI")


@pytest.mark.parametrize(("given", "read"), [((0, 1, 2, 3), 1.0), ((1, 2, 3), 2.0), ((2, 3), 3.0)])
def test_in_physxs_dialect_its_axis_schema_comes_first_then_its_joint_schema_then_newtons(
    usda: Usda, given: tuple[int, ...], read: float
):
    assert elbow(usda, *(ARMATURES[k] for k in given), apis=ALL_APIS).dynamics.armature == read


@pytest.mark.parametrize(("given", "read"), [((0, 1, 2, 3), 4.0), ((0, 1, 2), 3.0), ((0, 1), 1.0)])
def test_in_mujocos_dialect_its_own_schema_comes_first_then_newtons_then_physxs(
    usda: Usda, given: tuple[int, ...], read: float
):
    axis = elbow(usda, *(ARMATURES[k] for k in given), apis=(*ALL_APIS, "MjcJointAPI"), more=MUJOCO)
    assert axis.dynamics.armature == read


def test_newtons_damping_is_per_degree(usda: Usda):
    assert elbow(usda, "float newton:damping = 0.1", apis=("NewtonJointAPI",)).dynamics.damping == pytest.approx(
        5.729578
    )


def test_a_stage_with_drives_is_physxs_whatever_it_says_for_mujoco(usda: Usda):
    read = usda.read(arm("float drive:angular:physics:stiffness = 1", apis=(DRIVE, "MjcJointAPI")) + MUJOCO)
    assert read.robot.dialect == "physx"


def test_a_spherical_joint_is_a_ball_with_one_cone(usda: Usda):
    axis = elbow(usda, "float physics:coneAngle0Limit = 30", "float physics:coneAngle1Limit = 45", kind="Spherical")
    assert axis.kind is AxisKind.BALL
    assert axis.limits.upper == pytest.approx(math.radians(45))


def test_a_drive_of_one_rotation_of_a_ball_acts_about_that_axis(usda: Usda):
    made = usda.convert(arm("float drive:rotY:physics:stiffness = 10", kind="D6", apis=("PhysicsDriveAPI:rotY",)))
    assert made.model.actuator("elbow").gear == pytest.approx([0, 1, 0, 0, 0, 0])


def test_a_prismatic_joint_slides_in_stage_units(usda: Usda):
    made = usda.convert(
        arm("float physics:lowerLimit = -50", "float physics:upperLimit = 50", kind="Prismatic", metres=0.01)
    )
    assert made.model.joint("elbow").range == pytest.approx([-0.5, 0.5])


def test_a_physx_fixed_tendon_is_a_tendon_over_its_joints(usda: Usda):
    root, axis = "physxTendon:t:", "PhysxTendonAxisAPI:t"
    text = stage(
        robot(
            body("base", cube("c0")), body("a", cube("c1")), body("b", cube("c2")), joint("Fixed", "weld", None, "base"),
            joint("Revolute", "ja", "base", "a", f"float[] {root}gearing = [1]", f"float {root}stiffness = 0.05", f"float {root}damping = 0.01",
                  f"float {root}restLength = 0.2", f"float {root}lowerLimit = -1", f"float {root}upperLimit = 1",
                  apis=("PhysxTendonAxisRootAPI:t", axis)),
            joint("Revolute", "jb", "a", "b", f"float[] {root}gearing = [-2]", apis=(axis,)),
        )
    )  # fmt: skip
    made = usda.convert(text)
    assert made.model.ntendon == 1
    assert made.model.wrap_prm.tolist() == [1.0, -2.0]
    assert float(made.model.tendon_stiffness.reshape(-1)[0]) == pytest.approx(0.05)
    assert made.model.tendon_lengthspring[0] == pytest.approx([0.2, 0.2])
    assert made.model.tendon_range[0] == pytest.approx([-1, 1])


def test_a_mujoco_tendon_is_kept_to_the_number(usda: Usda):
    tendon = prim(
        "MjcTendon", "cable", "rel mjc:path = [</robot/elbow>]", "double[] mjc:path:coef = [0.5]",
        'uniform token mjc:type = "fixed"', "double mjc:frictionloss = 0.3",
        "color4f mjc:rgba = (0.5, 0.25, 0, 1)",
    )  # fmt: skip
    made = usda.convert(arm(apis=("MjcJointAPI",), more=(tendon,)))
    (read,) = usda.read(usda.folder / "robot.usda").robot.tendons
    assert read.mujoco["rgba"] == (0.5, 0.25, 0, 1)  # a Gf vector, not an array; MJCF has no colour for fixed tendons
    assert made.model.tendon_frictionloss[0] == pytest.approx(0.3)
    assert made.model.wrap_prm.tolist() == [0.5]


def test_a_soft_mimic_keeps_its_frequency_as_a_time_constant(usda: Usda):
    start = "physxMimicJoint:rotX:"
    lines = (
        f"rel {start}referenceJoint = </robot/elbow>",
        f"float {start}naturalFrequency = 25",
        f"float {start}dampingRatio = 0.5",
    )
    tip = (
        body("tip", cube("c9")),
        joint("Revolute", "finger", "base", "tip", *lines, apis=("PhysxMimicJointAPI:rotX",)),
    )
    made = usda.convert(arm(more=tip))
    assert made.model.eq_solref[0] == pytest.approx([1 / (2 * math.pi * 25 * 0.5), 0.5])
