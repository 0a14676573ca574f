"""Limits, dynamics, mimics and drives of a URDF."""

from dataclasses import replace
from pathlib import Path

import mujoco
import pinocchio
import pytest
import yourdfpy

from isaaclab_mirror.formats.options import WriteOptions
from isaaclab_mirror.robot.constraints import Mimic
from isaaclab_mirror.robot.drives import Actuator, Drive, DriveType, Transmission
from isaaclab_mirror.robot.joints import JointDynamics, JointLimits
from isaaclab_mirror.robot.model import Robot
from tests.formats.urdf.robots import Written, ball, free, hinge, joint, robot, slide, write


def one(axis, **rest) -> Robot:
    return robot(free(), joint("base", "arm", axis), **rest)


def limit(written: Written, name: str) -> dict[str, str]:
    return dict(written.joint(name).find("limit").attrib)


def test_all_four_limits_are_spelled(tmp_path: Path):
    limits = JointLimits(lower=-1.25, upper=0.5, effort=33.5, velocity=21.0)
    written = write(one(hinge("a", limits=limits)), tmp_path)
    assert limit(written, "a") == {"lower": "-1.25", "upper": "0.5", "effort": "33.5", "velocity": "21"}
    model = pinocchio.buildModelFromUrdf(str(written.path))
    assert (model.lowerPositionLimit[0], model.effortLimit[0], model.velocityLimit[0]) == (-1.25, 33.5, 21.0)
    assert [written.fidelity.row(f"{k} limits").kept for k in ("joint", "effort", "velocity")] == [1, 1, 1]


def test_the_bound_of_a_drive_is_the_effort_limit(tmp_path: Path):
    written = write(one(hinge("a", drives=(Drive(stiffness=40.0, damping=1.0, max_effort=23.7),))), tmp_path)
    assert limit(written, "a")["effort"] == "23.7"


def test_what_is_unsaid_is_a_large_number_and_told(tmp_path: Path):
    written = write(one(hinge("a")), tmp_path)
    assert limit(written, "a") == {"lower": "-1", "upper": "1", "effort": "1000000000", "velocity": "1000000000"}
    assert written.fidelity.row("effort limits").approximated == 1
    assert "1e+09" in written.fidelity.row("velocity limits").note
    model = mujoco.MjModel.from_xml_path(str(written.path))
    assert model.jnt_range[0].tolist() == [-1.0, 1.0]


def test_a_hinge_without_range_is_continuous_and_needs_no_limit(tmp_path: Path):
    written = write(one(hinge("a", span=None)), tmp_path)
    assert written.joint("a").get("type") == "continuous"
    assert written.joint("a").find("limit") is None
    assert not mujoco.MjModel.from_xml_path(str(written.path)).jnt_limited[0]


def test_a_continuous_hinge_keeps_its_effort_limit(tmp_path: Path):
    written = write(one(hinge("a", limits=JointLimits(effort=3.0))), tmp_path)
    assert limit(written, "a") == {"effort": "3", "velocity": "1000000000"}
    assert pinocchio.buildModelFromUrdf(str(written.path)).effortLimit[0] == 3.0


def test_a_slide_without_range_gets_a_thousand_kilometres(tmp_path: Path):
    written = write(one(slide("a", span=None)), tmp_path)
    assert limit(written, "a")["lower"] == "-1000000"
    assert written.fidelity.row("joint limits").approximated == 1


def test_a_hinge_bounded_on_one_side_stays_revolute(tmp_path: Path):
    written = write(one(hinge("a", limits=JointLimits(lower=-float("inf"), upper=0.5))), tmp_path)
    assert written.joint("a").get("type") == "revolute"
    assert (limit(written, "a")["lower"], limit(written, "a")["upper"]) == ("-1000000", "0.5")
    assert written.fidelity.row("joint limits").approximated == 1


def test_a_reference_shifts_the_limits_to_the_pose_at_rest(tmp_path: Path):
    made = one(hinge("a", span=(-0.5, 1.5), mujoco={"ref": 0.5}))
    written = write(replace(made, dialect="mujoco"), tmp_path)
    assert (limit(written, "a")["lower"], limit(written, "a")["upper"]) == ("-1", "1")


