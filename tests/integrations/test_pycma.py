import cma
import numpy as np
import pytest

from zorank import InvalidInput
from zorank.integrations.pycma import EvolutionStrategy
from zorank.problems import rosenbrock, sphere


def strategy(dim=4, **options):
    return EvolutionStrategy(dim * [1.5], 0.5, {"seed": 1, "verbose": -9, **options})


def test_the_usual_loop_ends_at_the_minimum():
    es = strategy()
    while not es.stop():
        candidates = es.ask()
        es.tell(candidates, [rosenbrock(x) for x in candidates])
    assert es.stop()
    assert es.stop().keys() <= {"tolfun", "tolx"}
    result = es.result
    assert result.fbest == rosenbrock(result.xbest) < 1e-12
    assert rosenbrock(result.xfavorite) < 1e-10
    assert result.evaluations == es.countevals
    assert result.evals_best <= result.evaluations
    assert result.iterations == es.countiter
    assert result.stds.shape == (4,)


def test_the_names_are_those_of_pycma():
    theirs = cma.CMAEvolutionStrategy([1.0, 1.0], 0.5, {"verbose": -9})
    ours = EvolutionStrategy([1.0, 1.0], 0.5, {"verbose": -9})
    for name in ("ask", "tell", "stop", "optimize", "disp", "result", "mean", "sigma", "popsize"):
        assert hasattr(theirs, name), name
        assert hasattr(ours, name), name
    assert set(ours.result._fields) <= set(dir(theirs.result))
    for es in (theirs, ours):
        es.optimize(cma.ff.sphere, maxfun=300)
        assert es.result[0].tolist() == es.result.xbest.tolist()
        assert es.result.fbest == es.result[1] < 1e-3


def test_only_the_order_of_values_counts_until_the_end():
    plain, logarithmic = (strategy(tolfun=0, tolfunhist=0, maxiter=40) for _ in range(2))
    plain.optimize(sphere)
    logarithmic.optimize(lambda x: np.log(sphere(x)))
    np.testing.assert_array_equal(plain.mean, logarithmic.mean)


def test_solutions_may_come_in_another_order_and_some_may_be_missing():
    straight, mixed = strategy(), strategy()
    for _ in range(20):
        candidates = straight.ask()
        straight.tell(candidates, [sphere(x) for x in candidates])
        turned = mixed.ask()[::-1]
        mixed.tell(turned, [sphere(x) for x in turned])
    np.testing.assert_array_equal(straight.mean, mixed.mean)
    few = mixed.ask()[:3]
    mixed.tell(few, [3.0, np.nan, 1.0])
    answer = mixed.run.rounds()[-1].answer
    assert answer.levels(len(mixed.run.steps[-1].slate))[:4].tolist() == [1, 2, 0, -1]


def test_values_that_are_not_finite_are_last():
    es = strategy().optimize(lambda x: np.nan if x[0] < 0 else np.inf if x[1] < 0 else sphere(x))
    assert es.result.fbest < 1e-9


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"maxfevals": 50}, "maxfevals"),
        ({"maxiter": 5}, "maxiter"),
        ({"ftarget": 1e-3}, "ftarget"),
        ({"timeout": 0}, "timeout"),
        ({"tolx": 1e-3}, "tolx"),
        ({"tolfunhist": 1e-3, "tolfun": 0}, "tolfunhist"),
        ({"tolfun": 0, "tolfunhist": 0, "tolx": 0}, "tolx"),  # auto has converged
    ],
)
def test_termination(options, key):
    es = strategy(**options).optimize(sphere)
    assert key in es.stop()
    assert key in es.result.stop


def test_a_function_with_plateaus_stagnates():
    es = strategy(tolstagnation=30).optimize(lambda x: round(sphere(x)))
    assert es.stop() == {"tolstagnation": 30}


def test_options_of_pycma():
    es = strategy(popsize=9, bounds=[[0.5, 0.1, None, -2], None], verb_log=0)
    assert es.popsize == len(es.ask()) == 9
    es.optimize(sphere, iterations=60)
    assert es.countiter == 60
    np.testing.assert_allclose(es.result.xbest, [0.5, 0.1, 0, 0], atol=1e-3)
    with pytest.warns(UserWarning, match="no effect here: CMA_diagonal, tolfacupx"):
        strategy(CMA_diagonal=True, tolfacupx=1e4)
    assert strategy(method="cma-es").optimize(sphere, maxfun=2000).result.fbest < 1e-9


def test_a_seed_makes_it_reproducible_and_none_does_not():
    first, again, other, another = (
        EvolutionStrategy([1.0, 1.0], 0.5, {"seed": seed}).ask()[0].tolist()
        for seed in (5, 5, None, None)
    )
    assert first == again
    assert other != another


def test_progress_is_printed_as_in_pycma(capsys):
    seen = []
    strategy(verbose=1).optimize(sphere, iterations=5, callback=seen.append)
    assert len(seen) == 5
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Iterat #Fevals")
    assert len(lines) == 4
    strategy().optimize(sphere, iterations=2)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "options",
    [
        {"bounds": 3},
        {"bounds": [[1, 2], None]},
        {"bounds": [1, 0]},
        {"popsize": 1},
        {"tolfun": "small"},
        {"maxfevals": float("nan")},
        {"no_such": 1},
        {"seed": -1},
        {"method": "no-such"},
    ],
)
def test_bad_options_are_refused(options):
    with pytest.raises(InvalidInput):
        strategy(**options)


def test_bad_input_is_refused():
    es = strategy()
    candidates = es.ask()
    with pytest.raises(InvalidInput, match="one value for each solution"):
        es.tell(candidates, [1.0])
    with pytest.raises(InvalidInput, match="solution 0 is not a candidate of the last ask"):
        es.tell([x + 1 for x in candidates], range(len(candidates)))
    with pytest.raises(InvalidInput, match="popsize"):
        es.ask(3)
    with pytest.raises(InvalidInput, match="options must map"):
        EvolutionStrategy([1.0], 0.5, ["seed"])
    with pytest.raises(InvalidInput, match="sigma0"):
        EvolutionStrategy([1.0], -1)
    assert es.countiter == 0
