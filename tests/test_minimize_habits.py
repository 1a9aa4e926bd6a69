"""What people expect of `minimize` from SciPy and its relatives."""

import pickle

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
from scipy.sparse import csr_matrix

from zorank import InvalidInput, ReplayError, Run, minimize
from zorank.optimizers import Auto
from zorank.problems import sphere
from zorank.stores import MemoryStore

X0 = np.array([1.0, 2.0])


def shifted(x, target, scale=1.0):
    return scale * float(((x - target) ** 2).sum())


def test_finite_bounds_make_every_coordinate_a_unit():
    low, high = np.array([0, 1e3, -1e-3]), np.array([1, 9e3, 1e-3])
    target = low + (high - low) * [0.2, 0.7, 0.6]

    def f(x):
        return float((((x - target) / (high - low)) ** 2).sum())

    bounds = list(zip(low, high, strict=True))
    for seed in range(5):
        assert minimize(f, (low + high) / 2, bounds=bounds, points=900, seed=seed).fun < 1e-12


def test_units_do_not_matter():
    """A problem in other units gives the same search, up to rounding."""
    factor = np.array([1.0, 1000.0])
    f = lambda x: float(((x - [0.3, 0.6]) ** 2).sum())  # noqa: E731
    plain = minimize(f, [0.5, 0.5], bounds=[(0, 1)] * 2, points=120).x
    scaled = minimize(
        lambda x: f(x / factor), [0.5, 500.0], bounds=[(0, 1), (0, 1000)], points=120
    ).x
    np.testing.assert_allclose(scaled / factor, plain, rtol=1e-6)


@pytest.mark.parametrize(
    ("bounds", "sigma0"),
    [
        (None, 1.0),
        ((0, 10), 3.0),
        (([0, 0], [1, 10]), (0.3, 3.0)),
        (([0, 0], [1, np.inf]), (0.3, 1.0)),
        (([0, 0], [np.inf, np.inf]), 1.0),
    ],
)
def test_sigma0_follows_from_bounds(bounds, sigma0):
    assert Auto(bounds=bounds).sigma0 == pytest.approx(sigma0)


def test_sigma0_may_be_a_list():
    optimizer = minimize(sphere, X0, points=60, options={"sigma0": [0.1, 3]}).run.optimizer
    assert optimizer.sigma0 == (0.1, 3.0)
    for wrong in ([1.0], [1.0, 2.0, 3.0], [1.0, -1.0], []):
        with pytest.raises(InvalidInput, match="sigma0"):
            minimize(sphere, X0, options={"sigma0": wrong})


def test_a_bounded_run_of_an_older_version_keeps_its_sigma0():
    store, bounds = MemoryStore(), [(-5, 5)] * 2
    old = {"bounds": bounds, "options": {"sigma0": 1.0}}  # what older versions stored
    minimize(sphere, X0, points=60, store=store, name="a", **old)
    rest = minimize(sphere, X0, points=150, store=store, name="a", bounds=bounds)
    np.testing.assert_array_equal(rest.x, minimize(sphere, X0, points=150, **old).x)


@pytest.mark.parametrize("worst", [np.nan, np.inf])
def test_infinite_values_and_nan_are_ranked_last(worst):
    f = lambda x: float(x @ x) if x[0] > 0.5 else worst  # noqa: E731
    result = minimize(f, X0, points=600)
    assert result.fun == pytest.approx(0.25, abs=1e-2)
    assert all(np.isfinite(row["value"]) for row in result.history if "value" in row)


def test_nan_is_ranked_after_infinity():
    values = iter([np.nan, np.inf, 1.0, -np.inf, 0.0])
    run = minimize(lambda x: next(values), X0, points=5, m=5, method="zo-ranksgd").run
    assert run.rounds()[0].answer.best == ((3,), (4,), (2,), (1,), (0,))


def test_a_function_without_finite_values_is_no_success():
    result = minimize(lambda x: np.nan, X0, points=60)
    assert not result.success
    assert "no finite value" in result.message


def test_values_of_a_method_that_is_told_values_stay_finite():
    f = lambda x: float(x @ x) if x[0] > 0.5 else np.nan  # noqa: E731
    result = minimize(f, X0, points=60, method="zo-sgd", options={"mu": 1.0})
    assert np.isfinite(result.x).all()


def test_patience_and_xtol_stop():
    assert minimize(sphere, X0).points > 2900
    result = minimize(sphere, X0, patience=5)
    assert result.points < 2900
    assert result.success
    assert "no better value in 5 rounds" in result.message
    result = minimize(sphere, X0, xtol=1e-6)
    assert result.points < 500
    assert "xtol" in result.message
    assert np.abs(result.x).max() < 1e-5


