from __future__ import annotations

from pathlib import Path

import pytest

from tests.contacts import touching
from tests.usda import Usda, body, cube, joint, prim, robot, stage


def welded_tool(*more: str, binding: str = "", flag: str = "") -> str:
    """base – link by a hinge; tool welded to the base: MuJoCo takes tool and link for neighbours, PhysX does not."""
    return stage(
        robot(
            flag,
            body("base", cube("base_shape")),
            body("tool", cube("tool_shape", 0.2, binding)),
            body("link", cube("link_shape")),
            joint("Revolute", "hinge", "base", "link"),
            joint("Fixed", "mount", "base", "tool"),
            *more,
        )
    )


def test_links_that_only_mujoco_takes_for_neighbours_still_touch(usda: Usda):
    assert touching(usda.convert(welded_tool()).model) == {frozenset(("tool", "link"))}


def test_an_explicit_pair_has_the_friction_that_physx_combines(usda: Usda):
    rubber = prim(
        "Material", "rubber", "float physics:dynamicFriction = 0.2",
        'uniform token physxMaterial:frictionCombineMode = "multiply"', apis=("PhysicsMaterialAPI", "PhysxMaterialAPI"),
    )  # fmt: skip
    made = usda.convert(welded_tool(rubber, binding="rel material:binding:physics = </robot/rubber>"))
    assert made.model.npair == 1
    assert made.model.pair_friction[0][:2] == pytest.approx([0.1, 0.1])  # 0.2 · the default's 0.5
    assert made.result.fidelity.row("contact materials").approximated == 1


def test_a_filtered_pair_of_links_never_touches(usda: Usda):
    text = welded_tool().replace(
        'def Xform "tool" (\nprepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]\n\n)\n{',
        'def Xform "tool" (\nprepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsFilteredPairsAPI"]\n)\n{\n'
        "rel physics:filteredPairs = </robot/link>",
    )
    assert "filteredPairs" in text
    assert touching(usda.convert(text).model) == set()


def three(*more: str, **options: str) -> str:
    """Three links on one base, all able to touch."""
    names = ("a", "b", "c")
    return stage(
        robot(
            body("base"),
            *(body(n, cube(f"{n}_shape")) for n in names),
            *(joint("Revolute", f"j{n}", "base", n) for n in names),
            joint("Fixed", "weld", None, "base"),
            *more,
            **options,
        )
    )


def group(name: str, member: str, *lines: str) -> str:
    return prim(
        "PhysicsCollisionGroup", name, f"prepend rel collection:colliders:includes = </robot/{member}>", *lines,
        apis=("CollectionAPI:colliders",),
    )  # fmt: skip


AB, AC, BC = frozenset("ab"), frozenset("ac"), frozenset("bc")


def test_without_a_filter_all_three_touch(usda: Usda):
    assert touching(usda.convert(three()).model) == {AB, AC, BC}


def test_groups_that_filter_each_other_never_touch(usda: Usda):
    text = three(group("ga", "a", "prepend rel physics:filteredGroups = </robot/gb>"), group("gb", "b"))
    assert touching(usda.convert(text).model) == {AC, BC}


def test_an_inverted_group_touches_only_what_it_lists(usda: Usda):
    only_b = ("prepend rel physics:filteredGroups = </robot/gb>", "bool physics:invertFilteredGroups = 1")
    text = three(group("ga", "a", *only_b), group("gb", "b"), group("gc", "c"))
    assert touching(usda.convert(text).model) == {AB, BC}


def test_a_filtered_pair_of_colliders_spares_the_rest(usda: Usda):
    text = three().replace(
        'def Cube "a_shape" (\nprepend apiSchemas = ["PhysicsCollisionAPI"]\n\n)\n{',
        'def Cube "a_shape" (\nprepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsFilteredPairsAPI"]\n)\n{\n'
        "rel physics:filteredPairs = </robot/b/b_shape>",
    )
    assert touching(usda.convert(text).model) == {AC, BC}


@pytest.mark.parametrize("filtered", [False, True])
def test_whatever_is_filtered_the_robot_meets_a_plain_floor(usda: Usda, filtered: bool):
    groups = (
        (group("ga", "a", "prepend rel physics:filteredGroups = </robot/gb>"), group("gb", "b")) if filtered else ()
    )
    made = usda.convert(three(*groups), write={"ground": True})
    assert {frozenset(("world", n)) for n in "abc"} <= touching(made.model)


def test_a_filtered_pair_that_names_nothing_is_reported(usda: Usda):
    text = three().replace(
        'def Cube "a_shape" (\nprepend apiSchemas = ["PhysicsCollisionAPI"]\n\n)\n{',
        'def Cube "a_shape" (\nprepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsFilteredPairsAPI"]\n)\n{\n'
        "rel physics:filteredPairs = </robot/nothing>",
    )
    assert "/robot/nothing" in usda.read(text).said("E012")


@pytest.mark.shared
def test_a_cart_between_rails_passes_them_under_the_laws_of_physx(shared: Path):
    # PhysX's contact force on the cart is 0 although its box stands 2 cm inside both rails; MuJoCo's holds it.
    from isaaclab_mirror.sims.mujoco_sim import MujocoSim

    file, ends = shared / "corpus" / "cartpole" / "cartpole_physx.usda", {}
    for fidelity in ("nominal", "physx"):
        with MujocoSim(file, fidelity=fidelity) as sim:
            sim.set_position_targets({"slider": 0.3})
            sim.step(100)  # half a period of 40 N/m and 1.1 kg, nearly undamped: at twice the target
            ends[fidelity] = sim.read()
    assert abs(ends["physx"].contact_force_w[0, 0]).max() == 0.0
    assert abs(ends["nominal"].contact_force_w[0, 0]).max() > 0.0
    assert ends["physx"].joint_pos[0, 0] == pytest.approx(0.6, abs=0.05)
    assert ends["nominal"].joint_pos[0, 0] < 0.1
