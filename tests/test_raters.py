"""What a store has about one person, without a studio."""

import json

import numpy as np
import pytest

from zorank import Ballot, InvalidInput, Poll, Ranking, Run, Values
from zorank._raters import export_rater, forget_rater, given_answers
from zorank.stores import open_store


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    opened = open_store("memory://" if request.param == "memory" else str(tmp_path / "runs.db"))
    yield opened
    opened.close()


def ranked(store, raters, record_slates=True, optimizer="zo-ranksgd"):
    run = Run(optimizer, np.ones(3), 1, store, "a", record_slates=record_slates)
    for index, rater in enumerate(raters):
        m = len(run.ask())
        run.tell([index % m, (index + 1) % m], rater=rater)
    run.ask()
    return run


def test_a_new_name_changes_no_number(store):
    run = ranked(store, ["ann", "bob", "ann"])
    best = run.best()
    done = forget_rater(store, "a", "ann")
    assert (done.pseudonym, done.answers, done.emptied) == ("rater 1", 2, ())
    assert run.refresh() is True
    assert [line.rater for line in run.rounds()] == ["rater 1", "bob", "rater 1", None]
    assert run.best().tobytes() == Run.open(store, "a").best().tobytes() == best.tobytes()
    assert run.refresh() is False


def test_without_its_answers_a_run_keeps_its_slates_and_goes_on_from_what_is_left(store):
    run = ranked(store, ["bob", "ann", "ann"])
    slates = [np.asarray(step.slate) for step in run.steps]
    best, waiting = run.best(), np.asarray(run.ask())
    done = forget_rater(store, "a", "ann", remove=True)
    assert (done.pseudonym, done.answers, done.emptied) == (None, 2, (1, 2))
    assert run.refresh() is True
    for one in (run, Run.open(store, "a")):
        assert [line.answer for line in one.rounds()][1:3] == [Ranking.no_difference()] * 2
        for slate, step in zip(slates, one.steps, strict=True):
            assert np.asarray(step.slate).tobytes() == slate.tobytes()
        assert np.asarray(one.ask()).tobytes() == waiting.tobytes()
        assert one.best().tobytes() != best.tobytes()
    run.tell([0], rater="bob")
    assert Run.open(store, "a").best().tobytes() == run.best().tobytes()


def test_answers_that_later_slates_follow_from_cannot_be_removed(store):
    ranked(store, ["ann", "bob"], record_slates=False)
    with pytest.raises(InvalidInput, match="has not recorded its slates"):
        forget_rater(store, "a", "ann", remove=True)
    assert store.rounds("a")[0].rater == "ann"
    assert forget_rater(store, "a", "ann").pseudonym == "rater 1"


def test_values_cannot_be_removed(store):
    run = Run("zo-sgd", np.ones(3), 1, store, "a", record_slates=True)
    run.tell(Values(tuple(float(x.sum()) for x in run.ask())), rater="ann")
    run.ask()
    with pytest.raises(InvalidInput, match="needs the values"):
        forget_rater(store, "a", "ann", remove=True)
    (exported,) = export_rater(store, "a", "ann")["answers"]
    assert exported["answer"] == store.rounds("a")[0].answer.to_json()


def test_a_branch_has_the_answers_with_the_time_of_the_round(store):
    run = Run("zo-ranksgd", np.ones(3), 1, store, "a", record_slates=True)
    run.ask()
    ballots = tuple(Ballot(name, Ranking.of([1])) for name in ("ann", "bob"))
    for ballot in ballots:
        store.cast("a", 0, ballot)
    run.tell(Poll(ballots), rater="ann, bob", ballots=2)
    run.branch(name="b")
    cast, copied = (given_answers(store.audit(name)) for name in ("a", "b"))
    assert [one.rater for one in cast] == [one.rater for one in copied] == ["ann", "bob"]
    answered_at = store.rounds("a")[0].answered_at
    assert all(one.given_at <= answered_at for one in cast)
    assert {one.given_at for one in copied} == {answered_at}
    forget_rater(store, "b", "ann")
    assert store.rounds("b")[0].rater == "rater 1, bob"
    assert store.rounds("a")[0].rater == "ann, bob"  # every run by itself


def test_somebody_unknown_is_refused_with_the_closest_names(store):
    ranked(store, ["annabel"])
    for call in (forget_rater, export_rater):
        with pytest.raises(InvalidInput, match="no rater named 'anabel'; did you mean annabel"):
            call(store, "a", "anabel")
    assert json.dumps(export_rater(store, "a", "annabel"))


@pytest.mark.parametrize("optimizer", ["zo-ranksgd", "zo-ranksgd-memory"])
def test_a_line_search_outlives_the_answer_that_gave_its_direction(store, optimizer):
    run = ranked(store, ["ann", "bob", "bob"], optimizer=optimizer)
    winner = np.asarray(run.steps[1].slate)[1]
    assert forget_rater(store, "a", "ann", remove=True).emptied == (0,)
    again = Run.open(store, "a")
    assert [step.slate.question for step in again.steps] == ["rank", "best", "rank"]
    assert again.steps[1].best.tobytes() == winner.tobytes()
