"""rank-items: orders of a finite set, their certainty, and what large sets cost."""

import time

import numpy as np
import pytest

from zorank import Ballot, InvalidInput, Poll, Ranking, Run, Values
from zorank.optimizers import RankItems, rank_items
from zorank.optimizers.rank_items import model
from zorank.optimizers.rank_items.edges import Edges


def items_of(slate):
    return np.array([int(x[0]) for x in slate])


def ranked(truth, rounds, seed=0, m=6, noise=True):
    """A run whose judge prefers larger numbers, with the noise of Plackett and Luce."""
    draws = np.random.default_rng(seed)
    run = Run(RankItems(items=len(truth), m=m), [0.0], seed)
    for _ in range(rounds):
        items = items_of(run.ask())
        seen = truth[items] + (draws.gumbel(size=len(items)) if noise else 0.0)
        run.tell(Ranking.of(np.argsort(-seen).tolist()))
    return run


def share_of_right_pairs(order, truth):
    ahead = truth[order]
    return float((ahead[:, None] > ahead)[np.triu_indices(len(ahead), 1)].mean())


def test_a_judge_without_noise_gets_the_whole_order():
    truth = np.random.default_rng(1).standard_normal(12)
    run = ranked(truth, 30, noise=False)
    assert run.state.posterior.order().tolist() == np.argsort(-truth).tolist()
    assert run.best().tolist() == [float(np.argmax(truth))]
    assert run.state.certainty > rank_items.ENOUGH


def test_the_certainty_is_the_share_of_pairs_in_the_right_order():
    """On average over seeds; one run may be luckier than it thinks."""
    found = []
    for seed in range(12):
        truth = 2 * np.random.default_rng(100 + seed).standard_normal(30)
        run = ranked(truth, 30, seed)
        right = share_of_right_pairs(run.state.posterior.order(), truth)
        found.append((run.state.certainty, right))
    expected, right = np.mean(found, axis=0)
    assert right > 0.85
    assert abs(expected - right) < 0.05


def test_every_item_is_shown_before_any_is_shown_often():
    run = ranked(np.arange(30.0), 5)
    shown = [i for step in run.steps for i in items_of(step.slate)]
    assert sorted(shown) == list(range(30))


def test_items_on_a_slate_are_close_once_they_are_known():
    truth = 3 * np.random.default_rng(2).standard_normal(40)
    run = ranked(truth, 60)
    slates = [items_of(step.slate) for step in run.steps]
    early, late = (np.mean([np.ptp(truth[s]) for s in part]) for part in (slates[:5], slates[-9:]))
    assert late < 0.8 * early


def test_a_smaller_set_than_m_is_shown_as_a_whole():
    assert sorted(items_of(Run(RankItems(items=4, m=6), [0.0]).ask())) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("answer", "edges", "information"),
    [
        (Ranking.of([0, 1, 2, 3]), 6, 1 / 2 + 2 / 3 + 3 / 4),
        (Ranking.of([2]), 3, 3 / 4),
        (Ranking.of([], worst=[1]), 3, 3 / 4),
        (Ranking.best_worst(0, 3), 5, 3 / 4 + 2 / 3),
        (Ranking.of([[0, 1], [2, 3]]), 4, 1.0),
        (Ranking.pair(3, 1), 1, 1 / 2),
        (Values((0.0, 1.0, 1.0, 2.0)), 5, 3 / 4 + 2 / 3),
        (Ranking.no_difference(), 0, 0.0),
    ],
)
def test_an_answer_has_the_information_of_its_splits(answer, edges, information):
    found = Edges.empty().add(answer, np.arange(4))
    assert len(found) == edges
    assert found.weight.sum() / 2 == pytest.approx(information)


def test_ballots_count_by_their_weights():
    poll = Poll((Ballot("a", Ranking.of([0, 1]), 2.0), Ballot("b", Ranking.of([1, 0]), 0.0)))
    found = Edges.empty().add(poll, np.array([7, 5]))
    assert (found.better.tolist(), found.worse.tolist()) == ([7], [5])
    assert found.weight.tolist() == [2.0]


def test_an_item_that_is_never_compared_is_not_shown_for_ever():
    run = Run(RankItems(items=8, m=4), [0.0])
    shown = []
    for _ in range(20):
        items = items_of(run.ask())
        shown.append(3 in items)
        among = tuple(p for p, item in enumerate(items) if item != 3)
        best = sorted(among, key=lambda p: -items[p])
        run.tell(Ranking(tuple((p,) for p in best), among=among))
    assert sum(shown) == 2
    assert run.state.posterior.order()[:2].tolist() == [7, 6]


def test_large_sets_agree_with_the_exact_model(monkeypatch):
    truth = 2 * np.random.default_rng(3).standard_normal(60)
    exact = ranked(truth, 80).state
    monkeypatch.setattr(model, "MAX_DENSE", 0)
    near = model.fit(exact.edges, 60, exact.posterior)
    again = near
    monkeypatch.setattr(model, "MAX_DENSE", 400)
    wanted = model.fit(exact.edges, 60, exact.posterior)
    np.testing.assert_allclose(again.mean, wanted.mean, atol=1e-4)
    ratio = again.variance / wanted.variance
    assert 0.6 < ratio.min() <= ratio.max() < 1.4
    assert abs(again.certainty() - wanted.certainty()) < 0.05


def test_ten_thousand_items_take_bounded_time_and_memory():
    began = time.process_time()
    run = ranked(np.arange(10_000.0), 12)
    assert time.process_time() - began < 60  # 0.1 s per round; generous
    state = run.state
    arrays = (state.posterior.mean, state.posterior.variance, state.edges.weight)
    assert sum(a.nbytes for a in arrays) < 1_000_000
    assert state.posterior.covariance.shape == (72, 72)


def test_a_candidate_is_one_number():
    with pytest.raises(InvalidInput, match=r"x0 must be one number, such as \[0\], found 3"):
        Run(RankItems(items=4), np.zeros(3))
