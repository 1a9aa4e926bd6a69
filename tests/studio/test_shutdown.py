"""SIGTERM: what was acknowledged is stored, whatever the studio was doing; it ends soon."""

import signal
import sqlite3
import threading
from contextlib import closing

import httpx2 as httpx
import pytest

from tests.helpers.studio_server import PLAIN_RENDERER
from zorank.stores import open_store

pytestmark = pytest.mark.server
PATIENCE = 300
SLOW_RENDERER = (
    PLAIN_RENDERER
    + """
import os, time

class Slow(Plain):
    def render(self, candidates):
        while os.path.exists(os.environ["PYTHONPATH"] + "/wait"):
            time.sleep(0.02)
        return super().render(candidates)
"""
)


@pytest.fixture
def server(serve):
    return serve(SLOW_RENDERER, "plain:Slow")


@pytest.fixture
def run_id(server):
    with server.client() as owner:
        body = {"renderer": "plain:Slow", "method": "rank-process"}
        return owner.post("/api/runs", json=body).raise_for_status().json()["id"]


class Answer(threading.Thread):
    """An answer on its way."""

    def __init__(self, server, run_id):
        super().__init__(daemon=True)
        self.server, self.path = server, f"/api/runs/{run_id}/rounds/0/answer"
        self.status = None
        self.start()

    def run(self):
        with self.server.client() as owner:
            try:
                self.status = owner.post(self.path, json={"order": [[2]]}).status_code
            except httpx.TransportError:
                self.status = "closed"


def stored(server, run_id):
    store = open_store(server.store)
    log = store.rounds(run_id)
    store.close()
    return log[0].answer is not None


def lock(server):
    """Lock the database for writers."""
    connection = sqlite3.connect(server.store, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return closing(connection)


def test_an_answer_that_waits_for_the_database_is_stored_if_it_is_acknowledged(server, run_id):
    with lock(server) as connection:
        answer = Answer(server, run_id)
        server.process.send_signal(signal.SIGTERM)
        connection.execute("ROLLBACK")
    answer.join(PATIENCE)
    server.process.wait(PATIENCE)
    assert answer.status in (200, "closed")
    assert answer.status == "closed" or stored(server, run_id)


def test_a_database_that_stays_locked_does_not_hold_it_up(server, run_id):
    with lock(server):
        answer = Answer(server, run_id)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(PATIENCE)
        answer.join(PATIENCE)
        assert answer.status in ("closed", 500, 503)  # uvicorn sends a 500 for a cancelled request
    assert not stored(server, run_id)


def test_a_slow_rendering_and_open_pages_do_not_hold_it_up(server, run_id, tmp_path):
    (tmp_path / "wait").touch()
    with server.client() as owner, server.client() as page:
        path = f"/api/runs/{run_id}/rounds/0/answer"
        assert owner.post(path, json={"order": [[2]]}).status_code == 200
        with page.stream("GET", f"/api/runs/{run_id}/events") as events:
            server.process.send_signal(signal.SIGTERM)
            for _ in events.iter_lines():
                pass
    server.process.wait(PATIENCE)
    assert stored(server, run_id)


@pytest.mark.parametrize("number", range(4))
def test_answers_in_the_moment_of_the_signal(server, run_id, number):
    answer = Answer(server, run_id)
    threading.Event().wait(0.004 * number)  # another moment each time; any is right
    server.process.send_signal(signal.SIGTERM)
    answer.join(PATIENCE)
    server.process.wait(PATIENCE)
    assert answer.status in (200, "closed")
    assert answer.status == "closed" or stored(server, run_id)
    assert server.process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)
