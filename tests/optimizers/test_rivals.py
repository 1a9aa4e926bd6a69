"""The rivals' own mathematics; what they share with every optimizer is in the contract suite."""

import numpy as np
import pytest

import zorank
from zorank import InvalidInput, Ranking, Run, optimizers, rng
from zorank.estimators import against_first
from zorank.optimizers.cma_es import Normals
from zorank.optimizers.scobo import sparse_direction
from zorank.oracles import ComparisonOracle
from zorank.problems import rosenbrock, sphere
from zorank.slates import Points, Slate
from zorank.types import Ballot, Poll, Values


def estimate(optimizer, x, f, seed=0):
    slate = optimizer.ask(optimizer.init(x), rng.for_round(seed, 0))
    values = np.array([f(row) for row in slate])
    return optimizer.tell(optimizer.init(x), slate, slate.answer_from(values)).direction


def test_zo_sgd_by_spread_does_not_know_the_unit_of_values():
    optimizer = optimizers.make("zo-sgd", {"m": 6, "mu": 0.1, "scale": "spread"})
    slate = optimizer.ask(optimizer.init(np.ones(3)), np.random.default_rng(0))
    values = np.random.default_rng(1).standard_normal(6)
    once, stretched = (optimizer.estimate(slate, Values(tuple(v))) for v in (values, 8 * values))
    assert once == pytest.approx(stretched)
    wider = optimizers.make("zo-sgd", {"m": 6, "mu": 0.2, "scale": "spread"})
    slate = wider.ask(wider.init(np.ones(3)), np.random.default_rng(0))
    assert wider.estimate(slate, Values(tuple(values))) == pytest.approx(once)
    level = optimizers.make("zo-sgd", {"m": 6, "scale": "spread", "baseline": "mean"})
    slate = level.ask(level.init(np.ones(3)), np.random.default_rng(0))
    assert level.estimate(slate, Values((0.1,) * 6)) is None  # whose mean is not quite .1


@pytest.mark.parametrize("baseline", ["point", "mean"])
def test_zo_sgd_estimates_the_gradient(baseline):
    x = np.array([1.0, -2.0, 0.5])
    optimizer = optimizers.make("zo-sgd", {"m": 20_000, "mu": 1e-6, "baseline": baseline})
    np.testing.assert_allclose(estimate(optimizer, x, sphere), 2 * x, atol=0.15)


def test_zo_sgd_needs_values_and_says_what_does_not():
    run = Run("zo-sgd", np.ones(3))
    run.ask()
    with pytest.raises(InvalidInput, match="use zo-ranksgd, the same descent from rankings"):
        run.tell([2, 0, 1])
    assert run.history == []


def test_scobo_asks_which_candidates_beat_the_first():
    slate = Slate(Points(np.arange(5.0)[:, None]), question="compare")
    answer = slate.answer_from(np.array([3.0, 9.0, 1.0, 2.0, 3.0]))
    assert answer == Ranking.of([[2, 3], [0, 4], [1]])
    assert against_first(answer, 5).tolist() == [0, 1, -1, -1, 0]


def test_comparisons_with_the_first_from_any_answer():
    assert against_first(Ranking.of([2]), 4).tolist() == [0, 0, -1, 0]
    assert against_first(Ranking.pair(1, 2), 3).tolist() == [0, 0, 0]
    assert against_first(Values((1.0, 0.0, 2.0)), 3).tolist() == [0, -1, 1]
    poll = Poll((Ballot("a", Ranking.of([0, 1]), 2.0), Ballot("b", Ranking.of([1, 0]))))
    assert against_first(poll, 3).tolist() == [0, 1, 3]


def test_a_judge_who_compares_answers_scobo():
    slate = optimizers.make("scobo", {"m": 5}).ask
    slate = slate(optimizers.make("scobo").init(np.ones(3)), rng.for_round(0, 0))
    judge = ComparisonOracle(lambda a, b: sphere(a) - sphere(b))
    expected = slate.answer_from(np.array([sphere(x) for x in slate]))
    assert judge.answer(slate) == expected


