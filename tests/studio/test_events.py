"""Open pages learn of every change, without asking and without statements in the database."""

import asyncio
import itertools
import json
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from tests.helpers.studio_server import PLAIN_RENDERER, TOKEN, Plain
from tests.helpers.waiting import PATIENCE, Deadline
from zorank import Run, StoreError
from zorank.stores import _listen, open_store
from zorank.studio import create_app, notifier
from zorank.studio.methods import MethodSpec
from zorank.studio.new_run import RunSettings


@pytest.fixture
def server(serve):
    return serve(PLAIN_RENDERER, "plain:Plain")


@pytest.fixture
def client(server):
    with server.client() as opened:
        yield opened


@pytest.fixture
def run_id(client):
    made = client.post("/api/runs", json={"renderer": "plain:Plain", "seed": 0})
    return made.raise_for_status().json()["id"]


@contextmanager
def stream(client, run_id, **headers):
    """Open a page's stream; yield an iterator of (name, id, data)."""
    with client.stream("GET", f"/api/runs/{run_id}/events", headers=headers) as response:
        response.raise_for_status()
        yield _events(response.iter_lines())


def _events(lines):
    fields, deadline = {}, Deadline("an event, or the end of the stream")
    for line in lines:  # comments keep a stream open that has no events
        assert deadline.is_ahead()
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield fields["event"], fields["id"], json.loads(fields["data"])
            fields = {}


def next_of(events, name):
    return next((id, data) for found, id, data in events if found == name)


def answer(client, run_id, index, **body):
    path = f"/api/runs/{run_id}/rounds/{index}/answer"
    return client.post(path, json={"order": [[0]], **body}).raise_for_status().json()


def test_a_stream_begins_with_the_current_round_and_pushes_the_next(client, run_id):
    with stream(client, run_id) as events:
        _, shown = next_of(events, "round")
        waiting = client.get(f"/api/runs/{run_id}/round").json()
        assert shown.items() <= waiting.items()
        taken = answer(client, run_id, 0)
        _, shown = next_of(events, "round")
        assert shown.items() <= taken["round"].items()
        assert shown["index"] == 1


def test_an_answer_returns_the_round_that_the_page_shows_next(client, run_id):
    taken = answer(client, run_id, 0)
    assert taken["closed"] is True
    assert taken["round"] == client.get(f"/api/runs/{run_id}/round").json()


def test_a_page_that_reconnects_gets_what_it_missed_and_nothing_else(client, run_id):
    with stream(client, run_id) as kept, stream(client, run_id) as events:
        names = set()
        while names < {"round", "ballots", "exhibit"}:
            name, last, data = next(events)
            names.add(name)
        while data.get("done") != 6:
            _, last, data = next(events)
        with stream(client, run_id, **{"Last-Event-ID": last}) as again:
            answer(client, run_id, 0)
            name, _, data = next(again)
            assert (name, data["index"]) == ("round", 1)
        assert next_of(kept, "round")


def test_a_change_by_another_process_is_pushed(client, server, run_id):
    with stream(client, run_id) as events:
        next_of(events, "round")
        store = open_store(server.store)
        other = Run.open(store, run_id)
        other.ask()
        other.tell([3])
        store.close()
        assert next_of(events, "round")[1]["index"] == 1  # the studio made a round wait


def test_a_revoked_link_ends_the_stream(client, server, run_id):
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    with server.client(link.partition("token=")[2]) as rater, stream(rater, run_id) as events:
        next_of(events, "round")
        client.delete(f"/api/runs/{run_id}/invite").raise_for_status()
        assert all(name != "round" for name, _, _ in events)  # ends, or this would never return


def test_a_deleted_run_ends_the_stream(client, run_id):
    with stream(client, run_id) as events:
        next_of(events, "round")
        client.delete(f"/api/runs/{run_id}").raise_for_status()
        assert all(name != "round" for name, _, _ in events)


def test_a_run_that_does_not_exist_has_no_stream(client, run_id):
    """A browser would reconnect to a stream that ends; a 404 tells the page that it is over."""
    client.delete(f"/api/runs/{run_id}").raise_for_status()
    for missing in (run_id, "run-that-never-was"):
        refused = client.get(f"/api/runs/{missing}/events")
        assert refused.status_code == 404
        assert "no such run" in refused.json()["detail"]


