"""The contract of a store.

    class TestMyStore(StoreContract):
        @pytest.fixture(params=["memory://", "sqlite:///runs.db"])
        def store(self, request, tmp_path, monkeypatch):
            monkeypatch.chdir(tmp_path)
            return open_store(request.param)

The fixture returns an empty store. A store on a server may delete its runs after each test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from zorank.errors import InvalidInput
from zorank.protocols import Store
from zorank.testing._store_edits import EditsInStore, renaming
from zorank.testing._store_examples import SLATE, answered, at_once, example_record, newest
from zorank.testing._store_log import LogInStore
from zorank.testing._store_runs import RunsInStore
from zorank.types import Ballot, Ranking, RunRecord

__all__ = [
    "SLATE",
    "StoreContract",
    "answered",
    "at_once",
    "example_record",
    "newest",
    "renaming",
]


class StoreContract(LogInStore, EditsInStore, RunsInStore):
    """The tests that every store must pass. Define a fixture `store`: an empty store."""

    @pytest.fixture
    def store(self) -> Any:
        """Return an empty store."""
        raise NotImplementedError("define a fixture `store` that returns an empty store")

    @pytest.fixture
    def record(self) -> RunRecord:
        """Return a run whose numbers are lost by careless conversion."""
        return example_record()

    def test_a_record_is_read_back_exactly(self, store: Store, record: RunRecord) -> None:
        """Bit for bit, by name and in the list of all runs."""
        store.create(record)
        for found in (store.record("a run"), *store.runs()):
            assert found.x0.tobytes() == record.x0.tobytes()
            for member in fields(record):
                if member.name != "x0":
                    assert getattr(found, member.name) == getattr(record, member.name)

    def test_a_name_is_given_once(self, store: Store, record: RunRecord) -> None:
        """A second run of the same name is refused."""
        store.create(record)
        with pytest.raises(InvalidInput, match="already a run named 'a run'"):
            store.create(record)
        assert len(store.runs()) == 1

    def test_an_unknown_run_gets_the_closest_names(self, store: Store, record: RunRecord) -> None:
        """The error suggests names that exist."""
        store.create(record)
        calls: list[Callable[[str], Any]] = [store.record, store.rounds, store.delete, store.last]
        calls.append(lambda name: store.append(name, 0, 1.0))
        for call in calls:
            with pytest.raises(InvalidInput, match="did you mean a run"):
                call("a rum")

    def test_runs_are_listed_oldest_first(self, store: Store, record: RunRecord) -> None:
        """By the time at which they were created."""
        for i, name in enumerate(("c", "a", "b")):
            store.create(replace(record, name=name, created_at=float(i)))
        assert [run.name for run in store.runs()] == ["c", "a", "b"]

    def test_a_snapshot_has_the_end_of_the_log_and_the_ballots(
        self, store: Store, record: RunRecord
    ) -> None:
        """It changes with the log, with the metadata and with each ballot."""
        store.create(record)
        name = record.name
        assert store.snapshot(name).ends_with(None)
        shown = store.append(name, 0, 0.0)
        assert store.snapshot(name).ends_with(shown)
        ballots = store.cast(name, 0, Ballot("ann", Ranking.of([1])))
        assert store.snapshot(name).ballots == tuple(ballots) == tuple(store.ballots(name, 0))
        store.change_meta(name, {"title": "a title"})
        assert store.snapshot(name).meta == {"title": "a title"}
        line = replace(shown, answer=Ranking.of([1]))
        store.answer(name, line)
        assert store.snapshot(name).ends_with(line)
        assert not store.snapshot(name).ends_with(shown)
        assert store.snapshot(name).ballots == ()
        store.undo(name, 0)
        assert store.snapshot(name).ends_with(None)
        with pytest.raises(InvalidInput):
            store.snapshot("another")

    def test_meta_is_kept_and_changed(self, store: Store, record: RunRecord) -> None:
        """Changes and removals are one transaction."""
        store.create(replace(record, meta={"title": "a ridge"}))
        assert store.record("a run").meta == {"title": "a ridge"}
        store.change_meta("a run", {"title": "another", "raters": 2})
        assert store.record("a run").meta == {"title": "another", "raters": 2}
        store.change_meta("a run", {"raters": 3}, dropped=["title", "unknown"])
        assert store.record("a run").meta == {"raters": 3}
        with pytest.raises(InvalidInput):
            store.change_meta("no run", {})

    def test_deleting_a_run_leaves_the_others(self, store: Store, record: RunRecord) -> None:
        """A deleted run's name is free again, and its log is gone."""
        store.create(record, [answered(0, 1)])
        store.create(replace(record, name="another"), [answered(0, 2)])
        store.delete("a run")
        assert [r.name for r in store.runs()] == ["another"]
        assert store.rounds("another")[0].answer == Ranking.of([2])
        store.create(record)
        assert store.rounds("a run") == []
