from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.physics.drives import step_damping
from isaaclab_mirror.robot.drives import Drive
from tests.usda import COLLIDER, FACES, TETRAHEDRON, Converted, Usda, arm, body, cube, joint, lone, prim, robot, stage

ROBOTS = {
    "go2": "unitree_go2/unitree_go2_physx.usda",
    "cartpole": "cartpole/cartpole_physx.usda",
    "ur5e": "ur5e/ur5e.usda",
}
GAINS = ("float drive:angular:physics:stiffness = 10", "float drive:angular:physics:damping = 2")
DRIVEN = {"apis": ("PhysicsDriveAPI:angular",)}


def spec_model(source: Path, folder: Path):
    """The model that the spec compiles to, before it is written."""
    from isaaclab_mirror.conversion import inspect_robot
    from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
    from isaaclab_mirror.formats.mjcf.writer import build_spec
    from isaaclab_mirror.formats.options import WriteOptions
    from isaaclab_mirror.physics.lower import lower
    from isaaclab_mirror.physics.lowered import Engine
    from isaaclab_mirror.physics.options import LoweringOptions

    robot, _, _ = inspect_robot(source)
    folder.mkdir()
    lowered = lower(robot, Engine.MUJOCO, LoweringOptions(), Diagnostics(), Fidelity())
    spec, _ = build_spec(lowered, folder, WriteOptions(), Diagnostics(), Fidelity())
    return spec.compile()


@pytest.mark.parametrize("name", ROBOTS)
def test_what_is_loaded_from_disk_is_what_was_compiled(usda: Usda, data: Path, name: str):
    source = data / ROBOTS[name]
    loaded, compiled = usda.convert(source).model, spec_model(source, usda.folder / "spec")
    different = []
    for key in dir(compiled):
        one, other = getattr(compiled, key, None), getattr(loaded, key, None)
        if (
            isinstance(one, int | np.integer)
            and key.startswith(("n", "nu"))
            and key not in ("nbuffer", "npaths", "ntextdata", "nnames", "nnames_map")
        ):
            if one != other:
                different.append(f"{key}: {one} {other}")
        elif isinstance(one, np.ndarray) and one.dtype.kind == "f" and one.shape == other.shape:
            far = np.abs(one - other) > 1e-9 + 1e-6 * np.abs(other)
            different += [f"{key}: {np.abs(one - other)[far].max():.2g}" for _ in range(bool(far.any()))]
    assert different == []


def test_names_of_links_and_joints_are_kept(usda: Usda, data: Path):
    model = usda.convert(data / ROBOTS["go2"]).model
    joints = {model.joint(k).name for k in range(model.njnt)}
    assert {f"{leg}_{part}_joint" for leg in ("FL", "FR", "RL", "RR") for part in ("hip", "thigh", "calf")} <= joints


def test_visual_and_collision_geoms_have_default_classes(usda: Usda, data: Path):
    made = usda.convert(data / ROBOTS["go2"])
    assert '<default class="visual">' in made.xml
    assert '<default class="collision">' in made.xml
    assert 'meshdir="assets"' in made.xml


def test_equal_meshes_are_one_file(usda: Usda):
    twins = [prim("Mesh", n, TETRAHEDRON, FACES) for n in ("left", "right")]
    made = usda.convert(lone(*twins))
    assert (made.model.nmesh, made.model.ngeom) == (1, 2)


def test_the_home_keyframe_holds_positions_and_controls(usda: Usda):
    made = usda.convert(arm(*GAINS, "float drive:angular:physics:targetPosition = 30", **DRIVEN))
    key = made.model.key("home")
    assert key.qpos == pytest.approx([0.0])
    assert key.ctrl == pytest.approx([0.5235988])


def test_nominal_damping_is_the_drives_own(usda: Usda):
    assert usda.convert(arm(*GAINS, **DRIVEN)).model.actuator("elbow").biasprm[2] == pytest.approx(-114.591559)


def test_physx_fidelity_adds_what_an_implicit_position_step_damps(usda: Usda):
    made = usda.convert(arm(*GAINS, **DRIVEN), lowering={"fidelity": "physx", "timestep": 0.005})
    kp, kd, n = 572.957795, 114.591559, 4
    assert -made.model.actuator("elbow").biasprm[2] == pytest.approx(kd + (n + 1) / (2 * n) * 0.005 * kp, rel=1e-7)
    assert step_damping(Drive(stiffness=kp, damping=kd), step_s=0.005, iterations=n) == pytest.approx(
        kd + 0.625 * 0.005 * kp
    )


