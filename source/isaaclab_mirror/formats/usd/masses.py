"""Mass properties of bodies by PhysX's rules, measured: what is authored, else from colliders, else a small sphere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isaaclab_mirror.diagnostics import Source
from isaaclab_mirror.formats.usd.geoms import ReadGeom, positive_number
from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.values import number, quat, vec3
from isaaclab_mirror.robot.geometry import Approximation, MeshAsset, MeshShape
from isaaclab_mirror.robot.inertia import (
    Inertia,
    MassProperties,
    add_tensors,
    combined,
    diagonalize,
    is_closed,
    parallel_axis,
    shape_properties,
)
from isaaclab_mirror.rotations import IDENTITY_QUAT, Vec3

DEFAULT_DENSITY = 1000.0
"""[kg/m³], where neither collider, body nor material says one."""
DEFAULT_RADIUS = 0.1
"""[m] of the sphere that PhysX assumes where there is no collider: I = 0.4·m·r² = 0.004·m."""

HullOf = Callable[[MeshAsset], MeshAsset]


def mujoco_inertia(stage: UsdRobotStage, body: Record) -> Inertia | None:
    """A body of MuJoCo's dialect: what is authored, or None (MuJoCo computes it from the geoms)."""
    mass = number(body.prim, "physics:mass", stage.file)
    if mass is None:
        return None
    com = vec3(body.prim, "physics:centerOfMass", stage.file) or (0.0, 0.0, 0.0)
    diagonal = vec3(body.prim, "physics:diagonalInertia", stage.file) or (0.0, 0.0, 0.0)
    return Inertia(
        mass_kg=mass,
        com_m=com,
        diagonal_kgm2=diagonal,
        principal_wxyz=quat(body.prim, "physics:principalAxes") or IDENTITY_QUAT,
    )


def physx_inertia(
    stage: UsdRobotStage,
    body: Record,
    geoms: Sequence[ReadGeom],
    meshes: dict[str, MeshAsset],
    densities: dict[str, float],
    hull_of: HullOf,
    cooked: Inertia | None = None,
    articulated: bool = False,
) -> Inertia:
    """A body of PhysX's dialect, in SI units.

    `cooked` is what PhysX itself computes of the body: taken in place of the colliders' hulls, authored numbers stay.

    mass > 0 authored wins; zero or negative is as unauthored. A collider's own mass or density wins over the body's
    density, that over the material's, that over 1000 kg/m³. Authored inertia (any component positive) is taken as it
    is, about the principal axes of the colliders where none are authored. A moment of zero beside positive ones is
    refused for an `articulated` link, which then keeps PhysX's default of 1 about every axis.
    An authored centre of mass scales with the body; it moves a computed inertia by the parallel-axis term.
    """
    prim, file, unit = body.prim, stage.file, stage.metres
    source = stage.source(prim)
    _, scale = stage.world_pose(prim)
    mass, density = positive_number(stage, prim, "physics:mass"), positive_number(stage, prim, "physics:density")
    com = vec3(prim, "physics:centerOfMass", file)
    diagonal = vec3(prim, "physics:diagonalInertia", file)
    axes = quat(prim, "physics:principalAxes")
    own_density = density * stage.kilograms / unit**3 if density else None
    if cooked is not None:
        solid = MassProperties(cooked.mass_kg, cooked.com_m, cooked.tensor())
    else:
        solid = _colliders(stage, body, geoms, meshes, densities, own_density, hull_of)
    authored_mass = mass * stage.kilograms if mass is not None else None
    if solid is not None and solid.mass_kg > 0.0:
        total, origin = authored_mass or solid.mass_kg, "colliders" if cooked is None else cooked.origin
        solid = solid.scaled(total)
    else:
        total = authored_mass or 1.0 * stage.kilograms
        moment = 0.4 * total * (DEFAULT_RADIUS * 1.0) ** 2
        solid = MassProperties(total, (0.0, 0.0, 0.0), ((moment, 0.0, 0.0), (0.0, moment, 0.0), (0.0, 0.0, moment)))
        origin = "default"
        if authored_mass is None:
            stage.found.info(
                "E004",
                source,
                "no mass and no collider: PhysX gives such a frame 1 kg, and so does this file",
                "author physics:mass, or remove PhysicsRigidBodyAPI from a mere frame",
            )
    place = solid.com_m
    if com is not None:
        place = (com[0] * scale[0] * unit, com[1] * scale[1] * unit, com[2] * scale[2] * unit)
    if diagonal is not None and has_moments(diagonal):
        moments = _authored_moments(stage, source, diagonal, articulated)
        if axes is None and cooked is not None:
            moments, axes = diagonalize(cooked.tensor())
        return Inertia(
            mass_kg=total,
            com_m=place,
            diagonal_kgm2=moments,
            principal_wxyz=axes or IDENTITY_QUAT,
            origin="authored" if authored_mass is not None else origin,
        )
    if diagonal is not None and any(diagonal):
        why = f"diagonalInertia {diagonal} has no positive moment: PhysX takes it for unauthored"
        stage.found.info("E003", source, why, "author three positive moments")
    tensor = solid.tensor_kgm2
    if com is not None and origin == "colliders":
        shift = (solid.com_m[0] - place[0], solid.com_m[1] - place[1], solid.com_m[2] - place[2])
        tensor = add_tensors(tensor, parallel_axis(total, shift))
    moments, principal = diagonalize(tensor)
    if axes is not None and cooked is None and origin == "colliders":
        principal = axes  # PhysX keeps the computed moments and takes the authored frame for them
    return Inertia(mass_kg=total, com_m=place, diagonal_kgm2=moments, principal_wxyz=principal, origin=origin)


