"""What the converters from USD share: which output, when to convert again, and what is recorded.

Isaac Lab's base class decides whether to convert. Two things of it do not fit a converter that reads USD, and are
handled here in one way for 2.3.2 and 3.0.0:

* It hashes the asset file alone; a USD is many files. :meth:`UsdConverterBase._config_to_hash` adds them.
* It keeps one record, ``.asset_hash``, per directory, so that two outputs in a directory evict each other, and 2.3.2
  writes it before it converts, so that a failed conversion counts as done. :func:`_lent_record` gives each output a
  record of its own, which the base finds in the place where it looks, and which is kept after success only.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, ClassVar, TypeVar

import isaaclab_mirror
from isaaclab_mirror import conversion
from isaaclab_mirror.conversion import ConversionOptions, ConversionResult
from isaaclab_mirror.diagnostics import Diagnostic, Fidelity, Severity
from isaaclab_mirror.formats.options import ReadOptions, WriteOptions
from isaaclab_mirror.physics.options import LoweringOptions

try:
    from isaaclab.sim.converters.asset_converter_base import AssetConverterBase
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in {"omni", "carb", "isaacsim", "pxr"}:
        raise
    raise ImportError(
        f"This Isaac Lab needs Isaac Sim for its converters ({error}). Start it first, as for Isaac Lab's own:"
        " `from isaaclab.app import AppLauncher; AppLauncher(headless=True)`, then import isaaclab_mirror.isaaclab."
        " Isaac Lab 3.0.0 does not need it.",
        name=error.name,
    ) from error

from .usd_converter_base_cfg import UsdConverterBaseCfg

_USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
_MESH_SUFFIXES = {".stl", ".obj", ".dae", ".ply", ".msh"}
_SLOT = ".asset_hash"  # the name of the base's record, in both versions

Options = TypeVar("Options", ReadOptions, LoweringOptions, WriteOptions)


class UsdConverterBase(AssetConverterBase):
    """Base class for converting a USD file into another format.

    The conversion is lazy if the output directory (:attr:`UsdConverterBaseCfg.usd_dir`) is given. An earlier
    conversion is reused unless

    * the asset, or any layer, payload, mesh or texture that it uses, changed,
    * the configuration changed,
    * the version of the converter changed,
    * the output, or a mesh that it refers to, is gone.

    Several converters, names and processes can share a directory. A conversion that fails leaves no record.
    """

    suffixes: ClassVar[tuple[str, ...]]
    """Suffixes that the output may have; it gets the first where its name has none of them."""

    def __init__(self, cfg: UsdConverterBaseCfg) -> None:
        """Initializes the class, and converts unless an earlier conversion still holds.

        Args:
            cfg: The configuration instance for the conversion.

        Raises:
            ValueError: When the asset file does not exist, or the configuration has a value that is not allowed.
        """
        conversion_options(cfg)  # a wrong value is refused before anything is written
        # Without a directory the base makes a new one, in which there is nothing to reuse; without an asset it refuses.
        if cfg.usd_dir is None or cfg.asset_path is MISSING or not Path(cfg.asset_path).is_file():
            super().__init__(cfg)
            self._report = _Report.read(_report_path(self.usd_path))
            return
        folder, name = Path(cfg.usd_dir), self._output_name(cfg)
        with _one_at_a_time(folder), _lent_record(folder, folder / name):
            super().__init__(cfg)
            self._report = _Report.read(_report_path(self.usd_path))

    @property
    def usd_file_name(self) -> str:
        """The file name of the output, which is no USD: the base asks for it under this name."""
        return self._with_suffix(self._usd_file_name)

    @property
    def mesh_dir(self) -> str:
        """The directory with the meshes of the output; where they would be, if it has none."""
        folders = {str(Path(file).parent) for file in self._report.files if Path(file).suffix.lower() in _MESH_SUFFIXES}
        return str(Path(self.usd_path).parent / (os.path.commonpath(folders) if folders else "meshes"))

    @property
    def report(self) -> Fidelity:
        """The fidelity table: what of the asset was kept, approximated and lost. Also after a reuse."""
        return self._report.fidelity

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the conversion found. Also after a reuse."""
        return self._report.diagnostics

    def _convert_asset(self, cfg: UsdConverterBaseCfg) -> None:
        """Converts the asset file, and writes the report beside the output.

        Args:
            cfg: The configuration instance for the conversion.
        """
        self._usd_file_name = self.usd_file_name  # 3.0.0 records this name and restores it on reuse
        output = Path(self.usd_path)
        output.parent.mkdir(parents=True, exist_ok=True)
        # Converted aside, and moved when all is well: a failure leaves an older output as it is, and another output
        # in the folder keeps its meshes.
        with tempfile.TemporaryDirectory(prefix=".converting-", dir=output.parent) as aside:
            result = conversion.convert(cfg.asset_path, Path(aside, output.name), conversion_options(cfg))
            report = _Report.of(result)
            _refuse_to_overwrite(output, report, Path(aside))
            # From here on files are exchanged: whatever stops us now, they must not count as converted.
            _record_path(output).unlink(missing_ok=True)
            _report_path(output).unlink(missing_ok=True)
            for file in report.files:
                (output.parent / file).parent.mkdir(parents=True, exist_ok=True)
                Path(aside, file).replace(output.parent / file)
        report.write(_report_path(output))

    def _select_physics_variant(self, variant: str) -> None:
        """Does nothing: 3.0.0 would open the output as a USD stage here."""

    @staticmethod
    def _config_to_hash(cfg: UsdConverterBaseCfg) -> str:
        """Converts the configuration, every file that the asset uses and the version of the converter to a hash.

        Args:
            cfg: The configuration instance for the conversion.

        Returns:
            The SHA-256 hash, as hexadecimal digits.
        """
        unforced = copy.copy(cfg)
        unforced.force_usd_conversion = False  # says when to convert, not what: the result is the same
        # The name too: where a folder cannot be locked, 2.3.2 may find the digest of another output in its slot.
        parts = [AssetConverterBase._config_to_hash(unforced), str(cfg.usd_file_name), *_converter_version()]
        asset = Path(cfg.asset_path)
        for file in conversion.source_files(asset, conversion_options(cfg).read):
            # Relative, so that the asset can be moved as a whole; named, so that exchanged layers are noticed.
            parts += [os.path.relpath(file, asset.parent), _digest(file)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @classmethod
    def _output_name(cls, cfg: UsdConverterBaseCfg) -> str:
        """The name of the output relative to the output directory."""
        name = PurePath(cls._with_suffix(cfg.usd_file_name or PurePath(cfg.asset_path).stem))
        if name.is_absolute() or ".." in name.parts:
            raise ValueError(f"usd_file_name must stay within usd_dir, but is {cfg.usd_file_name!r}")
        return str(name)

    @classmethod
    def _with_suffix(cls, name: str) -> str:
        """A name as asked for, or as the base left it (it appends ``.usd``), with the suffix of the output."""
        while name.endswith(_USD_SUFFIXES):
            name = name.rpartition(".")[0]
        return name if name.endswith(cls.suffixes) else name + cls.suffixes[0]


def conversion_options(cfg: UsdConverterBaseCfg) -> ConversionOptions:
    """The options of :func:`isaaclab_mirror.conversion.convert` that a configuration stands for.

    Raises:
        ValueError: When a field has a value that is not allowed.
    """
    return ConversionOptions(
        read=_fill(ReadOptions, cfg),
        lowering=_fill(LoweringOptions, cfg),
        write=_fill(WriteOptions, cfg),
        strict=cfg.strict,
    )


def _fill(kind: type[Options], cfg: UsdConverterBaseCfg) -> Options:
    """Options from the fields of the same names; those that the configuration does not have keep their defaults."""
    values: dict[str, Any] = {}
    for field in fields(kind):
        if not hasattr(cfg, field.name):
            continue
        values[field.name] = value = getattr(cfg, field.name)
        if isinstance(field.default, Enum):
            choices = {str(choice.value): choice for choice in type(field.default)}
            if value not in choices:
                raise ValueError(f"{type(cfg).__name__}.{field.name} is {value!r}, which is none of {list(choices)}")
            values[field.name] = choices[value]
    return kind(**values)


def _converter_version() -> list[str]:
    """What changes when the converter would write something else."""
    return [str(getattr(conversion, "CONVERTER_VERSION", "")), str(getattr(isaaclab_mirror, "__version__", ""))]


def _digest(file: Path) -> str:
    """A hash of the bytes of a file; empty where there is none, so that its arrival is noticed."""
    if not file.is_file():
        return ""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _report_path(output: str | Path) -> Path:
    return Path(f"{output}.report.json")


def _record_path(output: Path) -> Path:
    return output.with_name(f".{output.name}{_SLOT}")  # hidden, as the base's own


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait while another process converts into a folder: of those that training starts per GPU, one converts.

    Where the system cannot lock a folder (Windows, some network drives), they may convert once more than needed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _lent_record(folder: Path, output: Path) -> Iterator[None]:
    """Let the base find the record of one output in its slot, and give back what was in the slot.

    The slot may hold the record of another converter, such as Isaac Lab's own. The record of the output is replaced
    only if the base comes through, because 2.3.2 fills the slot before it converts.
    """
    slot, own = folder / _SLOT, _record_path(output)
    others = _read(slot)
    _put(slot, _read(own) if _is_whole(output) else None)
    try:
        yield
        _put(own, _read(slot))
    finally:
        _put(slot, others)


def _is_whole(output: Path) -> bool:
    """Whether the report of an output and every file that it names, such as a mesh, are still there."""
    try:
        report = _Report.read(_report_path(output))
    except (OSError, ValueError, LookupError, TypeError):  # gone, or not written by us
        return False
    return all((output.parent / file).is_file() for file in report.files)


def _refuse_to_overwrite(output: Path, report: _Report, aside: Path) -> None:
    """Raise where a new file would take the place of a different one that another output in the folder uses."""
    for other in output.parent.glob("*.report.json"):
        neighbour = other.with_name(other.name.removesuffix(".report.json"))
        if neighbour == output or not _is_whole(neighbour):
            continue
        for file in set(report.files) & set(_Report.read(other).files):
            if _digest(aside / file) != _digest(output.parent / file):
                raise ValueError(
                    f"{output.name} and {neighbour.name} in {output.parent} would share {file}, but with different"
                    " content: give one of them another usd_dir"
                )


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _put(file: Path, content: bytes | None) -> None:
    """Write a file at once, so that no reader finds half of it; None removes it."""
    if content is None:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    part.write_bytes(content)
    part.replace(file)


@dataclass(frozen=True, slots=True)
class _Report:
    """What is kept of a conversion beside its output, under the keys of ``isaaclab-mirror convert --json``."""

    fidelity: Fidelity
    diagnostics: tuple[Diagnostic, ...]
    files: tuple[str, ...]
    """The files written, relative to the folder of the output, so that the folder can be moved."""

    @classmethod
    def of(cls, result: ConversionResult) -> _Report:
        """The report of a conversion."""
        files = tuple(Path(os.path.relpath(file, result.target.parent)).as_posix() for file in result.files)
        return cls(result.fidelity, tuple(result.diagnostics), files)

    @classmethod
    def read(cls, file: Path) -> _Report:
        """The report that :meth:`write` wrote."""
        content = json.loads(file.read_text(encoding="utf-8"))
        fidelity = Fidelity()
        for row in content["fidelity"]:
            fidelity.kept(row["concept"], row["kept"], row["note"])
            fidelity.approximated(row["concept"], row["note"], row["approximated"])
            fidelity.lost(row["concept"], row["note"], row["lost"])
        diagnostics = (
            Diagnostic(**{**found, "severity": Severity(found["severity"])}) for found in content["diagnostics"]
        )
        return cls(fidelity, tuple(diagnostics), tuple(content["files"]))

    def write(self, file: Path) -> None:
        """Keep the report in a file."""
        content = {
            "schema": 1,
            "fidelity": self.fidelity.to_json(),
            "diagnostics": [found.to_json() for found in self.diagnostics],
            "files": self.files,
        }
        _put(file, json.dumps(content, indent=2).encode())
