"""Numbers that are none, are infinite, or that no body can have; joints that lead nowhere; options that mean nothing."""

from __future__ import annotations

import pytest

from tests.bad_input.conftest import Command
from tests.usda import COLLIDER, MASS, arm, body, cube, joint, lone, place, prim, robot, stage


def arm_with(*inside: str, apis: tuple[str, ...] = ()) -> str:
    """The smallest robot, with these lines on its link."""
    return stage(
        robot(
            body("base", cube("base_shape")),
            body("link", *inside, at=(1, 0, 0), apis=apis),
            joint("Fixed", "weld", None, "base"),
            joint("Revolute", "elbow", "base", "link", at0=(1, 0, 0)),
        )
    )


def in_scene(*lines: str) -> str:
    return arm() + prim("PhysicsScene", "scene", *lines)


def on_material(*lines: str) -> str:
    bound = cube("shape", 0.2, "rel material:binding:physics = </robot/box/rubber>")
    return lone(bound, prim("Material", "rubber", *lines, apis=("PhysicsMaterialAPI",)))


def driven(line: str) -> str:
    stiff = "float drive:angular:physics:stiffness = 10"
    lines = [line] if "stiffness" in line else [line, stiff]
    return arm(*lines, apis=("PhysicsDriveAPI:angular",))


NOT_FINITE = ("nan", "inf", "-inf")

# What is written, with a %s for the value, and the place that the message must name.
NUMBERS = {
    "mass": (arm_with("float physics:mass = %s", cube()), "/robot/link.physics:mass"),
    "density": (arm_with("float physics:density = %s", cube()), "/robot/link.physics:density"),
    "inertia": (
        arm_with("float physics:mass = 1", "float3 physics:diagonalInertia = (%s, 1, 1)", cube()),
        "/robot/link.physics:diagonalInertia",
    ),
    "centre of mass": (
        arm_with("point3f physics:centerOfMass = (%s, 0, 0)", cube()),
        "/robot/link.physics:centerOfMass",
    ),
    "principal axes": (
        arm_with("quatf physics:principalAxes = (%s, 0, 0, 0)", cube()),
        "/robot/link.physics:principalAxes",
    ),
    "a collider's mass": (
        arm_with(cube("shape", 0.2, "float physics:mass = %s", apis=(COLLIDER, MASS))),
        "/robot/link/shape.physics:mass",
    ),
    "a collider's density": (
        arm_with(cube("shape", 0.2, "float physics:density = %s", apis=(COLLIDER, MASS))),
        "/robot/link/shape.physics:density",
    ),
    "damping of a body": (
        arm_with("float physxRigidBody:linearDamping = %s", cube()),
        "/robot/link.physxRigidBody:linearDamping",
    ),
    "position": (lone(cube()).replace("translate = (0, 0, 0)", "translate = (%s, 0, 0)", 1), "/robot/box"),
    "scale": (lone(cube(), scale=(1, 1, 1)).replace("scale = (1, 1, 1)", "scale = (%s, 1, 1)"), "/robot/box"),
    "position of a shape": (
        lone(cube(at=(9, 0, 0))).replace("translate = (9, 0, 0)", "translate = (%s, 0, 0)"),
        "/robot/box/shape",
    ),
    "size of a cube": (lone(prim("Cube", "c", "double size = %s", apis=(COLLIDER,))), "/robot/box/c.size"),
    "radius of a sphere": (lone(prim("Sphere", "s", "double radius = %s", apis=(COLLIDER,))), "/robot/box/s.radius"),
    "height of a cone": (lone(prim("Cone", "c", "double height = %s", apis=(COLLIDER,))), "/robot/box/c.height"),
    "width of a plane": (
        stage(robot(body("box", cube()), prim("Plane", "floor", "double width = %s", apis=(COLLIDER,)), apis=())),
        "/robot/floor.width",
    ),
    "joint position": (
        arm().replace("localPos1 = (0, 0, 0)", "localPos1 = (%s, 0, 0)"),
        ".physics:localPos1",
    ),
    "joint rotation": (arm("quatf physics:localRot0 = (%s, 0, 0, 0)"), "/robot/elbow.physics:localRot0"),
    "stiffness": (driven("float drive:angular:physics:stiffness = %s"), "drive:angular:physics:stiffness"),
    "damping": (driven("float drive:angular:physics:damping = %s"), "drive:angular:physics:damping"),
    "target": (driven("float drive:angular:physics:targetPosition = %s"), "drive:angular:physics:targetPosition"),
    "speed": (driven("float drive:angular:physics:targetVelocity = %s"), "drive:angular:physics:targetVelocity"),
    "armature": (arm("float physxJoint:armature = %s", apis=("PhysxJointAPI",)), "/robot/elbow.physxJoint:armature"),
    "joint friction": (
        arm("float physxJoint:jointFriction = %s", apis=("PhysxJointAPI",)),
        "/robot/elbow.physxJoint:jointFriction",
    ),
    "state": (
        arm("float state:angular:physics:position = %s", apis=("PhysicsJointStateAPI:angular",)),
        "/robot/elbow.state:angular:physics:position",
    ),
    "friction": (on_material("float physics:dynamicFriction = %s"), "/robot/box/rubber.physics:dynamicFriction"),
    "restitution": (on_material("float physics:restitution = %s"), "/robot/box/rubber.physics:restitution"),
    "direction of gravity": (in_scene("vector3f physics:gravityDirection = (0, 0, %s)"), "/scene.physics:gravityDirection"),
    "rate": (in_scene("float physxScene:timeStepsPerSecond = %s"), "/scene.physxScene:timeStepsPerSecond"),
    "unit of length": (arm(metres=0.125).replace("0.125", "%s"), "metersPerUnit"),
    "unit of mass": (arm(more=()).replace("upAxis", "kilogramsPerUnit = %s\nupAxis"), "kilogramsPerUnit"),
}  # fmt: skip


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_is_not_finite_is_refused_with_its_place(command: Command, name: str, value: str):
    text, where = NUMBERS[name]
    said = command.refuse(text.replace("%s", value))
    assert "robot.usda:/" in said
    assert "E014" in said
    assert where in said