def test_physx_fidelity_has_stiff_contacts_and_an_elliptic_cone(usda: Usda):
    made = usda.convert(arm(), lowering={"fidelity": "physx", "timestep": 0.005})
    assert made.model.geom_solref[0] == pytest.approx([0.01, 1])
    assert (made.model.opt.cone, made.model.opt.impratio) == (1, 10)


def test_the_standards_contact_formula_is_written_with_a_warning(usda: Usda):
    made = usda.convert(arm(), lowering={"contact_model": "standard"})
    assert "E031" in made.codes
    assert made.model.geom_solref[0][0] == pytest.approx((0.02 * 1000) ** 0.5)


@pytest.mark.parametrize(
    ("preset", "step", "iterations", "integrator"), [("training", 0.002, 50, 3), ("validation", 0.001, 100, 2)]
)
def test_the_standards_solver_presets(usda: Usda, preset: str, step: float, iterations: int, integrator: int):
    option = usda.convert(arm(), lowering={"solver": preset}).model.opt
    assert (option.timestep, option.iterations, option.integrator) == (step, iterations, integrator)


def test_substeps_divide_the_time_step(usda: Usda):
    assert usda.convert(arm(), lowering={"timestep": 0.005, "substeps": 4}).model.opt.timestep == pytest.approx(0.00125)


@pytest.mark.parametrize(("choice", "loss"), [("dynamic", 0.2), ("static", 0.3), ("off", 0.0)])
def test_joint_friction_is_the_one_asked_for(usda: Usda, choice: str, loss: float):
    lines = (
        "float physxJointAxis:angular:staticFrictionEffort = 0.3",
        "float physxJointAxis:angular:dynamicFrictionEffort = 0.2",
    )
    made = usda.convert(arm(*lines, apis=("PhysxJointAxisAPI:angular",)), lowering={"joint_friction": choice})
    assert made.model.dof_frictionloss[0] == pytest.approx(loss)


def test_the_scene_file_loads_with_ground_and_light(usda: Usda, data: Path):
    import mujoco

    made = usda.convert(data / ROBOTS["go2"], write={"scene": True})
    scene = mujoco.MjModel.from_xml_path(str(made.result.target.with_name("robot_scene.xml")))
    assert scene.nlight == 1
    assert scene.geom("ground").type[0] == mujoco.mjtGeom.mjGEOM_PLANE
    assert scene.nbody == made.model.nbody


def test_a_ground_is_written_only_when_asked_for(usda: Usda):
    def grounds(made: Converted) -> bool:
        return 'name="ground"' in made.xml

    assert not grounds(usda.convert(lone(prim("Cube", "c", apis=(COLLIDER,)))))
    assert grounds(usda.convert(lone(prim("Cube", "c", apis=(COLLIDER,))), write={"ground": True}))


def test_a_velocity_limit_is_kept_for_the_simulator_and_counted_as_lost(usda: Usda):
    made = usda.convert(arm("float physxJointAxis:angular:maxJointVelocity = 90", apis=("PhysxJointAxisAPI:angular",)))
    assert made.result.fidelity.row("velocity limits").lost == 1
    assert "elbow=1.57" in bytes(made.model.text_data).decode()
    assert "CDATA" not in made.xml  # MuJoCo 3.4 finds no text in it


def test_a_moving_link_of_mujocos_dialect_with_nothing_to_weigh_gets_the_smallest_mass(usda: Usda):
    # dm_control's fish: its ellipsoids are lost on the way to USD, and its tail is left without mass
    text = stage(
        robot(
            body("base", cube("c0"), "float physics:mass = 1", "float3 physics:diagonalInertia = (1, 1, 1)"),
            prim("Xform", "tail", apis=("PhysicsRigidBodyAPI",)),
            joint("Revolute", "j", "base", "tail", apis=("MjcJointAPI",)),
        )
    )
    made = usda.convert(text)
    assert made.model.body("tail").mass[0] == 1e-6
    assert "E004" in made.codes
