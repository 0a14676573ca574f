"""Ball joints: both engines mean the same by their three coordinates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.state import Start
from tests.sims.conftest import needs_physx

BALL = """#usda 1.0
(
    defaultPrim = "r"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "r" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{
    def Xform "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
    }
    def Xform "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 1
        point3f physics:centerOfMass = (0.1, 0.2, 0.3)
        float3 physics:diagonalInertia = (1, 1.2, 1.4)
    }
    def PhysicsFixedJoint "w"
    {
        rel physics:body1 = </r/a>
    }
    def PhysicsSphericalJoint "ball"
    {
        rel physics:body0 = </r/a>
        rel physics:body1 = </r/b>
        uniform token physics:axis = "AXIS"
        quatf physics:localRot0 = (0.9, 0.1, 0.3, 0.3)
        quatf physics:localRot1 = (0.9, 0.1, 0.3, 0.3)
    }
}
"""


@pytest.mark.physx
@needs_physx
@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_a_turned_ball_stands_and_moves_alike_in_both_engines(tmp_path: Path, axis: str):
    from isaaclab_mirror.sims.physx_sim import PhysxSim

    file = tmp_path / "ball.usda"
    file.write_text(BALL.replace("AXIS", axis), encoding="utf-8")
    start = Start(
        joint_pos={"ball:0": 0.4, "ball:1": -0.7, "ball:2": 0.2},
        joint_vel={"ball:0": 1.0, "ball:1": 0.5, "ball:2": -2.0},
    )
    states, matrices, jacobians = [], [], []
    for sim in (PhysxSim(file), MujocoSim(file)):
        with sim:
            sim.reset(start)
            states.append(sim.read())
            matrices.append(sim.mass_matrix())
            jacobians.append(sim.jacobian("b"))
    physx, mujoco = states
    assert physx.joint_pos == pytest.approx(np.array([[0.4, -0.7, 0.2]]), abs=1e-6)
    quats = [state.link_quat_wxyz[0, state.link_index("b")] for state in states]
    assert abs(np.dot(*quats)) == pytest.approx(1.0, abs=1e-6)
    assert physx.link_ang_vel_w == pytest.approx(mujoco.link_ang_vel_w, abs=1e-5)
    assert matrices[0] == pytest.approx(matrices[1], abs=1e-4)
    assert jacobians[0] == pytest.approx(jacobians[1], abs=1e-5)