def test_the_urdf_refuses_what_the_mjcf_refuses(command: Command):
    for text, where in NUMBERS.values():
        assert where in command.refuse(text.replace("%s", "inf"), suffix=".urdf")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (arm("float physics:lowerLimit = nan"), "/robot/elbow.physics:lowerLimit"),
        (arm("float physics:upperLimit = nan"), "/robot/elbow.physics:upperLimit"),
        (driven("float drive:angular:physics:maxForce = nan"), "drive:angular:physics:maxForce"),
        (arm("float physxJoint:maxJointVelocity = nan", apis=("PhysxJointAPI",)), "physxJoint:maxJointVelocity"),
        (arm("float physics:coneAngle0Limit = nan", kind="Spherical"), "/robot/elbow.physics:coneAngle0Limit"),
        (
            arm("float limit:rotX:physics:low = nan", apis=("PhysicsLimitAPI:rotX",), kind="D6"),
            "limit:rotX:physics:low",
        ),
        (lone(cube("shape", 0.2, "float physxCollision:contactOffset = nan")), "/robot/box/shape.physxCollision"),
        (in_scene("float physics:gravityMagnitude = nan"), "/scene.physics:gravityMagnitude"),
        (in_scene("float physics:gravityMagnitude = inf"), "/scene.physics:gravityMagnitude"),
    ],
)
def test_where_infinity_says_no_limit_nan_is_refused_all_the_same(command: Command, suffix: str, text: str, where: str):
    assert where in command.refuse(text, suffix=suffix)


