# `make demo` and `make test` do all the set-up: Python 3.11 or newer is all that must be there.
# Everything they write is inside this folder: .venv, build, data, runs and the tools' caches.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
READY := .venv/.ready
CORES ?= 2

export PIP_CACHE_DIR := $(CURDIR)/build/pip
export TORCHINDUCTOR_CACHE_DIR := $(CURDIR)/build/inductor
export TRITON_CACHE_DIR := $(CURDIR)/build/triton
export PYTEST_DEBUG_TEMPROOT := $(CURDIR)/build/tests

.PHONY: demo test lint browser clean

demo: $(READY)
	$(BIN)/heedful demo

test: lint
	@mkdir -p $(PYTEST_DEBUG_TEMPROOT)
	$(BIN)/python -m pytest -q -n $(CORES) --cov --cov-report=term --cov-fail-under=90

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Pages are tested in a real browser, where there is one; without it those tests say so and are left
# out. This installs Debian's, for the whole machine: the one thing here that is not in this folder.
browser:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		(apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 || \
		(apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends chromium >/dev/null)); } || \
		echo "no chromium: tests in a browser will be left out"

# torch goes first and by its pinned version, so that the one for the CPU is taken where there is one.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt setuptools torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		--no-build-isolation -e '.[dev]'
	touch $@

clean:
	rm -rf .venv build data runs .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage src/*.egg-info
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
