"""Joint limits: PhysX's are rigid and inelastic."""

from __future__ import annotations


def measured_limit(step_s: float) -> tuple[tuple[float, float], tuple[float, ...]]:
    """solreflimit and solimplimit closest to PhysX's: (2·dt, 2), (.99 .9999 .001 .5 2).

    Measured (hit at 2 rad/s, dt 5 ms): rebound 0.055 rad/s (PhysX 8e-5; MuJoCo's defaults 0.22), 30 N·m push rests
    0.35 mrad beyond (defaults 2.22). The overshoot is up to v·dt whatever is set: MuJoCo acts after crossing.
    """
    return (2 * step_s, 2.0), (0.99, 0.9999, 0.001, 0.5, 2.0)


LOCK_RAD = 1e-6
"""Half width of the range that stands for a locked joint: MuJoCo refuses a range of zero width."""


def written_range(lower: float, upper: float) -> tuple[float, float]:
    """A range that MuJoCo accepts."""
    if upper - lower < 2 * LOCK_RAD:
        middle = (lower + upper) / 2
        return (middle - LOCK_RAD, middle + LOCK_RAD)
    return (lower, upper)
