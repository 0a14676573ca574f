"""What of a model the emulation covers, and what it does not: found when it is built, and said."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from isaaclab_mirror.physics.contact import combine
from isaaclab_mirror.physics.emulation.contact_points import BOX, FIELD, PLANE
from isaaclab_mirror.physics.emulation.native import bindings
from isaaclab_mirror.physics.emulation.robot import Data, Model
from isaaclab_mirror.physics.emulation.settings import ContactParameters, Settings
from isaaclab_mirror.physics.emulation.tables import Ground, Pair, Shape, filled
from isaaclab_mirror.physics.emulation.vectors import Floats
from isaaclab_mirror.robot.materials import CombineMode

G_PLANE, G_FIELD, G_SPHERE, G_CAPSULE, G_ELLIPSOID, G_CYLINDER, G_BOX, G_MESH = range(8)
"""MuJoCo's mjtGeom."""
GROUND_KINDS = {G_PLANE: PLANE, G_BOX: BOX, G_FIELD: FIELD}
SHAPE_NAMES = {
    G_PLANE: "plane",
    G_FIELD: "height field",
    G_SPHERE: "sphere",
    G_CAPSULE: "capsule",
    G_ELLIPSOID: "ellipsoid",
    G_CYLINDER: "cylinder",
    G_BOX: "box",
    G_MESH: "mesh",
}
FREE, BALL = 0, 1
"""MuJoCo's mjtJoint."""
EQ_JOINT = 2
"""MuJoCo's mjtEq."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something of the model that the emulation leaves out or only approximates."""

    what: str
    """A pair of geoms, a joint, a constraint."""
    reason: str
    ignored: bool
    """Left out altogether; else approximated."""

    def __str__(self) -> str:
        """One line."""
        return f"{self.what}: {'ignored' if self.ignored else 'approximated'}, {self.reason}"


@dataclass(frozen=True)
class Colliders:
    """What may touch what, as compiled code takes it, and what may not although the model says so."""

    shapes: Any
    """Tables of Shape, Ground and Pair."""
    points: Floats
    grounds: Any
    heights: Floats
    pairs: Any
    pair_names: tuple[tuple[str, str], ...]
    """Shape and ground of each pair, by geom name."""
    gaps: tuple[Gap, ...]


def name_of(model: Model, geom: int) -> str:
    """A geom's name, or its number and its body's name."""
    body = model.body(int(model.geom_bodyid[geom])).name
    return str(model.geom(geom).name or f"geom {geom} of {body}")


def refusal(model: Model) -> str | None:
    """Why a model cannot be stepped at all, or None."""
    free = [j for j in range(model.njnt) if int(model.jnt_type[j]) == FREE]
    balls = [j for j in range(model.njnt) if int(model.jnt_type[j]) == BALL]
    if balls:
        return f"joint {model.joint(balls[0]).name!r} is a ball: PhysX's spherical joints were not measured"
    if len(free) > 1:
        return f"{len(free)} floating bodies: one articulation can be stepped, beside static ground"
    if free and free[0] != 0:
        return "the floating base is not the first joint"
    if free and len({int(model.body_rootid[b]) for b in model.dof_bodyid}) > 1:
        return "a floating robot and another moving one: one articulation can be stepped, beside static ground"
    return None


def may_touch(model: Model, a: int, b: int) -> bool:
    """MuJoCo's filter by bits, and its excluded pairs of bodies."""
    bits = (model.geom_contype[a] & model.geom_conaffinity[b]) | (model.geom_contype[b] & model.geom_conaffinity[a])
    bodies = sorted((int(model.geom_bodyid[a]), int(model.geom_bodyid[b])))
    signature = (bodies[0] << 16) + bodies[1]
    return bool(bits) and signature not in {int(x) for x in model.exclude_signature}


def hull_points(model: Model, geom: int) -> Floats:
    """Vertices of a mesh's convex hull, in the geom's frame [m]."""
    mesh = int(model.geom_dataid[geom])
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertices = np.array(model.mesh_vert[first : first + count], dtype=np.float64)
    graph = int(model.mesh_graphadr[mesh])
    if graph < 0:
        hulls: Any = importlib.import_module("scipy.spatial")
        return vertices[np.sort(hulls.ConvexHull(vertices).vertices)]
    hull = int(model.mesh_graph[graph])
    ids = model.mesh_graph[graph + 2 + hull : graph + 2 + 2 * hull]
    return vertices[np.array(ids, dtype=np.int64)]


def shape_points(model: Model, geom: int) -> tuple[Floats, float] | None:
    """A collider's points and radius, or None for what is not covered."""
    kind, size = int(model.geom_type[geom]), np.array(model.geom_size[geom], dtype=np.float64)
    if kind == G_SPHERE:
        return np.zeros((1, 3)), float(size[0])
    if kind == G_CAPSULE:
        return np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]), float(size[0])
    if kind == G_BOX:
        corners = [(x, y, z) for x in (1, -1) for y in (1, -1) for z in (1, -1)]
        return np.array(corners, dtype=np.float64) * size, 0.0
    if kind == G_CYLINDER:
        return np.zeros((1, 3)), 0.0
    if kind == G_MESH:
        return hull_points(model, geom), 0.0
    return None


