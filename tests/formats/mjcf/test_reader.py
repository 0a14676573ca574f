"""MJCF and URDF as robot models: MuJoCo makes of them what it makes of the file itself."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from isaaclab_mirror.conversion import inspect_robot
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.robot.joints import JointType
from isaaclab_mirror.sims.mujoco_sim import MujocoSim

FOLDERS = (
    "g1-29dof-velocity-unitree_rl_lab",
    "h1-velocity-flat-isaaclab",
    "go2-velocity-robot_lab",
    "g1-12dof-lstm-unitree_rl_gym",
)
SAME = [
    "body_mass",
    "body_inertia",
    "body_ipos",
    "body_iquat",
    "body_pos",
    "body_quat",
    "jnt_axis",
    "jnt_pos",
    "jnt_range",
    "jnt_limited",
    "geom_pos",
    "geom_quat",
    "geom_friction",
    "geom_contype",
    "geom_conaffinity",
    "geom_condim",
    "geom_solref",
    "exclude_signature",
    "qpos0",
]

MODEL = """<mujoco><compiler angle="radian"/>
<asset><mesh name="wedge" vertex="0 0 0  .1 0 0  0 .1 0  0 0 .1"/></asset>
<worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body name="base" pos="0 0 1"><freejoint name="float"/><geom type="mesh" mesh="wedge" mass="1"/>
 <body name="arm" pos=".1 0 0" quat=".8 0 .6 0"><joint name="swing" axis="0 1 0" range="-1 2" damping=".3" armature=".02"
  frictionloss=".1" stiffness="4" springref=".2" ref=".1"/><joint name="roll" axis="1 0 0"/>
  <geom type="capsule" size=".02 .1" mass=".5" friction=".7 .01 .001"/>
  <body name="finger" pos="0 0 .2"><joint name="slide" type="slide" axis="0 0 1" range="0 .1"/>
   <geom type="box" size=".01 .02 .03" mass=".1"/></body></body></body></worldbody>
<equality><joint joint1="slide" joint2="swing" polycoef="0 .05 0 0 0"/></equality>
<actuator><position joint="swing" kp="30" kv="2" forcerange="-9 9"/><motor joint="roll" gear="3" ctrlrange="-2 2"/></actuator>
<keyframe><key name="home" qpos="0 0 1 1 0 0 0 .3 0 0"/></keyframe></mujoco>"""

URDF = """<?xml version="1.0"?><robot name="r">
<link name="base"><inertial><mass value="2"/><origin xyz=".01 0 0"/><inertia ixx=".02" iyy=".03" izz=".04" ixy="0" ixz="0" iyz="0"/>
</inertial><collision><geometry><mesh filename="package://r_description/meshes/gone.stl"/></geometry></collision>
<visual><geometry><mesh filename="package://r_description/meshes/gone.dae"/></geometry></visual></link>
<link name="leg"><inertial><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size=".1 .2 .3"/></geometry></collision></link>
<link name="foot"><inertial><mass value=".1"/><inertia ixx=".001" iyy=".001" izz=".001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="knee" type="revolute"><parent link="base"/><child link="leg"/><origin xyz="0 0 -.1"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1.5" effort="20" velocity="7"/></joint>
<joint name="sole" type="fixed"><parent link="leg"/><child link="foot"/></joint></robot>"""


@pytest.mark.shared
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_published_model_comes_through_to_the_number(shared: Path, folder: str):
    file = shared / "policies" / folder / "model.xml"
    robot, found, _ = inspect_robot(file)
    assert not found
    with MujocoSim(robot, fidelity="nominal") as simulator:
        ours, theirs = simulator.model, mujoco.MjModel.from_xml_path(str(file))
        for name in SAME:
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-9, err_msg=name)
        free = 6
        for name in ("dof_armature", "dof_damping", "dof_frictionloss"):
            np.testing.assert_allclose(getattr(ours, name)[free:], getattr(theirs, name)[free:], err_msg=name)


def test_everything_of_a_small_model_is_read(tmp_path: Path):
    file = tmp_path / "arm.xml"
    file.write_text(MODEL)
    robot, _, _ = inspect_robot(file)
    assert [joint.type for joint in robot.joints] == [JointType.FLOATING, JointType.D6, JointType.PRISMATIC]
    swing = robot.axis("swing")
    assert (swing.limits.lower, swing.limits.upper) == (-1.0, 2.0)
    numbers = swing.dynamics
    assert (numbers.damping, numbers.armature, numbers.friction, numbers.stiffness) == (0.3, 0.02, 0.1, 4.0)
    assert swing.mujoco["ref"] == 0.1
    assert [(a.target, a.force_range, a.gear[0]) for a in robot.actuators] == [("swing", (-9, 9), 1), ("roll", None, 3)]
    assert (robot.mimics[0].follower, robot.mimics[0].coefficients[1]) == ("slide", 0.05)
    assert robot.keyframes[0].mujoco["qpos"][7] == 0.3
    assert len(robot.meshes[0].faces) == 4
    assert robot.mass_kg == pytest.approx(1.6)


def test_a_small_model_moves_as_the_file_itself_does(tmp_path: Path):
    file = tmp_path / "arm.xml"
    file.write_text(MODEL)
    robot, _, _ = inspect_robot(file)
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    data.qpos[7:] = [0.5, -0.4, 0.02]
    mujoco.mj_forward(model, data)
    with MujocoSim(robot, fidelity="nominal") as simulator:
        simulator.reset()
        ours = mujoco.MjData(simulator.model)
        ours.qpos[:] = data.qpos
        mujoco.mj_forward(simulator.model, ours)
        np.testing.assert_allclose(ours.xpos, data.xpos, atol=1e-12)
        np.testing.assert_allclose(ours.qfrc_bias, data.qfrc_bias, atol=1e-9)
        np.testing.assert_allclose(ours.qfrc_passive, data.qfrc_passive, atol=1e-9)


def test_a_urdfs_root_floats_unless_it_is_told_otherwise_and_a_lost_mesh_is_said(tmp_path: Path):
    file = tmp_path / "r.urdf"
    file.write_text(URDF)
    robot, found, _ = inspect_robot(file)
    assert robot.joints[0].type is JointType.FLOATING
    assert [d.code for d in found] == ["E002"]
    assert [link.name for link in robot.links] == ["base", "leg", "foot"]  # fixed joints stay
    assert (robot.axis("knee").limits.lower, robot.axis("knee").limits.upper) == (-1.0, 1.5)
    assert not robot.collision_filter.self_collision
    fixed, _, _ = inspect_robot(file, ReadOptions(fix_base=True))
    assert fixed.joints[0].type is JointType.FIXED


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.xml", "<mujoco><worldbody><body/></mujoco>", "MuJoCo cannot read it"),
        ("a.xml", "<mujoco/>", "there is no body in it"),
        ("a.urdf", "<robot name='r'>", "no XML"),
        ("a.urdf", "<mujoco/>", "its root element is <mujoco>"),
        (
            "a.urdf",
            "<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><robot name='r'><link name='&x;'/></robot>",
            "E033",
        ),
    ],
)
def test_what_is_no_robot_is_refused(tmp_path: Path, name: str, text: str, words: str):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        inspect_robot(tmp_path / name)
    assert words in str(caught.value)
