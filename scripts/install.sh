#!/bin/sh
# Makes the virtual environment .venv and installs zorank into it.
#
#     scripts/install.sh 'studio,dream'
#
# PYTHON names another interpreter. uv is used if it is installed, unless UV=no. Versions are those
# of constraints.txt.
set -eu
cd "$(dirname "$0")/.."
extras=$1
venv=.venv
oldest=11 newest=14

fits() { # whether a command is a Python of a supported version
    "$1" -c "import sys; sys.exit(not (3, $oldest) <= sys.version_info[:2] <= (3, $newest))" \
        >/dev/null 2>&1
}

find_python() { # the named interpreter, else the first that fits
    if [ -n "${PYTHON:-}" ]; then
        fits "$PYTHON" && { echo "$PYTHON"; return; }
        echo "PYTHON=$PYTHON is not Python 3.$oldest to 3.$newest: name another interpreter" >&2
        exit 1
    fi
    for name in python3.11 python3.12 python3.13 python3.14 python3 python py; do
        # pyenv and others have commands for versions that are not selected, so each is tried.
        fits "$name" && { echo "$name"; return; }
    done
    return 1
}

seconds() { date +%s; }

count_packages() { # shows pip's progress in one line: most of the time is downloading
    awk '/^Obtaining / { show("preparing the build") }
         /^Collecting / { n++; show("found " n " packages") }
         /^Installing collected packages/ { show("installing " n " packages") }
         /^ *(ERROR|error:)/ { printf "\n%s\n", $0; fflush() }
         function show(what) { if (tty) printf "\r  %-40s", what; fflush() }
         END { if (tty) printf "\r%-44s\r", "" }' tty="$tty"
}

[ -t 1 ] && tty=1 || tty=0
started=$(seconds)
if [ "${UV:-}" != no ] && command -v uv >/dev/null 2>&1; then tool=uv; else tool=pip; fi

if [ -e $venv ] && ! fits $venv/bin/python; then
    echo "$venv has no Python 3.$oldest to 3.$newest that runs: it is made again"
    rm -rf $venv
fi
if [ ! -e $venv ]; then
    if python=$(find_python); then
        echo "Making the virtual environment $venv with $python and $tool"
        if [ $tool = uv ]; then
            uv venv --quiet --seed --python "$(command -v "$python")" $venv
        elif ! "$python" -m venv $venv; then
            rm -rf $venv
            echo "$python cannot make a virtual environment; on Debian and Ubuntu install" \
                "python3-venv, then run make again" >&2
            exit 1
        fi
    elif [ $tool = uv ] && [ -z "${PYTHON:-}" ]; then
        uv venv --seed --python ">=3.$oldest,<3.$((newest + 1))" $venv # uv fetches one
    else
        [ -n "${PYTHON:-}" ] || echo "zorank needs Python 3.$oldest to 3.$newest, and none was" \
            "found; install one (Debian and Ubuntu: apt install python3 python3-venv; macOS:" \
            "brew install python), or name one: make PYTHON=/path/to/python3" >&2
        exit 1
    fi
fi

version=$($venv/bin/python -c 'import platform; print(platform.python_version())')
echo "Installing zorank[$extras] into $venv: Python $version, $tool. This takes some minutes the" \
    "first time."
if [ $tool = uv ]; then
    uv pip install --python $venv/bin/python --constraint constraints.txt --editable ".[$extras]"
else
    log=$venv/install.log
    # Compiling all modules would take longer than those that are used do when they are imported.
    { $venv/bin/python -m pip install --no-compile --disable-pip-version-check --progress-bar off \
        --constraint constraints.txt --editable ".[$extras]" 2>&1 || touch $venv/failed; } \
        | tee $log | count_packages
    if [ -e $venv/failed ]; then
        rm $venv/failed
        echo "the installation failed; $venv/install.log has all of pip's output" >&2
        exit 1
    fi
fi
echo "Installed in $(($(seconds) - started)) s. For the command zorank: source $venv/bin/activate"
