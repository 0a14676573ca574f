"""The fitted robot as an MJCF that plain MuJoCo opens, saying in itself what was fitted."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from isaaclab_mirror.calibration.calibrate import Calibration
from isaaclab_mirror.calibration.parameters import Kind, fitted
from isaaclab_mirror.diagnostics import Diagnostics, Fidelity, InputError
from isaaclab_mirror.files import move_into_place, staging_folder
from isaaclab_mirror.formats.mjcf.writer import write_mjcf
from isaaclab_mirror.formats.options import WriteOptions
from isaaclab_mirror.formats.registry import Format, format_of
from isaaclab_mirror.physics import options as opt
from isaaclab_mirror.sims.mujoco_model import lowered_robot

TEXT = "isaaclab_mirror_calibration"
"""Name of the custom text in the file."""


def write_fitted(calibration: Calibration, target: Path, write: WriteOptions | None = None) -> list[Path]:
    """The file and its assets, complete or not there at all; the files written, the target first."""
    if format_of(target) is not Format.MJCF:
        raise InputError("E037", target, "a fitted robot is written as MJCF", "write .xml or .mjcf")
    settings = replace(calibration.settings, ground=None)
    lowered = lowered_robot(calibration.robot, opt.Fidelity.PHYSX, settings, visuals=True)
    lowered = fitted(lowered, calibration.parameters, calibration.x)
    with staging_folder(target) as folder:
        staged = folder / target.name
        files = write_mjcf(lowered, staged, write or WriteOptions(), Diagnostics(), Fidelity())
        staged.write_text(_explained(staged.read_text(encoding="utf-8"), calibration), encoding="utf-8")
        _check(staged)
        return move_into_place(files, folder, target)


def _explained(text: str, calibration: Calibration) -> str:
    """With a comment for people and a custom text for programs behind the opening tag."""
    kinds = ", ".join(dict.fromkeys(str(kind) for kind in Kind if any(p.kind is kind for p in calibration.parameters)))
    before, after = (1e3 * value for value in calibration.gap(held_out=True))
    summary = f"held-out gap to PhysX {before:.4g} to {after:.4g} mrad rms, from fidelity physx"
    lines = [
        "Calibrated by isaaclab-mirror against PhysX.",
        f"Fitted: {kinds}. Masses, geometry, limits and effort bounds are as the source states them.",
        summary[0].upper() + summary[1:] + ".",
    ]
    if any(p.kind is Kind.FRICTION for p in calibration.parameters):
        lines.append("solref, solimp and friction of the colliders hold on any floor: they have priority.")
    comment = "\n".join(f"    {line}" for line in lines).replace("--", "- -")
    custom = f'  <custom>\n    <text name="{TEXT}" data="{kinds}; {summary}"/>\n  </custom>\n'
    return re.sub(
        r"(<mujoco\b[^>]*>\n?)", lambda tag: f"{tag.group(1)}  <!--\n{comment}\n  -->\n{custom}", text, count=1
    )


def _check(file: Path) -> None:
    """Plain MuJoCo opens it."""
    import mujoco

    try:
        mujoco.MjModel.from_xml_path(str(file))
    except ValueError as error:
        raise InputError("E033", file.name, f"MuJoCo does not open it: {' '.join(str(error).split())[:300]}") from None
