# Every target sets up what it needs, and no more: an environment in .venv, from hash-locked requirements.
PYTHON ?= python3
BIN := $(if $(filter Windows_NT,$(OS)),.venv/Scripts,.venv/bin)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
NEWEST := .venv-newest
CORE := .venv/.core
WEB := .venv/.web
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help demo serve studio vendor test test-all test-portable nightly newest again lint docs bench build clean lock

help:  ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("sfumato needs Python 3.11 or newer: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv

$(CORE): requirements/core.txt requirements/build.txt pyproject.toml | $(BIN)/python
	$(PIP) --require-hashes -r requirements/core.txt -r requirements/build.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $(CORE)

$(WEB): requirements/web.txt $(CORE)
	$(PIP) --require-hashes -r requirements/web.txt
	@touch $(WEB)

$(READY): requirements/dev.txt pyproject.toml | $(BIN)/python
	$(PIP) --require-hashes -r requirements/dev.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $(CORE) $(WEB) $(READY)

demo: $(CORE)  ## Protect an invented cohort and say where the report is.
	$(BIN)/sfumato demo --out demo

serve: $(WEB) vendor  ## Serve a demo of the gate on this machine, with people to log in as.
	$(BIN)/sfumato serve --demo

studio: $(WEB) vendor  ## Open an invented cohort in the studio, and print its address.
	@mkdir -p demo
	@test -f demo/cohort.csv || $(BIN)/python -c "from sfumato.examples import cohort; cohort(2000).write_csv('demo/cohort.csv')"
	$(BIN)/sfumato studio demo/cohort.csv

vendor: $(CORE)  ## Fetch htmx and Pico CSS for the pages, checked by their hashes (needs npm's registry, once).
	$(BIN)/python src/sfumato/web/vendor/fetch.py $(IF_POSSIBLE)

test test-all nightly: IF_POSSIBLE := --if-possible

test: $(READY) vendor  ## Layers, types, style and all fast tests (about 5 minutes on two cores).
	@$(BIN)/python -m tests.running test

test-all: $(READY) vendor  ## Every test: simulations, large inputs, a real browser, those of the night.
	@$(BIN)/python -m tests.running all

test-portable: $(READY)  ## Numeric tests and releases under the arithmetic of other processors.
	@$(BIN)/python -m tests.running portable

nightly: $(READY) vendor  ## Tests that are repetition alone; writes tests/nightly.toml, to be committed.
	@$(BIN)/python -m tests.running nightly

newest:  ## Unmarked tests with the newest versions of all that is needed, in an environment of their own; which differ.
	$(PYTHON) -m venv --clear $(NEWEST)
	$(subst .venv,$(NEWEST),$(BIN))/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(subst .venv,$(NEWEST),$(PIP)) --editable ".[all,spark]" --group dev
	@$(subst .venv,$(NEWEST),$(BIN))/python -m tests.running newest

again: $(READY)  ## A test that failed by chance, 50 times alone and in ten orders: make again TEST=tests/...::test_...
	@$(BIN)/python -m tests.running again "$(TEST)"

lint: $(READY)  ## Mend style where it can be mended.
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks

docs: $(READY)  ## Build the documentation into site/.
	$(BIN)/zensical build --clean

bench: $(READY)  ## Run the benchmarks and write their results.
	$(BIN)/python -m benchmarks

build: $(READY) vendor  ## Build the wheel and the source archive into dist/, and look whether they are whole.
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/python src/sfumato/web/vendor/fetch.py --look dist/*

LOCK := uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 pyproject.toml
lock:  ## Resolve the requirements anew (needs uv).
	$(LOCK) --all-extras --group dev --no-emit-package pyspark --no-emit-package py4j --upgrade -o requirements/dev.txt
	$(LOCK) --constraint requirements/dev.txt -o requirements/core.txt
	$(LOCK) --constraint requirements/dev.txt --extra studio --extra server -o requirements/web.txt
	$(subst pyproject.toml,,$(LOCK)) --constraint requirements/dev.txt --group build -o requirements/build.txt

clean:  ## Remove everything that was built.
	rm -rf .venv $(NEWEST) demo site dist build src/sfumato/web/static/vendor .pytest_cache .mypy_cache .ruff_cache .hypothesis
