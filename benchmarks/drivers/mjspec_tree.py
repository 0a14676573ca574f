"""What MuJoCo's own MjSpec takes to build, compile and print a tree of so many links: `mjspec_tree.py LINKS`.

The least that any writer through MjSpec spends on such a robot. MuJoCo lists the whole tree again at every element
that is added, and solves for the weight of each degree of freedom when it compiles: both quadratic.
"""

from __future__ import annotations

import sys

import mujoco

LIMB = 10


def build(links: int) -> mujoco.MjSpec:
    """A base with limbs: body, box, hinge and position actuator per link."""
    spec = mujoco.MjSpec()
    base = spec.worldbody.add_body(name="base")
    base.add_freejoint()
    base.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1], name="base_box")
    parent = base
    for i in range(1, links):
        parent = (base if (i - 1) % LIMB == 0 else parent).add_body(name=f"link_{i}", pos=[0.0, 0.0, 0.1])
        parent.add_joint(name=f"joint_{i}")
        parent.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1], name=f"box_{i}")
        spec.add_actuator(name=f"joint_{i}", target=f"joint_{i}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    return spec


if __name__ == "__main__":
    made = build(int(sys.argv[1]))
    made.compile()
    print(len(made.to_xml()))
