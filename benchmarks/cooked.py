"""How far collision meshes are from the hulls that PhysX cooks, and docs/cooked.md.

`python benchmarks/cooked.py`: reads PhysX's hulls of every robot with convex mesh colliders in data/ and the shared
corpora (`--shared`), and measures against them what stands in a converted file without `--cooked` (the mesh, of which
MuJoCo takes the whole hull) and, for decompositions, what is made where PhysX is not installed (coacd, extra `decompose`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "source"), str(ROOT / "benchmarks")]

from places import add_shared_argument  # noqa: E402

PAGE = ROOT / "docs/cooked.md"
DIRECTIONS = 500
DECOMPOSED = ("leap_hand_physx",)
"""Robots that are measured once more with every hull a decomposition."""
NATIVE = ("leap_hand_right", "so_100", "rm65", "anymal", "tienkung2_lite", "omav", "Grav_gripper", "Robotiq_85")


@dataclass
class Difference:
    """One robot, one kind of approximation."""

    robot: str
    kind: str
    colliders: int
    hulls: int
    corners: float
    volume: list[float]
    """Volume of the mesh's hull over that of PhysX's hulls together."""
    reach_mm: list[float]
    """Largest difference of the support functions."""
    size_mm: list[float]
    coacd: list[float]
    """The same for coacd's pieces: volume over PhysX's."""
    coacd_hulls: int


def directions() -> Any:
    """Spread evenly over the sphere."""
    k = np.arange(DIRECTIONS) + 0.5
    z, angle = 1 - 2 * k / DIRECTIONS, np.pi * (1 + 5**0.5) * k
    radius = np.sqrt(1 - z * z)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)


def volume(points: Any) -> float:
    """Of the convex hull; 0 where it is flat."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return float(ConvexHull(points).volume)
    except QhullError:
        return 0.0


def measure(file: Path) -> list[Difference]:
    """Differences of one robot, by kind of approximation."""
    from isaaclab_mirror.conversion import inspect_robot
    from isaaclab_mirror.formats.decomposition import can_decompose, decompose
    from isaaclab_mirror.formats.options import ReadOptions
    from isaaclab_mirror.formats.usd.cooked import is_cooked, moved

    plain, _, _ = inspect_robot(file)
    chosen = [geom for geom in plain.geoms if is_cooked(plain, geom)]
    if not chosen:
        return []
    cooked, found, _ = inspect_robot(file, ReadOptions(cooked=True))
    unknown = {d.where for d in found if d.code == "E066" and d.severity == "warning"}
    by_prim: dict[str, list[Any]] = {}
    for geom in cooked.geoms:
        if geom.collision is not None and geom.source is not None:
            by_prim.setdefault(geom.source.where, []).append(geom)
    rows: dict[str, Difference] = {}
    axes = directions()
    for geom in chosen:
        if str(geom.source) in unknown:
            continue
        kind = str(geom.collision.approximation)
        row = rows.setdefault(kind, Difference(file.stem, kind, 0, 0, 0.0, [], [], [], [], 0))
        mesh = plain.mesh(geom.shape.mesh)
        points = moved(geom.pose, np.asarray(mesh.vertices_m, dtype=float))
        hulls = [np.asarray(cooked.mesh(g.shape.mesh).vertices_m, dtype=float) for g in by_prim[geom.source.where]]
        together, size = sum(map(volume, hulls)), float(np.ptp(points, axis=0).max())
        if together <= 0:
            continue
        ours, theirs = (points @ axes.T).max(axis=0), (np.concatenate(hulls) @ axes.T).max(axis=0)
        row.colliders += 1
        row.hulls += len(hulls)
        row.corners += sum(map(len, hulls))
        row.volume.append(volume(points) / together)
        row.reach_mm.append(float(np.abs(ours - theirs).max()) * 1e3)
        row.size_mm.append(size * 1e3)
        if kind == "convexDecomposition" and can_decompose():
            parts = decompose(mesh)
            row.coacd_hulls += len(parts)
            row.coacd.append(sum(map(volume, parts)) / together)
    return [row for row in rows.values() if row.colliders]


