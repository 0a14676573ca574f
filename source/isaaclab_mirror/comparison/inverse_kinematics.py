"""Inverse kinematics on two models: from one seed to one target, do both end in the same configuration?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isaaclab_mirror.comparison.excitation import JointFacts, random_configurations, worst
from isaaclab_mirror.comparison.rows import KINEMATIC, Row, Skipped
from isaaclab_mirror.comparison.two import Two, put, spread
from isaaclab_mirror.sims.simulator import Simulator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def ik_row(two: Two, facts: JointFacts, limit: float, iterations: int = 60) -> Row | Skipped:
    """Damped least squares on both models from one seed to one target: do both end in the same configuration?"""
    import numpy as np

    name = "inverse kinematics"
    movable = ~facts.followers
    link = _tool(two, facts)
    if link is None:
        return Skipped(name=name, reason="no link moves with the joints")
    goal, seed = (random_configurations(facts, 2, seed)[1] for seed in (11, 12))
    seed = goal + 0.3 * (seed - goal)  # within reach of a descent
    put(two.b, facts.names, goal, np.zeros_like(goal), _base(two))
    state, column = two.b.read(), two.b.link_names.index(link)
    target = (state.link_pos_w[0, column], state.link_quat_wxyz[0, column])
    ends: list[Array] = []
    misses: list[float] = []
    for sim in (two.a, two.b):
        end, miss = _solve(sim, two, link, target, seed, movable, iterations)
        ends.append(end)
        misses.append(miss)
    value, where = worst(two.joints, np.abs(ends[0] - ends[1]))
    note = f"{link}, {iterations} steps from one seed; ends {max(misses):.1e} m from the target"
    return Row(name=name, value=value, limit=limit, unit="rad or m", code=KINEMATIC, where=where, note=note)


def _base(two: Two) -> tuple[Array, Array] | None:
    """A floating base level at the origin; a fixed one where it is."""
    import numpy as np

    return None if two.a.fixed_base or two.b.fixed_base else (np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))


def _tool(two: Two, facts: JointFacts) -> str | None:
    """The last link that at least three joints move (or as many as there are)."""
    import numpy as np

    put(two.b, facts.names, facts.home, np.zeros(len(facts.names)), None)
    moved = {
        link: int((np.abs(two.b.jacobian(link)[0][:, two.generalized(two.b)[-len(two.joints) :]]) > 1e-9).any(0).sum())
        for link in spread(two.links, 24)
    }
    best = max(moved.values(), default=0)
    return next((link for link, count in moved.items() if count == best), None) if best else None


def _solve(
    sim: Simulator,
    two: Two,
    link: str,
    target: tuple[Array, Array],
    seed: Array,
    movable: NDArray[np.bool_],
    iterations: int,
) -> tuple[Array, float]:
    """Joint positions after the iterations, and how far the link then is from its target [m]."""
    import numpy as np

    from isaaclab_mirror.sims import batched

    q: Array = np.array(seed, dtype=float)
    column, miss = sim.link_names.index(link), float("inf")
    columns = two.generalized(sim)[-len(two.joints) :]
    zero = np.zeros_like(q)
    for _ in range(iterations):
        put(sim, two.joints, q, zero, _base(two))
        state = sim.read()
        away = target[0] - state.link_pos_w[0, column]
        now = state.link_quat_wxyz[0, column]
        turn = batched.multiply(target[1], now * np.array([1.0, -1.0, -1.0, -1.0]))
        error = np.concatenate([away, 2 * np.sign(turn[0]) * turn[1:]])
        jacobian: Array = sim.jacobian(link)[0][:, columns] * movable
        q = q + np.clip(_damped_step(jacobian, error), -0.2, 0.2)
        miss = float(np.linalg.norm(away))
    return q, miss


def _damped_step(jacobian: Array, error: Array) -> Array:
    """Jᵀ (J Jᵀ + λ²)⁻¹ e with λ² = 0.01."""
    import numpy as np

    return np.asarray(jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-2 * np.eye(6), error), dtype=float)
