"""The stage that PhysX is given: the robot's own file under a layer with our settings. pxr only, no ovphysx.

What the layer says: the reader's units and variants, the scene's settings, iteration counts, no sleeping, contact
reports, a drive on every joint (so that gains can be written), colliders out of instances (whose materials PhysX
0.7.0 drops), a ground plane on request, and a rail under a robot that a movable joint ties to the world (which PhysX
would weld).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.formats.registry import Format, format_of
from isaaclab_mirror.formats.usd.overlay import free_colliders, open_overlay
from isaaclab_mirror.formats.usd.stage import UsdRobotStage, open_stage, quiet_usd
from isaaclab_mirror.robot.joints import JointType
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.rotations import Quat, Vec3, quat_conjugate, rotate
from isaaclab_mirror.sims.physx_overrides import define_material, put_robot
from isaaclab_mirror.sims.robots import LOCKED, UNTOUCHABLE, home_positions
from isaaclab_mirror.sims.settings import Ground, SimSettings

if TYPE_CHECKING:
    from pxr import Sdf, Usd

OURS = "isaaclab_mirror_"
"""Prims of ours begin with this."""
RAIL_KG = 1.0
ACTING = ("PhysicsDriveAPI", "PhysicsLimitAPI", "PhysicsJointStateAPI", "PhysxLimitAPI", "PhysxMimicJointAPI")
ACTING += ("PhysxTendonAxis", "PhysxTendonAttachment", "PhysxJointAxisAPI", "NewtonMimicAPI")
"""What a joint that cannot move has no use for."""
NEWTON_ROOT = "NewtonArticulationRootAPI"
ARTICULATION = ("physxArticulation:", "newton:selfCollisionEnabled")
"""Attributes that belong to the articulation's root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysxStage:
    """A file for PhysX and how to read what comes back."""

    file: Path
    scope: str
    """Prim that holds the whole robot: what is cloned. `/` where no prim does."""
    scope_pos: Vec3
    """Its world position [stage units]."""
    scope_quat_wxyz: Quat
    link_paths: dict[str, str]
    """Link name → prim path."""
    joint_paths: dict[str, str]
    """Axis name → path of its joint prim."""
    metres: float
    kilograms: float
    up_wxyz: Quat
    """Turns the stage's up axis to +z."""


def write_stage(robot: Robot, read: ReadOptions, settings: SimSettings, folder: Path) -> PhysxStage:
    """Write the layer into `folder`."""
    if robot.source is None or not robot.source.file.is_file() or format_of(robot.source.file) is not Format.USD:
        where = str(robot.source or robot.name)
        raise InputError("E058", where, "PhysX loads USD files, and the robot comes from none", "give its USD file")
    source = open_stage(robot.source.file, read, Diagnostics())
    file = folder / "stage.usda"
    with quiet_usd():
        stage = open_overlay(source, file)
        links = {link.name: str(link.extras["usd:path"]) for link in robot.links if "usd:path" in link.extras}
        axes = {axis.name: axis.source.where for axis in robot.axes() if axis.source is not None}
        roots = [record.path.pathString for record in source.roots]
        scope = _scope([*links.values(), *axes.values(), *_joints_of(set(links.values()), source)], roots)
        _put_scene(stage, source, settings)
        _put_bodies(stage, source, settings)
        _put_joints(stage, robot, source.metres)
        free_colliders(stage)
        _leave_out_prototypes(stage, source.stage.GetDefaultPrim(), scope)
        put_robot(stage, robot, roots, source.metres)
        _lock_joints(stage, robot)
        if robot.joints[0].parent is None and robot.joints[0].axes:
            _put_rail(stage, scope, str(axes[robot.joints[0].axes[0].name]), roots, source, settings)
        elif not roots and len(links) == 1:  # a lone body moves alike as an articulation of one link
            _move_root(stage, links[robot.links[0].name], roots, settings)
        elif _base_differs(robot, source, read):
            _put_base(stage, scope, links[robot.links[0].name], source, is_fixed(robot), settings)
        if settings.ground is not None:
            _put_ground(stage, source, settings.ground)
        placed = source.cache.GetLocalToWorldTransform(source.stage.GetPrimAtPath(scope))
        stage.GetRootLayer().Save()
    position, turn = placed.ExtractTranslation(), placed.RemoveScaleShear().ExtractRotationQuat()
    x, y, z = turn.GetImaginary()
    return PhysxStage(
        file=file,
        scope=scope,
        scope_pos=(position[0], position[1], position[2]),
        scope_quat_wxyz=(turn.GetReal(), x, y, z),
        link_paths=links,
        joint_paths=axes,
        metres=source.metres,
        kilograms=source.kilograms,
        up_wxyz=source.up_wxyz,
    )


