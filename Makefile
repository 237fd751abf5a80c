# Two commands: `make run` and `make test`. What each one needs, it sets up itself.

PYTHON ?= python3.11
PORT ?= 8000
VENV := .venv
PY := $(VENV)/bin/python
STATIC := $(shell find sharc_studio/static apps -path '*static/*' -type f 2>/dev/null)
# Installed and collected once: later runs start at once and need no network.
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
VENV_CONSUMERS := .venv-consumers
INSTALLED_CONSUMERS := $(VENV_CONSUMERS)/.installed
COLLECTED := $(or $(VAR_DIR),var)/static/staticfiles.json
# Tests have a folder of their own, and do not look at the database that .env names.
TESTING := VAR_DIR=var/test DEBUG=false HTTPS=false
EMBEDDED := DATABASE_URL=sqlite:///var/test/studio.sqlite3 CELERY_BROKER_URL=filesystem://
# PostgreSQL need not wait for its disk when what it writes is thrown away.
NOT_FOR_GOOD := PGOPTIONS='-c synchronous_commit=off'

.PHONY: setup run test lint bench chromium test-consumers
.DELETE_ON_ERROR:

setup: $(INSTALLED) .env
	@$(PY) manage.py migrate --no-input --verbosity 0

run: setup $(COLLECTED)
	@exec $(PY) manage.py run_studio --port '$(PORT)' --while-alive $$PPID

test: $(INSTALLED_DEV) .env chromium
	$(TESTING) $(EMBEDDED) $(PY) -m pytest -n auto --cov --cov-report=
	$(PY) -m coverage report --include='apps/*/domain/*' --fail-under=100
	$(PY) -m coverage report
ifneq ($(TEST_DATABASE_URL),)
	$(TESTING) DATABASE_URL='$(TEST_DATABASE_URL)' $(NOT_FOR_GOOD) \
	  CELERY_BROKER_URL='$(or $(TEST_CELERY_BROKER_URL),filesystem://)' $(PY) -m pytest -n auto -m 'not once'
endif

# Other people's readers, heavy ones, in an environment of their own: what each of them sees.
# TENSORFLOW=1 tries that reader, too: it is as large as all the others together.
test-consumers: $(INSTALLED) .env $(INSTALLED_CONSUMERS)
ifneq ($(TENSORFLOW),)
	@$(VENV_CONSUMERS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-tensorflow.txt
endif
	@rm -rf var/consumers && mkdir -p var/consumers
	@VAR_DIR=var/consumers DEBUG=false HTTPS=false CELERY_BROKER_URL=filesystem:// \
	  DATABASE_URL=sqlite:///var/consumers/studio.sqlite3 \
	  $(PY) -m tests.exports.consumers.write_exports var/consumers/exports
	@$(VENV_CONSUMERS)/bin/python -m tests.exports.consumers.read_exports var/consumers/exports

lint: $(INSTALLED_DEV) .env
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy apps sharc_studio tests benchmarks
	$(VENV)/bin/lint-imports
	$(PY) manage.py makemigrations --check --dry-run

bench: $(INSTALLED_DEV) .env
	@$(TESTING) $(EMBEDDED) $(PY) -m benchmarks

$(INSTALLED): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	  echo "Python 3.11 is needed. Say where it is: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; \
	  exit 1; }
	@echo "Installing what the studio runs on into $(VENV) (once; a minute or two) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(INSTALLED_DEV): $(INSTALLED) requirements-dev.txt
	@echo "Installing what tests and linters need ..."
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

$(INSTALLED_CONSUMERS): requirements-consumers.txt
	@echo "Installing the consumers of exports into $(VENV_CONSUMERS) (once; some minutes) ..."
	@$(PYTHON) -m venv $(VENV_CONSUMERS)
	@$(VENV_CONSUMERS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-consumers.txt
	@touch $@

.env: | $(INSTALLED)
	@umask 077 && $(PY) -c 'import secrets; print("SECRET_KEY=" + secrets.token_urlsafe(50))' > $@

$(COLLECTED): $(INSTALLED) $(STATIC) | setup
	@$(PY) manage.py collectstatic --no-input --verbosity 0
	@touch $@

# Journeys drive Debian's Chromium; without one they are skipped, and say so.
chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null || test -n "$(CHROMIUM)" || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the browser tests ..."; \
	  mkdir -p var; { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; } \
	    >var/install-chromium.log 2>&1 </dev/null || { cat var/install-chromium.log >&2; exit 1; }; \
	else \
	  echo "No Chromium here, and only root can install it: browser tests will be skipped." >&2; \
	fi
