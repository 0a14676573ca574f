"""The rooms keep their order, start-up stays cheap, and what is written twice agrees."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import isaaclab_mirror
from isaaclab_mirror.codes import CODES

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "source/isaaclab_mirror"
HEAVY = {"numpy", "scipy", "lxml", "pxr", "mujoco", "trimesh", "gymnasium", "rich", "yaml", "torch", "ovphysx"}


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, cwd=ROOT)


def test_no_room_imports_what_stands_below_it():
    checked = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    "statement",
    [
        "import isaaclab_mirror",
        "from isaaclab_mirror.cli.main import main; main(['--help'])",
        "from isaaclab_mirror.cli.main import main; main(['convert', '--help'])",
        "from isaaclab_mirror.cli.main import main; main(['inspect', '--help'])",
    ],
)
def test_help_loads_nothing_heavy(statement: str):
    answer = python("-c", f"{statement}\nimport sys; print('\\n' + ' '.join(sys.modules))")
    loaded = {name.partition(".")[0] for name in answer.stdout.splitlines()[-1].split()}
    assert not loaded & HEAVY


def cpu_s(*arguments: str) -> float:
    """CPU time of one child, measured by a Python of its own so that parallel tests do not disturb it."""
    measure = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime)"
    )
    return float(python("-c", measure, sys.executable, *arguments).stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="the resource module is POSIX")
def test_help_costs_at_most_four_bare_starts():
    ratios = [cpu_s("-m", "isaaclab_mirror", "--help") / cpu_s("-c", "import argparse") for _ in range(7)]
    assert statistics.median(ratios) <= 4.0, ratios


def test_a_name_that_the_package_exports_is_no_module():
    exported = isaaclab_mirror._HOMES
    modules = {path.stem for path in SOURCE.iterdir()}
    assert not set(exported) & modules
    assert callable(isaaclab_mirror.convert)
    with pytest.raises(AttributeError):
        isaaclab_mirror.no_such_name  # noqa: B018


def test_the_versions_agree():
    extension = tomllib.loads((ROOT / "config/extension.toml").read_text(encoding="utf-8"))
    assert extension["package"]["version"] == isaaclab_mirror.__version__
    assert f"## {isaaclab_mirror.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_kit_finds_what_the_extension_names():
    extension = tomllib.loads((ROOT / "config/extension.toml").read_text(encoding="utf-8"))
    for module in extension["python"]["module"]:
        assert (ROOT / module["path"] / Path(*module["name"].split("."))).with_suffix(".py").is_file()
    for named in ("readme", "changelog"):
        assert (ROOT / extension["package"][named]).is_file()


def used_codes() -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py") if path.name != "codes.py")
    return {code for text in texts for code in re.findall(r'"([EV]\d{3})"', text)}


def test_every_code_is_documented_and_every_documented_code_is_used():
    assert used_codes() == set(CODES)


def test_the_example_of_a_code_shows_the_code():
    assert [name for name, code in CODES.items() if f" {name}: " not in code.example] == []


@pytest.mark.parametrize("page", ["diagnostics", "options"])
def test_a_generated_page_is_what_its_command_writes(page: str):
    written = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    made = python("-c", f"import runpy; print(runpy.run_path('scripts/make_docs.py')['{page}_page'](), end='')")
    assert written == made.stdout, f"run `make docs-{page}`"


def test_links_in_the_documents_lead_somewhere():
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("data/*.md"))
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert not broken
