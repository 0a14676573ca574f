"""Where the benchmarks find robots and scorers, and where they leave results. Standard library only."""

from __future__ import annotations

import argparse
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
SOURCE = REPO / "source"
RESULTS = REPO / "build" / "benchmarks"
VARIABLE = "ISAACLAB_MIRROR_SHARED"


@dataclass(frozen=True)
class Robot:
    """One stage of the corpus."""

    name: str
    usd: Path


def add_shared_argument(parser: argparse.ArgumentParser) -> None:
    """`--shared DIR`, or the environment, or `../shared` beside the repository."""
    default = Path(os.environ.get(VARIABLE, REPO.parent / "shared"))
    text = f"folder with corpus/, corpus-layered/, corpus-native/ and tools/ (else ${VARIABLE}, else ../shared)"
    parser.add_argument("--shared", type=Path, default=default, help=text)


def corpus_robots(corpus: Path, only: str | None = None) -> list[Robot]:
    """Every stage that a truth file of the corpus names, `_physx` variants too, in the order of their names."""
    found: list[Robot] = []
    for truth in sorted(corpus.glob("*/truth*.json")):
        if not re.match(r"truth(_\w+)?\.json$", truth.name):
            continue
        facts = json.loads(truth.read_text(encoding="utf-8"))
        suffix = "" if facts["flavour"] == "mjc" else f"_{facts['flavour']}"
        found.append(Robot(facts["robot"] + suffix, truth.parent / facts["usd"]))
    wanted = set(only.split(",")) if only else None
    return [robot for robot in sorted(found, key=lambda r: r.name) if wanted is None or robot.name in wanted]


def our_environment() -> dict[str, str]:
    """The environment in which this package runs from its sources."""
    path = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}
