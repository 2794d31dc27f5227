# Every target needs only Python 3.11 or newer and make: it builds .venv the first time and
# again when pyproject.toml or constraints.txt change.

VENV := .venv
BIN := $(VENV)/bin
REQUIREMENTS := pyproject.toml constraints.txt
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt

ARGS ?=
JOBS ?= 4
FUZZ_SECONDS ?= 60
SEED ?=

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start some hundred processes; each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help race test slow lint format bench conformance faults fuzz tournaments fuzz-tournaments clean
.DELETE_ON_ERROR:

help:
	@echo "make race         play a race here and now; ARGS='--bots 3 --seed 42' and so on"
	@echo "make test         the quick tests"
	@echo "make lint         format, style and types, nothing is changed"
	@echo "make slow         the long tests that make test leaves out"
	@echo "make format       rewrite the sources in the project's format"
	@echo "make bench        the measurements in bench/, as ratios"
	@echo "make conformance  the Autobahn websocket cases against the gateway"
	@echo "make faults       six minutes of races through kills, stalls and failovers; SEED=42 again"
	@echo "make fuzz         hostile bytes against the wire for FUZZ_SECONDS ($(FUZZ_SECONDS))"
	@echo "make tournaments  whole tournaments over nodes that die"
	@echo "make fuzz-tournaments  ten thousand random tournaments against their laws"
	@echo "make clean        remove .venv and every cache"

race: $(VENV)/.runtime
	@$(BIN)/klondike race $(ARGS)

test: $(VENV)/.development
	$(BIN)/python -m pytest -m 'not slow' --numprocesses $(JOBS) --dist loadfile \
	    --no-loadscope-reorder $(ARGS)

slow: $(VENV)/.development
	$(BIN)/python -m pytest -m slow $(ARGS)

lint: $(VENV)/.development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.development
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.development
	@set -e; for file in $(sort $(wildcard bench/[a-z]*.py)); do \
	    module=$$(basename $$file .py); echo "bench.$$module"; \
	    $(BIN)/python -m bench.$$module $(ARGS); \
	done

conformance: $(VENV)/.development
	$(BIN)/python -m pytest -m slow tests/gateway/test_conformance.py $(ARGS)

faults: $(VENV)/.development
	$(BIN)/python -m tests.faults $(if $(SEED),--seed $(SEED)) $(ARGS)

fuzz: $(VENV)/.fuzzing
	$(BIN)/python -m tests.wire.fuzz_codec -max_total_time=$(FUZZ_SECONDS) $(ARGS)

tournaments: $(VENV)/.development
	$(BIN)/python -m pytest -m slow tests/faults/test_tournaments.py $(ARGS)

fuzz-tournaments: $(VENV)/.development
	$(BIN)/python -m tests.tournament.fuzz $(ARGS)

clean:
	rm -rf $(VENV) *.egg-info build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# A stamp is written last, so that an installation cut short is taken up again.

$(VENV)/.interpreter:
	@set -e; \
	for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "Setting up $(VENV) with $$($$python --version)"; \
	        $$python -m venv $(VENV) || { \
	            echo "$$python cannot make a virtual environment:" \
	                 "install its venv package (python3-venv on Debian and Ubuntu)" >&2; exit 1; }; \
	        touch $@; exit 0; \
	    fi; \
	done; \
	echo "Double Klondike needs Python 3.11 or newer, and $$(python3 --version 2>&1) is" \
	     "what python3 is here: install one, or name it with make PYTHON=/path/to/python" >&2; \
	exit 1

$(VENV)/.runtime: $(VENV)/.interpreter $(REQUIREMENTS)
	@echo "Installing what the game needs"
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.development: $(VENV)/.interpreter $(REQUIREMENTS)
	@echo "Installing what the game and its tests need"
	@$(INSTALL) --editable '.[dev]'
	@touch $(VENV)/.runtime $@

$(VENV)/.fuzzing: $(VENV)/.development
	@$(INSTALL) atheris
	@touch $@
