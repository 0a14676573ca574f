"""Curves and a film of one policy in both engines, side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.report.plots import MOST_JOINTS, MUJOCO, PHYSX, TARGET

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isaaclab_mirror.comparison.policies import PolicyComparison, Side
    from isaaclab_mirror.traces import Trace

    Array = NDArray[Any]

NOISE = "#999999"
BASE = (("root_com_lin_vel_w", 0, "forward [m/s]"), ("root_com_lin_vel_w", 1, "sideways [m/s]"))
BASE += (("root_ang_vel_w", 2, "turning [rad/s]"),)


def draw_comparison(result: PolicyComparison, folder: Path) -> list[Path]:
    """PNG files: how far the same actions take the engines apart, the joints, the torques, the base's velocity."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = [_divergence(result, folder / "divergence.png")]
    joints = _furthest(result.physx.trace, result.open_trace)
    open_sides = (("PhysX", PHYSX, result.physx.trace), ("MuJoCo, PhysX's actions", MUJOCO, result.open_trace))
    drawn.append(_joints(open_sides, joints, "joint_pos", "joint_target", folder / "joint_positions.png"))
    drawn.append(_joints(open_sides, joints, "joint_torque", None, folder / "joint_torques.png"))
    if result.physx.episodes[0].mean_lin_vel_b:
        drawn.append(_base((result.physx, result.mujoco), folder / "base_velocity.png"))
    return drawn


def _figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] * columns, size[1] * rows + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False).ravel()


def _save(figure: Any, title: str, file: Path) -> Path:
    figure.suptitle(title, fontsize=10)
    figure.savefig(file, dpi=110)
    return file


def _divergence(result: PolicyComparison, file: Path) -> Path:
    figure, axes = _figure(1, 1, (7.0, 3.6))
    axis = axes[0]
    axis.semilogy(result.open_loop.time_s, result.open_loop.joint_rms_rad, color=MUJOCO, label="MuJoCo from PhysX")
    if result.noise is not None:
        axis.semilogy(result.noise.time_s, result.noise.joint_rms_rad, color=NOISE, label="PhysX from itself (noise)")
    axis.set_xlabel("time [s]")
    axis.set_ylabel("joints, rms [rad or m]")
    axis.legend(fontsize=8)
    axis.grid(alpha=0.3, which="both", lw=0.4)
    return _save(figure, f"The same actions in both engines, fidelity {result.fidelity}", file)


def _furthest(one: Trace, other: Trace) -> list[str]:
    """Names of the joints that are furthest apart, in the policy's order."""
    import numpy as np

    steps = min(len(one.arrays["reward"]), len(other.arrays["reward"]))
    apart = np.abs(one.in_order(one.joint_names)[:steps] - other.in_order(one.joint_names)[:steps])
    size = np.nan_to_num(apart).mean(axis=(0, 1))
    return [one.joint_names[k] for k in sorted(np.argsort(-size)[:MOST_JOINTS].tolist())]


