"""Opening a stage: untrusted layers, composition errors as diagnostics, variants, units, and one walk."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import Diagnostics, InputError, Source
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.formats.usd.values import UNLIMITED, decompose, scaled
from isaaclab_mirror.rotations import IDENTITY_QUAT, Pose, Quat, Vec3

if TYPE_CHECKING:
    from pxr import Sdf, Usd, UsdGeom

OUT_OF_SCOPE = re.compile(r"Deformable|Particle|Cloth|FluidIsosurface|NewtonMPM|PhysxVehicle|CurvesDeformable")
"""Schemas of things that are not rigid robots: named in a diagnostic, not converted."""

HINT = "open it in usdview or with usdcat; if it was copied, was the copy complete?"

PHYSICS_VARIANTS = ("physx", "physics")
"""What an unselected `Physics` variant set is read as, first match wins: as PhysX would want it."""


@dataclass(slots=True)
class Record:
    """One prim that matters, and the rigid body that it belongs to."""

    prim: Usd.Prim
    path: Sdf.Path
    type_name: str
    apis: frozenset[str]
    body: Sdf.Path | None

    def instances(self, api: str) -> list[str]:
        """Instance names of an applied multiple-apply schema: `PhysicsDriveAPI:angular` → angular."""
        start = api + ":"
        return [name[len(start) :] for name in self.apis if name.startswith(start)]


@dataclass(slots=True)
class UsdRobotStage:
    """An opened stage with everything that readers of single concepts share."""

    stage: Usd.Stage
    file: Path
    options: ReadOptions
    found: Diagnostics
    sources: tuple[Path, ...]
    missing_layers: tuple[str, ...]
    metres: float = 1.0
    kilograms: float = 1.0
    up_wxyz: Quat = IDENTITY_QUAT
    """Turns the stage's up axis to +z."""
    mujoco_dialect: bool = False
    """Whether the stage carries MuJoCo's own schemas: then it means to MuJoCo what it was written from."""
    cache: UsdGeom.XformCache = field(default=None)  # type: ignore[assignment]
    bodies: dict[Sdf.Path, Record] = field(default_factory=dict)
    joints: list[Record] = field(default_factory=list)
    shapes: list[Record] = field(default_factory=list)
    """Gprims, in stage order."""
    scenes: list[Record] = field(default_factory=list)
    roots: list[Record] = field(default_factory=list)
    """Prims with ArticulationRootAPI."""
    others: dict[str, list[Record]] = field(default_factory=dict)
    """By type name: MjcActuator, MjcTendon, MjcKeyframe, PhysicsCollisionGroup, Camera, Isaac sensors, …"""
    filtered: list[Record] = field(default_factory=list)
    """Prims with FilteredPairsAPI."""
    attachments: list[Record] = field(default_factory=list)
    """Prims with points of PhysX's spatial tendons."""
    owner: dict[Sdf.Path, Sdf.Path | None] = field(default_factory=dict)
    """Any prim → the body it belongs to."""

    def source(self, prim: Usd.Prim | Sdf.Path | str) -> Source:
        """Where a prim stands, for messages."""
        path = prim.GetPath() if hasattr(prim, "GetPath") else prim
        return Source(self.file, str(path))

    def world_pose(self, prim: Usd.Prim) -> tuple[Pose, Vec3]:
        """Pose in the world [m, z up] and scale along its own axes."""
        pose, scale = decompose(self.cache.GetLocalToWorldTransform(prim))
        self.check_transform(prim, pose, scale)
        if 0.0 in scale:
            raise InputError("E014", self.source(prim), "its scale is zero", "author a scale that is not zero")
        return Pose((0.0, 0.0, 0.0), self.up_wxyz) @ scaled(pose, self.metres), scale

    def check_transform(self, prim: Usd.Prim, pose: Pose, scale: Vec3) -> None:
        """Refuse a transform with nan, inf or what comes close to it."""
        if all(abs(c) <= UNLIMITED for c in (*pose.pos, *scale, *pose.quat_wxyz)):
            return
        raise InputError(
            "E014",
            self.source(prim),
            "its transform is not finite",
            "look for nan, inf and huge numbers in its xformOps and those of its parents",
        )


@contextmanager
def usd_border(file: Path) -> Iterator[None]:
    """What USD throws over a broken file, when it is opened or only when a value is read, is bad input."""
    from pxr import Tf

    try:
        yield
    except (Tf.ErrorException, UnicodeDecodeError) as error:
        raise InputError("E010", file, f"USD cannot read it: {_reason(error)}", HINT) from None


