"""Edges of the shapes that PhysX cooked from mesh colliders, in a process of its own.

`python -m isaaclab_mirror.sims.physx_hulls args.json`, started by `formats/usd/physx_hulls_client.py`. args.json:
`{"stage": a USD file, "colliders": [prim paths], "output": an npz file to write}`. The output holds, by the place of
its collider in the list, the edges (n, 2, 3) that PhysX draws of it, in the world, in stage units.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from isaaclab_mirror.sims.physx_engine import PhysxEngine


def main(arguments: list[str]) -> int:
    """Write the output whole or not at all."""
    import numpy as np

    (file,) = arguments
    args = json.loads(Path(file).read_text(encoding="utf-8"))
    output = Path(args["output"])
    lines = PhysxEngine(Path(args["stage"])).collider_edges(args["colliders"])
    part = output.with_suffix(".part.npz")
    arrays: dict[str, Any] = {str(k): edges for k, edges in enumerate(lines)}
    np.savez(part, **arrays)
    part.replace(output)
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # the native runtime's teardown is not needed, and must not be able to spoil the answer
