from __future__ import annotations

import math
from dataclasses import replace

import pytest

from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.robot import constraints, geometry, sensors
from isaaclab_mirror.robot.checks import check_robot
from isaaclab_mirror.robot.inertia import Inertia
from isaaclab_mirror.robot.joints import Axis, AxisKind, Joint, JointType
from isaaclab_mirror.robot.model import Link, Robot
from isaaclab_mirror.rotations import Pose


def small() -> Robot:
    unit = Inertia(mass_kg=1, diagonal_kgm2=(1, 1, 1))
    return Robot(
        name="r",
        links=(Link(name="base", inertia=unit), Link(name="arm", inertia=unit)),
        joints=(
            Joint(name="root", type=JointType.FLOATING, parent=None, child="base", origin=Pose()),
            Joint(name="j", type=JointType.REVOLUTE, parent="base", child="arm", origin=Pose(), axes=(Axis(name="j", kind=AxisKind.HINGE),)),
        ),
    )  # fmt: skip


def test_a_sound_robot_passes_and_counts_its_freedoms():
    found = Diagnostics()
    check_robot(small(), found)
    assert len(found) == 0
    assert small().dofs == 7
    assert small().mass_kg == 2


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda r: replace(r, links=(), joints=()), "E013"),
        (lambda r: replace(r, links=(r.links[0], replace(r.links[1], name="base"))), "E038"),
        (lambda r: replace(r, joints=(r.joints[0], replace(r.joints[1], axes=r.joints[1].axes * 2))), "E038"),
        (lambda r: replace(r, links=r.links[::-1], joints=r.joints[::-1]), "E038"),
        (lambda r: replace(r, links=(r.links[0], replace(r.links[1], inertia=Inertia(mass_kg=math.inf)))), "E014"),
    ],
    ids=["empty", "two links of one name", "two axes of one name", "child before parent", "infinite mass"],
)
def test_what_no_engine_can_simulate_is_refused(spoil, code: str):
    with pytest.raises(InputError, match=code):
        check_robot(spoil(small()), Diagnostics())


def test_the_model_has_every_kind_that_the_unified_schema_names():
    assert {k.value for k in JointType} == {
        "revolute",
        "continuous",
        "prismatic",
        "fixed",
        "floating",
        "ball",
        "planar",
        "d6",
    }
    shapes = {
        "Box",
        "Sphere",
        "Cylinder",
        "Capsule",
        "Ellipsoid",
        "Cone",
        "Plane",
        "HeightField",
        "MeshShape",
        "Compound",
    }
    assert all(hasattr(geometry, name) for name in shapes)
    assert {k.value for k in sensors.SensorType} == {"imu", "force_torque", "camera", "lidar", "joint_state", "contact"}
    assert {k.value for k in constraints.LoopType} >= {"connect", "weld", "hinge", "slide", "distance"}
