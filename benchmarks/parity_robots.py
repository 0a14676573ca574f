"""Robots of `parity.py` that no file holds: written as MJCF once, and from MuJoCo's compiled model as USD for PhysX."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

LEGS = ("FL", "FR", "RL", "RR")
STAND = [v for leg in LEGS for v in (0.1 if leg[1] == "L" else -0.1, 0.8 if leg[0] == "F" else 1.0, -1.5)]
"""Of a quadruped's hips, thighs and calves [rad]."""


@dataclass(frozen=True, kw_only=True)
class Gains:
    """Of one drive [N·m/rad, N·m·s/rad, N·m]."""

    stiffness: float
    damping: float
    effort: float = math.inf
    acceleration: bool = False


def arm_mjcf(seed: int = 1, armature: float = 0.01, heaviest: float = 3.0, limit_rad: float | None = None) -> str:
    """Six links in a row with random axes, centres of mass and inertias."""
    rng = np.random.default_rng(seed)
    text, end = "", ""
    for k in range(6):
        mass = heaviest * 0.7**k
        com, axis = rng.uniform(-0.05, 0.05, 3) + np.array([0, 0, 0.12]), ("0 0 1", "0 1 0", "1 0 0")[k % 3]
        moments = mass * np.sort(rng.uniform(0.004, 0.006, 3))
        text += f'<body name="l{k}" pos="{_words(rng.uniform(-0.03, 0.03, 3) + np.array([0, 0, 0.25 if k else 0.1]))}">'
        text += f'<inertial pos="{_words(com)}" mass="{mass:.6f}" diaginertia="{_words(moments)}"/>'
        bounds = "" if limit_rad is None else f'limited="true" range="{-limit_rad} {limit_rad}"'
        text += f'<joint name="j{k}" axis="{axis}" armature="{armature}" {bounds}/>'
        end += "</body>"
    head = '<mujoco><compiler angle="radian"/>'
    return f'{head}<worldbody><body name="base"><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>{text}{end}</body></worldbody></mujoco>'


def quadruped_mjcf(armature: float = 0.0, radius_m: float = 0.022) -> str:
    """Numbers like a Go2's, 15.2 kg, sphere feet."""
    text = ""
    for leg in LEGS:
        x, y = (1 if leg[0] == "F" else -1), (1 if leg[1] == "L" else -1)
        joint = f'armature="{armature}"'
        text += (
            f'<body name="{leg}_hip" pos="{0.1934 * x} {0.0465 * y} 0">'
            f'<inertial pos="{-0.0054 * x} {0.00194 * y} -.0001" mass=".678" diaginertia=".00048 .000884 .000596"/>'
            f'<joint name="{leg}_hip_joint" axis="1 0 0" {joint}/>'
            f'<body name="{leg}_thigh" pos="0 {0.0955 * y} 0">'
            f'<inertial pos="-.00374 {-0.0223 * y} -.0327" mass="1.152" diaginertia=".00594 .0061 .000878"/>'
            f'<joint name="{leg}_thigh_joint" axis="0 1 0" {joint}/>'
            f'<body name="{leg}_calf" pos="0 0 -.213">'
            f'<inertial pos=".00433 {-0.00095 * y} -.146" mass=".241352" diaginertia=".0014901 .0014635 5.31e-5"/>'
            f'<joint name="{leg}_calf_joint" axis="0 1 0" {joint}/>'
            f'<geom name="{leg}_foot" type="sphere" size="{radius_m}" pos="0 0 -.213"/>'
            "</body></body></body>"
        )
    base = '<inertial pos=".021 0 -.005" mass="6.921" diaginertia=".02448 .09808 .1077"/><freejoint name="root"/>'
    return f'<mujoco><worldbody><body name="base">{base}{text}</body></worldbody></mujoco>'


def box_mjcf(half_m: Sequence[float] = (0.1, 0.1, 0.1), mass: float = 2.0, shape: str = "box") -> str:
    """One free body."""
    moment = mass / 3
    x, y, z = half_m
    inertia = _words((moment * (y * y + z * z), moment * (x * x + z * z), moment * (x * x + y * y)))
    size = {"box": half_m, "sphere": half_m[:1], "capsule": half_m[:2], "cylinder": half_m[:2]}[shape]
    return (
        f'<mujoco><worldbody><body name="base"><freejoint name="root"/>'
        f'<inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia}"/>'
        f'<geom name="solid" type="{shape}" size="{_words(size)}"/></body></worldbody></mujoco>'
    )


def usda(mjcf: str, gains: Mapping[str, Gains], **numbers: float) -> str:
    """The same robot as USD for PhysX. `numbers`: friction, contact_offset_m."""
    model = mujoco.MjModel.from_xml_string(mjcf)
    friction, offset = numbers.get("friction", 1.0), numbers.get("contact_offset_m", 0.02)
    floating = bool(model.njnt) and int(model.jnt_type[0]) == 0
    root = ["PhysicsArticulationRootAPI"]
    bodies = "".join(_body(model, b, offset, root if floating and b == 1 else []) for b in range(1, model.nbody))
    joints = "" if floating else _weld(root)
    for body in range(2, model.nbody):
        joints += _joint(model, body, gains)
    return f"""#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "World"
{{
    def Material "foot" (prepend apiSchemas = ["PhysicsMaterialAPI", "PhysxMaterialAPI"])
    {{
        float physics:staticFriction = {numbers.get("static_friction", friction)}
        float physics:dynamicFriction = {friction}
        uniform token physxMaterial:frictionCombineMode = "multiply"
    }}
    def Xform "robot"
    {{
{bodies}{joints}    }}
}}
"""


