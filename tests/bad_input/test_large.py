"""Stages of thousands of bodies: no recursion limit, no quadratic time, and what MuJoCo cannot load is said before."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from isaaclab_mirror.diagnostics import Diagnostics
from isaaclab_mirror.formats.mjcf.writer import DEEPEST
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.formats.usd.stage import open_stage
from isaaclab_mirror.formats.usd.topology import read_joint_records, read_topology
from tests.bad_input.conftest import Command
from tests.usda import BODY, COLLIDER, Usda, body, cube, joint, robot, stage


def bodies(count: int) -> list[str]:
    return [body(f"b{k}", cube(), at=(k, 0, 0)) for k in range(count)]


def chain(count: int) -> str:
    """Free at both ends: PhysX's root is the middle."""
    joints = [joint("Revolute", f"j{k}", f"b{k - 1}", f"b{k}", at0=(1, 0, 0)) for k in range(1, count)]
    return stage(robot(*bodies(count), *joints))


def held_chain(count: int) -> str:
    """Held at its first link."""
    return chain(count).rstrip().removesuffix("}") + joint("Fixed", "weld", None, "b0") + "}\n"


def star(count: int) -> str:
    joints = [joint("Revolute", f"j{k}", "b0", f"b{k}", at0=(k, 0, 0)) for k in range(1, count)]
    return stage(robot(*bodies(count), *joints))


def ring(count: int) -> str:
    joints = [joint("Revolute", f"j{k}", f"b{k}", f"b{(k + 1) % count}") for k in range(count)]
    return stage(robot(*bodies(count), *joints))


def loose(count: int) -> str:
    return stage(robot(*bodies(count), apis=()))


def nested(file: Path, depth: int) -> Path:
    """A body below so many prims, each moved by 1 mm."""
    from pxr import Sdf

    layer = Sdf.Layer.CreateNew(str(file))
    layer.defaultPrim = "robot"
    spec = Sdf.PrimSpec(layer, "robot", Sdf.SpecifierDef, "Xform")
    for k in range(depth):
        spec = Sdf.PrimSpec(spec, f"p{k}", Sdf.SpecifierDef, "Xform")
        move = Sdf.AttributeSpec(spec, "xformOp:translate", Sdf.ValueTypeNames.Double3)
        move.default = (0.001, 0.0, 0.0)
        order = Sdf.AttributeSpec(spec, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
        order.default = ["xformOp:translate"]
    spec.SetInfo("apiSchemas", Sdf.TokenListOp.CreateExplicit([BODY]))
    shape = Sdf.PrimSpec(spec, "shape", Sdf.SpecifierDef, "Cube")
    shape.SetInfo("apiSchemas", Sdf.TokenListOp.CreateExplicit([COLLIDER]))
    layer.Save()
    return file


def test_a_body_below_fifteen_hundred_prims_is_read(command: Command, suffix: str):
    model = command.accept(nested(command.folder / "deep.usda", 1500), suffix=suffix).load()
    assert model.nbody == 2
    if suffix == ".xml":
        assert model.body(1).pos[0] == pytest.approx(1.5)


def test_the_longest_chain_that_mujoco_reads_is_written(command: Command):
    assert command.accept(held_chain(DEEPEST)).load().nbody == DEEPEST + 1


def test_a_chain_too_long_for_mujocos_xml_is_refused_before_it_is_compiled(command: Command):
    said = command.refuse(held_chain(DEEPEST + 1))
    assert f"robot.usda:/robot/b{DEEPEST}: error E033: a chain of {DEEPEST + 1} links" in said
    assert "write a .urdf" in said


def test_a_chain_longer_than_pythons_stack_becomes_a_urdf(command: Command):
    from lxml import etree

    found = command.accept(held_chain(1100), suffix=".urdf")
    assert "/robot/b1099 a chain of 1100 links: MuJoCo loads a URDF of no more than 1024" in found.said("E033")
    assert len(etree.parse(found.target).findall("joint")) == 1100


@pytest.mark.slow
def test_a_chain_of_a_thousand_links_is_loaded_by_mujoco_from_a_urdf(command: Command):
    found = command.accept(held_chain(1000), suffix=".urdf")
    assert not found.said("E033")
    assert found.load().nbody == 1001


def seconds(usda: Usda, text: str, suffix: str) -> float:
    """CPU time of one conversion."""
    from isaaclab_mirror.conversion import convert

    file = usda.write(text)
    start = time.process_time()
    convert(file, usda.folder / f"robot{suffix}")
    return time.process_time() - start


@pytest.mark.parametrize("shape", [chain, star, ring, loose])
def test_four_times_the_bodies_take_about_four_times_as_long(usda: Usda, shape):
    """As URDF: MuJoCo itself takes quadratic time to build and to load an MJCF."""
    seconds(usda, shape(10), ".urdf")  # imports
    assert seconds(usda, shape(1200), ".urdf") < 8 * seconds(usda, shape(300), ".urdf")


@pytest.mark.slow
@pytest.mark.parametrize("shape", [chain, star, ring, loose])
def test_ten_thousand_bodies_become_a_urdf_in_linear_time(usda: Usda, shape):
    seconds(usda, shape(10), ".urdf")
    assert seconds(usda, shape(10_000), ".urdf") < 8 * seconds(usda, shape(2500), ".urdf")


@pytest.mark.slow
def test_a_star_of_ten_thousand_bodies_becomes_an_mjcf_that_mujoco_loads(command: Command):
    assert command.accept(star(10_000)).load().nbody == 10_001


@pytest.mark.slow
def test_a_chain_of_ten_thousand_bodies_is_refused_as_mjcf(command: Command):
    assert "a chain of 5001 links" in command.refuse(chain(10_000))


def random_tree(seed: int) -> str:
    """Up to nine links, joints either way round and in any order, here and there one outside the articulation."""
    choose = random.Random(seed)  # noqa: S311
    count = choose.randint(2, 9)
    names = [f"{choose.choice('abcXYZ')}{k}" for k in range(count)]
    choose.shuffle(names)
    numbers = choose.sample(range(100), count)
    joints = []
    for k in range(1, count):
        ends = [names[choose.randrange(max(0, k - choose.randint(1, 3)), k)], names[k]]
        choose.shuffle(ends)
        outside = ["bool physics:excludeFromArticulation = 1"] if choose.random() < 0.05 else []
        joints.append(joint(choose.choice(["Revolute", "Fixed"]), f"j{numbers[k]}", ends[0], ends[1], *outside))
    parts = [body(name, cube()) for name in choose.sample(names, count)] + joints
    choose.shuffle(parts)
    return stage(robot(*parts))


def test_the_root_link_found_in_linear_time_is_that_of_usdphysics(usda: Usda):
    from pxr import UsdPhysics

    for seed in range(150):
        opened = open_stage(usda.write(random_tree(seed), f"{seed}.usda"), ReadOptions(), Diagnostics())
        found = read_topology(opened, read_joint_records(opened))
        parsed = UsdPhysics.UsdPhysicsLoadStageFromPrimRange(opened.stage, ["/"])
        _, articulations = parsed[UsdPhysics.ObjectType.Articulation]
        theirs = {path for articulation in articulations for path in articulation.rootPrims}
        assert theirs <= {node.body.path for node in found.nodes if node.parent is None}, seed
