"""Every robot of the corpora, as URDF in Pinocchio and as MJCF in MuJoCo: one robot, 1e-6 m."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.conversion import ConversionOptions, convert
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.options import ReadOptions

SHARED = Path(__file__).resolve().parents[3] / "shared"
CONFIGURATIONS = 50
QUICK = {"unitree_go2", "franka_panda_physx", "panda_urdf", "dragon4", "cassie"}


def _robots() -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    for truth in sorted(SHARED.glob("corpus*/*/truth*.json")):
        content = json.loads(truth.read_text())
        named = content.get("usd") or content.get("main")
        folder = truth.parent
        usd = folder / named if named else folder / f"{folder.name}.usda"
        name = folder.name + ("_physx" if truth.stem == "truth_physx" else "")
        if usd.exists():
            found.append((name, usd))
    return found


ROBOTS = _robots()


@pytest.mark.skipif(not ROBOTS, reason="the shared corpora are not beside the repository")
@pytest.mark.parametrize(
    ("name", "usd"),
    [pytest.param(n, u, id=n, marks=() if n in QUICK else (pytest.mark.slow,)) for n, u in ROBOTS],
)
def test_the_urdf_is_the_mjcf(name: str, usd: Path, tmp_path: Path) -> None:
    import mujoco
    import pinocchio

    options = ConversionOptions(read=ReadOptions(visuals=False))
    try:
        xml = convert(usd, tmp_path / "a" / "robot.xml", options)
    except InputError as error:
        if error.diagnostic.code == "E020":
            options = ConversionOptions(read=ReadOptions(visuals=False, prim="/World/envs/env_0/Robot"))
            xml = convert(usd, tmp_path / "a" / "robot.xml", options)
        else:
            with pytest.raises(InputError):
                convert(usd, tmp_path / "b" / "robot.urdf", options)
            return
    urdf = convert(usd, tmp_path / "b" / "robot.urdf", options)
    assert (xml.links, xml.joints, xml.dofs) == (urdf.links, urdf.joints, urdf.dofs)

    # MuJoCo refuses moments that no body can have; the URDF keeps them as PhysX does.
    mended = any(d.code == "E003" for d in xml.diagnostics)
    model = mujoco.MjModel.from_xml_path(str(xml.target))
    data = mujoco.MjData(model)
    other = pinocchio.buildModelFromUrdf(str(urdf.target))
    found = other.createData()
    hinges = {model.joint(j).name: j for j in range(model.njnt) if model.jnt_type[j] in (2, 3)}
    scalar = {n: j for n, j in hinges.items() if other.existJointName(n)}
    assert set(scalar) == set(hinges), "every hinge and slide is a joint of the URDF"
    frames = {other.frames[k].name: k for k in range(other.nframes) if other.frames[k].type == pinocchio.BODY}
    bodies = {model.body(b).name: b for b in range(1, model.nbody)}
    assert set(bodies) <= set(frames)

    inertias = _inertias(urdf.target)
    random = np.random.default_rng(0)
    root = next(iter(bodies))
    heavy = {body: b for body, b in bodies.items() if inertias[body][0] > 0}
    for _ in range(CONFIGURATIONS):
        mujoco.mj_resetData(model, data)
        q = pinocchio.neutral(other)
        for joint, k in scalar.items():
            low, high = model.jnt_range[k] if model.jnt_limited[k] else (-np.pi, np.pi)
            value = random.uniform(low, high)
            data.qpos[model.jnt_qposadr[k]] = value
            index = other.getJointId(joint)
            start, zero = other.idx_qs[index], value - model.qpos0[model.jnt_qposadr[k]]
            if other.nqs[index] == 2:
                q[start : start + 2] = np.cos(zero), np.sin(zero)
            else:
                q[start] = zero
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        pinocchio.framesForwardKinematics(other, found, q)
        # Link frames move to the joint axes in a URDF: what must agree is where the masses are, seen from the root's.
        here, turn = found.oMf[frames[root]], data.xmat[bodies[root]].reshape(3, 3)
        origin_urdf = here.translation + here.rotation @ inertias[root][1] if root in heavy else here.translation
        origin_mjcf = data.xipos[bodies[root]] if root in heavy else data.xpos[bodies[root]]
        for body, b in heavy.items():
            frame = found.oMf[frames[body]]
            com = frame.translation + frame.rotation @ inertias[body][1]
            ours, theirs = here.rotation.T @ (com - origin_urdf), turn.T @ (data.xipos[b] - origin_mjcf)
            assert np.linalg.norm(ours - theirs) < 1e-6, body
    for body, b in bodies.items():
        mass, _, tensor = inertias[body]
        assert model.body_mass[b] == pytest.approx(mass, rel=1e-9, abs=1e-12), body
        if mass > 0 and not mended:
            moments = np.linalg.eigvalsh(tensor)
            assert np.sort(model.body_inertia[b]) == pytest.approx(moments, rel=1e-6, abs=1e-12), body
    for joint, k in scalar.items():
        index = other.getJointId(joint)
        if model.jnt_limited[k] and other.nqs[index] == 1:
            start = other.idx_qs[index]
            bounds = (other.lowerPositionLimit[start], other.upperPositionLimit[start])
            reference = model.qpos0[model.jnt_qposadr[k]]
            assert np.allclose(model.jnt_range[k] - reference, bounds, atol=1e-6), joint


def _inertias(urdf: Path) -> dict[str, tuple[float, np.ndarray, np.ndarray]]:
    """Link → mass, centre of mass, tensor about it, as the URDF states them."""
    from lxml import etree

    result = {}
    for link in etree.parse(str(urdf)).getroot().findall("link"):
        inertial = link.find("inertial")
        if inertial is None:
            result[link.get("name")] = (0.0, np.zeros(3), np.zeros((3, 3)))
            continue
        i = {k: float(v) for k, v in inertial.find("inertia").items()}
        tensor = [[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]]
        origin = inertial.find("origin")
        com = np.array([float(x) for x in (origin.get("xyz") if origin is not None else "0 0 0").split()])
        result[link.get("name")] = (float(inertial.find("mass").get("value")), com, np.array(tensor))
    return result