def has_moments(diagonal: Vec3 | None) -> bool:
    """Whether PhysX takes an authored diagonalInertia: one of its components must be positive."""
    return diagonal is not None and max(diagonal) > 0.0


def _authored_moments(stage: UsdRobotStage, source: Source, diagonal: Vec3, articulated: bool) -> Vec3:
    """Authored principal moments as PhysX uses them [kg·m²]."""
    metric = stage.kilograms * stage.metres**2
    if articulated and 0.0 in diagonal:
        stage.found.warn(
            "E003",
            source,
            f"diagonalInertia {diagonal} has a moment of zero: PhysX refuses it for a link of an articulation, which "
            "keeps 1 about every axis; so does this file",
            "mend physics:diagonalInertia: three positive moments, or none",
        )
        return (metric, metric, metric)
    if min(diagonal) < 0.0:
        stage.found.warn("E003", source, f"diagonalInertia {diagonal} has a negative moment: PhysX takes its size")
    return (abs(diagonal[0]) * metric, abs(diagonal[1]) * metric, abs(diagonal[2]) * metric)


def weighs_meshes(stage: UsdRobotStage, body: Record, geoms: Sequence[ReadGeom]) -> bool:
    """Whether PhysX must be asked: it computes the mass or the inertia of a body from hulls that it cooks itself.

    A cone is such a hull. So are the principal axes of several or turned colliders, about which PhysX lays moments that
    are authored without axes: where two moments are equal, only its own rounding says which axes they are. And the
    moments of a body that is a collider itself about an authored centre of mass: no parallel-axis term explains them.
    """
    mass = number(body.prim, "physics:mass", stage.file)
    diagonal = vec3(body.prim, "physics:diagonalInertia", stage.file)
    axes = quat(body.prim, "physics:principalAxes")
    has_mass = mass is not None and mass > 0.0
    moments = has_moments(diagonal)
    centre = vec3(body.prim, "physics:centerOfMass", stage.file)
    if has_mass and moments and axes is not None and centre is not None:
        return False
    colliders = [read for read in geoms if read.geom.collision is not None]
    if any(read.record.type_name in ("Mesh", "Cone") for read in colliders):
        return True
    turned = any(read.geom.pose.quat_wxyz != IDENTITY_QUAT for read in colliders)
    if centre is not None and not moments:
        return any(read.record.path == body.path for read in colliders)
    return moments and axes is None and (turned or len(colliders) > 1)


def _colliders(
    stage: UsdRobotStage,
    body: Record,
    geoms: Sequence[ReadGeom],
    meshes: dict[str, MeshAsset],
    densities: dict[str, float],
    body_density: float | None,
    hull_of: HullOf,
) -> MassProperties | None:
    """The colliders of a body together; a disabled collider counts too."""
    parts: list[MassProperties] = []
    for read in geoms:
        collision = read.geom.collision
        if collision is None:
            continue
        density = collision.density_kgm3 or body_density or densities.get(collision.material or "") or DEFAULT_DENSITY
        mesh = None
        if isinstance(read.geom.shape, MeshShape):
            mesh = meshes[read.geom.shape.mesh]
            if not _weighs_itself(collision.approximation, mesh):
                mesh = hull_of(mesh)
        solid = shape_properties(read.geom.shape, density, mesh)
        if solid is None:
            continue
        if collision.mass_kg:
            solid = solid.scaled(collision.mass_kg)
        parts.append(solid.moved(read.geom.pose))
    return combined(parts) if parts else None


def _weighs_itself(approximation: Approximation, mesh: MeshAsset) -> bool:
    """Whether PhysX weighs the mesh rather than its hull: an SDF does; pieces of a decomposition come close to it."""
    if approximation is Approximation.CONVEX_DECOMPOSITION:
        return is_closed(mesh.vertices_m, mesh.faces)
    return approximation is Approximation.SDF
