"""Tables of records: how compiled code is handed bodies, joints, contacts and settings.

One record is one body, joint, row, …; its fields are declared as annotations of a class here, with unit and meaning.
A record is a place in memory, not a copy: `joint.drive += x` writes through, compiled and interpreted alike.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np

from isaaclab_mirror.physics.emulation.compiled import COMPILED
from isaaclab_mirror.physics.emulation.vectors import Floats, Table

R = TypeVar("R")

_FORMATS: dict[str, tuple[Any, ...]] = {
    "float": (np.float64,),
    "int": (np.int64,),
    "bool": (np.bool_,),
    "Three": (np.float64, (3,)),
    "Six": (np.float64, (6,)),
    "Nine": (np.float64, (9,)),
    "TwoPoints": (np.float64, (2, 3)),
}

Three = Six = Nine = TwoPoints = Floats


def table(kind: type[R], length: int) -> Table[R]:
    """Records of one kind, all zero."""
    for name in kind.__annotations__:
        if hasattr(np.void, name):
            raise ValueError(f"{kind.__name__}.{name}: numpy's records have an attribute of that name")
    fields = [(name, *_FORMATS[str(form)]) for name, form in kind.__annotations__.items()]
    records = np.zeros(length, dtype=np.dtype(cast("Any", fields), align=True))
    return cast("Table[R]", records if COMPILED else records.view(np.recarray))


def filled(kind: type[R], rows: list[dict[str, Any]]) -> Table[R]:
    """Records of one kind with these fields; what is not named is zero."""
    records = cast("Any", table(kind, len(rows)))
    for index, row in enumerate(rows):
        for name, value in row.items():
            records[name][index] = value
    return cast("Table[R]", records)


class Rules:
    """One record: the settings, what follows from them, the laws in force, and what a robot has but once."""

    step_s: float
    substep_s: float
    """h = dt/N, the time of one iteration."""
    iterations: int
    velocity_iterations: int
    every_iteration: bool
    """External forces act in every iteration, h at a time; else once, dt."""
    contact_bias: float
    """β = min(0.8, 2/√N): share of a penetration, and of friction's error, that one iteration removes."""
    limit_bias: float
    """min(0.9, 2/√N): the same for a joint beyond its limit. 0.8 and 0.9 found by scan (public source: uncapped)."""
    friction_offset_threshold_m: float
    friction_correlation_m: float
    floating: bool
    root: int
    """Body of the floating base, else 0 (the world)."""
    first: int
    """The first joint's degree of freedom: 6 behind a floating base, else 0."""
    root_com: Three
    """Centre of mass of the root in its own frame [m]."""
    total_mass: float
    gravity: Three
    coupled: bool
    """Some joint follows another."""
    couplings: bool
    drives: bool
    acceleration_drives: bool
    efforts: bool
    effort_limits: bool
    bounded_efforts: bool
    joint_friction: bool
    limits: bool
    velocity_limits: bool
    body_damping: bool
    angular_velocity_limits: bool
    coriolis: bool
    contacts: bool
    contact_friction: bool
    static_friction: bool
    speculative_contacts: bool
    contact_drift: bool
    momentum: bool
    pair_order: bool


class Body:
    """One body of MuJoCo's, in its order, which is depth first; the world is the first."""

    parent: int
    tree: int
    """The first body of its kinematic tree: MuJoCo's spatial vectors refer to that tree's centre of mass."""
    last_dof: int
    """The last degree of freedom that moves it, -1 for none."""
    owner: int
    """Itself, or where it is welded the body that moves: there its contacts are solved."""
    mass: float
    inertia: Three
    """Principal [kg·m²]."""
    gravity_share: float
    """0 where gravity is compensated."""
    linear_damping: float
    angular_damping: float
    max_angular_speed: float
    max_depenetration_speed: float
    softness: float
    """This step's cfm (joint_rows.CFM_SCALE)."""
    drift: Six
    """This step's dt·J̇v of the centre of mass: linear, angular (kinematics.find_drift)."""
    spatial: Six
    """Scratch: angular velocity, linear velocity at the robot's centre of mass."""


class Dof:
    """One degree of freedom."""

    parent: int
    """The next one towards the root, -1 for none."""
    body: int


class Joint:
    """One joint: what was stated, this step's constants, and what the sweeps change. [rad or m, N·m or N]"""

    stiffness: float
    damping: float
    max_effort: float
    acceleration: bool
    lower: float
    upper: float
    velocity_limit: float
    static_friction: float
    dynamic_friction: float
    viscous_friction: float
    body: int
    ends: bool
    """The last joint of its body: the body's contacts follow."""
    leader: int
    """The joint that this one follows, q = ratio·q_leader + shift; −1: none."""
    ratio: float
    shift: float
    position_target: float
    velocity_target: float
    effort: float
    start: float
    """Position at the start of the step."""
    response: float
    """(M⁻¹)jj"""
    softened: float
    """1/((M⁻¹)jj + cfm)"""
    velocity_gain: float
    error_scale: float
    moved: float
    """Since the start of the step."""
    drive_impulse: float
    friction_impulse: float
    lower_impulse: float
    upper_impulse: float


class Shape:
    """One collider of the robot: points with a radius, in the geom's frame."""

    geom: int
    body: int
    start: int
    """First row in the table of points."""
    count: int
    radius: float
    rim: bool
    """A cylinder: its points are those of its two rims that lie deepest."""
    rim_radius: float
    rim_half: float


class Ground:
    """One static collider."""

    kind: int
    """contact_points.PLANE, BOX or FIELD"""
    position: Three
    rotation: Nine
    """Row by row."""
    extent: Three
    """[m]: a box's half extents; a field's half width in x, y and its height."""
    rows: int
    columns: int
    start: int
    """First of its heights."""


class Pair:
    """One shape and one ground that may touch."""

    shape_index: int
    ground_index: int
    body: int
    offset_m: float
    """Contact offsets of both together."""
    rest_m: float
    static_friction: float
    dynamic_friction: float
    least_x: float
    """That the shape reached when they came to touch [m]."""
    start: int
    """This step's contact points: first row, count."""
    count: int


class Point:
    """One contact point of this step."""

    place: Three
    normal: Three
    gap: float


class Row:
    """One contact row: a direction at a point of a link."""

    body: int
    direction: Three
    moment: Three
    """(point − centre of mass) × direction."""
    softened: float
    """1/(J M⁻¹ Jᵀ + cfm)"""
    gap: float
    """At the start of the step [m]: of a normal the separation, of a tangent the slip since the anchor was made."""
    moved: float
    """Since the start of the step [m]."""
    drift: float
    """Velocity beyond J·v [m/s]."""
    impulse: float


class Patch:
    """The contact of one touching pair: its normals' rows, then two tangents for each friction anchor."""

    pair: int
    owner: int
    start: int
    normals: int
    anchors: int
    static_friction: float
    dynamic_friction: float
    fastest: float
    """At which it pushes apart what overlaps [m/s]."""
    least: float
    """Smallest normal impulse that friction reckons with [N·s]."""


class Anchors:
    """What one pair of one environment remembers from step to step."""

    count: int
    """0, 1 or 2"""
    on_link: TwoPoints
    """From the link's centre of mass, in the link's axes [m]."""
    on_ground: TwoPoints
    """Where they were made [m, world]."""
    normal: Three
    """The ground's normal in the link's axes when they were made."""
    broken: bool
    """Slid in the last iteration: made anew at the next step."""
    listed: int
    """The pair at this place of the list of touching pairs (pair_order)."""
