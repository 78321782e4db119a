# Every target works in a fresh clone: it makes its own environment first.
PYTHON ?= python3
PYTEST_ARGS ?=
# Windows names the folder of the programs otherwise.
PROGRAMS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := .venv/$(PROGRAMS)
STAMP := .venv/.installed
# The demo takes an environment that has adatron. Else it makes a smaller one: no pip, no module compiled ahead.
DEMO := $(if $(wildcard $(BIN)/adatron),.venv,.venv-demo)

.PHONY: demo install test test-all plain attack-fits attack-files versions coverage wheel wheels dist release-check lint docs linkcheck clean

demo: $(if $(filter .venv,$(DEMO)),,.venv-demo/.installed)
	$(DEMO)/$(PROGRAMS)/adatron demo

.venv-demo/.installed: pyproject.toml
	@echo "installing adatron and what it needs into .venv-demo, 15 to 60 seconds and the download"
	test -x .venv-demo/$(PROGRAMS)/python || $(PYTHON) -m venv --without-pip .venv-demo
	$(PYTHON) -m pip --python .venv-demo/$(PROGRAMS)/python install --quiet --disable-pip-version-check --no-compile -e '.[cli,plot]'
	touch $@

install: $(STAMP)

# Without the tests marked slow, which are most of the time; test-all takes half an hour on two cores.
test: $(STAMP)
	$(BIN)/pytest -n auto --dist worksteal -m "not slow" $(PYTEST_ARGS)

test-all: $(STAMP)
	$(BIN)/pytest -n auto --dist worksteal $(PYTEST_ARGS)

# Without the compiler the same source runs as plain Python: what rows of K and solvers do must be right there too.
# NumPy then warns where compiled numbers wrap or overflow silently.
plain: $(STAMP)
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n auto -m plain -W default::RuntimeWarning $(PLAIN_ARGS) tests/compiled tests/gram tests/solvers tests/estimators/test_svc.py

# Whether what fits of random programs claim is true, by a checker in long double.
attack-fits: $(STAMP)
	$(BIN)/python -m benchmarks attack --minutes 2 --seed 0

# Whether damaged and crafted files are refused.
attack-files: $(STAMP)
	$(BIN)/python scripts/attack_files --minutes 1.2 --seed 0

# Lines and branches of src that tests run; compiled code counts where the compiler is off. It takes an hour.
coverage: $(STAMP)
	$(BIN)/pytest -n auto --dist worksteal --cov --cov-report= $(PYTEST_ARGS)
	$(MAKE) plain PLAIN_ARGS="--cov --cov-append --cov-report="
	$(BIN)/coverage report

# Some tests with the oldest versions that are allowed, and with other versions of Python that are installed.
versions:
	scripts/try_versions

# The pure wheel, and one with compiled code for this platform and Python, which is tried in a clean environment.
wheel:
	$(PYTHON) scripts/make_wheel.py

# The source archive and the pure wheel, as they are published.
dist:
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --group release
	$(PYTHON) -m build --outdir dist
	$(PYTHON) -m twine check --strict dist/*

# A wheel with compiled code for each Python, on a system that cibuildwheel knows; on Linux it needs Docker.
wheels:
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --group release
	$(PYTHON) -m cibuildwheel --output-dir dist

# RELEASE: the tag that is to be published, such as v0.1.0.
release-check:
	$(PYTHON) scripts/release_check.py $(RELEASE)

lint: $(STAMP)
	$(BIN)/codespell
	$(BIN)/zizmor --offline --quiet .github
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
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . --group dev
	touch $@
