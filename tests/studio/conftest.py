"""Fixtures that the tests of the studio share."""

import pytest

from tests.helpers.proxy import ProxiedStudio, nginx_program
from tests.helpers.studio_server import Server
from zorank.stores import open_store


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "runs.db"))
    yield opened
    opened.close()


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Starts a studio whose renderer is a class of the module `plain` with the given source."""
    started = []

    def start(source, renderer, *arguments):
        (tmp_path / "plain.py").write_text(source)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        started.append(Server(tmp_path / "runs.db", "--renderer", renderer, *arguments))
        return started[-1].start()

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def proxied(tmp_path):
    """Starts studios behind a real nginx with the file of docs/deploy."""
    if nginx_program() is None:
        pytest.skip("nginx is not installed (Debian: apt-get install nginx-light)")
    started = []

    def start(*arguments, **settings):
        folder = tmp_path / f"proxied-{len(started)}"
        folder.mkdir()
        started.append(ProxiedStudio(folder, *arguments, **settings))
        return started[-1]

    yield start
    for one in started:
        one.stop()
