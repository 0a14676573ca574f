"""A small z-buffer in numpy: a picture of a MuJoCo scene where no OpenGL is installed. Flat shading, no textures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isaaclab_mirror.report.surfaces import triangles_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

BACKGROUND = 244


def rasterize(model: Any, scene: Any, width: int, height: int) -> NDArray[np.uint8]:
    """The scene's geoms as its camera sees them, (height, width, 3)."""
    import numpy as np

    eye, right, up, forward, focal = _eye(scene, height)
    colour = np.full((height * width, 3), BACKGROUND, dtype=np.float64)
    depth = np.full(height * width, np.inf)
    for geom in scene.geoms[: scene.ngeom]:
        mesh, hull = divmod(int(geom.dataid), 2)
        size = np.asarray(geom.size, dtype=np.float64)
        triangles = triangles_of(model, geom.type, size, mesh, hull=bool(hull))
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
