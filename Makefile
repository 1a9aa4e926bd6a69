# make test does everything from nothing: virtual environment, install, lint, types, tests.
# make quick is for every save: lint, types, and the tests that need nothing heavy.

# scripts/install.sh finds Python 3.11 to 3.14; `make PYTHON=...` names one, `make UV=no` uses pip.
export PYTHON UV
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# Without bytecode every process that a test starts would compile zorank again. Installing compiles
# nothing: most modules of the larger packages are never imported.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install studio programs browser proxy drawing test quick light lint types unit format docs site bench clean

help: ## Show this list.
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/'

install: $(INSTALLED) ## A virtual environment with every extra and the tools of make test.

$(INSTALLED): pyproject.toml constraints.txt
	@scripts/install.sh dev
	@touch $@

studio: $(VENV)/.studio ## Rank pictures in the browser; everything it needs is installed first.
	@echo "Starting the studio. Ctrl-C ends it; every answer is stored at once."
	@$(BIN)/zorank studio $(ARGS)

# Only what the studio needs, so that the first picture is not far away.
$(VENV)/.studio: pyproject.toml constraints.txt
	@test $(INSTALLED) -nt pyproject.toml || scripts/install.sh studio,dream
	@touch $@

test: $(INSTALLED) ## Everything that CI checks.
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=target lint types programs
	@$(MAKE) --no-print-directory unit

quick: $(INSTALLED) ## Lint, types, and tests without browser, server, simulator or torch.
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint types light

# Left out by name, because even collecting them imports torch or a simulator.
HEAVY := tests/studio/browser tests/notebook/browser tests/studio/test_fuzz.py tests/renderers/test_diffusers.py \
    tests/torch tests/rl

light: $(INSTALLED)
	$(BIN)/pytest --numprocesses 2 --dist worksteal $(addprefix --ignore=,$(HEAVY)) \
	    -m 'not (browser or process or server or simulator or torch or slow)'

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/codespell

types: $(INSTALLED)
	$(BIN)/mypy

# One after another, because apt-get installs for one caller at a time.
programs:
	@$(MAKE) --no-print-directory browser
	@$(MAKE) --no-print-directory proxy
	@$(MAKE) --no-print-directory drawing

# Debian's Chromium without a window where it may be installed, else the system's, else Playwright's.
browser: $(INSTALLED)
	@command -v chromium-headless-shell >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	     && apt-get update -qq && apt-get install -y -qq chromium-headless-shell >/dev/null; } \
	|| command -v chromium chromium-browser google-chrome >/dev/null \
	|| $(BIN)/playwright install --with-deps chromium

# The proxy of docs/deploy; without it its tests are skipped.
proxy:
	@command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	     && apt-get update -qq && apt-get install -y -qq --no-install-recommends nginx-light >/dev/null; } \
	|| echo "no nginx: install nginx-light to test docs/deploy/nginx.conf"

# What MuJoCo draws clips with; without it their tests are skipped.
drawing:
	@ldconfig -p 2>/dev/null | grep -q 'libEGL.so.1\|libOSMesa' \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	     && apt-get update -qq && apt-get install -y -qq libegl1 libgl1-mesa-dri >/dev/null; } \
	|| echo "no way to draw clips: install libegl1 and libgl1-mesa-dri, or libosmesa6"

# Tests of one group run in one process, which imports heavy libraries and starts a browser once.
# Three processes use two cores better than two, because many tests wait for a server or a browser.
unit: $(INSTALLED)
	$(BIN)/pytest --numprocesses 3 --dist loadgroup --no-loadscope-reorder

format: $(INSTALLED) ## Format the code and mend what can be mended.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(INSTALLED) ## Write the generated pages in docs/ again.
	$(BIN)/python docs/generate.py

site: $(INSTALLED) ## Build the docs site into site/; links must lead somewhere.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "Open site/index.html."

bench: $(INSTALLED) ## Measure speed and memory against their bounds.
	$(BIN)/python benchmarks/round_cost.py
	$(BIN)/python benchmarks/landscape.py

clean: ## Remove the virtual environment and caches.
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