@pytest.mark.parametrize("worst", [np.nan, np.inf])
def test_patience_ends_where_no_value_is_finite(worst):
    result = minimize(lambda x: worst, X0, patience=3)
    assert (len(result.history), result.success) == (4, False)
    assert "no better value in 3 rounds" in result.message


def test_patience_waits_for_a_feasible_candidate_and_for_values_that_are_not_recorded():
    result = minimize(sphere, X0, points=60, patience=1, constraints=lambda x: False)
    assert "limit of 60 points" in result.message
    store = MemoryStore()
    settings = {"store": store, "name": "a", "record_values": False}
    before = minimize(sphere, X0, points=40, **settings).points
    assert minimize(sphere, X0, points=60, patience=1, **settings).points > before


def test_a_constraint_may_have_a_sparse_matrix():
    dense, sparse = (
        minimize(sphere, X0, points=60, constraints=LinearConstraint(matrix, 0.5, 9))
        for matrix in (np.eye(X0.size), csr_matrix(np.eye(X0.size)))
    )
    np.testing.assert_array_equal(dense.x, sparse.x)


def test_a_resumed_run_stops_at_the_same_round():
    store = MemoryStore()
    whole = minimize(sphere, X0, patience=5).points
    for points in (20, whole, 3000):
        rest = minimize(sphere, X0, points=points, store=store, name="a", patience=5)
    assert rest.points == whole


def test_a_run_that_xtol_stopped_is_complete():
    store = MemoryStore()
    whole = minimize(sphere, X0, xtol=1e-2, store=store, name="a")
    again = minimize(sphere, X0, xtol=1e-2, store=store, name="a")
    assert (again.points, again.message) == (whole.points, whole.message)
    finer = minimize(sphere, X0, xtol=1e-4, store=store, name="a")
    assert finer.points == minimize(sphere, X0, xtol=1e-4).points > whole.points


def test_infinite_numbers_of_constraints_are_compared_with_their_bounds():
    assert minimize(sphere, X0, points=30, constraints=lambda x: np.inf).success
    below = NonlinearConstraint(lambda x: -np.inf, -np.inf, 5)
    assert minimize(sphere, X0, points=30, constraints=below).success
    assert not minimize(sphere, X0, points=30, constraints=lambda x: -np.inf).success
    assert not minimize(sphere, X0, points=30, constraints=lambda x: np.nan).success


def test_a_constraint_cannot_change_the_result():
    def feasible(x):
        x -= 1e-3
        return True

    np.testing.assert_array_equal(
        minimize(sphere, X0, points=60, constraints=feasible).x, minimize(sphere, X0, points=60).x
    )


@pytest.mark.process
def test_workers_change_nothing():
    plain = minimize(sphere, X0, points=60).x
    np.testing.assert_array_equal(minimize(sphere, X0, points=60, workers=2).x, plain)


def test_args_follow_the_first_argument():
    result = minimize(shifted, X0, points=400, args=(np.array([3.0, 4.0]), 2.0))
    np.testing.assert_allclose(result.x, [3, 4], atol=1e-3)


CONSTRAINTS = [
    lambda x: x[0] - 1,
    lambda x: bool(x[0] >= 1),
    [lambda x: x - [1, -5]],
    {"type": "ineq", "fun": lambda x, low: x[0] - low, "args": (1,)},
    NonlinearConstraint(lambda x: x[0], 1, np.inf),
    LinearConstraint([[1, 0]], 1, np.inf),
]


@pytest.mark.parametrize("constraints", CONSTRAINTS)
def test_constraints(constraints):
    seen = []

    def f(x):
        seen.append(x)
        return sphere(x)

    result = minimize(f, [-3.0, 2.0], points=900, constraints=constraints)
    np.testing.assert_allclose(result.x, [1, 0], atol=0.05)
    assert result.success
    assert min(x[0] for x in seen) >= 1  # f is called for feasible candidates only


def test_an_equality():
    line = {"type": "eq", "fun": lambda x: x[0] + x[1] - 1}
    result = minimize(sphere, X0, points=900, constraints=line)
    assert abs(result.x.sum() - 1) < 1e-3


def test_an_infeasible_result_is_no_success():
    result = minimize(sphere, X0, points=60, constraints=lambda x: -1 - x @ x)
    assert not result.success
    assert "x violates the constraints by 1" in result.message


def test_constraints_and_maximize():
    f = lambda x: float(x.sum())  # noqa: E731
    result = minimize(f, X0, points=600, constraints=lambda x: 4 - x @ x, maximize=True)
    assert result.fun == pytest.approx(np.sqrt(8), abs=0.01)


def two_valleys(x):
    return float(min(((x - 3) ** 2).sum(), 1 + ((x + 3) ** 2).sum()))


