"""What compiled code is handed: a robot in its world, MuJoCo's arrays, and one thread's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isaaclab_mirror.physics.emulation.settings import LinkParameters, Settings
from isaaclab_mirror.physics.emulation.tables import (
    Body,
    Dof,
    Ground,
    Joint,
    Pair,
    Patch,
    Point,
    Row,
    Rules,
    Shape,
    filled,
    table,
)
from isaaclab_mirror.physics.emulation.vectors import Floats, Ints, Table

if TYPE_CHECKING:
    from isaaclab_mirror.physics.emulation.coverage import Colliders


Model = Any
"""mujoco.MjModel: MuJoCo ships no types."""
Data = Any
"""mujoco.MjData"""


class Place(NamedTuple):
    """Arrays of one MjData; they are views, MuJoCo's functions fill them."""

    address: int
    qpos: Floats
    qvel: Floats
    xpos: Floats
    xmat: Floats
    xipos: Floats
    ximat: Floats
    geom_xpos: Floats
    geom_xmat: Floats
    subtree_com: Floats
    cdof: Floats
    cdof_dot: Floats
    cvel: Floats
    cinert: Floats
    qfrc_applied: Floats
    xfrc_applied: Floats


class World(NamedTuple):
    """Colliders."""

    shapes: Table[Shape]
    points: Floats
    """(points, 3): a sphere's centre, a capsule's ends, a box's corners, a hull's vertices [m]."""
    grounds: Table[Ground]
    heights: Floats
    """All height fields' data, 0–1, row by row."""
    pairs: Table[Pair]
    found: Table[Point]


class Solve(NamedTuple):
    """One thread's numbers of one step."""

    rules: Table[Rules]
    bodies: Table[Body]
    dofs: Table[Dof]
    joints: Table[Joint]
    patches: Table[Patch]
    rows: Table[Row]
    jacobian: Floats
    """(rows, dofs)"""
    response: Floats
    """M⁻¹Jᵀ, (rows, dofs)"""
    inverse: Floats
    """M⁻¹ in our velocity (kinematics)."""
    velocity: Floats
    travelled: Floats
    """Σ h·v over the iterations."""
    scratch: Floats
    """(8, dofs); 0, 1: of a function; EXTERNAL: acceleration by external forces."""
    identity: Floats


EXTERNAL = 2
"""Row of `Solve.scratch` that outlives a function."""


class Memory(NamedTuple):
    """What stays from step to step, and what the last step applied; the first axis is the environment."""

    anchors: Any
    """Table of `Anchors`, (environments, pairs)"""
    listed: Ints
    """How many pairs stand in the list of touching pairs."""
    joint_effort: Floats
    """Drive and explicit effort, mean over the step [N·m or N]."""
    normal_force: Floats
    """Per pair [N]."""
    contact_force: Floats
    """Per pair, on the robot, world axes, friction included [N]."""


def place_of(data: Any) -> Place:
    """Views on one MjData."""
    return Place(address=data._address, **{name: getattr(data, name) for name in Place._fields if name != "address"})


def bodies_of(model: Model, links: LinkParameters, settings: Settings) -> Any:
    """Every body's constants."""
    stated = links.ordered([str(model.body(body).name) for body in range(int(model.nbody))], settings)
    rows: list[dict[str, Any]] = []
    for body in range(int(model.nbody)):
        parent, count = int(model.body_parentid[body]), int(model.body_dofnum[body])
        moved = count > 0 or body == 0
        last = int(model.body_dofadr[body]) + count - 1 if count else rows[parent]["last_dof"] if body else -1
        rows.append(
            {
                "parent": parent,
                "tree": int(model.body_rootid[body]),
                "last_dof": last,
                "owner": body if moved else rows[parent]["owner"],
                "mass": float(model.body_mass[body]),
                "inertia": np.array(model.body_inertia[body]),
                "gravity_share": 1.0 - float(model.body_gravcomp[body]),
                **{name: float(values[body]) for name, values in stated.items()},
            }
        )
    return filled(Body, rows)


def dofs_of(model: Model) -> Table[Dof]:
    """Every degree of freedom's constants."""
    return filled(
        Dof,
        [{"parent": int(p), "body": int(b)} for p, b in zip(model.dof_parentid, model.dof_bodyid, strict=True)],
    )


def is_floating(model: Model) -> bool:
    """Whether the first joint is free."""
    return int(model.njnt) > 0 and int(model.jnt_type[0]) == 0


def world_of(colliders: Colliders) -> World:
    """One thread's colliders: what a step writes into pairs and points is its own."""
    points = np.where(colliders.shapes["rim"], 4, colliders.shapes["count"])
    room = 1 + points[colliders.pairs["shape_index"]].sum()
    return World(
        shapes=colliders.shapes,
        points=colliders.points,
        grounds=colliders.grounds,
        heights=colliders.heights,
        pairs=colliders.pairs.copy(),
        found=table(Point, int(room)),
    )


def solve_of(rules: Table[Rules], model: Model, bodies: Any, joints: Any, world: World) -> Solve:
    """Room for one thread."""
    dofs, pairs = int(model.nv), len(world.pairs)
    room = len(world.found) + 4 * pairs
    return Solve(
        rules=rules,
        bodies=bodies.copy(),
        dofs=dofs_of(model),
        joints=joints.copy(),
        patches=table(Patch, pairs),
        rows=table(Row, room),
        jacobian=np.zeros((room, dofs)),
        response=np.zeros((room, dofs)),
        inverse=np.zeros((dofs, dofs)),
        velocity=np.zeros(dofs),
        travelled=np.zeros(dofs),
        scratch=np.zeros((8, dofs)),
        identity=np.eye(dofs),
    )
