"""The number of runs in memory is bounded, and nobody notices when one is loaded again."""

import pytest

from tests.helpers.studio_server import Plain, client_of
from zorank import Run
from zorank.errors import InvalidInput
from zorank.studio.limits import Limits
from zorank.testing.stores import at_once

METHOD = {"renderer": "plain", "method": "rank-process"}


@pytest.fixture
def client(store):
    return client_of(store, {"plain": Plain}, server_limits=Limits(runs=2))


@pytest.fixture
def studio(client):
    return client.app.state.studio


def new_run(client, **more):
    return client.post("/api/runs", json={**METHOD, **more}).json()["id"]


def loaded(studio):
    return [session.run.name for session in studio.loaded]


def answer(client, run_id, index):
    path = f"/api/runs/{run_id}/rounds/{index}/answer"
    return client.post(path, json={"order": [[1]], "rater": "ann"}).json()


def test_the_least_recently_used_run_is_dropped(client, studio):
    first, second = new_run(client), new_run(client)
    assert client.get(f"/api/runs/{first}").status_code == 200
    third = new_run(client)
    assert loaded(studio) == [first, third]
    assert client.get(f"/api/runs/{second}").status_code == 200
    assert loaded(studio) == [third, second]


def test_a_dropped_run_goes_on_where_it_was(client, studio, store):
    run_id = new_run(client, seed=3)
    for index in range(4):
        shown = answer(client, run_id, index)["round"]
        new_run(client)
        new_run(client)
        assert run_id not in loaded(studio)
        assert client.get(f"/api/runs/{run_id}/round").json() == shown
    best = client.get(f"/api/runs/{run_id}/vector").json()
    assert best == Run.open(store, run_id).best().tolist()
    assert [line.index for line in store.rounds(run_id)] == [0, 1, 2, 3, 4]


def test_ballots_of_a_dropped_run_count(client, studio):
    run_id = new_run(client, raters=2)
    assert answer(client, run_id, 0)["closed"] is False
    new_run(client)
    new_run(client)
    assert run_id not in loaded(studio)
    assert client.get(f"/api/runs/{run_id}/round?rater=ann").json()["answered_by"] == ["ann"]
    path = f"/api/runs/{run_id}/rounds/0/answer"
    assert client.post(path, json={"order": [[1]], "rater": "bob"}).json()["closed"] is True


def test_a_run_with_open_pages_is_kept(client, studio):
    first = new_run(client)
    studio.has_pages = lambda run: run == first
    others = [new_run(client) for _ in range(3)]
    assert loaded(studio) == [first, others[-1]]


def test_a_run_in_use_is_kept(client, studio):
    first = new_run(client)
    with studio.session(first):
        others = [new_run(client) for _ in range(3)]
        assert loaded(studio) == [first, others[-1]]
    last = new_run(client)
    assert loaded(studio) == [others[-1], last]


def test_many_requests_at_once_load_a_run_once(client, studio):
    run_id = new_run(client)
    new_run(client)
    new_run(client)

    def use(_):
        with studio.session(run_id) as session:
            return id(session)

    assert len(set(at_once(8, use))) == 1
    assert studio._sessions._loaders == {}
    assert studio._sessions._users == {}


def test_nothing_is_kept_of_runs_that_do_not_exist(client, studio):
    for number in range(5):
        assert client.get(f"/api/runs/none-{number}").status_code == 404
    assert studio._sessions._loaders == {}
    assert studio._sessions._users == {}


def test_a_change_elsewhere_loads_no_run_that_nobody_looks_at(client, studio):
    first = new_run(client)
    new_run(client)
    new_run(client)
    studio.changed_elsewhere(first, [])
    assert first not in loaded(studio)
    studio.changed_elsewhere(first, [first])
    assert first in loaded(studio)


@pytest.mark.parametrize("name", ["runs", "streams", "connections", "head_seconds"])
def test_a_limit_below_one_is_refused(name):
    with pytest.raises(InvalidInput, match=f"the limit {name} must be .* at least 1"):
        Limits(**{name: 0})
