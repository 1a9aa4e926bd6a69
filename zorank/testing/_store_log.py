"""The part of a store's contract that concerns the log: rounds, answers, ballots and undo."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from zorank._store_protocol import Check
from zorank.errors import InvalidInput, StaleAnswer
from zorank.protocols import Store
from zorank.testing._store_examples import SLATE, answered, at_once, newest
from zorank.types import Ballot, Ranking, Round, RunRecord, Snapshot


class LogInStore:
    """The tests of logs that a store must pass. The fixtures are those of `StoreContract`."""

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

    def test_a_check_sees_the_run_as_it_is_and_may_refuse_a_write(
        self, store: Store, record: RunRecord
    ) -> None:
        """What the check raises is raised by the store, and nothing is written."""
        store.create(record)
        key, seen = store.append("a run", 0, 1.0).key, []

        def refuse(found: Snapshot) -> None:
            seen.append(found)
            raise InvalidInput("refused by the check")

        ann, answer = Ballot("ann", Ranking.of([1])), answered(0, 1, key=key)
        writes: tuple[Callable[[Check], Any], ...] = (
            lambda check: store.cast("a run", 0, ann, check),
            lambda check: store.answer("a run", answer, check=check),
        )
        for write in writes:
            with pytest.raises(InvalidInput, match="refused by the check"):
                write(refuse)
            assert seen.pop() == store.snapshot("a run")
            assert not store.ballots("a run", 0)
            assert newest(store).answer is None
        for write in writes:
            write(seen.append)
        assert [len(found.ballots) for found in seen] == [0, 1]
        assert store.rounds("a run")[0].answer == Ranking.of([1])

    def test_checks_of_writes_at_once_see_each_other(
        self, store: Store, record: RunRecord
    ) -> None:
        """A check and its write are one transaction."""
        store.create(record)
        store.append("a run", 0, 1.0)

        def cast(i: int) -> bool:
            def check(found: Snapshot) -> None:
                time.sleep(0.01)
                if found.ballots:
                    raise StaleAnswer("somebody was first")

            try:
                store.cast("a run", 0, Ballot(f"rater {i}", Ranking.of([1])), check)
            except StaleAnswer:
                return False
            return True

        assert sum(at_once(4, cast)) == len(store.ballots("a run", 0)) == 1

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