@pytest.mark.parametrize(
    "text",
    [
        arm("float physics:lowerLimit = -inf", "float physics:upperLimit = inf"),
        driven("float drive:angular:physics:maxForce = inf"),
        arm("float physxJoint:maxJointVelocity = inf", apis=("PhysxJointAPI",)),
        lone(cube("shape", 0.2, "float physxCollision:contactOffset = -inf")),
        in_scene("float physics:gravityMagnitude = -inf"),
        arm_with("point3f physics:centerOfMass = (-inf, -inf, -inf)", cube()),
    ],
)
def test_infinities_that_usd_gives_a_meaning_are_read(command: Command, suffix: str, text: str):
    found = command.accept(text, suffix=suffix)
    assert "inf" not in found.target.read_text(encoding="utf-8").replace("info", "")
    found.load()


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (arm_with('string physics:mass = "heavy"', cube()), "/robot/link.physics:mass", "'heavy'"),
        (arm_with("float2 physics:centerOfMass = (1, 2)", cube()), "/robot/link.physics:centerOfMass", "three numbers"),
        (arm('uniform token physics:axis = "W"'), "/robot/elbow.physics:axis", "'W' is no axis"),
        (lone(prim("Capsule", "c", 'uniform token axis = "no"', apis=(COLLIDER,))), "/robot/box/c.axis", "'no' is no"),
        (lone(prim("Cube", "c", 'string size = "large"', apis=(COLLIDER,))), "/robot/box/c.size", "'large'"),
        (arm("float physics:localRot0 = 1"), "/robot/elbow.physics:localRot0", "no finite quaternion"),
        (lone(cube(), prim("Camera", "eye", 'string focalLength = "far"')), "/robot/box/eye.focalLength", "'far'"),
        (arm(metres=0), "/", "metersPerUnit is 0.0"),
        (arm(metres=-1), "/", "metersPerUnit is -1.0"),
        (lone(cube(), scale=(0, 1, 1)), "/robot/box", "its scale is zero"),
    ],
)
def test_a_value_of_another_kind_is_refused(command: Command, text: str, where: str, what: str):
    said = command.refuse(text)
    assert f"robot.usda:{where}" in said
    assert what in said


def test_what_a_stage_says_for_mujoco_is_checked_too(command: Command):
    def native(*inside: str, options: str = "") -> str:
        scene = prim("PhysicsScene", "scene", options, apis=("MjcSceneAPI",))
        return arm(more=inside) + scene

    motor = ("rel mjc:target = </robot/elbow>",)
    assert "/scene.mjc:option:timestep" in command.refuse(native(options="double mjc:option:timestep = nan"))
    assert "use euler" in command.refuse(native(options='uniform token mjc:option:integrator = "guess"'))
    gear = prim("MjcActuator", "motor", *motor, "double[] mjc:gear = [nan, 0, 0, 0, 0, 0]")
    assert "/robot/motor.mjc:gear" in command.refuse(native(gear))
    gain = prim("MjcActuator", "motor", *motor, 'uniform token mjc:gainType = "guess"')
    assert "this MuJoCo has no Gain of that name" in command.refuse(native(gain))
    assert "V003" in command.accept(native(prim("MjcActuator", "motor", "rel mjc:target = </robot/no>"))).err
    tendon = prim("MjcTendon", "cable", "rel mjc:path = </robot/elbow>", "int[] mjc:path:indices = [0, 5]")
    assert "point at nothing" in command.accept(native(tendon)).said("V003")


# ---------------------------------------------------------------------------------- masses that no body has
@pytest.mark.parametrize(
    ("text", "where", "severity"),
    [
        (arm_with("float physics:mass = 0", cube()), "/robot/link", "info"),
        (arm_with("float physics:mass = -5", cube()), "/robot/link", "warning"),
        (arm_with("float physics:density = -5", cube()), "/robot/link", "warning"),
        (arm_with(cube("s", 0.2, "float physics:mass = -5", apis=(COLLIDER, MASS))), "/robot/link/s", "warning"),
        (arm_with(cube("s", 0.2, "float physics:density = -5", apis=(COLLIDER, MASS))), "/robot/link/s", "warning"),
    ],
)
def test_a_mass_or_density_that_is_not_positive_counts_as_none(
    command: Command, suffix: str, text: str, where: str, severity: str
):
    """8 kg: the cube of 0.2 m at 1000 kg/m³, and so do all five in ovphysx 0.7.0."""
    found = command.accept(text, suffix=suffix)
    assert f"{severity} robot.usda:{where} " in found.said("E004")
    assert "as if unauthored, as in PhysX" in found.said("E004")
    assert found.load().body("link").mass[0] == pytest.approx(8.0)


def test_a_link_with_neither_mass_nor_collider_is_named(command: Command, suffix: str):
    found = command.accept(arm_with("float physics:mass = 0"), suffix=suffix)
    assert "no mass and no collider: PhysX gives such a frame 1 kg" in found.said("E004")
    assert found.load().body("link").mass[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "inside", ["float physics:mass = 1e-30", prim("Sphere", "s", "double radius = 1e-7", apis=(COLLIDER,))]
)
def test_a_mass_too_small_for_any_engine_is_refused(command: Command, suffix: str, inside: str):
    said = command.refuse(arm_with(inside), suffix=suffix)
    assert "robot.usda:/robot/link: error E004" in said
    assert "smaller than engines compute with" in said


