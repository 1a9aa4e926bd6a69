import itertools
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import Bounds

from zorank import InvalidInput, ReplayError, Run, minimize
from zorank.minimize import Result
from zorank.optimizers import ZORankSGD
from zorank.problems import rosenbrock, sphere
from zorank.stores import MemoryStore


@pytest.fixture
def x0():
    return np.random.default_rng(0).standard_normal(10)


def test_it_minimises(x0):
    result = minimize(sphere, x0, points=1500)
    assert result.fun == sphere(result.x) < 1e-20
    assert result.success
    assert 1480 <= result.points <= 1500
    assert result.rounds == len(result.history) == 132
    assert result.history[-1]["points"] == result.points
    assert "1500" in result.message


def test_the_history_has_one_row_a_round_that_one_can_plot(x0):
    history = minimize(sphere, x0, points=300).history
    assert [row["points"] for row in history[:3]] == [11, 24, 35]
    best = [row["best"] for row in history]
    assert best == sorted(best, reverse=True)
    assert all(row["value"] >= row["best"] for row in history)


def test_it_maximises(x0):
    result = minimize(lambda x: 3 - sphere(x), x0, points=1500, maximize=True)
    assert 2.999 < result.fun <= 3
    assert result.history[-1]["best"] > result.history[0]["best"]


