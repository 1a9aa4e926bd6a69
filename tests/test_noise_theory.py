"""The factors by which noise shortens the expected direction, against the oracles themselves."""

import numpy as np
import pytest

from zorank import InvalidInput, noise_theory, oracles
from zorank.estimators import rank_gradient
from zorank.slates import Cloud, Slate

D, MU, SLOPE, DRAWS = 2, 0.5, 2.0, 1500


def f(x):
    return SLOPE * np.asarray(x)[..., 0]


def alignment(oracle, m, seed=1):
    """Mean and standard error of ⟨∇f/|∇f|, g̃⟩ over answers of an oracle."""
    draws, along = np.random.default_rng(seed), []
    for _ in range(DRAWS):
        xi = draws.standard_normal((m, D))
        slate = Slate(Cloud(np.zeros(D), MU, xi))
        along.append(float(rank_gradient(xi, oracle.answer(slate))[0]))
    return np.mean(along), np.std(along) / np.sqrt(DRAWS)


EXACT = 2 / np.sqrt(np.pi)  # of full rankings, for every m


@pytest.mark.parametrize("m", [2, 6])
@pytest.mark.parametrize(
    ("oracle", "factor"),
    [
        (oracles.GaussianNoise(f, 0.5), noise_theory.gaussian_factor(0.5, MU, SLOPE)),
        (oracles.GaussianNoise(f, 3.0), noise_theory.gaussian_factor(3.0, MU, SLOPE)),
        (oracles.PlackettLuce(f, 0.3), noise_theory.plackett_luce_factor(0.3, MU, SLOPE)),
        (oracles.PlackettLuce(f, 2.0), noise_theory.plackett_luce_factor(2.0, MU, SLOPE)),
    ],
    ids=["gaussian .5", "gaussian 3", "plackett-luce .3", "plackett-luce 2"],
)
def test_noisy_values_shorten_the_direction_by_the_factor(oracle, factor, m):
    mean, error = alignment(oracle, m)
    assert abs(mean - factor * EXACT) < 4 * error
    assert 0 < factor < 1


@pytest.mark.parametrize("temperature", [0.01, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize(("mu", "slope"), [(1.0, 1.0), (0.1, 3.0)])
def test_plackett_luces_factor_against_a_fine_sum(temperature, mu, slope):
    # The midpoint rule for E[Δ tanh(Δ/2τ)]/E Δ with Δ = √2 μ|∇f| z, z = |N(0, 1)|.
    z = (np.arange(1_000_000) + 0.5) * 1e-5
    density = np.exp(-z * z / 2)
    difference = np.sqrt(2) * mu * slope * z
    known = (density * difference * np.tanh(difference / (2 * temperature))).sum()
    expected = known / (density * difference).sum()
    factor = noise_theory.plackett_luce_factor(temperature, mu, slope)
    assert factor == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("m", [2, 6])
@pytest.mark.parametrize("probability", [0.1, 0.5])
def test_random_swaps_shorten_the_direction_by_the_factor(m, probability):
    oracle = oracles.RandomSwaps(oracles.FunctionOracle(f), probability)
    mean, error = alignment(oracle, m)
    assert abs(mean - noise_theory.random_swaps_factor(probability, m) * EXACT) < 4 * error


@pytest.mark.parametrize("threshold", [0.5, 2.0])
def test_differences_that_are_not_seen_shorten_it_no_more_than_the_bound(threshold):
    bound = noise_theory.just_noticeable_bound(threshold, MU, SLOPE) * EXACT
    oracle = oracles.JustNoticeable(f, threshold)
    mean, error = alignment(oracle, 2)
    assert abs(mean - bound) < 4 * error
    mean, error = alignment(oracle, 6)
    assert mean - 4 * error > bound


def test_no_noise_is_the_factor_1_and_only_noise_is_0():
    assert noise_theory.gaussian_factor(0, 1, 1) == 1
    assert noise_theory.just_noticeable_bound(0, 1, 1) == 1
    assert noise_theory.random_swaps_factor(0, 5) == pytest.approx(1)
    assert noise_theory.random_swaps_factor(0.5, 2) == pytest.approx(0, abs=1e-12)
    assert noise_theory.random_swaps_factor(1, 2) == pytest.approx(-1)
    assert noise_theory.plackett_luce_factor(1e-6, 1, 1) == pytest.approx(1)
    assert noise_theory.plackett_luce_factor(1e6, 1, 1) < 1e-5


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (noise_theory.gaussian_factor, (-1, 1, 1), "sd must be a finite number, 0 or more"),
        (noise_theory.gaussian_factor, (1, 0, 1), "mu must be a finite number above 0"),
        (noise_theory.plackett_luce_factor, (0, 1, 1), "temperature must be"),
        (noise_theory.just_noticeable_bound, (1, 1, np.inf), "slope must be"),
        (noise_theory.random_swaps_factor, (2, 3), "probability must be from 0 to 1"),
        (noise_theory.random_swaps_factor, (0.1, 1), "whole numbers m ≥ 2"),
    ],
)
def test_wrong_arguments_are_refused(function, arguments, words):
    with pytest.raises(InvalidInput, match=words):
        function(*arguments)
