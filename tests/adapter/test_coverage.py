"""Which of Isaac Lab's tasks the adapter knows: docs/coverage.md is what the code says, and more than two thirds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from isaaclab_mirror.adapter.coverage import coverage
from isaaclab_mirror.contract.loading import load_contract

ROOT = Path(__file__).parents[2]


def test_the_published_velocity_tasks_have_nothing_left_out(shared: Path):
    for task in ("Isaac-Velocity-Rough-UnitreeGo2", "Isaac-Velocity-Flat-G1", "IsaacContrib-Velocity-Flat-Spot"):
        found = coverage(load_contract(shared / "isaaclab-configs" / task, resolve=False))
        assert found.covered
        assert not found.left_out


def test_a_task_that_is_not_covered_names_every_missing_term(shared: Path):
    found = coverage(load_contract(shared / "isaaclab-configs/IsaacContrib-Navigation-Flat-AnymalC", resolve=False))
    assert [str(term) for term in found.missing] == [
        "action PreTrainedPolicyAction (isaaclab_tasks/contrib/navigation/mdp/pre_trained_policy_action.py, "
        "nearest known JointVelocityAction)"
    ]


@pytest.mark.slow
def test_two_thirds_of_the_tasks_are_covered_and_the_page_says_so(shared: Path, tmp_path: Path):
    folders = [file.parent for file in sorted((shared / "isaaclab-configs").glob("*/env.yaml"))]
    assert len(folders) == 75
    covered = [folder.name for folder in folders if coverage(load_contract(folder, resolve=False)).covered]
    assert len(covered) >= 2 / 3 * len(folders)
    before = (ROOT / "docs/coverage.md").read_text()
    script = "import runpy; print(runpy.run_path('scripts/make_docs.py')['coverage_of_tasks'](), end='')"
    made = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout == before
