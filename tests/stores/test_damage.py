"""Databases that were damaged: every damage gives one sentence, and hides no other run."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
import sqlalchemy as sa

from tests.helpers.damages import (
    DATABASES,
    LOGS,
    METAS,
    NAMES,
    REPLAYS,
    RUNS,
    SETTINGS,
    Damage,
    in_run,
)
from tests.helpers.studio_server import started
from zorank import Run, StoreError, ZorankError
from zorank.stores import open_store


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """A database with two runs of a studio, `good` and `bad`, of three answers and a ballot."""
    file = tmp_path_factory.mktemp("healthy") / "runs.db"
    store = open_store(str(file))
    body = {"renderer": "plain", "method": "zo-ranksgd-memory", "seed": 1}
    with started(store) as client:
        for name in ("good", "bad"):
            run_id = client.post("/api/runs", json=body).json()["id"]
            for index in range(3):
                given = {"order": [[index]]}
                done = client.post(f"/api/runs/{run_id}/rounds/{index}/answer", json=given)
                assert done.status_code == 200
            client.patch(f"/api/runs/{run_id}", json={"raters": 2})
            client.post(
                f"/api/runs/{run_id}/rounds/3/answer", json={"order": [[0]], "rater": "ann"}
            )
            with closing(sqlite3.connect(file)) as connection, connection:
                rename = "UPDATE zorank_runs SET name = ? WHERE name = ?"
                connection.execute(rename, (name, run_id))
    store.close()
    return file


@pytest.fixture
def damaged(healthy, tmp_path):
    """Return the file of a damaged copy of that database, and the words to expect."""

    def make(damage):
        file = tmp_path / "runs.db"
        shutil.copy(healthy, file)
        with closing(sqlite3.connect(file)) as connection, connection:
            if damage.relaxed:
                _relax(connection)
        with closing(sqlite3.connect(file)) as connection, connection:
            run = connection.execute("SELECT id FROM zorank_runs WHERE name = 'bad'").fetchone()
            for statement in damage.sql.split(";"):
                connection.execute(statement.replace(":run", str(run[0])))
        return file

    return make


def _relax(connection):
    connection.execute("DROP INDEX zorank_one_standing_round")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')")


def is_sentence(text, *words):
    """Whether a text is one sentence with these words, for somebody who reads no code."""
    has_words = all(word.lower() in text.lower() for word in words)
    return has_words and "Traceback" not in text and len(text.strip().splitlines()) == 1


def cases(*tables):
    return pytest.mark.parametrize(
        "damage", [pytest.param(d, id=name) for table in tables for name, d in table.items()]
    )


@cases(RUNS, NAMES, LOGS, REPLAYS)
def test_a_damaged_run_is_told_and_hides_no_other(damage, damaged, printed, refused, monkeypatch):
    file = damaged(damage)
    bad = "damaged-2" if damage in NAMES.values() else "bad"
    store = open_store(str(file))
    problems = {record.name: record.problem for record in store.runs()}
    assert list(problems) == ["good", bad]
    assert problems["good"] == ""
    if damage not in LOGS.values() and damage not in REPLAYS.values():
        assert is_sentence(problems[bad], "is damaged", damage.words)
        with pytest.raises(StoreError, match="is damaged"):
            store.record(bad)
        with pytest.raises(StoreError, match="is damaged"):
            store.change_meta(bad, {"title": "x"})
    if damage in LOGS.values():
        with pytest.raises(StoreError) as caught:
            store.rounds(bad)
        assert is_sentence(str(caught.value), "is damaged", damage.words)
    with pytest.raises(StoreError) as caught:
        Run.open(store, bad)
    assert is_sentence(str(caught.value), damage.words)
    assert len(Run.open(store, "good").history) == 3

    with started(store) as client:
        cards = {card["id"]: card for card in client.get("/api/runs").json()}
        assert "problem" not in cards["good"]
        if damage not in REPLAYS.values():
            assert is_sentence(cards[bad]["problem"], "is damaged")
        assert client.get("/api/runs/good").status_code == 200
        shown = client.get(f"/api/runs/{bad}")
        assert shown.status_code == 503
        assert is_sentence(shown.json()["detail"])
        assert client.get(f"/runs/{bad}").status_code in (200, 503)
    store.close()

    monkeypatch.setenv("ZORANK_STORE", str(file))
    listed = printed("runs", "list")
    assert "good" in listed
    assert damage in REPLAYS.values() or "damaged" in listed
    assert is_sentence(refused("runs", "show", bad), damage.words)
    assert "3 rounds" in printed("runs", "show", "good")
    assert f"deleted {bad}" in printed("runs", "delete", bad, "--yes")
    left = printed("runs", "list")
    assert "good" in left
    assert "damaged" not in left


@cases(SETTINGS, METAS)
def test_settings_and_data_of_the_studio_may_be_damaged(damage, damaged):
    store = open_store(str(damaged(damage)))
    if damage in SETTINGS.values():
        with pytest.raises(ZorankError):
            Run.open(store, "bad")
    with started(store) as client:
        cards = {card["id"]: card for card in client.get("/api/runs").json()}
        assert "problem" not in cards["good"]
        assert is_sentence(cards["bad"]["problem"], damage.words)
        shown = client.get("/api/runs/bad")
        assert shown.status_code in (409, 422, 503)
        assert is_sentence(shown.json()["detail"], damage.words)
        assert client.delete("/api/runs/bad").status_code == 204
        assert [card["id"] for card in client.get("/api/runs").json()] == ["good"]
    store.close()


@cases(RUNS, NAMES)
def test_the_studio_deletes_a_damaged_run(damage, damaged):
    store = open_store(str(damaged(damage)))
    with started(store) as client:
        (bad,) = (card["id"] for card in client.get("/api/runs").json() if "problem" in card)
        assert client.delete(f"/api/runs/{bad}").status_code == 204
        assert [card["id"] for card in client.get("/api/runs").json()] == ["good"]
    store.close()


@cases(DATABASES)
def test_a_database_that_is_damaged_as_a_whole(damage, damaged, refused, monkeypatch):
    file = damaged(damage)
    before = file.read_bytes()
    with pytest.raises(StoreError) as caught:
        open_store(str(file))
    assert is_sentence(str(caught.value), damage.words)
    monkeypatch.setenv("ZORANK_STORE", str(file))
    for command in (["list"], ["show", "bad"], ["delete", "bad", "--yes"]):
        assert is_sentence(refused("runs", *command), damage.words)
    assert len(file.read_bytes()) == len(before)


@pytest.mark.parametrize(
    ("column", "value"),
    [("ranking", "'[]'"), ("ranking", "'x'"), ("weight", "'heavy'"), ("rater", "x'00'")],
)
def test_a_damaged_ballot(damaged, column, value):
    change = f"UPDATE zorank_ballots SET {column} = {value} WHERE run_id = :run"
    store = open_store(str(damaged(Damage(change, column))))
    for read in (lambda: store.ballots("bad", 3), lambda: store.snapshot("bad")):
        with pytest.raises(StoreError, match="a ballot for round 3") as caught:
            read()
        assert is_sentence(str(caught.value), column)
    assert len(store.ballots("good", 3)) == 1
    with started(store) as client:
        assert client.get("/api/runs/bad").status_code == 503
        assert client.get("/api/runs/good").status_code == 200
    store.close()


def test_nothing_is_appended_to_a_damaged_line(damaged):
    damage = "UPDATE zorank_rounds SET note = '[]' WHERE run_id = :run AND position = 3"
    store = open_store(str(damaged(Damage(damage, ""))))
    for write in (lambda: store.append("bad", 4, 1.0), lambda: store.last("bad")):
        with pytest.raises(StoreError, match="round 3 of this run is damaged"):
            write()
    store.close()


def test_public_errors_have_no_stored_values(damaged):
    store = open_store(str(damaged(in_run("meta", "'[\"a secret\"]'"))))
    with pytest.raises(StoreError, match="a secret") as caught:
        store.snapshot("bad")
    assert "a secret" not in caught.value.public
    with started(store) as client:
        stranger = client.get(
            "/api/runs/bad", params={"token": "bad.x"}, headers={"Authorization": ""}
        )
        assert stranger.status_code == 503
        assert "a secret" not in stranger.text
    store.close()


def test_a_postgresql_row_may_be_damaged_too(postgres_url):
    store = open_store(postgres_url)
    for name in ("good", "bad"):
        Run("zo-ranksgd", np.ones(2), store=store, name=name)
    engine = sa.create_engine(postgres_url)
    for change in ("meta = '[]'", "created_at = 'NaN'", "x0 = '\\x00'", "seed = 'x'"):
        with engine.begin() as connection:
            kept = connection.execute(
                sa.text(
                    "SELECT meta::text, created_at, x0, seed FROM zorank_runs WHERE name = 'bad'"
                )
            ).one()
            connection.execute(sa.text(f"UPDATE zorank_runs SET {change} WHERE name = 'bad'"))
        problems = {record.name: record.problem for record in store.runs()}
        assert problems["good"] == ""
        assert is_sentence(problems["bad"], "is damaged", change.split()[0])
        with engine.begin() as connection:
            connection.execute(
                sa.text(
                    "UPDATE zorank_runs SET meta = CAST(:meta AS JSON), created_at = :at, "
                    "x0 = :x0, seed = :seed WHERE name = 'bad'"
                ),
                {"meta": kept[0], "at": kept[1], "x0": kept[2], "seed": kept[3]},
            )
    engine.dispose()
    for name in ("good", "bad"):
        store.delete(name)
    store.close()
