"""Small robots built by hand, an independent oracle of their kinematics, and random ones."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from lxml import etree

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.formats.options import WriteOptions
from isaaclab_mirror.formats.urdf.writer import write_urdf
from isaaclab_mirror.physics.lower import lower
from isaaclab_mirror.physics.lowered import Engine, Lowered
from isaaclab_mirror.physics.options import LoweringOptions
from isaaclab_mirror.robot.inertia import Inertia
from isaaclab_mirror.robot.joints import Axis, AxisKind, Joint, JointLimits, JointType
from isaaclab_mirror.robot.model import Link, Robot
from isaaclab_mirror.rotations import Pose, quat_normalize

BLOCK = Inertia(mass_kg=1.0, com_m=(0.01, 0.02, 0.03), diagonal_kgm2=(0.01, 0.02, 0.025))


@dataclass(frozen=True)
class Written:
    """What `write_urdf` made."""

    path: Path
    files: list[Path]
    root: etree._Element
    found: Diagnostics
    fidelity: Fidelity

    def joint(self, name: str) -> etree._Element:
        (element,) = self.root.xpath("/robot/joint[@name=$name]", name=name)
        return element

    def link(self, name: str) -> etree._Element:
        (element,) = self.root.xpath("/robot/link[@name=$name]", name=name)
        return element


def lowered(robot: Robot) -> Lowered:
    return lower(robot, Engine.NEUTRAL, LoweringOptions(), Diagnostics(), Fidelity())


def write(robot: Robot | Lowered, folder: Path, options: WriteOptions | None = None) -> Written:
    found, fidelity = Diagnostics(), Fidelity()
    path = folder / "robot.urdf"
    low = robot if isinstance(robot, Lowered) else lowered(robot)
    files = write_urdf(low, path, options or WriteOptions(), found, fidelity)
    return Written(path, files, etree.parse(path).getroot(), found, fidelity)


def hinge(name: str, axis=(0.0, 0.0, 1.0), anchor=(0.0, 0.0, 0.0), span=(-1.0, 1.0), **rest) -> Axis:
    limits = JointLimits() if span is None else JointLimits(lower=span[0], upper=span[1])
    return Axis(name=name, kind=AxisKind.HINGE, axis=axis, anchor_m=anchor, **{"limits": limits, **rest})


def slide(name: str, **rest) -> Axis:
    return replace(hinge(name, **rest), kind=AxisKind.SLIDE)


def ball(name: str, **rest) -> Axis:
    return replace(hinge(name, **rest), kind=AxisKind.BALL)


def joint(parent: str | None, child: str, *axes: Axis, origin: Pose | None = None, type=None, name=None) -> Joint:
    kinds = {0: JointType.FIXED, 1: JointType.REVOLUTE}
    kind = type or kinds.get(len(axes), JointType.D6)
    return Joint(
        name=name or f"{child}_joint", type=kind, parent=parent, child=child, origin=origin or Pose(), axes=axes
    )


def robot(*joints: Joint, inertia: Inertia = BLOCK, **rest) -> Robot:
    links = tuple(Link(name=j.child, inertia=inertia) for j in joints)
    return Robot(name="hand_made", links=links, joints=joints, **rest)


def free(child: str = "base", origin: Pose | None = None) -> Joint:
    return joint(None, child, type=JointType.FLOATING, origin=origin)


# --------------------------------------------------------------------------------------------- the oracle, in matrices
def matrix(pose: Pose) -> np.ndarray:
    w, x, y, z = np.array(pose.quat_wxyz) / np.linalg.norm(pose.quat_wxyz)
    out = np.eye(4)
    out[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    out[:3, 3] = pose.pos
    return out


def shifted(offset) -> np.ndarray:
    out = np.eye(4)
    out[:3, 3] = offset
    return out


def turned(axis, angle: float) -> np.ndarray:
    """Rodrigues."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    out = np.eye(4)
    out[:3, :3] = np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k
    return out


def motion(axis: Axis, q: float) -> np.ndarray:
    if axis.kind is AxisKind.SLIDE:
        return shifted(np.asarray(axis.axis) / np.linalg.norm(axis.axis) * q)
    anchor = np.asarray(axis.anchor_m)
    return shifted(anchor) @ turned(axis.axis, q) @ shifted(-anchor)


def link_frames(robot: Robot, q: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Every link's own frame in the world: parent ∘ origin ∘ the motion of each axis in order. Balls at zero."""
    frames: dict[str, np.ndarray] = {}
    for j in robot.joints:
        frame = np.eye(4) if j.parent is None else frames[j.parent]
        frame = frame @ matrix(j.origin)
        for axis in j.axes:
            if axis.kind is not AxisKind.BALL:
                frame = frame @ motion(axis, q[axis.name])
        frames[j.child] = frame
    return frames


# ------------------------------------------------------------------------------------------------------- random robots
_unit = st.floats(-1.0, 1.0)
_vector = st.tuples(_unit, _unit, _unit)
_direction = _vector.filter(lambda v: math.hypot(*v) > 0.1).map(lambda v: tuple(x / math.hypot(*v) for x in v))
_quat = st.tuples(_unit, _unit, _unit, _unit).filter(lambda q: math.hypot(*q) > 0.1).map(quat_normalize)
_exact_turn = st.sampled_from(
    [(1.0, 0.0, 0.0, 0.0), (0.5**0.5, 0.0, 0.5**0.5, 0.0), (0.5**0.5, 0.0, -(0.5**0.5), 0.0), (0.5, 0.5, 0.5, 0.5)]
)
_pose = st.builds(Pose, _vector, _quat | _exact_turn)
_inertia = st.builds(
    lambda mass, com, parts, quat: Inertia(
        mass_kg=mass,
        com_m=com,
        diagonal_kgm2=(parts[1] + parts[2], parts[0] + parts[2], parts[0] + parts[1]),
        principal_wxyz=quat,
    ),
    st.floats(0.01, 10.0),
    _vector,
    st.tuples(*[st.floats(1e-3, 1.0)] * 3),
    _quat,
)


@st.composite
def random_robots(draw, most_links: int = 6) -> Robot:
    """Trees (and forests) of links with up to three axes each, hinges off the link's origin."""
    count = draw(st.integers(1, most_links))
    joints, links = [], []
    for k in range(count):
        parent = None if k == 0 else draw(st.sampled_from([None, *(f"link{i}" for i in range(k))]))
        axes = []
        for a in range(draw(st.integers(0, 3))):
            make = draw(st.sampled_from([hinge, hinge, slide]))
            span = draw(st.sampled_from([(-1.5, 1.0), None]))
            anchor = draw(_vector | st.just((0.0, 0.0, 0.0)))
            axes.append(make(f"axis{k}_{a}", axis=draw(_direction), anchor=anchor, span=span))
        joints.append(joint(parent, f"link{k}", *axes, origin=draw(_pose)))
        links.append(Link(name=f"link{k}", inertia=draw(_inertia)))
    return Robot(name="random", links=tuple(links), joints=tuple(joints))
