import dataclasses
import itertools
import json

import numpy as np
import pytest

from zorank import (
    Ballot,
    InvalidInput,
    Poll,
    Ranking,
    ReplayError,
    Run,
    StaleAnswer,
    StoreError,
    Values,
    optimizers,
)
from zorank.optimizers import PickStart, ZORankSGD
from zorank.stores import MemoryStore, open_store


@pytest.fixture
def run():
    return Run("zo-ranksgd", np.ones(3), seed=1)


def answer(run, rounds, order=(0,), **details):
    for _ in range(rounds):
        run.ask()
        run.tell(list(order), **details)


def test_ask_is_idempotent_until_told(run):
    first = np.asarray(run.ask())
    assert [r.index for r in run.rounds()] == [0]
    np.testing.assert_array_equal(np.asarray(run.ask()), first)
    run.tell([2, 0, 5])
    assert run.ask().question == "best"
    assert len(run.rounds()) == 2


def test_the_log_says_who_when_and_what(run):
    run.ask()
    run.tell([2, [0, 5]], rater="ann", note={"value": 1.5})
    (line,) = run.rounds()
    assert line.answer == Ranking.of([2, [0, 5]])
    assert line.rater == "ann"
    assert line.note == {"value": 1.5}
    assert 0 < line.shown_at <= line.answered_at
    (row,) = run.history
    assert row["points"] == 10
    assert row["question"] == "rank"
    assert row["rater"] == "ann"
    assert row["value"] == 1.5
    assert row["seconds"] >= 0
    assert row["radius"] == 1e-3


def test_several_raters_answer_by_a_poll(run):
    run.ask()
    run.tell(Poll((Ballot("ann", Ranking.of([1])), Ballot("bob", Ranking.of([2]), 0.5))))
    assert run.ask().question == "best"


def test_values_serve_a_rank_only_optimizer_as_their_order():
    told, ranked = (Run("zo-ranksgd", np.ones(3), seed=1) for _ in range(2))
    values = tuple(float(x @ x) for x in told.ask())
    ranked.ask()
    told.tell(Values(values))
    ranked.tell(Ranking.from_values(values))
    np.testing.assert_array_equal(np.asarray(told.ask()), np.asarray(ranked.ask()))


@pytest.mark.parametrize(
    "answer",
    [np.array(3), [0, 0], [10], [-1], "abc", Values((1.0, 2.0)), [0.5], {"order": [0]}, {0, 1}],
)
def test_a_bad_answer_changes_nothing(run, answer):
    before = np.asarray(run.ask())
    rounds = run.rounds()
    with pytest.raises(InvalidInput):
        run.tell(answer)
    assert run.rounds() == rounds
    np.testing.assert_array_equal(np.asarray(run.ask()), before)
    run.tell([1])


def test_an_answer_to_another_round_is_refused(run):
    with pytest.raises(StaleAnswer, match="ask first"):
        run.tell([0])
    run.ask()
    with pytest.raises(StaleAnswer, match=r"this answers round 3 .* but round 0 waits"):
        run.tell([0], round=3)
    run.tell([0], round=0)
    with pytest.raises(StaleAnswer):
        run.tell([0], round=0)


def test_a_run_that_was_overtaken_catches_up():
    store = MemoryStore()
    ahead = Run("zo-ranksgd", [1.0, 2.0], store=store, name="two")
    behind = Run.open(store, "two")
    ahead.ask()
    behind.ask()
    ahead.tell([1])
    with pytest.raises(StaleAnswer):
        behind.tell([2])
    assert behind.ask().question == "best"
    behind.tell([1])
    with pytest.raises(StaleAnswer):
        ahead.ask()
    ahead.refresh()
    np.testing.assert_array_equal(np.asarray(ahead.ask()), np.asarray(behind.ask()))


def test_a_preview_shows_what_would_follow_and_tells_nothing(run):
    run.ask()
    preview = np.asarray(run.preview([3, 1]))
    assert run.rounds()[0].answer is None
    run.tell([3, 1])
    np.testing.assert_array_equal(np.asarray(run.ask()), preview)


def test_a_store_may_be_given_as_its_url(tmp_path):
    Run("zo-ranksgd", [1.0], store=f"sqlite:///{tmp_path}/runs.db", name="a").ask()
    assert "0 rounds answered" in repr(Run.open(open_store(tmp_path / "runs.db"), "a"))


