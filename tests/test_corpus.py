"""Robots of the shared corpora, scored by the corpora's own judges against MuJoCo's and PhysX's numbers."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from isaaclab_mirror import ConversionOptions, InputError, ReadOptions, convert

FEW = (
    "corpus/arm26",
    "corpus/cartpole",
    "corpus/ur5e",
    "corpus-layered/go2_flat_urdf",
    "corpus-native/gate_sliding",
    "corpus-native/flying_cube",
)

BEYOND_MUJOCO = {"corpus-layered/tiago_urdf/truth.json": {"inertia"}}
"""Moments that PhysX moves and MuJoCo refuses to load (docs/decisions/0006)."""

pytestmark = pytest.mark.shared


def judge(shared: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"shared_{name}", shared / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def failures(shared: Path, truth_file: Path, tmp_path: Path) -> list[str]:
    """What a judge holds against our MJCF of one robot."""
    truth = json.loads(truth_file.read_text(encoding="utf-8"))
    target = tmp_path / "robot.xml"
    if "required" in truth:
        convert(truth_file.parent / truth["usd"], target)
        return list(judge(shared, "score").score(truth, str(target)).to_json()["required_failed"])
    judge_ = judge(shared, "physx_score")
    usd = judge_.usd_of(str(truth_file.parent), truth)
    physx, articulation = judge_.find_articulation(truth)
    several = sum(a["dof_count"] > 0 for a in physx.get("articulations") or []) > 1
    options = ConversionOptions(read=ReadOptions(prim=articulation["path"] if several else None))
    try:
        convert(usd, target, options)
    except InputError as error:
        return [] if articulation is None else [str(error)]
    return [f"{check}: {v[1]}" for check, v in judge_.score(truth, str(target)).items() if v is not None and not v[0]]


@pytest.mark.parametrize("folder", FEW)
def test_a_robot_passes_every_check_of_its_judge(shared: Path, tmp_path: Path, folder: str):
    truths = sorted((shared / folder).rglob("truth*.json"))
    assert truths
    for truth in truths:
        assert failures(shared, truth, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["corpus", "corpus-layered", "corpus-native"])
def test_every_robot_of_a_corpus_passes(shared: Path, tmp_path: Path, corpus: str):
    found = {
        str(t.relative_to(shared)): failures(shared, t, tmp_path)
        for t in sorted((shared / corpus).rglob("truth*.json"))
    }
    missed = {robot: {each.split(":")[0] for each in why} for robot, why in found.items() if why}
    assert missed == {robot: why for robot, why in BEYOND_MUJOCO.items() if robot.startswith(f"{corpus}/")}, found