def test_damping_and_friction_are_spelled_and_the_rest_is_counted(tmp_path: Path):
    dynamics = JointDynamics(damping=0.5, friction=0.2, static_friction=0.3, stiffness=2.0, armature=0.01)
    written = write(one(hinge("a", dynamics=dynamics)), tmp_path)
    assert dict(written.joint("a").find("dynamics").attrib) == {"damping": "0.5", "friction": "0.2"}
    rows = {row.concept: row for row in written.fidelity}
    assert (rows["armature"].lost, rows["joint springs"].lost, rows["joint friction"].approximated) == (1, 1, 1)


# -------------------------------------------------------------------------------- mimics
def fingers(*mimics: Mimic) -> Robot:
    joints = (joint("base", f"finger{k}", hinge(f"f{k}")) for k in range(4))
    return robot(free(), *joints, mimics=mimics)


def mimic(follower: str, leader: str, *coefficients: float, **rest) -> Mimic:
    return Mimic(name=f"{follower}_mimic", follower=follower, leader=leader, coefficients=coefficients, **rest)


def test_a_mimic_has_offset_and_multiplier(tmp_path: Path):
    written = write(fingers(mimic("f1", "f0", 0.25, -1.5)), tmp_path)
    assert dict(written.joint("f1").find("mimic").attrib) == {"joint": "f0", "multiplier": "-1.5", "offset": "0.25"}
    urdf = yourdfpy.URDF.load(str(written.path), load_meshes=False)
    assert urdf.actuated_joint_names == ["f0", "f2", "f3"]
    assert written.fidelity.row("mimics").kept == 1


def test_a_mimic_of_a_mimic_is_led_by_the_driver(tmp_path: Path):
    chain = (mimic("f2", "f1", 0.1, 2.0), mimic("f1", "f0", 0.25, -1.5), mimic("f3", "f2", 0.0, 1.0))
    written = write(fingers(*chain), tmp_path)
    assert dict(written.joint("f2").find("mimic").attrib) == {"joint": "f0", "multiplier": "-3", "offset": "0.6"}
    assert dict(written.joint("f3").find("mimic").attrib) == {"joint": "f0", "multiplier": "-3", "offset": "0.6"}


@pytest.mark.parametrize(
    ("mimics", "kept", "approximated", "lost"),
    [
        ([mimic("f1", "f0", 0.0, 1.0, 0.5)], 0, 1, 0),
        ([mimic("f1", "f0", 0.0, 1.0, natural_frequency_hz=20.0)], 0, 1, 0),
        ([mimic("f1", "f0", 0.0, 1.0, active=False)], 0, 0, 1),
        ([mimic("f1", "f0", 0.0, 1.0), mimic("f1", "f2", 0.0, 1.0)], 1, 0, 1),
        ([mimic("f1", "f0", 0.0, 1.0), mimic("f2", "f1", 0.0, 1.0), mimic("f0", "f2", 0.0, 1.0)], 2, 0, 1),
        ([mimic("f1", "f1", 0.0, 1.0)], 0, 0, 1),
    ],
    ids=["polynomial", "compliant", "off", "two leaders", "circle", "itself"],
)
def test_mimics_that_urdf_cannot_say_are_told(
    tmp_path: Path, mimics: list[Mimic], kept: int, approximated: int, lost: int
):
    written = write(fingers(*mimics), tmp_path)
    row = written.fidelity.row("mimics")
    assert (row.kept, row.approximated, row.lost) == (kept, approximated, lost)
    assert len(written.root.findall("joint/mimic")) == kept + approximated
    pinocchio.buildModelFromUrdf(str(written.path), mimic=True)


# -------------------------------------------------------------------------------- drives
def gains(written: Written, name: str) -> dict[str, str]:
    params = written.root.xpath("ros2_control/joint[@name=$name]/param", name=name)
    return {param.get("name"): param.text for param in params}