def _joints_of(links: set[str], source: UsdRobotStage) -> Iterator[str]:
    """Paths of the joints that tie links of the robot to each other or to the world; a weld is no axis."""
    from pxr import UsdPhysics

    for record in source.joints:
        joint = UsdPhysics.Joint(record.prim)
        if any(str(_body_of(end, source)) in links for end in (joint.GetBody0Rel(), joint.GetBody1Rel())):
            yield str(record.path)


def _scope(paths: Sequence[str], roots: Sequence[str]) -> str:
    """The nearest prim above all links, joints and, if it holds them, the articulation's root."""
    from pxr import Sdf

    common = Sdf.Path(paths[0]).GetParentPath()
    for path in paths[1:]:
        common = common.GetCommonPrefix(Sdf.Path(path).GetParentPath())
    for root in map(Sdf.Path, roots):
        if common.HasPrefix(root):
            common = common.GetCommonPrefix(root)
    return str(common)


def _apply(prim: Usd.Prim, api: str) -> None:
    if api not in prim.GetPrimTypeInfo().GetAppliedAPISchemas():
        prim.AddAppliedSchema(api)


def _set(prim: Usd.Prim, name: str, kind: Sdf.ValueTypeName, value: Any) -> None:
    prim.CreateAttribute(name, kind, custom=False).Set(value)


def _put_scene(stage: Usd.Stage, source: UsdRobotStage, settings: SimSettings) -> None:
    from pxr import Gf, Sdf, UsdPhysics

    kinds = Sdf.ValueTypeNames
    scenes = [stage.GetPrimAtPath(record.path) for record in source.scenes if not record.prim.IsInstanceProxy()]
    if not scenes:
        scenes = [UsdPhysics.Scene.Define(stage, f"/{OURS}scene").GetPrim()]
    size = math.sqrt(sum(g * g for g in settings.gravity))
    direction = tuple(g / size for g in settings.gravity) if size else (0.0, 0.0, -1.0)
    down = rotate(quat_conjugate(source.up_wxyz), direction)  # type: ignore[arg-type]
    for prim in scenes:
        _apply(prim, "PhysxSceneAPI")
        scene = UsdPhysics.Scene(prim)
        scene.CreateGravityDirectionAttr().Set(Gf.Vec3f(*down))
        scene.CreateGravityMagnitudeAttr().Set(size / source.metres)
        ext = settings.external_forces_every_iteration
        _set(prim, "physxScene:solverType", kinds.Token, settings.solver)
        _set(prim, "physxScene:enableExternalForcesEveryIteration", kinds.Bool, ext)
        # Contact offsets that nobody states follow from it (physics/contact.py), as under Isaac Lab.
        rate = round(settings.physx_substeps / settings.timestep_s)
        _set(prim, "physxScene:timeStepsPerSecond", kinds.UInt, max(1, rate))
        _set(prim, "physxScene:enableGPUDynamics", kinds.Bool, False)
        _set(prim, "physxScene:broadphaseType", kinds.Token, "MBP")
        _set(prim, "physxScene:bounceThreshold", kinds.Float, settings.bounce_threshold_mps / source.metres)
        offset, distance = settings.friction_offset_threshold_m, settings.friction_correlation_distance_m
        _set(prim, "physxScene:frictionOffsetThreshold", kinds.Float, offset / source.metres)
        _set(prim, "physxScene:frictionCorrelationDistance", kinds.Float, distance / source.metres)


def _put_bodies(stage: Usd.Stage, source: UsdRobotStage, settings: SimSettings) -> None:
    """Iteration counts, contact reports; nothing sleeps: a sleeping robot does not feel small targets."""
    from pxr import Sdf

    for record in source.roots:
        _put_articulation(stage.GetPrimAtPath(record.path), settings)
    for path in source.bodies:
        prim = stage.GetPrimAtPath(path)
        if not prim or prim.IsInstanceProxy():
            continue
        _apply(prim, "PhysxRigidBodyAPI")
        _apply(prim, "PhysxContactReportAPI")
        _set(prim, "physxRigidBody:sleepThreshold", Sdf.ValueTypeNames.Float, 0.0)
        _set(prim, "physxContactReport:threshold", Sdf.ValueTypeNames.Float, 0.0)


