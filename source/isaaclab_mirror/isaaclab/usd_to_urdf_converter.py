"""The converter from USD to URDF."""

from .usd_converter_base import UsdConverterBase
from .usd_to_urdf_converter_cfg import UsdToUrdfConverterCfg


class UsdToUrdfConverter(UsdConverterBase):
    """Converter for a USD file to a URDF file. It converts lazily: see :class:`UsdConverterBase`.

    The exporter of Isaac Sim 6 (``isaacsim.asset.exporter.urdf``) has a class of the same name, which is another one:
    ``docs/isaaclab.md`` says how they differ.
    """

    suffixes = (".urdf",)

    cfg: UsdToUrdfConverterCfg
    """The configuration instance for the USD to URDF conversion."""

    def __init__(self, cfg: UsdToUrdfConverterCfg) -> None:
        """Initializes the class, and converts unless an earlier conversion still holds.

        Args:
            cfg: The configuration instance for the USD to URDF conversion.
        """
        super().__init__(cfg)

    @property
    def urdf_path(self) -> str:
        """The path to the URDF file."""
        return self.usd_path
