"""The Kit extension, with a stand-in for omni."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module as Kit would import it."""
    omni, ext = ModuleType("omni"), ModuleType("omni.ext")
    ext.IExt = type("IExt", (), {})  # pyright: ignore[reportAttributeAccessIssue]
    omni.ext = ext  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "omni", omni)
    monkeypatch.setitem(sys.modules, "omni.ext", ext)
    monkeypatch.delitem(sys.modules, "isaaclab_mirror.omniverse.extension", raising=False)
    return importlib.import_module("isaaclab_mirror.omniverse.extension")


def test_kit_starts_and_stops_it(extension: ModuleType):
    entries = [
        kind
        for kind in vars(extension).values()
        if isinstance(kind, type) and issubclass(kind, sys.modules["omni.ext"].IExt)
    ]
    assert [kind.__name__ for kind in entries] == ["MirrorExtension"]
    started = entries[0]()
    started.on_startup("isaaclab_mirror-0.1.0")
    assert started.extension_id == "isaaclab_mirror-0.1.0"
    started.on_shutdown()
    assert started.extension_id is None


def test_the_room_itself_loads_without_kit():
    assert importlib.import_module("isaaclab_mirror.omniverse")
