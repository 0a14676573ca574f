"""The Kit extension: what Isaac Sim starts when `isaaclab_mirror` is enabled.

Starting it makes the package importable in Kit's Python and loads nothing else: conversions import what they need.
"""

from __future__ import annotations

import omni.ext


class MirrorExtension(omni.ext.IExt):
    """Kit makes one of these and calls the two methods."""

    def __init__(self) -> None:
        super().__init__()
        self.extension_id: str | None = None

    def on_startup(self, ext_id: str) -> None:
        """Called when the extension is enabled."""
        self.extension_id = ext_id

    def on_shutdown(self) -> None:
        """Called when the extension is disabled."""
        self.extension_id = None
