"""The command line on bad input: what must hold whatever is wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from isaaclab_mirror.cli.main import main
from tests.usda import Usda


@dataclass(frozen=True, slots=True)
class Accepted:
    """A conversion that went through with findings."""

    target: Path
    findings: list[dict[str, str]]
    err: str

    def said(self, code: str) -> str:
        """Where, what and what to do, of every finding of a code; empty when there is none."""
        return "\n".join(" ".join(found.values()) for found in self.findings if found["code"] == code)

    def load(self):
        """The model that MuJoCo loads from the file."""
        import mujoco

        return mujoco.MjModel.from_xml_path(str(self.target))


class Command:
    """`isaaclab-mirror convert`, in a folder of the test's own, over an output that is there already."""

    def __init__(self, usda: Usda, capfd: pytest.CaptureFixture[str]) -> None:
        self._usda = usda
        self._capfd = capfd
        self.folder = usda.folder
        self.output = usda.folder / "output"

    def write(self, text: str, name: str = "robot.usda") -> Path:
        """A layer in the folder."""
        return self._usda.write(text, name)

    def refuse(self, source: str | Path, *arguments: str, suffix: str = ".xml", target: Path | None = None) -> str:
        """What it says of input that it refuses: one message with a next step, exit code 2, old output as it was."""
        file = source if isinstance(source, Path) else self.write(source)
        if target is None:
            target = self.output / f"robot{suffix}"
            for old in (target, self.output / "assets/old.stl", self.output / "meshes/old.stl"):
                old.parent.mkdir(parents=True, exist_ok=True)
                old.write_text("old", encoding="utf-8")
        before = self._state()
        code, said = self._run(file, target, *arguments)
        assert code == 2, said
        assert "Traceback" not in said
        assert "internal error" not in said
        assert "Error in '" not in said  # USD's own way to say it, with lines of its source
        assert str(self.folder) not in said
        assert self._state() == before
        lines = said.splitlines()
        assert ": error E" in lines[0]
        assert lines[1].startswith("  next: ")
        assert len(lines) == 2
        return said

    def accept(self, source: str | Path, *arguments: str, suffix: str = ".xml", target: Path | None = None) -> Accepted:
        """A conversion that goes through; its findings are also in what it prints."""
        file = source if isinstance(source, Path) else self.write(source)
        target = target or self.output / f"robot{suffix}"
        report = self.folder / "report.json"
        code, said = self._run(file, target, "--json", str(report), *arguments)
        assert code == 0, said
        assert "Traceback" not in said
        assert str(self.folder) not in said
        return Accepted(target, json.loads(report.read_text(encoding="utf-8"))["diagnostics"], said)

    def _run(self, source: Path, target: Path, *arguments: str) -> tuple[int, str]:
        self._capfd.readouterr()
        code = main(["convert", str(source), str(target), *arguments])
        return code, self._capfd.readouterr().err

    def _state(self) -> dict[str, bytes | None]:
        """Every file and folder, with its content."""
        found = sorted(self.folder.rglob("*"))
        return {str(path): path.read_bytes() if path.is_file() else None for path in found}


@pytest.fixture
def command(usda: Usda, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command line; the same with and without the extra `physx`."""
    return Command(usda, capfd)


@pytest.fixture(params=[".xml", ".urdf"])
def suffix(request: pytest.FixtureRequest) -> str:
    """Both formats that are written."""
    return request.param
