"""Mesh files: binary STL, or OBJ where texture coordinates (or a large number of faces) ask for it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.options import check_mesh_format
from isaaclab_mirror.robot.geometry import Compound, MeshAsset, MeshShape, Shape, area_vectors
from isaaclab_mirror.robot.model import Robot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MUJOCO_STL_FACES = 200_000
"""MuJoCo refuses an STL with more; an OBJ has no such bound."""
_LONGEST_STEM = 100
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{d}{k}" for d in ("com", "lpt") for k in range(1, 10))})
"""Names that Windows gives to devices, whatever the suffix."""


def safe_stem(name: str, fallback: str = "mesh") -> str:
    """`name` in [A-Za-z0-9_.-], never hidden, never a device: a file name on every system."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", plain)[:_LONGEST_STEM].strip("._-") or fallback
    return f"{stem}_" if stem.split(".")[0].lower() in _DEVICES else stem


class FileNames:
    """Safe file names, each given once, also on file systems that do not tell `A` from `a`."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def give(self, name: str, suffix: str, fallback: str = "mesh") -> str:
        """A file name like `name` that was not given before."""
        stem = safe_stem(name, fallback)
        candidate, key = stem + suffix, (stem + suffix).lower()
        count = self._last.get(key, 0)
        while candidate.lower() in self._taken:
            count += 1
            candidate = f"{stem}_{count}{suffix}"
        self._last[key] = count
        self._taken.add(candidate.lower())
        return candidate


@dataclass(slots=True)
class MeshFolder:
    """A folder of mesh files in which one content has one file, whatever the names of the assets."""

    folder: Path
    mesh_format: str = "auto"
    files: list[Path] = field(default_factory=list)
    """Written so far, in order."""
    _by_content: dict[bytes, Path] = field(default_factory=dict)
    _names: FileNames = field(default_factory=FileNames)

    def add(self, mesh: MeshAsset) -> Path:
        """The file that holds this mesh; written when no mesh of the same content was."""
        key = content_key(mesh)
        if key not in self._by_content:
            suffix = mesh_suffix(mesh, self.mesh_format)
            content = mesh_bytes(mesh, suffix)
            path = self.folder / self._names.give(mesh.name, suffix)
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            self._by_content[key] = path
            self.files.append(path)
        return self._by_content[key]


def write_mesh(mesh: MeshAsset, folder: Path, *, mesh_format: str = "auto") -> Path:
    """Write one mesh into `folder` under its own (made safe) name; what stood there is replaced."""
    return MeshFolder(folder, mesh_format).add(mesh)


def textured_meshes(robot: Robot) -> frozenset[str]:
    """Names of the meshes whose texture coordinates someone looks at; of the others they need not be written."""
    textured = {material.name for material in robot.materials if material.texture is not None}
    meshes: set[str] = set()
    for geom in robot.geoms:
        if not geom.visible or geom.material not in textured:
            continue
        shapes: list[Shape] = [geom.shape]
        while shapes:
            shape = shapes.pop()
            if isinstance(shape, Compound):
                shapes += [part for _, part in shape.parts]
            elif isinstance(shape, MeshShape):
                meshes.add(shape.mesh)
    return frozenset(meshes)


def content_key(mesh: MeshAsset) -> bytes:
    """Equal for meshes of the same vertices, faces and texture coordinates."""
    import numpy as np

    digest = hashlib.blake2b(digest_size=16)
    for array, dtype in ((mesh.vertices_m, "<f4"), (mesh.faces, "<i4"), (mesh.texcoords, "<f4")):
        if array is None:
            digest.update(b"none")
            continue
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array, dtype=dtype).data)
    return digest.digest()


def mesh_suffix(mesh: MeshAsset, mesh_format: str = "auto") -> str:
    """`.stl` or `.obj`."""
    check_mesh_format(mesh_format)
    if mesh_format == "auto":
        return ".obj" if mesh.texcoords is not None or len(mesh.faces) > MUJOCO_STL_FACES else ".stl"
    return f".{mesh_format}"


def mesh_bytes(mesh: MeshAsset, suffix: str) -> bytes:
    """The content of the file."""
    _check(mesh)
    if suffix == ".stl":
        return stl_bytes(mesh.vertices_m, mesh.faces)
    return obj_bytes(mesh.vertices_m, mesh.faces, mesh.texcoords)


def _check(mesh: MeshAsset) -> None:
    """Refuse what no reader of the file could make sense of."""
    import numpy as np

    place = mesh.source or mesh.name
    vertices, faces, texcoords = mesh.vertices_m, mesh.faces, mesh.texcoords
    if len(vertices) == 0 or len(faces) == 0:
        raise InputError("E002", place, f"mesh {mesh.name!r} has no triangles", hint="leave the geom out")
    if int(faces.min()) < 0 or int(faces.max()) >= len(vertices):
        raise InputError("E002", place, f"mesh {mesh.name!r} has faces that point outside its {len(vertices)} vertices")
    if not np.isfinite(vertices).all():
        raise InputError("E002", place, f"mesh {mesh.name!r} has vertices that are not finite")
    if texcoords is not None and texcoords.shape != (3 * len(faces), 2):
        raise InputError(
            "E002", place, f"mesh {mesh.name!r} has {len(texcoords)} texture coordinates for {3 * len(faces)} corners"
        )


def stl_bytes(vertices: NDArray[np.float32], faces: NDArray[np.int32]) -> bytes:
    """Binary STL; the normal of a triangle without area is zero."""
    import numpy as np

    corners = np.asarray(vertices, dtype=np.float32)[faces]
    wide = corners.astype(np.float64)  # the squares of millimetres underflow float32
    normals = area_vectors(wide)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    triangles = np.zeros(len(faces), dtype=record)
    triangles["normal"] = normals
    triangles["corners"] = corners
    header = b"binary STL, metres, by isaaclab-mirror".ljust(80, b" ")  # must not begin with "solid"
    return header + np.uint32(len(faces)).astype("<u4").tobytes() + triangles.tobytes()


def obj_bytes(
    vertices: NDArray[np.float32], faces: NDArray[np.int32], texcoords: NDArray[np.float32] | None = None
) -> bytes:
    """OBJ with 9 digits, which bring every float32 back; equal texture coordinates are written once."""
    import numpy as np

    parts = ["# metres, by isaaclab-mirror\n", _lines("v %.9g %.9g %.9g\n", np.asarray(vertices, dtype=np.float32))]
    corners = np.asarray(faces, dtype=np.int64) + 1
    if texcoords is None:
        parts.append(_lines("f %d %d %d\n", corners))
    else:
        packed = np.ascontiguousarray(texcoords, dtype="<f4").view("<u8").reshape(-1)
        distinct, index = np.unique(packed, return_inverse=True)
        parts.append(_lines("vt %.9g %.9g\n", distinct.view("<f4").reshape(-1, 2)))
        both = np.stack([corners, index.reshape(-1, 3) + 1], axis=2).reshape(-1, 6)
        parts.append(_lines("f %d/%d %d/%d %d/%d\n", both))
    return "".join(parts).encode("ascii")


def _lines(template: str, rows: NDArray[np.generic], chunk: int = 65536) -> str:
    """One line per row: one formatting call per chunk, an order of magnitude faster than a call per line."""
    pieces = []
    for start in range(0, len(rows), chunk):
        part = rows[start : start + chunk]
        pieces.append((template * len(part)) % tuple(part.reshape(-1).tolist()))
    return "".join(pieces)
