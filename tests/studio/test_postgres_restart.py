"""PostgreSQL is stopped while people answer, and started again: nothing is lost or doubled."""

import threading

import pytest

from tests.conftest import start_postgres
from tests.helpers.studio_server import PLAIN_RENDERER, Server
from tests.helpers.waiting import Deadline, wait_until
from zorank.stores import open_store

pytestmark = pytest.mark.server


@pytest.fixture
def postgres():
    with start_postgres() as started:
        yield started


def test_answers_around_a_restart_of_the_database(postgres, tmp_path, monkeypatch):
    (tmp_path / "plain.py").write_text(PLAIN_RENDERER)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}")
    server = Server(postgres.url, "--renderer", "plain:Plain").start()
    try:
        with server.client() as owner:
            body = {"renderer": "plain:Plain", "method": "rank-process"}
            run_id = owner.post("/api/runs", json=body).raise_for_status().json()["id"]
            acknowledged = answer_while(postgres, owner, run_id)
            healthy_again(owner)
            index = owner.get(f"/api/runs/{run_id}/round").raise_for_status().json()["index"]
            answer(owner, run_id, index).raise_for_status()
    finally:
        server.stop()
    store = open_store(postgres.url)
    log = store.rounds(run_id)
    store.close()
    assert [line.index for line in log] == list(range(index + 2))
    assert all(line.answer is not None for line in log[:-1])
    assert max(acknowledged) <= index - 1


def answer(owner, run_id, index):
    return owner.post(f"/api/runs/{run_id}/rounds/{index}/answer", json={"order": [[1]]})


def answer_while(postgres, owner, run_id):
    """Answer until the database is stopped in the middle; return the acknowledged rounds."""
    acknowledged = []
    stop, deadline = threading.Thread(target=postgres.stop), Deadline("the database stops")
    while deadline.is_ahead():
        index = len(acknowledged)
        said = answer(owner, run_id, index)
        if said.status_code == 200:
            acknowledged.append(index)
        else:
            assert said.status_code == 503, said.text
            assert postgres.url not in said.text
            break
        if index == 3:
            stop.start()
    stop.join()
    assert owner.get("/healthz").status_code == 503
    postgres.start()
    return acknowledged


def healthy_again(owner):
    """Wait until the studio has noticed that the database is there again."""
    wait_until(lambda: owner.get("/healthz").status_code == 200, "the studio is healthy")
