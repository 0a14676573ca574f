"""The shapes of a compiled MuJoCo model as geometry, meshes and contact materials of a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from isaaclab_mirror.diagnostics import Source
from isaaclab_mirror.robot.geometry import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Ellipsoid,
    Geom,
    HeightField,
    MeshAsset,
    MeshShape,
    Plane,
    Shape,
    Sphere,
)
from isaaclab_mirror.robot.materials import CombineMode, ContactMaterial
from isaaclab_mirror.rotations import Pose

SEEN = 3
"""Geoms of groups below this are what MuJoCo's viewer shows."""


def read_geoms(model: Any, file: Path) -> tuple[tuple[Geom, ...], tuple[MeshAsset, ...]]:
    """Every geom, and the meshes that they use."""
    geoms = tuple(_geom(model, k, file) for k in range(model.ngeom))
    used = sorted({int(model.geom_dataid[k]) for k in range(model.ngeom) if model.geom_type[k] == 7})
    return geoms, tuple(_mesh(model, mesh, file) for mesh in used)


def read_materials(model: Any) -> tuple[ContactMaterial, ...]:
    """One per distinct friction; MuJoCo takes the larger of two."""
    return tuple(
        ContactMaterial(
            name=_material_name(friction),
            static_friction=friction[0],
            dynamic_friction=friction[0],
            torsional_friction_m=friction[1],
            rolling_friction_m=friction[2],
            friction_combine=CombineMode.MAX,
        )
        for friction in sorted({tuple(map(float, row)) for row in model.geom_friction})
    )


def _material_name(friction: tuple[float, ...]) -> str:
    return "friction " + " ".join(f"{number:.6g}" for number in friction)


def _geom(model: Any, k: int, file: Path) -> Geom:
    name, body = model.geom(k).name, int(model.geom_bodyid[k])
    collides = bool(model.geom_contype[k] or model.geom_conaffinity[k])
    colour = tuple(map(float, model.geom_rgba[k]))
    if model.geom_matid[k] >= 0:
        colour = tuple(map(float, model.mat_rgba[model.geom_matid[k]]))
    pos, quat = (tuple(map(float, values)) for values in (model.geom_pos[k], model.geom_quat[k]))
    collision = None
    if collides:
        collision = Collision(
            material=_material_name(tuple(map(float, model.geom_friction[k]))),
            mujoco={
                "solref": tuple(map(float, model.geom_solref[k])),
                "solimp": tuple(map(float, model.geom_solimp[k])),
                "condim": int(model.geom_condim[k]),
                "priority": int(model.geom_priority[k]),
                "margin": float(model.geom_margin[k]),
                "gap": float(model.geom_gap[k]),
                "solmix": float(model.geom_solmix[k]),
                "group": int(model.geom_group[k]),
            },
        )
    return Geom(
        name=name,
        link=model.body(body).name if body else None,
        shape=_shape(model, k),
        pose=Pose((pos[0], pos[1], pos[2]), (quat[0], quat[1], quat[2], quat[3])),
        visible=bool(model.geom_group[k] < SEEN),
        rgba=(colour[0], colour[1], colour[2], colour[3]),
        collision=collision,
        source=Source(file, name),
        mujoco={"group": int(model.geom_group[k])},
    )


def _shape(model: Any, k: int) -> Shape:
    kind = int(model.geom_type[k])
    a, b, c = (float(x) for x in model.geom_size[k])
    if kind == 0:
        return Plane((a, b))
    if kind == 1:
        return _height_field(model, int(model.geom_dataid[k]))
    if kind == 7:
        return MeshShape(_mesh_name(model, int(model.geom_dataid[k])))
    plain: dict[int, Shape] = {
        2: Sphere(a),
        3: Capsule(a, b),
        4: Ellipsoid((a, b, c)),
        5: Cylinder(a, b),
        6: Box((a, b, c)),
    }
    return plain.get(kind, Sphere(a))


def _height_field(model: Any, field: int) -> HeightField:
    rows, columns, start = int(model.hfield_nrow[field]), int(model.hfield_ncol[field]), int(model.hfield_adr[field])
    x, y, top, _ = map(float, model.hfield_size[field])
    heights = model.hfield_data[start : start + rows * columns].reshape(rows, columns) * top
    return HeightField(heights.astype(float), (x, y))


def _mesh_name(model: Any, mesh: int) -> str:
    return model.mesh(mesh).name or f"mesh{mesh}"


def _mesh(model: Any, mesh: int, file: Path) -> MeshAsset:
    """As MuJoCo keeps it: about its centre of mass, in its principal axes; the geoms' poses fit that."""
    vertex, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    name = _mesh_name(model, mesh)
    return MeshAsset(
        name=name,
        vertices_m=model.mesh_vert[vertex : vertex + count].copy(),
        faces=model.mesh_face[face : face + faces].copy(),
        source=Source(file, name),
    )
