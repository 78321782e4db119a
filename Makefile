# Every target works in a fresh clone: it makes its own environment first.
PYTHON ?= python3
PYTEST_ARGS ?=
BIN := .venv/bin
STAMP := .venv/.installed
# The demo needs little, so it has a smaller environment unless the whole one is there.
DEMO := $(if $(wildcard $(STAMP)),.venv,.venv-demo)

.PHONY: demo install test versions wheel lint docs linkcheck clean

demo: $(DEMO)/.installed
	$(DEMO)/bin/adatron demo

.venv-demo/.installed: pyproject.toml
	@echo "installing adatron and what it needs into .venv-demo, half a minute"
	test -x .venv-demo/bin/python || $(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python -m pip install --quiet --disable-pip-version-check -e '.[plot]'
	touch $@

install: $(STAMP)

test: $(STAMP)
	$(BIN)/pytest -n auto --dist worksteal $(PYTEST_ARGS)

# Some tests with the oldest versions that are allowed, and with other versions of Python that are installed.
versions:
	scripts/try_versions

# The pure wheel, and one with compiled code for this platform and Python, which is tried in a clean environment.
wheel:
	$(PYTHON) scripts/make_wheel.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

docs: $(STAMP)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build/html
	@echo open docs/_build/html/index.html

# Asks every site that the manual links to, which needs a network; examples are not run.
linkcheck: $(STAMP)
	$(BIN)/sphinx-build --quiet --keep-going -D plot_gallery=0 -b linkcheck docs docs/_build/links

clean:
	rm -rf .venv .venv-demo dist docs/_build docs/api docs/gallery docs/benchmarks/results docs/benchmarks/history.md

# The stamp is younger than pyproject.toml exactly when its dependencies are installed.
$(STAMP): pyproject.toml
	@echo installing into .venv, about a minute
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@