def test_starts():
    bounds = [(-5, 5)] * 2
    result = minimize(two_valleys, [-3.0, -3.0], points=2000, bounds=bounds, starts=8)
    assert result.fun < 1e-3
    assert 1800 < result.points <= 2000
    assert "best of 8 starts" in result.message
    again = minimize(two_valleys, [-3.0, -3.0], points=2000, bounds=bounds, starts=8)
    np.testing.assert_array_equal(again.x, result.x)


def test_starts_are_stored_by_their_names():
    store = MemoryStore()
    minimize(sphere, X0, points=300, starts=3, store=store, name="a")
    assert [run.name for run in store.runs()] == ["a", "a-start-1", "a-start-2"]


def test_a_result_has_the_names_of_scipy_and_can_be_pickled():
    result = minimize(lambda x: sphere(x), X0, points=100)
    copy = pickle.loads(pickle.dumps(result))
    assert (copy.nfev, copy.nit) == (result.points, result.rounds)
    assert copy.fun == result.fun == sphere(copy.x)
    assert (copy.success, copy.message) == (True, result.message)
    assert copy.history == result.history
    assert str(copy) == str(result)


def test_callbacks_in_the_manner_of_scipy():
    seen = []

    def intermediate(intermediate_result):
        seen.append(intermediate_result.fun)

    def point(xk):
        seen.append(xk)
        raise StopIteration

    minimize(sphere, X0, points=20, callback=intermediate)
    result = minimize(sphere, X0, points=100, callback=point)
    assert [type(found) for found in seen] == [float, float, float, np.ndarray]
    assert "callback" in result.message


def test_a_vectorized_objective_gets_the_feasible_candidates():
    shapes = []

    def f(x):
        shapes.append(x.shape)
        return (x**2).sum(axis=1)

    constraint = lambda x: x[0] - 0.3  # noqa: E731
    found = minimize(f, X0, points=200, constraints=constraint, vectorized=True)
    one_by_one = minimize(sphere, X0, points=200, constraints=constraint)
    np.testing.assert_array_equal(found.x, one_by_one.x)
    assert found.success
    assert sum(m for m, _ in shapes) < found.points
    assert {d for _, d in shapes} == {X0.size}


def test_settings_of_a_run():
    assert Run("auto", X0, options={"m": 9}).optimizer.m == 9
    with pytest.raises(InvalidInput, match="no setting of auto named 'mm'"):
        Run("auto", X0, options={"mm": 9})
    store = MemoryStore()
    Run("auto", X0, options={"m": 9}, store=store, name="a")
    with pytest.raises(ReplayError, match="m is 9 there"):
        Run("auto", X0, store=store, name="a")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"patience": 0}, "patience must be a whole number"),
        ({"xtol": -1}, "xtol must be a finite number above 0"),
        ({"args": 3}, "args must be a tuple"),
        ({"starts": 0}, "starts must be a whole number from 1"),
        ({"workers": 0}, "workers must be a whole number from 1"),
        ({"workers": 2, "executor": 3}, "executor"),
        ({"workers": 2, "vectorized": True}, "cannot use workers, because it takes all"),
        ({"f": lambda x: x[0], "vectorized": True}, "found 2; each row of its argument is one"),
        ({"constraints": 3}, "constraints must be a list of functions"),
        ({"constraints": [3]}, "a constraint must be a function"),
        ({"constraints": {"type": "less", "fun": sphere}}, "'eq' or 'ineq'"),
        ({"constraints": Bounds([0, 0], [1, 1])}, "are given with bounds="),
        ({"starts": 31}, "starts must be at most points"),
        ({"constraints": lambda x: "no"}, "a constraint must return"),
        ({"constraints": LinearConstraint(np.ones((2, 5)), 0, 1)}, "must have 2 columns, one"),
        ({"constraints": LinearConstraint([1, 1, 1], 0, 1)}, "must have 2 columns, one"),
        ({"constraints": LinearConstraint(csr_matrix(np.ones((1, 5))), 0, 1)}, "2 columns, one"),
        (
            {"constraints": NonlinearConstraint(lambda x: x, [0, 0, 0], 1)},
            r"numbers of shape \(2,\), but its bounds have shapes \(3,\) and \(\)",
        ),
        ({"constraints": NonlinearConstraint(sphere, "low", 1)}, "a bound of a constraint must"),
        (
            {"constraints": {"type": "ineq", "fun": sphere, "args": 5}},
            "args must be a tuple of further arguments of a constraint, found 5",
        ),
        ({"x0": None}, "minimize needs a start"),
        ({"deadline": 3}, "`deadline` requires"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        minimize(**{"f": sphere, "x0": X0, "points": 30, **arguments})
