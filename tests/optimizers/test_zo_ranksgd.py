"""The algorithms line by line, and the paper's numbers on the sphere."""

import numpy as np
import pytest

from zorank import Ranking, Run, minimize, optimizers, rank_gradient, rng
from zorank.problems import sphere


def test_algorithm_1_is_a_plain_step():
    x0 = np.array([1.0, -2.0, 0.5])
    run = Run(
        optimizers.make("zo-ranksgd", {"m": 4, "step": 0.3, "mu": 0.1, "line_search": 0}), x0
    )
    xi = (np.asarray(run.ask()) - x0) / 0.1
    run.tell([2, 0])
    np.testing.assert_allclose(run.best(), x0 - 0.3 * rank_gradient(xi, [2, 0]), rtol=1e-12)


def test_step_and_radius_decay_with_every_estimate():
    options = {"step": 1.0, "mu": 0.1, "line_search": 0, "step_decay": 0.5, "mu_decay": 0.5}
    run = Run(optimizers.make("zo-ranksgd", {"m": 4, **options}), np.zeros(2), seed=3)
    for t in range(4):
        xi = rng.for_round(3, t).standard_normal((4, 2))
        before, slate = run.best(), run.ask()
        np.testing.assert_allclose(np.asarray(slate), before + 0.1 * 0.5**t * xi)
        run.tell([0, 1])
        np.testing.assert_allclose(run.best(), before - 0.5**t * rank_gradient(xi, [0, 1]))


def test_algorithm_2_searches_from_the_first_shrunken_step_and_counts_x():
    x0 = np.array([1.0, -2.0])
    options = {"m": 4, "step": 2.0, "mu": 0.1, "line_search": 4, "gamma": 0.5}
    run = Run(optimizers.make("zo-ranksgd", options), x0)
    xi = (np.asarray(run.ask()) - x0) / 0.1
    run.tell([3, 1, 0, 2])
    g = rank_gradient(xi, [3, 1, 0, 2])
    slate = run.ask()
    assert slate.question == "best"
    expected = [x0, x0 - 1.0 * g, x0 - 0.5 * g, x0 - 0.25 * g]
    np.testing.assert_allclose(np.asarray(slate), expected, rtol=1e-12)
    run.tell([2])
    np.testing.assert_allclose(run.best(), x0 - 0.5 * g)
    assert run.ask().question == "rank"


def test_a_search_that_ties_with_x_stays_at_x():
    run = Run("zo-ranksgd", np.ones(3))
    run.ask()
    run.tell([0])
    run.ask()
    run.tell([[2, 0]])
    np.testing.assert_array_equal(run.best(), np.ones(3))


def test_no_difference_widens_the_radius():
    run = Run(optimizers.make("zo-ranksgd", {"mu": 0.1, "widen": 2.0}), np.zeros(2))
    for widened in range(3):
        radius = np.asarray(run.ask()) / rng.for_round(0, widened).standard_normal((10, 2))
        np.testing.assert_allclose(radius, 0.1 * 2.0**widened)
        run.tell([])
    assert run.history[-1]["radius"] == pytest.approx(0.8)


def memory_run(**options):
    settings = {"m": 5, "step": 1.0, "mu": 0.1, "gamma": 0.5, **options}
    return Run(optimizers.make("zo-ranksgd-memory", settings), np.array([1.0, -2.0]))


def test_algorithm_3_shows_m_points_x_the_challenger_and_m_minus_2_steps():
    run = memory_run()
    x, first = run.best(), np.asarray(run.ask())
    run.tell([2, 4])
    g = rank_gradient((first - x) / 0.1, [2, 4])
    expected = [x, first[2], x - g, x - 0.5 * g, x - 0.25 * g]
    np.testing.assert_allclose(np.asarray(run.ask()), expected, rtol=1e-12)


def test_algorithm_3_averages_directions_until_x_moves():
    run = memory_run()
    x, directions = run.best(), []
    for answer in ([2, 4], [0, 1, 3], [4]):
        xi = (np.asarray(run.ask()) - x) / 0.1
        run.tell(answer)
        directions.append(rank_gradient(xi, answer))
        search = np.asarray(run.ask())
        np.testing.assert_allclose(search[2], x - np.mean(directions, axis=0), rtol=1e-10)
        run.tell([0])  # x* stays
    run.ask()
    run.tell([1])
    best_step = run.ask()[3]
    run.tell([3])
    np.testing.assert_array_equal(run.best(), best_step)
    assert run.state.estimates == 0
    assert run.state.memory is None


def test_algorithm_3_keeps_its_memory_through_no_difference():
    run = memory_run()
    run.ask()
    run.tell([0, 1])
    run.ask()
    run.tell([0])
    memory = run.state.memory
    run.ask()
    run.tell(Ranking.no_difference())
    assert run.ask().question == "rank"
    np.testing.assert_array_equal(run.state.memory, memory)
    assert run.history[-1]["radius"] == pytest.approx(0.15)


def mean_value(points, **options):
    values = []
    for seed in range(10):
        x0 = np.random.default_rng(seed).standard_normal(100)
        result = minimize(
            sphere, x0, points, "zo-ranksgd", seed=seed, options=options, vectorized=True
        )
        values.append(result.fun)
    return np.mean(values)


def test_the_sphere_of_the_paper_at_3000_points():
    # 10 + line search 5, γ = .1; measured 1.5e-3.
    settings = {"m": 10, "line_search": 5, "gamma": 0.1, "step": 5.0, "mu": 1e-3}
    assert mean_value(3000, **settings) <= 1e-2


def test_more_ranked_beats_more_shown_as_in_the_papers_figure():
    # η = 50, μ = .01, l = 5, γ = .1, at equal points and at equal rounds (50 of each).
    shared = {"step": 50.0, "mu": 0.01, "line_search": 5, "gamma": 0.1}
    at_points = {mk: mean_value(2100, m=mk[0], k=mk[1], **shared) for mk in [(10, 10), (100, 1)]}
    assert at_points[10, 10] < at_points[100, 1]
    rounds = 50
    at_rounds = {
        (m, k): mean_value(rounds * (m + 5), m=m, k=k, **shared)
        for m, k in [(10, 1), (10, 10), (100, 1), (100, 10), (100, 100)]
    }
    assert at_rounds[100, 100] < at_rounds[10, 10] < at_rounds[10, 1]
    assert at_rounds[100, 100] < at_rounds[100, 10] < at_rounds[100, 1]
    assert at_rounds[10, 10] < at_rounds[100, 1]
