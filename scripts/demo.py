"""What `make demo` runs: a policy trained on PhysX, compared in both engines; then robots converted and drawn."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
POLICY = ROOT / "data/policies/h1_velocity_flat"
TURN = ["--command", "0", "0", "1", "--seconds", "5"]
ROBOTS = (
    "ur5e/ur5e.usda",
    "anymal_c/anymal_c.usda",
    "unitree_g1/g1_urdf.usda",
    "leap_hand/leap_hand.usdc",
)


def demo(output: Path) -> int:
    """Everything below `output`; the exit code of the comparison."""
    begin = time.monotonic()
    code = mirror_policy(output / "h1_turn")
    for robot in ROBOTS:
        convert_robot(ROOT / "data" / robot, output)
    print(f"\nDone in {time.monotonic() - begin:.0f} s. Look into {output}:")
    print(f"  the film      {output / 'h1_turn/side_by_side.mp4'}")
    print(f"  the curves    {output / 'h1_turn/*.png'}")
    print(f"  the robots    {output / '*/*.png'}; open one: python -m mujoco.viewer --mjcf={output / 'ur5e/ur5e.xml'}")
    print("Next: .venv/bin/isaaclab-mirror replay RUN --viewer web   (RUN: your own Isaac Lab run folder)")
    return code


def title(text: str) -> None:
    """A line that separates."""
    print(f"\n{'=' * 100}\n{text}\n", flush=True)


def mirror_policy(folder: Path) -> int:
    """The published H1 policy, told to turn, in both engines."""
    from isaaclab_mirror.cli.main import main

    title("NVIDIA's H1 policy, trained on PhysX, told to turn: MuJoCo with the numbers as the config states them")
    main(["replay", str(POLICY), *TURN, "--fidelity", "nominal"])
    if has_physx():
        title("The same policy in PhysX, and in MuJoCo with the numbers of fidelity physx")
        return main(["compare", str(POLICY), *TURN, "--episodes", "2", "--report", str(folder)])
    title("The same in MuJoCo with the numbers of fidelity physx. PhysX is not installed here: only this half is shown")
    film = folder / "side_by_side.mp4"
    folder.mkdir(parents=True, exist_ok=True)
    return main(["replay", str(POLICY), *TURN, "--video", str(film), "--trace", str(folder / "mujoco.npz")])


def has_physx() -> bool:
    """Whether the extra `physx` is installed."""
    import importlib.util

    return importlib.util.find_spec("ovphysx") is not None


def convert_robot(source: Path, output: Path) -> None:
    """To MJCF and URDF, with what came through, and a picture."""
    from isaaclab_mirror import convert
    from isaaclab_mirror.cli.output import print_diagnostics, print_fidelity
    from isaaclab_mirror.diagnostics import Severity
    from isaaclab_mirror.report.render import Shown, render_file

    folder = output / source.parent.name
    for suffix in (".xml", ".urdf"):
        result = convert(source, folder / f"{source.stem}{suffix}")
        title(f"{source.relative_to(ROOT)} → {result.target}  ({result.seconds:.2f} s)")
        print_fidelity(result.fidelity)
        print_diagnostics(found for found in result.diagnostics if found.severity != Severity.INFO)
    picture = folder / f"{source.stem}.png"
    drawn_by = render_file(folder / f"{source.stem}.xml", picture, shown=(Shown.VISUAL, Shown.COLLISION))
    print(f"\npicture: {picture}, visual and collision geometry, drawn by {drawn_by}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/demo"))
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    from isaaclab_mirror.report.render import settle_gl

    settle_gl()
    raise SystemExit(demo(parser.parse_args().output))
