import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# Tests run beside each other: threads of numeric libraries that fight over cores are slower.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

settings.register_profile("zorank", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("zorank")


def _postgres_bin():
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


@pytest.fixture(scope="session")
def drawing():
    """A way for MuJoCo to draw on this machine."""
    from zorank.errors import RenderError
    from zorank.rl import mujoco_camera

    try:
        return mujoco_camera.choose_backend()
    except RenderError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def postgres_url():
    """A real PostgreSQL server of our own, in a temporary folder on a free port."""
    bin_folder = _postgres_bin()
    if bin_folder is None:
        pytest.skip("PostgreSQL's initdb is not installed (Debian: apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="zorank-pg-"))
    # The server refuses to run as root.
    user = {"user": "nobody", "group": "nogroup"} if os.getuid() == 0 else {}
    if user:
        shutil.chown(folder, "nobody", "nogroup")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]

    def run(program, *arguments):
        command = [str(bin_folder / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, **user)

    run("initdb", "-D", "data", "-U", "zorank", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
    run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")
    yield f"postgresql+psycopg://zorank@127.0.0.1:{port}/postgres"
    run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def zorank(tmp_path, monkeypatch):
    """Run the command line in an empty folder; gives exit code, standard output and error."""
    monkeypatch.setenv("ZORANK_STORE", f"sqlite:///{tmp_path}/runs.db")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **options):
        command = [sys.executable, "-W", "error", "-m", "zorank", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
        return done.returncode, done.stdout, done.stderr

    return call


@pytest.fixture
def refused(monkeypatch, capsys):
    """What the command line, run in this process, says to a wrong request: one sentence."""

    def call(*arguments):
        from zorank.cli import main

        monkeypatch.setattr(sys, "argv", ["zorank", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit:
            main()
        assert exit.value.code == 2
        err = capsys.readouterr().err
        assert err.startswith("zorank: ")
        assert len(err.splitlines()) == 1
        return err

    return call
