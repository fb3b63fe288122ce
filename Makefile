# make venv   .venv with everything that the project and its tests need
# make demo   compiles and runs two networks and prints what fusion gained
# make test   every check: format, lint, types, import layers, lit, pytest
# make bench  measures; never fails a build
# make docs   writes the generated reference pages anew
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help venv demo test bench docs clean

help:
	@sed -n 's/^# make/make/p' Makefile

venv:
	@PYTHON='$(PYTHON)' .ci/venv

demo: venv
	@$(BIN)/python examples/demo.py

test: venv
	@.ci/checks

bench: venv
	@$(BIN)/python bench/bench.py
	@$(BIN)/python bench/objectives.py
	@$(BIN)/python bench/scores.py
	@$(BIN)/python bench/scaling.py
	@$(BIN)/python bench/scaling.py --strategy beam 5000 10000

docs: venv
	@$(BIN)/python -m fusec.tools.docs

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -o -name '*.egg-info' -o -name Output | xargs rm -rf
