"""Contacts: friction and combine rules, and what a PhysX contact is in MuJoCo's soft constraints."""

from __future__ import annotations

import math

from isaaclab_mirror.robot.materials import CombineMode, ContactMaterial

STRENGTH = (CombineMode.AVERAGE, CombineMode.MIN, CombineMode.MULTIPLY, CombineMode.MAX)
"""The stronger mode of the two materials is used for the pair (measured)."""

PHYSX_DEFAULT = ContactMaterial(name="physx_default", static_friction=0.5, dynamic_friction=0.5)
"""What a collider without a material has."""


def combine(a: float, b: float, mode_a: CombineMode, mode_b: CombineMode) -> float:
    """The number of a pair. Measured: (.2 min, .4) → .2; (.2 max, .4 min) → .4; (.2 multiply, .4 min) → .08."""
    mode = max(mode_a, mode_b, key=STRENGTH.index)
    if mode is CombineMode.AVERAGE:
        return (a + b) / 2
    if mode is CombineMode.MIN:
        return min(a, b)
    if mode is CombineMode.MULTIPLY:
        return a * b
    return max(a, b)


def pair_friction(a: ContactMaterial, b: ContactMaterial) -> float:
    """Sliding friction of two materials. The dynamic one: MuJoCo has no static/dynamic pair, and a trot with
    s = 0.8, d = 0.5 is 6.0 mrad from PhysX with 0.5 and 15.5 with 0.8."""
    return combine(a.dynamic_friction, b.dynamic_friction, a.friction_combine, b.friction_combine)


def measured_contact(step_s: float) -> tuple[tuple[float, float], tuple[float, ...]]:
    """solref and solimp closest to PhysX's rigid contact at a time step: (2·dt, 1), (.95 .99 .001 .5 2).

    Measured (2 kg box, 5 cm drop, dt 5 ms, elliptic, impratio 100): rests −13 µm (PhysX +0.2), creep on a 24° slope
    0.005 mm/s (MuJoCo's defaults 3.3), slides at 0.6566 m/s² where the law says 0.657.
    """
    return (2 * step_s, 1.0), (0.95, 0.99, 0.001, 0.5, 2.0)


def standard_contact(contact_offset_m: float) -> tuple[tuple[float, float], tuple[float, ...]]:
    """The conversion standard's formula 4.1.1. A margin is not a stiffness: measured, a 2 kg box sinks 14–20 mm."""
    stiffness = 1.0 / (contact_offset_m * 1000)
    return (1.0 / math.sqrt(stiffness), 1.0), (0.9, 0.95, max(0.001, contact_offset_m), 0.5, 2.0)


PLANE_OFFSET_M = 0.02
"""Contact offset of a plane for which none is stated (measured: a pair acts from 20.0 mm + the shape's own)."""


def default_contact_offset(smallest_extent_m: float, gravity_mps2: float, step_s: float) -> float:
    """Contact offset that PhysX gives a shape for which none is stated: max(2 g dt², 2 % of its smallest extent).

    Measured (ovphysx 0.7.0, shapes of a Go2 at 200 Hz): box of 93.5 mm 1.87 mm, sphere of 44 mm 0.88 mm, box of
    24.5 mm 0.49 mm; at 60 Hz the floor is 5.45 mm. dt is the scene's timeStepsPerSecond, not the step taken.
    """
    return max(2.0 * gravity_mps2 * step_s**2, 0.02 * smallest_extent_m)
