from __future__ import annotations

import math

import pytest

from isaaclab_mirror.robot.sensors import SensorType
from tests.usda import Usda, arm, body, cube, joint, lone, prim, robot, stage


def scene(*lines: str, apis: tuple[str, ...] = ()) -> str:
    return prim("PhysicsScene", "scene", *lines, apis=apis)


def test_without_a_scene_gravity_is_the_earths(usda: Usda):
    assert usda.convert(lone(cube())).model.opt.gravity == pytest.approx([0, 0, -9.81])


def test_gravity_in_centimetres_becomes_metres(usda: Usda):
    text = lone(cube(), metres=0.01) + scene(
        "vector3f physics:gravityDirection = (0, 0, -1)", "float physics:gravityMagnitude = 981"
    )
    assert usda.read(text).robot.scene.gravity == pytest.approx((0, 0, -9.81))


def test_a_stage_with_y_up_is_turned_and_falls_down(usda: Usda):
    text = lone(cube(), up="Y") + scene(
        "vector3f physics:gravityDirection = (0, -1, 0)", "float physics:gravityMagnitude = 9.81"
    )
    made = usda.convert(text)
    assert made.model.opt.gravity == pytest.approx([0, 0, -9.81])
    assert made.poses().body("box").xmat.reshape(3, 3) @ [0, 1, 0] == pytest.approx([0, 0, 1], abs=1e-9)
    assert "E017" in made.codes


def test_with_y_up_the_joints_turn_with_the_robot(usda: Usda):
    made = usda.convert(arm('uniform token physics:axis = "Y"', up="Y"))
    data = made.poses(elbow=0.0)
    assert data.body("link").xpos == pytest.approx([1, 0, 0], abs=1e-9)
    assert data.joint("elbow").xaxis == pytest.approx([0, 0, 1], abs=1e-9)


def test_kilograms_per_unit_scale_authored_masses_and_not_the_default_density(usda: Usda):
    tons = {"more": "kilogramsPerUnit = 1000"}
    assert usda.read(lone(cube(), **tons)).inertia().mass_kg == pytest.approx(8.0)  # PhysX: 0.008 of its units
    assert usda.read(lone(cube(), "float physics:mass = 2", **tons)).inertia().mass_kg == pytest.approx(2000.0)


def test_the_step_and_the_solver_of_the_scene_are_kept(usda: Usda):
    lines = ("uint physxScene:timeStepsPerSecond = 120", 'uniform token physxScene:solverType = "TGS"')
    text = lone(cube()) + scene(*lines, apis=("PhysxSceneAPI",))
    read = usda.read(text).robot.scene
    assert (read.timestep_s, read.solver) == (pytest.approx(1 / 120), "TGS")
    assert usda.convert(text).model.opt.timestep == pytest.approx(1 / 120)


def test_the_iterations_of_the_articulation_are_read(usda: Usda):
    text = stage(
        robot("int physxArticulation:solverPositionIterationCount = 8", body("base"), body("link"),
              joint("Revolute", "j", "base", "link"), apis=("PhysicsArticulationRootAPI", "PhysxArticulationAPI"))
    )  # fmt: skip
    assert usda.read(text).robot.scene.position_iterations == 8


def test_mujocos_own_options_are_kept_to_the_number(usda: Usda):
    text = lone(cube()) + scene(
        "uniform double mjc:option:timestep = 0.004", "uniform int mjc:option:iterations = 7", apis=("MjcSceneAPI",)
    )
    made = usda.convert(text)
    assert (made.model.opt.timestep, made.model.opt.iterations) == (0.004, 7)


def test_a_camera_keeps_its_place_and_field_of_view(usda: Usda):
    camera = prim("Camera", "eye", "float focalLength = 24", "float verticalAperture = 18", "double3 xformOp:translate = (0, 0, 0.5)",
                  'uniform token[] xformOpOrder = ["xformOp:translate"]')  # fmt: skip
    made = usda.convert(lone(cube(), camera))
    assert made.model.camera("eye").fovy[0] == pytest.approx(math.degrees(2 * math.atan(18 / 48)), rel=1e-6)
    assert made.model.camera("eye").pos == pytest.approx([0, 0, 0.5])


def test_an_imu_is_a_gyroscope_and_an_accelerometer_at_a_site(usda: Usda):
    made = usda.convert(lone(cube(), prim("IsaacImuSensor", "imu")))
    assert [made.model.sensor(k).name for k in range(made.model.nsensor)] == ["imu_gyro", "imu_acc"]


def test_a_contact_sensor_is_read(usda: Usda):
    made = usda.read(lone(cube(), prim("IsaacContactSensor", "touch"))).robot
    assert [s.type for s in made.sensors] == [SensorType.CONTACT]


def test_a_contact_sensor_is_a_touch_sensor_that_weighs_what_rests_on_it(usda: Usda):
    import mujoco

    ground = prim("Plane", "ground", 'uniform token axis = "Z"', apis=("PhysicsCollisionAPI",))
    text = stage(
        robot(
            body("box", cube(), "float physics:mass = 2", prim("IsaacContactSensor", "feel"), at=(0, 0, 0.1)),
            ground,
            apis=(),
        )
    )
    made = usda.convert(text)
    data = made.poses()
    for _ in range(1000):
        mujoco.mj_step(made.model, data)
    assert data.sensor("feel_touch").data[0] == pytest.approx(2 * 9.81, rel=1e-3)
    assert made.result.fidelity.row("sensors").approximated == 1


@pytest.mark.parametrize(
    ("type_name", "apis"), [("Lidar", ()), ("OmniLidar", ()), ("Camera", ("IsaacRtxLidarSensorAPI",))]
)
def test_a_lidar_of_every_era_is_read_and_counted_as_lost(usda: Usda, type_name: str, apis: tuple[str, ...]):
    made = usda.convert(lone(cube(), prim(type_name, "scan", apis=apis)))
    assert made.result.fidelity.row("sensors").lost == 1
    assert made.model.ncam == 0


def test_an_isaac_prim_that_nobody_knows_is_named(usda: Usda):
    assert "IsaacFutureSensor is not read" in usda.read(lone(cube(), prim("IsaacFutureSensor", "x"))).said("E018")
