"""Outputs are made in a temporary folder and moved when complete, so that nothing old is lost."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from isaaclab_mirror.diagnostics import InputError


@contextmanager
def staging_folder(target: Path) -> Iterator[Path]:
    """A temporary folder on the target's file system, removed in the end whatever happens.

    Folders that had to be made for the target are removed again when nothing was put into them.
    """
    parent = target.parent
    made = _missing(parent)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".isaaclab-mirror-", dir=parent))
    except OSError as error:
        _remove_empty(made)
        raise InputError(
            "E036", parent, f"the output folder cannot be written: {error.strerror}", "choose another folder"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _remove_empty(made)


def move_into_place(files: list[Path], folder: Path, target: Path) -> list[Path]:
    """Move written files from the staging folder to beside the target; the target itself last.

    Assets first: a target that is there is complete. Where one cannot be moved, all old files are put back.
    """
    moved: list[Path] = []
    made: list[Path] = []
    old: list[tuple[Path, Path]] = []
    for file in sorted(files, key=lambda f: f.parent == folder):
        place = target.parent / file.relative_to(folder)
        try:
            made += _missing(place.parent)
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.is_file() or place.is_symlink():
                aside = folder / f".old-{len(old)}"
                _keep(place, aside)
                old.append((aside, place))
            file.replace(place)
        except OSError as error:
            for new in moved:
                new.unlink(missing_ok=True)
            for aside, origin in old:
                aside.replace(origin)  # replacing a link by its like would do nothing: hence the unlinking before
            _remove_empty(made)
            raise InputError("E036", place, f"cannot be written: {error.strerror}", "choose another folder") from None
        moved.append(place)
    return sorted(moved, key=lambda f: f != target)


def _keep(file: Path, aside: Path) -> None:
    """A second name for a file, or a copy where the file system has no links; the file stays where it is."""
    try:
        os.link(file, aside)
    except OSError:
        shutil.copy2(file, aside)


def _missing(folder: Path) -> list[Path]:
    """`folder` and the folders above it that are not there yet, the innermost first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # something is in it, or it was never made
            folder.rmdir()
