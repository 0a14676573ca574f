"""load_policy: from a file, whoever wrote it, to a `Policy`."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isaaclab_mirror.contract.contract import PolicyKind, PolicySpec
from isaaclab_mirror.diagnostics import Diagnostic, InputError, Severity
from isaaclab_mirror.policy.policy import Network, Policy


def load_policy(source: PolicySpec | Path | str, config: Mapping[str, Any] | None = None) -> Policy:
    """A policy from its file, or from what a contract says of it.

    ONNX, TorchScript, and the checkpoints of rsl_rl, skrl, rl_games and stable-baselines3; `config` is agent.yaml,
    for what a checkpoint does not say itself.
    """
    spec = source if isinstance(source, PolicySpec) else None
    file = spec.file if spec is not None else Path(source)  # pyright: ignore[reportArgumentType]
    config = config if config is not None else (spec.config if spec is not None else {})
    if file.is_dir():
        raise InputError("E136", file, "a folder is no policy file", "name the file in it: policy.onnx, model_*.pt, …")
    if not file.is_file():
        raise InputError("E136", file, f"there is no policy file {str(file)!r}")
    if file.stat().st_size == 0:
        raise InputError("E130", file, "the policy file is empty")
    if spec is not None and spec.kind is PolicyKind.LEAPP:
        raise InputError(
            "E134", file, "a LEAPP graph takes raw robot data, not observations", "export the policy alone"
        )
    if file.suffix.lower() == ".onnx":
        from isaaclab_mirror.policy.onnx_file import open_onnx

        return Policy(file, PolicyKind.ONNX, open_onnx(file))
    if not zipfile.is_zipfile(file):
        return _from_checkpoint(file, config)
    from isaaclab_mirror.policy.other_libraries import is_sb3, rebuild_sb3
    from isaaclab_mirror.policy.torchscript import is_torchscript, open_torchscript

    if is_torchscript(file):
        note = "TorchScript is code: only policies of people you trust should be run"
        found = Diagnostic("E137", Severity.INFO, file.name, note, "ONNX holds none")
        return Policy(file, PolicyKind.TORCHSCRIPT, open_torchscript(file), [found])
    if is_sb3(file):
        return Policy(file, PolicyKind.SB3, rebuild_sb3(file, config))
    return _from_checkpoint(file, config)


def _from_checkpoint(file: Path, config: Mapping[str, Any]) -> Policy:
    from isaaclab_mirror.policy import other_libraries, rsl_rl
    from isaaclab_mirror.policy.checkpoints import read_checkpoint

    checkpoint = read_checkpoint(file)
    if not isinstance(checkpoint, Mapping):
        raise InputError("E134", file, f"the checkpoint holds a {type(checkpoint).__name__}, no state dicts")
    if rsl_rl.is_rsl_rl(checkpoint):
        network, notes = rsl_rl.rebuild(checkpoint, config, file)
        return Policy(file, PolicyKind.RSL_RL, network, notes)
    made: tuple[PolicyKind, Network] | None = None
    if other_libraries.is_rl_games(checkpoint):
        made = PolicyKind.RL_GAMES, other_libraries.rebuild_rl_games(checkpoint, config, file)
    elif other_libraries.is_skrl(checkpoint):
        made = PolicyKind.SKRL, other_libraries.rebuild_skrl(checkpoint, config, file)
    if made is None:
        keys = ", ".join(map(str, list(checkpoint)[:8]))
        raise InputError(
            "E134", file, f"no checkpoint of rsl_rl, skrl, rl_games or sb3: it has {keys}", "export the policy to ONNX"
        )
    return Policy(file, made[0], made[1])
