"""Responses of the studio's interface are typed, and reading the waiting round changes nothing."""

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from tests.helpers.studio_server import TOKEN, Small
from zorank.studio import create_app


@pytest.fixture
def app(store):
    return create_app(store, {"landscape": Small}, TOKEN, hosts=("testserver",))


@pytest.fixture
def client(app):
    return TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"})


def new_run(client):
    new = {"renderer": "landscape", "seed": 1, "method": "rank-process"}
    return client.post("/api/runs", json=new).json()["id"]


def is_typed(schema):
    """Whether a schema names a model, a list of one, or a list of numbers."""
    if schema.get("type") == "array":
        return is_typed(schema["items"])
    return "$ref" in schema or schema.get("type") == "number"


def test_every_json_response_is_described(app):
    for path, methods in app.openapi()["paths"].items():
        for method, operation in methods.items():
            for status, response in operation["responses"].items():
                found = response.get("content", {}).get("application/json")
                if found is not None:
                    assert is_typed(found["schema"]), (method, path, status)
                else:
                    assert status == "204" or response["content"], (method, path, status)


def test_the_waiting_round_is_described(app):
    described = app.openapi()["components"]["schemas"]["WaitingRound"]["properties"]
    assert {"index", "key", "question", "exhibits", "judge", "waiting_for"} <= described.keys()


def test_reading_the_round_again_keeps_previews_and_reads_the_store_once(
    app, client, store, monkeypatch
):
    run = new_run(client)
    client.post(f"/api/runs/{run}/rounds/0/answer", json={"order": [[0]]}).raise_for_status()
    cancelled, writes, reads = [], [], []
    monkeypatch.setattr(app.state.studio.render_pool, "cancel_speculative", cancelled.append)

    @sa.event.listens_for(store._engine, "begin")
    def count(connection):
        is_write = connection.get_execution_options().get("zorank_write")
        (writes if is_write else reads).append(connection)

    rounds = [client.get(f"/api/runs/{run}/round").json() for _ in range(2)]
    assert rounds[0] == rounds[1]
    assert (cancelled, writes, len(reads)) == ([], [], 2)


def test_a_restarted_studio_prepares_the_waiting_round(client, store):
    run = new_run(client)
    again = create_app(store, {"landscape": Small}, TOKEN, hosts=("testserver",))
    requested = []
    again.state.studio.render_pool.request = lambda *asked: requested.append(asked)
    later = TestClient(again, headers={"Authorization": f"Bearer {TOKEN}"})
    later.get(f"/api/runs/{run}/round").raise_for_status()
    assert len(requested) == 6
    later.get(f"/api/runs/{run}/round").raise_for_status()
    assert len(requested) == 6
