#!/bin/sh
# Makes the environments for the tests on the genuine Isaac Lab, or (--test) runs those tests in them.
#   .venv-lab     Python 3.12: Isaac Lab 3.0.0, about 8.5 GB
#   .venv-lab232  Python 3.11: the converter base of the Isaac Lab 2.3.2 wheel, with stand-ins for Kit
set -eu
cd "$(dirname "$0")/.."

if [ "${1:-}" = --test ]; then
    for env in .venv-lab .venv-lab232; do
        [ -e "$env/.installed" ] || { echo "$env is missing or incomplete: make isaaclab-env" >&2; exit 1; }
    done
    .venv-lab/bin/python -m pytest -q -m isaaclab tests/isaaclab
    ISAACLAB_232_WHEEL=$PWD/.venv-lab232/wheel .venv-lab232/bin/python -m pytest -q -m isaaclab tests/isaaclab
    exit
fi

# A pyenv shim may stand on the path and answer "command not found": a Python is one only if it runs.
find_python() {
    for candidate in "$(command -v "python$1" || true)" "$(pyenv prefix "$1" 2>/dev/null || true)/bin/python$1"; do
        if "$candidate" -c 'import venv, ensurepip, sys; sys.exit("%d.%d" % sys.version_info[:2] != sys.argv[1])' "$1" \
            >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
    echo "Python $1 with venv is needed for Isaac Lab $2, and was found neither on the path nor in pyenv." >&2
    exit 1
}
python312=$(find_python 3.12 3.0.0)
python311=$(find_python 3.11 2.3.2)

# ovphysx wants packaging < 24, which pytest 9.2 does not: one resolution with both keeps them together.
tests='pytest>=8,<9.1 packaging<24'

if [ ! -e .venv-lab/.installed ]; then
    "$python312" -m venv .venv-lab
    .venv-lab/bin/python -m pip install --quiet --upgrade pip
    # usd-core is left out: Isaac Lab brings pxr with usd-exchange, and two of them overwrite each other.
    # shellcheck disable=SC2086 # several requirements
    .venv-lab/bin/python -m pip install 'isaaclab[ovphysx]==3.0.0' lxml rich trimesh scipy gymnasium pyyaml $tests
    .venv-lab/bin/python -m pip install --no-deps --editable .
    touch .venv-lab/.installed
fi

if [ ! -e .venv-lab232/.installed ]; then
    "$python311" -m venv .venv-lab232
    .venv-lab232/bin/python -m pip install --quiet --upgrade pip
    # Downloaded and unpacked, not installed: its dependencies are Isaac Sim.
    .venv-lab232/bin/python -m pip download --no-deps --dest .venv-lab232/download isaaclab==2.3.2
    .venv-lab232/bin/python -m zipfile -e .venv-lab232/download/isaaclab-2.3.2-*.whl .venv-lab232/wheel
    # shellcheck disable=SC2086
    .venv-lab232/bin/python -m pip install torch==2.13.0 warp-lang toml $tests
    .venv-lab232/bin/python -m pip install --editable .
    touch .venv-lab232/.installed
fi
echo 'Ready: make test-isaaclab'
