"""What the robot model says of links and surfaces, written over the stage that PhysX loads.

The model may say other than the file: a task spawns its robot with damping, speed limits, offsets and friction of its
own. Isaac Lab writes them over the asset in the same way.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from isaaclab_mirror.robot.geometry import Collision, Geom
from isaaclab_mirror.robot.materials import ContactMaterial
from isaaclab_mirror.robot.model import Link, Robot

if TYPE_CHECKING:
    from pxr import Usd, UsdShade

MATERIALS = "/isaaclab_mirror_materials"


def put_robot(stage: Usd.Stage, robot: Robot, roots: list[str], metres: float) -> None:
    """Links, surfaces and self-collision, on prims that are no instances (any more)."""
    from pxr import Sdf

    for link in robot.links:
        prim = stage.GetPrimAtPath(str(link.extras.get("usd:path", "/none")))
        if prim and not prim.IsInstanceProxy():
            _put_link(prim, link, metres)
    _put_surfaces(stage, robot, metres)
    for root in roots:
        prim = stage.GetPrimAtPath(root)
        prim.CreateAttribute("physxArticulation:enabledSelfCollisions", Sdf.ValueTypeNames.Bool, custom=False).Set(
            robot.collision_filter.self_collision
        )


def _put_link(prim: Usd.Prim, link: Link, metres: float) -> None:
    """`physxRigidBody:*`; USD's own unit of a spin is degrees per second."""
    from pxr import Sdf

    speeds = {
        "maxLinearVelocity": (link.max_linear_velocity, 1 / metres),
        "maxAngularVelocity": (link.max_angular_velocity, math.degrees(1.0)),
        "maxDepenetrationVelocity": (link.max_depenetration_velocity, 1 / metres),
        "linearDamping": (link.linear_damping, 1.0),
        "angularDamping": (link.angular_damping, 1.0),
    }
    for name, (value, unit) in speeds.items():
        if value is not None:
            attribute = prim.CreateAttribute(f"physxRigidBody:{name}", Sdf.ValueTypeNames.Float, custom=False)
            attribute.Set(value * unit)
    attribute = prim.CreateAttribute("physxRigidBody:disableGravity", Sdf.ValueTypeNames.Bool, custom=False)
    attribute.Set(link.disable_gravity)


def _put_surfaces(stage: Usd.Stage, robot: Robot, metres: float) -> None:
    """Offsets, and every collider bound to its material; one without has the scene's, or PhysX's own."""
    known = {material.name: material for material in robot.contact_materials}
    made: dict[str, UsdShade.Material] = {}
    for geom in robot.geoms:
        prim = _collider(stage, geom)
        if prim is None or geom.collision is None:
            continue
        _put_offsets(prim, geom.collision, metres)
        material = known.get(geom.collision.material or "", robot.default_contact_material)
        if material is None:
            continue
        if material.name not in made:
            made[material.name] = define_material(stage, material, f"{MATERIALS}/material_{len(made)}")
        _bind(prim, made[material.name])


def _collider(stage: Usd.Stage, geom: Geom) -> Usd.Prim | None:
    if geom.collision is None or geom.source is None:
        return None
    prim = stage.GetPrimAtPath(geom.source.where)
    return prim if prim and not prim.IsInstanceProxy() else None


def _put_offsets(prim: Usd.Prim, collision: Collision, metres: float) -> None:
    from pxr import Sdf

    for name, value in (
        ("contactOffset", collision.contact_offset_m),
        ("restOffset", collision.rest_offset_m),
    ):
        if value is not None:
            prim.AddAppliedSchema("PhysxCollisionAPI")
            attribute = prim.CreateAttribute(f"physxCollision:{name}", Sdf.ValueTypeNames.Float, custom=False)
            attribute.Set(value / metres)


def _bind(prim: Usd.Prim, material: UsdShade.Material) -> None:
    from pxr import UsdShade

    UsdShade.MaterialBindingAPI.Apply(prim).Bind(
        material, bindingStrength=UsdShade.Tokens.strongerThanDescendants, materialPurpose="physics"
    )


def define_material(stage: Usd.Stage, material: ContactMaterial, path: str) -> UsdShade.Material:
    """A physics material with the model's friction, restitution and ways to combine."""
    from pxr import Sdf, UsdPhysics, UsdShade

    made = UsdShade.Material.Define(stage, path)
    prim = made.GetPrim()
    for api in ("PhysicsMaterialAPI", "PhysxMaterialAPI"):
        prim.AddAppliedSchema(api)
    physics = UsdPhysics.MaterialAPI(prim)
    physics.CreateStaticFrictionAttr().Set(material.static_friction)
    physics.CreateDynamicFrictionAttr().Set(material.dynamic_friction)
    physics.CreateRestitutionAttr().Set(material.restitution)
    modes = {"friction": material.friction_combine, "restitution": material.restitution_combine}
    for name, mode in modes.items():
        attribute = prim.CreateAttribute(f"physxMaterial:{name}CombineMode", Sdf.ValueTypeNames.Token, custom=False)
        attribute.Set(mode.value)
    return made