def test_scobo_points_uphill_with_length_one():
    x = np.array([3.0, 0.0, 0.0, -4.0])
    direction = estimate(optimizers.make("scobo", {"m": 4000, "mu": 1e-4}), x, sphere)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    np.testing.assert_allclose(direction, x / 5, atol=0.06)


def test_the_sparse_estimate_is_the_best_within_its_bounds():
    draws = np.random.default_rng(0)
    v = draws.standard_normal(30)
    for sparsity in (1, 3, 10):
        g = sparse_direction(v, sparsity)
        g = g / np.linalg.norm(g)
        assert np.abs(g).sum() <= np.sqrt(sparsity) * (1 + 1e-9)
        for _ in range(300):  # no other vector within the bounds is more in line with v
            other = draws.standard_normal(30) * (draws.random(30) < sparsity / 10)
            other /= max(np.linalg.norm(other), np.abs(other).sum() / np.sqrt(sparsity), 1e-9)
            assert other @ v <= g @ v + 1e-9
    np.testing.assert_array_equal(sparse_direction(v, 30), v)


def test_the_sparse_estimate_finds_the_coordinate_that_matters():
    x = np.zeros(200)
    x[7] = 1.0
    optimizer = optimizers.make("scobo", {"m": 60, "mu": 1e-3, "sparsity": 1})
    assert np.argmax(np.abs(estimate(optimizer, x, lambda y: y[7] ** 2))) == 7


def test_gld_fast_draws_from_balls_that_halve():
    optimizer = optimizers.make("gld-fast", {"m": 15, "radius": 4.0})
    x = np.ones(300)
    slate = optimizer.ask(optimizer.init(x), rng.for_round(0, 0))
    lengths = np.linalg.norm(np.asarray(slate) - x, axis=1)
    assert lengths[0] == 0
    balls = 4.0 * 2.0 ** (6 - np.arange(14.0))
    assert (lengths[1:] <= balls).all()
    assert (lengths[1:] > 0.9 * balls).all()  # in 300 dimensions nearly all of a ball is its rim


def test_gld_fast_halves_its_radius_when_it_was_published_to():
    optimizer = optimizers.make("gld-fast", {"m": 5, "radius": 8.0, "condition": np.e})
    run = Run(optimizer, np.ones(2))
    radii = []
    for _ in range(13):
        run.ask()
        run.tell([0])
        radii.append(run.history[-1]["radius"])
    after = int(np.ceil(2 * np.e))  # d · Q · ln Q
    assert radii[after - 2] == 8.0
    assert radii[after - 1] == 4.0
    assert radii[-1] == 2.0


def test_cma_es_is_pycma_driven_directly_with_the_same_draws():
    x0, seed = np.linspace(-1, 2, 12), 5
    res = zorank.minimize(
        rosenbrock, x0, points=600, method="cma-es", seed=seed, m=9, options={"sigma0": 0.5}
    )
    normals = Normals()
    options = {"popsize": 9, "randn": normals, "seed": np.nan, "verbose": -9}
    cma = pytest.importorskip("cma")  # whose import takes long
    direct = cma.CMAEvolutionStrategy(x0, 0.5, options)
    for n in range(600 // 9):
        normals.generator = rng.for_round(seed, n)
        population = direct.ask()
        direct.tell(population, [float(rosenbrock(x)) for x in population])  # values, not ranks
    assert res.x.tobytes() == direct.result.xfavorite.tobytes()
    assert res.fun < 15


@pytest.mark.parametrize("bounds", [[(1, 2)] * 3, [(0, None)] * 3, [(None, None)] * 3])
def test_cma_es_starts_within_its_bounds(bounds):
    res = zorank.minimize(sphere, [9.0, -1.0, 0.5], 900, "cma-es", bounds=bounds)
    assert res.fun == pytest.approx(3.0 if bounds[0][0] == 1 else 0.0, abs=1e-3)


def test_cma_es_leaves_the_global_generator_alone():
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    zorank.minimize(sphere, np.ones(3), points=30, method="cma-es")
    assert np.random.random() == expected  # noqa: NPY002


def test_cma_es_widens_when_nothing_can_be_told_apart():
    run = Run("cma-es", np.ones(4))
    run.ask()
    run.tell(Ranking.no_difference())
    assert run.history[-1]["radius"] == pytest.approx(0.45)