def approximation(shape: int, ground: int) -> str | None:
    """What is only nearly PhysX's of a covered pair, or None."""
    if shape == G_CYLINDER and ground != G_PLANE:
        return "a cylinder's points were read on planes alone"
    if shape == G_MESH:
        return "every vertex of the hull near the ground counts; PhysX keeps four"
    if ground == G_FIELD:
        return "each point sees the plane of the triangle beneath it"
    if ground == G_BOX and shape != G_SPHERE:
        return "corners touch faces; edge against edge is left out"
    return None


def self_gaps(model: Model, moving: list[int]) -> list[Gap]:
    """Pairs of the robot's own links that MuJoCo would let collide: counted by pair of links."""
    found: dict[tuple[int, int], int] = {}
    for i, a in enumerate(moving):
        for b in moving[i + 1 :]:
            bodies = (int(model.geom_bodyid[a]), int(model.geom_bodyid[b]))
            related = bodies[0] in (bodies[1], int(model.body_parentid[bodies[1]]))
            if not related and bodies[1] != int(model.body_parentid[bodies[0]]) and may_touch(model, a, b):
                found[bodies] = found.get(bodies, 0) + 1
    reason = "contacts between the robot's own links are not covered"
    return [
        Gap(f"{model.body(a).name} – {model.body(b).name} ({count} pairs of shapes)", reason, True)
        for (a, b), count in found.items()
    ]


@dataclass(frozen=True, slots=True)
class Coupling:
    """A joint that follows another: q = ratio·q_leader + shift."""

    follower: str
    leader: str
    ratio: float
    shift: float


def couplings_of(model: Model) -> dict[int, Coupling]:
    """The equalities of two hinges or slides that are linear, by their number."""
    found: dict[int, Coupling] = {}
    for k in range(model.neq):
        ends = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        constant, ratio, *curved = (float(c) for c in model.eq_data[k][:5])
        if int(model.eq_type[k]) != EQ_JOINT or not model.eq_active0[k] or min(ends) < 0 or any(curved):
            continue
        if {int(model.jnt_type[j]) for j in ends} & {FREE, BALL}:
            continue
        own, other = (float(model.qpos0[int(model.jnt_qposadr[j])]) for j in ends)
        names = [str(model.joint(j).name) for j in ends]
        found[k] = Coupling(names[0], names[1], ratio, own + constant - ratio * other)
    return found


def model_gaps(model: Model) -> list[Gap]:
    """Constraints and springs that the emulation does not know."""
    known = couplings_of(model)
    gaps = [
        Gap(f"equality {model.equality(i).name!r}", "loops are not covered, nor couplings that are not linear", True)
        for i in range(model.neq)
        if i not in known and model.eq_active0[i]
    ]
    gaps += [Gap(f"tendon {model.tendon(i).name!r}", "tendons are not covered", True) for i in range(model.ntendon)]
    return gaps


class _Friction:
    """Coefficients and offsets of pairs, from PhysX's numbers where given, else from the model."""

    def __init__(self, model: Model, contacts: ContactParameters, settings: Settings) -> None:
        self.model, self.contacts, self.settings = model, contacts, settings
        self.explicit = {
            frozenset((int(a), int(b))): float(f[0])
            for a, b, f in zip(model.pair_geom1, model.pair_geom2, model.pair_friction, strict=True)
        }

    def of_model(self, a: int, b: int) -> float:
        """MuJoCo's own rule: an explicit pair, else the higher priority, else the larger."""
        if (stated := self.explicit.get(frozenset((a, b)))) is not None:
            return stated
        model = self.model
        fa, fb = float(model.geom_friction[a, 0]), float(model.geom_friction[b, 0])
        if model.geom_priority[a] != model.geom_priority[b]:
            return fa if model.geom_priority[a] > model.geom_priority[b] else fb
        return max(fa, fb)

    def of_materials(self, table: dict[str, float], a: str, b: str) -> float | None:
        """PhysX's rule, where both geoms are named."""
        if a not in table or b not in table:
            return None
        modes = [CombineMode(self.contacts.combine.get(name, "average")) for name in (a, b)]
        return combine(table[a], table[b], modes[0], modes[1])

    def of_pair(self, a: int, b: int) -> tuple[float, float]:
        """(static, dynamic)"""
        names = name_of(self.model, a), name_of(self.model, b)
        dynamic = self.of_materials(self.contacts.dynamic_friction, *names)
        static = self.of_materials(self.contacts.static_friction, *names)
        if dynamic is None:
            dynamic = self.of_model(a, b)
        return (dynamic if static is None else static), dynamic

    def offsets(self, a: int, b: int) -> tuple[float, float]:
        """(contact offset, rest offset) of both together [m]."""
        names = name_of(self.model, a), name_of(self.model, b)
        default = self.settings.contact_offset_m
        return (
            sum(self.contacts.contact_offset_m.get(name, default) for name in names),
            sum(self.contacts.rest_offset_m.get(name, 0.0) for name in names),
        )