def test_the_same_seed_gives_the_same_run(x0):
    runs = [minimize(rosenbrock, x0, points=400, seed=s).x for s in (3, 3, 4)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_vectorised_and_executors_change_nothing(x0):
    plain = minimize(sphere, x0, points=300).x
    np.testing.assert_array_equal(minimize(sphere, x0, points=300, vectorized=True).x, plain)
    for pool in (ThreadPoolExecutor(2), ProcessPoolExecutor(2)):
        with pool as executor:
            result = minimize(sphere, x0, points=300, executor=executor)
        np.testing.assert_array_equal(result.x, plain)


def raise_stop_iteration(_):
    raise StopIteration


@pytest.mark.parametrize("stop", [lambda _: True, raise_stop_iteration])
def test_a_callback_may_stop_it(x0, stop):
    seen = []

    def callback(result):
        assert isinstance(result, Result)
        seen.append(result.points)
        return stop(result) if result.rounds == 3 else None

    result = minimize(sphere, x0, points=300, callback=callback)
    assert seen == [11, 24, 35]
    assert not result.success
    assert "callback" in result.message
    assert result.fun == sphere(result.x)


@pytest.mark.parametrize(
    "bounds",
    [[(0.5, 2.0)] * 10, Bounds(0.5, 2.0), Bounds([0.5] * 10, [2.0] * 10), [(0.5, None)] * 10],
)
def test_bounds_in_the_manner_of_scipy(x0, bounds):
    seen = []

    def f(x):
        seen.append(x)
        return sphere(x)

    result = minimize(f, x0, points=1500, bounds=bounds)
    assert np.min(seen) >= 0.5
    np.testing.assert_allclose(result.x, 0.5, atol=1e-6)


def test_a_stored_run_goes_on_where_it_was(x0):
    store = MemoryStore()
    minimize(sphere, x0, points=150, store=store, name="a")
    rest = minimize(sphere, x0, points=300, store=store, name="a")
    whole = minimize(sphere, x0, points=300)
    np.testing.assert_array_equal(rest.x, whole.x)
    assert [row["best"] for row in rest.history] == [row["best"] for row in whole.history]
    assert rest.points == whole.points


def test_a_function_that_fails_leaves_the_run_to_go_on(x0):
    store = MemoryStore()
    calls = []

    def fails_once(x):
        calls.append(1)
        if len(calls) == 37:
            raise RuntimeError("out of paint")
        return sphere(x)

    with pytest.raises(RuntimeError, match="out of paint"):
        minimize(fails_once, x0, points=300, store=store, name="a")
    rest = minimize(fails_once, x0, points=300, store=store, name="a")
    np.testing.assert_array_equal(rest.x, minimize(sphere, x0, points=300).x)


def test_options_m_and_k_reach_the_optimizer(x0):
    result = minimize(
        sphere, x0, points=60, method="zo-ranksgd", m=5, k=2, options={"line_search": 0}
    )
    assert result.run.optimizer.m == 5
    assert result.rounds == 12
    assert all(len(r.answer.named) == 2 for r in result.run.rounds() if r.answer)


def test_a_run_is_continued_only_for_its_purpose(x0):
    store = MemoryStore()
    minimize(sphere, x0, points=60, store=store, name="a")
    with pytest.raises(ReplayError, match="started with maximize=False"):
        minimize(sphere, x0, points=90, store=store, name="a", maximize=True)
    with pytest.raises(
        ReplayError, match=r"started with the function zorank\.problems\.functions:sphere"
    ):
        minimize(rosenbrock, x0, points=90, store=store, name="a")


def test_it_goes_on_with_a_run_that_a_person_began(x0):
    store = MemoryStore()
    run = Run("zo-ranksgd", x0, store=store, name="a")
    run.ask()
    run.tell([3])
    result = minimize(sphere, x0, points=60, method="zo-ranksgd", store=store, name="a")
    assert result.history[0]["best"] is None
    assert result.history[-1]["best"] > 0


def test_an_optimizer_of_ones_own(x0):
    result = minimize(sphere, x0, points=100, method=ZORankSGD(m=4, line_search=0))
    assert result.rounds == 25
    with pytest.raises(InvalidInput, match="m cannot be set on an optimizer object"):
        minimize(sphere, x0, method=ZORankSGD(), m=5)


def test_too_few_points_for_one_slate(x0):
    result = minimize(sphere, x0, points=5)
    assert not result.success
    assert "5 points are fewer" in result.message
    assert result.history == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"points": 0}, "points must be a whole number from 1"),
        ({"points": 1.5}, "points must be"),
        ({"method": "zo-rank"}, "did you mean zo-ranksgd"),
        ({"options": {"mo": 1}}, "there is no setting of auto named 'mo'"),
        ({"m": 3, "k": 4}, "k must be a whole number from 1 to 3"),
        ({"bounds": [(1, 0)] * 10}, "below its upper bound"),
        ({"bounds": [(0, 1)] * 3}, "for 3 coordinates, but candidates have 10"),
        ({"bounds": 3}, "pair for each coordinate"),
        ({"bounds": []}, "pair for each coordinate"),
        ({"bounds": [(0, 10**400)] * 10}, "pair for each coordinate"),
        ({"options": [1]}, "must map names to settings"),
        ({"options": {"sigma0": 10**400}}, "sigma0 must be"),
        ({"x0": [np.nan]}, "x0 must be finite"),
        ({"f": None}, "f must be a function that maps a candidate to a number, found None"),
        ({"f": "abs"}, "f must be a function"),
        ({"f": lambda x: np.ma.masked}, "must not have masked numbers"),
        ({"f": lambda x: itertools.count(), "vectorized": True}, "11 candidates, found more"),
        (
            {"f": lambda x: np.ma.masked_less(x[:, 0], 0), "vectorized": True},
            "the values of the objective must not have masked numbers",
        ),
        ({"x0": np.ma.masked_array([1.0, 2.0], [True, False])}, "x0 must not have masked"),
        ({"callback": 3}, "callback must be a function or None, found 3"),
        ({"callback": lambda result: result.x}, "must return True, False or None"),
        ({"store": 3}, "a store must be a URL, the path of a file or a store object, found 3"),
        ({"store": MemoryStore}, "a store must be"),
        ({"m": 10**6}, "m must be a whole number from 2 to 100000, found 1000000"),
        ({"m": 10**5000}, "found a value of type int that cannot be printed"),
        ({"method": "zo-ranksgd", "options": {"line_search": 10**9}}, "line_search must be"),
        ({"method": ["auto"]}, "frozen dataclass"),
        ({"maximize": "no"}, "maximize must be True or False, found 'no'"),
        ({"vectorized": "no"}, "vectorized must be True or False"),
        ({"bounds": itertools.repeat((0, 1))}, "for 11 coordinates, but candidates have 10"),
        ({"bounds": [("0", "1")] * 10}, "pair for each coordinate"),
        ({"bounds": np.ma.masked_array([(0, 1)] * 10, True)}, "must not have masked numbers"),
        ({"executor": ThreadPoolExecutor}, "executor must be a concurrent.futures.Executor"),
        ({"options": {"sigma0": 1j}}, "sigma0 must be a finite number"),
        ({"options": {"space": np.ones(2)}}, "space must be"),
        ({"options": {1: 2}}, "there is no setting of auto named 1"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(x0, arguments, words):
    store = MemoryStore()
    with pytest.raises(InvalidInput, match=words):
        minimize(**{"f": sphere, "x0": x0, "store": store, "name": "a", **arguments})
    for record in store.runs():
        assert len(store.rounds(record.name)) <= 1 + ("callback" in arguments)


@pytest.mark.parametrize("method", ["auto", "zo-ranksgd", "rank-ars", "cma-es", "zo-sgd", "scobo"])
def test_slates_of_ten_thousand_are_fine(x0, method):
    result = minimize(sphere, x0, points=10_000, method=method, m=10_000)
    assert result.points == 10_000


def test_a_progress_bar_is_drawn_when_wanted(x0, capsys):
    minimize(sphere, x0, points=100, progress=True)
    captured = capsys.readouterr()
    assert "90/100 points" in captured.err
    assert captured.out == ""


def test_a_result_prints_as_a_summary(x0):
    text = str(minimize(sphere, np.ones(100), points=30))
    assert "30" in text
    assert "..." in text
    assert len(text.splitlines()) == 5
