"""An answer is checked in the transaction that stores it, whatever happens just before."""

import pytest
from fastapi.testclient import TestClient

from tests.helpers.studio_server import TOKEN, Plain
from zorank.studio import create_app
from zorank.types import Ballot, Ranking

OWNER = {"Authorization": f"Bearer {TOKEN}"}


class Meanwhile:
    """A store in which another process does something just before an answer is stored."""

    def __init__(self, store):
        self._store = store
        self.happens = lambda: None

    def __getattr__(self, name):
        return getattr(self._store, name)

    def cast(self, *given):
        self._let_it_happen()
        return self._store.cast(*given)

    def answer(self, *given, **more):
        self._let_it_happen()
        return self._store.answer(*given, **more)

    def _let_it_happen(self):
        happens, self.happens = self.happens, lambda: None
        happens()


@pytest.fixture
def meanwhile(store):
    return Meanwhile(store)


@pytest.fixture
def client(meanwhile):
    """The owner's client of a studio with that store."""
    return _client_of(meanwhile)


@pytest.fixture
def elsewhere(store):
    """The owner's client of another studio with the same runs."""
    return _client_of(store)


def _client_of(store):
    return TestClient(create_app(store, {"plain": Plain}, TOKEN, ("testserver",)), headers=OWNER)


def new_run(client, raters=1):
    made = {"renderer": "plain", "seed": 0, "raters": raters, "method": "zo-ranksgd-memory"}
    return client.post("/api/runs", json=made).raise_for_status().json()["id"]


def invited(client, run_id, name="Ann"):
    """A client of a person who is invited by name."""
    link = client.post(f"/api/runs/{run_id}/invitations", json={"name": name, "role": "rater"})
    secret = link.json()["url"].partition("token=")[2]
    return TestClient(client.app, headers={"Authorization": f"Bearer {secret}"})


def answer(client, run_id, index=0, **more):
    return client.post(f"/api/runs/{run_id}/rounds/{index}/answer", json={"order": [[0]], **more})


@pytest.mark.parametrize("raters", [1, 2])
def test_a_link_that_ends_just_before_the_write_stores_nothing(
    client, elsewhere, meanwhile, store, raters
):
    run_id = new_run(client, raters)
    ann = invited(client, run_id)
    meanwhile.happens = lambda: elsewhere.delete(f"/api/runs/{run_id}/invitations/Ann")
    refused = answer(ann, run_id)
    assert refused.status_code == 401
    assert "no longer valid" in refused.json()["detail"]
    assert store.last(run_id).answer is None
    assert store.ballots(run_id, 0) == []


def test_a_name_that_is_invited_just_before_the_write_is_taken(
    client, elsewhere, meanwhile, store
):
    run_id = new_run(client, raters=2)
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    guest = TestClient(
        client.app, headers={"Authorization": f"Bearer {link.partition('token=')[2]}"}
    )
    meanwhile.happens = lambda: invited(elsewhere, run_id, "Bob")
    refused = answer(guest, run_id, rater="Bob")
    assert refused.status_code == 422
    assert "taken in this run" in refused.json()["detail"]
    assert store.ballots(run_id, 0) == []


def test_a_round_that_gets_a_second_rater_just_before_the_write_stays_open(
    client, elsewhere, meanwhile, store
):
    run_id = new_run(client)
    meanwhile.happens = lambda: elsewhere.patch(f"/api/runs/{run_id}", json={"raters": 2})
    taken = answer(client, run_id).raise_for_status().json()
    assert (taken["closed"], taken["round"]["waiting_for"]) == (False, 1)
    assert [ballot.rater for ballot in store.ballots(run_id, 0)] == ["owner"]


def test_a_ballot_that_is_cast_just_before_an_answer_is_not_left_out(client, meanwhile, store):
    run_id = new_run(client)
    ballot = Ballot("Bob", Ranking.of([1]))
    meanwhile.happens = lambda: store.cast(run_id, 0, ballot)
    answer(client, run_id).raise_for_status()
    (line, _), *_ = store.audit(run_id).rounds
    assert [given.rater for given in line.answer.ballots] == ["Bob", "owner"]


def test_an_undo_just_before_the_write_refuses_the_answer(client, elsewhere, meanwhile, store):
    run_id = new_run(client)
    answer(client, run_id).raise_for_status()
    shown = client.get(f"/api/runs/{run_id}/round").json()
    meanwhile.happens = lambda: elsewhere.post(f"/api/runs/{run_id}/undo")
    refused = answer(client, run_id, 1, key=shown["key"])
    assert refused.status_code == 409
    assert "round 0 is" in refused.json()["detail"]
    assert [line.answer for line in store.rounds(run_id)] == [None]


def test_a_run_that_is_deleted_just_before_the_write_is_not_found(client, elsewhere, meanwhile):
    run_id = new_run(client)
    meanwhile.happens = lambda: elsewhere.delete(f"/api/runs/{run_id}")
    refused = answer(client, run_id)
    assert refused.status_code == 404
    assert "no such run" in refused.json()["detail"]


def test_an_answer_to_a_round_that_another_process_opened_is_taken(client, elsewhere):
    run_id = new_run(client)
    for index in range(3):
        answer((elsewhere, client)[index % 2], run_id, index).raise_for_status()
    assert client.get(f"/api/runs/{run_id}/round").json()["index"] == 3


def test_after_a_lost_race_the_next_round_is_prepared(client, meanwhile, elsewhere):
    run_id = new_run(client)
    client.get(f"/api/runs/{run_id}/round").raise_for_status()
    meanwhile.happens = lambda: answer(elsewhere, run_id).raise_for_status()
    assert answer(client, run_id).status_code == 409
    with client.app.state.studio.session(run_id) as session:
        assert session.waiting.index == 1
        assert session.prepared == session.waiting.key