@pytest.mark.parametrize(
    ("drive", "interface", "expected"),
    [
        (Drive(stiffness=40.0, damping=1.5), "position", {"stiffness": "40", "damping": "1.5"}),
        (Drive(stiffness=0.0, damping=1.5), "velocity", {"stiffness": "0", "damping": "1.5"}),
        (Drive(stiffness=0.0, damping=0.0), "effort", {}),
    ],
)
def test_a_drive_is_a_command_interface_with_its_gains(tmp_path: Path, drive: Drive, interface: str, expected: dict):
    written = write(one(hinge("a", drives=(drive,), initial_position=0.3)), tmp_path)
    assert written.root.find("ros2_control/joint/command_interface").get("name") == interface
    assert gains(written, "a") == expected
    assert written.root.findtext("ros2_control/joint/state_interface/param") == "0.3"
    transmission = written.root.find("transmission")
    assert transmission.find("joint").get("name") == "a"
    assert interface.capitalize() in transmission.findtext("joint/hardwareInterface")
    assert written.fidelity.row("drives").kept == 1
    pinocchio.buildModelFromUrdf(str(written.path))
    yourdfpy.URDF.load(str(written.path))


def test_the_drives_of_a_ball_go_to_its_hinges(tmp_path: Path):
    drives = tuple(Drive(stiffness=k + 1.0, damping=0.0, rotation=k) for k in range(3))
    written = write(one(ball("hip", span=None, drives=drives)), tmp_path)
    assert [gains(written, f"hip_{c}")["stiffness"] for c in "xyz"] == ["1", "2", "3"]


def test_an_authored_actuator_keeps_its_gear(tmp_path: Path):
    motor = Actuator(name="m", transmission=Transmission.JOINT, target="a", gear=(50.0, 0, 0, 0, 0, 0))
    written = write(one(hinge("a"), actuators=(motor,)), tmp_path)
    assert written.root.findtext("transmission/actuator/mechanicalReduction") == "50"
    assert written.root.find("ros2_control/joint/command_interface").get("name") == "effort"


def test_gains_behind_a_gear_are_those_at_the_joint(tmp_path: Path):
    servo = Actuator(name="m", transmission=Transmission.JOINT, target="a", gear=(2.0, 0, 0, 0, 0, 0), gain=(10.0,),
                     bias_type="affine", bias=(0.0, -10.0, -1.0))  # fmt: skip
    written = write(one(hinge("a"), actuators=(servo,)), tmp_path)
    assert gains(written, "a") == {"stiffness": "40", "damping": "4"}


def test_drives_that_urdf_cannot_say_are_counted(tmp_path: Path):
    thrust = Actuator(name="t", transmission=Transmission.SITE, target="rotor")
    muscle = Actuator(name="m", transmission=Transmission.JOINT, target="a", gain_type="muscle", bias_type="muscle")
    written = write(one(hinge("a"), actuators=(thrust, muscle)), tmp_path)
    row = written.fidelity.row("drives")
    assert (row.kept, row.approximated, row.lost) == (0, 1, 1)
    assert [d.where for d in written.found if d.severity == "warning"] == ["t"]


def test_dead_and_acceleration_drives_are_counted(tmp_path: Path):
    dead = hinge("a", drives=(Drive(stiffness=1.0, damping=0.0, max_effort=0.0),))
    accelerating = hinge("b", drives=(Drive(stiffness=9.0, damping=0.0, type=DriveType.ACCELERATION),))
    written = write(robot(free(), joint("base", "x", dead), joint("base", "y", accelerating)), tmp_path)
    row = written.fidelity.row("drives")
    assert (row.kept, row.approximated, row.lost) == (0, 1, 1)


def test_transmissions_can_be_left_out(tmp_path: Path):
    made = one(hinge("a", drives=(Drive(stiffness=1.0, damping=0.0),)))
    written = write(made, tmp_path, WriteOptions(transmissions=False))
    assert written.root.find("transmission") is None
    assert written.root.find("ros2_control") is None
    assert written.fidelity.row("drives").lost == 1
