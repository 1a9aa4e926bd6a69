"""What every store promises (`zorank.testing`), and what only a database can suffer."""

import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
import sqlalchemy as sa

from zorank import Ballot, Ranking, Run, Slate, StoreError
from zorank.protocols import Store
from zorank.slates import Points
from zorank.stores import _engine, default_url, open_store, schema
from zorank.testing import StoreContract
from zorank.testing.stores import SLATE, answered, at_once, example_record
from zorank.types import Round


@pytest.fixture
def record():
    return example_record()


class Declared:
    """A store with the members that `zorank.protocols.Store` declares, and no others."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        if name not in vars(Store):
            raise AttributeError(f"zorank.protocols.Store declares no {name}")
        return getattr(self._store, name)


STORES = {
    "memory": lambda request: open_store("memory://"),
    "declared": lambda request: Declared(open_store("memory://")),
    "sqlite": lambda request: open_store(
        f"sqlite:///{request.getfixturevalue('tmp_path')}/runs.db"
    ),
    "postgresql": lambda request: open_store(request.getfixturevalue("postgres_url")),
}
"""What opens an empty store for a test, by name: a further store is a further row."""


class TestStores(StoreContract):
    @pytest.fixture(params=STORES)
    def store(self, request):
        opened = STORES[request.param](request)
        yield opened
        for record in opened.runs():
            opened.delete(record.name)
        opened.close()

    def test_two_that_ask_at_once_are_given_one_slate(self, store):
        runs = [
            Run("zo-ranksgd", np.ones(3), seed=1, store=store, name="a", record_slates=True)
            for _ in range(4)
        ]

        def ask(i):
            # What each would show differs, as it may after an upgrade.
            slate = Slate(Points(np.full((6, 3), float(i))))
            runs[i]._fold.slates.new = lambda index, state, looks=None: slate
            return np.asarray(runs[i].ask()).tobytes()

        shown = at_once(4, ask)
        assert len(set(shown)) == 1
        assert np.asarray(Run.open(store, "a").ask()).tobytes() == shown[0]


def test_equality_of_rounds_ignores_slates():
    assert Round(0, 1.0, slate=SLATE) == Round(0, 1.0)
    assert "slate" not in repr(Round(0, 1.0, slate=SLATE))


OPENER = """
import sys, zorank
run = zorank.Run("zo-ranksgd", [1.0], store=sys.argv[1], name="same")
run.ask()
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_several_processes_open_a_new_store_at_once(kind, tmp_path, request):
    url = str(tmp_path / "runs.db")
    if kind == "postgresql":
        url = request.getfixturevalue("postgres_url")
        engine = sa.create_engine(url)
        with engine.begin() as connection:
            for table in ("ballots", "rounds", "runs", "schema"):
                connection.execute(sa.text(f"DROP TABLE IF EXISTS zorank_{table}"))
        engine.dispose()
    command = [sys.executable, "-c", OPENER, url]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(4)]
    failures = [p.communicate()[1].decode() for p in processes]
    assert [p.returncode for p in processes] == [0] * 4, failures
    store = open_store(url)
    assert [r.name for r in store.runs()] == ["same"]
    store.delete("same")
    store.close()


# What only a database file can suffer.


@pytest.mark.parametrize("name", ["a%20b.db", "q?mode=ro.db", "with space.db", "ü.db", "a'b.db"])
def test_a_files_name_is_taken_as_it_is(tmp_path, name, record):
    store = open_store(str(tmp_path / name))
    store.create(record)
    store.close()
    assert name in [f.name for f in tmp_path.iterdir()]


def test_a_log_with_a_hole_is_not_folded(tmp_path):
    store = open_store(str(tmp_path / "runs.db"))
    run = Run("zo-ranksgd", [1.0], store=store, name="a")
    for _ in range(3):
        run.ask()
        run.tell([0])
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        connection.execute("DELETE FROM zorank_rounds WHERE position = 1")
    connection.close()
    with pytest.raises(StoreError, match="rounds are missing"):
        Run.open(store, "a")


def test_undone_rounds_stay_in_the_table_for_an_audit(tmp_path, record):
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    store.create(record, [answered(0, 1)])
    store.undo("a run", 0)
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        (row,) = connection.execute("SELECT answer, undone_at FROM zorank_rounds").fetchall()
    connection.close()
    assert row[0] == '{"order": [[1]]}'
    assert row[1] > 0


def test_a_path_is_a_sqlite_file_and_folders_are_made(tmp_path, record):
    open_store(str(tmp_path / "new" / "folder" / "runs.db")).create(record)
    again = open_store(f"sqlite:///{tmp_path}/new/folder/runs.db")
    assert [r.name for r in again.runs()] == ["a run"]


def test_a_file_that_is_no_database(tmp_path):
    file = tmp_path / "runs.db"
    file.write_text("this is not a database, but it is long enough to be looked at" * 20)
    before = file.read_bytes()
    with pytest.raises(StoreError, match="not a working SQLite database"):
        open_store(str(file))
    assert file.read_bytes() == before


def test_a_database_corrupted_in_the_middle(tmp_path, record):
    file = tmp_path / "runs.db"
    store = open_store(str(file))
    store.create(record, [answered(i, i) for i in range(300)])
    store.close()
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    file.write_bytes(bytes(data))
    with pytest.raises(StoreError, match=r"runs\.db"):
        open_store(str(file)).rounds("a run")


