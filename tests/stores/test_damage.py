"""Databases that were damaged: every damage gives one sentence, and hides no other run."""

import shutil
import sqlite3
from contextlib import closing
from typing import NamedTuple

import numpy as np
import pytest
import sqlalchemy as sa

from tests.helpers.studio_server import started
from zorank import Run, StoreError, ZorankError
from zorank.stores import open_store

UNREADABLE = "CAST(x'ff31ff' AS TEXT)"
"""SQL for a text that is not UTF-8."""


class Damage(NamedTuple):
    """What happens to a database, and the words of the sentence that it gives.

    `id` and `run` stand for the row of the run `bad` and for its id. `relaxed` removes NOT NULL
    and unique indices first, as only a damaged schema would.
    """

    sql: str
    words: str
    relaxed: bool = False


def in_run(column, value, words=None):
    return Damage(f"UPDATE zorank_runs SET {column} = {value} WHERE id = :run", words or column)


def in_round(column, value, words=None):
    change = f"UPDATE zorank_rounds SET {column} = {value} WHERE run_id = :run AND position = 1"
    return Damage(change, words or column)


RUNS = {
    "options that are not JSON": in_run("options", "'{not json'", "a text that is not JSON"),
    "options that are a list": in_run("options", "'[1]'"),
    "options that are a number": in_run("options", "7"),
    "meta that is a list": in_run("meta", "'[]'"),
    "meta that is not UTF-8": in_run("meta", UNREADABLE),
    "meta cut in the middle": in_run("meta", "substr(meta, 1, 9)"),
    "x0 of a wrong length": in_run("x0", "x'0011'"),
    "x0 that is empty": in_run("x0", "x''"),
    "x0 that is a text": in_run("x0", "'abc'"),
    "x0 that is a number": in_run("x0", "1000000000000"),
    "x0 with a NaN": in_run("x0", "x'000000000000f87f'"),
    "x0 that is half a .npy file": in_run("x0", "x'934e554d5059'"),
    "x0 that is NULL": in_run("x0", "NULL")._replace(relaxed=True),
    "seed that is a word": in_run("seed", "'seven'"),
    "seed that is negative": in_run("seed", "'-1'"),
    "seed that is too large": in_run("seed", f"'{2**128}'"),
    "revision that is a text": in_run("revision", "'first'"),
    "created_at that is a text": in_run("created_at", "'today'"),
    "created_at that is infinite": in_run("created_at", "9e999"),
    "created_at that is out of range": in_run("created_at", "1e15"),
    "created_at that is NULL": in_run("created_at", "NULL")._replace(relaxed=True),
    "version that is a blob": in_run("version", "x'00'"),
    "optimizer that is not UTF-8": in_run("optimizer", UNREADABLE),
}
NAMES = {
    "name that is NULL": in_run("name", "NULL")._replace(relaxed=True),
    "name that is a blob": in_run("name", "x'616263'"),
    "name that is not UTF-8": in_run("name", UNREADABLE),
}
LOGS = {
    "answer that is not JSON": in_round("answer", "'{order'"),
    "answer that is a list": in_round("answer", "'[1, 2]'"),
    "answer that is a number": in_round("answer", "5"),
    "answer of an unknown kind": in_round("answer", """'{"opinion": 1}'"""),
    "answer with a negative position": in_round("answer", """'{"order": [[-1]]}'""", "negative"),
    "answer with a position twice": in_round("answer", """'{"order": [[1], [1]]}'""", "once"),
    "answer with words for positions": in_round("answer", """'{"order": [["a"]]}'""", "position"),
    "poll without ballots": in_round("answer", """'{"ballots": []}'""", "ballots"),
    "poll of a nameless rater": in_round(
        "answer",
        """'{"ballots": [{"rater": 5, "weight": 1, "ranking": {"order": []}}]}'""",
        "rater",
    ),
    "answer that is missing": in_round("answer", "NULL", "answer is missing"),
    "note that is not JSON": in_round("note", "'x'"),
    "key that is NULL": in_round("key", "NULL")._replace(relaxed=True),
    "slate that is a list": in_round("slate", "'[]'"),
    "shown_at that is a text": in_round("shown_at", "'then'"),
    "answered_at that is infinite": in_round("answered_at", "-9e999"),
    "rater that is a blob": in_round("rater", "x'ff'"),
    "position that is a text": in_round("position", "'second'"),
    "position that is negative": in_round("position", "-1"),
    "a round that is missing": Damage(
        "DELETE FROM zorank_rounds WHERE run_id = :run AND position = 1", "rounds are missing"
    ),
    "a round that is there twice": Damage(
        "UPDATE zorank_rounds SET position = 0 WHERE run_id = :run AND position = 1",
        "rounds are missing",
        relaxed=True,
    ),
}
# Damages that only a replay can notice.
REPLAYS = {
    "answer with a position that was not shown": in_round(
        "answer", """'{"order": [[99]]}'""", "position 99"
    ),
    "answer of another kind": in_round("answer", """'{"values": [1.0]}'""", "values"),
    "slate of an unknown kind": in_round(
        "slate", """'{"question": "rank", "design": {"kind": "odd"}}'""", "odd"
    ),
    "slate without a design": in_round("slate", """'{"question": "rank"}'""", "design"),
}
SETTINGS = {
    "a setting of a wrong type": in_run("options", "json_set(options, '$.m', 'many')", "m"),
    "a setting that is unknown": in_run("options", "json_set(options, '$.colour', 1)", "colour"),
    "an optimizer that is unknown": in_run("optimizer", "'nothing'", "nothing"),
}
METAS = {
    f"meta with a wrong {key}": in_run("meta", f"json_set(meta, '$.{key}', json('{value}'))", key)
    for key, value in {
        "title": "5",
        "renderer": "[]",
        "renderer_options": "3",
        "raters": '"two"',
        "looks": "1",
        "judge": '"who"',
    }.items()
}
METAS["meta without a title"] = in_run("meta", "json_remove(meta, '$.title')", "title")
DATABASES = {
    "a missing column": Damage(
        "ALTER TABLE zorank_runs DROP COLUMN meta", "lacks the column meta"
    ),
    "a missing table": Damage("DROP TABLE zorank_ballots", "lacks the table zorank_ballots"),
    "no table of versions": Damage("DROP TABLE zorank_schema", "but not zorank_schema"),
    "an empty table of versions": Damage("DELETE FROM zorank_schema", "no row in zorank_schema"),
    "two versions": Damage("INSERT INTO zorank_schema VALUES (3)", "2 rows in zorank_schema"),
    "a version that is a text": Damage("UPDATE zorank_schema SET version = 'new'", "'new'"),
    "a version that is negative": Damage("UPDATE zorank_schema SET version = -1", "-1"),
    "a version that is newer": Damage("UPDATE zorank_schema SET version = 99", "upgrade zorank"),
    "a version that is NULL": Damage("UPDATE zorank_schema SET version = NULL", "None", True),
    "tables that belong to something else": Damage(
        "DROP TABLE zorank_rounds; CREATE TABLE zorank_rounds (id INTEGER)", "lacks the column"
    ),
}


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


def test_what_strangers_are_told_has_no_stored_values(damaged):
    store = open_store(str(damaged(in_run("seed", "'a secret'"))))
    with pytest.raises(StoreError, match="a secret") as caught:
        store.record("bad")
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