def test_a_run_is_opened_from_a_url_or_a_path(tmp_path):
    answer(Run("zo-ranksgd", [1.0], store=tmp_path / "runs.db", name="a"), 2)
    for where in (tmp_path / "runs.db", f"sqlite:///{tmp_path}/runs.db"):
        assert len(Run.open(where, "a").history) == 2
    for store in (3, MemoryStore, object()):
        with pytest.raises(InvalidInput, match="a store must be a URL"):
            Run.open(store, "a")


def test_meta_changes_no_configuration():
    store = MemoryStore()
    Run("zo-ranksgd", [1.0], store=store, name="a", meta={"title": "one"})
    again = Run("zo-ranksgd", [1.0], store=store, name="a", meta={"title": "two"})
    assert again.record.meta == {"title": "one"}


def test_a_note_does_not_override_columns_of_the_history(run):
    run.ask()
    run.tell([0], note={"points": "abc", "round": -1, "value": 3.0})
    assert run.points == 10
    assert run.history[0]["points"] == 10
    assert run.history[0]["value"] == 3.0


def test_shared_arrays_are_read_only(run):
    slate = run.ask()
    for array in (slate.design.centre, slate.design.directions, run.record.x0):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 5
    best = run.best()
    best[:] = 7
    assert run.best().tolist() == [1.0, 1.0, 1.0]
    options = {"m": 3}
    optimizer = PickStart(options=options)
    options["m"] = 5
    assert optimizer.options == {"m": 3}


@pytest.mark.parametrize("name", [5, "  ", "a\0b", "\ud800"])
def test_a_name_that_cannot_be_kept(run, name):
    with pytest.raises(InvalidInput, match="must be a text that is not blank"):
        run.branch(name=name)
    run.ask()
    with pytest.raises(InvalidInput, match="must be a text that is not blank"):
        run.tell([0], rater=name)
    assert run.rounds()[0].answer is None


@pytest.mark.parametrize("scale", [1e-170, 1e-5, 1.0, 1e154, 1e300])
def test_any_start_finds_its_place_on_the_shell(scale):
    optimizer = ZORankSGD(space="gaussian")
    best = Run(optimizer, scale * np.array([1.0, -2.0, 2.0])).best()
    np.testing.assert_allclose(best, np.sqrt(3) * np.array([1, -2, 2]) / 3)


def test_candidates_that_cannot_be_told_apart_move_nothing():
    optimizer = ZORankSGD(mu=1e-18, bounds=(-5, 5), line_search=0, step=1.0)
    run = Run(optimizer, [1.0, 2.0])
    run.ask()
    run.tell([0, 1])
    assert run.best().tolist() == [1.0, 2.0]


def test_a_radius_that_decayed_for_ever_is_still_one():
    optimizer = ZORankSGD(mu_decay=1e-3, line_search=0, step=0.1, bounds=(-5, 5))
    run = Run(optimizer, [1.0, 2.0])
    for _ in range(200):
        run.ask()
        run.tell([0])
    assert np.isfinite(run.best()).all()


def test_endless_answers_of_no_difference_stay_finite():
    for method in ("zo-ranksgd", "zo-ranksgd-memory"):
        run = Run(method, np.ones(3))
        for _ in range(3000):
            run.ask()
            run.tell([])
        assert np.isfinite(np.asarray(run.ask())).all()
        assert run.history[-1]["radius"] <= 1e4


def nested(levels):
    """A dictionary in a dictionary in a dictionary."""
    found = {}
    for _ in range(levels - 1):
        found = {"a": found}
    return found


def test_a_note_may_be_nested(run):
    run.ask()
    run.tell([0], note=nested(100))
    assert json.loads(json.dumps(run.export()))["rounds"][0]["note"] == nested(100)


@pytest.mark.parametrize("argument", ["round", "ballots"])
def test_indices_are_whole_numbers(run, argument):
    run.ask()
    for value in ("0", True, 0.0, -1):
        with pytest.raises(InvalidInput, match=f"{argument} must be a whole number from 0"):
            run.tell([0], **{argument: value})


def test_an_endless_answer_is_refused(run):
    run.ask()
    with pytest.raises(InvalidInput, match="an order must have at most 100,000 items"):
        run.tell(itertools.count())
    run.tell([0])


def test_a_note_is_plain_json(run):
    run.ask()
    with pytest.raises(InvalidInput, match="plain JSON"):
        run.tell([0], note={"x": np.ones(2)})
    with pytest.raises(InvalidInput, match="plain JSON"):
        run.tell([0], note={"x": float("nan")})
    for note in ("text", 3, zip(itertools.count(), itertools.count(), strict=False)):
        with pytest.raises(InvalidInput, match="a note must map names to plain JSON values"):
            run.tell([0], note=note)
    for levels in (101, 400, 10_000):
        with pytest.raises(InvalidInput, match="a note must be nested at most 100 levels deep"):
            run.tell([0], note=nested(levels))
    assert run.rounds()[0].answer is None


