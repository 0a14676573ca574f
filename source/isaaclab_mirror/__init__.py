"""Isaac Lab's robots and policies, mirrored in MuJoCo: read them as Isaac Lab left them, run both, say what differs.

The names below are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isaaclab_mirror.contract.loading import load_contract as load_contract
    from isaaclab_mirror.conversion import ConversionOptions as ConversionOptions
    from isaaclab_mirror.conversion import ConversionResult as ConversionResult
    from isaaclab_mirror.conversion import convert as convert
    from isaaclab_mirror.conversion import inspect_robot as inspect_robot
    from isaaclab_mirror.diagnostics import InputError as InputError
    from isaaclab_mirror.envs.mirror_env import MirrorEnv as MirrorEnv
    from isaaclab_mirror.envs.mirror_vector_env import MirrorVectorEnv as MirrorVectorEnv
    from isaaclab_mirror.formats.options import ReadOptions as ReadOptions
    from isaaclab_mirror.formats.options import WriteOptions as WriteOptions
    from isaaclab_mirror.physics.options import LoweringOptions as LoweringOptions
    from isaaclab_mirror.policy.loading import load_policy as load_policy

__version__ = "0.1.0"

_HOMES = {
    "ConversionOptions": "conversion",
    "MirrorEnv": "envs.mirror_env",
    "MirrorVectorEnv": "envs.mirror_vector_env",
    "ConversionResult": "conversion",
    "InputError": "diagnostics",
    "LoweringOptions": "physics.options",
    "ReadOptions": "formats.options",
    "WriteOptions": "formats.options",
    "convert": "conversion",
    "inspect_robot": "conversion",
    "load_contract": "contract.loading",
    "load_policy": "policy.loading",
}


def __getattr__(name: str) -> object:
    """Load an exported name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
