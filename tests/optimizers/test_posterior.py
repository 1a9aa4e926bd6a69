"""The model of answers: its probabilities are right, and it hears every kind of answer."""

import math
from itertools import permutations

import numpy as np
import pytest

from zorank import Ballot, Poll, Ranking
from zorank.optimizers.rank_process.comparisons import Comparisons
from zorank.optimizers.rank_process.hyperparameters import Hyperparameters
from zorank.optimizers.rank_process.inference import infer_hyperparameters
from zorank.optimizers.rank_process.inverse_roots import inverse_roots
from zorank.optimizers.rank_process.posterior import fit_posteriors
from zorank.optimizers.rank_process.propagation import LAPSE_RATE

FAR = 50.0 * (1 - np.eye(6))  # six candidates that know nothing of each other


def comparisons_of(*answers, slates=None):
    comparisons, raters = Comparisons.empty(), ()
    for n, answer in enumerate(answers):
        comparisons, raters = comparisons.add(
            answer, range(6) if slates is None else slates[n], raters
        )
    return comparisons, raters


def probability(comparisons, m=6):
    """Of these comparisons between candidates that any order suits, slips included: all orders."""
    total = 0.0
    for order in permutations(range(m)):
        right = np.array(order)[comparisons.better] < np.array(order)[comparisons.worse]
        total += np.where(right, 1 - LAPSE_RATE, LAPSE_RATE).prod()
    return total / math.factorial(m)


@pytest.mark.parametrize(
    ("answer", "ways"),
    [
        (Ranking.of([3, 1, 0, 2, 5, 4]), 720),
        (Ranking.of([2, 0, 4]), 120),
        (Ranking.of([5]), 6),
        (Ranking.best_worst(1, 3), 30),
        (Ranking.pair(0, 4), 2),
    ],
)
def test_answers_about_unknown_candidates_are_equally_likely(answer, ways):
    comparisons, _ = comparisons_of(answer)
    assert probability(comparisons) == pytest.approx(1 / ways, rel=0.2)  # but for slips
    posterior = fit_posteriors(FAR, comparisons, [Hyperparameters(noise=0.3)])[0]
    assert posterior.log_evidence == pytest.approx(math.log(probability(comparisons)), abs=0.03)


@pytest.mark.parametrize("alike", [2, 3, 6])
def test_the_evidence_of_no_difference_is_its_probability(alike):
    comparisons, _ = Comparisons.empty().add(Ranking.no_difference(), range(alike), ())
    found = Hyperparameters(noise=0.3, threshold=0.5)
    draws = np.random.default_rng(0).standard_normal((alike, 1_000_000))
    draws *= math.sqrt(1 + (found.noise * found.utility_sd) ** 2)
    close = (
        np.abs(draws[comparisons.better] - draws[comparisons.worse])
        < found.threshold * found.utility_sd
    )
    posterior = fit_posteriors(FAR[:alike, :alike], comparisons, [found])[0]
    assert posterior.log_evidence == pytest.approx(math.log(close.all(axis=0).mean()), abs=0.06)


def test_no_difference_implies_similar_utility():
    comparisons, _ = comparisons_of(Ranking.no_difference())
    doubts = [
        fit_posteriors(FAR, comparisons, [Hyperparameters(noise=0.05, threshold=t)])[0].difference(
            FAR[0], FAR[1], 50
        )[1]
        for t in (0.1, 3.0)
    ]
    assert doubts[0] < 0.2 < 1.2 < doubts[1]


@pytest.mark.parametrize("order", [[0, [1, 2], 3], [[0, 3], 1]])
def test_tied_candidates_are_compared_with_the_others_only(order):
    comparisons, _ = comparisons_of(Ranking.of(order))
    levels = Ranking.of(order).levels(6)
    assert not comparisons.tied.any()
    assert (levels[comparisons.better] < levels[comparisons.worse]).all()
    assert set(comparisons.better) | set(comparisons.worse) == set(range(6))


def test_no_difference_ties_everything_and_unnamed_is_not_tied():
    assert comparisons_of(Ranking.no_difference())[0].tied.all()
    assert not comparisons_of(Ranking.of([2, 0]))[0].tied.any()


def test_the_mean_follows_the_ranking():
    comparisons, _ = comparisons_of(Ranking.of([3, 1, 0, 2, 5, 4]))
    mean = fit_posteriors(FAR, comparisons, [Hyperparameters()])[0].mean(FAR)
    assert np.argsort(-mean).tolist() == [3, 1, 0, 2, 5, 4]