def test_a_locked_database(tmp_path, record, monkeypatch):
    monkeypatch.setattr(_engine, "LOCK_SECONDS", 0.2)
    store = open_store(str(tmp_path / "runs.db"))
    store.create(record)
    key = store.append("a run", 0, 1.0).key
    with sqlite3.connect(tmp_path / "runs.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another program"):
            store.answer("a run", answered(0, 1, key=key))
        other.execute("ROLLBACK")
    other.close()
    store.answer("a run", answered(0, 1, key=key))
    assert store.rounds("a run")[0].answer == Ranking.of([1])


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be created"):
        open_store(str(tmp_path / "file" / "runs.db"))
    with pytest.raises(StoreError, match="cannot be written"):
        open_store(str(tmp_path))


@pytest.mark.parametrize(
    "url",
    [
        "nonsense://x",
        "postgresql+nothing://x/y",
        "postgresql+psycopg://h:port/x",
        "sqlite://host/x",
        "mysql://x",
        "",
        "a\0b",
    ],
)
def test_a_url_that_means_nothing(url):
    with pytest.raises(StoreError):
        open_store(url)


def test_a_server_that_is_not_there_and_its_password():
    with pytest.raises(StoreError) as caught:
        open_store("postgresql+psycopg://me:secret@127.0.0.1:9/db")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE zorank_schema SET version = 99", "upgrade zorank"),
        ("DELETE FROM zorank_schema", "no row in zorank_schema, where one must give its version"),
    ],
    ids=["from the future", "without a version"],
)
def test_a_database_of_an_unknown_version(tmp_path, statement, says):
    file = tmp_path / "runs.db"
    open_store(str(file)).close()
    with sqlite3.connect(file) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(StoreError, match=says):
        open_store(str(file))


def test_a_database_of_the_first_schema_is_brought_up_to_date(tmp_path):
    file = tmp_path / "runs.db"
    with sqlite3.connect(file) as old:
        old.executescript(schema.FIRST_TABLES.format(**schema.DIALECTS["sqlite"]))
        old.execute("INSERT INTO zorank_schema VALUES (1)")
        x0 = np.ones(2).tobytes()
        row = (1, "a run", "zo-ranksgd", "{}", 1, x0, "7", "0.0.1", 1.5)
        old.execute("INSERT INTO zorank_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        line = (1, 1, 0, 2.5, '{"order": [[1]]}', "ann", 3.5, "{}", None)
        old.execute("INSERT INTO zorank_rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", line)
    old.close()
    for _ in range(2):  # a second opening migrates nothing again
        store = open_store(str(file))
        assert store.rounds("a run") == [Round(0, 2.5, Ranking.of([1]), "ann", 3.5)]
        assert store.record("a run").meta == {}
        assert store.record("a run").seed == 7
        store.close()
    store = open_store(str(file))
    store.append("a run", 1, 4.0)
    store.cast("a run", 1, Ballot("ann", Ranking.of([0])))
    store.close()


def test_a_database_of_the_second_schema_goes_on_and_records(tmp_path):
    file = tmp_path / "runs.db"
    whole = Run("zo-ranksgd", np.ones(2), seed=7)
    for i in range(5):
        whole.ask()
        whole.tell([i])
    with sqlite3.connect(file) as old:
        for tables in schema.MIGRATIONS[:2]:
            old.executescript(tables.format(**schema.DIALECTS["sqlite"]))
        old.execute("INSERT INTO zorank_schema VALUES (2)")
        options = json.dumps(dict(whole.record.options))
        row = (1, "a run", "zo-ranksgd", options, 1, np.ones(2).tobytes(), "7", "0.1", 1.5, "{}")
        old.execute(f"INSERT INTO zorank_runs VALUES ({', '.join('?' * 10)})", row)
        for i in range(3):
            told = (json.dumps({"order": [[i]]}), "ann", 3.5) if i < 2 else (None, None, None)
            line = (i + 1, 1, i, 2.5, *told, "{}", None, f"key {i}")
            old.execute(f"INSERT INTO zorank_rounds VALUES ({', '.join('?' * 10)})", line)
        old.execute(
            "INSERT INTO zorank_ballots VALUES (1, 1, 2, 'ann', 1, '{\"order\": []}', 1, NULL)"
        )
    old.close()
    for _ in range(2):  # a second opening migrates nothing again
        open_store(str(file)).close()
    store = open_store(str(file))
    run = Run.open(store, "a run", record_slates=True)
    assert [(line.key, line.slate) for line in run.rounds()] == [
        (f"key {i}", None) for i in range(3)
    ]
    assert [ballot.rater for ballot in store.ballots("a run", 2)] == ["ann"]
    for i in range(2, 5):
        run.ask()
        run.tell([i])
    assert run.best().tobytes() == whole.best().tobytes()
    assert [line.slate is None for line in store.rounds("a run")] == [True] * 3 + [False] * 2
    store.close()


def test_the_default_store_can_be_named_by_the_environment(monkeypatch):
    monkeypatch.setenv("ZORANK_STORE", "sqlite:///elsewhere.db")
    assert default_url() == "sqlite:///elsewhere.db"
    monkeypatch.delenv("ZORANK_STORE")
    assert default_url().endswith("zorank/runs.db")
