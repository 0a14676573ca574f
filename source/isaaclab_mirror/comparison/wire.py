"""Options and findings as messages between `validate` and the process that its tests run in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.comparison.groups import ValidationOptions
from isaaclab_mirror.comparison.motions import Found
from isaaclab_mirror.comparison.recording import Pair, Recording
from isaaclab_mirror.comparison.rows import Row, Skipped
from isaaclab_mirror.comparison.static import StaticLimits
from isaaclab_mirror.diagnostics import Diagnostic, InputError, Severity
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.sims.settings import Backend, Preset

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

CURVES = tuple(field.name for field in fields(Recording) if field.name != "failure")


def options_message(file: Path, options: ValidationOptions) -> dict[str, Any]:
    """What the other process shall do; how it opens PhysX is its own affair."""
    return {
        "file": str(file.resolve()),
        "read": {**asdict(options.read), "variants": dict(options.read.variants)},
        "fidelity": str(options.fidelity),
        "backend": str(options.backend),
        "preset": str(options.preset),
        "stated": dict(options.stated),
        "groups": list(options.groups),
        "configurations": options.configurations,
        "limits": asdict(options.limits),
    }


def options_of(message: Mapping[str, Any]) -> tuple[Path, ValidationOptions]:
    """The inverse."""
    stated = {key: _value(value) for key, value in message["stated"].items()}
    return Path(message["file"]), ValidationOptions(
        read=ReadOptions(**message["read"]),
        fidelity=Fidelity(message["fidelity"]),
        backend=Backend(message["backend"]),
        preset=Preset(message["preset"]),
        stated=stated,
        groups=tuple(message["groups"]),
        configurations=int(message["configurations"]),
        limits=StaticLimits(**message["limits"]),
    )


def _value(value: Any) -> Any:
    """JSON knows no tuples."""
    items: list[Any] = value
    return tuple(items) if isinstance(value, list) else value


def diagnostic_of(message: Mapping[str, str]) -> Diagnostic:
    """Of its JSON."""
    return Diagnostic(
        message["code"], Severity(message["severity"]), message["where"], message["message"], message["hint"]
    )


def found_message(found: Found) -> tuple[dict[str, Any], list[Array]]:
    """What a group found, and the curves of its runs."""
    arrays: list[Array] = []
    pairs: list[dict[str, Any]] = []
    for pair in found.pairs:
        runs = {name: _failure(run) for name, run in _runs(pair)}
        for _, run in _runs(pair):
            arrays += [getattr(run, name) for name in CURVES]
        if pair.targets is not None:
            arrays.append(pair.targets)
        pairs.append(
            {
                "trial": pair.trial,
                "joint_names": list(pair.joint_names),
                "units": list(pair.units),
                "runs": runs,
                "targets": pair.targets is not None,
            }
        )
    rows = [{**asdict(row), "parts": dict(row.parts)} for row in found.rows]
    return {"rows": rows, "skipped": [asdict(skip) for skip in found.skipped], "pairs": pairs}, arrays


def found_of(message: Mapping[str, Any], arrays: list[Array]) -> Found:
    """The inverse."""
    curves = iter(arrays)
    return Found(
        rows=[Row(**row) for row in message["rows"]],
        skipped=[Skipped(**skip) for skip in message["skipped"]],
        pairs=[_pair_of(pair, curves) for pair in message["pairs"]],
    )


def _pair_of(message: Mapping[str, Any], curves: Iterator[Array]) -> Pair:
    runs = {
        name: Recording(**{curve: next(curves) for curve in CURVES}, failure=_error_of(failure))
        for name, failure in message["runs"].items()
    }
    return Pair(
        trial=message["trial"],
        joint_names=tuple(message["joint_names"]),
        units=tuple(message["units"]),
        targets=next(curves) if message["targets"] else None,
        **runs,
    )


def _runs(pair: Pair) -> list[tuple[str, Recording]]:
    runs = [("physx", pair.physx), ("mujoco", pair.mujoco)]
    return runs if pair.nudged is None else [*runs, ("nudged", pair.nudged)]


def _failure(run: Recording) -> dict[str, str] | None:
    return None if run.failure is None else run.failure.diagnostic.to_json()


def _error_of(message: Mapping[str, str] | None) -> InputError | None:
    if message is None:
        return None
    return InputError(message["code"], message["where"], message["message"], message["hint"])
