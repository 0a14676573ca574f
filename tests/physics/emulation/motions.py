"""Motions that PhysX was recorded in: `python -m tests.physics.emulation.motions` writes data/golden/emulation.npz."""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.parity_robots import LEGS, STAND, Gains, arm_mjcf, box_mjcf, quadruped_mjcf, usda
from benchmarks.parity_runs import Motion, Run, physx
from isaaclab_mirror.robot.joints import Axis, Joint
from isaaclab_mirror.robot.materials import CombineMode, ContactMaterial
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.robots import load_robot
from isaaclab_mirror.sims.settings import Ground, resolve_settings

GOLDEN = Path(__file__).parents[3] / "data" / "golden" / "emulation.npz"
LEG_JOINTS = tuple(f"{leg}_{part}_joint" for leg in LEGS for part in ("hip", "thigh", "calf"))
ARM_JOINTS = tuple(f"j{k}" for k in range(6))


def loaded(text: str) -> Robot:
    """A stage's robot; the file stays, PhysX opens it again."""
    file = Path(tempfile.mkdtemp(prefix="isaaclab_mirror_motion_")) / "robot.usda"
    file.write_text(text, encoding="utf-8")
    return load_robot(file)


def with_axes(robot: Robot, change: Callable[[Axis], Axis]) -> Robot:
    """Every axis changed."""

    def of(joint: Joint) -> Joint:
        return replace(joint, axes=tuple(change(axis) for axis in joint.axes))

    return replace(robot, joints=tuple(of(joint) for joint in robot.joints))


def with_links(robot: Robot, **numbers: Any) -> Robot:
    """Every link with these numbers."""
    return replace(robot, links=tuple(replace(link, **numbers) for link in robot.links))


def settings(robot: Robot, **stated: Any) -> Any:
    """200 Hz, N 4, external forces once, nothing to touch, unless stated."""
    numbers: dict[str, Any] = {
        "timestep_s": 0.005,
        "position_iterations": 4,
        "velocity_iterations": 0,
        "external_forces_every_iteration": False,
    }
    return resolve_settings(robot, **{**numbers, **stated})


def plane(**numbers: Any) -> Ground:
    """A plane whose material multiplies the robot's."""
    material = {"static_friction": 1.0, "dynamic_friction": 1.0, "friction_combine": CombineMode.MULTIPLY, **numbers}
    return Ground(material=ContactMaterial(name="ground", **material))


def arm(
    name: str,
    change: Callable[[Robot], Robot] | None = None,
    *,
    bound: float = math.inf,
    acceleration: bool = False,
    gains: float = 1.0,
    effort: float = 0.0,
    limit_rad: float | None = None,
    swing: float = 1.0,
    **stated: Any,
) -> Motion:
    """Six driven links on sinusoids, or (`effort`) under explicit sinusoids."""
    scale = gains * (8.0 if acceleration else 1.0)
    drives = {
        name_: Gains(
            stiffness=400 * scale * 0.55**k,
            damping=20 * scale * 0.55**k,
            effort=bound * 0.6**k,
            acceleration=acceleration,
        )
        for k, name_ in enumerate(ARM_JOINTS)
    }
    robot = loaded(usda(arm_mjcf(2, heaviest=1.0, limit_rad=limit_rad), drives))
    robot = change(robot) if change else robot
    rng = np.random.default_rng(2)
    hertz, phase, size = rng.uniform(0.5, 1.7, 6), rng.uniform(0, 2 * math.pi, 6), rng.uniform(0.3, 0.7, 6) * swing
    pushes = effort * 0.6 ** np.arange(6)
    return Motion(
        name=name,
        robot=robot,
        settings=settings(robot, **stated),
        joints=ARM_JOINTS,
        start=np.clip(size * np.sin(phase), -(limit_rad or 9.0), limit_rad or 9.0),
        targets=lambda t: size * np.sin(2 * math.pi * hertz * t + phase),
        efforts=(lambda t: pushes * np.sin(2 * math.pi * hertz * t)) if effort else None,
        seconds=2.0,
    )


def quadruped(
    name: str, gains: tuple[float, float], *, trot: bool, friction: tuple[float, float], **stated: Any
) -> Motion:
    """Stance from 5 cm, or an open-loop trot."""
    drive = Gains(stiffness=gains[0], damping=gains[1], effort=23.5)
    text = usda(quadruped_mjcf(), dict.fromkeys(LEG_JOINTS, drive), friction=friction[1], static_friction=friction[0])
    robot = loaded(text)
    rest = np.array(STAND)

    def targets(t: float) -> Any:
        q = rest.copy()
        for k, leg in enumerate(LEGS):
            phase = (2.0 * t + (0.0 if leg in ("FL", "RR") else 0.5)) % 1.0
            up = math.sin(2 * math.pi * phase) if phase < 0.5 else 0.0
            q[3 * k + 1] += 0.2 * up + 0.1 * math.cos(2 * math.pi * (phase if phase >= 0.5 else phase + 0.5))
            q[3 * k + 2] -= 0.4 * up
        return q

    return Motion(
        name=name,
        robot=robot,
        settings=settings(robot, ground=plane(), **stated),
        joints=LEG_JOINTS,
        start=rest,
        targets=targets if trot else (lambda t: rest),
        seconds=1.5,
        height_m=0.31 if trot else 0.36,
    )


