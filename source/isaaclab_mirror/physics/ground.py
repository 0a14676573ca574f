"""A ground plane under a robot, touched as PhysX combines its material with the robot's."""

from __future__ import annotations

from dataclasses import replace

from isaaclab_mirror.physics.contact import PHYSX_DEFAULT, pair_friction
from isaaclab_mirror.physics.lowered import Lowered, LoweredPair
from isaaclab_mirror.robot.geometry import Collision, Geom, Plane
from isaaclab_mirror.robot.joints import JointType
from isaaclab_mirror.robot.materials import ContactMaterial
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Pose

GROUND = "isaaclab_mirror_ground"
"""Name of the plane and of its material."""


def with_ground(robot: Robot, height_m: float, material: ContactMaterial) -> Robot:
    """The robot with a plane z = `height_m`, part of the world."""
    plane = Geom(
        name=GROUND,
        link=None,
        shape=Plane(),
        pose=Pose((0.0, 0.0, height_m)),
        collision=Collision(material=GROUND),
    )
    materials = (*robot.contact_materials, replace(material, name=GROUND))
    return replace(robot, geoms=(*robot.geoms, plane), contact_materials=materials)


def with_ground_friction(lowered: Lowered) -> Lowered:
    """Friction with the ground as PhysX combines it, where MuJoCo's larger-of-two would be another.

    One friction for all colliders: the plane gets it, with priority. Several: an explicit pair per collider.
    """
    robot = lowered.robot
    ground = lowered.contacts.get(GROUND)
    if ground is None or robot.dialect == "mujoco":
        return lowered
    materials = {m.name: m for m in robot.contact_materials}
    default = robot.default_contact_material or PHYSX_DEFAULT
    still = _still_links(robot)
    frictions = {
        geom.name: pair_friction(materials.get(geom.collision.material or "", default), materials[GROUND])
        for geom in robot.geoms
        if geom.collision is not None and geom.link is not None and geom.link not in still
    }
    if not frictions or all(
        max(lowered.contacts[n].friction[0], ground.friction[0]) == f for n, f in frictions.items()
    ):
        return lowered
    if len(set(frictions.values())) == 1:
        (slide,) = set(frictions.values())
        touched = replace(ground, friction=(slide, *ground.friction[1:]), priority=1)
        return replace(lowered, contacts={**lowered.contacts, GROUND: touched})
    pairs = tuple(
        LoweredPair(
            geom1=GROUND,
            geom2=name,
            friction=(slide, slide, 0.0, 0.0, 0.0),
            condim=lowered.contacts[name].condim,
            solref=lowered.contacts[name].solref,
            solimp=lowered.contacts[name].solimp,
        )
        for name, slide in frictions.items()
        if _may_touch(lowered, name)
    )
    silent = replace(ground, contype=0, conaffinity=0)
    return replace(lowered, contacts={**lowered.contacts, GROUND: silent}, pairs=(*lowered.pairs, *pairs))


def _may_touch(lowered: Lowered, name: str) -> bool:
    ground, geom = lowered.contacts[GROUND], lowered.contacts[name]
    return bool(ground.contype & geom.conaffinity or geom.contype & ground.conaffinity)


def _still_links(robot: Robot) -> set[str]:
    """Links welded to the world: they touch nothing that stands still too."""
    still: set[str] = set()
    for joint in robot.joints:
        if joint.type is JointType.FIXED and (joint.parent is None or joint.parent in still):
            still.add(joint.child)
    return still
