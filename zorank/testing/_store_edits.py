"""The part of a store's contract that concerns personal data: the audit and edits of answers."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from zorank.errors import InvalidInput, StaleAnswer
from zorank.protocols import Store
from zorank.testing._store_examples import SLATE, answered, newest
from zorank.types import Ballot, Edit, Json, Poll, Ranking, Round, RunRecord


class EditsInStore:
    """The tests of audits and edits that a store must pass; fixtures as in `StoreContract`."""

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
