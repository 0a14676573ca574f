"""Fixtures that every test may use."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from tests.usda import Usda

REPOSITORY = Path(__file__).parents[1]
if importlib.util.find_spec("hypothesis"):  # the environments of the genuine Isaac Lab have none
    from hypothesis import HealthCheck, settings

    # A machine that is busy with other things is no failure: no test is about how fast an example is drawn or run.
    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")


@pytest.fixture
def usda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Usda:
    """Writes, reads and converts hand-written stages; the same with and without the extra `physx`."""
    monkeypatch.setattr("isaaclab_mirror.formats.usd.physx_masses_client.physx_available", lambda: False)
    return Usda(tmp_path)


@pytest.fixture(scope="session")
def data() -> Path:
    """The robots shipped with the repository."""
    return REPOSITORY / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared corpora; tests that need them are skipped where they are not."""
    folder = Path(os.environ.get("ISAACLAB_MIRROR_SHARED", REPOSITORY.parent / "shared"))
    if not (folder / "corpus").is_dir():
        pytest.skip("the shared corpora are neither beside the repository nor in ISAACLAB_MIRROR_SHARED")
    return folder
