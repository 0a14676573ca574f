"""What a compiled MuJoCo model says of its joints and links, by canonical names, whatever file it came from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.robot.inertia import Inertia
from isaaclab_mirror.robot.model import Link, Robot
from isaaclab_mirror.sims.mujoco_model import MujocoRobot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def joint_units(robot: MujocoRobot) -> tuple[str, ...]:
    """`rad` or `m` of every joint."""
    import mujoco

    model = robot.model
    slide = int(mujoco.mjtJoint.mjJNT_SLIDE)
    return tuple("m" if model.jnt_type[model.dof_jntid[dof]] == slide else "rad" for dof in robot.joints.dof)


def led_joints(robot: MujocoRobot) -> tuple[str, ...]:
    """Joints that an equality ties to another one."""
    import mujoco

    model = robot.model
    kind = int(mujoco.mjtEq.mjEQ_JOINT)
    led = {
        int(model.eq_obj1id[k])
        for k in range(model.neq)
        if model.eq_type[k] == kind and model.eq_obj2id[k] >= 0 and model.eq_active0[k]
    }
    return tuple(
        name for name, dof in zip(robot.joints.names, robot.joints.dof, strict=True) if int(model.dof_jntid[dof]) in led
    )


def link_inertias(robot: MujocoRobot) -> Array:
    """Inertia of every link about its centre of mass in the link's axes [kg·m²], (links, 3, 3)."""
    import numpy as np

    from isaaclab_mirror.sims.batched import matrices

    model = robot.model
    turn = matrices(np.array(model.body_iquat[robot.bodies]))
    return np.einsum("nij,nj,nkj->nik", turn, model.body_inertia[robot.bodies], turn)


def weighed(robot: Robot, compiled: MujocoRobot) -> Robot:
    """The robot with what MuJoCo computed of links whose mass only their geoms tell."""
    if all(link.inertia is not None for link in robot.links):
        return robot
    model = compiled.model
    links: list[Link] = []
    for link in robot.links:
        if link.inertia is None:
            k = model.body(link.name).id
            inertia = Inertia(
                mass_kg=float(model.body_mass[k]),
                com_m=tuple(model.body_ipos[k].tolist()),
                diagonal_kgm2=tuple(model.body_inertia[k].tolist()),
                principal_wxyz=tuple(model.body_iquat[k].tolist()),
                origin="geoms",
            )
            link = replace(link, inertia=inertia)
        links.append(link)
    return replace(robot, links=tuple(links))


def fuse_welds(compiled: MujocoRobot) -> tuple[str, ...]:
    """Give the mass of links that are welded to others to the topmost of each group; the links that lost theirs.

    Two files of one robot may draw the line between links differently where nothing moves.
    """
    import mujoco
    import numpy as np

    model = compiled.model
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    tops = _tops(model)
    emptied: list[str] = []
    for top in sorted(set(tops.values())):
        group = [body for body, its in tops.items() if its == top]
        masses = model.body_mass[group]
        if len(group) == 1 or masses.sum() <= 0:
            continue
        com = np.einsum("k,kj->j", masses, data.xipos[group]) / masses.sum()
        tensor = np.zeros((3, 3))
        for body in group:
            turn, arm = data.ximat[body].reshape(3, 3), data.xipos[body] - com
            tensor += turn @ np.diag(model.body_inertia[body]) @ turn.T
            tensor += model.body_mass[body] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        frame = data.xmat[top].reshape(3, 3)
        moments, axes = np.linalg.eigh(frame.T @ tensor @ frame)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, axes.ravel())
        model.body_mass[group], model.body_inertia[group] = 0.0, 0.0
        model.body_mass[top], model.body_inertia[top] = masses.sum(), moments
        model.body_ipos[top], model.body_iquat[top] = frame.T @ (com - data.xpos[top]), quat
        emptied += [model.body(body).name for body in group if body != top]
    # subtree masses and reference inertias are derived; what MuJoCo keeps of aligned inertial frames no longer holds
    model.body_sameframe[:] = 0
    model.body_simple[:] = 0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return tuple(emptied)


def _tops(model: Any) -> dict[int, int]:
    """Body → the topmost one that it is welded to; for those of a fixed base the first below the world."""
    tops: dict[int, int] = {}
    for body in range(1, model.nbody):
        parent = int(model.body_parentid[body])
        still = model.body_jntnum[body] == 0
        tops[body] = tops[parent] if still and parent != 0 else body
    return tops


def leave_out_armature(robot: MujocoRobot) -> None:
    """For a comparison with a format that cannot say it."""
    import mujoco

    model = robot.model
    model.dof_armature[:] = 0.0
    mujoco.mj_setConst(model, mujoco.MjData(model))
