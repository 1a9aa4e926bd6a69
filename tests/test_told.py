"""Values told instead of an order, and scores that are given where an order is expected."""

import numpy as np
import pytest

from zorank import InvalidInput, Ranking, Run, Values, minimize, optimizers


@pytest.fixture
def run():
    run = Run(optimizers.make("auto", {"m": 6}), np.ones(3), seed=1)
    run.ask()
    return run


def told(run, *answer, **values):
    run.tell(*answer, **values)
    return run.rounds()[0].answer


@pytest.mark.parametrize(
    ("values", "order"),
    [
        ([3, 1, 2, 6, 5, 4], [1, 2, 0, 5, 4, 3]),
        ([0.5, 0.5, 0.1, 9.0, 7.0, 8.0], [2, [0, 1], 4, 5, 3]),
        ([3, np.nan, 1, np.inf, -np.inf, 1], [4, [2, 5], 0, [1, 3]]),
        (np.full(6, np.nan), [[0, 1, 2, 3, 4, 5]]),
        (np.arange(6), [0, 1, 2, 3, 4, 5]),
        ([True, False, True, True, True, True], [1, [0, 2, 3, 4, 5]]),
    ],
)
def test_values_are_ranked_lower_first_and_what_is_not_finite_last(run, values, order):
    assert told(run, values=values) == Ranking.of(order)


def test_told_values_give_the_run_of_minimize():
    def f(x):
        return float(np.sum(x**2))

    run = Run("zo-ranksgd", np.ones(3), seed=4)
    while run.points + len(run.ask()) <= 200:
        run.tell(values=[f(x) for x in run.ask()])
    result = minimize(f, np.ones(3), points=200, method="zo-ranksgd", seed=4)
    assert [r.answer for r in run.rounds()] == [r.answer for r in result.run.rounds()]
    np.testing.assert_array_equal(run.best(), result.x)


def test_a_comparison_with_the_first_uses_infinite_values():
    run = Run("scobo", np.ones(3))
    slate = run.ask()
    assert slate.question == "compare"
    values = np.full(len(slate), np.inf)
    values[1] = -np.inf
    run.tell(values=values)
    assert run.rounds()[0].answer.levels(len(slate)).tolist() == [1, 0] + [1] * (len(slate) - 2)


def test_a_slate_that_asks_for_values_gets_them():
    run = Run("zo-sgd", np.ones(3))
    values = np.arange(float(len(run.ask())))
    with pytest.raises(InvalidInput, match="finite"):
        run.tell(values=np.where(values > 0, values, np.nan))
    run.tell(values=values)
    assert run.rounds()[0].answer == Values(tuple(values))


@pytest.mark.parametrize(
    "scores",
    [
        [0.3, 0.1, 0.2, 0.5, 0.6, 0.9],
        np.array([0.3, 0.1, 0.2, 0.5, 0.6, 0.9]),
        [5.0, 4.0, 3.0, 2.0, 1.0, 0.0],
        [3.0, 1.0],
        [3, 1, 4, 1, 5, 2],
        [70, 20, 30, 10, 50, 60],
        [-1, 0, 1, 2, 3, 4],
        [True, False, True, False, True, True],
    ],
)
def test_scores_instead_of_an_order_are_refused_with_the_way_to_tell_them(run, scores):
    with pytest.raises(InvalidInput, match=r"run.tell\(values=\[…\]\)") as refused:
        run.tell(scores)
    assert len(str(refused.value).splitlines()) == 1
    assert run.rounds()[0].answer is None


@pytest.mark.parametrize("order", [[3, 3], [7], [[0.5, 1]], "abc", {1, 2}])
def test_other_bad_orders_are_refused_as_orders(run, order):
    with pytest.raises(InvalidInput) as refused:
        run.tell(order)
    assert "values" not in str(refused.value)


@pytest.mark.parametrize(
    ("order", "ranking"),
    [
        ([3, 1], Ranking.of([3, 1])),
        ([[3], [1, 2]], Ranking.of([3, [1, 2]])),
        ([5, 4, 3, 2, 1, 0], Ranking.of([5, 4, 3, 2, 1, 0])),
        (np.array([5, 4]), Ranking.of([5, 4])),
        ([], Ranking.no_difference()),
        (iter([2, 0]), Ranking.of([2, 0])),
        (Ranking.pair(2, 1), Ranking.pair(2, 1)),
        (Values((1.0,) * 6), Values((1.0,) * 6)),
    ],
)
def test_orders_stay_orders(run, order, ranking):
    assert told(run, order) == ranking


@pytest.mark.parametrize("values", [[1, 2, 3], np.ones((6, 1)), "a", ["x"] * 6, 3.0, object()])
def test_bad_values_are_refused(run, values):
    with pytest.raises(InvalidInput, match="values"):
        run.tell(values=values)


def test_an_answer_or_values_but_not_both(run):
    with pytest.raises(InvalidInput, match="found neither"):
        run.tell()
    with pytest.raises(InvalidInput, match="found both"):
        run.tell([0], values=[1] * 6)
