"""A contract as JSON: every field, SI units; no bound is null, as JSON has no infinity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from isaaclab_mirror.contract.contract import Contract


def contract_json(contract: Contract) -> dict[str, Any]:
    """As `--json` writes it; diagnostics stand beside it."""
    return {
        "joint_names": list(contract.joint_names),
        "body_names": list(contract.body_names),
        "resolved": contract.is_resolved,
        **{f.name: _json(getattr(contract, f.name)) for f in fields(contract) if f.name != "diagnostics"},
    }


def _json(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, tuple):
        return [_json(item) for item in cast(tuple[Any, ...], value)]
    if isinstance(value, Path | StrEnum):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
