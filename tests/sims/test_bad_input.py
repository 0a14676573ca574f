"""What nobody should hand to a simulator: one clear message that names engine and joint, and nothing has changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.rotations import Pose
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
from isaaclab_mirror.sims.settings import Ground, resolve_settings
from tests.usda import ROOT, arm

from .conftest import needs_physx


def refused(call, code: str) -> str:
    """The whole message of a refusal with that code."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.diagnostic.code == code
    return str(caught.value)


@pytest.mark.physx
@needs_physx
def test_a_robot_that_physx_refuses_is_named_with_the_next_step(tmp_path: Path):
    from isaaclab_mirror.sims.physx_sim import open_physx

    file = tmp_path / "rootless.usda"
    file.write_text(arm().replace(f'prepend apiSchemas = ["{ROOT}"]', ""))
    message = refused(lambda: open_physx(file), "E058")
    assert "rootless.usda:/: error E058: PhysX makes no articulation of it" in message
    assert "next: apply PhysicsArticulationRootAPI" in message


@pytest.mark.physx
@needs_physx
def test_a_urdf_is_no_file_for_physx(tmp_path: Path):
    from isaaclab_mirror.sims.physx_sim import open_physx

    file = tmp_path / "arm.urdf"
    weight = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    file.write_text(f'<robot name="arm"><link name="base">{weight}</link></robot>')
    assert "give its USD file" in refused(lambda: open_physx(file), "E058")


def test_a_robot_without_drives_moves_by_efforts_and_takes_gains(load, tmp_path: Path):
    file = tmp_path / "arm.usda"
    file.write_text(arm())
    sim = load(file)
    assert sim.gains()[0] == 0.0
    sim.set_position_targets(0.5)  # pulls nothing
    assert sim.read().joint_torque[0, 0] == 0.0
    sim.set_efforts({"elbow": 2.0})
    assert sim.read().joint_torque[0, 0] == 2.0
    sim.step()
    pushed = sim.read().joint_vel[0, 0]
    sim.reset()
    sim.step()
    assert pushed > sim.read().joint_vel[0, 0] + 1e-4
    sim.reset()
    sim.set_gains({"elbow": 100.0}, {"elbow": 10.0})
    sim.set_position_targets(0.5)
    assert sim.read().joint_torque[0, 0] == pytest.approx(50.0, abs=1e-4)


def test_a_start_inside_the_ground_is_told_with_link_and_depth(load, go2: Path):
    sim = load(go2, settings=resolve_settings(ground=Ground()), base_pose=Pose((0.0, 0.0, 0.2)))
    (found,) = [d for d in sim.diagnostics if d.code == "E064"]
    assert "unitree_go2_physx.usda" in found.where
    # legs stretched, the feet's lowest points hang 0.379 m under the base
    assert found.message == "link 'FL_calf' starts 0.179 m inside the ground, and 7 more"
    assert "start at least 0.179 m higher" in found.hint
    sim.step(5)
    assert np.isfinite(sim.read().joint_pos).all()


def test_a_start_above_the_ground_is_told_nothing(load, go2: Path):
    sim = load(go2, settings=resolve_settings(ground=Ground()), base_pose=Pose((0.0, 0.0, 0.5)))
    assert list(sim.diagnostics) == []


def test_a_nan_target_names_the_joint_and_changes_nothing(load, go2: Path):
    sim = load(go2)
    before = sim.read().joint_torque
    message = refused(lambda: sim.set_position_targets({"FL_hip_joint": 0.1, "FR_calf_joint": np.nan}), "E053")
    assert f"{sim.engine}: error E053: position target of joint 'FR_calf_joint' is not finite" in message
    targets = np.zeros(12)
    targets[sim.joint_names.index("RL_thigh_joint")] = np.inf
    assert "'RL_thigh_joint'" in refused(lambda: sim.set_velocity_targets(targets), "E053")
    assert np.array_equal(sim.read().joint_torque, before)