def as_decompositions(file: Path, folder: Path) -> Path:
    """The robot in one file, with every convex hull a decomposition: no robot of the corpora asks for one."""
    from pxr import Sdf

    from isaaclab_mirror.diagnostics import Diagnostics
    from isaaclab_mirror.formats.options import ReadOptions
    from isaaclab_mirror.formats.usd.overlay import free_colliders, open_overlay
    from isaaclab_mirror.formats.usd.stage import open_stage

    stage = open_overlay(open_stage(file, ReadOptions(), Diagnostics()), folder / "overlay.usda")
    free_colliders(stage)
    for prim in stage.Traverse():
        schemas = prim.GetPrimTypeInfo().GetAppliedAPISchemas()
        if prim.GetTypeName() == "Mesh" and "PhysicsCollisionAPI" in schemas:
            prim.AddAppliedSchema("PhysicsMeshCollisionAPI")
            attribute = prim.CreateAttribute("physics:approximation", Sdf.ValueTypeNames.Token, custom=False)
            attribute.Set("convexDecomposition")
    target = folder / f"{file.stem}, decomposed.usda"
    stage.Flatten().Export(str(target))
    return target


def page(rows: list[Difference]) -> str:
    """docs/cooked.md."""
    head = (
        "| robot | approximation | colliders | PhysX's hulls | corners each | volume of the mesh's hull / PhysX's "
        "(median, range) | reach, largest difference [mm] | of a collider of [mm] | coacd: pieces, volume / PhysX's |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    lines = []
    for row in rows:
        worst = int(np.argmax(row.reach_mm))
        made = f"{row.coacd_hulls}, {median(row.coacd):.2f}" if row.coacd else ""
        lines.append(
            f"| {row.robot} | {row.kind} | {row.colliders} | {row.hulls} | {row.corners / row.hulls:.0f} | "
            f"{median(row.volume):.3f} ({min(row.volume):.2f} to {max(row.volume):.2f}) | {row.reach_mm[worst]:.2f} | "
            f"{row.size_mm[worst]:.0f} | {made} |"
        )
    return (
        "\n\n".join(
            [
                "<!-- Generated by `python benchmarks/cooked.py`; don't edit. -->",
                "# Cooked colliders",
                "PhysX collides with what it cooks from a mesh: a hull of at most 64 corners, or a decomposition. `--cooked` "
                "(`convert`, `validate`, …; option `cooked` of reading) reads those hulls back from PhysX and writes them as "
                "collision meshes. Without it MuJoCo takes the whole hull of the mesh, also of a decomposition. Where PhysX is not "
                "installed, `--cooked` takes that hull, and for decompositions coacd's pieces (extra `decompose`) with PhysX's "
                "limits: 32 hulls of 64 corners.",
                "How they are read: the bodies are loaded without joints, held still, and PhysX draws one collider after the "
                "other; an edge is drawn once for each of its two faces, so that a hull is complete where no edge is left alone.",
                "*Reach*: the difference of the support functions in 500 directions. A decomposition's pieces may overlap and "
                "stand out by PhysX's voxels: their volumes are added. No robot here asks for one: the last rows are robots whose hulls were made decompositions.",
                head + "\n" + "\n".join(lines),
            ]
        )
        + "\n"
    )


def robots(shared: Path) -> list[Path]:
    """Robots of data/ and of the shared corpora."""
    native = [file for file in sorted(shared.glob("corpus-native/*/*.usd*")) if file.stem.startswith(NATIVE)]
    layered = sorted(shared.glob("corpus-layered/*/*.usda"))
    return [
        *sorted((ROOT / "data").glob("*/*.usd[ac]")),
        *sorted(shared.glob("corpus/*/*_physx.usda")),
        *layered,
        *native,
    ]


def main() -> int:
    """Measure and write."""
    from isaaclab_mirror.diagnostics import InputError

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_shared_argument(parser)
    parser.add_argument("--only", default="", help="names of robots, by commas; then nothing is written")
    args = parser.parse_args()
    rows: list[Difference] = []
    seen: set[str] = set()
    for file in robots(args.shared):
        if file.stem in seen or (args.only and file.stem not in args.only.split(",")):
            continue
        seen.add(file.stem)
        try:
            new = measure(file)
        except InputError as error:
            print(f"{file.stem}: {error.diagnostic.message}", flush=True)
            continue
        rows += new
        for row in new:
            print(row, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for file in [file for file in robots(args.shared) if file.stem in DECOMPOSED]:
            if not args.only or file.stem in args.only.split(","):
                rows += measure(as_decompositions(file, Path(folder)))
    text = page(rows)
    if args.only:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
