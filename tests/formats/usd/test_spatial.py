"""Distance joints and PhysX's spatial tendons: lengths between points of two or more links."""

from __future__ import annotations

import numpy as np
import pytest

from tests.usda import Usda, body, cube, joint, robot, stage

ROOT_POINT = "PhysxTendonAttachmentRootAPI:cord"


def point(instance: str, *lines: str, at: tuple[float, ...] = (0, 0, 0), parent: tuple[str, str] | None = None) -> str:
    """The attributes of one attachment."""
    start = f"physxTendon:{instance}:"
    own = [f"point3f {start}localPos = {at}", *(line.replace("@", start) for line in lines)]
    if parent is not None:
        own += [
            f"rel {start}parentLink = </robot/{parent[0]}>",
            f'uniform token {start}parentAttachment = "{parent[1]}"',
        ]
    return "\n".join(own)


def strung(*root: str, middle: str = "", leaf: tuple[str, ...] = (), metres: float = 1.0) -> str:
    """base, upper and lower in a row of hinges about y, and a cord from the base over the upper link to the lower one."""
    return stage(
        robot(
            body("base", cube("c0"), point("cord", *root, at=(0, 0, 0.3)), apis=(ROOT_POINT,)),
            body(
                "upper",
                cube("c1"),
                point("via", middle, at=(0, 0, 0.4), parent=("base", "cord")),
                at=(1, 0, 0),
                apis=("PhysxTendonAttachmentAPI:via",),
            ),
            body(
                "lower",
                cube("c2"),
                point("end", *leaf, at=(0, 0, 0.3), parent=("upper", "via")),
                at=(2, 0, 0),
                apis=("PhysxTendonAttachmentLeafAPI:end",),
            ),
            joint("Fixed", "weld", None, "base"),
            joint("Revolute", "j1", "base", "upper", 'uniform token physics:axis = "Y"', at0=(1, 0, 0)),
            joint("Revolute", "j2", "upper", "lower", 'uniform token physics:axis = "Y"', at0=(1, 0, 0)),
        ),
        metres=metres,
    )


SIDE = float(np.hypot(1.0, 0.1))
"""Each of the cord's two stretches at zero."""


def test_a_spatial_tendon_runs_through_its_attachments(usda: Usda):
    text = strung("float @stiffness = 50", "float @damping = 2", leaf=("float @restLength = 1.9",))
    made = usda.convert(text)
    assert made.model.ntendon == 1
    model = made.model
    assert made.poses().ten_length[0] == pytest.approx(2 * SIDE, abs=1e-6)
    assert float(np.ravel(model.tendon_stiffness)[0]) == 50.0
    assert float(np.ravel(model.tendon_damping)[0]) == 2.0
    assert model.tendon_lengthspring[0] == pytest.approx((1.9, 1.9))
    assert made.result.fidelity.row("tendons").kept == 1


def test_a_gearing_scales_the_stretch_that_ends_at_its_attachment(usda: Usda):
    made = usda.convert(strung("float @stiffness = 50", middle="float @gearing = 3"))
    assert made.poses().ten_length[0] == pytest.approx(3 * SIDE + SIDE, abs=1e-6)


def test_limits_and_offset_bound_the_length(usda: Usda):
    bounds = ("float @lowerLimit = 1.5", "float @upperLimit = 2.5")
    made = usda.convert(strung("float @offset = 0.25", leaf=bounds))
    assert made.model.tendon_range[0] == pytest.approx((1.25, 2.25))


def test_a_tendon_that_is_switched_off_does_nothing(usda: Usda):
    made = usda.convert(strung("float @stiffness = 50", "bool @tendonEnabled = 0", leaf=("float @upperLimit = 1",)))
    model = made.model
    assert float(np.ravel(model.tendon_stiffness)[0]) == 0.0
    assert not model.tendon_limited[0]


def test_centimetres_become_metres_along_a_tendon(usda: Usda):
    made = usda.convert(strung("float @stiffness = 50", leaf=("float @restLength = 100",), metres=0.01))
    assert made.model.tendon_lengthspring[0] == pytest.approx((1.0, 1.0))
    assert made.poses().ten_length[0] == pytest.approx(0.02 * SIDE, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (strung(middle="float @gearing = -1"), "a gearing that is not positive"),
        (strung().replace('parentAttachment = "cord"', 'parentAttachment = "nothing"'), "do not lead back to a root"),
    ],
)
def test_a_tendon_that_cannot_be_said_is_left_out_and_named(usda: Usda, text: str, why: str):
    read = usda.read(text)
    assert read.robot.tendons == ()
    assert why in read.said("E001")
    assert "/robot/lower" in read.said("E001")


def roped(*lines: str) -> str:
    """Two free links and a distance joint between points 0.8 m apart."""
    return stage(
        robot(
            body("base", cube("c0")),
            body("ball", cube("c1"), at=(1, 0, 0)),
            joint("Revolute", "elbow", "base", "ball", at0=(1, 0, 0)),
            joint("Distance", "rope", "base", "ball", *lines, at0=(0.1, 0, 0), at1=(-0.1, 0, 0)),
        )
    )


@pytest.mark.parametrize(
    ("lines", "low", "high"),
    [
        (("float physics:minDistance = 0.5", "float physics:maxDistance = 1.5"), 0.5, 1.5),
        (("float physics:maxDistance = 0.9",), 0.0, 0.9),
        (("float physics:minDistance = 0.2",), 0.2, 1e6),
        (("float physics:minDistance = 0.8", "float physics:maxDistance = 0.8"), 0.7996, 0.8004),
    ],
)
def test_a_distance_joint_bounds_the_length_between_its_points(usda: Usda, lines: tuple[str, ...], low, high):
    made = usda.convert(roped(*lines))
    assert made.poses().ten_length[0] == pytest.approx(0.8, abs=1e-6)
    assert made.model.tendon_range[0] == pytest.approx((low, high))


def test_a_distance_joint_without_bounds_does_nothing_and_that_is_said(usda: Usda):
    read = usda.read(roped())
    assert read.robot.tendons == ()
    assert "bounds no distance" in read.said("E029")
