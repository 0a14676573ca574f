from __future__ import annotations

import pytest

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.robot.constraints import LoopType
from isaaclab_mirror.robot.joints import JointType
from tests.usda import ROOT, Usda, arm, body, cube, joint, prim, robot, stage


def pair(*more: str, apis: tuple[str, ...] = (ROOT,), base_apis: tuple[str, ...] = ()) -> str:
    return stage(
        robot(
            body("base", cube("c0"), apis=base_apis),
            body("link", cube("c1")),
            joint("Revolute", "hinge", "base", "link"),
            *more,
            apis=apis,
        )
    )


def test_a_body_nested_in_another_is_a_link_of_its_own(usda: Usda):
    text = stage(
        robot(
            body("base", cube("c0"), body("link", cube("c1"), at=(1, 0, 0))),
            joint("Fixed", "weld", None, "base"),
            joint("Revolute", "hinge", "base", "base/link", at0=(1, 0, 0)),
        )
    )
    read = usda.read(text).robot
    assert {g.name: g.link for g in read.geoms} == {"c0": "base", "c1": "link"}
    assert read.link("base").inertia.mass_kg == pytest.approx(8.0)


@pytest.mark.parametrize(
    "weld",
    [
        joint("Fixed", "weld", None, "base"),
        joint("Fixed", "weld", "base", None),
        joint("Fixed", "weld", "/world", "base"),
        prim("PhysicsFixedJoint", "weld", "rel physics:body1 = </robot/base>", apis=(ROOT,)),
    ],
    ids=["body0 empty", "body1 empty", "to an xform", "root on the joint"],
)
def test_a_fixed_base_is_read_in_every_spelling(usda: Usda, weld: str):
    on_joint = ROOT in weld
    text = pair(weld, apis=() if on_joint else (ROOT,)) + prim("Xform", "world")
    read = usda.read(text).robot
    assert read.roots[0].type is JointType.FIXED
    assert read.links[0].name == "base"


def test_a_fixed_base_stays_where_it_is_authored_whatever_its_weld_says(usda: Usda):
    text = stage(
        robot(
            body("base", cube(), at=(2, 0, 0)),
            body("link"),
            joint("Revolute", "j", "base", "link"),
            joint("Fixed", "weld", None, "base", at0=(1, 0, 0)),
        )
    )
    assert usda.convert(text).poses().body("base").xpos == pytest.approx([2, 0, 0])


def test_a_disabled_weld_leaves_the_base_floating(usda: Usda):
    read = usda.read(pair(joint("Fixed", "weld", None, "base", "bool physics:jointEnabled = 0")))
    assert read.robot.roots[0].type is JointType.FLOATING
    assert "disabled" in read.said("E029")


def test_an_excluded_weld_leaves_the_base_floating_and_holds_it_softly(usda: Usda):
    read = usda.read(pair(joint("Fixed", "weld", None, "base", "bool physics:excludeFromArticulation = 1")))
    assert read.robot.roots[0].type is JointType.FLOATING
    assert [loop.type for loop in read.robot.loops] == [LoopType.WELD]


@pytest.mark.parametrize(("asked", "kind"), [(True, JointType.FIXED), (False, JointType.FLOATING)])
def test_fix_base_overrides_what_the_file_says(usda: Usda, asked: bool, kind: JointType):
    for text in (pair(), pair(joint("Fixed", "weld", None, "base")), pair(apis=(), base_apis=(ROOT,))):
        assert usda.read(text, fix_base=asked).robot.roots[0].type is kind


def test_without_an_articulation_root_bodies_and_joints_still_make_a_robot(usda: Usda):
    read = usda.read(pair(apis=()))
    assert len(read.robot.links) == 2
    assert [axis.name for axis in read.robot.axes()] == ["hinge"]


def test_of_nested_roots_the_outer_one_is_used(usda: Usda):
    read = usda.read(pair(joint("Fixed", "weld", None, "base"), base_apis=(ROOT,)))
    assert read.robot.roots[0].type is JointType.FIXED


TWO = stage(
    *(
        robot(
            body("base", cube()), body("link"), joint("Revolute", "hinge", f"/{name}/base", f"/{name}/link"), name=name
        )
        for name in ("left", "right")
    ),
    default=None,
)


def test_several_robots_are_refused_with_their_paths(usda: Usda):
    with pytest.raises(InputError, match=r"E020.*(?s:.*)/left, /right"):
        usda.read(TWO)


