import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.strategies import graph, polls, slate_and_ranking
from zorank import Ballot, InvalidInput, Poll, Ranking, Values, rank_gradient, rank_weights
from zorank.estimators import comparisons, favourites


@given(slate_and_ranking())
def test_weights_are_the_degrees_of_the_graph(case):
    m, ranking = case
    adjacency = graph(ranking, m)
    weights, edges = comparisons(ranking, m)
    np.testing.assert_array_equal(weights, adjacency.sum(axis=0) - adjacency.sum(axis=1))
    assert edges == adjacency.sum()


@given(slate_and_ranking())
def test_weights_sum_to_zero(case):
    m, ranking = case
    assert rank_weights(ranking, m).sum() == 0


@given(slate_and_ranking(), st.data())
def test_relabelling_candidates_permutes_weights(case, data):
    m, ranking = case
    label = data.draw(st.permutations(range(m)))

    def relabel(groups):
        return tuple(tuple(label[p] for p in group) for group in groups)

    among = None if ranking.among is None else tuple(label[p] for p in ranking.among)
    renamed = Ranking(relabel(ranking.best), relabel(ranking.worst), among)
    np.testing.assert_array_equal(rank_weights(renamed, m)[label], rank_weights(ranking, m))


@given(st.integers(2, 12), st.data())
def test_top_k_has_the_closed_form_of_appendix_a(m, data):
    k = data.draw(st.integers(1, m))
    order = data.draw(st.permutations(range(m)))
    expected = np.full(m, float(k))
    for j, position in enumerate(order[:k], start=1):
        expected[position] = 2 * j - m - 1
    np.testing.assert_array_equal(rank_weights(list(order[:k]), m), expected)


@given(polls(6))
def test_a_poll_is_the_weighted_sum_of_its_graphs(poll):
    total = sum(b.weight * graph(b.ranking, 6) for b in poll.ballots)
    weights, edges = comparisons(poll, 6)
    np.testing.assert_allclose(weights, total.sum(axis=0) - total.sum(axis=1), atol=1e-9)
    assert edges == pytest.approx(total.sum())


def test_rank_gradient_is_equation_5():
    rng = np.random.default_rng(0)
    xi = rng.standard_normal((5, 3))
    ranking = Ranking.of([0, 2, 1])  # the DAG of the paper's figure 1, (1,3,2) counted from 1
    edges = [(i, j) for i in range(5) for j in range(5) if graph(ranking, 5)[i, j]]
    assert len(edges) == 9
    expected = sum(xi[j] - xi[i] for i, j in edges) / len(edges)
    np.testing.assert_allclose(rank_gradient(xi, ranking), expected)


def test_the_comparison_estimator_is_the_case_of_two():
    xi = np.array([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_array_equal(rank_gradient(xi, [1]), xi[0] - xi[1])  # f(x1) > f(x2): S = 1
    np.testing.assert_array_equal(rank_gradient(xi, [0]), xi[1] - xi[0])


def test_no_difference_gives_no_direction():
    np.testing.assert_array_equal(rank_gradient(np.ones((4, 2)), []), np.zeros(2))
    np.testing.assert_array_equal(rank_gradient(np.ones((4, 2)), [[0, 1, 2, 3]]), np.zeros(2))


def test_directions_must_be_a_matrix():
    with pytest.raises(InvalidInput, match=r"\(m, d\) array"):
        rank_gradient(np.ones(3), [0])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Ranking.of([2]), (2,)),
        (Ranking.of([[1, 3], 0]), (1, 3)),
        (Ranking.no_difference(), (0, 1, 2, 3)),
        (Ranking.of([], worst=[1]), (0, 2, 3)),
        (Ranking.pair(3, 0), (3,)),
        (Values((3.0, 1.0, 1.0, 2.0)), (1, 2)),
        (Poll((Ballot("a", Ranking.of([0])), Ballot("b", Ranking.of([1]), 2.0))), (1,)),
        (Poll((Ballot("a", Ranking.of([0])), Ballot("b", Ranking.of([1])))), (0, 1)),
    ],
)
def test_favourites(answer, expected):
    assert favourites(answer, 4) == expected
