"""The contract of a store.

    class TestMyStore(StoreContract):
        @pytest.fixture(params=["memory://", "sqlite:///runs.db"])
        def store(self, request, tmp_path, monkeypatch):
            monkeypatch.chdir(tmp_path)
            return open_store(request.param)

The fixture returns an empty store. A store on a server may delete its runs after each test.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
import pytest

from zorank.errors import InvalidInput, StaleAnswer
from zorank.protocols import Store
from zorank.testing._store_runs import RunsInStore
from zorank.types import Ballot, Edit, Json, Poll, Ranking, Round, RunRecord

T = TypeVar("T")

SLATE = {"question": "rank", "design": {"kind": "points", "radius": 0.1, "key": str(2**70)}}
"""A slate in the form of the log."""


def example_record() -> RunRecord:
    """Return a run whose numbers are lost by careless conversion."""
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


class StoreContract(RunsInStore):
    """What every store promises. Define a fixture `store` that returns an empty store."""

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

    def test_a_round_waits_and_is_answered(self, store: Store, record: RunRecord) -> None:
        """A waiting round keeps the time at which it was first shown."""
        store.create(record)
        waiting = store.append("a run", 0, 10.0)
        assert waiting == Round(0, 10.0)
        again = store.append("a run", 0, 99.0)
        assert (again.shown_at, again.key) == (10.0, waiting.key)
        line = answered(0, 2, [0, 1], shown_at=10.0, rater="ann", note={"value": 0.1})
        store.answer("a run", replace(line, key=waiting.key))
        store.append("a run", 1, 20.0, after=waiting.key)
        assert store.rounds("a run") == [line, Round(1, 20.0)]

    def test_a_round_keeps_the_slate_that_was_shown_first(
        self, store: Store, record: RunRecord
    ) -> None:
        """Only an answer may replace the slate, as looks may have joined it."""
        store.create(record)
        waiting = store.append("a run", 0, 1.0, slate=SLATE)
        assert waiting.slate == SLATE
        assert store.append("a run", 0, 2.0, slate={"another": 1}).slate == SLATE
        assert store.append("a run", 0, 2.0).slate == SLATE
        assert newest(store).slate == SLATE
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
        assert newest(store).slate == with_looks

    def test_a_branch_keeps_its_slates(self, store: Store, record: RunRecord) -> None:
        """A run may be created with a log."""
        store.create(record, [answered(0, 1, slate=SLATE), answered(1, 0)])
        assert [line.slate for line in store.rounds("a run")] == [SLATE, None]

    def test_the_newest_line_changes_with_the_log(self, store: Store, record: RunRecord) -> None:
        """`last` is a cheap way to see whether anything happened."""
        store.create(record)
        assert store.last("a run") is None
        seen: list[Round] = []
        for index in range(2):
            key = store.append("a run", index, 1.0, after=seen[-1].key if seen else "").key
            seen.append(newest(store))
            store.answer("a run", answered(index, 1, key=key))
            seen.append(newest(store))
        assert seen[-1] == store.rounds("a run")[-1]
        store.undo("a run", 1)
        assert store.last("a run") == seen[1]
        store.append("a run", 1, 1.0, after=seen[1].key)
        assert newest(store).key not in [line.key for line in seen]

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

    def test_only_the_waiting_round_can_be_answered(self, store: Store, record: RunRecord) -> None:
        """An answer names the waiting round by its index and key."""
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

    def test_undo_removes_the_rounds_from_an_index_on(
        self, store: Store, record: RunRecord
    ) -> None:
        """If another round was answered meanwhile, nothing is removed."""
        store.create(record, [answered(i, i, key=f"key {i}") for i in range(4)])
        store.append("a run", 4, 1.0, after="key 3")
        with pytest.raises(StaleAnswer, match="answered elsewhere since"):
            store.undo("a run", 2, last="key 2")
        assert len(store.rounds("a run")) == 5
        store.undo("a run", 2, last="key 3")
        assert [r.index for r in store.rounds("a run")] == [0, 1]
        key = store.append("a run", 2, 1.0, after="key 1").key
        store.answer("a run", answered(2, 3, key=key))
        assert store.rounds("a run")[-1].answer == Ranking.of([3])

    def test_a_rater_casts_one_ballot_a_round(self, store: Store, record: RunRecord) -> None:
        """An undo removes the ballots of its rounds."""
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

    def test_an_answer_that_omits_a_ballot_is_refused(
        self, store: Store, record: RunRecord
    ) -> None:
        """`ballots` is the number of ballots that the answer was made of."""
        store.create(record)
        key = store.append("a run", 0, 1.0).key
        for rater in ("ann", "bob"):
            store.cast("a run", 0, Ballot(rater, Ranking.of([1])))
        with pytest.raises(StaleAnswer, match="another ballot was cast"):
            store.answer("a run", answered(0, 1, key=key), ballots=1)
        store.answer("a run", answered(0, 1, key=key), ballots=2)
        assert store.rounds("a run")[0].answer == Ranking.of([1])

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

    def test_an_audit_has_every_answer_and_its_time(self, store: Store, record: RunRecord) -> None:
        """Lines have no slates there; ballots have the time at which they were cast."""
        store.create(record, [answered(0, 1, key="first", rater="ann", slate=SLATE)])
        store.append("a run", 1, 1.0, after="first", slate=SLATE)
        before = time.time()
        store.cast("a run", 1, Ballot("bob", Ranking.of([2])))
        found = store.audit("a run")
        lines = [line for line, undone_at in found.rounds if undone_at is None]
        assert [(line.index, line.rater, line.slate) for line in lines] == [
            (0, "ann", None),
            (1, None, None),
        ]
        (cast,) = found.ballots
        assert (cast.index, cast.ballot.rater, cast.undone_at) == (1, "bob", None)
        assert before <= cast.cast_at <= time.time()

    def test_an_edit_reaches_every_answer(self, store: Store, record: RunRecord) -> None:
        """Lines, ballots and metadata, undone ones included; keys, slates and times stay."""
        store.create(replace(record, meta={"who": "ann"}))
        store.append("a run", 0, 1.0)
        store.cast("a run", 0, Ballot("ann", Ranking.of([2])))
        store.undo("a run", 0)
        key = store.append("a run", 0, 1.0, slate=SLATE).key
        poll = Poll((Ballot("ann", Ranking.of([0])), Ballot("bob", Ranking.of([1]))))
        given = Round(0, 1.0, poll, "ann, bob", 2.0, key=key)
        for ballot in poll.ballots:
            store.cast("a run", 0, ballot)
        store.answer("a run", given, ballots=2)
        waiting = store.append("a run", 1, 3.0, after=key, slate=SLATE)
        store.cast("a run", 1, Ballot("ann", Ranking.of([2])))
        store.cast("a run", 1, Ballot("cyd", Ranking.of([2])))
        store.rewrite("a run", renaming("ann", "rater 1"))
        first, second = store.rounds("a run")
        assert (first.rater, first.slate, first.answered_at) == ("rater 1, bob", SLATE, 2.0)
        assert isinstance(first.answer, Poll)
        assert [b.rater for b in first.answer.ballots] == ["rater 1", "bob"]
        assert (second, second.key, second.slate) == (Round(1, 3.0), waiting.key, SLATE)
        assert [b.rater for b in store.ballots("a run", 1)] == ["rater 1"]  # cyd is removed
        assert "ann" not in repr(store.audit("a run"))
        assert store.snapshot("a run").meta == {"who": "rater 1", "edits": 1}

    def test_an_edit_replaces_slates(self, store: Store, record: RunRecord) -> None:
        """By the keys of their lines, and only if the log ends where the edit says."""
        store.create(record)
        first = store.append("a run", 0, 1.0, slate=SLATE)
        other = {**SLATE, "question": "start"}
        edit = replace(renaming("ann", "bob"), slates={first.key: other}, end=first)
        store.rewrite("a run", edit)
        assert newest(store).slate == other
        store.answer("a run", replace(first, answer=Ranking.of([0]), answered_at=2.0, slate=None))
        store.append("a run", 1, 3.0, after=first.key, slate=SLATE)
        with pytest.raises(StaleAnswer, match="answered elsewhere"):
            store.rewrite("a run", edit)
        store.rewrite("a run", replace(edit, slates={first.key: SLATE}, end=newest(store)))
        assert [line.slate for line in store.rounds("a run")] == [SLATE, SLATE]

    def test_an_edit_of_an_outdated_log_is_refused(self, store: Store, record: RunRecord) -> None:
        """Edits are counted; an edit that fails changes nothing."""
        store.create(record, [answered(0, 1, rater="ann")])
        store.rewrite("a run", renaming("bob", "rater 1"), edits=0)
        with pytest.raises(StaleAnswer, match="edited elsewhere"):
            store.rewrite("a run", renaming("ann", "rater 1"), edits=0)

        def refuse(meta: Json) -> Json:
            raise InvalidInput("no")

        with pytest.raises(InvalidInput, match="no"):
            store.rewrite("a run", replace(renaming("ann", "rater 1"), meta=refuse), edits=1)
        assert store.rounds("a run")[0].rater == "ann"
        assert store.record("a run").meta["edits"] == 1
        with pytest.raises(InvalidInput, match="did you mean a run"):
            store.rewrite("a rum", renaming("ann", "bob"))

    def test_deleting_a_run_leaves_the_others(self, store: Store, record: RunRecord) -> None:
        """A deleted run's name is free again, and its log is gone."""
        store.create(record, [answered(0, 1)])
        store.create(replace(record, name="another"), [answered(0, 2)])
        store.delete("a run")
        assert [r.name for r in store.runs()] == ["another"]
        assert store.rounds("another")[0].answer == Ranking.of([2])
        store.create(record)
        assert store.rounds("a run") == []

    def test_threads_that_append_at_once_get_one_slate(
        self, store: Store, record: RunRecord
    ) -> None:
        """The first slate is stored; the others are given that one."""
        store.create(record)
        shown = at_once(4, lambda i: store.append("a run", 0, 1.0, slate={"from": i}))
        assert len({line.key for line in shown}) == 1
        assert all(line.slate == newest(store).slate for line in shown)

    def test_of_several_answers_to_one_round_one_is_stored(
        self, store: Store, record: RunRecord
    ) -> None:
        """The others raise StaleAnswer."""
        store.create(record)
        key = ""
        for index in range(10):
            key = store.append("a run", index, 1.0, after=key).key

            def answer(i: int, index: int = index, key: str = key) -> int | None:
                try:
                    store.answer("a run", answered(index, i, key=key))
                except StaleAnswer:
                    return None
                return i

            (winner,) = (i for i in at_once(4, answer) if i is not None)
            assert store.rounds("a run")[index].answer == Ranking.of([winner])