def test_similar_candidates_share_utility_and_distant_ones_are_uncertain():
    dists = np.array([[0.0, 2.0, 0.01], [2.0, 0.0, 2.0], [0.01, 2.0, 0.0]])
    comparisons, _ = comparisons_of(Ranking.pair(0, 1))
    posterior = fit_posteriors(dists, comparisons, [Hyperparameters(lengthscale=0.5)])[0]
    mean = posterior.mean(dists)
    assert mean[2] > 0.9 * mean[0] > 0 > mean[1]
    near = posterior.difference(dists[2], dists[0], 0.01)
    far = posterior.difference(np.full(3, 50.0), dists[0], 50.0)
    assert near[1] < 0.3 < 0.8 < far[1]


@pytest.fixture
def spread_out():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 40))
    x *= np.sqrt(40) / np.linalg.norm(x, axis=1, keepdims=True)
    dists = 1 - x @ x.T / 40
    np.fill_diagonal(dists, 0.0)
    return x[:, 0], dists, [range(i, i + 6) for i in range(0, 60, 6)], rng


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_the_noise_of_a_judge_is_found(spread_out, noise):
    u, dists, slates, rng = spread_out
    slates = 2 * slates  # every slate is looked at twice
    looks = rng.standard_normal((20, 6))
    answers = [
        Ranking.from_values(-u[list(s)] - noise * look)
        for s, look in zip(slates, looks, strict=True)
    ]
    comparisons, raters = comparisons_of(*answers, slates=slates)
    found = Hyperparameters(rater_factors=(1.0,) * len(raters))
    for _ in range(8):
        found, _ = infer_hyperparameters(dists, comparisons, found, None, lengthscale_sd=0.75)
    assert noise / 2.5 < found.noise < max(2.5 * noise, 0.25)


def test_a_careless_rater_counts_less(spread_out):
    u, dists, slates, rng = spread_out
    polls = [
        Poll(
            (
                Ballot("careful", Ranking.from_values(-u[list(s)])),
                Ballot("careless", Ranking.of(rng.permutation(6).tolist())),
            )
        )
        for s in slates
    ]
    comparisons, raters = comparisons_of(*polls, slates=slates)
    assert raters == ("careful", "careless")
    found = Hyperparameters(rater_factors=(1.0, 1.0))
    for turn in range(6):
        shifted = comparisons.select(comparisons.ballot < comparisons.ballot[-1] + 1 - turn % 2)
        found, _ = infer_hyperparameters(dists, shifted, found, None, lengthscale_sd=0.75)
    assert found.rater_factors[1] > 1.5 * found.rater_factors[0]


def test_ballots_of_weight_0_are_ignored():
    comparisons, raters = comparisons_of(
        Poll((Ballot("a", Ranking.of([1, 0])), Ballot("b", Ranking.of([0]), 0)))
    )
    assert raters == ("a",)
    assert len(comparisons) == 5


def test_one_contradictory_answer_does_not_reverse_the_posterior():
    orders = [Ranking.of([0, 1, 2, 3, 4, 5])] * 6
    before, after = (
        fit_posteriors(FAR, comparisons_of(*orders, *extra)[0], [Hyperparameters(noise=0.05)])[
            0
        ].mean(FAR)
        for extra in ([], [Ranking.of([5, 4, 3, 2, 1, 0])])
    )
    assert np.isfinite(after).all()
    assert int(np.argmax(before)) == int(np.argmax(after)) == 0


@pytest.mark.parametrize("size", [1, 5, 33, 130])
def test_inverse_roots_give_the_inverse_and_the_determinant(size):
    draws = np.random.default_rng(size).standard_normal((3, size, 2 * size))
    b = np.eye(size) + draws @ draws.mT
    roots, log_volumes = inverse_roots(b)
    assert roots.mT @ roots == pytest.approx(np.linalg.inv(b), abs=1e-12)
    assert log_volumes == pytest.approx(np.linalg.slogdet(b)[1])


def test_eigenvalues_that_rounding_took_below_one_are_taken_for_one():
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    rounded = vectors * [-1e-9, 1.0, 2.0, 8.0] @ vectors.T
    roots, log_volumes = inverse_roots(rounded[None])
    meant = vectors * [1.0, 1.0, 0.5, 0.125] @ vectors.T
    assert roots[0].T @ roots[0] == pytest.approx(meant)
    assert log_volumes == pytest.approx([math.log(16)])