def _body(model: Any, body: int, offset: float, apis: list[str]) -> str:
    apis = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysxRigidBodyAPI", *apis]
    text = f"""        def Xform "{model.body(body).name}" (prepend apiSchemas = {_names(apis)})
        {{
            float physics:mass = {model.body_mass[body]:.9g}
            point3f physics:centerOfMass = ({_commas(model.body_ipos[body])})
            float3 physics:diagonalInertia = ({_commas(model.body_inertia[body])})
            quatf physics:principalAxes = ({_commas(model.body_iquat[body])})
            float physxRigidBody:angularDamping = 0
"""
    for geom in range(model.ngeom):
        if model.geom_bodyid[geom] == body and (model.geom_contype[geom] or model.geom_conaffinity[geom]):
            text += _geom(model, geom, offset)
    return text + "        }\n"


def _geom(model: Any, geom: int, offset: float) -> str:
    kind, size = mujoco.mjtGeom(model.geom_type[geom]), model.geom_size[geom]
    shapes = {
        mujoco.mjtGeom.mjGEOM_SPHERE: ("Sphere", f"double radius = {size[0]:.9g}"),
        mujoco.mjtGeom.mjGEOM_BOX: ("Cube", "double size = 1"),
        mujoco.mjtGeom.mjGEOM_CAPSULE: (
            "Capsule",
            f"double radius = {size[0]:.9g}\n double height = {2 * size[1]:.9g}",
        ),
        mujoco.mjtGeom.mjGEOM_CYLINDER: (
            "Cylinder",
            f"double radius = {size[0]:.9g}\n double height = {2 * size[1]:.9g}",
        ),
    }
    name, words = shapes[kind]
    scale = 2 * size if name == "Cube" else np.ones(3)
    apis = _names(["PhysicsCollisionAPI", "PhysxCollisionAPI", "MaterialBindingAPI"])
    label = model.geom(geom).name or f"geom{geom}"
    return f"""            def {name} "{label}" (prepend apiSchemas = {apis})
            {{
                {words}
                float physxCollision:contactOffset = {offset}
                float physxCollision:restOffset = 0
                rel material:binding:physics = </World/foot>
                double3 xformOp:translate = ({_commas(model.geom_pos[geom])})
                quatd xformOp:orient = ({_commas(model.geom_quat[geom])})
                double3 xformOp:scale = ({_commas(scale)})
                uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]
            }}
"""


def _weld(apis: list[str]) -> str:
    return f"""        def PhysicsFixedJoint "weld" (prepend apiSchemas = {_names(apis)})
        {{
            rel physics:body1 = </World/robot/base>
        }}
"""


def _joint(model: Any, body: int, gains: Mapping[str, Gains]) -> str:
    parent = model.body(int(model.body_parentid[body])).name
    ends = f"""            rel physics:body0 = </World/robot/{parent}>
            rel physics:body1 = </World/robot/{model.body(body).name}>
"""
    if model.body_jntnum[body] == 0:
        place = _frames(model.body_pos[body], model.body_quat[body], np.zeros(3), np.array([1.0, 0, 0, 0]))
        return f'        def PhysicsFixedJoint "{model.body(body).name}_fixed"\n        {{\n{ends}{place}        }}\n'
    joint = int(model.body_jntadr[body])
    name, degree = model.joint(joint).name, math.pi / 180
    turn, at = _from_x(model.jnt_axis[joint]), model.jnt_pos[joint]
    quat, shift = np.zeros(4), np.zeros(3)
    mujoco.mju_mulQuat(quat, model.body_quat[body], turn)
    mujoco.mju_rotVecQuat(shift, at, model.body_quat[body])
    drive = gains.get(name)
    apis = ["PhysxJointAxisAPI:angular", *(["PhysicsDriveAPI:angular"] if drive else [])]
    text = f'        def PhysicsRevoluteJoint "{name}" (prepend apiSchemas = {_names(apis)})\n        {{\n{ends}'
    text += _frames(model.body_pos[body] + shift, quat, at, turn)
    text += '            uniform token physics:axis = "X"\n'
    if model.jnt_limited[joint]:
        low, high = np.degrees(model.jnt_range[joint])
        text += f"            float physics:lowerLimit = {low:.9g}\n            float physics:upperLimit = {high:.9g}\n"
    armature = float(model.dof_armature[model.jnt_dofadr[joint]])
    text += f"            float physxJointAxis:angular:armature = {armature:.9g}\n"
    if drive:
        text += f"            float drive:angular:physics:stiffness = {drive.stiffness * degree:.9g}\n"
        text += f"            float drive:angular:physics:damping = {drive.damping * degree:.9g}\n"
        if drive.acceleration:
            text += '            uniform token drive:angular:physics:type = "acceleration"\n'
        if math.isfinite(drive.effort):
            text += f"            float drive:angular:physics:maxForce = {drive.effort:.9g}\n"
    return text + "        }\n"


def _frames(pos0: Any, quat0: Any, pos1: Any, quat1: Any) -> str:
    return f"""            point3f physics:localPos0 = ({_commas(pos0)})
            quatf physics:localRot0 = ({_commas(quat0)})
            point3f physics:localPos1 = ({_commas(pos1)})
            quatf physics:localRot1 = ({_commas(quat1)})
"""


def _from_x(axis: Any) -> Any:
    """The rotation that takes x to an axis, wxyz."""
    x, y, z = axis
    if x < -0.999999:
        return np.array([0.0, 0.0, 1.0, 0.0])
    quat = np.array([1.0 + x, 0.0, -z, y])
    return quat / np.linalg.norm(quat)


def _names(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _words(values: Any) -> str:
    return " ".join(f"{float(v):.9g}" for v in values)


def _commas(values: Any) -> str:
    return ", ".join(f"{float(v):.9g}" for v in values)
