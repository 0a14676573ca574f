"""TorchScript policies. Their state, where they have one, stands in buffers: it is swapped in and out at every call."""

from __future__ import annotations

import re
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.policy.batching import batched_or_looped
from isaaclab_mirror.policy.checkpoints import import_torch
from isaaclab_mirror.policy.policy import Network, State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

BUFFERS = ("hidden_state", "cell_state")
"""As the exporters of rsl_rl and legged_gym name them."""

FORBIDDEN = re.compile(r"\b(?:torch|ops\.\w+)\.(save|load|from_file|_save|set_num_threads|system|import_ir_module)\(")
"""Operators that reach outside the process; a policy has no use for them."""


def is_torchscript(file: Path) -> bool:
    """Whether a zip archive holds TorchScript."""
    with zipfile.ZipFile(file) as archive:
        return any("/code/" in name for name in archive.namelist())


def open_torchscript(file: Path) -> Network:
    """The module in the file; its code is looked through before it is loaded."""
    _refuse_outreach(file)
    torch = import_torch(file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch would rather have everyone export anew
            module = torch.jit.load(str(file), map_location="cpu").eval()
    except (RuntimeError, ValueError, OSError) as error:
        raise InputError("E130", file, f"no TorchScript that loads: {' '.join(str(error).split())[:200]}") from None
    single = TorchScriptNetwork(module, file)
    return batched_or_looped(lambda: single, single)


def _refuse_outreach(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            if "/code/" in name and name.endswith(".py"):
                found = FORBIDDEN.search(archive.read(name).decode("utf-8", "replace"))
                if found:
                    raise InputError(
                        "E132", file, f"its code calls {found.group(0)[:-1]}, which no policy needs", "it was not run"
                    )


class TorchScriptNetwork:
    """forward(observations) → actions, the state taken from outside."""

    def __init__(self, module: Any, file: Path) -> None:
        """Sizes are found by asking: the file states them in its first layer alone."""
        self._torch = import_torch(file)
        self._module = module
        self._file = file
        buffers = dict(module.named_buffers())
        self._buffers = [name for name in BUFFERS if name in buffers]
        self.state_shapes = tuple((int(buffers[n].shape[0]), int(buffers[n].shape[-1])) for n in self._buffers)
        self.input_size = self._find_input_size()
        self.action_size = self._find_action_size()

    def _find_input_size(self) -> int | None:
        """Columns of a first matrix that the module accepts, in the order of its parameters."""
        import numpy as np

        state = self._zero_state()
        sizes = [int(p.shape[1]) for _, p in self._module.named_parameters() if p.dim() == 2]
        sizes += [int(b.shape[1]) for _, b in self._module.named_buffers() if b.dim() == 2]
        for size in dict.fromkeys(sizes):
            try:
                self(np.zeros((1, size), np.float32), state)
            except InputError:
                continue
            return size
        return None

    def _find_action_size(self) -> int | None:
        import numpy as np

        if self.input_size is None:
            return None
        actions, _ = self(np.zeros((1, self.input_size), np.float32), self._zero_state())
        return actions.shape[1]

    def _zero_state(self) -> State:
        import numpy as np

        return tuple(np.zeros((layers, 1, hidden), np.float32) for layers, hidden in self.state_shapes)

    def __call__(self, observations: Array, state: State) -> tuple[Array, State]:
        """See `Network`."""
        torch = self._torch
        try:
            with torch.inference_mode():
                for name, part in zip(self._buffers, state, strict=True):
                    setattr(self._module, name, torch.from_numpy(part.copy()))
                result = self._module(torch.from_numpy(observations))
                if not isinstance(result, torch.Tensor) or result.dim() != 2 or len(result) != len(observations):
                    raise InputError("E131", self._file, "it does not give one row of actions per environment")
                return result.numpy().copy(), tuple(getattr(self._module, n).numpy().copy() for n in self._buffers)
        except (RuntimeError, torch.jit.Error) as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            raise InputError(
                "E131", self._file, f"it does not run: {lines[-1].strip()[:200] if lines else ''}"
            ) from None
