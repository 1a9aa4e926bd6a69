"""Two studios on one PostgreSQL database: what is said to one is known to the other."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from tests.helpers.studio_server import PLAIN_RENDERER, Server
from zorank import Ranking, Run
from zorank.stores import open_store
from zorank.studio.presentation import shown_order, to_candidates

ROUNDS = 12
"""How often a race is run: enough for both to meet in the middle of it."""


@pytest.fixture(scope="module")
def database(postgres_url):
    """A database of these tests' own."""
    engine = sa.create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE DATABASE studio")
    yield sa.make_url(postgres_url).set(database="studio").render_as_string()
    with engine.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE studio WITH (FORCE)")
    engine.dispose()


@contextmanager
def started(*servers):
    """Servers that start at the same moment, as two machines of one deployment may."""
    try:
        with ThreadPoolExecutor() as pool:
            list(pool.map(Server.start, servers))
        yield servers
    finally:
        for server in servers:
            server.stop()


@pytest.fixture(scope="module")
def studios(database, tmp_path_factory):
    """The owner's clients at two studios."""
    folder = tmp_path_factory.mktemp("renderer")
    (folder / "plain.py").write_text(PLAIN_RENDERER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        two = [Server(database, "--renderer", "plain:Plain") for _ in range(2)]
        with started(*two) as servers, servers[0].client() as one, servers[1].client() as other:
            yield one, other


@pytest.fixture
def store(database):
    opened = open_store(database)
    yield opened
    opened.close()


def new_run(client, **more):
    made = client.post(
        "/api/runs", json={"renderer": "plain:Plain", "seed": 4, "method": "rank-process", **more}
    )
    assert made.status_code == 201, made.text
    return made.json()["id"]


def waiting(client, run_id, rater=None):
    shown = client.get(f"/api/runs/{run_id}/round", params={"rater": rater} if rater else {})
    assert shown.status_code == 200, shown.text
    return shown.json()


def answer(client, run_id, index, order, rater=None):
    given = {"order": order, "rater": rater}
    return client.post(f"/api/runs/{run_id}/rounds/{index}/answer", json=given)


def at_once(*calls):
    """The results of calls that begin at the same moment."""
    gate = threading.Barrier(len(calls))

    def begin(call):
        gate.wait(60)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(begin, calls))


def closed_and_index(response):
    taken = response.raise_for_status().json()
    return taken["closed"], taken["index"]


def test_the_flow_from_start_to_result_through_two_studios(studios, store):
    one, other = studios
    run_id = new_run(one, title="Two of them")
    assert run_id in [card["id"] for card in other.get("/api/runs").json()]
    given = []
    for turn, order in enumerate(([[4]], [[2], [0, 5]], [[1]], [[5], [3], [1]], [])):
        here, there = (one, other) if turn % 2 else (other, one)
        shown = waiting(here, run_id)
        assert shown == waiting(there, run_id)
        assert shown["index"] == turn
        for exhibit in shown["exhibits"][:2]:
            pictures = [client.get(exhibit["url"]) for client in studios]
            assert [p.status_code for p in pictures] == [200, 200]
            assert pictures[0].content == pictures[1].content
        said = answer(here, run_id, turn, order)
        assert closed_and_index(said) == (True, turn + 1)
        assert waiting(there, run_id)["index"] == turn + 1
        given.append((order, len(shown["exhibits"])))
    record, log = store.record(run_id), store.rounds(run_id)
    assert [line.answer for line in log[:-1]] == [
        to_candidates(Ranking.of(order), shown_order(record, index, m))
        for index, (order, m) in enumerate(given)
    ]
    histories = [client.get(f"/api/runs/{run_id}/history").json() for client in studios]
    assert histories[0] == histories[1]
    assert [row["question"] for row in histories[0]["rows"]][:3] == ["start", "rank", "rank"]
    vectors = [client.get(f"/api/runs/{run_id}/vector").json() for client in studios]
    assert vectors[0] == vectors[1] == Run.open(store, run_id).best().tolist()


def test_what_the_owner_does_at_one_studio_holds_at_the_other(studios, store):
    one, other = studios
    run_id = new_run(one)
    slates = []
    for index, order in enumerate(([[0]], [[1], [2]], [[3]])):
        slates.append(waiting(one, run_id)["exhibits"])
        assert answer(one, run_id, index, order).status_code == 200
    assert other.post(f"/api/runs/{run_id}/undo", json={"rounds": 2}).json()["index"] == 1
    again = waiting(one, run_id)
    assert again["index"] == 1
    assert again["exhibits"] == slates[1]

    other.patch(f"/api/runs/{run_id}", json={"title": "Renamed", "raters": 2})
    shown = one.get(f"/api/runs/{run_id}").json()
    assert (shown["title"], shown["raters_needed"]) == ("Renamed", 2)

    branch = other.post(f"/api/runs/{run_id}/branch").json()["id"]
    urls = [e["url"].partition("?v=")[2] for e in waiting(one, branch)["exhibits"]]
    assert sorted(urls) == sorted(e["url"].partition("?v=")[2] for e in slates[1])

    token = one.post(f"/api/runs/{run_id}/invite").json()["url"].partition("token=")[2]
    for client in studios:
        rater = {"Authorization": f"Bearer {token}"}
        assert client.get(f"/api/runs/{run_id}/round", headers=rater).status_code == 200
    other.delete(f"/api/runs/{run_id}/invite")
    assert one.get(f"/api/runs/{run_id}/round", headers=rater).status_code == 401

    assert other.delete(f"/api/runs/{run_id}").status_code == 204
    assert one.get(f"/api/runs/{run_id}/round").status_code == 404
    assert answer(one, run_id, 1, [[0]]).status_code == 404
    assert run_id not in [record.name for record in store.runs()]


