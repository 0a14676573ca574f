"""Pictures to an mp4 that plays everywhere, written as they come."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.files import move_into_place, staging_folder
from isaaclab_mirror.report.rasterizer import rasterize
from isaaclab_mirror.sims.filming import Filming, Shot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isaaclab_mirror.envs.episodes import Moment
    from isaaclab_mirror.envs.mirror import Mirror

    Image = NDArray[np.uint8]

LARGEST_RATE = 30.0
"""Pictures per second at most."""
SUFFIXES = (".mp4", ".mkv", ".mov")


class Video:
    """One video file: complete after `close`, or not there at all."""

    def __init__(self, file: Path, pictures_per_second: float) -> None:
        """The first picture decides the size."""
        if file.suffix.lower() not in SUFFIXES:
            raise InputError("E141", file, f"no video has the suffix {file.suffix!r}", f"one of {', '.join(SUFFIXES)}")
        try:
            import imageio_ffmpeg
        except ImportError:
            raise InputError(
                "E141", file, "writing a video needs imageio-ffmpeg", "pip install 'isaaclab-mirror[report]'"
            ) from None
        self._ffmpeg: Any = imageio_ffmpeg
        self._file, self._rate = file, pictures_per_second
        self._stack = ExitStack()
        self._folder: Path = self._stack.enter_context(staging_folder(file))
        self._writer: Any = None

    def add(self, picture: Image) -> None:
        """One picture, (height, width, 3)."""
        import numpy as np

        if self._writer is None:
            height, width, _ = picture.shape
            self._writer = self._ffmpeg.write_frames(
                str(self._folder / self._file.name),
                (width, height),
                fps=self._rate,
                codec="libx264",
                quality=7,
                ffmpeg_log_level="error",
            )
            self._writer.send(None)
        self._writer.send(np.ascontiguousarray(picture))

    def close(self) -> None:
        """Finish the file and put it into its place."""
        try:
            if self._writer is not None:
                self._writer.close()
                move_into_place([self._folder / self._file.name], self._folder, self._file)
        finally:
            self.discard()

    def discard(self) -> None:
        """Leave nothing behind."""
        self._writer = None
        self._stack.close()


class VideoRecorder:
    """Films the first environment of a replay, episode after episode."""

    def __init__(self, file: Path, mirror: Mirror, shot: Shot | None = None) -> None:
        """The screen is opened here."""
        self._every = max(1, round(1.0 / (LARGEST_RATE * mirror.step_dt)))
        self._video = Video(file, 1.0 / (self._every * mirror.step_dt))
        self._filming = Filming(mirror.robot, mirror.simulator.settings, shot, rasterize=rasterize)

    def begin(self, mirror: Mirror, episodes: Sequence[int]) -> None:
        """Nothing to do."""

    def add(self, mirror: Mirror, moment: Moment) -> None:
        """A picture, where one is due."""
        if moment.alive[0] and moment.index % self._every == 0:
            self._video.add(self._filming.picture(moment.before))

    def close(self, *, keep: bool = True) -> None:
        """Finish the file, or leave nothing behind."""
        self._filming.close()
        if keep:
            self._video.close()
        else:
            self._video.discard()