@contextmanager
def quiet_usd() -> Iterator[None]:
    """USD's own warnings do not go to stderr: composition errors are read from the stage instead."""
    from pxr import UsdUtils

    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        yield
    finally:
        delegate.TakeUncoalescedDiagnostics()
        del delegate


@dataclass(frozen=True, slots=True)
class UsedLayers:
    """Layers that a file reaches. USD closes a layer, and parses it again, when nobody holds it."""

    files: list[Path]
    missing: list[str]
    held: list[Sdf.Layer]


def used_layers(file: Path, allow_outside: bool) -> UsedLayers:
    """Layers that `file` reaches through references, payloads and sublayers, and those that are not there.

    Runs before anything is composed. A layer that names an existing file by an absolute path outside the asset's
    folder is refused: a robot from the internet must not read this machine's files. Relative paths may go up,
    as published assets do (`../../grippers/…`).
    """
    from pxr import Sdf, Tf

    with usd_border(file):
        first = _newest(Sdf.Layer.FindOrOpen(str(file)))
    if first is None:
        raise InputError("E010", file, "USD cannot read it: it is of no USD format", HINT)
    found: dict[str, Path] = {}
    missing: dict[str, None] = {}
    todo, held = [first], []
    while todo:
        layer = todo.pop()
        if layer.identifier in found:
            continue
        held.append(layer)
        found[layer.identifier] = Path(layer.realPath) if layer.realPath else file
        for asset in sorted(layer.GetCompositionAssetDependencies()):
            if not asset:
                continue
            if re.match(r"^[a-z][a-z0-9+.-]+://|^[a-z]+:(?!\\|/[^/])", asset, re.IGNORECASE):
                missing[asset] = None
                continue
            if not allow_outside and _is_outside(asset, file.parent):
                raise InputError(
                    "E015",
                    Source(file, asset),
                    f"{Path(layer.realPath).name} names a file of this machine outside the asset's folder",
                    "copy it beside the asset, or allow it with --set allow_outside=true",
                )
            try:
                below = _newest(Sdf.Layer.FindOrOpenRelativeToLayer(layer, asset))
            except (Tf.ErrorException, UnicodeDecodeError):
                below = None
            if below is None:
                missing[asset] = None
            else:
                todo.append(below)
    return UsedLayers(list(dict.fromkeys(found.values())), list(missing), held)


def _newest(layer: Sdf.Layer | None) -> Sdf.Layer | None:
    """A layer as its file is now: another part of this process may have held it open since before the file changed."""
    if layer is not None and not layer.dirty:
        layer.Reload()
    return layer


def _is_outside(asset: str, folder: Path) -> bool:
    """Whether an asset path names an existing file of this machine beyond the asset's folder."""
    path = Path(asset)
    return path.is_absolute() and path.exists() and not path.resolve().is_relative_to(folder.resolve())


def _report_outside(layers: list[Path], file: Path, found: Diagnostics) -> None:
    """Say what relative paths (`../…`) read beyond the asset's folder; absolute paths have been refused."""
    folder = file.parent.resolve()
    outside = [layer for layer in layers if not layer.resolve().is_relative_to(folder)]
    if outside:
        names = ", ".join(layer.name for layer in outside[:3]) + (" …" if len(outside) > 3 else "")
        found.info(
            "E015",
            Source(file, "/"),
            f"{len(outside)} layers outside the asset's folder are read through relative paths: {names}",
            "read only assets that you trust; copy what they need into one folder",
        )


def open_stage(file: Path, options: ReadOptions, found: Diagnostics) -> UsdRobotStage:
    """Open, choose variants, read units, walk once."""
    from pxr import Usd

    if not file.exists():
        raise InputError("E010", file, "no such file", "check the path")
    if not file.is_file():
        raise InputError("E010", file, "it is a folder, not a file", "name a .usd, .usda, .usdc or .usdz")
    if file.stat().st_size == 0:
        raise InputError("E010", file, "the file is empty", HINT)
    with quiet_usd():
        layers = used_layers(file, options.allow_outside)
        _report_outside(layers.files, file, found)
        stage = Usd.Stage.Open(str(file))
        _select_variants(stage, file, options, found)
        result = UsdRobotStage(stage, file, options, found, tuple(layers.files), tuple(layers.missing))
        _report_composition(result)
        _read_units(result)
        _walk(result)
    return result


