"""This package, for the warm comparison; from process start it is measured by its own command."""

from __future__ import annotations

import serving

from isaaclab_mirror.conversion import ConversionOptions
from isaaclab_mirror.conversion import convert as convert_file
from isaaclab_mirror.formats.options import ReadOptions


def convert(source: str, target: str, prim: str | None) -> None:
    """As the command line converts."""
    convert_file(source, target, ConversionOptions(read=ReadOptions(prim=prim)))


if __name__ == "__main__":
    raise SystemExit(serving.main(convert))
