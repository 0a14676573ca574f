"""
Utility to convert a USD into MJCF or URDF format, with the converters for Isaac Lab.

The suffix of the output chooses the format. Nothing is converted if an earlier conversion to the same output still
holds; ``--force`` converts in any case. Without Isaac Lab, ``isaaclab-mirror convert`` does the same conversion.

positional arguments:
  input               The path to the input USD file.
  output              The path to store the MJCF (.xml, .mjcf) or URDF (.urdf) file.

Run with ``--help`` for the options.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

MJCF_ONLY = ("fidelity", "contact_model", "timestep", "substeps", "solver", "scene", "ground")
URDF_ONLY = ("package", "transmissions")


def make_parser() -> argparse.ArgumentParser:
    """The arguments. What is not given is not in the result, so that defaults stand in the configuration alone."""
    parser = argparse.ArgumentParser(
        description="Utility to convert a USD into MJCF or URDF format.", argument_default=argparse.SUPPRESS
    )
    parser.add_argument("input", type=Path, help="The path to the input USD file.")
    parser.add_argument("output", type=Path, help="The path to store the MJCF (.xml, .mjcf) or URDF (.urdf) file.")
    both = parser.add_argument_group("both formats")
    both.add_argument("--force", dest="force_usd_conversion", action="store_true", help="Convert in any case.")
    both.add_argument("--prim", help="The prim that holds the robot.")
    both.add_argument("--variant", action="append", metavar="SET=NAME", help="A variant to read. May be repeated.")
    both.add_argument(
        "--fix_base", "--fix-base", action=argparse.BooleanOptionalAction, help="Fix the base to the world, or free it."
    )
    both.add_argument("--d6", choices=["ball", "hinges"], help="What a joint with three free rotations becomes.")
    both.add_argument(
        "--world_joint", "--world-joint", choices=["keep", "weld"], help="What a movable joint to the world becomes."
    )
    both.add_argument("--joint_friction", "--joint-friction", choices=["dynamic", "static", "off"])
    both.add_argument("--mesh_format", "--mesh-format", choices=["auto", "stl", "obj"])
    both.add_argument("--allow_outside", "--allow-outside", action="store_true", help="Follow absolute paths.")
    both.add_argument("--no_visuals", "--no-visuals", dest="visuals", action="store_false", help="Colliders alone.")
    both.add_argument("--strict", action="store_true", help="Treat a warning as an error.")
    mjcf = parser.add_argument_group("MJCF")
    mjcf.add_argument("--fidelity", choices=["nominal", "physx", "emulate"], help="Which numbers the file carries.")
    mjcf.add_argument("--contact_model", "--contact-model", choices=["auto", "mujoco", "measured", "standard"])
    mjcf.add_argument("--timestep", type=float, help="The time step of PhysX (in s).")
    mjcf.add_argument("--substeps", type=int, help="MuJoCo steps in a step of PhysX.")
    mjcf.add_argument("--solver", choices=["source", "training", "validation"])
    mjcf.add_argument("--scene", action="store_true", help="Also write scene.xml, with ground and light.")
    mjcf.add_argument("--ground", action="store_true", help="Add a ground plane to the robot file.")
    urdf = parser.add_argument_group("URDF")
    urdf.add_argument("--package", help="Spell mesh paths package://PACKAGE/…")
    urdf.add_argument(
        "--no_transmissions", "--no-transmissions", dest="transmissions", action="store_false", help="No drives."
    )
    return parser


def parse(arguments: list[str] | None = None) -> tuple[str, dict[str, Any]]:
    """The format, and the fields of its configuration."""
    parser = make_parser()
    fields = vars(parser.parse_args(arguments))
    source, output = fields.pop("input").absolute(), fields.pop("output").absolute()
    kind = {".xml": "Mjcf", ".mjcf": "Mjcf", ".urdf": "Urdf"}.get(output.suffix)
    if kind is None:
        parser.error(f"the output must end in .xml, .mjcf or .urdf, but is {output.name}")
    if not source.is_file():
        parser.error(f"no such file: {source}")
    for name in fields.keys() & set(URDF_ONLY if kind == "Mjcf" else MJCF_ONLY):
        parser.error(f"the option for {name} does not apply to {output.suffix}")
    variants = [variant.partition("=") for variant in fields.pop("variant", [])]
    if not all(name and sign and choice for name, sign, choice in variants):
        parser.error("--variant must be SET=NAME")
    fields["variants"] = {name: choice for name, _, choice in variants}
    fields.update(asset_path=str(source), usd_dir=str(output.parent), usd_file_name=output.name)
    return kind, fields


def start_kit_if_needed() -> Any:
    """The simulation app, on an Isaac Lab whose converters cannot be imported without it (2.x); else None."""
    from isaaclab import app

    return None if hasattr(app, "launch_simulation") else app.AppLauncher(headless=True).app


def convert(kind: str, fields: dict[str, Any]) -> int:
    """Convert, and print what came of it."""
    from isaaclab_mirror import isaaclab
    from isaaclab_mirror.diagnostics import InputError

    name = f"UsdTo{kind}Converter"
    try:
        converter = getattr(isaaclab, name)(getattr(isaaclab, f"{name}Cfg")(**fields))
    except (InputError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"Generated {kind.upper()} file: {converter.usd_path}")
    print(f"{'concept':24} {'kept':>6} {'approx.':>8} {'lost':>6}  note")
    for row in converter.report:
        print(f"{row.concept:24} {row.kept:6} {row.approximated:8} {row.lost:6}  {row.note}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Convert as the command line asks."""
    kind, fields = parse(arguments)  # first: --help and a wrong option need no Isaac Lab
    simulation_app = start_kit_if_needed()
    try:
        return convert(kind, fields)
    finally:
        if simulation_app is not None:
            simulation_app.close()


if __name__ == "__main__":
    sys.exit(main())
