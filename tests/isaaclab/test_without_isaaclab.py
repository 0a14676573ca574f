"""What happens where Isaac Lab is not installed: these tests run everywhere."""

from __future__ import annotations

import subprocess
import sys

# Isaac Lab is hidden, so that this also says something in an environment that has it.
HIDE = """
import importlib.util as util
find = util.find_spec
util.find_spec = lambda name, *rest: None if name == "isaaclab" else find(name, *rest)
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", HIDE + code], capture_output=True, text=True, check=False)


def test_the_package_is_imported_without_isaac_lab():
    done = run("import sys, isaaclab_mirror; assert 'isaaclab' not in sys.modules")
    assert done.returncode == 0, done.stderr


def test_one_import_error_says_what_to_install():
    done = run("import isaaclab_mirror.isaaclab")
    assert done.stderr.count("Traceback") == 1
    assert "ImportError: isaaclab_mirror.isaaclab needs Isaac Lab" in done.stderr
    assert 'pip install "isaaclab[ovphysx]==3.0.0"' in done.stderr
