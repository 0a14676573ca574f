"""The converter from USD to MJCF."""

from .usd_converter_base import UsdConverterBase
from .usd_to_mjcf_converter_cfg import UsdToMjcfConverterCfg


class UsdToMjcfConverter(UsdConverterBase):
    """Converter for a USD file to an MJCF file. It converts lazily: see :class:`UsdConverterBase`."""

    suffixes = (".xml", ".mjcf")

    cfg: UsdToMjcfConverterCfg
    """The configuration instance for the USD to MJCF conversion."""

    def __init__(self, cfg: UsdToMjcfConverterCfg) -> None:
        """Initializes the class, and converts unless an earlier conversion still holds.

        Args:
            cfg: The configuration instance for the USD to MJCF conversion.
        """
        super().__init__(cfg)

    @property
    def mjcf_path(self) -> str:
        """The path to the MJCF file."""
        return self.usd_path
