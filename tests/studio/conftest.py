"""Fixtures that the tests of the studio share."""

import pytest

from tests.helpers.proxy import ProxiedStudio, nginx_program
from zorank.stores import open_store


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "runs.db"))
    yield opened
    opened.close()


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
