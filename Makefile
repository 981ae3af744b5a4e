# make demo and make test set everything up by themselves; nothing is installed twice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# pytest-xdist: one process per core, each with one thread
export OMP_NUM_THREADS := 1

.PHONY: setup demo test test-slow lint bench clean

setup: $(STAMP)

# torch comes first: pinned, it is the build for CPUs where one is at hand, and nothing after it fetches another
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

demo: $(STAMP)
	$(BIN)/dignn demo --out runs/demo

lint: $(STAMP)
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -n 2 -m "not slow"

test-slow: $(STAMP)
	$(BIN)/pytest -m slow

bench: $(STAMP)
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.realism --methods bootstrap node-growth edge-diffusion random-trees rewired
	$(BIN)/python -m benchmarks.realism --preset paper --datasets dblp --methods edge-diffusion --sizes 12 --sets 1 --seeds 0
	$(BIN)/python -m benchmarks.realism --table
	$(BIN)/python -m benchmarks.figures
	$(BIN)/python -m benchmarks.features
	$(BIN)/python -m benchmarks.features --table
	$(BIN)/python -m benchmarks.feature_bank
	$(BIN)/python -m benchmarks.feature_bank --table
	$(BIN)/python -m benchmarks.words
	$(BIN)/python -m benchmarks.explanations
	$(BIN)/python -m benchmarks.explanations --table
	$(BIN)/python -m benchmarks.figures --explanations runs/explanations
	$(BIN)/python benchmarks/gnn_accuracy.py --forms strong --seeds 10 11 12
	$(BIN)/python benchmarks/gnn_accuracy.py --forms paper --seeds 0 1 2
	$(BIN)/python benchmarks/gnn_accuracy.py --table

clean:
	rm -rf $(VENV) runs .mypy_cache .ruff_cache .pytest_cache
