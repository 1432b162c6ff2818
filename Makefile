# Everything that is needed is put into .venv, once, from the locked and hashed list of requirements.

PYTHON ?= python3
VENV := .venv
LOCK := requirements.lock
BIN := $(VENV)/bin
SUPPLY := $(VENV)-supply/bin
PYTEST := $(BIN)/python -m pytest
# Fast tests compute; system tests wait for processes and browsers as well, so that there can be more of them at a time.
FAST := $(PYTEST) --numprocesses auto --maxprocesses 4 --dist worksteal -p randomly
SYSTEM := $(PYTEST) --numprocesses 3 --dist loadscope
MANAGE := $(BIN)/python manage.py
# Every process of a platform would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
SOURCES := arenasite accounts experiments $(wildcard leaderboard)

.DEFAULT_GOAL := help
.PHONY: help demo run test test-fast test-system test-postgresql test-all check fix bench faults mutants sizes soak bench-ratings fuzz messages pictures audit sbom \
  setup setup-dev setup-bench setup-fuzz setup-supply

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup ## the platform with demo people, simulated models and a run under way: http://localhost:8000
	@ARENA_DEMO=1 exec $(MANAGE) up

run: setup ## the platform as a lab runs it (PORT, ARENA_DATA, DATABASE_URL, REDIS_URL … are honoured)
	@exec $(MANAGE) up

test: setup-dev ## everything that a change has to pass: check, the fast tests, the system tests, PostgreSQL
	$(MAKE) --jobs 2 test-fast beside-check
	$(MAKE) --jobs 2 test-system beside-test-postgresql

test-system: setup-dev ## the tests with processes, servers and browsers
	$(SYSTEM) -m "system and not exhaustive"

test-postgresql: setup-dev ## the tests that depend on the database, on PostgreSQL
	ARENA_TEST_DATABASE=postgresql $(SYSTEM) --numprocesses 2 -m "databases and not exhaustive"

test-fast: setup-dev ## the tests that start no process, open no port and wait for nothing
	$(MANAGE) compile_translations --verbosity 0
	$(FAST) -m "not system and not exhaustive"

# Runs beside another target: what it says is printed as a whole when it ends.
beside-%:
	@said=$$(mktemp); $(MAKE) --no-print-directory $* >$$said 2>&1; result=$$?; cat $$said; rm $$said; exit $$result

test-all: setup-dev ## all of it: every sandbox backend, all chunkings, load, faults, several machines, all tests on PostgreSQL
	$(MAKE) test
	$(SYSTEM) -m exhaustive
	ARENA_TEST_DATABASE=postgresql $(SYSTEM) -m "not databases or exhaustive"

check: setup-dev ## lint, format, imports, types, migrations, templates, settings, translations; changes nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy $(SOURCES)
	$(BIN)/mypy --config-file client/pyproject.toml client/src
	$(BIN)/djlint templates --lint --quiet --profile=django --ignore=H015,H020,H043
	$(MANAGE) check
	$(MANAGE) makemigrations --check --dry-run
	$(MANAGE) check_translations
	$(MANAGE) check_words

fix: setup-dev ## repair what can be repaired by itself: lint and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup-dev ## measure, and print what was measured
	$(BIN)/python -m benchmarks

faults: setup-dev ## break everything while all workflows are played, then compare the books (SEED, MINUTES, DATABASE, CALLERS, ONLY)
	$(BIN)/python -m benchmarks.faults --seed $(or $(SEED),7) --minutes $(or $(MINUTES),10) \
	  --database $(or $(DATABASE),postgresql) $(if $(CALLERS),--callers) $(if $(ONLY),--only $(ONLY))

mutants: setup-dev ## change lines of functions one by one, and count what the fast tests notice (SEED, LINES, ONLY)
	$(MANAGE) compile_translations --verbosity 0
	$(BIN)/python -m benchmarks.mutants --seed $(or $(SEED),7) --lines $(or $(LINES),300) $(if $(ONLY),--only $(ONLY))

sizes: ## how large the project is, and into how many pieces it is cut
	@$(PYTHON) -m benchmarks.sizes

bench-ratings: setup-bench ## measure the ratings beside evalica, choix, arena-rank and two published methods
	$(VENV)-bench/bin/python -m benchmarks.ratings

audit: setup-supply ## ask osv.dev what is known against the locked packages; fails on a finding, and without an answer
	@failed=0; for lock in requirements*.lock; do echo "$$lock"; \
	  $(SUPPLY)/pip-audit --vulnerability-service osv --disable-pip --progress-spinner off --requirement $$lock || failed=1; \
	done; exit $$failed

sbom: setup setup-supply ## write sbom.json (CycloneDX): every locked package with version and digests; fails on a licence not allowed
	@$(SUPPLY)/cyclonedx-py requirements --pyproject pyproject.toml --mc-type application --output-reproducible \
	  --output-file sbom.json $(LOCK) && echo "sbom.json"
	@$(SUPPLY)/pip-licenses --python $(BIN)/python --packages $$(sed -n 's/==.*//p' $(LOCK)) >/dev/null

