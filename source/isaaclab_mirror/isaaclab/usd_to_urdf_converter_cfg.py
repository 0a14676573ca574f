"""The configuration of the converter from USD to URDF."""

from isaaclab.utils import configclass

from .usd_converter_base_cfg import UsdConverterBaseCfg


@configclass
class UsdToUrdfConverterCfg(UsdConverterBaseCfg):
    """The configuration class for :class:`UsdToUrdfConverter`."""

    package: str | None = None
    """The ROS package that mesh paths are spelled with: ``package://<package>/…``. Defaults to None.

    If None, mesh paths are relative to the file.
    """

    transmissions: bool = True
    """Whether to write ``<transmission>`` and ``<ros2_control>`` for the drives. Defaults to True."""
