"""USD → MJCF by MuJoCo's own decoder, `mujoco-usd`."""

from __future__ import annotations

import mujoco
import serving


def convert(source: str, target: str, prim: str | None) -> None:
    """The decoder knows no choice of a prim: it reads the whole stage."""
    spec = mujoco.MjSpec.from_file(source)
    spec.compile()
    with open(target, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs start-up time that is not the decoder's
        file.write(spec.to_xml())


if __name__ == "__main__":
    raise SystemExit(serving.main(convert))