@pytest.mark.parametrize("moments", ["(1, 1, 5)", "(0, 1, 1)", "(0, 0, 1)", "(-1, 1, 3)"])
def test_an_inertia_that_no_body_can_have_is_named_and_loads(command: Command, suffix: str, moments: str):
    text = arm_with("float physics:mass = 1", f"float3 physics:diagonalInertia = {moments}", cube())
    found = command.accept(text, suffix=suffix)
    assert "robot.usda:/robot/link " in found.said("E003")
    assert "mend physics:diagonalInertia" in found.said("E003")
    low, middle, high = sorted(found.load().body("link").inertia)
    assert low > 0
    assert low + middle >= high * (1 - 1e-9)


def test_moments_too_small_for_mujoco_are_raised(command: Command):
    text = arm_with("float physics:mass = 1", "float3 physics:diagonalInertia = (1e-20, 1e-20, 1e-20)", cube())
    found = command.accept(text)
    assert "robot.usda:/robot/link " in found.said("E003")
    assert found.load().body("link").inertia[0] > 0


def test_what_mujoco_refuses_is_said_with_the_prim(command: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("isaaclab_mirror.robot.checks.SMALLEST_MASS_KG", 0.0)
    said = command.refuse(arm_with("float physics:mass = 1e-30", "float3 physics:diagonalInertia = (1, 1, 1)", cube()))
    assert "robot.usda:/robot/link: error E033: MuJoCo cannot compile the robot" in said


# ---------------------------------------------------------------------------------- sizes
@pytest.mark.parametrize("size", ["0", "-1", "1e-20", "1e29"])
@pytest.mark.parametrize("shape", ["Cube", "Sphere", "Cylinder", "Capsule", "Cone"])
@pytest.mark.parametrize("apis", [(COLLIDER,), ()], ids=["collider", "visual"])
def test_a_shape_without_a_size_is_left_out_and_named(
    command: Command, suffix: str, shape: str, size: str, apis: tuple[str, ...]
):
    attribute = "size" if shape == "Cube" else "radius"
    odd = prim(shape, "odd", f"double {attribute} = {size}", apis=apis)
    found = command.accept(arm_with(cube(), odd), suffix=suffix)
    assert "robot.usda:/robot/link/odd " in found.said("E006")
    assert f"a {shape} of size" in found.said("E006")
    assert found.load().body("link").mass[0] == pytest.approx(8.0)


def test_a_shape_whose_scale_is_zero_is_left_out(command: Command, suffix: str):
    flat = prim("Cube", "flat", place(scale=(0, 1, 1)), apis=(COLLIDER,))
    assert "/robot/link/flat" in command.accept(arm_with(cube(), flat), suffix=suffix).said("E006")


def test_a_capsule_without_a_length_is_a_sphere(command: Command):
    found = command.accept(lone(prim("Capsule", "c", "double height = 0", "double radius = 0.1", apis=(COLLIDER,))))
    assert "E006" not in found.err
    assert found.load().body("box").mass[0] == pytest.approx(1000 * 4 / 3 * 3.141592653589793 * 0.001)


@pytest.mark.parametrize("line", ["float physxJoint:armature = -1", "float physxJoint:jointFriction = -1"])
def test_a_negative_armature_or_friction_is_read_as_none(command: Command, suffix: str, line: str):
    found = command.accept(arm(line, apis=("PhysxJointAPI",)), suffix=suffix)
    assert "-1 is negative: read as 0" in found.said("E014")
    model = found.load()
    assert model.dof_armature[0] == model.dof_frictionloss[0] == 0


def test_an_unknown_combine_mode_is_read_as_the_default(command: Command, suffix: str):
    found = command.accept(on_material('uniform token physxMaterial:frictionCombineMode = "guess"'), suffix=suffix)
    assert "/robot/box/rubber.physxMaterial:frictionCombineMode" in found.said("E014")
    assert "use one of average, min" in found.said("E014")


@pytest.mark.parametrize("colour", ["(nan, 0, 0)", "(inf, 0, 0)"])
def test_a_colour_that_is_none_is_left_out(command: Command, suffix: str, colour: str):
    painted = lone(cube("shape", 0.2, f"color3f[] primvars:displayColor = [{colour}]"))
    assert "is no colour: left out" in command.accept(painted, suffix=suffix).said("E014")


# ---------------------------------------------------------------------------------- joints that lead nowhere
@pytest.mark.parametrize("side", ["body0 = </robot/base>", "body1 = </robot/link>"])
def test_a_joint_to_a_body_that_is_not_there_is_left_out_and_named(command: Command, suffix: str, side: str):
    found = command.accept(arm().replace(side, side.split(" ")[0] + " = </robot/nothing>"), suffix=suffix)
    assert "robot.usda:/robot/" in found.said("E012")
    assert "names /robot/nothing, which is not there: the joint is left out" in found.said("E012")
    assert found.load().nbody == 3


def test_a_joint_to_an_inactive_body_is_left_out_and_named(command: Command):
    text = arm().replace('def Xform "link" (', 'def Xform "link" (\nactive = false')
    found = command.accept(text)
    assert "names /robot/link, which is inactive" in found.said("E012")
    assert found.load().nbody == 2


def test_a_joint_of_a_body_to_itself_is_left_out_and_named(command: Command, suffix: str):
    found = command.accept(arm().replace("body1 = </robot/link>", "body1 = </robot/base>"), suffix=suffix)
    assert "/robot/elbow the joint is left out: ties a body to itself" in found.said("E029")


@pytest.mark.parametrize("count", [2, 3, 7])
def test_joints_in_a_circle_are_a_tree_and_a_loop(command: Command, suffix: str, count: int):
    bodies = [body(f"b{k}", cube()) for k in range(count)]
    circle = [joint("Revolute", f"j{k}", f"b{k}", f"b{(k + 1) % count}") for k in range(count)]
    found = command.accept(stage(robot(*bodies, *circle)), suffix=suffix)
    assert "robot.usda:/robot/j" in found.said("E005" if count > 2 else "E021")
    assert found.load().nbody == count + 1


@pytest.mark.parametrize(
    ("target", "what"), [("</robot/nothing>", "no joint of the robot"), ("</robot/elbow>", "the joint itself")]
)
def test_a_mimic_of_nothing_or_of_itself_is_left_out_and_named(command: Command, suffix: str, target: str, what: str):
    lines = f"rel physxMimicJoint:rotX:referenceJoint = {target}"
    found = command.accept(arm(lines, apis=("PhysxMimicJointAPI:rotX",)), suffix=suffix)
    assert f"/robot/elbow physxMimicJoint:rotX:referenceJoint names {what}" in found.said("E012")
    assert found.load().neq == 0


def test_a_filter_or_material_that_is_not_there_is_named(command: Command, suffix: str):
    filtered = arm_with(cube(), "rel physics:filteredPairs = </robot/nothing>", apis=("PhysicsFilteredPairsAPI",))
    assert "/robot/nothing, which is not there" in command.accept(filtered, suffix=suffix).said("E012")
    bound = lone(cube("shape", 0.2, "rel material:binding:physics = </robot/nothing>"))
    assert "/robot/nothing, which is not there" in command.accept(bound, suffix=suffix).said("E012")


# ---------------------------------------------------------------------------------- options that mean nothing
@pytest.mark.parametrize(
    ("assignment", "code", "what"),
    [
        ("timestep=-1", "E091", "timestep: error E091: -1.0 s is no step"),
        ("timestep=0", "E091", "0.0 s is no step"),
        ("timestep=inf", "E091", "'inf' is no number"),
        ("substeps=0", "E091", "substeps: error E091: 0 steps in one"),
        ("substeps=-3", "E091", "-3 steps in one"),
        ("mesh_format=fbx", "E043", "mesh_format 'fbx' is not known"),
        ("strict=maybe", "E091", "'maybe' is neither true nor false"),
    ],
)
def test_an_option_that_means_nothing_is_refused(command: Command, suffix: str, assignment: str, code: str, what: str):
    said = command.refuse(arm(), "--set", assignment, suffix=suffix)
    assert what in said
    assert code in said