def test_a_target_of_the_wrong_size_says_both_sizes(load, go2: Path):
    sim = load(go2, env_count=2)
    message = refused(lambda: sim.set_position_targets(np.zeros(11)), "E052")
    assert message == f"{sim.engine}: error E052: position target of shape (11,) where (2, 12) or (12,) is expected"
    assert "(3, 12) where (2, 12)" in refused(lambda: sim.set_efforts(np.zeros((3, 12))), "E052")


def test_an_unknown_joint_is_answered_with_the_nearest_name(load, go2: Path):
    sim = load(go2)
    message = refused(lambda: sim.set_position_targets({"FL_hip": 0.0}), "E051")
    assert f"{sim.engine}: error E051: there is no joint 'FL_hip'" in message
    assert "did you mean 'FL_hip_joint'?" in message
    assert "'FL_fot'" in refused(lambda: sim.jacobian("FL_fot"), "E051")


def test_a_step_after_close_says_so(load, cartpole: Path):
    sim = load(cartpole)
    sim.close()
    assert refused(sim.step, "E054") == f"{sim.engine}: error E054: the simulator is closed\n  next: make a new one"


def test_an_exploding_state_names_joint_environment_and_time_and_a_reset_helps(load, tmp_path: Path):
    file = tmp_path / "arm.usda"
    file.write_text(arm(kind="Prismatic"))
    sim = load(file, env_count=2)
    sim.step(3)
    sim.reset(None, [1])
    sim.set_efforts({"elbow": [9e9]}, [1])  # PhysX cuts a speed that is too great down to 100 m/s, but no push
    message = refused(lambda: sim.step(4), "E055")
    assert f"{sim.engine}: error E055: the state exploded at joint 'elbow'" in message
    assert "environment 1, t = 0.005 s" in message
    sim.reset()
    sim.step(3)
    assert np.isfinite(sim.read().joint_pos).all()


def test_a_state_that_was_made_nan_inside_the_engine_is_reported(load, cartpole: Path):
    sim = load(cartpole)
    if isinstance(sim, MujocoSim):
        sim._batch.qvel[:] = np.nan
    else:
        sim._engine.write("DOF_VELOCITY", np.full((1, 2), np.nan))
    assert "the state exploded" in refused(sim.step, "E055")
    sim.reset()
    sim.step(3)
    assert np.isfinite(sim.read().joint_pos).all()


def test_gains_that_no_step_can_hold_end_in_a_report_or_hold(load, go2: Path):
    # nominal drives of 1e9 N·m/rad on links of grams: whoever cannot hold them must say so
    sim = load(go2)
    sim.set_gains(1e9, 0.0)
    sim.set_position_targets(sim.read().joint_pos + 0.5)
    code = ""
    try:
        sim.step(100)
    except InputError as error:
        code = error.diagnostic.code
        sim.reset()
    assert code in ("", "E055")
    assert np.isfinite(sim.read().joint_pos).all()


def test_no_environment_and_no_step_are_refused(load, cartpole: Path):
    assert "env_count is 0" in refused(lambda: load(cartpole, env_count=0), "E052")
    assert "at least one step" in refused(lambda: load(cartpole).step(0), "E052")


def test_without_the_extra_every_way_to_physx_says_how_to_install_it(cartpole: Path):
    script = f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("ovphysx", "ovstage"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hidden())
import importlib.util
known = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name.startswith("ov") else known(name, package)
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.physx_sim import PhysxSim, open_physx
from isaaclab_mirror.sims.mujoco_sim import MujocoSim
for open_it in (PhysxSim, open_physx):
    try:
        open_it({str(cartpole)!r})
    except InputError as error:
        print(error)
MujocoSim({str(cartpole)!r}).step()
print("MuJoCo runs")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    once = (
        "PhysX: error E056: PhysX is not installed (no module 'ovphysx')\n"
        "  next: pip install 'isaaclab-mirror[physx]' (Linux, glibc 2.35 or later)\n"
    )
    assert done.stdout == 2 * once + "MuJoCo runs\n"
