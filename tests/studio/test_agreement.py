"""What raters' agreement makes of their weights, by hand and by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zorank import Poll, Ranking
from zorank.studio.agreement import LARGEST_ACCURACY, Agreement, agreements
from zorank.types import Ballot


def poll(**orders):
    """A poll in which each rater gives an order, a list or a Ranking."""
    return Poll(tuple(Ballot(rater, order) for rater, order in orders.items()))


def test_nothing_is_known_of_a_new_rater_who_counts_one():
    new = Agreement()
    assert new.share is None
    assert new.weight == 1.0
    assert agreements([]) == {}


def test_a_rater_alone_agrees_with_nobody_and_counts_one():
    alone = agreements([(poll(ann=[2, 0]), 3)])
    assert alone == {"ann": Agreement(0, 0)}
    assert alone["ann"].weight == 1.0


def test_two_who_say_the_same_agree_on_every_pair():
    found = agreements([(poll(ann=[2, 0, 1], bob=[2, 0, 1]), 3)])
    assert found == {"ann": Agreement(3, 3), "bob": Agreement(3, 3)}
    assert found["ann"].share == 1.0
    # (3 + 3) of (3 + 4) right: log(6) against log(3).
    assert found["ann"].weight == pytest.approx(math.log(6) / math.log(3))


def test_two_who_say_the_opposite_agree_on_none():
    found = agreements([(poll(ann=[0, 1, 2], bob=[2, 1, 0]), 3)])
    assert found == {"ann": Agreement(0, 3), "bob": Agreement(0, 3)}
    assert found["bob"].share == 0.0
    # 3 of 7 right is below an even chance and is taken as 0.51.
    assert found["bob"].weight == pytest.approx(math.log(0.51 / 0.49) / math.log(3))


def test_three_raters_counted_by_hand():
    """Pairs 01, 02, 12: ann +++, bob ++−, cleo −−−."""
    found = agreements([(poll(ann=[0, 1, 2], bob=[0, 2, 1], cleo=[2, 1, 0]), 3)])
    # Against bob + cleo = 00(−2): ann meets one comparison of the others, the other way.
    assert found["ann"] == Agreement(0, 1)
    # Against ann + cleo = 000: the others say nothing together.
    assert found["bob"] == Agreement(0, 0)
    # Against ann + bob = 2 2 0: two comparisons, both the other way.
    assert found["cleo"] == Agreement(0, 2)


def test_tied_and_unnamed_pairs_are_not_counted():
    """Ties and the unnamed say nothing; a pair speaks of two candidates only."""
    tied = agreements([(poll(ann=[[0, 1], 2], bob=[0, 1, 2]), 3)])
    assert tied == {"ann": Agreement(2, 2), "bob": Agreement(2, 2)}
    top = agreements([(poll(ann=[3], bob=[3, 1]), 4)])
    assert top == {"ann": Agreement(3, 3), "bob": Agreement(3, 3)}
    pair = agreements([(poll(ann=Ranking.pair(1, 2), bob=[2, 1, 0]), 3)])
    assert pair == {"ann": Agreement(0, 1), "bob": Agreement(0, 1)}
    silent = agreements([(poll(ann=[], bob=[0, 1, 2]), 3)])
    assert silent == {"ann": Agreement(0, 0), "bob": Agreement(0, 0)}


def test_worst_groups_count_as_below_the_unnamed():
    best_worst = Ranking.best_worst(0, 3)
    found = agreements([(poll(ann=best_worst, bob=[0, 1, 2, 3]), 4)])
    # 01, 02, 03, 13, 23; of 12 ann says nothing.
    assert found["ann"] == Agreement(5, 5)


def test_polls_of_several_rounds_and_slates_add_up():
    rounds = [
        (poll(ann=[0, 1, 2], bob=[0, 1, 2]), 3),
        (poll(ann=[0, 1], bob=[1, 0]), 2),
        (poll(bob=[0, 1], cleo=[0, 1]), 2),
    ]
    found = agreements(rounds)
    assert found == {"ann": Agreement(3, 4), "bob": Agreement(4, 5), "cleo": Agreement(1, 1)}
    assert agreements(iter(rounds)) == found
    assert Agreement(3, 4) + Agreement(1, 1) == Agreement(4, 5)


def test_what_a_ballot_counted_does_not_change_who_agrees():
    ballots = [Ballot("ann", [0, 1, 2]), Ballot("bob", [0, 2, 1]), Ballot("cleo", [0, 1, 2])]
    weighed = [Ballot(b.rater, b.ranking, w) for b, w in zip(ballots, (0.1, 3.0, 0), strict=True)]
    assert agreements([(Poll(tuple(ballots)), 3)]) == agreements([(Poll(tuple(weighed)), 3)])


def test_three_quarters_right_keeps_the_weight_of_a_new_rater():
    assert Agreement(3, 4).weight == pytest.approx(1.0)
    assert Agreement(75, 100).weight == pytest.approx(1.0)


def test_a_weight_is_bounded_however_long_the_record():
    best = math.log(LARGEST_ACCURACY / (1 - LARGEST_ACCURACY)) / math.log(3)
    assert Agreement(10**9, 10**9).weight == pytest.approx(best)
    assert Agreement(0, 10**9).weight == pytest.approx(math.log(0.51 / 0.49) / math.log(3))


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_every_weight_is_finite_and_positive(same, others):
    weight = Agreement(same, same + others).weight
    assert math.isfinite(weight)
    assert weight > 0


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_one_more_agreement_never_counts_less(same, others):
    before, shared = Agreement(same, same + others), same + others
    assert Agreement(same + 1, shared + 1).weight >= before.weight
    assert Agreement(same, shared + 1).weight <= before.weight


orders = st.permutations(range(5)).flatmap(lambda p: st.integers(0, 5).map(lambda k: p[:k]))


@given(st.lists(st.lists(orders, min_size=1, max_size=4), max_size=5))
def test_whatever_is_answered_agreements_make_sense(rounds):
    named = [[Ballot(f"rater {i}", order) for i, order in enumerate(given)] for given in rounds]
    found = agreements((Poll(tuple(ballots)), 5) for ballots in named)
    assert set(found) == {b.rater for ballots in named for b in ballots}
    for agreement in found.values():
        assert 0 <= agreement.same <= agreement.shared <= 10 * len(rounds)
        assert math.isfinite(agreement.weight)
        assert agreement.weight > 0
        assert agreement.share is None or 0 <= agreement.share <= 1


def simulated(rounds, m, sharpness, seed):
    """Polls of raters who see true values through noise: order = sharpness·value + noise."""
    random = np.random.default_rng(seed)
    for _ in range(rounds):
        truth = random.standard_normal(m)
        ballots = []
        for rater, sharp in sharpness.items():
            impression = sharp * truth + random.standard_normal(m)
            ballots.append(Ballot(rater, Ranking.from_values(-impression, top=3)))
        yield Poll(tuple(ballots)), m


@pytest.mark.parametrize("seed", range(5))
def test_weights_order_consistent_random_and_contrary_raters(seed):
    raters = {"sure": 6.0, "steady": 6.0, "fair": 1.0, "random": 0.0, "contrary": -6.0}
    found = agreements(simulated(60, 6, raters, seed))
    weights = {rater: agreement.weight for rater, agreement in found.items()}
    shares = {rater: agreement.share for rater, agreement in found.items()}
    assert min(weights["sure"], weights["steady"]) > weights["fair"] > weights["random"]
    assert weights["random"] >= weights["contrary"] > 0
    assert shares["random"] > shares["contrary"]
    assert weights["random"] < 1
    assert abs(shares["random"] - 0.5) < 0.1
    assert shares["contrary"] < 0.25


def test_a_consistent_rater_gets_a_weight_above_one():
    found = agreements(simulated(60, 6, {"ann": 6.0, "bob": 6.0, "cleo": 6.0}, seed=1))
    assert all(1 < agreement.weight < 4 for agreement in found.values())


@pytest.mark.parametrize("seed", range(5))
def test_weights_learnt_from_earlier_rounds_make_better_polls(seed):
    """The weighted majority is right more often than the plain one, on rounds not learnt from."""
    raters = {"sure": 3.0, "one": 0.0, "two": 0.0, "three": 0.0, "steady": 3.0}
    known = agreements(simulated(60, 6, raters, seed))
    random = np.random.default_rng(1000 + seed)
    right = {"plain": 0, "weighed": 0}
    for _ in range(400):
        truth = random.standard_normal(2)
        votes = {r: np.diff(s * truth + random.standard_normal(2))[0] for r, s in raters.items()}
        for how in right:
            weigh = {r: 1.0 if how == "plain" else known[r].weight for r in raters}
            total = sum(weigh[r] * np.sign(v) for r, v in votes.items())
            right[how] += int(np.sign(total) == np.sign(np.diff(truth)[0]))
    assert right["weighed"] > right["plain"]