def _joints(
    sides: tuple[tuple[str, str, Trace], ...], names: list[str], array: str, target: str | None, file: Path
) -> Path:
    """One panel per joint, of the first episode."""
    import numpy as np

    columns = min(3, len(names))
    figure, axes = _figure(-(-len(names) // columns), columns, (4.4, 2.1))
    for axis, name in zip(axes, names, strict=False):
        for label, colour, trace in sides:
            values = trace.joint(name, array)[:, 0]
            axis.plot(np.arange(len(values)) * trace.step_dt, values, color=colour, lw=1.1, label=label)
        if target is not None:
            wanted = sides[0][2].joint(name, target)[:, 0]
            axis.plot(
                np.arange(len(wanted)) * sides[0][2].step_dt, wanted, color=TARGET, lw=0.6, ls=":", label="target"
            )
        axis.set_title(name, fontsize=8)
        axis.tick_params(labelsize=7)
    for axis in axes[len(names) :]:
        axis.set_visible(False)
    axes[0].legend(fontsize=6, loc="best")
    return _save(figure, f"{array.replace('_', ' ')}, first episode, the same actions", file)


def _base(sides: tuple[Side, Side], file: Path) -> Path:
    """Mean over the episodes of the velocity in the root's own axes, and their range."""
    import numpy as np

    figure, axes = _figure(1, len(BASE), (4.6, 2.8))
    for axis, (array, place, name) in zip(axes, BASE, strict=True):
        for side, colour in zip(sides, (PHYSX, MUJOCO), strict=True):
            values = _in_root_axes(side.trace, array)[..., place]
            running = np.isfinite(values).any(axis=1)
            time = np.arange(len(values))[running] * side.trace.step_dt
            values = values[running]
            label = {"physx": "PhysX", "mujoco": "MuJoCo"}[side.name]
            axis.plot(time, np.nanmean(values, axis=1), color=colour, lw=1.2, label=label)
            axis.fill_between(time, np.nanmin(values, axis=1), np.nanmax(values, axis=1), color=colour, alpha=0.15)
        command = sides[0].trace.arrays["command"][..., place]
        if np.isfinite(command).any():
            steps = np.isfinite(command).any(axis=1)
            times = np.arange(len(command))[steps] * sides[0].trace.step_dt
            axis.plot(times, np.nanmean(command[steps], axis=1), color=TARGET, ls=":", lw=0.9, label="command")
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("time [s]", fontsize=8)
    axes[0].legend(fontsize=7)
    return _save(figure, "Velocity of the base, the policy in the loop", file)


def _in_root_axes(trace: Trace, array: str) -> Array:
    """A world vector (steps, episodes, 3) in the root link's axes."""
    from isaaclab_mirror.sims.batched import rotate_back

    return rotate_back(trace.arrays["root_quat_wxyz"].astype(float), trace.arrays[array].astype(float))


def film_comparison(
    result: PolicyComparison, file: Path, episode: int = 0, progress: Callable[[float], None] | None = None
) -> None:
    """PhysX on the left, MuJoCo on the right, the policy in the loop; the shorter episode stays at its end."""
    import numpy as np

    from isaaclab_mirror.report.rasterizer import rasterize
    from isaaclab_mirror.report.video import LARGEST_RATE, Video
    from isaaclab_mirror.sims.filming import Filming

    sides = (result.physx, result.mujoco)
    every = max(1, round(1.0 / (LARGEST_RATE * result.physx.trace.step_dt)))
    lengths = [int(side.trace.lengths[episode]) for side in sides]
    video = Video(file, 1.0 / (every * result.physx.trace.step_dt))
    filming = Filming(result.robot, result.sim_settings, rasterize=rasterize)
    try:
        for step in range(0, max(lengths), every):
            pictures = [
                captioned(filming.picture(state_at(side.trace, min(step, length - 1), episode)), words)
                for side, length, words in zip(sides, lengths, _captions(result, step, lengths), strict=True)
            ]
            video.add(np.concatenate(pictures, axis=1))
            if progress is not None:
                progress((step + 1) / max(lengths))
        video.close()
    finally:
        video.discard()
        filming.close()


def _captions(result: PolicyComparison, step: int, lengths: list[int]) -> tuple[str, str]:
    names = ("PhysX", f"MuJoCo, {result.fidelity}")
    dt = result.physx.trace.step_dt
    ended = [f"   ended at {length * dt:.1f} s" if step >= length else "" for length in lengths]
    return (f"{names[0]}   {step * dt:.1f} s{ended[0]}", f"{names[1]}{ended[1]}")


def captioned(picture: NDArray[np.uint8], words: str) -> NDArray[np.uint8]:
    """The picture with a line of text at its top left."""
    import numpy as np
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(np.ascontiguousarray(picture))
    ImageDraw.Draw(image).text((12, 8), words, fill=(40, 40, 40), font=ImageFont.load_default(20))
    return np.asarray(image)


def state_at(trace: Trace, step: int, episode: int) -> Any:
    """What a picture needs of a state: the root and the joints of one moment."""
    from types import SimpleNamespace

    arrays = trace.arrays
    return SimpleNamespace(
        joint_names=trace.joint_names,
        joint_pos=arrays["joint_pos"][step, episode][None],
        root_pos_w=arrays["root_pos_w"][step, episode][None],
        root_quat_wxyz=arrays["root_quat_wxyz"][step, episode][None],
    )