def colliders_of(model: Model, contacts: ContactParameters, settings: Settings) -> Colliders:
    """Every pair of a moving and a static geom that may touch."""
    tables = _Friction(model, contacts, settings)
    # weldid 0 is the world: bodies that nothing can move
    static = [g for g in range(model.ngeom) if int(model.body_weldid[model.geom_bodyid[g]]) == 0]
    moving = [g for g in range(model.ngeom) if g not in set(static)]
    data: Data = bindings().MjData(model)
    bindings().mj_kinematics(model, data)
    gaps = model_gaps(model) + self_gaps(model, moving)
    shape_ids: list[int] = []
    ground_ids: list[int] = []
    rows: list[tuple[int, int]] = []
    for a in moving:
        for b in static:
            if not (may_touch(model, a, b) or frozenset((a, b)) in tables.explicit):
                continue
            kinds = int(model.geom_type[a]), int(model.geom_type[b])
            what = f"{name_of(model, a)} – {name_of(model, b)}"
            if shape_points(model, a) is None or kinds[1] not in GROUND_KINDS:
                words = f"{SHAPE_NAMES.get(kinds[0], 'shape')} on {SHAPE_NAMES.get(kinds[1], 'shape')} is not covered"
                gaps.append(Gap(what, words, True))
                continue
            if (reason := approximation(*kinds)) is not None:
                gaps.append(Gap(what, reason, False))
            if a not in shape_ids:
                shape_ids.append(a)
            if b not in ground_ids:
                ground_ids.append(b)
            rows.append((a, b))
    shapes, points = _shapes(model, shape_ids)
    grounds, heights = _grounds(model, ground_ids, data)
    return Colliders(
        shapes=shapes,
        points=points,
        grounds=grounds,
        heights=heights,
        pairs=filled(Pair, [_pair(tables, a, b, shape_ids.index(a), ground_ids.index(b)) for a, b in rows]),
        pair_names=tuple((name_of(model, a), name_of(model, b)) for a, b in rows),
        gaps=tuple(gaps),
    )


def _pair(tables: _Friction, a: int, b: int, shape: int, ground: int) -> dict[str, Any]:
    static, dynamic = tables.of_pair(a, b)
    offset, rest = tables.offsets(a, b)
    return {
        "shape_index": shape,
        "ground_index": ground,
        "body": int(tables.model.geom_bodyid[a]),
        "offset_m": offset,
        "rest_m": rest,
        "static_friction": static,
        "dynamic_friction": dynamic,
    }


def _shapes(model: Model, geoms: list[int]) -> tuple[Any, Floats]:
    rows: list[dict[str, Any]] = []
    points: list[Floats] = [np.zeros((0, 3))]
    for geom in geoms:
        own, radius = cast("tuple[Floats, float]", shape_points(model, geom))
        rows.append(
            {
                "geom": geom,
                "body": int(model.geom_bodyid[geom]),
                "start": sum(map(len, points)),
                "count": len(own),
                "radius": radius,
                "rim": int(model.geom_type[geom]) == G_CYLINDER,
                "rim_radius": float(model.geom_size[geom][0]),
                "rim_half": float(model.geom_size[geom][1]),
            }
        )
        points.append(own)
    return filled(Shape, rows), np.concatenate(points)


def _grounds(model: Model, geoms: list[int], data: Data) -> tuple[Any, Floats]:
    rows: list[dict[str, Any]] = []
    heights: list[Floats] = [np.zeros(0)]
    for geom in geoms:
        row: dict[str, Any] = {
            "kind": GROUND_KINDS[int(model.geom_type[geom])],
            "position": np.array(data.geom_xpos[geom]),
            "rotation": np.array(data.geom_xmat[geom]),
            "extent": np.array(model.geom_size[geom]),
        }
        if int(model.geom_type[geom]) == G_FIELD:
            field = int(model.geom_dataid[geom])
            count, first = (int(model.hfield_nrow[field]), int(model.hfield_ncol[field])), int(model.hfield_adr[field])
            row |= {"rows": count[0], "columns": count[1], "start": sum(map(len, heights))}
            row["extent"] = np.array(model.hfield_size[field][:3])
            heights.append(np.array(model.hfield_data[first : first + count[0] * count[1]], dtype=np.float64))
        rows.append(row)
    return filled(Ground, rows), np.concatenate(heights)
