"""Convert every robot in data/ to MJCF and URDF, print what came through, and draw each. What `make demo` runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from isaaclab_mirror import convert
from isaaclab_mirror.cli.output import print_diagnostics, print_fidelity
from isaaclab_mirror.diagnostics import Severity
from isaaclab_mirror.report.render import Shown, render_file, settle_gl

DATA = Path(__file__).resolve().parents[1] / "data"
ROBOTS = (
    "ur5e/ur5e.usda",
    "anymal_c/anymal_c.usda",
    "unitree_go2/unitree_go2_physx.usda",
    "unitree_g1/g1_urdf.usda",
    "leap_hand/leap_hand.usdc",
    "cartpole/cartpole_physx.usda",
)


def demo(output: Path) -> None:
    """Everything below `output`, one folder per robot."""
    settle_gl()
    for robot in ROBOTS:
        source = DATA / robot
        folder = output / source.parent.name
        for suffix in (".xml", ".urdf"):
            result = convert(source, folder / f"{source.stem}{suffix}")
            print(f"\n{'=' * 100}\n{robot} → {result.target}  ({result.seconds:.2f} s)\n")
            print_fidelity(result.fidelity)
            print_diagnostics(found for found in result.diagnostics if found.severity != Severity.INFO)
        picture = folder / f"{source.stem}.png"
        drawn_by = render_file(folder / f"{source.stem}.xml", picture, shown=(Shown.VISUAL, Shown.COLLISION))
        print(f"\npicture: {picture}, visual and collision geometry, drawn by {drawn_by}")
    print(f"\nDone. Robots and pictures are in {output}; open one with: python -m mujoco.viewer --mjcf=FILE.xml")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/demo"))
    demo(parser.parse_args().output)