def answered(index: int, *order: Any, shown_at: float = 0.0, **more: Any) -> Round:
    """Return an answered round of a log."""
    return Round(index, shown_at, Ranking.of(order), answered_at=shown_at + 1, **more)


def renaming(old: str, new: str) -> Edit:
    """Return an edit that gives a rater another name, and removes the ballots of cyd."""

    def ballot(one: Ballot) -> Ballot | None:
        return None if one.rater == "cyd" else replace(one, rater=one.rater.replace(old, new))

    def line(one: Round) -> Round:
        rater = one.rater and one.rater.replace(old, new)
        if not isinstance(one.answer, Poll):
            return replace(one, rater=rater)
        kept = tuple(b for b in map(ballot, one.answer.ballots) if b)
        return replace(one, answer=Poll(kept), rater=rater)

    return Edit(
        line, ballot, lambda meta: {key: new if key == "who" else meta[key] for key in meta}
    )


def newest(store: Store) -> Round:
    """Return the newest line of the run's log."""
    line = store.last("a run")
    assert line is not None
    return line


def at_once(count: int, call: Callable[[int], T]) -> list[T]:
    """Call a function from several threads at the same time."""
    barrier, results = threading.Barrier(count), []

    def work(i: int) -> None:
        barrier.wait()
        results.append(call(i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
