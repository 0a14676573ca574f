"""Find the genuine Isaac Lab that these tests run on: 3.0.0 as installed, or the converter base of the 2.3.2 wheel.

The 2.3.2 wheel needs Isaac Sim to be imported as a whole. Its converter base does not: with three stand-ins for what
`isaaclab.utils.assets` asks of Kit, the genuine `asset_converter_base.py` runs unchanged.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

WHEEL_VARIABLE = "ISAACLAB_232_WHEEL"


def _module(name: str, **content: object) -> ModuleType:
    """Put a stand-in into `sys.modules`."""
    module = ModuleType(name)
    module.__dict__.update(content)
    sys.modules[name] = module
    return module


def _use_wheel(wheel: Path) -> None:
    """Make the converter base of an unpacked 2.3.2 wheel importable without Kit."""
    # The wheel's own top-level package bootstraps Isaac Sim; the library is the package below source/.
    library = wheel / "isaaclab" / "source" / "isaaclab"
    if not (library / "isaaclab" / "sim" / "converters" / "asset_converter_base.py").is_file():
        pytest.exit(f"{WHEEL_VARIABLE}={wheel} is no unpacked wheel of isaaclab 2.3.2: make isaaclab-env", returncode=2)
    sys.path.insert(0, str(library))
    settings = SimpleNamespace(get=lambda key: None)
    _module("carb", settings=SimpleNamespace(get_settings=lambda: settings))
    client = _module("omni.client", Result=SimpleNamespace(OK=0), stat=lambda path: (1, None))
    _module("omni", __path__=[], client=client)
    # Bare packages: the genuine __init__ of these two imports all of Isaac Sim.
    for package in ("isaaclab.sim", "isaaclab.sim.converters"):
        _module(package, __path__=[str(library.joinpath(*package.split(".")))])
    # Starting Kit is what the script does first on 2.3.2.
    app = SimpleNamespace(close=lambda: None)
    _module("isaaclab.app", AppLauncher=lambda **settings: SimpleNamespace(app=app))


def _version() -> str | None:
    """The version of the Isaac Lab that was found, after making it importable."""
    if importlib.util.find_spec("isaaclab") is not None:
        return "3.0.0"
    if wheel := os.environ.get(WHEEL_VARIABLE):
        _use_wheel(Path(wheel))
        return "2.3.2"
    return None


VERSION = _version()


def pytest_report_header() -> str:
    return f"isaaclab: {VERSION or 'none'}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with a reason, what needs Isaac Lab where there is none."""
    if VERSION is None:
        reason = f"needs Isaac Lab 3.0.0, or {WHEEL_VARIABLE} with the unpacked 2.3.2 wheel: make isaaclab-env"
        for item in items:
            if item.get_closest_marker("isaaclab"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def isaaclab_version() -> str:
    assert VERSION is not None
    return VERSION
