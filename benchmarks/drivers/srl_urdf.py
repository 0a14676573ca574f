"""USD → URDF by `nvidia-srl-usd-to-urdf`, the exporter of Isaac Sim 4 and 5, through its own command."""

from __future__ import annotations

import sys

import serving
from nvidia.srl.from_usd import usd_to_urdf_cli


def convert(source: str, target: str, prim: str | None) -> None:
    """Its command with an output file, and the root where one robot is chosen."""
    sys.argv = ["usd_to_urdf", source, "--output", target, *([] if prim is None else ["--root", prim])]
    usd_to_urdf_cli.main()


if __name__ == "__main__":
    raise SystemExit(serving.main(convert))