def test_one_of_several_robots_is_chosen_by_its_prim(usda: Usda):
    read = usda.read(TWO, prim="/right")
    assert read.robot.name == "right"
    assert len(read.robot.links) == 2


def test_a_prim_that_is_not_there_is_refused_with_those_that_are(usda: Usda):
    with pytest.raises(InputError, match="/left"):
        usda.read(TWO, prim="/middle")


Y = 'uniform token physics:axis = "Y"'


def fourbar(kind: str, *lines: str) -> str:
    """base – a, base – b, and a joint that closes the loop from a to b."""
    return stage(
        robot(
            body("base", cube("c0")),
            body("a", cube("c1"), at=(0, 0, 1)),
            body("b", cube("c2"), at=(1, 0, 1)),
            joint("Fixed", "weld", None, "base"),
            joint("Revolute", "ja", "base", "a", Y, at0=(0, 0, 1)),
            joint("Revolute", "jb", "base", "b", Y, at0=(1, 0, 1)),
            joint(kind, "loop", "a", "b", Y, *lines, at0=(0.5, 0, 0), at1=(-0.5, 0, 0)),
        )
    )


@pytest.mark.parametrize(("kind", "equalities"), [("Spherical", 1), ("Fixed", 1), ("Revolute", 2)])
def test_a_joint_that_closes_a_loop_is_an_equality_that_holds_at_zero(usda: Usda, kind: str, equalities: int):
    made = usda.convert(fourbar(kind, "bool physics:excludeFromArticulation = 1"))
    assert made.model.neq == equalities
    data = made.poses()
    assert abs(data.efc_pos[: 3 * equalities]).max() < 1e-9


def test_a_loop_that_nobody_excluded_is_found_and_reported(usda: Usda):
    read = usda.read(fourbar("Spherical"))
    assert len(read.robot.loops) == 1
    assert "E005" in read.codes


@pytest.mark.parametrize(("kind", "equalities"), [("Spherical", 1), ("Revolute", 2)])
def test_a_loop_that_is_open_at_zero_is_held_at_the_points_that_both_sides_name(usda: Usda, kind: str, equalities: int):
    # b's end stands 0.1 m beyond a's where both joints are at zero: the loop closes at another pose
    open_at_zero = fourbar(kind, "bool physics:excludeFromArticulation = 1").replace(
        "localPos1 = (-0.5, 0, 0)", "localPos1 = (-0.4, 0, 0)"
    )
    made = usda.convert(open_at_zero)
    assert made.model.neq == equalities
    data = made.poses()
    gap = data.site("loop_0").xpos - data.site("loop_1").xpos
    assert abs(gap[0]) == pytest.approx(0.1, abs=1e-6)
    assert abs(data.efc_pos[:3]).max() == pytest.approx(0.1, abs=1e-6)


LOCK = "float limit:{0}:physics:low = 1\nfloat limit:{0}:physics:high = -1"


@pytest.mark.parametrize(
    ("free", "type_name", "count"),
    [
        ((), "weld", 1),
        (("rotY",), "connect", 2),
        (("rotX", "rotY", "rotZ"), "connect", 1),
        (("rotX", "rotY"), "connect", 1),
    ],
)
def test_a_generic_joint_outside_the_tree_is_the_equality_of_what_it_leaves_free(usda: Usda, free, type_name, count):
    axes = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
    locked = [axis for axis in axes if axis not in free]
    text = fourbar("D6", "bool physics:excludeFromArticulation = 1", *(LOCK.format(axis) for axis in locked))
    head = 'def PhysicsJoint "loop"'
    applied = ", ".join(f'"PhysicsLimitAPI:{axis}"' for axis in locked)
    made = usda.convert(text.replace(head, f"{head} (\nprepend apiSchemas = [{applied}]\n)"))
    assert [made.model.equality(k).type[0] for k in range(made.model.neq)] == [
        {"connect": 0, "weld": 1}[type_name]
    ] * count
    assert abs(made.poses().efc_pos[:3]).max() < 1e-9
    assert ("E001" in made.codes) == (len(free) == 2)


def test_a_generic_joint_that_leaves_everything_free_closes_no_loop(usda: Usda):
    read = usda.read(fourbar("D6", "bool physics:excludeFromArticulation = 1"))
    assert read.robot.loops == ()
    assert "leaves every motion free" in read.said("E029")


