"""Robots of any size for the scaling benchmark: a floating base with limbs of ten links, written as USD text.

Limbs, because a single chain cannot be asked for: MuJoCo's XML reader refuses elements nested deeper than 500, and the
mass matrix of a chain of 10,000 has 50 million entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

LIMB = 10
LENGTH_M = 0.1


def write_tree(path: Path, links: int) -> None:
    """A robot of `links` links, base included, as Isaac writes one: flat links, hinges with drives, box colliders."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_lines(links))


def _lines(links: int) -> Iterator[str]:
    yield '#usda 1.0\n(\n    defaultPrim = "tree"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
    yield 'def Xform "tree"\n{\n'
    yield _link("base", (0.0, 0.0, 1.0), (0.2, 0.2, 0.05), schemas='"PhysicsArticulationRootAPI", ')
    for i in range(1, links):
        limb, place = divmod(i - 1, LIMB)
        column, row = limb % 100, limb // 100
        yield _link(f"link_{i}", (column * 0.2, row * 0.2, 1.0 - (place + 1) * LENGTH_M), (0.02, 0.02, LENGTH_M / 2.5))
    yield '    def Scope "joints"\n    {\n'
    for i in range(1, links):
        limb, place = divmod(i - 1, LIMB)
        first = place == 0
        anchor = (limb % 100 * 0.2, limb // 100 * 0.2, -LENGTH_M / 2) if first else (0.0, 0.0, -LENGTH_M / 2)
        yield _joint(i, "base" if first else f"link_{i - 1}", anchor)
    yield "    }\n}\n"


def _link(name: str, at: tuple[float, float, float], half: tuple[float, float, float], schemas: str = "") -> str:
    return f"""    def Xform "{name}" (
        prepend apiSchemas = [{schemas}"PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {{
        float physics:mass = 0.5
        double3 xformOp:translate = {at}
        uniform token[] xformOpOrder = ["xformOp:translate"]

        def Cube "collision" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {{
            double size = 2
            double3 xformOp:scale = {half}
            uniform token[] xformOpOrder = ["xformOp:scale"]
        }}
    }}
"""


def _joint(i: int, parent: str, anchor: tuple[float, float, float]) -> str:
    return f"""        def PhysicsRevoluteJoint "joint_{i}" (
            prepend apiSchemas = ["PhysicsDriveAPI:angular"]
        )
        {{
            uniform token physics:axis = "Y"
            rel physics:body0 = </tree/{parent}>
            rel physics:body1 = </tree/link_{i}>
            point3f physics:localPos0 = {anchor}
            point3f physics:localPos1 = (0, 0, {LENGTH_M / 2})
            quatf physics:localRot0 = (1, 0, 0, 0)
            quatf physics:localRot1 = (1, 0, 0, 0)
            float physics:lowerLimit = -90
            float physics:upperLimit = 90
            float drive:angular:physics:stiffness = 0.5
            float drive:angular:physics:damping = 0.01
            float drive:angular:physics:maxForce = 20
        }}
"""
