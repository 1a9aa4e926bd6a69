"""SIGTERM: what was acknowledged is stored, whatever the studio was doing; it ends soon."""

import signal
import sqlite3
import threading
from contextlib import closing, suppress

import httpx2 as httpx
import pytest

from tests.helpers.studio_server import PLAIN_RENDERER
from tests.helpers.waiting import wait_until
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

class Stuck(Plain):
    export_name = "vector.txt"

    def render(self, candidates):
        self.never_return("render")

    def warm_up(self):
        pass

    def export(self, candidate):
        self.never_return("export")

    def never_return(self, where):
        open(os.environ["PYTHONPATH"] + "/stuck-in-" + where, "w").close()
        while True:
            time.sleep(0.02)
"""
)


@pytest.fixture
def server(serve):
    return serve(SLOW_RENDERER, "plain:Slow")


def new_run(server, renderer):
    with server.client() as owner:
        body = {"renderer": renderer, "method": "rank-process"}
        return owner.post("/api/runs", json=body).raise_for_status().json()["id"]


@pytest.fixture
def run_id(server):
    return new_run(server, "plain:Slow")


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
def test_answers_sent_during_shutdown_are_stored_or_refused(server, run_id, number):
    answer = Answer(server, run_id)
    threading.Event().wait(0.004 * number)  # another moment each time; any is right
    server.process.send_signal(signal.SIGTERM)
    answer.join(PATIENCE)
    server.process.wait(PATIENCE)
    assert answer.status in (200, "closed")
    assert answer.status == "closed" or stored(server, run_id)
    assert server.process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)


@pytest.mark.parametrize(
    ("number", "workers", "status"),
    [
        (signal.SIGTERM, 1, -signal.SIGTERM),
        (signal.SIGINT, 1, 128 + signal.SIGINT),  # Python would wait for the threads
        (signal.SIGTERM, 2, 0),
    ],
)
def test_a_renderer_that_never_returns_does_not_hold_it_up(
    serve, tmp_path, number, workers, status
):
    """A request waits for the renderer in a thread, which nobody can interrupt."""
    server = serve(SLOW_RENDERER, "plain:Stuck", "--workers", workers)
    run_id = new_run(server, "plain:Stuck")
    path = f"/api/runs/{run_id}"
    with server.client() as owner:
        given = owner.post(f"{path}/rounds/0/answer", json={"order": [[2]]})
        assert given.status_code == 200

    def download():
        with server.client() as owner, suppress(httpx.TransportError):
            owner.get(f"{path}/keepsake")

    waiting = threading.Thread(target=download, daemon=True)
    waiting.start()
    for where in ("render", "export"):
        wait_until((tmp_path / f"stuck-in-{where}").exists, f"a thread is in {where}")
    server.process.send_signal(number)
    server.process.wait(PATIENCE)
    waiting.join(PATIENCE)
    assert not waiting.is_alive()
    assert server.process.returncode == status
    assert stored(server, run_id)