@pytest.mark.parametrize("rounds", [0, 3, -1, True, 1.0])
def test_only_answered_rounds_can_be_undone(run, rounds):
    answer(run, 2)
    with pytest.raises(InvalidInput, match="cannot be undone"):
        run.undo(rounds)
    assert len(run.rounds()) == 2


def test_after_undo_the_same_question_waits_again(run):
    first = np.asarray(run.ask())
    run.tell([0])
    run.ask()
    run.undo()
    assert [(r.index, r.answer) for r in run.rounds()] == [(0, None)]
    np.testing.assert_array_equal(np.asarray(run.ask()), first)
    run.tell([1])
    assert run.rounds()[0].answer == Ranking.of([1])


def test_undo_before_the_first_answer(run):
    run.ask()
    with pytest.raises(InvalidInput, match="has 0 answered"):
        run.undo()


@pytest.mark.parametrize("round", [-1, 3, True, "a"])
def test_a_branch_keeps_rounds_that_exist(run, round):
    answer(run, 2)
    with pytest.raises(InvalidInput, match="keeps from 0 to 2"):
        run.branch(round)


def test_a_branch_is_a_run_of_its_own(run):
    answer(run, 3, [1], rater="ann")
    branch = run.branch(2, name="other")
    assert branch.name == "other"
    assert [r.rater for r in branch.rounds()] == ["ann", "ann"]
    branch.ask()
    branch.tell([2])
    assert len(run.rounds()) == 3
    assert run.rounds()[2].answer == Ranking.of([1])
    with pytest.raises(InvalidInput, match="already a run named"):
        run.branch(name="other")


@pytest.mark.parametrize(
    ("x0", "words"),
    [
        ([np.nan], "x0 must be finite, found nan at position 0"),
        ([1.0, np.inf], "found inf at position 1"),
        ([], "found shape"),
        (np.ones((2, 2)), "found shape"),
        ("abc", "must be"),
    ],
)
def test_a_bad_start_leaves_no_run_behind(x0, words):
    store = MemoryStore()
    with pytest.raises(InvalidInput, match=words):
        Run("zo-ranksgd", x0, store=store, name="a")
    assert store.runs() == []


@pytest.mark.parametrize("seed", [-1, 1.5, "0", True, None, 10**4000])
def test_a_bad_seed(seed):
    with pytest.raises(InvalidInput, match="non-negative whole number"):
        Run("zo-ranksgd", [1.0], seed=seed)


@pytest.mark.parametrize("name", ["", "  ", 3])
def test_a_bad_name(name):
    with pytest.raises(InvalidInput, match="name"):
        Run("zo-ranksgd", [1.0], name=name)


def test_an_optimizer_that_is_none():
    with pytest.raises(InvalidInput, match="frozen dataclass"):
        Run(object(), [1.0])


def test_a_name_that_exists_continues_or_refuses():
    store = MemoryStore()
    first = Run(ZORankSGD(m=4), [1.0, 2.0], seed=1, store=store, name="a")
    first.ask()
    first.tell([3])
    same = Run(ZORankSGD(m=4), [1.0, 2.0], seed=1, store=store, name="a")
    assert len(same.rounds()) == 1
    for optimizer, x0, seed, words in [
        (ZORankSGD(m=5), [1.0, 2.0], 1, "m is 4 there and 5 here"),
        (ZORankSGD(m=4), [1.0, 2.5], 1, "x0 is"),
        (ZORankSGD(m=4), [1.0], 1, "x0 is"),
        (ZORankSGD(m=4), [1.0, 2.0], 2, "seed is 1 there and 2 here"),
        ("zo-ranksgd-memory", [1.0, 2.0], 1, "optimizer is 'zo-ranksgd' there"),
    ]:
        with pytest.raises(ReplayError, match=words):
            Run(optimizer, x0, seed=seed, store=store, name="a")
    assert len(store.rounds("a")) == 1


def test_a_version_that_changed_results_refuses_to_replay(monkeypatch):
    store, older = MemoryStore(), MemoryStore()
    run = Run("zo-ranksgd", [1.0], store=store, name="a")
    older.create(dataclasses.replace(run.record, version="0.0.9"))
    monkeypatch.setattr(ZORankSGD, "revision", 2)
    with pytest.raises(ReplayError, match=r"to continue it: pip install zorank==0\.0\.9"):
        Run.open(older, "a")
    with pytest.raises(ReplayError, match="use the code that has revision 1 of zo-ranksgd"):
        Run.open(store, "a")  # recorded by this version: to install it again would not help


