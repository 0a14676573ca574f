"""The peers, and the environment of its own that each one gets: `python benchmarks/peers.py` makes them all.

An environment is made once under `build/bench-envs/<name>` and made again when its requirements changed. They are
kept apart because `mujoco-usd` pins `mujoco-core` and breaks beside `mujoco`, newton brings another MuJoCo, and two
MuJoCo generations cannot share one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from places import REPO

ENVIRONMENTS = REPO / "build" / "bench-envs"
DRIVERS = Path(__file__).resolve().parent / "drivers"


def interpreter(version: str) -> str:
    """A Python of that version that can make environments: on the path, or pyenv's, whose shim may not run."""
    prefix = ""
    if shutil.which("pyenv"):
        asked = subprocess.run(["pyenv", "prefix", version], capture_output=True, text=True, check=False)
        prefix = asked.stdout.strip()
    code = f"import sys, venv, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
    for found in (shutil.which(f"python{version}"), f"{prefix}/bin/python{version}"):
        if found and Path(found).exists() and not subprocess.run([found, "-c", code], capture_output=True).returncode:
            return found
    raise SystemExit(f"Python {version} with venv is needed, and was found neither on the path nor in pyenv")


@dataclass(frozen=True)
class Environment:
    """A virtual environment with pinned requirements."""

    name: str
    requirements: tuple[str, ...]
    version: str = ""
    """Of Python, where the peer wants another than ours."""

    @property
    def python(self) -> Path:
        """Its interpreter, whether or not it exists yet."""
        return ENVIRONMENTS / self.name / "bin" / "python"

    def ensure(self) -> Path:
        """Its interpreter; the environment is made first where it is missing or stale."""
        folder, stamp = ENVIRONMENTS / self.name, ENVIRONMENTS / self.name / "requirements.txt"
        wanted = "\n".join(self.requirements)
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return self.python
        print(f"making {folder.relative_to(REPO)}: {' '.join(self.requirements)}", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        if self.version:
            subprocess.run([interpreter(self.version), "-m", "venv", folder], check=True)
        else:
            venv.create(folder, with_pip=True)
        subprocess.run([self.python, "-m", "pip", "install", "--quiet", *self.requirements], check=True)
        stamp.write_text(wanted, encoding="utf-8")
        return self.python


@dataclass(frozen=True)
class Peer:
    """Another converter, called through a driver that takes `SRC DST [--prim PATH]`."""

    name: str
    title: str
    environment: Environment
    driver: str
    suffix: str

    def command(self) -> list[str]:
        """How it is started; source and target follow."""
        return [str(self.environment.ensure()), str(DRIVERS / self.driver)]


NEWTON = Peer(
    name="newton",
    title="newton 1.8.0",
    environment=Environment("newton", ("newton[sim,importers]==1.8.0",)),
    driver="newton_mujoco.py",
    suffix=".xml",
)
DECODER = Peer(
    name="decoder",
    title="mujoco-usd 4.0.1 (MuJoCo's decoder)",
    environment=Environment("decoder", ("mujoco-usd==4.0.1",)),
    driver="decoder.py",
    suffix=".xml",
)
SRL = Peer(
    name="srl",
    title="nvidia-srl-usd-to-urdf 1.0.3",
    environment=Environment("srl", ("nvidia-srl-usd-to-urdf==1.0.3",)),
    driver="srl_urdf.py",
    suffix=".urdf",
)
ISAAC_SIM = Peer(
    name="isaacsim",
    title="isaacsim-asset-isolated 6.2.0.0 (Isaac Sim 6's exporter)",
    environment=Environment("isaacsim", ("isaacsim-asset-isolated==6.2.0.0",), version="3.12"),
    driver="isaacsim_urdf.py",
    suffix=".urdf",
)
PEERS = (NEWTON, DECODER, SRL, ISAAC_SIM)
GENERATIONS = (Environment("mujoco-3.4.0", ("mujoco==3.4.0",)), Environment("mujoco-4.0.0", ("mujoco==4.0.0",)))


def peer_environment() -> dict[str, str]:
    """Variables for a peer: nothing of ours on its path, and newton's compiled kernels kept between runs."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return {**kept, "WARP_CACHE_PATH": str(ENVIRONMENTS / "warp-cache")}


def main() -> int:
    """Make every environment."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    for environment in (*(peer.environment for peer in PEERS), *GENERATIONS):
        print(environment.ensure().relative_to(REPO))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
