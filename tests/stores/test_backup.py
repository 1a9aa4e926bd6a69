"""Backups: of SQLite and PostgreSQL, while others write, and into either of them."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from rich.console import Console

from zorank import Ballot, InvalidInput, Ranking, Run, StoreError
from zorank.cli import runs
from zorank.stores import backup as backups
from zorank.stores import open_store, schema
from zorank.stores.backup import backup, restore
from zorank.testing.stores import answered, example_record

KINDS = ("sqlite", "postgresql")


@pytest.fixture
def new_url(request, tmp_path):
    """Return the URLs of new stores: of a SQLite file, or of a new PostgreSQL database."""
    made = []

    def make(kind):
        name = f"backup{len(made)}"
        made.append((kind, name))
        if kind == "sqlite":
            return str(tmp_path / f"{name}.db")
        server = request.getfixturevalue("postgres_url")
        execute(server, f"CREATE DATABASE {name}")
        return sa.make_url(server).set(database=name).render_as_string()

    yield make
    for kind, name in made:
        if kind == "postgresql":
            execute(request.getfixturevalue("postgres_url"), f"DROP DATABASE {name} WITH (FORCE)")


def execute(url, statement):
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()


def fill(url):
    """Make runs with float32 and float64 starts, undone rounds, ballots, and recorded slates."""
    store = open_store(url)
    store.create(example_record(), [answered(i, i, key=f"key {i}") for i in range(3)])
    store.undo("a run", 1)
    store.append("a run", 1, 5.0, after="key 0")
    store.cast("a run", 1, Ballot("ann ü", Ranking.of([1, [0, 2]]), 0.1))
    run = Run(
        "zo-ranksgd", np.ones(3, np.float32), seed=4, store=store, name="recorded", meta={"é": 1}
    )
    for _ in range(3):
        run.ask()
        run.tell([0])
    Run("rank-process", np.ones(5), store=store, name="slates", record_slates=True).ask()
    store.close()


def rows(url):
    """All rows of all tables as they are stored."""
    engine = sa.create_engine(url if "://" in url else f"sqlite:///{url}")
    with engine.connect() as connection:
        found = {
            table.name: connection.execute(sa.select(table).order_by(table.c.id)).all()
            for table in schema.TABLES
        }
    engine.dispose()
    return found


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_a_store_goes_through_a_backup_and_stays_the_same(source, target, new_url, tmp_path):
    there, back, file = new_url(source), new_url(target), tmp_path / "backup.db"
    fill(there)
    counts = backup(there, file)
    assert counts == {"zorank_runs": 3, "zorank_rounds": 8, "zorank_ballots": 1}
    assert rows(str(file)) == rows(there)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob("backup.db*")] == ["backup.db"]
    assert restore(file, back) == counts
    assert rows(back) == rows(there)

    store = open_store(back)
    assert store.record("a run").seed == 2**70
    assert Run.open(store, "recorded").best().dtype == np.float32
    store.create(example_record_named("a new one"))  # ids go on after those that were copied
    run = Run.open(store, "slates")
    run.tell([1])
    run.ask()
    assert len(store.runs()) == 4
    for record in store.runs():
        store.delete(record.name)
    store.close()


def example_record_named(name):
    record = example_record()
    object.__setattr__(record, "name", name)
    return record


def test_a_backup_is_a_store(tmp_path):
    fill(str(tmp_path / "runs.db"))
    backup(str(tmp_path / "runs.db"), tmp_path / "backup.db")
    store = open_store(str(tmp_path / "backup.db"))
    assert [record.name for record in store.runs()] == ["a run", "recorded", "slates"]
    store.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_is_the_store_at_one_moment(kind, new_url, tmp_path, monkeypatch):
    """Others answer while it is made: between any two parts that are copied."""
    url = new_url(kind)
    fill(url)
    store = open_store(url)
    before, keys = rows(url), ["key 0"]
    monkeypatch.setattr(backups, "PAGES", 1)
    monkeypatch.setattr(backups, "ROWS", 1)

    def meanwhile(done, total):
        index = len(keys)
        line = store.append("a run", index, 1.0, after=keys[-1])
        store.answer("a run", answered(index, 1, key=line.key))
        keys.append(line.key)

    backup(url, tmp_path / "backup.db", meanwhile)
    assert len(keys) > 5
    assert rows(str(tmp_path / "backup.db")) == before
    assert len(store.rounds("a run")) == len(keys)
    store.close()


def test_a_backup_does_not_disturb_writers_in_other_threads(tmp_path, monkeypatch):
    url, stop, told = str(tmp_path / "runs.db"), threading.Event(), []
    monkeypatch.setattr(backups, "PAGES", 1)
    run = Run("zo-ranksgd", np.ones(2), store=url, name="busy")

    def work():
        while not stop.is_set():
            run.ask()
            run.tell([0])
            told.append(1)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for i in range(3):
            known = len(told)
            counts = backup(url, tmp_path / f"backup{i}.db")
            store = open_store(str(tmp_path / f"backup{i}.db"))
            kept = [line for line in Run.open(store, "busy").rounds() if line.answer]
            store.close()
            assert len(kept) >= known
            assert counts["zorank_rounds"] in (len(kept), len(kept) + 1)
    finally:
        stop.set()
        worker.join()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_overwritten(kind, new_url, tmp_path):
    url, file = new_url(kind), tmp_path / "backup.db"
    fill(url)
    backup(url, file)
    before = file.read_bytes(), rows(url)
    with pytest.raises(InvalidInput, match="exists; choose a new file"):
        backup(url, file)
    with pytest.raises(InvalidInput, match="overwrites nothing"):
        restore(file, url)
    assert (file.read_bytes(), rows(url)) == before


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_runs_are_in_a_backup(kind, new_url, tmp_path):
    url, back, file = new_url(kind), new_url("sqlite"), tmp_path / "backup.db"
    fill(url)
    statement = "UPDATE zorank_runs SET seed = 'x', meta = '[]' WHERE name = 'recorded'"
    execute(url if "://" in url else f"sqlite:///{url}", statement)
    if kind == "postgresql":
        execute(url, "UPDATE zorank_runs SET created_at = 'NaN' WHERE name = 'slates'")
    else:
        execute(f"sqlite:///{url}", "UPDATE zorank_runs SET options = '{' WHERE name = 'slates'")
    backup(url, file)
    restore(file, back)
    store = open_store(back)
    assert [bool(record.problem) for record in store.runs()] == [False, True, True]
    store.close()


def test_a_damaged_row_that_postgresql_refuses(new_url, tmp_path):
    url, back, file = new_url("sqlite"), new_url("postgresql"), tmp_path / "backup.db"
    fill(url)
    execute(f"sqlite:///{url}", "UPDATE zorank_runs SET options = '{' WHERE name = 'slates'")
    backup(url, file)
    with pytest.raises(StoreError, match="a row of zorank_runs") as caught:
        restore(file, back)
    assert len(str(caught.value).splitlines()) == 1
    store = open_store(back)
    assert store.runs() == []
    store.close()


def test_a_backup_of_an_older_version_is_restored_and_not_changed(tmp_path):
    file = tmp_path / "old.db"
    with closing(sqlite3.connect(file)) as old, old:
        old.executescript(schema.FIRST_TABLES.format(**schema.DIALECTS["sqlite"]))
        old.execute("INSERT INTO zorank_schema VALUES (1)")
        row = (1, "a run", "zo-ranksgd", "{}", 1, np.ones(2).tobytes(), "7", "0.0.1", 1.5)
        old.execute("INSERT INTO zorank_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    before = file.read_bytes()
    assert backup(str(file), tmp_path / "copy.db") == {"zorank_runs": 1, "zorank_rounds": 0}
    restore(file, str(tmp_path / "new.db"))
    store = open_store(str(tmp_path / "new.db"))
    assert store.record("a run").seed == 7
    store.close()
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "no tables of zorank"), (b"no database " * 99, "not a working SQLite database")],
)
def test_a_file_that_is_no_backup(tmp_path, content, words):
    file = tmp_path / "backup.db"
    file.write_bytes(content)
    with pytest.raises(StoreError, match=words):
        restore(file, str(tmp_path / "new.db"))
    assert file.read_bytes() == content
    assert not (tmp_path / "new.db").exists()


def test_a_backup_that_fails_leaves_nothing(tmp_path):
    fill(str(tmp_path / "runs.db"))
    data = bytearray((tmp_path / "runs.db").read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    (tmp_path / "runs.db").write_bytes(bytes(data))
    with pytest.raises(StoreError):
        backup(str(tmp_path / "runs.db"), tmp_path / "backup.db")
    with pytest.raises(InvalidInput, match="there is no store"):
        backup(str(tmp_path / "nothing.db"), tmp_path / "backup.db")
    with pytest.raises(InvalidInput, match="in memory"):
        backup("memory://", tmp_path / "backup.db")
    with pytest.raises(InvalidInput, match="cannot be written"):
        backup(str(tmp_path / "runs.db"), tmp_path / "no folder" / "backup.db")
    assert sorted(path.name for path in tmp_path.iterdir() if "runs" not in path.name) == []


def test_the_command_line_backs_up_and_restores(tmp_path, printed, refused, monkeypatch):
    monkeypatch.setenv("ZORANK_STORE", str(tmp_path / "runs.db"))
    fill(str(tmp_path / "runs.db"))
    file, new = tmp_path / "backup.db", tmp_path / "new.db"
    assert "has 3 runs, 8 rounds" in printed("runs", "backup", file)
    assert "exists" in refused("runs", "backup", file)
    assert "restored 3 runs" in printed("runs", "restore", file, "--store", new)
    assert "overwrites nothing" in refused("runs", "restore", file, "--store", new)
    assert "there is no backup" in refused("runs", "restore", "nothing.db", "--store", new)
    assert "recorded" in printed("runs", "list", "--store", new)


@pytest.mark.parametrize(("seconds", "shown"), [(0.0, True), (1e9, False)])
def test_a_long_backup_shows_its_progress(tmp_path, printed, monkeypatch, seconds, shown):
    fill(str(tmp_path / "runs.db"))
    terminal = Console(file=StringIO(), force_terminal=True)
    monkeypatch.setattr(runs, "log", terminal)
    monkeypatch.setattr(runs, "QUIET_SECONDS", seconds)
    printed("runs", "backup", tmp_path / "backup.db", "--store", tmp_path / "runs.db")
    assert ("backup" in terminal.file.getvalue()) is shown


def test_a_backup_touches_no_other_file(tmp_path):
    store, file = tmp_path / "runs.db", tmp_path / "backup.db"
    open_store(str(store)).close()
    part = tmp_path / "backup.db.part"
    part.write_text("somebody's own")
    backup(str(store), file)
    assert part.read_text() == "somebody's own"
    assert sorted(p.name for p in tmp_path.glob("backup*")) == ["backup.db", "backup.db.part"]


def test_a_backup_needs_the_name_of_a_file(tmp_path):
    store = tmp_path / "runs.db"
    open_store(str(store)).close()
    with pytest.raises(InvalidInput, match="is not the name of a file"):
        backup(str(store), Path())


HELD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1])
held.execute("PRAGMA journal_mode=WAL")
held.execute("CREATE TABLE t (a)")
held.commit()
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("left", [("-wal", "-shm"), ("-shm",), ("", "-wal", "-shm")])
def test_a_backup_is_restored_while_a_studio_holds_what_was_deleted(tmp_path, left):
    """What a deleted or emptied database leaves is set aside; another process has it open."""
    source, target = tmp_path / "source.db", tmp_path / "runs.db"
    fill(f"sqlite:///{source}")
    backup(str(source), tmp_path / "backup.db")
    command = [sys.executable, "-c", HELD, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"open\n"
        for suffix in {"", "-wal", "-shm"} - set(left):
            Path(f"{target}{suffix}").unlink()
        if "" in left:
            os.truncate(target, 0)
        restore(tmp_path / "backup.db", f"sqlite:///{target}")
        assert rows(f"sqlite:///{target}") == rows(f"sqlite:///{source}")
        holder.stdin.close()
    logs = sorted(path.name for path in tmp_path.glob("runs.db-*.old"))
    assert logs == sorted(f"runs.db{suffix}.old" for suffix in left if suffix)


def test_a_backup_is_restored_through_a_symbolic_link(tmp_path):
    source, real, link = (tmp_path / name for name in ("source.db", "real.db", "link.db"))
    fill(f"sqlite:///{source}")
    backup(str(source), tmp_path / "backup.db")
    real.touch()
    link.symlink_to(real)
    restore(tmp_path / "backup.db", f"sqlite:///{link}")
    assert link.is_symlink()
    assert rows(f"sqlite:///{real}") == rows(f"sqlite:///{source}")