def _put_articulation(prim: Usd.Prim, settings: SimSettings) -> None:
    from pxr import Sdf

    kinds = Sdf.ValueTypeNames
    _apply(prim, "PhysxArticulationAPI")
    _set(prim, "physxArticulation:solverPositionIterationCount", kinds.Int, settings.position_iterations)
    _set(prim, "physxArticulation:solverVelocityIterationCount", kinds.Int, settings.velocity_iterations)
    _set(prim, "physxArticulation:sleepThreshold", kinds.Float, 0.0)
    _set(prim, "physxArticulation:stabilizationThreshold", kinds.Float, 0.0)


def _put_joints(stage: Usd.Stage, robot: Robot, metres: float) -> None:
    """A drive of the model's type on every hinge and slide, as PhysX takes gains only where one is; a start in limits.

    A joint that starts outside its limits is thrown into them: the first step, which PhysX takes to warm up, would
    leave the robot in pieces.
    """
    from pxr import Sdf

    home = home_positions(robot)
    units = {"PhysicsRevoluteJoint": ("angular", 180 / math.pi), "PhysicsPrismaticJoint": ("linear", 1 / metres)}
    for axis in robot.axes():
        prim = stage.GetPrimAtPath(axis.source.where) if axis.source is not None else None
        if not prim or prim.IsInstanceProxy() or str(prim.GetTypeName()) not in units:
            continue
        instance, unit = units[str(prim.GetTypeName())]
        _apply(prim, f"PhysicsDriveAPI:{instance}")
        _apply(prim, f"PhysicsJointStateAPI:{instance}")
        kind = Sdf.ValueTypeNames.Float
        if axis.drives:  # gains are written as numbers; what they act on only here
            _set(prim, f"drive:{instance}:physics:type", Sdf.ValueTypeNames.Token, str(axis.drives[0].type))
        _set(prim, f"state:{instance}:physics:position", kind, home[axis.name] * unit)
        _set(prim, f"state:{instance}:physics:velocity", kind, 0.0)


def _lock_joints(stage: Usd.Stage, robot: Robot) -> None:
    """Joints that the model has rigid (`robots.locked`) become fixed; of an untouchable robot no collider acts."""
    from pxr import UsdPhysics

    paths = [str(path) for joint in robot.joints for path in joint.extras.get(LOCKED, ())]  # type: ignore[attr-defined]
    for path in paths:
        prim = stage.GetPrimAtPath(path)
        for api in prim.GetPrimTypeInfo().GetAppliedAPISchemas():
            if api.startswith(ACTING):
                prim.RemoveAppliedSchema(api)
        prim.SetTypeName("PhysicsFixedJoint")
    if UNTOUCHABLE in robot.extras:
        for prim in stage.Traverse():
            if prim.HasAPI(UsdPhysics.CollisionAPI) and not prim.GetName().startswith(OURS):
                UsdPhysics.CollisionAPI(prim).GetCollisionEnabledAttr().Set(False)


def _leave_out_prototypes(stage: Usd.Stage, default: Usd.Prim, scope: str) -> None:
    """Colliders beside the default prim are left out: whoever references the file, as Isaac Lab does, has none of them.

    Importers put those that links reference there (`/colliders`), where PhysX would find them once more, at the origin.
    The folder is left out, not the colliders in it, which would be left out of the links too.
    """
    from pxr import Sdf, Usd, UsdPhysics

    if not default or not Sdf.Path(scope).HasPrefix(default.GetPath()):
        return
    for prim in stage.GetPseudoRoot().GetChildren():
        if prim.GetPath() == default.GetPath() or prim.GetName().startswith(OURS) or prim.IsA(UsdPhysics.Scene):
            continue
        if any(below.HasAPI(UsdPhysics.CollisionAPI) for below in Usd.PrimRange(prim) if below != prim):
            prim.SetActive(False)


def _put_rail(
    stage: Usd.Stage, scope: str, joint: str, roots: Sequence[str], source: UsdRobotStage, settings: SimSettings
) -> None:
    """A fixed link between the world and a movable joint: PhysX welds such a joint, its author meant it to move."""
    from pxr import Sdf, UsdGeom, UsdPhysics

    moved = UsdPhysics.Joint(stage.GetPrimAtPath(joint))
    ends = (moved.GetBody0Rel(), moved.GetBody1Rel())
    world = next((end for end in ends if _body_of(end, source) is None), ends[0])
    rail = UsdGeom.Xform.Define(stage, Sdf.Path(scope).AppendChild(f"{OURS}rail"))
    rail.SetResetXformStack(True)
    if world.GetTargets():  # the joint's frame is that prim's
        place = source.cache.GetLocalToWorldTransform(source.stage.GetPrimAtPath(world.GetTargets()[0]))
        rail.AddTransformOp().Set(place)
    prim = rail.GetPrim()
    for api in ("PhysicsRigidBodyAPI", "PhysicsMassAPI"):
        _apply(prim, api)
    mass = UsdPhysics.MassAPI(prim)
    mass.CreateMassAttr().Set(RAIL_KG)
    mass.CreateDiagonalInertiaAttr().Set((1.0, 1.0, 1.0))
    weld = UsdPhysics.FixedJoint.Define(stage, Sdf.Path(scope).AppendChild(f"{OURS}weld"))
    weld.CreateBody1Rel().SetTargets([prim.GetPath()])
    world.SetTargets([prim.GetPath()])
    _move_root(stage, scope, roots, settings)


