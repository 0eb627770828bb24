# Every target sets up what it needs: an environment in .venv, from hash-locked requirements.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help demo serve studio vendor test test-all test-portable nightly again lint docs bench build clean lock

help:  ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

$(READY): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("sfumato needs Python 3.11 or newer: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

demo: $(READY)  ## Protect an invented cohort and say where the report is.
	$(BIN)/sfumato demo --out demo

serve: $(READY) vendor  ## Serve a demo of the gate on this machine, with people to log in as.
	$(BIN)/sfumato serve --demo

studio: $(READY) vendor  ## Open an invented cohort in the studio, and print its address.
	@mkdir -p demo
	@test -f demo/cohort.csv || $(BIN)/python -c "from sfumato.examples import cohort; cohort(2000).write_csv('demo/cohort.csv')"
	$(BIN)/sfumato studio demo/cohort.csv

vendor: $(READY)  ## Fetch htmx and Pico CSS for the pages, checked by their hashes (needs npm's registry, once).
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

lock:  ## Resolve the requirements anew (needs uv).
	uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
	    pyproject.toml --all-extras --group dev --no-emit-package pyspark --no-emit-package py4j -o requirements/dev.txt

clean:  ## Remove everything that was built.
	rm -rf .venv demo site dist build src/sfumato/web/static/vendor .pytest_cache .mypy_cache .ruff_cache .hypothesis
