"""A run of the embedded model knows which weights drew it."""

import pytest
from fastapi.testclient import TestClient

from tests.helpers.studio_server import client_of
from zorank.dream import model
from zorank.renderers import Dream, Landscape
from zorank.renderers.interface import resolve
from zorank.studio.views.runs import run_note


@pytest.fixture
def client(store):
    return client_of(store, {"dream": Dream, "landscape": Landscape})


def new_run(client, renderer):
    options = {"size": 64, **({"steps": 2} if renderer == "dream" else {})}
    body = {"renderer": renderer, "seed": 1, "options": options, "method": "rank-process"}
    return client.post("/api/runs", json=body).raise_for_status().json()["id"]


def test_a_run_keeps_a_short_name_of_the_weights_that_draw_it(client, store):
    run_id = new_run(client, "dream")
    assert store.record(run_id).meta["weights"] == model.fingerprint()
    assert len(model.fingerprint()) == 12
    assert client.get(f"/api/runs/{run_id}").json()["note"] == ""
    branch = client.post(f"/api/runs/{run_id}/branch").json()["id"]
    assert store.record(branch).meta["weights"] == model.fingerprint()
    assert "weights" not in store.record(new_run(client, "landscape")).meta


def test_other_weights_are_a_note_to_the_owner_and_no_error(client, store):
    run_id = new_run(client, "dream")
    store.change_meta(run_id, {"weights": "others"})
    assert "pictures may differ" in client.get(f"/api/runs/{run_id}").json()["note"]
    order = f"/api/runs/{run_id}/rounds/0/answer"
    client.post(order, json={"order": [[2], [0]]}).raise_for_status()
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    headers = {"Authorization": f"Bearer {link.partition('token=')[2]}"}
    rater = TestClient(client.app, headers=headers)
    assert rater.get(f"/api/runs/{run_id}").json()["note"] == ""


def test_runs_without_a_stored_digest_or_without_weights_have_no_note():
    assert run_note({}, resolve(Dream())) == ""
    assert run_note({"weights": "others"}, resolve(Landscape())) == ""


def test_browsers_do_not_keep_pictures_of_other_weights(client, monkeypatch):
    run_id = new_run(client, "dream")
    before = client.get(f"/api/runs/{run_id}/round").json()["exhibits"][0]["url"]
    monkeypatch.setattr(model, "fingerprint", lambda: "others")
    after = client.get(f"/api/runs/{run_id}/round").json()["exhibits"][0]["url"]
    assert before != after
    assert client.get(after).status_code == 200
