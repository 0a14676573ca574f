"""The robot of a contract from its file, read as the contract wants it: prim, variants, base."""

from __future__ import annotations

from pathlib import Path

from isaaclab_mirror.contract.contract import RobotSpec
from isaaclab_mirror.conversion import inspect_robot
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.formats.registry import Format, format_of
from isaaclab_mirror.robot.model import Robot


def read_options(spec: RobotSpec) -> ReadOptions:
    """How the robot's file is read for this contract. Its own folder is the asset root: layers may lie beside it."""
    return ReadOptions(variants=spec.variants, fix_base=spec.fix_base)


def load_robot_file(file: Path, spec: RobotSpec) -> Robot:
    """USD and URDF as they are; an MJCF as the robot that was trained in PhysX."""
    if format_of(file) is not Format.MJCF:
        return inspect_robot(file, read_options(spec))[0]
    from isaaclab_mirror.sims.mjcf_robot import mjcf_robot

    return mjcf_robot(file)
