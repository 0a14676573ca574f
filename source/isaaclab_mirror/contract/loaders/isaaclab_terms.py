"""How an env.yaml says terms: observation groups, actions, and the terms of the other managers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from isaaclab_mirror.contract.contract import ActionTerm, ObservationGroup, ObservationTerm, Term, bare_name
from isaaclab_mirror.contract.node import Node, as_number

TERM_FIELDS = frozenset(("func", "class_type", "params", "mode", "interval_range_s", "weight", "time_out"))


def read_observations(node: Node) -> tuple[ObservationGroup, ...]:
    """Every group, terms in the file's order."""
    return tuple(_group(name, group) for name, group in node.children())


def _group(name: str, node: Node) -> ObservationGroup:
    length = node.whole("history_length") if "history_length" in node else None
    flatten = node.flag("flatten_history_dim", True)
    terms = [
        _observation(key, term, length, flatten)
        for key, term in node.children()
        if "func" in term.data  # a null term was switched off by a subclass of the task's config
    ]
    return ObservationGroup(
        name=name,
        terms=tuple(terms),
        concatenate=node.flag("concatenate_terms", True),
        concatenate_dim=int(node.number("concatenate_dim", -1)),
        enable_corruption=node.flag("enable_corruption", False),
        history_length=length,
        flatten_history=flatten,
        history_order=node.text("history_order", "term"),
    )


def _observation(name: str, node: Node, group_length: int | None, group_flatten: bool) -> ObservationTerm:
    """A group's history length overrides the terms' own, which a dump may still show."""
    own = node.whole("history_length", 0)
    return ObservationTerm(
        name=name,
        func=node.text("func"),
        params=node.child("params").data,
        scale=number_or_several(node, "scale"),
        clip=bounds(node, "clip"),
        noise=node.child("noise").data if "noise" in node else None,
        modifiers=_mappings(node, "modifiers"),
        delay_min_lag=node.whole("delay_min_lag", 0),
        delay_max_lag=node.whole("delay_max_lag", 0),
        delay_hold_prob=node.number("delay_hold_prob", 1.0),
        history_length=own if group_length is None else group_length,
        flatten_history=node.flag("flatten_history_dim", True) if group_length is None else group_flatten,
    )


def read_actions(node: Node) -> tuple[ActionTerm, ...]:
    """Every action term in the file's order, numbers still by pattern in `params`."""
    result: list[ActionTerm] = []
    for name, term in node.children():
        class_type = term.text("class_type")
        result.append(
            ActionTerm(
                name=name,
                kind=bare_name(class_type),
                class_type=class_type,
                asset=term.text("asset_name", "robot"),
                joint_patterns=term.names("joint_names"),
                preserve_order=term.flag("preserve_order"),
                use_default_offset=term.flag("use_default_offset"),
                params=term.data,
            )
        )
    return tuple(result)


def read_terms(node: Node, func: str = "func") -> tuple[Term, ...]:
    """Commands (`func="class_type"`, whose params are the whole config) and the terms of the other managers."""
    result: list[Term] = []
    for name, term in node.children():
        if not term.name_of(func):
            continue
        interval = bounds(term, "interval_range_s")
        result.append(
            Term(
                name=name,
                func=term.text(func),
                params=term.data if func == "class_type" else term.child("params").data,
                mode=term.text("mode", ""),
                interval_s=interval,
                weight=term.number("weight", 0.0),
                time_out=term.flag("time_out"),
                config={} if func == "class_type" else {k: v for k, v in term.data.items() if k not in TERM_FIELDS},
            )
        )
    return tuple(result)


def number_or_several(node: Node, key: str) -> tuple[float, ...]:
    """One number for all or one per value; nothing where the key is null."""
    value = node.raw(key)
    if value is None:
        return ()
    return node.numbers(key) if isinstance(value, tuple) else (node.number(key),)


def bounds(node: Node, key: str) -> tuple[float, float] | None:
    """Two numbers, the lower first; infinities count. Nothing where the key is null or empty."""
    value = node.raw(key)
    if not value:
        return None
    numbers = [as_number(item) for item in cast(tuple[Any, ...], value)] if isinstance(value, tuple) else []
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None or not numbers[0] <= numbers[1]:
        raise node.wrong(key, "two numbers, the lower first")
    return (numbers[0], numbers[1])


def _mappings(node: Node, key: str) -> tuple[Mapping[str, Any], ...]:
    value = node.raw(key)
    if value is None:
        return ()
    if not isinstance(value, tuple) or not all(isinstance(item, Mapping) for item in cast(tuple[Any, ...], value)):
        raise node.wrong(key, "a list of mappings")
    return cast(tuple[Mapping[str, Any], ...], value)
