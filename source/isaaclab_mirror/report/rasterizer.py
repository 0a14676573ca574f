"""A small z-buffer in numpy: a picture of a MuJoCo scene where no OpenGL is installed. Flat shading, no textures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

BACKGROUND = 244
SEGMENTS = 24


def rasterize(model: Any, scene: Any, width: int, height: int) -> NDArray[np.uint8]:
    """The scene's geoms as its camera sees them, (height, width, 3)."""
    import numpy as np

    eye, right, up, forward, focal = _eye(scene, height)
    colour = np.full((height * width, 3), BACKGROUND, dtype=np.float64)
    depth = np.full(height * width, np.inf)
    for geom in scene.geoms[: scene.ngeom]:
        triangles = _triangles(model, geom)
        if triangles is None or geom.rgba[3] == 0.0:
            continue
        world = triangles @ np.asarray(geom.mat, dtype=np.float64).reshape(3, 3).T + geom.pos
        normal = np.cross(world[:, 1] - world[:, 0], world[:, 2] - world[:, 0])
        length = np.linalg.norm(normal, axis=1)
        shade = 0.35 + 0.65 * np.abs(normal @ forward) / np.maximum(length, 1e-30)
        from_eye = world - eye
        z = from_eye @ forward
        seen = (z.min(1) > 1e-6) & (length > 0.0)
        x = width / 2 + focal * (from_eye @ right)[seen] / z[seen]
        y = height / 2 - focal * (from_eye @ up)[seen] / z[seen]
        rgb = 255 * np.clip(shade[seen, None] * np.asarray(geom.rgba[:3], dtype=np.float64), 0.0, 1.0)
        _fill(np.stack([x, y], -1), 1.0 / z[seen], rgb, colour, depth, width, height)
    return colour.reshape(height, width, 3).astype(np.uint8)


def _eye(scene: Any, height: int) -> tuple[Array, Array, Array, Array, float]:
    """Where the camera stands, its axes, and pixels per unit of x/z."""
    import numpy as np

    camera = scene.camera[0]
    forward, up = np.asarray(camera.forward, dtype=np.float64), np.asarray(camera.up, dtype=np.float64)
    # the two cameras of a scene are the eyes of a stereo pair: ours is between them
    eye = (np.asarray(camera.pos, dtype=np.float64) + scene.camera[1].pos) / 2
    focal = height / 2 * camera.frustum_near / camera.frustum_top
    return eye, np.cross(forward, up), up, forward, float(focal)


def _fill(points: Array, inverse_z: Array, rgb: Array, colour: Array, depth: Array, width: int, height: int) -> None:
    """Draw triangles (n, 3, 2) into `colour` and `depth`. All pixels of a batch at once; the nearest of each wins."""
    import numpy as np

    low = np.floor(points.min(1)).astype(int).clip(0, [width - 1, height - 1])
    high = np.ceil(points.max(1)).astype(int).clip(0, [width - 1, height - 1])
    spans = high - low + 1
    cells = spans[:, 0] * spans[:, 1]
    for batch in np.array_split(np.arange(len(points)), max(1, int(cells.sum() // 2_000_000) + 1)):
        if not len(batch):
            continue
        owner = np.repeat(batch, cells[batch])
        cell = np.arange(len(owner)) - np.repeat(np.cumsum(cells[batch]) - cells[batch], cells[batch])
        column = low[owner, 0] + cell % spans[owner, 0]
        row = low[owner, 1] + cell // spans[owner, 0]
        a, b, c = (points[owner, k] for k in range(3))
        area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
        px, py = column + 0.5, row + 0.5
        with np.errstate(divide="ignore", invalid="ignore"):
            v = ((px - a[:, 0]) * (c[:, 1] - a[:, 1]) - (py - a[:, 1]) * (c[:, 0] - a[:, 0])) / area
            w = ((b[:, 0] - a[:, 0]) * (py - a[:, 1]) - (b[:, 1] - a[:, 1]) * (px - a[:, 0])) / area
            inside = (v >= 0) & (w >= 0) & (v + w <= 1)
        owner, v, w = owner[inside], v[inside], w[inside]
        pixel = row[inside] * width + column[inside]
        corner = inverse_z[owner]
        distance = 1.0 / ((1 - v - w) * corner[:, 0] + v * corner[:, 1] + w * corner[:, 2])
        order = np.lexsort((distance, pixel))
        pixel, distance, owner = pixel[order], distance[order], owner[order]
        first = np.r_[True, pixel[1:] != pixel[:-1]] if len(pixel) else np.zeros(0, dtype=bool)
        pixel, distance, owner = pixel[first], distance[first], owner[first]
        nearer = distance < depth[pixel]
        depth[pixel[nearer]] = distance[nearer]
        colour[pixel[nearer]] = rgb[owner[nearer]]


def _triangles(model: Any, geom: Any) -> Array | None:
    """(n, 3, 3) in the geom's frame, or None for what is not drawn."""
    import mujoco
    import numpy as np

    kinds = mujoco.mjtGeom
    size = np.asarray(geom.size, dtype=np.float64)
    match kinds(geom.type):
        case kinds.mjGEOM_MESH:
            mesh, hull = divmod(geom.dataid, 2)
            return _hull(model, mesh) if hull else _mesh(model, mesh)
        case kinds.mjGEOM_BOX:
            return _box() * size
        case kinds.mjGEOM_SPHERE | kinds.mjGEOM_ELLIPSOID:
            angles = np.linspace(-np.pi / 2, np.pi / 2, SEGMENTS // 2 + 1)
            return _revolved(np.cos(angles), np.sin(angles)) * size
        case kinds.mjGEOM_CYLINDER:
            return _revolved(np.array([0.0, 1.0, 1.0, 0.0]), np.array([-1.0, -1.0, 1.0, 1.0])) * size
        case kinds.mjGEOM_CAPSULE:
            angles = np.linspace(0, np.pi / 2, SEGMENTS // 4 + 1)
            r, z = size[0] * np.cos(angles), size[2] + size[0] * np.sin(angles)
            return _revolved(np.r_[r[::-1], r], np.r_[-z[::-1], z])
        case _:
            return None


def _mesh(model: Any, mesh: int) -> Array:
    import numpy as np

    start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    face, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    vertices = model.mesh_vert[start : start + count].astype(np.float64)
    return vertices[model.mesh_face[face : face + faces]]


def _hull(model: Any, mesh: int) -> Array:
    """The convex hull as MuJoCo collides with it."""
    import numpy as np

    start = model.mesh_graphadr[mesh]
    if start < 0:
        return _mesh(model, mesh)
    graph = model.mesh_graph[start:]
    vertices, faces = int(graph[0]), int(graph[1])
    begin = 2 + 3 * vertices + 3 * faces
    corners = graph[begin : begin + 3 * faces].reshape(-1, 3)
    offset = model.mesh_vertadr[mesh]
    return model.mesh_vert[offset + corners].astype(np.float64)


def _box() -> Array:
    import numpy as np

    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return corners[[triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]]


def _revolved(radii: Array, heights: Array) -> Array:
    """The surface that a profile sweeps about z."""
    import numpy as np

    angles = np.linspace(0, 2 * np.pi, SEGMENTS + 1)
    ring = np.stack([np.cos(angles), np.sin(angles)], -1)
    grid = np.concatenate(
        [radii[:, None, None] * ring, np.broadcast_to(heights[:, None, None], (len(radii), SEGMENTS + 1, 1))], axis=-1
    )
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    return np.concatenate([np.stack(t, axis=-2).reshape(-1, 3, 3) for t in ((a, b, c), (a, c, d))])
