"""contract.toml: a whole contract in one file that people can edit; read back it is the same contract."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isaaclab_mirror.contract.contract import SCHEMA, Contract
from isaaclab_mirror.contract.safe_yaml import read_text
from isaaclab_mirror.contract.toml_text import from_toml, to_toml
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.files import move_into_place, staging_folder

HEAD = """\
# What a policy expects: `isaaclab-mirror contract` wrote it, every command takes it in place of a run folder.
# SI units, radians, z up; quaternions in `*_wxyz` are wxyz, those in params and config are in `quat_order`.
# Per-joint arrays stand in the order of `joints` of their table. What is not here has its default (docs/contract.md).

"""


def write_contract(contract: Contract, path: str | Path) -> Path:
    """Write contract.toml, complete or not at all; files are named relative to it."""
    file = Path(path).absolute()
    text = HEAD + f"schema = {SCHEMA}\n" + to_toml(contract, file.parent)
    with staging_folder(file) as folder:
        draft = folder / file.name
        draft.write_text(text, encoding="utf-8")
        move_into_place([draft], folder, file)
    return file


def read_contract(path: str | Path) -> Contract:
    """The contract of a contract.toml."""
    import tomllib

    file = Path(path).absolute()
    try:
        document = tomllib.loads(read_text(file))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError("E103", file, f"it is no TOML: {error}", "was it edited?") from None
    return from_toml(Contract, _checked(document, file), file.name, file.parent)


def is_contract(document: Mapping[str, Any]) -> bool:
    """Whether a TOML document is a contract."""
    return "schema" in document and "sim" in document


def _checked(document: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
    schema = document.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise InputError("E111", f"{file.name}:schema", "the key is missing: this is no contract.toml")
    if schema > SCHEMA:
        raise InputError(
            "E111", f"{file.name}:schema", f"schema {schema} is later than {SCHEMA}", "update isaaclab-mirror"
        )
    return document