def _body_of(end: Usd.Relationship, source: UsdRobotStage) -> Sdf.Path | None:
    """The rigid body that an end of a joint names: the nearest at or above the prim; None is the world."""
    above = [path for target in end.GetTargets() for path in source.bodies if target.HasPrefix(path)]
    return max(above, key=lambda path: path.pathElementCount, default=None)


def _move_root(stage: Usd.Stage, target: str, roots: Sequence[str], settings: SimSettings) -> None:
    """The articulation's root on one prim, and on no other, with what the old one says (self-collision among it)."""
    prim = stage.GetPrimAtPath(target)
    for old in (stage.GetPrimAtPath(root) for root in roots if root != target):
        for attribute in old.GetAuthoredAttributes():
            if attribute.GetName().startswith(ARTICULATION) and attribute.Get() is not None:
                _set(prim, attribute.GetName(), attribute.GetTypeName(), attribute.Get())
        if NEWTON_ROOT in old.GetPrimTypeInfo().GetAppliedAPISchemas():
            _apply(prim, NEWTON_ROOT)  # without it PhysX does not see newton:selfCollisionEnabled
        for api in ("PhysicsArticulationRootAPI", "PhysxArticulationAPI", NEWTON_ROOT):
            old.RemoveAppliedSchema(api)
    _apply(prim, "PhysicsArticulationRootAPI")
    _put_articulation(prim, settings)


def is_fixed(robot: Robot) -> bool:
    """Whether PhysX shall hold the root of the articulation: welded, or on a rail."""
    return robot.joints[0].type is not JointType.FLOATING


def _base_differs(robot: Robot, source: UsdRobotStage, read: ReadOptions) -> bool:
    """Whether the caller decided about the base, or PhysX would not hold a base that the model holds.

    An articulation's root on a body leaves that body floating, whatever joint ties it to the world.
    """
    on_body = any(record.path in source.bodies for record in source.roots)
    return read.fix_base is not None or (is_fixed(robot) and on_body)


def _put_base(
    stage: Usd.Stage, scope: str, root: str, source: UsdRobotStage, fixed: bool, settings: SimSettings
) -> None:
    """A base held or freed against what the file says."""
    from pxr import Sdf, UsdPhysics

    roots = [str(record.path) for record in source.roots if record.path.HasPrefix(scope)]
    target = root
    if fixed:  # the root on the weld: on a prim above it PhysX may take another body of the file
        weld = UsdPhysics.FixedJoint.Define(stage, Sdf.Path(scope).AppendChild(f"{OURS}weld"))
        weld.CreateBody1Rel().SetTargets([root])
        target = str(weld.GetPath())
    _move_root(stage, target, roots, settings)  # while the joint is there that may have been it
    for record in source.joints:
        joint = UsdPhysics.Joint(record.prim)
        if {_body_of(end, source) for end in (joint.GetBody0Rel(), joint.GetBody1Rel())} == {None, Sdf.Path(root)}:
            stage.GetPrimAtPath(record.path).SetActive(False)


def _put_ground(stage: Usd.Stage, source: UsdRobotStage, ground: Ground) -> None:
    from pxr import Gf, UsdGeom, UsdShade

    material = define_material(stage, ground.material, f"/{OURS}ground_material")
    plane = UsdGeom.Plane.Define(stage, f"/{OURS}ground")
    plane.CreateAxisAttr().Set(UsdGeom.GetStageUpAxis(stage))
    place = rotate(quat_conjugate(source.up_wxyz), (0.0, 0.0, ground.height_m / source.metres))
    plane.AddTranslateOp().Set(Gf.Vec3d(*place))
    _apply(plane.GetPrim(), "PhysicsCollisionAPI")
    UsdShade.MaterialBindingAPI.Apply(plane.GetPrim()).Bind(
        material, bindingStrength=UsdShade.Tokens.weakerThanDescendants, materialPurpose="physics"
    )
