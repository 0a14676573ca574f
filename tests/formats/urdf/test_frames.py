"""The tree: link frames on their axes, one axis per joint, one root; judged by Pinocchio, MuJoCo and yourdfpy."""

import math
import tempfile
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest
import yourdfpy
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.urdf.spelling import number
from isaaclab_mirror.robot.inertia import Inertia
from isaaclab_mirror.robot.joints import JointType
from isaaclab_mirror.robot.model import Link, Robot
from isaaclab_mirror.rotations import Pose, matrix_from_quat, quat_from_rpy, quat_normalize, rpy_from_quat
from tests.formats.urdf.robots import (
    Written,
    ball,
    free,
    hinge,
    joint,
    link_frames,
    random_robots,
    robot,
    shifted,
    slide,
    write,
)


def pinocchio_frames(path: Path, q: dict[str, float]) -> dict[str, np.ndarray]:
    """Every link frame as Pinocchio has it."""
    model = pinocchio.buildModelFromUrdf(str(path))
    data, state = model.createData(), pinocchio.neutral(model)
    for name, value in q.items():
        index = model.getJointId(name)
        start = model.idx_qs[index]
        if model.nqs[index] == 2:
            state[start : start + 2] = math.cos(value), math.sin(value)
        else:
            state[start] = value
    pinocchio.framesForwardKinematics(model, data, state)
    return {f.name: data.oMf[k].homogeneous for k, f in enumerate(model.frames) if f.type == pinocchio.BODY}


def mujoco_frames(path: Path, q: dict[str, float]) -> dict[str, np.ndarray]:
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for name, value in q.items():
        data.qpos[model.jnt_qposadr[model.joint(name).id]] = value
    mujoco.mj_kinematics(model, data)
    frames = {}
    for body in range(1, model.nbody):
        frame = shifted(data.xpos[body])
        frame[:3, :3] = data.xmat[body].reshape(3, 3)
        frames[model.body(body).name] = frame
    return frames


def yourdfpy_frames(path: Path, q: dict[str, float]) -> dict[str, np.ndarray]:
    urdf = yourdfpy.URDF.load(str(path), load_meshes=False)
    urdf.update_cfg({name: q[name] for name in urdf.actuated_joint_names if name in q})
    return {link: urdf.get_transform(link) for link in urdf.link_map}


def shift_of(written: Written, link: str) -> np.ndarray:
    """What the comment in a link says of its frame."""
    text = next((c.text for c in written.link(link).iterchildren(etree.Comment) if "frame moved" in c.text), None)
    return (
        np.zeros(3) if text is None else np.array([float(x) for x in text.split("by ")[1].split(" m from")[0].split()])
    )


