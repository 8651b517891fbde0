# make demo         sets up .venv (base + train), shows the noise, trains a
#                   small comparison, writes a page; QUICK=1: shorter,
#                   SEEDS=N, FULL=1: all six rows of the paper's table 1
# make test         adds TensorFlow, JAX, Ray and the test tools to the same
#                   .venv; lint, types, tests
# make test-web     'switchout explore' and the report in a real browser
#                   (Debian's chromium)
# make test-integrations  every drop-in in its toolkit's own environment,
#                   .venv-integrations/; one alone: test-integrations-eole
# make test-faults  thousands of bad inputs, collisions and kills
# make test-slow    what takes long: clusters, memory, kills of trainings
# make test-sanitize  the compiled core under ASan and UBSan
# make bench        the measurements of docs/benchmarks.md
# make lint, docs, dist  the checks; the manual in site/; sdist and wheel
# make clean        removes the environments and what was built
# Every target works on a fresh clone, and a second time without reinstalling.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
export OMP_NUM_THREADS ?= 1
# Processes that share the tests, a file each: make test WORKERS=4 on a larger machine. Not reordered
# by the number of tests: the slow files have few, and one of them left over would keep all waiting.
WORKERS ?= 2

# The compiled core, built in place. Its Python: that of .venv, or without one the system's.
CORE := src/switchout/core
CORE_BUILT := $(CORE)/_core.abi3.so
SANITIZE_PYTHON ?= $(BIN)/python
CORE_PYTHON ?= $(shell test -x $(BIN)/python && echo $(BIN)/python || echo $(PYTHON))

.PHONY: demo test test-faults test-slow test-web test-integrations bench lint docs dist clean core test-sanitize help

demo: .venv/.demo-ready core
	$(BIN)/switchout demo $(if $(filter-out 0,$(FULL)),--full) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(filter-out 0,$(QUICK)),--quick)

help:
	@sed -n 's/^# \(make \|  \)/\1/p' $(firstword $(MAKEFILE_LIST))

test: .venv/.test-ready core lint
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

test-faults: .venv/.test-ready core
	$(BIN)/python -m pytest -m faults tests/faults --numprocesses $(WORKERS) --dist worksteal

test-slow: .venv/.test-ready core
	$(BIN)/python -m pytest -m slow

test-web: .venv/.web-ready core
	$(BIN)/python -m pytest --override-ini addopts=-q tests/web

TOOLKITS := huggingface trl lightning eole opustrainer tensorflow grain

# One toolkit alone: make test-integrations-eole
test-integrations: $(TOOLKITS:%=test-integrations-%)

test-integrations-%: .venv-integrations/%/.ready # whose installation builds the core in place
	SWITCHOUT_INTEGRATIONS=1 .venv-integrations/$*/bin/python -m pytest -W ignore tests/integrations/test_$*.py

.PRECIOUS: .venv-integrations/%/.ready
.venv-integrations/%/.ready: tests/integrations/requirements-%.txt pyproject.toml $(wildcard $(CORE)/*.[ch])
	@echo "creating an environment for $*, with the versions in $<"
	$(PYTHON) -m venv .venv-integrations/$*
	.venv-integrations/$*/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	.venv-integrations/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

bench: .venv/.test-ready core
	$(BIN)/python benchmarks/run.py

# The core under ASan and UBSan: its unit tests and the fuzzer, with the loops for this processor, for AVX2 and the portable
# ones. Frameworks stay out: their own libraries are not built for this.
SANITIZED := tests/unit/test_core_fuzz.py tests/unit/test_no_silent_damage.py tests/unit/test_kernel_shapes.py \
  tests/unit/test_neighbors_exact.py tests/unit/test_rewards.py tests/unit/test_augment_text.py tests/unit/test_core_text.py tests/unit/test_core_output_loss.py
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ ?= 300

test-sanitize: $(if $(wildcard $(SANITIZE_PYTHON)),,.venv/.test-ready)
	for loops in SO_FOR_THIS_PROCESSOR SO_UP_TO_AVX2 SO_PORTABLE; do \
	  rm -rf build/sanitize && \
	  CFLAGS="$(SANITIZE) -D$$loops" LDFLAGS="$(SANITIZE)" $(SANITIZE_PYTHON) setup.py --quiet build --build-base build/sanitize --build-lib build/sanitize/lib && \
	  LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	  SWITCHOUT_FUZZ=$(FUZZ) PYTHONPATH=build/sanitize/lib $(SANITIZE_PYTHON) -m pytest -p no:cacheprovider -k "not dataloader and not framework" $(SANITIZED) || exit 1; \
	done

lint: .venv/.test-ready core
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The manual, as files in site/; a broken link or an example that does not parse stops it.
docs: .venv/.docs-ready core
	$(BIN)/python tools/docs_hooks.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# An sdist and a wheel in dist/.
dist: .venv/.test-ready
	rm -rf dist
	$(BIN)/python -m build --no-isolation

core: $(CORE_BUILT)

$(CORE_BUILT): $(wildcard $(CORE)/*.[ch]) setup.py
	@$(MAKE) --no-print-directory core-needs
	@$(CORE_PYTHON) -c 'import sys, setuptools; sys.exit(int(setuptools.__version__.split(".")[0]) < 77)' || { \
	  echo "$(CORE_PYTHON) has no setuptools >= 77: make .venv/.demo-ready first, or make core CORE_PYTHON=a/venv/bin/python" >&2; exit 2; }
	$(CORE_PYTHON) setup.py --quiet build_ext --inplace
	@touch $@

.PHONY: core-needs
core-needs:
	@command -v $${CC:-cc} >/dev/null || { \
	  echo "switchout is built from C and found no compiler (on Debian and Ubuntu: apt-get install gcc python3-dev)" >&2; exit 2; }
	@$(CORE_PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' || { \
	  echo "switchout is built from C and found no Python.h (on Debian and Ubuntu: apt-get install python3-dev)" >&2; exit 2; }

clean:
	rm -rf .venv .venv-integrations build dist site $(CORE)/*.so

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "switchout needs Python 3.11 or newer, found: $$($(PYTHON) --version 2>&1); try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "switchout needs Python's venv and ensurepip (on Debian and Ubuntu: apt-get install python3-venv)" >&2; exit 2; }
	@echo "creating .venv with $$($(PYTHON) --version)"
	$(PYTHON) -m venv .venv

.venv/.demo-ready: pyproject.toml constraints.txt | .venv/bin/python
	@echo "installing base + train (the first time this downloads a few hundred MB)"
	@$(MAKE) --no-print-directory core-needs
	$(PIP) setuptools
	$(PIP) --no-build-isolation --editable ".[train]"
	@touch $@

.venv/.test-ready: .venv/.demo-ready
	@echo "adding TensorFlow, JAX, Ray and the test tools (the first time about 1 GB more)"
	$(PIP) --no-build-isolation --editable ".[all,dev]"
	@touch $@

# Chromium comes from Debian: the browser that playwright would download is not used.
AXE := 4.14.0
.venv/.web-ready: .venv/.test-ready
	@command -v chromium >/dev/null || { apt-get update --quiet=2 && apt-get install --yes --quiet=2 chromium; }
	$(PIP) --editable ".[webtest]"
	cd .venv && npm pack --silent axe-core@$(AXE) && tar xzf axe-core-$(AXE).tgz package/axe.min.js && mv package/axe.min.js .
	@touch $@

.venv/.docs-ready: .venv/.demo-ready
	@echo "adding the tools that build the manual"
	$(PIP) --no-build-isolation --editable ".[docs]"
	@touch $@