def test_a_sliding_loop_has_no_equality_and_is_counted_as_lost(usda: Usda):
    made = usda.convert(fourbar("Prismatic", "bool physics:excludeFromArticulation = 1"))
    assert made.result.fidelity.row("loop constraints").lost == 1
    assert "E001" in made.codes


def test_children_stand_in_the_ascii_order_of_their_joints_paths(usda: Usda):
    names = ("j2", "j10", "_j", "J3", "j1", "j_2")
    text = stage(
        robot(
            body("base"),
            *(body(f"b{n}") for n in names),
            *(joint("Revolute", n, "base", f"b{n}") for n in names),
            joint("Fixed", "weld", None, "base"),
        )
    )
    assert [axis.name for axis in usda.read(text).robot.axes()] == ["J3", "_j", "j1", "j10", "j2", "j_2"]


def test_a_disabled_body_is_static_geometry(usda: Usda):
    text = stage(
        robot(body("base", cube("c0")), body("stand", cube("c1"), "bool physics:rigidBodyEnabled = 0"), apis=())
    )
    read = usda.read(text).robot
    assert [link.name for link in read.links] == ["base"]
    assert {g.name: g.link for g in read.geoms} == {"c0": "base", "c1": None}


def test_a_kinematic_body_is_held(usda: Usda):
    made = usda.convert(stage(robot(body("stand", cube("c1"), "bool physics:kinematicEnabled = 1"), apis=())))
    assert made.model.nv == 0
    assert made.model.body("stand").mocapid[0] == 0


def test_a_joint_to_a_body_that_is_not_there_is_left_out_and_reported(usda: Usda):
    read = usda.read(arm(more=(joint("Revolute", "ghost", "base", "nobody"),)))
    assert "/robot/nobody" in read.said("E012")
    assert [axis.name for axis in read.robot.axes()] == ["elbow"]


def test_a_joint_from_a_body_to_itself_is_left_out(usda: Usda):
    read = usda.read(arm(more=(joint("Revolute", "self", "base", "base"),)))
    assert "ties a body to itself" in read.said("E029")


def on_rails(*free: str) -> str:
    """A lone body that a generic joint ties to the world, as Isaac Sim's importer merges several root joints."""
    locked = [a for a in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ") if a not in free]
    return stage(
        robot(
            body("base", cube()),
            joint(
                "D6",
                "root",
                None,
                "base",
                *(LOCK.format(axis) for axis in locked),
                apis=tuple(f"PhysicsLimitAPI:{axis}" for axis in locked),
            ),
        )
    )


def test_a_generic_joint_to_the_world_keeps_its_translations(usda: Usda):
    made = usda.convert(on_rails("transX", "transY", "rotZ"))
    assert "E023" in made.codes
    assert [made.model.joint(k).name for k in range(made.model.njnt)] == ["root:transX", "root:transY", "root:2"]
    assert [int(t) for t in made.model.jnt_type] == [2, 2, 3]
    moved = made.poses(**{"root:transX": 0.5, "root:transY": -0.25})
    assert moved.body("base").xpos == pytest.approx((0.5, -0.25, 0.0))


def test_a_generic_joint_to_the_world_that_holds_nothing_leaves_a_floating_base(usda: Usda):
    text = on_rails("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
    made = usda.convert(text)
    assert [int(t) for t in made.model.jnt_type] == [0]
    assert "leaves every motion free" in str(made.result.diagnostics)
    welded = usda.read(text, world_joint="weld").robot
    assert welded.dofs == 0


def test_a_body_inside_which_all_others_stand_is_the_root_wherever_the_centre_is(usda: Usda):
    # UsdPhysics and ovphysx 0.7.0: the chain base – l1 – l2 has root l1 side by side, base where they are nested
    nested = stage(
        robot(
            body("base", body("l1", body("l2"))),
            joint("Revolute", "j1", "base", "base/l1"),
            joint("Revolute", "j2", "base/l1", "base/l1/l2"),
        )
    )
    flat = stage(
        robot(
            *(body(name) for name in ("base", "l1", "l2")),
            joint("Revolute", "j1", "base", "l1"),
            joint("Revolute", "j2", "l1", "l2"),
        )
    )
    assert usda.read(nested).robot.links[0].name == "base"
    assert usda.read(flat).robot.links[0].name == "l1"
