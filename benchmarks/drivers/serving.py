"""What every driver shares: convert one file, or serve conversions to a benchmark that times them warm.

A driver runs inside the environment of its converter, so this file needs nothing but the standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable

Convert = Callable[[str, str, "str | None"], object]


def main(convert: Convert) -> int:
    """`SRC DST [--prim PATH]` converts once; `--serve` answers one JSON line for each `SRC<tab>DST` on stdin.

    Exit code 2 with a message stands for a refusal, whatever the converter raised.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("source", nargs="?")
    parser.add_argument("target", nargs="?")
    parser.add_argument("--prim")
    parser.add_argument("--serve", action="store_true")
    args = parser.parse_args()
    if args.serve:
        return serve(convert)
    try:
        convert(args.source, args.target, args.prim)
    except Exception as error:  # noqa: BLE001 - whatever a converter raises is its verdict
        print(f"{type(error).__name__}: {error}".replace("\n", " ")[:300], file=sys.stderr)
        return 2
    return 0


def serve(convert: Convert) -> int:
    """Answer requests until stdin ends; the answers keep stdout to themselves, chatter goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        source, target = line.rstrip("\n").split("\t")
        error = None
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            convert(source, target, None)
        except Exception as raised:  # noqa: BLE001 - as above
            error = f"{type(raised).__name__}: {raised}".replace("\n", " ")[:300]
        answer = {"error": error, "cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}
        print(json.dumps(answer), file=answers, flush=True)
    return 0
