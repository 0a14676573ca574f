"""Outputs are made in a temporary folder and moved when complete, so that nothing old is lost."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isaaclab_mirror.diagnostics import InputError


@contextmanager
def staging_folder(target: Path) -> Iterator[Path]:
    """A temporary folder on the target's file system, removed in the end whatever happens."""
    parent = target.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".isaaclab-mirror-", dir=parent))
    except OSError as error:
        raise InputError(
            "E036", parent, f"the output folder cannot be written: {error.strerror}", "choose another folder"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def move_into_place(files: list[Path], folder: Path, target: Path) -> list[Path]:
    """Move written files from the staging folder to beside the target; the target itself last.

    Assets first: a target that is there is complete.
    """
    moved: list[Path] = []
    for file in sorted(files, key=lambda f: f.parent == folder):
        place = target.parent / file.relative_to(folder)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            file.replace(place)
        except OSError as error:
            raise InputError("E036", place, f"cannot be written: {error.strerror}", "choose another folder") from None
        moved.append(place)
    return sorted(moved, key=lambda f: f != target)
