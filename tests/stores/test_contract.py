"""What every store promises. A new one joins by a line in the fixture's list."""

import json
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa

from zorank import Ballot, InvalidInput, Ranking, Run, Slate, StaleAnswer, StoreError, minimize
from zorank.problems import sphere
from zorank.slates import Points
from zorank.stores import _engine, default_url, open_store, schema
from zorank.types import Round, RunRecord


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request, tmp_path):
    if request.param == "memory":
        yield open_store("memory://")
        return
    url = f"sqlite:///{tmp_path}/runs.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    opened = open_store(url)
    yield opened
    for record in opened.runs():
        opened.delete(record.name)
    opened.close()


@pytest.fixture
def record():
    return RunRecord(
        name="a run",
        optimizer="zo-ranksgd",
        options={"m": 4, "bounds": None},
        revision=1,
        x0=np.array([0.1, -1 / 3, 1e-300]),
        seed=2**70,
        version="0.1.0",
        created_at=1234.5,
    )


def answered(index, *order, shown_at=0.0, **more):
    return Round(index, shown_at, Ranking.of(order), answered_at=shown_at + 1, **more)


def test_a_record_comes_back_to_the_last_bit(store, record):
    store.create(record)
    for found in (store.record("a run"), *store.runs()):
        assert found.x0.tobytes() == record.x0.tobytes()
        for name in ("name", "optimizer", "options", "revision", "seed", "version", "created_at"):
            assert getattr(found, name) == getattr(record, name)


def test_a_name_is_given_once(store, record):
    store.create(record)
    with pytest.raises(InvalidInput, match="already a run named 'a run'"):
        store.create(record)
    assert len(store.runs()) == 1


def test_an_unknown_run_gets_the_closest_names(store, record):
    store.create(record)
    for call in (store.record, store.rounds, store.delete, lambda n: store.append(n, 0, 1.0)):
        with pytest.raises(InvalidInput, match="did you mean a run"):
            call("a rum")


def test_a_round_waits_and_is_answered(store, record):
    store.create(record)
    waiting = store.append("a run", 0, 10.0)
    assert waiting == Round(0, 10.0)
    again = store.append("a run", 0, 99.0)
    assert (again.shown_at, again.key) == (10.0, waiting.key)  # as it was first shown
    line = answered(0, 2, [0, 1], shown_at=10.0, rater="ann", note={"value": 0.1})
    store.answer("a run", replace(line, key=waiting.key))
    store.append("a run", 1, 20.0, after=waiting.key)
    assert store.rounds("a run") == [line, Round(1, 20.0)]


SLATE = {"question": "rank", "design": {"kind": "points", "radius": 0.1, "key": str(2**70)}}


def test_a_round_keeps_what_was_shown_first(store, record):
    store.create(record)
    waiting = store.append("a run", 0, 1.0, slate=SLATE)
    assert waiting.slate == SLATE
    assert store.append("a run", 0, 2.0, slate={"another": 1}).slate == SLATE
    assert store.append("a run", 0, 2.0).slate == SLATE
    assert store.last("a run").slate == SLATE
    store.answer("a run", answered(0, 1, key=waiting.key))
    second = store.append("a run", 1, 3.0, after=waiting.key)
    assert second.slate is None
    assert store.append("a run", 1, 3.0, waiting.key, SLATE).slate is None
    assert [line.slate for line in store.rounds("a run")] == [SLATE, None]
    store.undo("a run", 0)
    again = store.append("a run", 0, 4.0, slate={"another": 1})
    assert again.slate == {"another": 1}
    with_looks = {**SLATE, "looks": [1.0]}
    store.answer("a run", answered(0, 1, key=again.key, slate=with_looks))
    assert store.last("a run").slate == with_looks


def test_a_branch_keeps_what_was_shown(store, record):
    store.create(record, [answered(0, 1, slate=SLATE), answered(1, 0)])
    assert [line.slate for line in store.rounds("a run")] == [SLATE, None]


def test_what_was_shown_tells_no_lines_apart():
    assert Round(0, 1.0, slate=SLATE) == Round(0, 1.0)
    assert "slate" not in repr(Round(0, 1.0, slate=SLATE))


def test_a_recorded_run_goes_on_bit_for_bit(store):
    whole = Run("rank-process", np.ones(5), seed=1, store=store, name="a", record_slates=True)
    for _ in range(6):
        whole.tell(whole.ask().answer_from(np.array([x @ x for x in whole.ask()])))
    again = Run.open(store, "a")
    assert [line.slate for line in again.rounds()] == [line.slate for line in whole.rounds()]
    assert None not in [line.slate for line in again.rounds()]
    assert again.best().tobytes() == whole.best().tobytes()


