"""`inspect FILE`: what is in a robot file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isaaclab_mirror.robot.joints import Axis, Joint
    from isaaclab_mirror.robot.model import Robot


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    from isaaclab_mirror.cli.arguments import add_read_arguments, add_set_arguments

    parser.add_argument("file", type=Path, metavar="FILE", help="robot file: .usd, .usda, .usdc, .usdz")
    add_read_arguments(parser)
    add_set_arguments(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result as JSON (docs/json.md)")


def run(args: argparse.Namespace) -> int:
    """Read, print, and say 0: what cannot be read has raised."""
    import os

    os.environ.setdefault("MUJOCO_GL", "disable")
    from isaaclab_mirror.cli.options import conversion_options
    from isaaclab_mirror.cli.output import print_diagnostics, print_table, write_json
    from isaaclab_mirror.conversion import inspect_robot

    robot, found, sources = inspect_robot(args.file, conversion_options(args).read)
    print_diagnostics(found)
    print(_headline(robot))
    print("\n".join(_tree(robot)))
    if rows := [_joint_row(joint, axis) for joint in robot.joints for axis in joint.axes]:
        print()
        header = ("joint", "type", "range", "stiffness", "damping", "max effort", "max velocity", "armature")
        print_table(header, rows, numbers=range(2, 8))
    print("\n" + _beside(robot))
    if args.json:
        write_json(
            args.json,
            "inspect",
            passed=True,
            diagnostics=found,
            robot=_summary(robot),
            sources=[str(f) for f in sources],
        )
    return 0


def _headline(robot: Robot) -> str:
    from isaaclab_mirror.cli.output import count

    base = "floating base" if any(joint.dofs == 6 and not joint.axes for joint in robot.roots) else "fixed base"
    parts = (count(len(robot.links), "link"), count(_moving(robot), "joint"), f"{robot.dofs} DOF", base)
    return f"{robot.name}: {', '.join(parts)}, {robot.mass_kg:.6g} kg"


def _moving(robot: Robot) -> int:
    return sum(1 for _ in robot.axes())


def _tree(robot: Robot) -> list[str]:
    """One line per link, indented below its parent; no recursion, as chains may be long."""
    depths: dict[str, int] = {}
    colliders: dict[str | None, int] = {}
    visuals: dict[str | None, int] = {}
    for geom in robot.geoms:
        if geom.collision is not None:
            colliders[geom.link] = colliders.get(geom.link, 0) + 1
        if geom.visible:
            visuals[geom.link] = visuals.get(geom.link, 0) + 1
    lines: list[str] = []
    for link in robot.links:
        joint = robot.joint_of(link.name)
        depth = depths[link.name] = 0 if joint.parent is None else depths.get(joint.parent, 0) + 1
        mass = "mass from its geometry" if link.inertia is None else f"{link.inertia.mass_kg:.6g} kg"
        counts = f"{visuals.get(link.name, 0)} visual, {colliders.get(link.name, 0)} colliding"
        lines.append(f"{'  ' * (depth + 1)}{link.name}  ({joint.type}; {mass}; {counts})")
    return lines


def _joint_row(joint: Joint, axis: Axis) -> tuple[str, ...]:
    drive = axis.drives[0] if axis.drives else None
    limits, dynamics = axis.limits, axis.dynamics
    return (
        axis.name,
        str(joint.type) if len(joint.axes) == 1 else f"{joint.type} ({axis.kind})",
        _range(limits.lower, limits.upper),
        _number(drive and drive.stiffness),
        _number(drive and drive.damping),
        _number(drive and drive.max_effort),
        _number(limits.velocity),
        _number(dynamics.armature),
    )


def _number(value: float | None) -> str:
    return "·" if value is None else f"{value:.5g}"


def _range(lower: float | None, upper: float | None) -> str:
    return "·" if lower is None and upper is None else f"{_number(lower)} … {_number(upper)}"


def _beside(robot: Robot) -> str:
    """What the robot has beside links and joints, counted."""
    return ", ".join(f"{name} {number}" for name, number in _counts(robot).items() if number) or "nothing else"


def _counts(robot: Robot) -> dict[str, int]:
    return {
        "drives": sum(len(axis.drives) for axis in robot.axes()),
        "actuators": len(robot.actuators),
        "visuals": sum(geom.visible for geom in robot.geoms),
        "colliders": sum(geom.collision is not None for geom in robot.geoms),
        "meshes": len(robot.meshes),
        "materials": len(robot.materials),
        "textures": len(robot.textures),
        "contact_materials": len(robot.contact_materials),
        "loops": len(robot.loops),
        "mimics": len(robot.mimics),
        "tendons": len(robot.tendons),
        "sites": len(robot.sites),
        "sensors": len(robot.sensors),
        "keyframes": len(robot.keyframes),
    }


def _summary(robot: Robot) -> dict[str, object]:
    """As `--json` writes it; SI units, radians."""
    return {
        "name": robot.name,
        "links": len(robot.links),
        "joints": _moving(robot),
        "dofs": robot.dofs,
        "mass_kg": robot.mass_kg,
        "dialect": robot.dialect,
        "tree": [_link_summary(robot, k) for k in range(len(robot.links))],
        "counts": _counts(robot),
    }


def _link_summary(robot: Robot, k: int) -> dict[str, object]:
    link = robot.links[k]
    joint = robot.joint_of(link.name)
    return {
        "link": link.name,
        "parent": joint.parent,
        "mass_kg": None if link.inertia is None else link.inertia.mass_kg,
        "joint": joint.name,
        "type": str(joint.type),
        "axes": [_axis_summary(axis) for axis in joint.axes],
    }


def _axis_summary(axis: Axis) -> dict[str, object]:
    return {
        "name": axis.name,
        "kind": str(axis.kind),
        "lower": _finite(axis.limits.lower),
        "upper": _finite(axis.limits.upper),
        "velocity": _finite(axis.limits.velocity),
        "drives": [
            {
                "stiffness": _finite(drive.stiffness),
                "damping": _finite(drive.damping),
                "max_effort": _finite(drive.max_effort),
                "type": str(drive.type),
            }
            for drive in axis.drives
        ],
    }


def _finite(value: float | None) -> float | None:
    """JSON has no infinity: no bound is null."""
    return value if value is not None and abs(value) != float("inf") else None