@dataclasses.dataclass(frozen=True)
class MyOptimizer(ZORankSGD):
    name = "mine"


def test_an_optimizer_of_ones_own_has_to_be_given_again():
    store = MemoryStore()
    Run(MyOptimizer(), [1.0], store=store, name="a").ask()
    with pytest.raises(ReplayError, match=r"give it to Run\.open"):
        Run.open(store, "a")
    assert Run.open(store, "a", MyOptimizer()).ask().question == "rank"


def test_an_export_is_json_and_makes_the_run_again():
    run = Run(optimizers.make("zo-ranksgd-memory", {"bounds": ([-3, -3], [3, 3])}), [1.0, 2.0])
    answer(run, 5, [1, 2])
    data = json.loads(json.dumps(run.export()))
    again = Run(optimizers.make(data["optimizer"], data["options"]), data["x0"], data["seed"])
    for line in data["rounds"]:
        again.ask()
        again.tell(line["answer"]["order"])
    assert again.best().tolist() == data["best"]


def test_replay_shows_every_round_again(run):
    slates = []
    for _ in range(4):
        slates.append(np.asarray(run.ask()))
        run.tell([1])
    for (line, slate, _), expected in zip(run.replay(), slates, strict=True):
        assert line.answer == Ranking.of([1])
        np.testing.assert_array_equal(np.asarray(slate), expected)


def test_a_store_that_fails_leaves_the_run_as_it_was(run, monkeypatch):
    run.ask()

    def fail(*_):
        raise StoreError("the disk is full")

    monkeypatch.setattr(MemoryStore, "answer", fail)
    with pytest.raises(StoreError):
        run.tell([0])
    assert run.rounds()[0].answer is None
    monkeypatch.undo()
    run.tell([0])
    assert run.rounds()[0].answer == Ranking.of([0])


def test_an_answer_given_in_another_process_is_noticed(tmp_path):
    store = open_store(str(tmp_path / "runs.db"))
    here = Run("zo-ranksgd", [1.0], store=store, name="a")
    here.ask()
    there = Run.open(open_store(str(tmp_path / "runs.db")), "a")
    there.ask()
    there.tell([1])
    with pytest.raises(StaleAnswer):
        here.tell([2])
    here = Run.open(store, "a")
    assert here.rounds()[0].answer == Ranking.of([1])


def test_steps_are_what_a_replay_gives_kept_or_not():
    store = MemoryStore()
    kept = Run("zo-ranksgd-memory", np.ones(3), seed=1, store=store, name="a", trace=True)
    for order in ([2, 0], [], [1], [3, 4]):
        kept.ask()
        kept.tell(order)
    kept.undo(2)
    kept.tell([1])
    again = Run.open(store, "a")
    for mine, theirs in zip(kept.steps, again.steps, strict=True):
        assert (mine.line, mine.moved, mine.report) == (theirs.line, theirs.moved, theirs.report)
        assert mine.best.tobytes() == theirs.best.tobytes()
        np.testing.assert_array_equal(np.asarray(mine.slate), np.asarray(theirs.slate))
    assert kept.history == again.history
    assert kept.points == again.points


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("back", [1, 5, 11])
def test_a_run_that_others_undid_and_continued_is_the_fold_of_the_log(trace, back):
    store = MemoryStore()
    here = Run("zo-ranksgd-memory", np.ones(3), seed=1, store=store, name="a", trace=trace)
    for i in range(12):
        here.ask()
        here.tell([i % 4])
    there = Run.open(store, "a", trace=trace)
    there.undo(back)
    answer(there, 3, [5])
    there.ask()
    here.refresh()
    fresh = Run.open(store, "a")
    for run in (here, there):
        assert run.rounds() == fresh.rounds()
        assert run.history == fresh.history
        assert run.best().tobytes() == fresh.best().tobytes()
        np.testing.assert_array_equal(np.asarray(run.ask()), np.asarray(fresh.ask()))


def test_a_preview_is_forgotten_when_the_past_changes():
    store = MemoryStore()
    run = Run("zo-ranksgd", np.ones(3), seed=1, store=store, name="a", trace=True)
    run.ask()
    run.tell([0])
    run.ask()
    run.preview([3])
    run.undo()
    run.tell([7])
    run.ask()
    run.tell([3])
    assert run.best().tobytes() == Run.open(store, "a").best().tobytes()


def test_a_run_that_did_not_change_is_not_read_again(run, monkeypatch):
    run.ask()
    run.tell([0])
    run.ask()
    monkeypatch.setattr(MemoryStore, "rounds", None)
    run.refresh()
