import contextlib
import functools
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers import fork_server

# Tests run beside each other: threads of numeric libraries that fight over cores are slower.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Background jobs of a shell ignore SIGINT; programs that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("zorank", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("zorank")


TESTS = Path(__file__).parent
# What tests need, by folder or file; `make quick` leaves all of these out.
NEEDS = {
    "executors/": ("process",),
    "experiments/test_painting_styles.py": ("torch",),
    "notebook/browser/": ("browser", "server"),
    "rl/": ("simulator",),
    "renderers/test_comfyui.py": ("server",),
    "renderers/test_diffusers": ("torch",),
    "renderers/test_voice.py": ("slow",),
    "studio/browser/": ("browser", "server"),
    "studio/browser/test_clips.py": ("simulator",),
    "studio/browser/test_diffusers": ("torch",),
    "studio/test_comfyui.py": ("server",),
    "studio/test_fuzz.py": ("slow",),
    "studio/test_postgres.py": ("server",),
    "test_bare.py": ("process",),
    "test_crash.py": ("process",),
    "test_docs.py": ("process",),
    "torch/": ("torch",),
}
NEEDED_BY_FIXTURES = {
    "drawing": "simulator",
    "proxied": "server",
    "postgres_url": "server",
    "sd": "torch",
    "server": "server",
    "tiny_clip": "torch",
    "zorank": "process",
}
SLOW = 0.2
"""Seconds from which on a test is slow; `pytest --record-slow` measures all of them anew."""
SLOW_TESTS = TESTS / "slow.txt"
# Tests of one group run in one process, so that it imports torch or starts JupyterLab only once.
GROUPS = ("torch", "simulator")
JUPYTERLAB = "notebook/browser/"
# What takes longest in one process begins first, the longest of all at the very beginning.
FIRST = (
    "torch",
    "executors/",
    "studio/test_shared_workers.py",
    "test_docs.py",
    "studio/test_workers.py",
    "simulator",
    JUPYTERLAB,
)
LONG = ("browser", "slow")


def _needs(item):
    file = item.path.relative_to(TESTS).as_posix()
    for start, names in NEEDS.items():
        if file.startswith(start):
            yield from names
    for fixture in item.fixturenames:
        if fixture in NEEDED_BY_FIXTURES:
            yield NEEDED_BY_FIXTURES[fixture]
    if "postgresql" in item.name:
        yield "server"
    if _without_parameters(item.nodeid) in _slow_tests():
        yield "slow"


@functools.cache
def _slow_tests():
    return frozenset(SLOW_TESTS.read_text().splitlines())


def _without_parameters(nodeid):
    return nodeid.partition("[")[0]


def pytest_addoption(parser):
    parser.addoption(
        "--record-slow", action="store_true", help=f"write tests/{SLOW_TESTS.name} anew"
    )


