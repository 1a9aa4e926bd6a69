"""Several server processes on one socket and one store."""

import json
import os
import signal
from contextlib import ExitStack
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.helpers.studio_server import PLAIN_RENDERER, TOKEN, Server
from tests.helpers.waiting import Deadline, wait_until
from zorank.stores import open_store

NEEDS_PROC = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture(params=["sqlite", "postgresql"])
def server(request, tmp_path, monkeypatch):
    (tmp_path / "plain.py").write_text(PLAIN_RENDERER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    store = tmp_path / "runs.db"
    if request.param == "postgresql":
        store = request.getfixturevalue("postgres_url")
    arguments = ("--renderer", "plain:Plain", "--method", "zo-ranksgd-memory", "--workers", "2")
    started = Server(store, *arguments).start()
    yield started
    started.stop()


def children(pid):
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def request(server, method, path, **more):
    """Send a request over a connection of its own, which any worker may take."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.request(method, f"{server.url}{path}", headers=headers, timeout=120, **more)


def new_run(server, **settings):
    made = request(server, "POST", "/api/runs", json={"renderer": "plain:Plain", **settings})
    return made.raise_for_status().json()["id"]


def rounds_of(stack, server, run_id):
    """Open a stream, and yield the index of each round that it pushes."""
    client = stack.enter_context(server.client())
    stream = stack.enter_context(client.stream("GET", f"/api/runs/{run_id}/events"))
    name = ""
    for line in stream.iter_lines():
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: ") and name == "round":
            yield json.loads(line[6:])["index"]


def test_an_answer_to_any_worker_is_pushed_by_all(server):
    run_id = new_run(server)
    with ExitStack() as stack:
        pages = [rounds_of(stack, server, run_id) for _ in range(6)]
        assert {next(page) for page in pages} == {0}
        path = f"/api/runs/{run_id}/rounds/0/answer"
        request(server, "POST", path, json={"order": [[1]]}).raise_for_status()
        assert {next(page) for page in pages} == {1}


@NEEDS_PROC
def test_workers_that_are_killed_lose_and_double_nothing(server):
    run_id, acknowledged = new_run(server, seed=3), {}
    deadline = Deadline("every answer is acknowledged", 300)
    for index in range(8):
        path = f"/api/runs/{run_id}/rounds/{index}/answer"
        if index % 3 == 1:
            os.kill(children(server.process.pid)[index % 2], signal.SIGKILL)
        while deadline.is_ahead() and index not in acknowledged:
            try:
                given = request(server, "POST", path, json={"order": [[index % 6]]})
            except httpx.TransportError:
                continue  # the worker died under the request; the page sends the answer again
            if given.status_code == 409:  # it was stored, but not acknowledged
                acknowledged[index] = "before"
            else:
                acknowledged[index] = given.raise_for_status().json()["index"]
    store = open_store(server.store)
    answered = [line for line in store.rounds(run_id) if line.answer is not None]
    assert [line.index for line in answered] == list(range(8))
    store.close()


@NEEDS_PROC
def test_workers_end_with_the_first_process(server):
    workers = children(server.process.pid)
    assert len(workers) == 2
    server.kill()
    wait_until(lambda: not any(is_alive(pid) for pid in workers), "the workers end")


def test_workers_need_a_store_that_can_be_shared(refused):
    assert "cannot share a store in memory" in refused(
        "studio", "--workers", 2, "--store", "memory://"
    )
    assert "from 1 to 64" in refused("studio", "--workers", 0)