def test_an_open_page_that_nobody_touches_costs_no_statement(tmp_path, monkeypatch):
    store = open_store(str(tmp_path / "runs.db"))
    app = create_app(store, {"plain": Plain}, TOKEN)
    run_id = app.state.studio.create(_settings())
    statements, looks, real_states = [], itertools.count(), _listen._states
    last_look = 0

    def counted(files):
        nonlocal last_look
        last_look = next(looks)
        return real_states(files)

    async def looked_at(times):
        """Wait until the studio has looked at the file so many times."""
        end, deadline = last_look + times, Deadline("the studio looks at the file")
        while deadline.is_ahead() and last_look < end:
            await asyncio.sleep(0.001)

    monkeypatch.setattr(_listen, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(_listen, "_states", counted)

    async def open_page():
        async with app.router.lifespan_context(app):
            events = app.state.notifier.follow(run_id, True, lambda: True)
            while b"event: exhibit" not in await anext(events):
                pass
            await looked_at(50)  # by then the changes of its creation were noticed
            sa.event.listen(store._engine, "before_cursor_execute", _note(statements))
            await looked_at(50)
            await events.aclose()

    asyncio.run(asyncio.wait_for(open_page(), PATIENCE))
    assert statements == []
    store.close()


def test_an_idle_page_gets_comments_so_that_proxies_keep_it_open(tmp_path, monkeypatch):
    store = open_store(str(tmp_path / "runs.db"))
    app = create_app(store, {"plain": Plain}, TOKEN)
    run_id = app.state.studio.create(_settings())
    monkeypatch.setattr(notifier, "PING", 0.001)

    async def open_page():
        events = app.state.notifier.follow(run_id, True, lambda: True)
        while await anext(events) != b": ping\n\n":
            pass
        await events.aclose()

    asyncio.run(open_page())
    store.close()


def test_an_event_is_encoded_once_for_all_pages(tmp_path, monkeypatch):
    store = open_store(str(tmp_path / "runs.db"))
    app = create_app(store, {"plain": Plain}, TOKEN)
    run_id = app.state.studio.create(_settings())
    encoded, real = [], notifier.format_sse_event
    monkeypatch.setattr(
        notifier,
        "format_sse_event",
        lambda **event: encoded.append(event["event"]) or real(**event),
    )

    async def open_pages():
        follow = app.state.notifier.follow
        pages = [follow(run_id, True, lambda: True) for _ in range(5)]
        received = [await anext(page) for page in pages]
        assert all(b"event: round" in first for first in received)
        for page in pages:
            await page.aclose()

    asyncio.run(open_pages())
    assert encoded.count("round") == 1
    store.close()


def _note(statements):
    return lambda connection, cursor, statement, *_: statements.append(statement)


def _settings():
    # Without looks, which are computed in the background and may be given up.
    return RunSettings(renderer="plain", m=6, seed=0, method=MethodSpec("rank-process"))


class Failing:
    """A store whose next rounds cannot be appended while `fails` is set."""

    def __init__(self, store):
        self._store = store
        self.fails = False

    def __getattr__(self, name):
        if name == "append" and self.fails:
            return self._refuse
        return getattr(self._store, name)

    def _refuse(self, *_):
        raise StoreError("the disk is full")


def test_an_answer_is_acknowledged_once_it_is_stored(tmp_path):
    store = Failing(open_store(str(tmp_path / "runs.db")))
    client = TestClient(
        create_app(store, {"plain": Plain}, TOKEN, hosts=("*",)),
        headers={"Authorization": f"Bearer {TOKEN}"},
    )
    run_id = client.post("/api/runs", json={"renderer": "plain"}).json()["id"]
    store.fails = True
    taken = answer(client, run_id, 0)
    assert (taken["closed"], taken["round"]) == (False, None)
    assert client.get(f"/api/runs/{run_id}/round").status_code == 503
    store.fails = False
    assert client.get(f"/api/runs/{run_id}/round").json()["index"] == 1
    assert len(store.rounds(run_id)) == 2
    store.close()
