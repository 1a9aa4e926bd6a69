"""The looks on slates after the answer to the starts was removed from a log."""

from dataclasses import replace

import numpy as np
import pytest

from tests.optimizers.test_rank_looks import DIM, Waves, honest
from zorank import Ranking, Run, StoreError, _slate_log
from zorank._raters import _edit, forget_rater
from zorank.optimizers import RankLooks
from zorank.optimizers.rank_looks.optimizer import digest
from zorank.stores import open_store


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    opened = open_store("memory://" if request.param == "memory" else str(tmp_path / "runs.db"))
    yield opened
    opened.close()


def ranked(store, begin, raters):
    """Return a run whose candidates have looks from round `begin` on."""
    optimizer = RankLooks(space="gaussian", pick=True, pool=16)
    looks = Waves(begin=begin)
    run = Run(optimizer, np.ones(DIM), 3, store, "a", record_slates=True, looks=looks)
    for rater in raters:
        run.tell(honest(run.ask()), rater=rater)
    run.ask()
    return run


def look_rows(store):
    """Return how many looks each slate of the log has, None for a slate without looks."""
    records = [line.slate for line in store.rounds("a")]
    return [record["looks"]["shape"][0] if "looks" in record else None for record in records]


def assert_looks_are_right(run):
    """Every look of the state is that of its candidate."""
    looks = run.state.looks
    known = [x for x in run.state.process.candidates if digest(x) in looks]
    found = [looks[digest(x)] for x in known]
    assert len(found) >= 6
    np.testing.assert_allclose(found, Waves()(np.array(known)), atol=1e-9)


@pytest.mark.parametrize("begin", [0, 1, 3])
def test_the_slates_lose_the_looks_of_starts_whose_answer_is_removed(store, begin):
    run = ranked(store, begin, ["ann", "bob", "bob", "bob", "bob"])
    before = look_rows(store)
    forget_rater(store, "a", "ann", remove=True)
    run.refresh()
    rows = look_rows(store)
    starts = [6 if begin == 0 else None, *[None] * max(0, begin - 1)]
    assert rows[: len(starts)] == starts
    assert rows[-1] == before[-1] == 6
    for one in (run, Run.open(store, "a", looks=Waves(begin=begin))):
        state = one.optimizer.init(one.record.x0)
        for line, slate, after in one.replay():
            fits = len(one.optimizer.unlooked(state)) + len(slate)
            assert slate.looks is None or len(slate.looks) <= fits, line.index
            state = after
        assert_looks_are_right(one)
        one.ask()
    run.tell(honest(run.ask()), rater="bob")
    assert Run.open(store, "a").best().tobytes() == run.best().tobytes()


def test_the_waiting_slate_loses_them_too(store):
    run = ranked(store, 1, ["ann", "bob"])
    run.undo()
    assert look_rows(store) == [None, 12]
    forget_rater(store, "a", "ann", remove=True)
    assert look_rows(store) == [None, 6]
    run.refresh()
    run.tell(honest(run.ask()), rater="bob")
    assert look_rows(store) == [None, 6]
    assert_looks_are_right(Run.open(store, "a"))


def test_other_answers_are_removed_without_a_change_of_slates(store):
    run = ranked(store, 3, ["bob", "ann", "bob", "ann", "bob"])
    before = [line.slate for line in run.rounds()]
    forget_rater(store, "a", "ann", remove=True)
    assert [line.slate for line in store.rounds("a")] == before


@pytest.mark.parametrize("begin", [1, 3])
def test_a_log_whose_edit_kept_the_looks_of_starts_opens(store, begin):
    """Versions of zorank before November 2026 edited logs so."""
    ranked(store, begin, ["ann", "bob", "bob", "bob", "bob"])
    before = look_rows(store)
    store.rewrite("a", _edit("ann", None))
    assert look_rows(store) == before
    run = Run.open(store, "a", looks=Waves(begin=begin))
    assert_looks_are_right(run)
    run.tell(honest(run.ask()), rater="cyd")
    forget_rater(store, "a", "cyd", remove=True)
    assert_looks_are_right(Run.open(store, "a"))


def test_a_log_with_more_looks_than_that_is_damaged(store):
    run = ranked(store, 1, ["ann", "bob", "bob"])
    record = run.rounds()[1].slate
    damaged = _slate_log.add_looks(record, np.zeros((13, 12)))
    edit = _edit("ann", None)
    store.rewrite("a", replace(edit, slates={run.rounds()[1].key: damaged}))
    with pytest.raises(StoreError, match=r"round 1 .* at most 6 earlier ones; found 13"):
        Run.open(store, "a")


def test_an_answer_from_before_the_edit_is_accepted(store):
    """Another process asks, the edit comes, and the other process answers."""
    other = ranked(store, 1, ["ann"])
    forget_rater(store, "a", "ann", remove=True)
    other.tell(honest(other.ask()), rater="bob")
    assert look_rows(store) == [None, 12]
    assert other.refresh() is True
    for run in (other, Run.open(store, "a")):
        assert run.rounds()[0].answer == Ranking.no_difference()
        assert_looks_are_right(run)
