# Needs git, make and Python ≥ 3.11; everything else goes into .venv.
PYTHON ?= python3
# PhysX (Linux, glibc ≥ 2.35) weighs bodies whose mass its own cooking of meshes decides; without it the rest works.
# In one step with the rest, so that pip finds versions which suit all.
EXTRAS ?= dev,physx,emulate,policy,torch,report,view
# Policies saved by torch (.pt) need it, ONNX does not. A build for the CPU is enough where the index has one.
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: install demo test test-all lint format isaaclab-env test-isaaclab bench docs-diagnostics docs-options docs-images clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or later is needed; choose one: make PYTHON=python3.12 …")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing isaaclab-mirror[$(EXTRAS)] into $(VENV): two to four minutes the first time"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]' $(TORCH) \
	|| { echo "No PhysX or no torch for this machine: installing without them"; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,emulate,policy,report,view]'; }
	@touch $@

demo: install
	$(BIN)/python scripts/demo.py --output build/demo

test: install
	$(BIN)/python -m pytest -n auto -q

test-all: install
	$(BIN)/python -m pytest -n auto -q -m 'not isaaclab'
	@if test -e .venv-lab/.installed; then $(MAKE) --no-print-directory test-isaaclab; \
	else echo 'The tests on the genuine Isaac Lab were left out: make isaaclab-env test-isaaclab'; fi

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

isaaclab-env:
	scripts/isaaclab_env.sh

test-isaaclab:
	scripts/isaaclab_env.sh --test

bench: install
	$(BIN)/python benchmarks/convert.py

docs-diagnostics: install
	$(BIN)/python scripts/make_docs.py diagnostics

docs-options: install
	$(BIN)/python scripts/make_docs.py options

docs-images: install
	$(BIN)/python scripts/make_docs.py images

clean:
	rm -rf build dist $(VENV)