def test_two_that_ask_at_once_are_given_one_slate(store):
    runs = [
        Run("zo-ranksgd", np.ones(3), seed=1, store=store, name="a", record_slates=True)
        for _ in range(4)
    ]
    barrier, shown = threading.Barrier(4), []

    def ask(run, i):
        # What each would show differs, as it may after an upgrade.
        run._fold.slates.new = lambda index, state, looks=None: Slate(Points(np.full((6, 3), i)))
        barrier.wait()
        shown.append(np.asarray(run.ask()).tobytes())

    threads = [threading.Thread(target=ask, args=(run, float(i))) for i, run in enumerate(runs)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(shown) == 4
    assert len(set(shown)) == 1
    assert np.asarray(Run.open(store, "a").ask()).tobytes() == shown[0]


def test_the_newest_line_tells_whether_anything_happened(store, record):
    store.create(record)
    seen = [store.last("a run")]
    for index in range(2):
        key = store.append("a run", index, 1.0, after=seen[-1].key if seen[-1] else "").key
        seen.append(store.last("a run"))
        store.answer("a run", answered(index, 1, key=key))
        seen.append(store.last("a run"))
    assert seen[0] is None
    assert seen[-1] == store.rounds("a run")[-1]
    store.undo("a run", 1)
    assert store.last("a run") == seen[2]
    store.append("a run", 1, 1.0, after=seen[2].key)
    assert store.last("a run").key not in [line.key for line in seen if line]
    with pytest.raises(InvalidInput, match="did you mean a run"):
        store.last("a rum")


def test_only_the_waiting_round_can_be_answered(store, record):
    store.create(record)
    with pytest.raises(StaleAnswer, match="no round waits"):
        store.answer("a run", answered(0, 1))
    key = store.append("a run", 0, 1.0).key
    for other in (answered(1, 1, key=key), answered(0, 1, key="another")):
        with pytest.raises(StaleAnswer, match="round 0 waits"):
            store.answer("a run", other)
    store.answer("a run", answered(0, 1, key=key))
    with pytest.raises(StaleAnswer):
        store.answer("a run", answered(0, 2, key=key))
    for index, after in ((0, ""), (2, key), (1, "another")):
        with pytest.raises(StaleAnswer):
            store.append("a run", index, 1.0, after)
    assert [r.answer for r in store.rounds("a run")] == [Ranking.of([1])]


def test_undo_takes_back_from_an_index_on(store, record):
    store.create(record, [answered(i, i, key=f"key {i}") for i in range(4)])
    store.append("a run", 4, 1.0, after="key 3")
    with pytest.raises(StaleAnswer, match="answered elsewhere since"):
        store.undo("a run", 2, last="key 2")
    store.undo("a run", 2, last="key 3")
    assert [r.index for r in store.rounds("a run")] == [0, 1]
    key = store.append("a run", 2, 1.0, after="key 1").key
    store.answer("a run", answered(2, 3, key=key))
    assert store.rounds("a run")[-1].answer == Ranking.of([3])


def test_ballots_are_cast_once_each_and_taken_back_with_their_round(store, record):
    store.create(record)
    ann, bob = Ballot("ann", Ranking.of([1, [0, 2]])), Ballot("bob", Ranking.of([2]), 0.5)
    with pytest.raises(StaleAnswer):
        store.cast("a run", 0, ann)
    store.append("a run", 0, 1.0)
    store.cast("a run", 0, ann)
    store.cast("a run", 0, bob)
    with pytest.raises(StaleAnswer, match="ann has already answered round 0"):
        store.cast("a run", 0, ann)
    with pytest.raises(StaleAnswer):
        store.cast("a run", 1, ann)
    assert store.ballots("a run", 0) == [ann, bob]
    store.undo("a run", 0)
    assert store.ballots("a run", 0) == []
    store.append("a run", 0, 2.0)
    store.cast("a run", 0, bob)
    assert store.ballots("a run", 0) == [bob]


def test_an_answer_that_leaves_out_a_ballot_is_refused(store, record):
    store.create(record)
    key = store.append("a run", 0, 1.0).key
    for rater in ("ann", "bob"):
        store.cast("a run", 0, Ballot(rater, Ranking.of([1])))
    with pytest.raises(StaleAnswer, match="another ballot was cast"):
        store.answer("a run", answered(0, 1, key=key), ballots=1)
    store.answer("a run", answered(0, 1, key=key), ballots=2)
    assert store.rounds("a run")[0].answer == Ranking.of([1])


def test_meta_is_kept_and_changed(store, record):
    store.create(replace(record, meta={"title": "a ridge"}))
    assert store.record("a run").meta == {"title": "a ridge"}
    store.change_meta("a run", {"title": "another", "raters": 2})
    assert store.record("a run").meta == {"title": "another", "raters": 2}
    store.change_meta("a run", {"raters": 3}, dropped=["title", "unknown"])
    assert store.record("a run").meta == {"raters": 3}
    with pytest.raises(InvalidInput):
        store.change_meta("no run", {})


def test_deleting_a_run_leaves_the_others(store, record):
    store.create(record, [answered(0, 1)])
    store.create(replace(record, name="another"), [answered(0, 2)])
    store.delete("a run")
    assert [r.name for r in store.runs()] == ["another"]
    assert store.rounds("another")[0].answer == Ranking.of([2])


def test_of_two_answers_to_one_round_one_wins(store, record):
    store.create(record)
    key = ""
    for index in range(10):
        key = store.append("a run", index, 1.0, after=key).key
        outcomes = []
        barrier = threading.Barrier(4)

        def answer(i, index=index, key=key, outcomes=outcomes, barrier=barrier):
            barrier.wait()
            try:
                store.answer("a run", answered(index, i, key=key))
                outcomes.append(i)
            except StaleAnswer:
                outcomes.append(None)

        threads = [threading.Thread(target=answer, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        (winner,) = (o for o in outcomes if o is not None)
        assert store.rounds("a run")[index].answer == Ranking.of([winner])


def test_two_runs_on_one_store_go_on_bit_for_bit(store):
    def drive(run, rounds):
        for _ in range(rounds):
            run.tell(run.ask().answer_from(np.array([x @ x for x in run.ask()])))

    whole = Run("zo-ranksgd", np.ones(5), seed=1, store=store, name="whole")
    drive(whole, 20)
    parts = Run("zo-ranksgd", np.ones(5), seed=1, store=store, name="parts")
    for _ in range(4):
        drive(parts, 5)
        parts.ask()
        parts = Run.open(store, "parts")
    assert parts.best().tobytes() == whole.best().tobytes()
    assert [r.answer for r in parts.rounds() if r.answer] == [r.answer for r in whole.rounds()]


def test_an_undo_that_was_overtaken_takes_nothing_back(store):
    behind = Run("zo-ranksgd", [1.0, 2.0], store=store, name="a")
    for i in range(3):
        behind.ask()
        behind.tell([i])
    ahead = Run.open(store, "a")
    for _ in range(5):
        ahead.ask()
        ahead.tell([0])
    with pytest.raises(StaleAnswer, match="answered elsewhere"):
        behind.undo()
    assert len([r for r in store.rounds("a") if r.answer]) == 8


def test_an_answer_counts_only_for_the_slate_that_was_seen(store):
    seen = Run("zo-ranksgd", [1.0, 2.0], store=store, name="a")
    for i in range(2):
        seen.ask()
        seen.tell([i])
    seen.ask()
    other = Run.open(store, "a")
    other.undo()
    other.tell([2])
    other.ask()
    with pytest.raises(StaleAnswer):
        seen.tell([0], round=2)
    with pytest.raises(StaleAnswer, match="ask first"):  # what waits now has not been seen yet
        seen.tell([0])
    seen.ask()
    seen.tell([0])
    assert seen.best().tobytes() == Run.open(store, "a").best().tobytes()
    store.delete("a")
    Run("zo-ranksgd-memory", [1.0, 2.0], store=store, name="a").ask()
    with pytest.raises((StaleAnswer, InvalidInput)):
        seen.ask()


def test_half_open_bounds_can_be_kept(store):
    bounds = [(0, None), (None, 1)]
    result = minimize(sphere, [1.0, -1.0], points=60, bounds=bounds, store=store, name="a")
    json.dumps(result.run.export(), allow_nan=False)
    np.testing.assert_array_equal(Run.open(store, "a").best(), result.x)


OPENER = """
import sys, zorank
run = zorank.Run("zo-ranksgd", [1.0], store=sys.argv[1], name="same")
run.ask()
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.process
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


def test_a_database_from_the_future(tmp_path):
    file = tmp_path / "runs.db"
    open_store(str(file)).close()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE zorank_schema SET version = 99")
    connection.close()
    with pytest.raises(StoreError, match="upgrade zorank"):
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