def random_positions(robot_: Robot, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    return {axis.name: float(rng.uniform(-1.5, 1.0)) for axis in robot_.axes()}


@settings(max_examples=60, deadline=None)
@given(random_robots(), st.integers(0, 2**32 - 1))
def test_links_stand_where_the_model_says_in_every_reader(made: Robot, seed: int):
    q = random_positions(made, seed)
    truth = link_frames(made, q)
    with tempfile.TemporaryDirectory() as folder:
        written = write(made, Path(folder))
        for reader in (pinocchio_frames, mujoco_frames, yourdfpy_frames):
            frames = reader(written.path, q)
            for link, frame in truth.items():
                expected = frame @ shifted(shift_of(written, link))
                # yourdfpy and MuJoCo renormalise; 1e-9 leaves room for three metres' worth of rounding
                np.testing.assert_allclose(frames[link], expected, atol=1e-9, err_msg=f"{reader.__name__} {link}")


@settings(max_examples=40, deadline=None)
@given(random_robots(), st.integers(0, 2**32 - 1))
def test_masses_and_moments_stay_where_they_are(made: Robot, seed: int):
    q = random_positions(made, seed)
    truth = link_frames(made, q)
    with tempfile.TemporaryDirectory() as folder:
        written = write(made, Path(folder))
        frames = pinocchio_frames(written.path, q)
        links = {link.name: link for link in yourdfpy.URDF.load(str(written.path), load_meshes=False).robot.links}
    for link in made.links:
        stated, inertia = links[link.name].inertial, link.inertia
        origin = np.eye(4) if stated.origin is None else stated.origin
        assert stated.mass == inertia.mass_kg
        com = (frames[link.name] @ origin)[:3, 3]
        np.testing.assert_allclose(com, (truth[link.name] @ [*inertia.com_m, 1.0])[:3], atol=1e-9)
        np.testing.assert_allclose(origin[:3, :3], np.eye(3))
        np.testing.assert_allclose(stated.inertia, inertia.tensor(), atol=1e-15)


def test_a_hinge_off_the_origin_moves_the_frame_and_everything_on_it(tmp_path: Path):
    made = robot(free(), joint("base", "arm", hinge("elbow", anchor=(0.0, 0.25, 0.0)), origin=Pose((1.0, 0.0, 0.0))))
    written = write(made, tmp_path)
    assert written.joint("elbow").find("origin").get("xyz") == "1 0.25 0"
    assert written.link("arm").find("inertial/origin").get("xyz") == "0.01 -0.23 0.03"
    np.testing.assert_array_equal(shift_of(written, "arm"), [0.0, 0.25, 0.0])
    row = written.fidelity.row("link frames")
    assert (row.kept, row.approximated) == (1, 1)


def test_an_anchor_along_the_axis_moves_nothing(tmp_path: Path):
    written = write(robot(free(), joint("base", "arm", hinge("elbow", anchor=(0.0, 0.0, 0.7)))), tmp_path)
    assert written.joint("elbow").find("origin") is None
    assert written.fidelity.row("link frames").approximated == 0


def test_a_free_base_is_implied_and_told(tmp_path: Path):
    written = write(robot(free(), joint("base", "arm", hinge("elbow"))), tmp_path)
    assert [link.get("name") for link in written.root.iterfind("link")] == ["base", "arm"]
    assert [d.severity for d in written.found if d.code == "E042"] == ["info"]
    model = pinocchio.buildModelFromUrdf(str(written.path), pinocchio.JointModelFreeFlyer())
    assert model.nv == 7


def test_a_fixed_base_hangs_on_a_world_link(tmp_path: Path):
    fixed = joint(None, "base", origin=Pose((0.0, 0.0, 0.5)), name="root_joint")
    written = write(robot(fixed, joint("base", "arm", hinge("elbow"))), tmp_path)
    element = written.joint("root_joint")
    assert (element.get("type"), element.find("parent").get("link")) == ("fixed", "world")
    assert mujoco.MjModel.from_xml_path(str(written.path)).nbody == 3  # MuJoCo takes `world` for its own
    assert "world" in written.fidelity.row("fixed bases").note


def test_a_fixed_joint_without_name_gets_one(tmp_path: Path):
    written = write(robot(replace(joint(None, "base"), name="")), tmp_path)
    assert written.root.find("joint").get("name") == "world_to_base"


def test_the_name_world_may_be_taken(tmp_path: Path):
    written = write(robot(joint(None, "base"), joint("base", "world", hinge("turn"))), tmp_path)
    assert written.root.find("link").get("name") == "world_1"
    assert pinocchio_frames(written.path, {"turn": 0.5}).keys() >= {"base", "world", "world_1"}


def test_a_root_that_is_the_world_already_gets_no_second_one(tmp_path: Path):
    written = write(robot(joint(None, "world"), joint("world", "arm", hinge("turn"))), tmp_path)
    assert [link.get("name") for link in written.root.iterfind("link")] == ["world", "arm"]


def test_a_slide_on_the_world_is_kept(tmp_path: Path):
    written = write(robot(joint(None, "cart", slide("rail", axis=(1.0, 0.0, 0.0)))), tmp_path)
    assert written.joint("rail").get("type") == "prismatic"
    assert written.joint("rail").find("parent").get("link") == "world"


def test_several_roots_stand_under_one_world(tmp_path: Path):
    written = write(robot(free("ball_"), joint(None, "table"), joint("table", "arm", hinge("turn"))), tmp_path)
    assert written.joint("ball__joint").get("type") == "floating"
    assert [d.severity for d in written.found if d.code == "E042"] == ["warning"]
    assert pinocchio.buildModelFromUrdf(str(written.path)).nv == 7
    assert mujoco.MjModel.from_xml_path(str(written.path)).nv == 7


def test_several_axes_become_joints_in_a_row(tmp_path: Path):
    axes = (slide("x", axis=(1.0, 0.0, 0.0)), slide("y", axis=(0.0, 1.0, 0.0)), hinge("yaw", anchor=(0.1, 0.0, 0.0)))
    written = write(robot(joint(None, "base", *axes, type=JointType.PLANAR)), tmp_path)
    children = [j.find("child").get("link") for j in written.root.iterfind("joint")]
    assert children == ["base__x", "base__y", "base"]
    assert written.link("base__x").find("inertial") is None
    assert "E001" in written.found.codes()
    assert mujoco.MjModel.from_xml_path(str(written.path)).nv == 3  # massless links between, and it loads


def test_a_ball_becomes_three_hinges_that_are_right_to_first_order(tmp_path: Path):
    made = robot(
        free(), joint("base", "arm", ball("hip", anchor=(0.0, 0.1, 0.0), span=(0.0, 0.8)), type=JointType.BALL)
    )
    written = write(made, tmp_path)
    assert [written.joint(f"hip_{c}").find("axis").get("xyz") for c in "xyz"] == ["1 0 0", "0 1 0", "0 0 1"]
    limit = written.joint("hip_y").find("limit")
    assert (limit.get("lower"), limit.get("upper")) == ("-0.8", "0.8")
    small = {"hip_x": 1e-5, "hip_y": -2e-5, "hip_z": 3e-5}
    turn = pinocchio_frames(written.path, small)["arm"][:3, :3]
    np.testing.assert_allclose(turn - np.eye(3), [[0, -3e-5, -2e-5], [3e-5, 0, -1e-5], [2e-5, 1e-5, 0]], atol=1e-9)
    assert written.fidelity.row("joints").approximated == 1


def test_a_chain_of_ten_thousand_links_is_written_in_linear_time(tmp_path: Path):
    count = 10_000
    joints = [free("link0")]
    joints += [joint(f"link{k}", f"link{k + 1}", hinge(f"axis{k}", anchor=(0.0, 0.1, 0.0))) for k in range(count - 1)]
    written = write(robot(*joints), tmp_path)
    assert len(written.root.findall("link")) == count


def test_names_are_kept_and_escaped(tmp_path: Path):
    made = robot(free('base & <"co">'), joint('base & <"co">', "Gelenk: ä/机", hinge("a b'c")))
    written = write(made, tmp_path)
    assert written.joint("a b'c").find("child").get("link") == "Gelenk: ä/机"
    assert "E041" not in written.found.codes()
    assert "Gelenk: ä/机" in pinocchio_frames(written.path, {})


def test_a_control_character_and_a_name_taken_twice_are_told(tmp_path: Path):
    made = robot(free("base"), joint("base", "a\x07b", name="turn"), joint("base", "c", hinge("turn")))
    written = write(made, tmp_path)
    assert written.link("a_b") is not None
    assert written.joint("turn").get("type") == "revolute"  # the degree of freedom keeps the name
    assert written.joint("turn_1").get("type") == "fixed"
    assert [d.code for d in written.found].count("E041") == 2


def test_a_link_without_inertia_is_refused(tmp_path: Path):
    made = Robot(name="r", links=(Link(name="base", inertia=None),), joints=(free(),))
    with pytest.raises(InputError, match="base"):
        write(made, tmp_path)
    assert not (tmp_path / "robot.urdf").exists()


def test_a_massless_link_has_no_inertial(tmp_path: Path):
    written = write(robot(free(), inertia=Inertia(mass_kg=0.0)), tmp_path)
    assert written.link("base").find("inertial") is None


def test_moments_that_no_body_has_are_kept_and_mujoco_still_loads(tmp_path: Path):
    odd = Inertia(mass_kg=1.0, diagonal_kgm2=(1.0, 1.0, 3.0))
    written = write(robot(joint(None, "base"), joint("base", "arm", hinge("turn")), inertia=odd), tmp_path)
    assert written.link("arm").find("inertial/inertia").get("izz") == "3"
    assert mujoco.MjModel.from_xml_path(str(written.path)).nv == 1


def test_writing_twice_gives_the_same_bytes(tmp_path: Path):
    made = robot(free(), joint("base", "arm", hinge("elbow", anchor=(0.1, 0.2, 0.3))))
    first, second = write(made, tmp_path / "a"), write(made, tmp_path / "b")
    assert first.path.read_bytes() == second.path.read_bytes()


@pytest.mark.parametrize(
    ("value", "text"), [(0.1, "0.1"), (1.0, "1"), (-0.0, "0"), (1 / 3, "0.3333333333333333"), (5e-324, "5e-324")]
)
def test_numbers_are_short_and_exact(value: float, text: str):
    assert number(value) == text
    assert float(number(value)) == value


def test_a_number_that_is_not_finite_is_refused():
    with pytest.raises(InputError):
        number(math.nan)


@given(
    st.floats(-3.1, 3.1),
    st.sampled_from([-1, 1]),
    st.floats(-1e-3, 1e-3) | st.floats(-1e-8, 1e-8),
    st.floats(-3.1, 3.1),
)
def test_angles_keep_their_digits_beside_gimbal_lock(roll: float, side: int, near: float, yaw: float):
    quat = quat_normalize(quat_from_rpy((roll, side * math.pi / 2 + near, yaw)))
    np.testing.assert_allclose(matrix_from_quat(quat_from_rpy(rpy_from_quat(quat))), matrix_from_quat(quat), atol=5e-15)
