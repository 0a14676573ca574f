"""Which bodies of a MuJoCo model may touch, asked of the engine by laying every geom on every other."""

from __future__ import annotations

from itertools import combinations
from typing import Any


def touching(model: Any) -> set[frozenset[str]]:
    """Pairs of bodies of which two geoms pass MuJoCo's filters: masks, excludes, parents, explicit pairs."""
    import mujoco

    def name(body: int) -> str:
        return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) or "world"

    excluded = set(model.exclude_signature.tolist())
    paired = {frozenset((int(a), int(b))) for a, b in zip(model.pair_geom1, model.pair_geom2, strict=True)}
    found: set[frozenset[str]] = set()
    for g, h in combinations(range(model.ngeom), 2):
        a, b = sorted((int(model.geom_bodyid[g]), int(model.geom_bodyid[h])))
        wa, wb = int(model.body_weldid[a]), int(model.body_weldid[b])
        masks = model.geom_contype[g] & model.geom_conaffinity[h] or model.geom_contype[h] & model.geom_conaffinity[g]
        pa, pb = (int(model.body_weldid[model.body_parentid[w]]) for w in (wa, wb))
        related = wa == wb or (wa and wb and (wa == pb or wb == pa))
        if frozenset((g, h)) in paired or (masks and not related and (a << 16) + b not in excluded):
            found.add(frozenset((name(a), name(b))))
    return found
