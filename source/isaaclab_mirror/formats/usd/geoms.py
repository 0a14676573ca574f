"""Gprims → geoms: shapes by PhysX's rules for scale and approximation, colliders, visuals, sites' shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.formats.usd.materials import Materials
from isaaclab_mirror.formats.usd.meshes import (
    MeshLibrary,
    Triangles,
    baked,
    compact,
    has_strays,
    read_texcoords,
    read_triangles,
)
from isaaclab_mirror.formats.usd.names import CountedNames
from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.values import (
    UNLIMITED,
    authored,
    axis_token,
    bound,
    decompose,
    number,
    plain,
    positive,
    shear,
    value,
)
from isaaclab_mirror.robot.geometry import (
    Approximation,
    Box,
    Capsule,
    Collision,
    Cone,
    Cylinder,
    Ellipsoid,
    Geom,
    MeshAsset,
    MeshShape,
    Plane,
    Shape,
    Sphere,
)
from isaaclab_mirror.rotations import Pose, Quat, Vec3, quat_from_axis_angle

if TYPE_CHECKING:
    from pxr import Gf, Sdf

AXIS_TO_Z: dict[str, Quat] = {
    "X": quat_from_axis_angle((0.0, 1.0, 0.0), math.pi / 2),
    "Y": quat_from_axis_angle((1.0, 0.0, 0.0), -math.pi / 2),
    "Z": (1.0, 0.0, 0.0, 0.0),
}
"""Turns z to the axis along which a cylinder, capsule, cone or plane stands."""

MUJOCO_GEOM = {
    "mjc:solref": "solref",
    "mjc:solimp": "solimp",
    "mjc:condim": "condim",
    "mjc:priority": "priority",
    "mjc:solmix": "solmix",
    "mjc:group": "group",
    "mjc:margin": "margin",
    "mjc:gap": "gap",
    "newton:contactMargin": "margin",
    "newton:contactGap": "gap",
    "mjc:shellinertia": "shell_inertia",
    "mjc:inertia": "mesh_inertia",
    "mjc:maxhullvert": "max_hull_vertices",
    "newton:maxHullVertices": "max_hull_vertices",
    "newton:massModel": "mass_model",
}


SMALLEST_M = 1e-9
LARGEST_M = 2.0**30
"""Of a smaller mesh MuJoCo finds no hull; the vertices of a larger one it does not read. Primitives are held to it."""
THIN_M = 0.01
"""Half thickness of the bounding box of a flat mesh. PhysX has 0.005, 0.01, 0.045 m for squares of 0.1, 1, 100 m."""


@dataclass(slots=True)
class ReadGeom:
    """A geom and what mass computation needs beside it."""

    geom: Geom
    record: Record
    enabled: bool
    """False: a collider that touches nothing but still counts for mass."""


class GeomReader:
    """Reads gprims of one stage; names are unique, meshes shared."""

    def __init__(
        self, stage: UsdRobotStage, link_names: Mapping[Sdf.Path, str], hull_of: Callable[[MeshAsset], MeshAsset]
    ) -> None:
        self.stage = stage
        self._hull_of = hull_of
        self.materials = Materials(stage)
        self.meshes = MeshLibrary()
        self._links = link_names
        self._body_inverse: dict[Sdf.Path | None, Gf.Matrix4d] = {}
        self._names = CountedNames()
        self._triangles: dict[Any, Triangles | None] = {}
        self._shown: dict[Sdf.Path, tuple[bool, str]] = {}
        self.names_of: dict[Sdf.Path, list[str]] = {}
        """Prim → the geoms made from it."""

    def read(self, record: Record) -> list[ReadGeom]:
        """The geoms of one prim: none, one, or one per material subset."""
        collider = "PhysicsCollisionAPI" in record.apis
        visible = self._is_visible(record)
        if not collider and not (visible and self.stage.options.visuals):
            return []
        pose, scale, shear = self._place(record)
        collision = self._collision(record) if collider else None
        if record.type_name == "Mesh":
            parts = self._mesh_parts(record, pose, scale, shear, collision is not None, visible)
        else:
            shaped = self._primitive(record, scale, exact=not collider)
            if shaped is None:
                return []
            turn, shape = shaped[0], self._solid(record, shaped[1])
            if shape is None:
                return []
            parts = [(shape, pose @ Pose((0.0, 0.0, 0.0), turn), record.prim)]
        enabled = value(record.prim, "physics:collisionEnabled", True) is not False
        result = []
        for shape, place, prim in parts:
            material = self.materials.visual_of(prim)
            geom = Geom(
                name=self._name(record),
                link=None if record.body is None else self._links.get(record.body),
                shape=shape,
                pose=place,
                visible=visible,
                material=material.name if material else None,
                rgba=self._colour(prim if material is None else record.prim),
                collision=collision,
                source=self.stage.source(record.prim),
                mujoco={} if collision else self._mujoco(record),
            )
            self.names_of.setdefault(record.path, []).append(geom.name)
            result.append(ReadGeom(geom, record, enabled))
        return result

    def _name(self, record: Record) -> str:
        shown = record.prim.GetDisplayName()
        base = shown if shown and shown not in self._names else record.path.name
        if base in self._names and record.body is not None:
            base = f"{self._links.get(record.body, '')}_{record.path.name}"
        return self._names.of(base)

    def _place(self, record: Record) -> tuple[Pose, Vec3, Any]:
        """Pose [m] in the body's frame, scale along the prim's own axes, and the full matrix where it shears."""
        from pxr import Gf

        stage = self.stage
        if record.body not in self._body_inverse:
            if record.body is None:
                inverse = Gf.Matrix4d(1.0)
                if stage.up_wxyz != (1.0, 0.0, 0.0, 0.0):
                    w, x, y, z = stage.up_wxyz
                    inverse.SetRotate(Gf.Quatd(w, x, y, z))
            else:
                rigid, _ = decompose(stage.cache.GetLocalToWorldTransform(stage.bodies[record.body].prim))
                matrix = Gf.Matrix4d(1.0)
                matrix.SetRotate(Gf.Quatd(rigid.quat_wxyz[0], *rigid.quat_wxyz[1:]))
                matrix.SetTranslateOnly(Gf.Vec3d(*rigid.pos))
                inverse = matrix.GetInverse()
            self._body_inverse[record.body] = inverse
        relative = stage.cache.GetLocalToWorldTransform(record.prim) * self._body_inverse[record.body]
        pose, scale = decompose(relative)
        stage.check_transform(record.prim, pose, scale)
        m = stage.metres
        pose = Pose((pose.pos[0] * m, pose.pos[1] * m, pose.pos[2] * m), pose.quat_wxyz)
        # Scales that differ from 1 by float noise are 1: meshes stay shared, numbers readable.
        clean = tuple(float(round(s)) if abs(s - round(s)) < 1e-6 and round(s) != 0 else s for s in scale)
        shears = shear(relative) > 1e-5
        return pose, clean, relative if shears else None  # type: ignore[return-value]

    # ------------------------------------------------------------------ what is seen
    def _is_visible(self, record: Record) -> bool:
        visible, purpose = self._visibility(record.prim)
        if record.type_name not in (
            "Mesh",
            "Cube",
            "Sphere",
            "Cylinder",
            "Capsule",
            "Cone",
            "Plane",
            "Cylinder_1",
            "Capsule_1",
        ):
            return False
        return visible and purpose in ("default", "render")

    def _visibility(self, prim: Any) -> tuple[bool, str]:
        """Visibility and purpose with what the prims above say; a loop, as prims may nest deeper than Python calls."""
        chain = []
        while prim and prim.GetPath() not in self._shown:
            chain.append(prim)
            prim = prim.GetParent()
        visible, purpose = self._shown[prim.GetPath()] if prim else (True, "default")
        for below in reversed(chain):
            visible = visible and authored(below, "visibility") != "invisible"
            own = authored(below, "purpose")
            purpose = purpose if own is None else str(own)
            self._shown[below.GetPath()] = (visible, purpose)
        return visible, purpose

    def _colour(self, prim: Any) -> tuple[float, float, float, float] | None:
        colours = value(prim, "primvars:displayColor")
        if colours is None or len(colours) == 0:
            return None
        opacities = value(prim, "primvars:displayOpacity")
        rgba = (*map(float, colours[0]), float(opacities[0]) if opacities is not None and len(opacities) else 1.0)
        if len(rgba) != 4 or not all(map(math.isfinite, rgba)):
            self.stage.found.warn("E014", self.stage.source(prim), f"displayColor {rgba} is no colour: left out")
            return None
        return rgba

    # ------------------------------------------------------------------ what collides
    def _collision(self, record: Record) -> Collision:
        prim, stage = record.prim, self.stage
        material = self.materials.contact_of(prim)
        density, mass = (positive_number(stage, prim, f"physics:{name}") for name in ("density", "mass"))
        offsets = [bound(prim, f"physxCollision:{n}Offset", stage.file) for n in ("contact", "rest")]
        metric = [None if o is None or abs(o) > UNLIMITED else o * stage.metres for o in offsets]
        hull = value(prim, "physxConvexHullCollision:hullVertexLimit")
        return Collision(
            material=material.name if material else None,
            approximation=self._approximation(record),
            max_hull_vertices=hull if isinstance(hull, int) else None,
            contact_offset_m=metric[0],
            rest_offset_m=metric[1],
            density_kgm3=density * stage.kilograms / stage.metres**3 if density else None,
            mass_kg=mass * stage.kilograms if mass else None,
            mujoco=self._mujoco(record),
        )

    def _approximation(self, record: Record) -> Approximation:
        """What a collision mesh is for PhysX: a moving one is convex whatever it says."""
        token = str(value(record.prim, "physics:approximation", "none"))
        if token in ("none", "meshSimplification"):
            return Approximation.TRIANGLES if record.body is None else Approximation.CONVEX_HULL
        if token in set(Approximation):
            return Approximation(token)
        self.stage.found.warn(
            "E006",
            self.stage.source(record.prim),
            f"{token!r} is no approximation of a mesh: its hull",
            f"use one of {', '.join(Approximation)}",
        )
        return Approximation.CONVEX_HULL

    def _mujoco(self, record: Record) -> Mapping[str, object]:
        if not any(api.startswith("Mjc") for api in record.apis):
            return {}
        found: dict[str, object] = {}
        names = frozenset(record.prim.GetAuthoredPropertyNames())
        for attribute, key in MUJOCO_GEOM.items():
            stated = plain(record.prim, attribute) if attribute in names else None
            if stated is None or key in found or (isinstance(stated, float) and math.isinf(stated)):
                continue
            found[key] = stated
        return found

    # ------------------------------------------------------------------ shapes
    def _primitive(self, record: Record, scale: Vec3, exact: bool) -> tuple[Quat, Shape] | None:
        """A primitive with its scale. PhysX: a sphere takes the largest scale, a cylinder's radius the larger of two.

        `exact` keeps what is seen instead: a scaled visual sphere is an ellipsoid.
        """
        prim, unit, file = record.prim, self.stage.metres, self.stage.file
        s = tuple(abs(c) * unit for c in scale)
        kind = record.type_name.removesuffix("_1")
        if kind == "Cube":
            half = positive(prim, "size", 2.0, file) / 2
            return AXIS_TO_Z["Z"], Box((half * s[0], half * s[1], half * s[2]))
        if kind == "Sphere":
            radius = positive(prim, "radius", 1.0, file)
            if exact and max(s) > min(s) * (1 + 1e-4):
                return AXIS_TO_Z["Z"], Ellipsoid((radius * s[0], radius * s[1], radius * s[2]))
            return AXIS_TO_Z["Z"], Sphere(radius * max(s))
        axis = axis_token(prim, "axis", "Z", file)
        along = "XYZ".index(axis)
        radial = max(s[k] for k in range(3) if k != along)
        if kind in ("Cylinder", "Capsule", "Cone"):
            defaults = {"Cylinder": (1.0, 2.0), "Capsule": (0.5, 1.0), "Cone": (1.0, 2.0)}[kind]
            radius = positive(prim, "radius", positive(prim, "radiusBottom", defaults[0], file), file)
            half = positive(prim, "height", defaults[1], file) / 2
            maker = {"Cylinder": Cylinder, "Capsule": Capsule, "Cone": Cone}[kind]
            return AXIS_TO_Z[axis], maker(radius * radial, half * s[along])
        if kind == "Plane":
            width, length = positive(prim, "width", 2.0, file), positive(prim, "length", 2.0, file)
            return AXIS_TO_Z[axis], Plane((width / 2 * s[0], length / 2 * s[1]))
        self.stage.found.warn(
            "E006",
            self.stage.source(prim),
            f"a collider on a {record.type_name or 'prim without a type'} has no shape of its own: left out",
            "apply PhysicsCollisionAPI to the meshes below it",
        )
        return None

    def _solid(self, record: Record, shape: Shape) -> Shape | None:
        """A shape that an engine can take: one without extent is reported and left out."""
        if isinstance(shape, Capsule) and 0.0 <= shape.half_length_m < SMALLEST_M:
            shape = Sphere(shape.radius_m)
        sizes = _sizes(shape)
        wrong = [size for size in sizes if not SMALLEST_M <= size <= LARGEST_M]
        if not wrong:
            return shape
        self.stage.found.warn(
            "E006",
            self.stage.source(record.prim),
            f"a {record.type_name} of size {wrong[0]:g} m: left out",
            "author positive sizes, and scales that are not zero",
        )
        return None

    def _mesh_parts(
        self, record: Record, pose: Pose, scale: Vec3, shear: Any, collider: bool, visible: bool
    ) -> list[tuple[Shape, Pose, Any]]:
        """Shapes of a mesh prim: its bounding shape, itself, or one part per material subset."""
        import numpy as np

        stage, prim = self.stage, record.prim
        key = prim.GetPrimInPrototype().GetPath() if prim.IsInstanceProxy() else record.path
        if key not in self._triangles:
            self._triangles[key] = read_triangles(stage, prim)
        triangles = self._triangles[key]
        if triangles is None or not self._has_extent(record, triangles, scale):
            return []
        metric = (scale[0] * stage.metres, scale[1] * stage.metres, scale[2] * stage.metres)
        if shear is not None:
            # No pose and scale can say this transform: it goes into the vertices whole.
            linear = np.array([[shear[i][j] for j in range(3)] for i in range(3)])
            points = (triangles.points.astype(np.float64) @ linear).astype(np.float32)
            faces = triangles.faces if np.linalg.det(linear) > 0 else triangles.faces[:, ::-1]
            triangles = Triangles(points, faces, triangles.face_of, triangles.corners)
            pose, metric = Pose(pose.pos), (stage.metres, stage.metres, stage.metres)
        approximation = str(value(prim, "physics:approximation", "none")) if collider else "none"
        if approximation in ("boundingCube", "boundingSphere"):
            return [(*self._bounding(record, triangles, metric, pose, approximation), prim)]
        vertices, faces = baked(triangles, metric)
        subsets = [] if collider else self._subsets(record, triangles)
        if subsets:
            parts: list[tuple[Shape, Pose, Any]] = []
            for subset, chosen in subsets:
                part_vertices, part_faces = compact(vertices, faces[chosen])
                uv = self._texcoords(subset, triangles)
                uv = None if uv is None else np.ascontiguousarray(uv.reshape(-1, 3, 2)[chosen].reshape(-1, 2))
                asset = self.meshes.add(
                    f"{record.path.name}_{subset.GetName()}", part_vertices, part_faces, uv, stage.source(prim)
                )
                parts.append((MeshShape(asset.name), pose, subset))
            return parts
        texcoords = self._texcoords(prim, triangles) if visible else None
        if collider and has_strays(vertices, faces) and self._approximation(record) is Approximation.CONVEX_HULL:
            vertices, faces = self._hull(record, vertices, faces)
            texcoords = None
        if has_strays(vertices, faces):
            vertices, faces = compact(vertices, faces)
        name = prim.GetDisplayName() or record.path.name
        asset = self.meshes.add(name, vertices, faces, texcoords, stage.source(prim))
        return [(MeshShape(asset.name), pose, prim)]

    def _hull(self, record: Record, vertices: Any, faces: Any) -> tuple[Any, Any]:
        """The hull of all points: PhysX takes also those that no face uses, a mesh file would lose them."""
        source = self.stage.source(record.prim)
        self.stage.found.warn(
            "E006", source, "some points are of no face, and part of PhysX's hull: written as that hull", "remove them"
        )
        hull = self._hull_of(MeshAsset(record.path.name, vertices, faces, None, source))
        return hull.vertices_m, hull.faces

    def _bounding(
        self, record: Record, triangles: Triangles, metric: Vec3, pose: Pose, approximation: str
    ) -> tuple[Shape, Pose]:
        """PhysX's bounding shapes: of the axis-aligned box of the points in the mesh's own frame."""
        low, high = triangles.points.min(axis=0), triangles.points.max(axis=0)
        half = tuple(float(abs(h - lo) / 2 * abs(m)) for lo, h, m in zip(low, high, metric, strict=True))
        centre = tuple(float((h + lo) / 2 * m) for lo, h, m in zip(low, high, metric, strict=True))
        place = Pose(pose.apply(centre), pose.quat_wxyz)  # type: ignore[arg-type]
        if approximation == "boundingSphere":
            return Sphere(math.sqrt(sum(h * h for h in half))), place
        if min(half) < SMALLEST_M:
            why = f"the bounding box of a flat mesh: {2 * THIN_M:g} m thick"
            self.stage.found.warn("E006", self.stage.source(record.prim), why, "give the mesh a thickness")
            half = tuple(max(h, THIN_M) if h < SMALLEST_M else h for h in half)
        return Box(half), place  # type: ignore[arg-type]

    def _has_extent(self, record: Record, triangles: Triangles, scale: Vec3) -> bool:
        """Whether a mesh, scaled, is of a size that engines can hold."""
        import numpy as np

        factors = np.abs(np.array(scale)) * self.stage.metres
        extent = float((np.ptp(triangles.points, axis=0).astype(float) * factors).max())
        reach = float((np.abs(triangles.points).max(axis=0).astype(float) * factors).max())
        if extent > SMALLEST_M and reach < LARGEST_M:
            return True
        self.stage.found.warn(
            "E002",
            self.stage.source(record.prim),
            f"the mesh is {extent:g} m large and reaches {reach:g} m: left out",
            "look at its points, the scale above it, and metersPerUnit",
        )
        return False

    def _texcoords(self, prim: Any, triangles: Triangles) -> Any:
        material = self.materials.visual_of(prim)
        if material is None or material.texture is None:
            return None
        mesh = prim if prim.GetTypeName() == "Mesh" else prim.GetParent()
        return read_texcoords(mesh, triangles)

    def _subsets(self, record: Record, triangles: Triangles) -> list[tuple[Any, Any]]:
        """Material subsets of a mesh with the triangles of each; the rest of the faces last."""
        import numpy as np

        children = record.prim.GetFilteredChildren(_all_prims())
        subsets = [c for c in children if c.GetTypeName() == "GeomSubset" and len(value(c, "indices", ())) > 0]
        bound = [c for c in subsets if self.materials.bound(c, "material:binding") is not None]
        if not bound:
            return []
        left = np.ones(len(triangles.face_of), dtype=bool)
        result = []
        for subset in bound:
            chosen = np.isin(triangles.face_of, np.asarray(value(subset, "indices")))
            left &= ~chosen
            if chosen.any():
                result.append((subset, np.nonzero(chosen)[0]))
        if left.any():
            result.append((record.prim, np.nonzero(left)[0]))
        return result


def positive_number(stage: UsdRobotStage, prim: Any, name: str) -> float | None:
    """A mass or a density. One that is not positive counts as unauthored, in PhysX too: 0 is USD's word for that."""
    found = number(prim, name, stage.file)
    if found is None or found > 0.0:
        return found
    say = stage.found.warn if found < 0.0 else stage.found.info
    what = name.removeprefix("physics:")
    say(
        "E004", stage.source(prim), f"{what} {found:g} is not positive: as if unauthored, as in PhysX", f"author {name}"
    )
    return None


def _sizes(shape: Shape) -> tuple[float, ...]:
    """Every length of a primitive [m]; none of a plane, which is infinite."""
    if isinstance(shape, Box):
        return shape.half_extents_m
    if isinstance(shape, Ellipsoid):
        return shape.radii_m
    if isinstance(shape, Sphere):
        return (shape.radius_m,)
    if isinstance(shape, Cylinder | Capsule | Cone):
        return (shape.radius_m, shape.half_length_m)
    return ()


def _all_prims() -> Any:
    from pxr import Usd

    return Usd.TraverseInstanceProxies()