def test_a_round_of_several_raters_fills_up_through_both(studios, store):
    one, other = studios
    run_id = new_run(one, raters=3)
    assert {"closed": False, "index": 0}.items() <= answer(
        one, run_id, 0, [[2]], "ann"
    ).json().items()
    seen = waiting(other, run_id, "ann")
    assert (seen["answered_by"], seen["waiting_for"]) == (["ann"], 2)
    assert seen["you_answered"] is True
    assert answer(other, run_id, 0, [[1]], "ann").status_code == 409
    assert {"closed": False, "index": 0}.items() <= answer(
        other, run_id, 0, [[2]], "bob"
    ).json().items()
    assert {"closed": True, "index": 1}.items() <= answer(
        one, run_id, 0, [[3]], "cleo"
    ).json().items()
    assert waiting(other, run_id)["index"] == 1
    poll = store.rounds(run_id)[0].answer
    assert [ballot.rater for ballot in poll.ballots] == ["ann", "bob", "cleo"]


@pytest.mark.parametrize("raters", [1, 2])
def test_an_answer_doubled_through_both_counts_once(studios, store, raters):
    one, other = studios
    run_id = new_run(one, raters=raters)
    for index in range(ROUNDS):
        for client in studios:
            assert waiting(client, run_id)["index"] == index
        said = at_once(
            lambda i=index: answer(one, run_id, i, [[1]], "ann"),
            lambda i=index: answer(other, run_id, i, [[1]], "ann"),
        )
        assert sorted(r.status_code for r in said) == [200, 409], [r.text for r in said]
        if raters == 2:
            assert answer(one, run_id, index, [[1]], "bob").status_code == 200
    log = store.rounds(run_id)
    assert [line.index for line in log] == list(range(ROUNDS + 1))
    assert {line.rater for line in log[:-1]} == {"ann" if raters == 1 else "ann, bob"}


def test_the_last_two_answers_given_at_once_close_the_round(studios, store):
    """Each studio keeps one of them, and neither may leave the closing to the other."""
    one, other = studios
    run_id = new_run(one, raters=2)
    for index in range(ROUNDS):
        for client in studios:
            assert waiting(client, run_id)["index"] == index
        said = at_once(
            lambda i=index: answer(one, run_id, i, [[1], [0]], "ann"),
            lambda i=index: answer(other, run_id, i, [[2]], "bob"),
        )
        assert [r.status_code for r in said] == [200, 200], [r.text for r in said]
        assert [waiting(client, run_id)["index"] for client in studios] == [index + 1] * 2
        poll = store.rounds(run_id)[index].answer
        assert sorted(ballot.rater for ballot in poll.ballots) == ["ann", "bob"]


def test_an_answer_that_is_acknowledged_while_the_owner_closes_is_in_the_log(studios, store):
    """Closing and answering at once: the answer is refused, or it counts; never in between."""
    one, other = studios
    run_id = new_run(one, raters=3)
    for index in range(ROUNDS):
        assert answer(one, run_id, index, [[1]], "ann").status_code == 200
        closed, said = at_once(
            lambda i=index: one.post(f"/api/runs/{run_id}/rounds/{i}/close"),
            lambda i=index: answer(other, run_id, i, [[2]], "bob"),
        )
        assert closed.status_code == 200, closed.text
        assert said.status_code in (200, 409), said.text
        assert [waiting(client, run_id)["index"] for client in studios] == [index + 1] * 2
        counted = store.rounds(run_id)[index].rater.split(", ")
        assert ("bob" in counted) == (said.status_code == 200), (counted, said.text)


def test_characters_that_the_database_cannot_keep_are_refused(studios):
    one, _ = studios
    run_id = new_run(one)
    nobody = {"Authorization": ""}
    assert one.get("/api/runs", params={"token": "\0.x"}, headers=nobody).status_code == 401
    assert one.get("/api/runs/a%00b").status_code in (404, 422)
    assert one.get("/runs/a%00b").status_code == 404
    assert answer(one, run_id, 0, [[1]], "a\0b").status_code == 422
    shown = one.get(f"/api/runs/{run_id}/round", params={"rater": "a\0b"})
    assert shown.status_code in (200, 422)
    made = {"renderer": "plain:Plain", "title": "a\0b"}
    assert one.post("/api/runs", json=made).status_code == 422
