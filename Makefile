# Two commands on a fresh clone: `make demo` and `make test`.  Everything they need is installed into .venv.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test test-full test-lowest lint bench studies calibration campaigns docs docs-open docs-check docs-images exports \
	release-check clean

# The newest Python on the path that is new enough.
PYTHON ?= $(shell for p in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# Processes of the full tier.
WORKERS ?= 2

# Many tests start Python; without bytecode each start would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo "make demo        install, then stream embedded data through a row screen and a column selector"
	@echo "make test        install, then test what a commit may break"
	@echo "make test-full   every variant and seed, real data (STREAMSIEVE_DATA), kernels without the JIT"
	@echo "make test-lowest the quick tier with the oldest supported versions of NumPy, SciPy and scikit-learn"
	@echo "make lint        ruff, mypy, import-linter"
	@echo "make bench       speed and memory against peers; rewrites benchmarks/RESULTS.md"
	@echo "make studies     the papers' tables and figures next to ours; real data by STREAMSIEVE_DATA"
	@echo "make calibration sizes of tests and false discovery rates of rules under many nulls; rewrites docs/evidence"
	@echo "make campaigns   try to break it for a minute each: inputs, states, files, kills; rewrites docs/evidence"
	@echo "make exports     write imports, public names, tables and lists after a class or file was added"
	@echo "make release-check  build wheel and sdist, install each extra into an empty environment, use it"
	@echo "make docs        the site, in docs/_build/html; make docs-open serves it"
	@echo "make docs-check  README, docs and gallery say what the code does; links, names, figures, the site in a browser"
	@echo "make docs-images pictures of terminal, notebook, report and drift, for the docs; needs Chromium"

.venv/made:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed, and none is on the path"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

# .venv/with-EXTRA stands for an installation with that extra, as pyproject.toml describes it.
.venv/with-%: pyproject.toml .venv/made
	@echo "installing streamsieve[$*] into .venv (once, a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

demo: .venv/with-cli
	@$(BIN)/streamsieve demo

exports: .venv/with-dev
	$(BIN)/python -m tools.exports

test: .venv/with-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The quick tier with the oldest supported versions, in an environment of its own.
.venv-lowest/made: pyproject.toml tools/lowest.txt
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --requirement tools/lowest.txt --editable ".[cli,dask,excel,kafka,sql]"
	@touch $@

test-lowest: .venv-lowest/made
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal

test-full: .venv/with-dev
	@$(MAKE) --silent .venv/with-spark || echo "Spark could not be installed: its tests are skipped"
	$(BIN)/python -m pytest --full -n $(WORKERS) --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q --full -n $(WORKERS) --dist worksteal tests/kernels

lint: .venv/with-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/with-bench
	$(BIN)/python -m benchmarks

studies: .venv/with-cli
	$(BIN)/python -m studies

calibration: .venv/with-dev
	$(BIN)/python -m studies.calibration

campaigns: .venv/with-dev
	$(BIN)/python -m campaigns --write

docs: .venv/with-docs
	$(BIN)/python -m sphinx -W --keep-going -j 2 -b html docs docs/_build/html

docs-open: docs
	$(BIN)/python -m http.server --directory docs/_build/html --bind 127.0.0.1 8000

docs-check: .venv/with-dev
	$(BIN)/python -m pytest -q --full tests/docs tests/examples/test_gallery.py src

docs-images: .venv/with-dev
	$(BIN)/python -m tools.pictures

release-check: .venv/with-dev
	$(BIN)/python -m tools.release $(if $(TAG),--tag $(TAG))

clean:
	rm -rf .venv .venv-lowest demo docs/_build
