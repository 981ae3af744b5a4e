# make demo and make test set everything up by themselves; nothing is installed twice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# pytest-xdist: one process per core, each with one thread
export OMP_NUM_THREADS := 1

.PHONY: setup demo test test-slow trust lint browser docs notebook bench results results-page clean

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
	$(BIN)/lint-imports --no-cache

# Tests of the page need Chromium. Where there is none and system packages may be installed, this installs it; it never
# fails: without a browser those tests are skipped.
browser:
	@for name in "$(DIGNN_CHROMIUM)" chromium chromium-browser google-chrome; do \
		if command -v "$$name" >/dev/null 2>&1; then exit 0; fi; \
	done; \
	if test "$$(id -u)" = 0 && command -v apt-get >/dev/null 2>&1; then \
		echo "Installing Chromium for the tests of the page."; \
		export DEBIAN_FRONTEND=noninteractive; \
		if timeout 60 apt-get -qq update >/dev/null 2>&1; \
			timeout 300 apt-get -qq install -y --no-install-recommends chromium >/dev/null 2>&1; then exit 0; fi; \
		echo "Chromium could not be installed (apt-get failed): browser tests will be skipped."; \
	else \
		echo "No Chromium here, and only root with apt-get can install it: browser tests will be skipped." \
			"Install chromium or name one by DIGNN_CHROMIUM."; \
	fi

# Checking and fetching a browser beside each other: one computes, the other waits for the network. Modules of tests run
# in the order of their folders: reordered, those with few tests would come last, which are the longest.
test: $(STAMP)
	$(MAKE) -j 2 lint browser
	$(BIN)/pytest -n 2 --dist loadscope --no-loadscope-reorder -m "not slow"

test-slow: $(STAMP) browser
	$(BIN)/pytest -m slow

# 300 models, data sets and ways to hand them over, drawn at random: does dignn ever answer wrongly without a word?
trust: $(STAMP)
	$(BIN)/python -m benchmarks.trials --seed 0

# the documentation site, in site/
docs: $(STAMP)
	$(BIN)/mkdocs build --strict

# runs the example notebook from top to bottom and keeps what it shows
notebook: $(STAMP)
	$(BIN)/jupyter execute --inplace examples/explain_a_model.ipynb

# the paper's tables: makes what is missing of three runs of each kind, which takes hours and goes on where it stopped
# Of a run that several files tell of the last one counts for everything: that of explanations, which is made anew most often.
RECORDED := $(patsubst %,docs/benchmarks/%.jsonl,fidelity feature_bank comparison explanations)
REPRODUCE := $(BIN)/dignn reproduce all --runs 3 --out docs/results --folders runs/reproduce/runs \
	--recorded $(RECORDED) --page docs/results.md
results: $(STAMP)
	$(REPRODUCE)

# the same from the runs that there are: tables are written anew, so that lines that were taken out leave them
results-page: $(STAMP)
	rm -f docs/results/table?.json docs/results/extras.json
	$(REPRODUCE) --render

bench: $(STAMP)
	$(BIN)/python -m benchmarks.house
	$(BIN)/python -m benchmarks.metric_table --table
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.realism --methods bootstrap node-growth edge-diffusion random-trees rewired
	$(BIN)/python -m benchmarks.realism --preset paper --datasets dblp --methods edge-diffusion --sizes 12 --sets 1 --seeds 0
	$(BIN)/python -m benchmarks.realism --table
	$(BIN)/python -m benchmarks.field
	$(BIN)/python -m benchmarks.field --table
	$(BIN)/python -m benchmarks.figures
	$(BIN)/python -m benchmarks.features
	$(BIN)/python -m benchmarks.features --table
	$(BIN)/python -m benchmarks.feature_bank
	$(BIN)/python -m benchmarks.feature_bank --table
	$(BIN)/python -m benchmarks.words
	$(BIN)/python -m benchmarks.explanations
	$(BIN)/python -m benchmarks.explanations --table
	$(BIN)/python -m benchmarks.comparison
	$(BIN)/python -m benchmarks.comparison --table
	$(BIN)/python -m benchmarks.sanity
	$(BIN)/python -m benchmarks.sanity --table
	$(BIN)/python -m benchmarks.worlds
	$(BIN)/python -m benchmarks.worlds --table
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.scale --table
	$(BIN)/python -m benchmarks.figures --explanations runs/explanations
	$(BIN)/python -m benchmarks.pages runs/explanations/*-0
	$(BIN)/python benchmarks/gnn_accuracy.py --forms strong --seeds 10 11 12
	$(BIN)/python benchmarks/gnn_accuracy.py --forms paper --seeds 0 1 2
	$(BIN)/python benchmarks/gnn_accuracy.py --table

clean:
	rm -rf $(VENV) runs site .mypy_cache .ruff_cache .pytest_cache