def pytest_terminal_summary(terminalreporter, config):
    """Write the list of slow tests that need nothing heavy, if that was asked for."""
    if not config.getoption("--record-slow"):
        return
    longest = defaultdict(float)
    for report in terminalreporter.getreports("passed"):
        name = _without_parameters(report.nodeid)
        longest[name] = max(longest[name], report.duration)
    slow = sorted(name for name, seconds in longest.items() if seconds > SLOW)
    SLOW_TESTS.write_text("".join(f"{name}\n" for name in slow))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark and group tests; long ones begin, so that all processes end at about the same time."""
    for item in items:
        for name in _needs(item):
            item.add_marker(name)
    items.sort(key=_place)
    if getattr(config.option, "loadgroup", False):
        _show_groups(items)


def _show_groups(items):
    """Append groups to ids; pytest-xdist 3.8 does so to an attribute that pytest 9.2 ignores."""
    from _pytest.nodeid import NodeId

    for item in items:
        group = _group(item)
        if group is not None:
            item._id = NodeId.parse(f"{item.nodeid}@{group}")


def _group(item):
    """The name of a group, or the file, so that fixtures of a module are made once."""
    file = item.path.relative_to(TESTS).as_posix()
    for name in GROUPS:
        if item.get_closest_marker(name):
            return name
    if file.startswith(JUPYTERLAB):
        return JUPYTERLAB
    return None if item.get_closest_marker("browser") else file  # browser tests are long


def _place(item):
    """Where a test stands in the order of beginning."""
    group = _group(item) or ""
    for place, start in enumerate(FIRST):
        if group.startswith(start):
            return place
    longest = (place for place, name in enumerate(LONG) if item.get_closest_marker(name))
    return len(FIRST) + next(longest, len(LONG))


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


class Postgres:
    """A PostgreSQL server of our own, in a temporary folder on a free port."""

    def __init__(self, bin_folder, folder):
        self._bin, self._folder = bin_folder, folder
        # The server refuses to run as root.
        self._user = {"user": "nobody", "group": "nogroup"} if os.getuid() == 0 else {}
        if self._user:
            shutil.chown(folder, "nobody", "nogroup")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self._port = s.getsockname()[1]
        self.url = f"postgresql+psycopg://zorank@127.0.0.1:{self._port}/postgres"
        options = ("-U", "zorank", "-A", "trust", "-E", "UTF8", "--no-sync")
        self._run("initdb", "-D", "data", *options)

    def start(self):
        options = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")

    def stop(self, mode="immediate"):
        self._run("pg_ctl", "-D", "data", "-m", mode, "stop")

    def _run(self, program, *arguments):
        command = [str(self._bin / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, **self._user)


@contextlib.contextmanager
def start_postgres():
    """A started PostgreSQL; skips the test if it is not installed."""
    bin_folder = _postgres_bin()
    if bin_folder is None:
        pytest.skip("PostgreSQL's initdb is not installed (Debian: apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="zorank-pg-"))
    started = Postgres(bin_folder, folder)
    started.start()
    yield started
    started.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_url():
    """The URL of a real PostgreSQL server of our own."""
    with start_postgres() as started:
        yield started.url


@pytest.fixture
def zorank(tmp_path, monkeypatch):
    """Run the command line in an empty folder; gives exit code, standard output and error."""
    monkeypatch.setenv("ZORANK_STORE", f"sqlite:///{tmp_path}/runs.db")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **options):
        done = fork_server.run(["-m", "zorank", *arguments], warnings="error", **options)
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


@pytest.fixture
def printed(monkeypatch, capsys):
    """What the command line prints, run in this process."""

    def call(*arguments):
        from zorank.cli import main

        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "argv", ["zorank", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit:
            main()
        assert exit.value.code == 0
        return capsys.readouterr().out

    return call


@pytest.fixture
def without_workers(monkeypatch):
    """Compute the trials of sweeps in this process, where a test can replace what is slow."""
    from zorank.experiments import sweep

    def rows(function, todo, workers):
        for key, trial in todo.items():
            # What workers are sent must survive the journey.
            sent_function, sent_trial = pickle.loads(pickle.dumps((function, trial)))
            yield key, sent_function(sent_trial)

    monkeypatch.setattr(sweep, "computed_rows", rows)


@pytest.fixture(scope="session")
def sd(tmp_path_factory):
    """The folder of a tiny Stable Diffusion pipeline with random weights."""
    from tests.helpers import tiny_pipelines

    return str(tiny_pipelines.stable_diffusion(tmp_path_factory.mktemp("sd")))


@pytest.fixture(scope="session")
def sdxl(tmp_path_factory):
    """The folder of a tiny Stable Diffusion XL pipeline with random weights."""
    from tests.helpers import tiny_pipelines

    return str(tiny_pipelines.stable_diffusion_xl(tmp_path_factory.mktemp("sdxl")))


@pytest.fixture
def tiny(sd):
    """The renderer on the tiny pipeline, quick."""
    from zorank.renderers import Diffusers

    return Diffusers(model=sd, prompt="a red house", steps=2)


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory):
    """The folder of a tiny CLIP model with random weights."""
    from tests.helpers.tiny_clip import save_tiny_clip

    folder = tmp_path_factory.mktemp("clip") / "tiny"
    save_tiny_clip(folder)
    return folder
