import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.strategies import polls, slate_and_ranking
from zorank import Ballot, InvalidInput, Poll, Ranking, Values
from zorank.types import answer_from_json, as_vector


def nested(levels):
    """A list in a list in a list."""
    found = [0]
    for _ in range(levels):
        found = [found]
    return found


def test_of_reads_best_first_with_inner_lists_as_ties():
    ranking = Ranking.of([2, [0, 5]], worst=[1])
    assert ranking.best == ((2,), (0, 5))
    assert ranking.worst == ((1,),)
    assert ranking.levels(6).tolist() == [1, 3, 0, 2, 2, 1]


def test_numpy_integers_and_empty_groups_are_fine():
    assert Ranking.of(np.array([2, 0])) == Ranking.of([[2], [], [0]])


def test_from_values_ranks_smaller_first_and_cuts_at_top():
    assert Ranking.from_values([3.0, 1.0, 2.0]).best == ((1,), (2,), (0,))
    assert Ranking.from_values([3.0, 1.0, 2.0], top=1).best == ((1,),)


def test_from_values_ties_equal_values_and_names_a_tie_across_the_cut_whole():
    assert Ranking.from_values([1.0, 0.0, 1.0, 2.0], top=2).best == ((1,), (0, 2))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.data())
def test_from_values_does_not_depend_on_the_order_of_candidates(values, data):
    top = data.draw(st.integers(1, len(values)))
    shuffle = data.draw(st.permutations(range(len(values))))
    levels = Ranking.from_values(values, top).levels(len(values))
    shuffled = Ranking.from_values([values[i] for i in shuffle], top).levels(len(values))
    assert shuffled.tolist() == levels[list(shuffle)].tolist()


def test_a_pair_speaks_of_two_positions_only():
    assert Ranking.pair(3, 1).levels(5).tolist() == [-1, 1, -1, 0, -1]


def test_no_difference_puts_all_on_one_level():
    assert Ranking.no_difference() == Ranking.of([])
    assert len(set(Ranking.no_difference().levels(4))) == 1


@given(slate_and_ranking())
def test_a_ranking_says_the_same_when_it_is_completed(case):
    m, ranking = case
    completed = ranking.completed(m)
    both = [np.unique(r.levels(m), return_inverse=True)[1].tolist() for r in (ranking, completed)]
    assert both[0] == both[1]
    left = [len(set(range(m)) - set(r.named)) for r in (ranking, completed)]
    whole = left[0] == 1 and ranking.best and not ranking.worst and ranking.among is None
    assert left[1] == (0 if whole else left[0])


@given(slate_and_ranking())
def test_a_ranking_survives_json(case):
    _, ranking = case
    assert answer_from_json(ranking.to_json()) == ranking


@given(polls(5))
def test_a_poll_survives_json(poll):
    assert answer_from_json(poll.to_json()) == poll


def test_values_survive_json_to_the_last_bit():
    values = Values((0.1, 1 / 3, -1e-300))
    assert answer_from_json(values.to_json()) == values


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([1, 1], "position 1 is named more than once"),
        ([0, [2, 0]], "position 0 is named more than once"),
        ([-1], "position -1 is negative"),
        ([1.5], "whole number"),
        ([True], "whole number"),
        (["2"], "whole number"),
        ("20", "list of positions"),
        (7, "list of positions"),
        (None, "list of positions"),
        (itertools.count(), "an order must have at most 100,000 items"),
        (itertools.repeat([]), "an order must have at most 100,000 items"),
        (range(10**15), "an order must have at most 20,000,000 items"),
        (range(10**30), "an order must have at most 20,000,000 items"),
        ([0, itertools.count(1)], "an order must have at most 100,000 items"),
        (
            (range(i, i + 5000) for i in itertools.count(0, 5000)),
            "an order must have at most 100,000 items",
        ),
        (nested(5000), "whole number, 0 or more, found a value of type list"),
        ([-(10**5000)], "position a value of type int that cannot be printed is negative"),
        (np.ma.masked_array([0, 1], [False, True]), "must not have masked numbers"),
    ],
)
def test_a_bad_order_is_refused_in_one_sentence(order, words):
    with pytest.raises(InvalidInput, match=words):
        Ranking.of(order)


def test_a_ballot_takes_a_plain_order_and_a_poll_only_ballots():
    assert Ballot("ann", [2, 0]).ranking == Ranking.of([2, 0])
    for weight in (-1.0, float("nan"), "1", True, 1e308):
        with pytest.raises(InvalidInput, match="weight of rater 'ann'"):
            Ballot("ann", [0], weight)
    assert type(Ballot("ann", [0], np.float32(0.5)).weight) is float
    with pytest.raises(InvalidInput, match="rater of a ballot must be a text, found 3"):
        Ballot(3, [0])
    for ballots in ((), Ballot("ann", [0]), [Ranking.of([0])], 3, None, itertools.count()):
        with pytest.raises(InvalidInput, match=r"a poll must (be a list of ballots|have at most)"):
            Poll(ballots)


def test_positions_must_be_on_the_slate():
    with pytest.raises(InvalidInput, match="position 5 is not on a slate of 5"):
        Ranking.of([5]).check(5)
    with pytest.raises(InvalidInput, match="empty slate"):
        Ranking.no_difference().check(0)
    for among in ((), 5, ((0, 1),), itertools.count()):
        with pytest.raises(InvalidInput):
            Ranking(among=among)
    with pytest.raises(InvalidInput, match="not among the positions shown"):
        Ranking(((1,),), among=(0, 2))
    for m in (None, 2.0, True, "3", float("nan"), 10**12, 10**5000):
        with pytest.raises(InvalidInput, match="a slate must have a whole number of candidates"):
            Ranking.of([0]).check(m)


@pytest.mark.parametrize("top", [0, 4, -1, 1.5, True])
def test_top_must_be_a_number_of_places(top):
    with pytest.raises(InvalidInput, match="the best k of 3 needs k from 1 to 3"):
        Ranking.from_values([1.0, 2.0, 3.0], top=top)


class Broken:
    """An object that neither NumPy nor `repr` can read."""

    def __array__(self, *_, **__):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([[1.0]], r"found shape \(1, 1\)"),
        ([], r"found shape \(0,\)"),
        ([0.0, np.nan], "found nan at position 1"),
        ([np.inf], "found inf at position 0"),
        (["a"], "sequence of real numbers"),
        (["1", "2"], "real numbers"),
        (np.ones(2) * 1j, "real numbers"),
        ([10**400], "real numbers"),
        (None, "must be"),
        ((n for n in range(3)), "real numbers"),
        (nested(5000), "x0 must be a sequence of numbers, found a value of type list"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), "x0 must not have masked numbers"),
        (Broken(), "x0 must be a sequence of numbers, found a value of type Broken"),
    ],
)
def test_a_bad_vector_is_refused_in_one_sentence(x, words):
    with pytest.raises(InvalidInput, match=words):
        as_vector(x, "x0")


def test_an_array_without_masked_numbers_is_a_vector():
    assert as_vector(np.ma.masked_array([1.0, 2.0], [False, False]), "x0").tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "data",
    [
        *({}, {"order": 3}, {"ballots": [{}]}, {"order": [0], "among": 3}, [], None, "values"),
        {"ballots": [{"rater": "ann", "weight": 1, "ranking": [0]}]},
        {"order": [0], "among": [[0, 1]]},
    ],
)
def test_json_that_is_no_answer_is_refused(data):
    with pytest.raises(InvalidInput):
        answer_from_json(data)
