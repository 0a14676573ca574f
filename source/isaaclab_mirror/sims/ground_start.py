"""Says when a robot starts inside the ground: both engines throw it out, each in its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import Diagnostics
from isaaclab_mirror.physics.ground import GROUND

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

HARMLESS_M = 1e-3
"""A foot that stands is a little inside."""


def ground_depths(model: Any, qpos: Array) -> dict[str, float]:
    """Link → how deep it is inside the ground [m], the deepest first; asked of MuJoCo's collision detection."""
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_fwdPosition(model, data)
    depths: dict[str, float] = {}
    for contact in data.contact:
        names = [model.geom(int(geom)).name for geom in contact.geom]
        if GROUND in names:
            geom = int(contact.geom[1 - names.index(GROUND)])
            link = model.body(int(model.geom_bodyid[geom])).name
            depths[link] = max(depths.get(link, 0.0), -float(contact.dist))
    return dict(sorted(depths.items(), key=lambda item: -item[1]))


def report_ground_start(model: Any, qpos: Array, where: str, found: Diagnostics) -> None:
    """A warning that names the deepest link and the height that would free it."""
    deep = {link: depth for link, depth in ground_depths(model, qpos).items() if depth > HARMLESS_M}
    if not deep:
        return
    link, depth = next(iter(deep.items()))
    others = f", and {len(deep) - 1} more" if len(deep) > 1 else ""
    found.warn(
        "E064",
        where,
        f"link {link!r} starts {depth:.3g} m inside the ground{others}",
        f"start at least {depth:.3g} m higher: base_pose=Pose(…), or reset(Start(root_pos_w=…))",
    )