def _reason(error: Exception) -> str:
    """What USD says, on one line, without the places in its own source and the folders of this machine."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    text = re.sub(r"\s+", " ", str(error))
    said = re.findall(r"Error in '[^']*' at line \d+ in file \S+ : '(.*?)'(?= Error in |\s*$)", text)
    line = re.sub(r"\S*/([^/\s>@]+)", r"\1", (said or [text])[0]).strip()
    return line[:200] or "unreadable"


def _report_composition(stage: UsdRobotStage) -> None:
    """What USD could not compose, as diagnostics: USD itself only prints and goes on. A payload holds meshes: E002."""
    from pxr import Pcp

    for error in stage.stage.GetCompositionErrors():
        message = re.sub(r"\s+", " ", str(error)).strip()
        absent = re.match(r"Could not (?:open asset|load sublayer) @([^@]*)@(?: for (\w+))?", message)
        code, hint = "E011", "mend the arc; what it would add is missing from the result"
        if error.errorType in (Pcp.ErrorType_ArcCycle, Pcp.ErrorType_SublayerCycle):
            text = "it refers to itself: that arc is not followed"
        elif absent:
            what = absent.group(2) or "sublayer"
            code = "E002" if what == "payload" else "E011"
            text = f"{what} {Path(absent.group(1)).name} is not there or no USD"
            hint = "put the file where the asset names it; what it would add is missing from the result"
        else:
            text = re.sub(r"@[^@]*?([^/@]*)@", r"@\1@", message)[:300]
        stage.found.warn(code, stage.source(error.rootSite.path), text, hint)


def _select_variants(stage: Usd.Stage, file: Path, options: ReadOptions, found: Diagnostics) -> None:
    """Select what was asked for; an unselected `Physics` set is read as PhysX would want it."""
    stage.SetEditTarget(stage.GetSessionLayer())
    asked = dict(options.variants)
    seen: dict[str, set[str]] = {}
    # Variants may sit on any prim, but only composed prims can be seen: look again after every choice.
    for prim in list(stage.Traverse()) if asked else _shallow(stage):
        if not prim.HasVariantSets():
            continue
        sets = prim.GetVariantSets()
        for name in sets.GetNames():
            names = sets.GetVariantSet(name).GetVariantNames()
            seen.setdefault(name, set()).update(names)
            if name in asked:
                if asked[name] in names:
                    sets.SetSelection(name, asked[name])
            elif name.lower() == "physics" and not sets.GetVariantSelection(name):
                by_lower = {n.lower(): n for n in names}
                choice = next((by_lower[n] for n in PHYSICS_VARIANTS if n in by_lower), None)
                if choice:
                    sets.SetSelection(name, choice)
                    found.info(
                        "E016",
                        Source(file, str(prim.GetPath())),
                        f"variant set {name} has no selection: read as {choice!r}",
                        f"choose another with --variant {name}=… ({', '.join(names)})",
                    )
    for name, choice in asked.items():
        if choice not in seen.get(name, set()):
            have = ", ".join(f"{n}={{{', '.join(sorted(v))}}}" for n, v in sorted(seen.items())) or "none"
            raise InputError("E016", file, f"no variant {name}={choice}", f"the file has: {have}")


def _shallow(stage: Usd.Stage) -> list[Usd.Prim]:
    """The prims on which importers put their variant sets: roots and their children."""
    top = list(stage.GetPseudoRoot().GetChildren())
    return [*top, *(child for prim in top for child in prim.GetChildren())]


def _read_units(stage: UsdRobotStage) -> None:
    """Units of the stage. Where they are not authored, what authors meant: metres (USD would say centimetres)."""
    from pxr import UsdGeom, UsdPhysics

    usd, found = stage.stage, stage.found
    if usd.HasAuthoredMetadata("metersPerUnit"):
        stage.metres = float(UsdGeom.GetStageMetersPerUnit(usd))
        if stage.metres != 1.0:
            found.info(
                "E017",
                stage.source("/"),
                f"metersPerUnit is {stage.metres:g}: converted to metres",
                "PhysX itself does not apply metersPerUnit: it computes in stage units",
            )
    else:
        found.info("E017", stage.source("/"), "metersPerUnit is not authored: lengths are taken as metres")
    if not (math.isfinite(stage.metres) and stage.metres > 0.0):
        raise InputError("E014", stage.source("/"), f"metersPerUnit is {stage.metres}", "author a positive number")
    stage.kilograms = float(UsdPhysics.GetStageKilogramsPerUnit(usd))
    if not (math.isfinite(stage.kilograms) and stage.kilograms > 0.0):
        why = f"kilogramsPerUnit is {stage.kilograms}"
        raise InputError("E014", stage.source("/"), why, "author a positive number")
    if UsdGeom.GetStageUpAxis(usd) == UsdGeom.Tokens.y and usd.HasAuthoredMetadata("upAxis"):
        half = math.sqrt(0.5)
        stage.up_wxyz = (half, half, 0.0, 0.0)
        found.info("E017", stage.source("/"), "upAxis is Y: turned so that z is up")
    if not usd.HasAuthoredMetadata("upAxis"):
        found.info("E017", stage.source("/"), "upAxis is not authored: z is taken as up")
    stage.cache = UsdGeom.XformCache()


GEOMETRY = frozenset({"Mesh", "Cube", "Sphere", "Cylinder", "Cylinder_1", "Capsule", "Capsule_1", "Cone", "Plane"})
JOINTS = frozenset(
    {
        "PhysicsRevoluteJoint",
        "PhysicsPrismaticJoint",
        "PhysicsFixedJoint",
        "PhysicsSphericalJoint",
        "PhysicsDistanceJoint",
        "PhysicsJoint",
        "PhysxPhysicsGearJoint",
        "PhysxPhysicsRackAndPinionJoint",
    }
)
COLLECTED = frozenset(
    {
        "PhysicsCollisionGroup",
        "Camera",
        "Lidar",
        "OmniLidar",
        "OmniRadar",
        "MjcActuator",
        "MjcTendon",
        "MjcKeyframe",
        "Material",
    }
)


def _walk(stage: UsdRobotStage) -> None:
    """One pass over every prim, instance proxies included."""
    from pxr import Usd

    owner, found = stage.owner, stage.found
    mujoco = drives = False
    owner[stage.stage.GetPseudoRoot().GetPath()] = None
    for prim in Usd.PrimRange(stage.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        path = prim.GetPath()
        if path.IsAbsoluteRootPath():
            continue
        info = prim.GetPrimTypeInfo()
        apis = frozenset(info.GetAppliedAPISchemas())
        type_name = str(prim.GetTypeName())
        above = owner[path.GetParentPath()]
        record = Record(prim, path, type_name, apis, above)
        if "PhysicsRigidBodyAPI" in apis and _is_body(stage, record):
            record.body = path
            stage.bodies[path] = record
        owner[path] = record.body
        if apis:
            if "PhysicsArticulationRootAPI" in apis:
                stage.roots.append(record)
            if "PhysicsFilteredPairsAPI" in apis:
                stage.filtered.append(record)
            if any(api.startswith("PhysxTendonAttachment") for api in apis):
                stage.attachments.append(record)
            mujoco |= not apis.isdisjoint({"MjcSceneAPI", "MjcJointAPI"})
            drives |= any(api.startswith("PhysicsDriveAPI") for api in apis)
            if any(OUT_OF_SCOPE.search(a) for a in apis):
                found.warn("E018", stage.source(prim), "deformables, particles and vehicles are out of scope: left out")
        if type_name in GEOMETRY:
            stage.shapes.append(record)
        elif type_name in JOINTS:
            stage.joints.append(record)
        elif type_name == "PhysicsScene":
            stage.scenes.append(record)
        elif type_name in COLLECTED or type_name.startswith("Isaac"):
            stage.others.setdefault(type_name, []).append(record)
        elif OUT_OF_SCOPE.search(type_name):
            found.warn("E018", stage.source(prim), f"{type_name} is out of scope: left out")
        elif "PhysicsCollisionAPI" in apis or "MjcSiteAPI" in apis:
            stage.shapes.append(record)
    # Drives are PhysX's: a stage that has them is simulated by PhysX, whatever else it says for MuJoCo.
    stage.mujoco_dialect = mujoco and not drives


def _is_body(stage: UsdRobotStage, record: Record) -> bool:
    """Whether PhysX makes a body of a prim with RigidBodyAPI."""
    prim: Any = record.prim
    if prim.IsInstanceProxy():
        stage.found.warn(
            "E019",
            stage.source(prim),
            "a whole rigid body inside an instance is no body in PhysX",
            "make the prim above it not instanceable",
        )
        return False
    enabled = prim.GetAttribute("physics:rigidBodyEnabled")
    return not (enabled and enabled.Get() is False)
