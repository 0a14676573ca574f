"""YAML as plain data: the tags that Isaac Lab writes are read, no object is ever made, nothing of a file runs.

Tuples and lists become tuples, `slice(None)` becomes None and any other slice `{"slice": (start, stop, step)}`, a
function or class its `module:name`, the fields of a dumped config object a mapping. Any tag that would make or call
something is refused, with the key at which it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from isaaclab_mirror.diagnostics import InputError

MOST_NODES = 400_000
"""Values in one file, each alias counted where it is used. The largest env.yaml of Isaac Lab's has 20 thousand."""
MOST_BYTES = 64 * 2**20
DEEPEST = 100
TAG = "tag:yaml.org,2002:python/"
HINT = "replace the value by plain numbers, text, lists or mappings; such files can run code, so nothing of it is made"


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands where a tag was that is not read; found, with its key, when the document is walked."""

    tag: str
    line: int


def load_yaml(file: Path) -> dict[str, Any]:
    """The mapping of a YAML file as plain data."""
    import yaml

    text = read_text(file)
    try:
        _refuse_depth(text, file)
        document = yaml.load(text, Loader=_loader())  # noqa: S506 - a SafeLoader without a constructor of objects
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file.name}:{mark.line + 1}" if mark is not None else file.name
        reason = getattr(error, "problem", None) or " ".join(str(error).split())
        raise InputError("E103", where, f"it is no YAML: {reason}", "was it copied as a whole?") from None
    except ValueError as error:
        raise InputError("E103", file, f"it is no YAML: {error}", "was it copied as a whole?") from None
    if document is None:
        raise InputError("E103", file, "the file is empty", "was it copied as a whole?")
    if not isinstance(document, dict):
        kind = "a list" if isinstance(document, list | tuple) else "a single value"
        raise InputError("E103", file, f"it holds {kind} where keys are expected", "is it the right file?")
    return cast(dict[str, Any], _Walk(file).plain(cast(Any, document), "", 0))


def _refuse_depth(text: str, file: Path) -> None:
    """Nesting, event by event: libyaml builds nodes by recursion and dies of a deep file."""
    import yaml

    depth = 0
    for event in cast(Any, yaml).parse(text, Loader=_loader()):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                line = event.start_mark.line + 1
                raise InputError("E103", f"{file.name}:{line}", f"it is nested more than {DEEPEST} deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def read_text(file: Path) -> str:
    """A config's text; what is not there, too large or no text is refused."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise InputError("E103", file, f"it has more than {MOST_BYTES // 2**20} MB: no config is that large")
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("E103", file, "it is no UTF-8 text", "is it the right file?") from None
    except OSError as error:
        raise InputError("E103", file, f"it cannot be read: {error.strerror}", "check the path") from None


class _Walk:
    """Turns a document into plain data, counting: aliases share nodes, and a small file can spell out a huge one."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._left = MOST_NODES

    def plain(self, value: Any, path: str, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise InputError(
                "E103", self._file, f"it spells out more than {MOST_NODES} values", "aliases (&a, *a) multiply in it"
            )
        if depth > DEEPEST:
            raise InputError("E103", f"{self._file.name}:{path[:80]}", f"it is nested more than {DEEPEST} deep")
        if isinstance(value, Mapping):
            mapping = cast(Mapping[Any, Any], value)
            return {
                self._key(k, path): self.plain(v, f"{path}.{k}" if path else str(k), depth + 1)
                for k, v in mapping.items()
            }
        if isinstance(value, list | tuple | set):
            items = cast(list[Any], value)
            return tuple(self.plain(item, f"{path}[{k}]", depth + 1) for k, item in enumerate(items))
        if isinstance(value, _Refused):
            where = f"{self._file.name}:{path or value.line}"
            raise InputError("E103", where, f"the tag !!python/{value.tag} (line {value.line}) is not read", HINT)
        if value is None or isinstance(value, bool | int | float | str):
            return value
        return str(value)  # dates and bytes, which no config of ours has a meaning for

    def _key(self, key: Any, path: str) -> str:
        if isinstance(key, _Refused):
            raise InputError("E103", f"{self._file.name}:{path}", f"the tag !!python/{key.tag} is not read", HINT)
        return str(key)


@cache
def _loader() -> type[Any]:
    import yaml

    base = cast(Any, getattr(yaml, "CSafeLoader", yaml.SafeLoader))

    class Loader(base):
        """SafeLoader with the tags of Isaac Lab's dumps."""

    def sequence(loader: Any, node: Any) -> Any:
        return tuple(loader.construct_sequence(node, deep=True))

    def slices(loader: Any, node: Any) -> Any:
        parts = sequence(loader, node) if node.id == "sequence" else ()
        return None if all(part is None for part in parts) else {"slice": parts}

    def name(loader: Any, suffix: str, node: Any) -> Any:
        module, _, attribute = suffix.rpartition(".")
        return f"{module}:{attribute}"

    def resolvable(loader: Any, suffix: str, node: Any) -> Any:
        fields: Any = loader.construct_mapping(node, deep=True) if node.id == "mapping" else {}
        args: Any = fields.get("args") or (sequence(loader, node) if node.id == "sequence" else ())
        if suffix.rpartition(".")[2] == "ResolvableString" and args and isinstance(args[0], str):
            return args[0]
        return _Refused(f"object/new:{suffix}", node.start_mark.line + 1)

    def config(loader: Any, suffix: str, node: Any) -> Any:
        if suffix.endswith("Cfg") and node.id == "mapping":
            return loader.construct_mapping(node, deep=True)
        return _Refused(f"object:{suffix}", node.start_mark.line + 1)

    def other(loader: Any, suffix: str, node: Any) -> Any:
        return _Refused(suffix, node.start_mark.line + 1)

    Loader.add_constructor(TAG + "tuple", sequence)
    Loader.add_constructor(TAG + "object/apply:builtins.slice", slices)

    def foreign(loader: Any, suffix: str, node: Any) -> Any:
        return other(loader, f"…!{suffix}", node)

    Loader.add_multi_constructor(TAG + "object:", config)
    Loader.add_multi_constructor(TAG + "object/new:", resolvable)
    Loader.add_multi_constructor(TAG + "name:", name)
    Loader.add_multi_constructor(TAG, other)  # the first prefix that fits is taken
    Loader.add_multi_constructor("!", foreign)
    return Loader
