import warnings

import numpy as np
import pytest
from scipy.optimize import Bounds, OptimizeResult, OptimizeWarning, minimize, rosen

import zorank
from zorank import InvalidInput
from zorank.integrations import scipy_method


def solve(f=rosen, x0=(1.3, 0.7), **given):
    return minimize(f, x0, method=scipy_method, **given)


def test_it_returns_the_usual_fields():
    calls = []
    result = solve(lambda x: calls.append(1) or rosen(x))
    assert type(result) is OptimizeResult
    assert result.success
    assert result.status == 0
    assert result.fun == rosen(result.x) < 1e-9
    assert result.nfev == len(calls) <= 3000
    assert result.nit > 10
    assert result.message == "stopped at the limit of 3000 evaluations"
    np.testing.assert_allclose(result.centre, [1, 1], atol=1e-3)


def test_it_is_zoranks_own_search():
    ours = zorank.minimize(rosen, [1.3, 0.7], points=500, seed=3, m=8)
    theirs = solve(options={"points": 501, "seed": 3, "m": 8})
    np.testing.assert_array_equal(theirs.centre, ours.x)
    assert theirs.nit == ours.rounds
    assert theirs.fun <= ours.fun


@pytest.mark.parametrize("bounds", [[(0, 0.5), (None, 0.2)], Bounds([0, -np.inf], [0.5, 0.2])])
def test_bounds(bounds):
    result = solve(x0=[0.1, 0.1], bounds=bounds)
    assert 0 <= result.x[0] <= 0.5
    assert result.x[1] <= 0.2
    assert result.fun < 0.31


def test_further_arguments_and_values_that_are_not_finite():
    def f(x, a, b):
        return np.nan if x[0] < 0 else np.inf if x[1] < 0 else (x[0] - a) ** 2 + (x[1] - b) ** 2

    assert solve(f, [2, 3], args=(0.5, 0.1)).fun < 1e-9
    assert solve(lambda x, a: (x - a) ** 2, 3, args=2.0, options={"maxfev": 300}).fun < 1e-6
    nowhere = solve(lambda x: np.nan, options={"maxfev": 50})
    assert not nowhere.success
    assert np.isnan(nowhere.fun)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"maxfev": 100}, "limit of 100 evaluations"),
        ({"maxfun": 100}, "limit of 100 evaluations"),
        ({"maxiter": 5}, "limit of 5 rounds"),
        ({"patience": 2}, "no better value in 2 rounds"),
        ({"xatol": 1e-3}, "radius of the search is below 0.001"),
    ],
)
def test_options_that_stop(options, words):
    result = solve(options=options)
    assert words in result.message
    assert result.success
    assert result.nfev <= options.get("maxfev", 3000)


def test_tol_and_settings_of_the_method():
    assert "below 0.01" in solve(tol=0.01).message
    small = solve(options={"method": "zo-ranksgd", "step": 0.1, "maxfev": 400})
    assert small.fun < rosen([1.3, 0.7])


def test_too_few_evaluations_are_no_success():
    result = solve(options={"maxfev": 3})
    assert not result.success
    assert result.nfev == 1
    assert "fewer than" in result.message


def test_unknown_options_give_scipys_warning():
    with pytest.warns(OptimizeWarning, match="Unknown solver options: eps, gtol") as caught:
        solve(options={"eps": 1e-8, "gtol": 1e-5, "maxfev": 50})
    assert caught[0].filename == __file__ or "scipy" in caught[0].filename


def test_derivatives_are_ignored_with_a_warning():
    with pytest.warns(RuntimeWarning, match=r"gradient information \(jac\)"):
        solve(lambda x: (rosen(x), 2 * x), jac=True, options={"maxfev": 50})
    with pytest.warns(RuntimeWarning, match=r"Hessian information \(hess\)"):
        solve(hess=lambda x: np.eye(2), options={"maxfev": 50})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(jac=False, options={"maxfev": 50})


def test_constraints_are_refused():
    with pytest.raises(InvalidInput, match="no constraints"):
        solve(constraints={"type": "ineq", "fun": lambda x: x[0]})


def test_callbacks_by_the_name_of_their_parameter():
    seen, results = [], []

    def stop_early(intermediate_result):
        results.append(intermediate_result)
        if len(results) == 4:
            raise StopIteration

    solve(callback=seen.append, options={"maxiter": 3})
    assert len(seen) == 3
    assert all(x.shape == (2,) for x in seen)
    stopped = solve(callback=stop_early)
    assert stopped.nit == 4
    assert not stopped.success
    assert stopped.status == 99
    assert results[-1].fun <= results[0].fun


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"maxfev": 0}, "whole number from 1"),
        ({"maxfev": 3, "points": 4}, "one option"),
        ({"patience": 1.5}, "patience must be"),
        ({"tol": "small"}, "tol must be"),
        ({"method": "no-such"}, "no optimizer named"),
        ({"m": 1}, "m must be"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(InvalidInput, match=words):
        solve(options=options)


def test_disp_prints_the_message(capsys):
    solve(options={"maxiter": 1, "disp": True})
    assert "limit of 1 rounds" in capsys.readouterr().out
