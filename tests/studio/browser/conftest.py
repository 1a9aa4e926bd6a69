"""Browser, servers and people that the tests of the pages share."""

from contextlib import ExitStack

import pytest
from playwright.sync_api import Error

from tests.helpers.browser import (
    DESKTOP,
    QUIET,
    Person,
    launched,
)
from tests.helpers.studio_server import Server


# Of this package, not of the session: while Playwright runs, no other test in this process could
# start an event loop of its own.
@pytest.fixture(scope="package")
def chromium():
    with ExitStack() as stack:
        try:
            started = stack.enter_context(launched())
        except Error as error:
            pytest.fail(
                "no Chromium can be started; install Debian's chromium "
                f"(apt-get install chromium): {error}"
            )
        yield started


@pytest.fixture(scope="package")
def studio(tmp_path_factory):
    """A studio that tests share; each makes runs of its own, without looks, which take time."""
    store = tmp_path_factory.mktemp("studio") / "runs.db"
    server = Server(store, "--method", "rank-process").start()
    yield server
    server.stop()


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Starts studios of a test's own, with renderers from modules that the test wrote."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    started = []

    def start(*arguments):
        server = Server(tmp_path / f"runs-{len(started)}.db", *arguments).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def person(chromium, serve):  # after the servers, so that people leave before those stop
    """Makes people with a browser each. Whatever they do, no page may ever log an error."""
    known = []

    def arrive(forgives=QUIET, **settings):
        settings = {"reduced_motion": "reduce", **(settings or DESKTOP)}
        known.append(Person(chromium.new_context(**settings), forgives))
        return known[-1]

    yield arrive
    for one in known:
        one.context.close()
    complaints = [complaint for one in known for complaint in one.complaints]
    assert complaints == []


JUDGES = '''
"""Judges of a user's own."""

import os
import time

import numpy as np


def brightness(pictures):
    while os.path.exists(os.environ["PYTHONPATH"] + "/still-looking"):
        time.sleep(0.02)
    if os.path.exists(os.environ["PYTHONPATH"] + "/no-eyes"):
        raise RuntimeError("no eyes")
    return [np.asarray(picture).mean() for picture in pictures]
'''


@pytest.fixture
def with_a_judge(serve, tmp_path):
    """Starts a studio with a judge and without looks, which take time; gives the server."""
    (tmp_path / "own_judges.py").write_text(JUDGES)
    return lambda: serve("--judge", "own_judges:brightness", "--method", "rank-process")
