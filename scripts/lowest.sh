#!/bin/sh
# Installs the lowest versions that pyproject.toml allows and runs the tests that fit them.
#
#     scripts/lowest.sh [FOLDER]      # the virtual environment, by default .venv-lowest
#
# uv resolves the versions. torch and what needs it are left out: their floors are not checked.
set -eu
cd "$(dirname "$0")/.."
venv=${1:-.venv-lowest}
extras=studio,postgres,experiments,dream,optuna,export
command -v uv >/dev/null || { echo "this check needs uv: pip install uv" >&2; exit 1; }
uv venv --quiet --allow-existing --python "${PYTHON:-3.11}" "$venv"
uv pip install --quiet --python "$venv/bin/python" --resolution lowest-direct \
    --editable ".[$extras]"
uv pip install --quiet --python "$venv/bin/python" pytest pytest-xdist hypothesis httpx2
uv pip list --quiet --python "$venv/bin/python"
# Warnings of old versions are no errors here.
"$venv/bin/python" -m pytest -W default -o filterwarnings= --numprocesses 2 --dist loadgroup \
    tests/test_run.py tests/test_minimize.py tests/optimizers tests/stores/test_contract.py \
    tests/studio/test_api.py tests/studio/test_responses.py tests/studio/test_events.py \
    tests/studio/test_security.py tests/studio/test_server.py tests/renderers/test_landscape.py \
    tests/integrations tests/data_export tests/cli -m 'not torch and not simulator and not browser'
