"""Mesh prims → triangles: topology checked, faces triangulated, scale and mirroring baked in, equal meshes shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isaaclab_mirror.formats.usd.names import CountedNames
from isaaclab_mirror.formats.usd.stage import UsdRobotStage
from isaaclab_mirror.robot.geometry import MeshAsset
from isaaclab_mirror.rotations import Vec3

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pxr import Usd


class MeshLibrary:
    """Mesh assets by content: instances and copies of one mesh become one asset."""

    def __init__(self) -> None:
        self._by_content: dict[tuple[int, int, int], MeshAsset] = {}
        self._names = CountedNames()

    def add(
        self,
        name: str,
        vertices: NDArray[np.float32],
        faces: NDArray[np.int32],
        texcoords: NDArray[np.float32] | None,
        source: Any,
    ) -> MeshAsset:
        """The asset with these triangles, new or shared."""
        key = (
            hash(vertices.tobytes()),
            hash(faces.tobytes()),
            0 if texcoords is None else hash(texcoords.tobytes()),
        )
        asset = self._by_content.get(key)
        if asset is None:
            asset = MeshAsset(self._names.of(name), vertices, faces, texcoords, source)
            self._by_content[key] = asset
        return asset

    @property
    def assets(self) -> tuple[MeshAsset, ...]:
        """All of them, in the order in which they were first used."""
        return tuple(self._by_content.values())


class Triangles:
    """A mesh prim's points [stage units], triangles, and the face that each triangle came from."""

    __slots__ = ("corners", "face_of", "faces", "points")

    def __init__(self, points: Any, faces: Any, face_of: Any, corners: Any) -> None:
        self.points = points
        self.faces = faces
        self.face_of = face_of
        self.corners = corners
        """(m, 3) indices into the prim's face-varying arrays."""


def read_triangles(stage: UsdRobotStage, prim: Usd.Prim) -> Triangles | None:
    """Points and triangles of a mesh prim; None (and E002) where it has none or its topology is broken."""
    import numpy as np
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh(prim)
    raw, counts, indices = mesh.GetPointsAttr().Get(), mesh.GetFaceVertexCountsAttr().Get(), None
    source = stage.source(prim)
    if raw is not None and counts is not None:
        indices = mesh.GetFaceVertexIndicesAttr().Get()
    if raw is None or counts is None or indices is None or len(raw) == 0 or len(counts) == 0:
        hint = "supply the layer that holds them"
        stage.found.warn("E002", source, "the mesh has no points or no faces: left out", hint)
        return None
    points = np.asarray(raw)
    if points.ndim != 2 or points.shape[1] != 3 or points.dtype.kind != "f":
        stage.found.warn("E002", source, f"points are of type {type(raw).__name__}, not vectors: the mesh is left out")
        return None
    good, why = _topology(counts, indices, len(points))
    if not good:
        stage.found.warn("E002", source, f"broken topology: {why}: the mesh is left out", "mend the mesh")
        return None
    if not np.isfinite(points).all():
        stage.found.warn("E002", source, "a point is not finite: the mesh is left out", "mend the mesh")
        return None
    counts, indices = np.asarray(counts), np.asarray(indices, dtype=np.int32)
    left = str(mesh.GetOrientationAttr().Get()) == "leftHanded"
    faces, face_of, corners = _triangulate(counts, indices)
    if left:
        faces, corners = faces[:, ::-1], corners[:, ::-1]
    return Triangles(points.astype(np.float32, copy=False), faces, face_of, corners)


def _topology(counts: Any, indices: Any, points: int) -> tuple[bool, str]:
    """Whether the faces are faces of these points, and why not."""
    import numpy as np
    from pxr import UsdGeom, Vt

    for name, array in (("faceVertexCounts", counts), ("faceVertexIndices", indices)):
        if not isinstance(array, Vt.IntArray):
            return False, f"{name} are of type {type(array).__name__}, not int[]"
    if int(np.asarray(counts).min()) < 0:
        return False, "a face has a negative number of vertices"
    good, why = UsdGeom.Mesh.ValidateTopology(indices, counts, points)
    if not good:
        return False, str(why).strip().rstrip(".")
    if int(np.asarray(counts).max()) < 3 or len(set(np.asarray(indices[:1000]).tolist())) < 3 > len(set(indices)):
        return False, "no face has three different vertices"
    return True, ""


def _triangulate(counts: Any, indices: Any) -> tuple[Any, Any, Any]:
    """Polygons as fans."""
    import numpy as np

    if (counts == 3).all():
        corners = np.arange(len(indices), dtype=np.int32).reshape(-1, 3)
        return indices.reshape(-1, 3), np.arange(len(counts)), corners
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    triangles = np.maximum(counts - 2, 0)
    face_of = np.repeat(np.arange(len(counts)), triangles)
    step = np.arange(len(face_of)) - np.repeat(np.cumsum(triangles) - triangles, triangles)
    first = starts[face_of]
    corners = np.stack([first, first + step + 1, first + step + 2], axis=1).astype(np.int32)
    return indices[corners], face_of, corners


def baked(triangles: Triangles, scale: Vec3) -> tuple[Any, Any]:
    """Vertices with a scale applied, and faces that still look outward."""
    import numpy as np

    vertices, faces = triangles.points, triangles.faces
    if scale != (1.0, 1.0, 1.0):
        vertices = (vertices.astype(np.float64) * scale).astype(np.float32)
        if scale[0] * scale[1] * scale[2] < 0:
            faces = faces[:, ::-1]
    return np.ascontiguousarray(vertices), np.ascontiguousarray(faces, dtype=np.int32)


def read_texcoords(prim: Usd.Prim, triangles: Triangles) -> Any:
    """Texture coordinates per triangle corner, (3·m, 2), or None."""
    import numpy as np
    from pxr import UsdGeom

    api = UsdGeom.PrimvarsAPI(prim)
    for name in ("st", "st0", "UVMap", "map1", "st_0"):
        primvar = api.GetPrimvar(name)
        values = primvar.ComputeFlattened() if primvar and primvar.HasValue() else None
        if values is None or len(values) == 0:
            continue
        uv = np.asarray(values, dtype=np.float32)
        corners = triangles.corners if primvar.GetInterpolation() == "faceVarying" else triangles.faces
        if uv.ndim == 2 and corners.max(initial=-1) < len(uv):
            return np.ascontiguousarray(uv[corners.reshape(-1)])
    return None


def has_strays(vertices: Any, faces: Any) -> bool:
    """Whether there are vertices that no face uses."""
    import numpy as np

    used = np.zeros(len(vertices), dtype=bool)
    used[faces.reshape(-1)] = True
    return not used.all()


def compact(vertices: Any, faces: Any) -> tuple[Any, Any]:
    """Only the vertices that the faces use."""
    import numpy as np

    used, inverse = np.unique(faces.reshape(-1), return_inverse=True)
    return vertices[used], inverse.reshape(-1, 3).astype(np.int32)