SECONDS ?= 60
fuzz: setup-fuzz ## look for inputs that break a reader of strangers' files and answers, SECONDS=60 for each
	$(VENV)-fuzz/bin/python -m benchmarks.inputs
	$(VENV)-fuzz/bin/python -m tests.fuzzing.guided --seconds $(SECONDS)

soak: setup-dev ## hours under load, then faults: what grows, what is lost, what is repeated (MINUTES=120)
	$(BIN)/python -m benchmarks.load --minutes $(or $(MINUTES),120) --runs 25 --viewers 250 --database postgresql; load=$$?; \
	$(BIN)/python -m benchmarks.faults && exit $$load

pictures: setup-dev ## take the pictures of the documentation (docs/pictures) anew, of the demonstration in Chromium
	$(BIN)/python -m pytest tests/browser/pictures.py -n 0

messages: setup-dev ## write new sentences into locale/, to be translated there (needs gettext)
	$(MANAGE) makemessages --locale zh_Hans --ignore 'tests/*' --ignore 'benchmarks/*' --no-location
	$(MANAGE) makemessages --locale zh_Hans --ignore 'tests/*' --domain djangojs --no-location
	sed -i '/^"POT-Creation-Date/d' locale/*/LC_MESSAGES/*.po

# The lists that were installed last are kept in .venv: the same list is not installed twice.

setup:
	@cmp -s $(LOCK) $(VENV)/$(LOCK) && $(BIN)/python -c '' || \
	{ $(call make_venv) && $(call install,$(LOCK)) && cp $(LOCK) $(VENV)/; }
	@$(call link)
	@$(call translate)

setup-dev:
	@cmp -s requirements-dev.lock $(VENV)/requirements-dev.lock && $(BIN)/python -c '' || \
	{ $(call make_venv) && $(call install,requirements-dev.lock) && cp requirements.lock requirements-dev.lock $(VENV)/; }
	@$(call link)

setup-bench:
	@$(MAKE) --no-print-directory setup VENV='$(VENV)-bench' LOCK=requirements-bench.lock

setup-fuzz:
	@$(MAKE) --no-print-directory setup VENV='$(VENV)-fuzz' LOCK=requirements-fuzz.lock

setup-supply:
	@$(MAKE) --no-print-directory setup VENV='$(VENV)-supply' LOCK=requirements-supply.lock

# The command `arena`, from client/: see there. It is the last of the environment's parts.

define link
test -x $(BIN)/arena || $(BIN)/python client/link.py
endef

# Services may not write beside the code: the translations are compiled with the rest of what is set up.

define translate
test '$(LOCK)' != requirements.lock || for po in locale/*/LC_MESSAGES/*.po; do \
  test "$${po%.po}.mo" -nt "$$po" && continue; \
  data=$$(mktemp -d); ARENA_DATA=$$data $(BIN)/python manage.py compile_translations --verbosity 0; done=$$?; \
  rm -rf "$$data"; exit $$done; \
done
endef

define make_venv
PYTHON='$(PYTHON)' VENV='$(VENV)' sh -c ' \
  $$PYTHON -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || \
    { echo "Python 3.11 or newer is needed, and $$PYTHON is not: make PYTHON=/path/to/python3.11" >&2; exit 1; }; \
  $$VENV/bin/python -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && exit 0; \
  echo "Making $$VENV …"; rm -rf $$VENV; \
  $$PYTHON -m venv $$VENV >/dev/null 2>&1 && exit 0; \
  rm -rf $$VENV; \
  { uv --version || $$PYTHON -m pip --version; } >/dev/null 2>&1 && $$PYTHON -m venv --without-pip $$VENV && exit 0; \
  rm -rf $$VENV; \
  echo "$$PYTHON cannot make virtual environments: apt install python3-venv" >&2; exit 1'
endef

define install
VENV='$(VENV)' LOCK='$(1)' sh -c ' \
  unset PYTHONPATH PYTHONHOME PIP_TARGET PIP_PREFIX PIP_USER PIP_REQUIRE_VIRTUALENV; \
  echo "Installing $$LOCK …"; \
  uv --version >/dev/null 2>&1 && \
    env -u VIRTUAL_ENV -u CONDA_PREFIX -u UV_SYSTEM_PYTHON -u UV_TARGET -u UV_PREFIX -u UV_PYTHON \
    uv pip install --quiet --no-config --compile-bytecode --python $$VENV/bin/python --no-deps --require-hashes -r $$LOCK && exit 0; \
  if $$VENV/bin/python -m pip --version >/dev/null 2>&1; then PIP="$$VENV/bin/python -m pip"; \
  else PIP="$(PYTHON) -m pip --python $$VENV/bin/python"; fi; \
  $$PIP install --quiet --disable-pip-version-check --no-deps --require-hashes -r $$LOCK'
endef
