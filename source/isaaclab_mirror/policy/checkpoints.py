"""Checkpoints read as data: tensors and plain values, never objects."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError

if TYPE_CHECKING:
    from isaaclab_mirror.policy.networks import Weights

LARGEST = 2**31
"""Bytes of a checkpoint: policies are a thousand times smaller."""


def import_torch(file: Path) -> Any:
    """PyTorch, on one thread: policies are small, and simulation wants the cores."""
    try:
        import torch
    except ImportError:
        raise InputError(
            "E135", file, "reading it needs PyTorch", "pip install 'isaaclab-mirror[torch]', or export it to ONNX"
        ) from None
    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)
    return torch


def read_checkpoint(file: Path) -> Any:
    """What `torch.save` wrote, by PyTorch's reader that constructs nothing; a file with code in it is refused."""
    if file.stat().st_size > LARGEST:
        raise InputError("E130", file, f"{file.stat().st_size} bytes are too many for a policy")
    return _read(file.read_bytes(), file)


def read_member(archive: Path, member: str) -> Any:
    """The same of a file inside a zip archive."""
    with zipfile.ZipFile(archive) as opened:
        if opened.getinfo(member).file_size > LARGEST:
            raise InputError("E130", archive, f"{member} is too large for a policy")
        return _read(opened.read(member), archive)


def _read(data: bytes, file: Path) -> Any:
    import pickle
    import warnings

    torch = import_torch(file)
    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals(_numpy_scalars()):
            warnings.simplefilter("ignore")
            return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        first = " ".join(str(error).split())
        wanted = data[:1] == b"\x80" or "GLOBAL" in first
        raise InputError(
            "E132" if wanted else "E130",
            file,
            f"the checkpoint holds more than tensors and plain values: {_short(first)}"
            if wanted
            else f"no checkpoint that PyTorch can read: {_short(first)}",
            "nothing in it was run; save its state dict alone, or export the policy to ONNX",
        ) from None
    except (RuntimeError, EOFError, ValueError, KeyError, IndexError, UnicodeDecodeError, OSError) as error:
        raise InputError(
            "E130", file, f"no checkpoint that PyTorch can read: {_short(str(error))}", "is the file whole?"
        ) from None


def _short(text: str) -> str:
    """What PyTorch says, without its advice to read the file unsafely."""
    import re

    named = re.search(r"(?:GLOBAL|global) ([\w.]+)", text)
    if named:
        return f"it wants {named.group(1)}"
    return "it is a pickle" if "weights_only" in text.lower() else " ".join(text.split())[:160]


def _numpy_scalars() -> list[Any]:
    """rl_games saves `last_mean_rewards` as a numpy scalar: a number, told by these names."""
    import numpy as np
    from numpy._core import multiarray  # pyright: ignore[reportPrivateImportUsage]

    kinds = [np.dtype, np.float32, np.float64, np.int64]
    return [multiarray.scalar, *kinds, *(type(np.dtype(kind)) for kind in kinds[1:])]


def weights_of(states: Any, file: Path, what: str = "the checkpoint") -> Weights:
    """A state dict as arrays; what is no tensor is left out, numbers that are not finite are refused."""
    import numpy as np

    if not isinstance(states, Mapping):
        raise InputError("E134", file, f"{what} is no state dict but {type(states).__name__}")
    torch = import_torch(file)
    result: dict[str, Any] = {}
    for name, value in states.items():
        if not isinstance(value, torch.Tensor):
            continue
        array = value.detach().cpu().numpy()
        if array.dtype.kind == "f":
            array = np.ascontiguousarray(array, dtype=np.float64 if array.dtype == np.float64 else np.float32)
            if not np.isfinite(array).all():
                raise InputError("E133", file, f"{name} holds numbers that are not finite", "training has diverged")
        result[str(name)] = array
    return result
