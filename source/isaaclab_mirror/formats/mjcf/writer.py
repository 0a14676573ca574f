"""Lowered → MJCF, through mujoco.MjSpec."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity, InputError, Source
from isaaclab_mirror.formats.mjcf.assets import FOLDER, Assets
from isaaclab_mirror.formats.mjcf.bodies import BodyWriter
from isaaclab_mirror.formats.mjcf.controls import (
    write_actuator,
    write_contacts,
    write_custom,
    write_equality,
    write_keyframes,
    write_options,
    write_tendon,
)
from isaaclab_mirror.formats.mjcf.scene import scene_text
from isaaclab_mirror.formats.mjcf.spec import in_own_memory, set_full_precision, without_noise
from isaaclab_mirror.formats.options import WriteOptions
from isaaclab_mirror.physics.lowered import Lowered
from isaaclab_mirror.robot.model import Robot

SMALLEST_MASS_KG = 1e-6
"""What the conversion standard gives a link without mass."""
SMALLEST_MOMENT_KGM2 = 1e-9
MANY_LINKS = 500
"""From here on, where MjSpec's elements lie in memory decides how long they take to add."""
DEEPEST = 496
"""Bodies inside each other that MuJoCo's XML reader takes: its parser stops at 500 elements. Measured, 3.4 to 4.0.1."""


def build_spec(
    lowered: Lowered, folder: Path, options: WriteOptions, found: Diagnostics, fidelity: Fidelity
) -> tuple[Any, list[Path]]:
    """The robot as an MjSpec whose assets stand in `folder`; also the files written."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.modelname = lowered.robot.name
    spec.comment = (
        f" Written by isaaclab-mirror; fidelity {lowered.options.fidelity.value}; "
        f"from {lowered.robot.source.file.name if lowered.robot.source else 'a model'} "
    )
    spec.compiler.degree = False
    spec.modelfiledir = str(folder)
    spec.meshdir = FOLDER
    spec.texturedir = FOLDER
    write_options(spec, lowered, found)
    assets = Assets(spec, folder, lowered.robot, options.mesh_format, found)
    assets.add_materials(fidelity)
    BodyWriter(spec, lowered, assets, found, fidelity).write()
    if options.ground:
        _add_ground(spec)
    for tendon in lowered.robot.tendons:
        write_tendon(spec, tendon)
    fidelity.kept("tendons", len(lowered.robot.tendons))
    for actuator in lowered.actuators:
        write_actuator(spec, actuator)
    for equality in lowered.equalities:
        write_equality(spec, equality)
    write_contacts(spec, lowered)
    write_keyframes(spec, lowered, found, fidelity)
    write_custom(spec, lowered)
    return spec, assets.files


def _add_ground(spec: Any) -> None:
    import mujoco

    spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])


def write_mjcf(
    lowered: Lowered, target: Path, options: WriteOptions, found: Diagnostics, fidelity: Fidelity
) -> list[Path]:
    """Write the file and its assets beside it; the files written, the target first."""
    if not lowered.robot.links:
        raise InputError("E013", target, "there is no link to write")
    _refuse_depth(lowered.robot)

    def write() -> list[Path]:
        return _write(lowered, target, options, found, fidelity)

    written = in_own_memory(write) if len(lowered.robot.links) > MANY_LINKS else write()
    if options.scene:
        scene = target.with_name(f"{target.stem}_scene{target.suffix}")
        scene.write_text(scene_text(lowered, target.name), encoding="utf-8")
        written.append(scene)
    return written


def _write(lowered: Lowered, target: Path, options: WriteOptions, found: Diagnostics, fidelity: Fidelity) -> list[Path]:
    """The robot's own file and its assets."""
    spec, files = build_spec(lowered, target.parent, options, found, fidelity)
    try:
        _compile(spec, lowered.robot, found)
    except ValueError as error:
        why = f"MuJoCo cannot compile the robot: {_short(error, target.parent)}"
        raise InputError("E033", _place(lowered.robot, error), why, "look at the element it names") from None
    if not set_full_precision():
        found.warn("E034", "MuJoCo", "this build writes six digits only")
    target.write_text(without_noise(spec.to_xml()), encoding="utf-8")
    return [target, *files]


def _compile(spec: Any, robot: Robot, found: Diagnostics) -> None:
    """Compile; a moving link of which the source says no mass, and that has nothing to weigh, gets the smallest."""
    stated = {link.name: link.inertia is not None for link in robot.links}
    while True:
        try:
            spec.compile()
            return
        except ValueError as error:
            named = re.search(r"mass and inertia of moving bodies.*Element name '(.*)', id \d+", str(error), re.DOTALL)
            if named is None or stated.get(named.group(1), True):
                raise
        link = robot.link(named.group(1))
        stated[link.name] = True
        body = spec.body(link.name)
        body.explicitinertial = True
        body.mass = SMALLEST_MASS_KG
        body.inertia = [SMALLEST_MOMENT_KGM2] * 3
        body.ipos, body.iquat = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
        found.warn(
            "E004",
            str(link.source or link.name),
            f"a moving link without mass and without anything to weigh: written with {SMALLEST_MASS_KG:g} kg",
            "author physics:mass, or the geometry that was lost on the way to USD",
        )


def _refuse_depth(robot: Robot) -> None:
    """MuJoCo would compile a longer chain (in quadratic time) and write it, but not read its own file again."""
    deepest, depth = robot.longest_chain
    if depth > DEEPEST:
        raise InputError(
            "E033",
            deepest.source or deepest.name,
            f"a chain of {depth} links: MuJoCo's XML reader takes no more than {DEEPEST} inside each other",
            "write a .urdf, which is flat, or divide the robot",
        )


def _place(robot: Robot, error: ValueError) -> Source | str:
    """Where the element stands that MuJoCo names in an error: `Element name 'hand', id 3`."""
    found = re.search(r"Element name '(.*)', id \d+", str(error))
    named: dict[str, Source | None] = {}
    for element in (*robot.geoms, *robot.meshes, *robot.loops, *robot.mimics, *robot.axes(), *robot.links):
        named[element.name] = element.source
    return (named.get(found.group(1)) if found else None) or robot.source or robot.name


def _short(error: Exception, folder: Path) -> str:
    """On one line, without the folder in which the file is made."""
    return " ".join(str(error).replace(f"{folder}/", "").split())[:300]
