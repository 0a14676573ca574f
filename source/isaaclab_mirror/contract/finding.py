"""Which files belong to a run: the policy, and the robot that its config names."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from isaaclab_mirror.contract.contract import PolicyKind, PolicySpec
from isaaclab_mirror.diagnostics import Diagnostics, InputError

EXPORTED = ("exported/policy.onnx", "exported/policy.pt", "policy.onnx", "policy.pt", "policy.jit")
NUMBERED = (
    r"model_(\d+)\.pt",
    r"checkpoints/agent_(\d+)\.pt",
    r"checkpoints/model_(\d+)_steps\.zip",
    r"model_(\d+)_steps\.zip",
)
"""Checkpoints; of each kind the highest number counts."""
NAMED = ("checkpoints/best_agent.pt", "best_agent.pt", "model.zip")
GLOBS = ("*.onnx", "*.pt", "*.jit", "nn/*.pth", "*.pth")
ROBOT_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz", ".urdf", ".xml", ".mjcf")
ASSET_VARIABLES = ("ISAACLAB_MIRROR_ASSETS", "ISAACSIM_ASSET_ROOT", "ISAAC_NUCLEUS_DIR")
LARGEST_MEMBER = 4096


def find_policy(folder: Path, names: Iterable[str] = ()) -> Path | None:
    """The policy in a run folder: named by its config, exported, the newest checkpoint, or the only one."""
    for name in (*names, *EXPORTED):
        if (file := folder / name).is_file():
            return file
    for pattern in NUMBERED:
        below = folder / Path(pattern).parent
        numbered = [
            (int(match[1]), file)
            for file in (sorted(below.iterdir()) if below.is_dir() else ())
            if (match := re.fullmatch(Path(pattern).name, file.name))
        ]
        if numbered:
            return max(numbered)[1]
    for name in NAMED:
        if (file := folder / name).is_file():
            return file
    for glob in GLOBS:
        files = sorted(folder.glob(glob))
        if len(files) == 1:
            return files[0]
        if files:
            listing = ", ".join(file.name for file in files[:6])
            raise InputError(
                "E107", folder, f"{len(files)} files may be the policy: {listing}", "choose one with --policy"
            )
    return None


def policy_spec(file: Path, agent: Mapping[str, Any], library: PolicyKind | None) -> PolicySpec:
    """What kind of policy a file is, by its suffix and the names of what is in it; nothing of it is loaded."""
    if not file.is_file():
        raise InputError("E107", file, "there is no such policy file", "check the path")
    return PolicySpec(file=file, kind=policy_kind(file, library), config=agent)


def policy_kind(file: Path, library: PolicyKind | None = None) -> PolicyKind:
    """Of a policy file."""
    suffix = file.suffix.lower()
    if suffix == ".onnx":
        return PolicyKind.ONNX
    if suffix in (".yaml", ".yml"):
        return PolicyKind.LEAPP
    if suffix in (".pt", ".jit", ".pth") and zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            if any("/code/" in name or name.endswith("constants.pkl") for name in archive.namelist()[:LARGEST_MEMBER]):
                return PolicyKind.TORCHSCRIPT
    if suffix == ".zip":
        return PolicyKind.SB3
    if suffix == ".pth":
        return library or PolicyKind.RL_GAMES
    if suffix in (".pt", ".jit"):
        by_name = PolicyKind.SKRL if "agent" in file.stem else PolicyKind.RSL_RL
        return library or by_name
    raise InputError(
        "E107", file, f"no policy has the suffix {suffix!r}", "use .onnx, .pt, .jit, .pth, .zip or a LEAPP .yaml"
    )


def find_robot(reference: str, folder: Path, found: Diagnostics, where: str) -> Path | None:
    """The robot file that a config names: as it stands, from the run folder, in the asset roots, or beside the config.

    A robot of another name beside the config (`model.xml`) is taken too, and said.
    """
    named = reference.replace("\\", "/")
    for file in (*_as_named(named, folder), *_in_assets(named)):
        if file.is_file():
            return file.resolve()
    base = named.rpartition("/")[2]
    beside = [folder / base] if base else []
    for file in (*beside, folder / "robot.usd", folder / "robot.usda", folder / "model.xml", *_only_robot(folder)):
        if file.is_file():
            if base and file.name != base:
                found.warn(
                    "E108",
                    where,
                    f"{base} of the training is not here: {file.name} beside the config is taken for it",
                    f"give the training asset with --robot, or its root in {ASSET_VARIABLES[0]}",
                )
            return file.resolve()
    return None


def _as_named(named: str, folder: Path) -> list[Path]:
    if not named or "://" in named or not named.lower().endswith(ROBOT_SUFFIXES):
        return []
    return [Path(named)] if Path(named).is_absolute() else [folder / named, folder / "params" / named]


def _in_assets(named: str) -> list[Path]:
    """Below each asset root: every tail of the address that begins at a folder `Isaac`, the longest first."""
    roots = [Path(value) for name in ASSET_VARIABLES if (value := os.environ.get(name))]
    parts = named.split("/")
    tails = ["/".join(parts[k:]) for k, part in enumerate(parts) if part == "Isaac"]
    tails += ["/".join(parts[k:]) for k, part in enumerate(parts) if part in ("IsaacLab", "Robots")]
    return [root / tail for root in roots for tail in tails if ".." not in tail.split("/")]


def _only_robot(folder: Path) -> list[Path]:
    for suffixes in ((".usd", ".usda", ".usdc", ".usdz"), (".urdf",), (".xml", ".mjcf")):
        files = (
            [file for file in sorted(folder.iterdir()) if file.suffix.lower() in suffixes] if folder.is_dir() else []
        )
        if len(files) == 1:
            return files
    return []
