"""Laws of one contact patch: what its normals and its friction anchors add in one TGS iteration.

A patch is all points of one pair of shapes. Rows are directions at points: first a patch's normals, then two tangents
for each anchor. Impulses in N·s, `softened` = 1/(J M⁻¹ Jᵀ + cfm).
"""

from __future__ import annotations

import math

from isaaclab_mirror.physics.emulation.compiled import compiled
from isaaclab_mirror.physics.emulation.vectors import Three, Vector, cross, dot, minus, times

SLOW2 = 1e-4
"""(1 cm/s)²: below, the first tangent does not follow the motion."""


@compiled
def normal_target(start_gap: float, gap: float, rules_: tuple[float, float, float]) -> float:
    """Separation velocity that a point asks for [m/s]; `rules_` is (h, β, largest depenetration speed).

    Still apart at the start of the step: what just closes the gap within h, so that nothing rebounds or overshoots.
    In contact: what removes the share β of the penetration.
    """
    substep_s, bias, fastest = rules_
    share = 1.0 if start_gap > 0.0 else bias
    return min(fastest, -gap / substep_s * share)


@compiled
def normal_impulse(velocity: float, target: float, applied: float, softened: float) -> float:
    """Change of a point's impulse; in sum it only pushes.

    Measured: Σ of a resting robot = weight (1.000), impact peak of a quadruped 390.2 N against 390.
    """
    return max((target - velocity) * softened, -applied)


@compiled
def friction_impulse(
    velocity: tuple[float, float],
    slip_m: tuple[float, float],
    applied: tuple[float, float],
    softened: tuple[float, float],
    bounds: tuple[float, float],
    rules_: tuple[float, float],
) -> tuple[float, float, bool]:
    """New impulses of an anchor's two tangents and whether it slides.

    g ← g − β (e/h + v) / (r + cfm), both tangents at once, e the anchor's slip; beyond the static bound (`bounds`: μs·F
    and μd·F per anchor) scaled to the dynamic one. `rules_` is (h, β).

    Measured (quadruped): e/h at first touch 0.0007 mrad, with the public source's 0.8·e/h 0.056.
    """
    substep_s, bias = rules_
    first = applied[0] - bias * (slip_m[0] / substep_s + velocity[0]) * softened[0]
    second = applied[1] - bias * (slip_m[1] / substep_s + velocity[1]) * softened[1]
    size = math.hypot(first, second)
    if size <= bounds[0]:
        return first, second, False
    scale = min(bounds[1], size) / size
    return first * scale, second * scale, True


@compiled
def tangents(normal: Three, velocity: Three) -> tuple[Vector, Vector]:
    """The first along the motion of the link's centre of mass, or where that is slow along a fixed direction."""
    sliding = minus(velocity, times(dot(normal, velocity), normal))
    if dot(sliding, sliding) <= SLOW2:
        across = abs(normal[0]) < math.sqrt(0.5)
        sliding = (0.0, -normal[2], normal[1]) if across else (-normal[1], normal[0], 0.0)
    first = times(1.0 / math.sqrt(dot(sliding, sliding)), sliding)
    return first, cross(normal, first)


@compiled
def least_normal(gap: float, velocity: float, softened: float, step_s: float) -> float:
    """What a point would need to end the step in touch: friction takes a quarter of its mean as a lower bound."""
    return max((-gap / step_s - velocity) * softened, 0.0)
