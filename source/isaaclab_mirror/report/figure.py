"""Figure: what a robot looks like, link by link, from its MuJoCo model; any engine's State can pose it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.report.surfaces import triangles_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Colour = tuple[float, float, float, float]
"""Red, green, blue, opacity, 0 to 1."""
LAST_VISUAL_GROUP = 2
"""Groups that MuJoCo's viewer shows unless told otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """All surfaces of one colour on one link."""

    link: str
    triangles: Array
    """(n, 3, 3) in the link's frame [m]."""
    colour: Colour


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A robot's surfaces and the height of the plane it stands on."""

    patches: tuple[Patch, ...]
    ground_height_m: float | None
    """Of the highest horizontal plane of the world, None without one."""

    @property
    def links(self) -> tuple[str, ...]:
        """Links that have a surface."""
        return tuple(dict.fromkeys(patch.link for patch in self.patches))


def figure_of(model: Any) -> Figure:
    """What a compiled model shows; what only collides where a model has nothing to be seen."""
    import numpy as np

    drawn = [g for g in range(model.ngeom) if model.geom_group[g] <= LAST_VISUAL_GROUP and _colour(model, g)[3] > 0.0]
    if not any(model.geom_bodyid[g] for g in drawn):
        drawn = list(range(model.ngeom))
    parts: dict[tuple[str, Colour], list[Array]] = {}
    for g in drawn:
        mesh = int(model.geom_dataid[g])
        triangles = triangles_of(model, int(model.geom_type[g]), _half_sizes(model, g), mesh)
        if triangles is None:
            continue
        link = model.body(int(model.geom_bodyid[g])).name
        placed = triangles @ _rotation(model.geom_quat[g]).T + model.geom_pos[g]
        parts.setdefault((link, _colour(model, g)), []).append(placed)
    patches = tuple(Patch(link, np.concatenate(each), colour) for (link, colour), each in parts.items())
    return Figure(patches, _ground_height(model))


def _half_sizes(model: Any, geom: int) -> Array:
    """As `triangles_of` takes them: capsules and cylinders have their length in the third place."""
    import mujoco
    import numpy as np

    size = np.array(model.geom_size[geom], dtype=np.float64)
    kind = int(model.geom_type[geom])
    if kind in (int(mujoco.mjtGeom.mjGEOM_CAPSULE), int(mujoco.mjtGeom.mjGEOM_CYLINDER)):
        return size[[0, 0, 1]]
    return size[[0, 0, 0]] if kind == int(mujoco.mjtGeom.mjGEOM_SPHERE) else size


def _colour(model: Any, geom: int) -> Colour:
    """Of its material, else its own; a texture counts with its mean."""
    material = int(model.geom_matid[geom])
    red, green, blue, opacity = (model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]).tolist()
    if material >= 0 and (texture := int(model.mat_texid[material].max())) >= 0:
        first, channels = int(model.tex_adr[texture]), int(model.tex_nchannel[texture])
        count = int(model.tex_height[texture] * model.tex_width[texture]) * channels
        mean = model.tex_data[first : first + count].reshape(-1, channels).mean(axis=0) / 255.0
        red, green, blue = red * mean[0], green * mean[1 % channels], blue * mean[2 % channels]
    return (round(float(red), 4), round(float(green), 4), round(float(blue), 4), round(float(opacity), 4))


def _rotation(quat_wxyz: Array) -> Array:
    import mujoco
    import numpy as np

    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quat_wxyz, dtype=np.float64))
    return matrix.reshape(3, 3)


def _ground_height(model: Any) -> float | None:
    import mujoco

    planes = [
        float(model.geom_pos[g][2])
        for g in range(model.ngeom)
        if model.geom_type[g] == int(mujoco.mjtGeom.mjGEOM_PLANE) and model.geom_bodyid[g] == 0
    ]
    return max(planes, default=None)
