"""Converters in the manner of Isaac Lab's own, for Isaac Lab 2.3.2 and 3.0.0: the one door to `isaaclab`.

Nothing else in this package imports Isaac Lab, so everything else works without it.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if "isaaclab" not in sys.modules and find_spec("isaaclab") is None:
    raise ImportError(
        "isaaclab_mirror.isaaclab needs Isaac Lab, which is not installed here. Install it with"
        ' `pip install "isaaclab[ovphysx]==3.0.0"` (Python 3.12), or run this in the environment of your Isaac Lab'
        " (2.3.2 or 3.0.0). Without Isaac Lab the same conversion is `isaaclab_mirror.convert`.",
        name="isaaclab",
    )

if TYPE_CHECKING:
    from .usd_to_mjcf_converter import UsdToMjcfConverter
    from .usd_to_mjcf_converter_cfg import UsdToMjcfConverterCfg
    from .usd_to_urdf_converter import UsdToUrdfConverter
    from .usd_to_urdf_converter_cfg import UsdToUrdfConverterCfg

# Importing Isaac Lab takes seconds (torch and warp come with it), so a class is loaded when it is asked for.
_MODULE_OF = {
    "UsdToMjcfConverter": "usd_to_mjcf_converter",
    "UsdToMjcfConverterCfg": "usd_to_mjcf_converter_cfg",
    "UsdToUrdfConverter": "usd_to_urdf_converter",
    "UsdToUrdfConverterCfg": "usd_to_urdf_converter_cfg",
}

__all__ = [
    "UsdToMjcfConverter",
    "UsdToMjcfConverterCfg",
    "UsdToUrdfConverter",
    "UsdToUrdfConverterCfg",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