def solid(
    name: str, text: str, height_m: float, spin: tuple[float, float, float], change: Any = None, **stated: Any
) -> Motion:
    """One body thrown."""
    robot = loaded(usda(text, {}))
    robot = change(robot) if change else robot
    return Motion(
        name=name,
        robot=robot,
        settings=settings(robot, **stated),
        joints=(),
        start=np.zeros(0),
        targets=lambda t: np.zeros(0),
        seconds=0.6,
        height_m=height_m,
        push=((0.5, 0.1, 0.0), spin),
    )


def table_mjcf() -> str:
    """A body on four spheres, of which two pairs touch at once."""
    feet = ""
    for k in range(4):
        angle = k * (math.pi / 2 + 0.3)
        x, y = 0.1 * math.cos(angle), 0.1 * math.sin(angle)
        feet += f'<geom name="s{k}" type="sphere" size=".02" pos="{x:.5f} {y:.5f} -.05"/>'
    inertial = '<inertial pos="0 0 0" mass="2" diaginertia=".008 .009 .01"/>'
    return f'<mujoco><worldbody><body name="base"><freejoint name="root"/>{inertial}{feet}</body></worldbody></mujoco>'


def rough(axis: Axis) -> Axis:
    """With joint friction."""
    return replace(axis, dynamics=replace(axis.dynamics, static_friction=0.6, friction=0.3, damping=0.1))


def slow(axis: Axis) -> Axis:
    """With a velocity limit."""
    return replace(axis, limits=replace(axis.limits, velocity=1.2))


MOTIONS: dict[str, Callable[[], Motion]] = {
    "arm": lambda: arm("arm"),
    "arm, every iteration": lambda: arm("arm, every iteration", external_forces_every_iteration=True),
    "arm, N 1": lambda: arm("arm, N 1", position_iterations=1),
    "acceleration drives": lambda: arm("acceleration drives", acceleration=True),
    "bounded drives": lambda: arm("bounded drives", bound=8.0),
    "explicit efforts": lambda: arm("explicit efforts", gains=0.3, effort=12.0),
    "bounded efforts": lambda: arm("bounded efforts", gains=0.3, effort=12.0, bound=10.0),
    "joint friction": lambda: arm("joint friction", lambda r: with_axes(r, rough)),
    "joint limits": lambda: arm("joint limits", limit_rad=0.3, swing=1.2, velocity_iterations=1),
    "velocity limits": lambda: arm("velocity limits", lambda r: with_axes(r, slow)),
    "damped links": lambda: arm("damped links", lambda r: with_links(r, linear_damping=0.5, angular_damping=0.5)),
    "slow links": lambda: arm("slow links", lambda r: with_links(r, max_angular_velocity=2.0)),
    "stance": lambda: quadruped("stance", (25.0, 0.5), trot=False, friction=(1.0, 1.0)),
    "trot": lambda: quadruped("trot", (60.0, 2.0), trot=True, friction=(1.0, 1.0)),
    "slippery trot": lambda: quadruped("slippery trot", (60.0, 2.0), trot=True, friction=(0.8, 0.5)),
    "trot, velocity iterations": lambda: quadruped(
        "trot, velocity iterations", (60.0, 2.0), trot=True, friction=(1.0, 1.0), velocity_iterations=2
    ),
    "thrown sphere": lambda: solid("thrown sphere", box_mjcf(shape="sphere"), 0.15, (0.3, 1.0, 0.2), ground=plane()),
    "thrown box": lambda: solid("thrown box", box_mjcf((0.1, 0.08, 0.06)), 0.11, (0.3, 1.0, 0.2), ground=plane()),
    "thrown cylinder": lambda: solid(
        "thrown cylinder", box_mjcf((0.08, 0.06, 0.08), shape="cylinder"), 0.11, (0.3, 1.0, 0.2), ground=plane()
    ),
    "thrown table": lambda: solid("thrown table", table_mjcf(), 0.12, (0.3, 1.0, 0.2), ground=plane()),
    "spinning box": lambda: solid("spinning box", box_mjcf((0.1, 0.08, 0.06)), 1.0, (0.1, 5.0, 0.1)),
}


def kept(run: Run) -> dict[str, Any]:
    """What the file holds of a run."""
    return {
        "joint_pos": run.joint_pos.astype(np.float32),
        "root": np.concatenate([run.root_pos, run.root_quat], axis=1).astype(np.float32),
        "force": run.force.astype(np.float32),
    }


def main() -> None:
    """Record PhysX: everything, or those that are named."""
    arrays: dict[str, Any] = dict(np.load(GOLDEN)) if sys.argv[1:] else {}
    for name in sys.argv[1:] or list(MOTIONS):
        make = MOTIONS[name]
        motion = make()
        lift = 1e-6 if motion.height_m is None else 1e-5
        truth, noise = kept(physx(motion)), kept(physx(motion, lift))
        arrays |= {f"{name}/{key}": value for key, value in truth.items()}
        apart = [
            float(np.sqrt(((noise[k] - truth[k]) ** 2).mean())) if truth[k].size else 0.0 for k in ("joint_pos", "root")
        ]
        arrays[f"{name}/noise"] = np.array(apart)
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(GOLDEN, **arrays)


if __name__ == "__main__":
    main()
