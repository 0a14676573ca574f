"""Mass properties of every body of a stage as PhysX has them, in a process of its own.

`python -m isaaclab_mirror.sims.physx_masses args.json`, started by `formats/usd/physx_masses_client.py`. args.json:
`{"stage": a USD file, "output": a JSON file to write}`. The output maps prim paths to
`{"mass": m, "com": [x, y, z], "inertia": [nine numbers, row by row, about the COM in link axes]}`, in stage units.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

ATTRIBUTES = {"mass": "mass", "com": "centerOfMassPosition", "inertia": "inertia"}
"""Key of the output → attribute of PhysX's bodies."""


def body_masses(file: Path) -> dict[str, dict[str, Any]]:
    """Load a stage into PhysX on the CPU and read its articulation links and rigid bodies."""
    import ovphysx
    import ovstage
    from ovphysx.samples.python_samples.schema_support import physx_schema_paths
    from ovphysx.types import SimObjectType

    schemas = [*map(str, physx_schema_paths()), str(ovphysx.newton_schema_root())]
    ovstage.population.register_usd_schemas(schemas)
    ovphysx.PhysX.set_cpu_mode(True)
    physx, stage = ovphysx.PhysX(), ovstage.Stage("masses")
    ovstage.population.open_usd(stage, str(file), ordinal=1, domains=ovstage.PopulationDomain.ALL)
    stage.advance_write_floor(ordinal=1).wait()
    physx.wait_task(physx.attach_ovstage(stage, read_ordinal=1))
    physx.wait_all()
    bodies: dict[str, dict[str, Any]] = {}
    for kind in (SimObjectType.ARTICULATION_LINK, SimObjectType.RIGID_BODY):
        for key, attribute in ATTRIBUTES.items():
            with physx.read_sync(kind, [attribute]) as read:
                for group in read.groups:
                    rows = group.tensors[0].numpy()
                    for path, row in zip(read.dictionary.get_path_strings(group.prim_list), rows, strict=False):
                        numbers = [float(x) for x in row.reshape(-1)]
                        bodies.setdefault(str(path), {})[key] = numbers[0] if key == "mass" else numbers
    return bodies


def main(arguments: list[str]) -> int:
    """Write the output whole or not at all."""
    (file,) = arguments
    args = json.loads(Path(file).read_text(encoding="utf-8"))
    output = Path(args["output"])
    part = output.with_suffix(".part")
    part.write_text(json.dumps(body_masses(Path(args["stage"]))), encoding="utf-8")
    part.replace(output)
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # the native runtime's teardown is not needed, and must not be able to spoil the answer
