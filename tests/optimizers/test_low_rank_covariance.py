"""The covariance of auto in many dimensions, and its directions."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

from zorank import Run, rng
from zorank.experiments.large_problems import Rotated, cigar
from zorank.optimizers.auto import Auto
from zorank.optimizers.covariance import MAX_ORTHOGONAL_DIM, Full, learning_rates
from zorank.optimizers.covariance import orthogonal_directions as directions
from zorank.optimizers.covariance_choice import identity
from zorank.optimizers.low_rank_covariance import MERGE_EVERY, RANK, LowRank
from zorank.optimizers.quick_directions import quantiles
from zorank.problems import sphere

D = 600
M = 5


def learned(rounds, d=D, seed=0):
    """Return a covariance after rounds whose path is the sum of a fixed and a random direction."""
    draws = np.random.default_rng(seed)
    fixed = draws.standard_normal(d)
    covariance, rates = identity(d), learning_rates(d, M)
    for n in range(rounds):
        z = directions(M, d, rng.for_round(seed, n))
        v = draws.permutation(rates.covariance_weights)
        path = 3 * fixed + draws.standard_normal(d)
        covariance = covariance.update(z, covariance.transform(z), v, path, rates)
    return covariance, fixed


def matrix(covariance):
    return covariance.transform(np.eye(len(covariance.diagonal.scales))).T


def test_up_to_500_dimensions_it_is_a_matrix_and_beyond_a_few_directions():
    assert isinstance(identity(500), Full)
    assert isinstance(identity(501), LowRank)
    z = directions(M, D, rng.for_round(0, 0))
    np.testing.assert_array_equal(identity(D).transform(z), z)


def test_it_transforms_by_the_exponential():
    covariance, _ = learned(12 * MERGE_EVERY)
    assert covariance.logs.size == RANK
    np.testing.assert_allclose(covariance.axes @ covariance.axes.T, np.eye(RANK), atol=1e-12)
    exponent = (covariance.axes.T * covariance.logs) @ covariance.axes
    expected = covariance.diagonal.scales[:, None] * expm(exponent)
    np.testing.assert_allclose(matrix(covariance), expected, atol=1e-10)


def test_it_stretches_along_the_path():
    covariance, fixed = learned(12 * MERGE_EVERY)
    first = np.argmax(covariance.logs)
    assert covariance.logs[first] > 1
    assert abs(covariance.axes[first] @ fixed) > 0.9 * np.linalg.norm(fixed)
    assert (np.delete(covariance.logs, first) < 0.5).all()


def test_no_path_and_no_weights_change_nothing():
    before, _ = learned(2 * MERGE_EVERY)
    rates = learning_rates(D, M)
    z = directions(M, D, rng.for_round(1, 0))
    after = LowRank(before.diagonal, before.axes, before.logs, np.zeros(D), before.moment)
    for _ in range(MERGE_EVERY):
        after = after.update(z, z, np.zeros(M), np.zeros(D), rates)
    np.testing.assert_allclose(matrix(after), matrix(before), rtol=1e-9, atol=1e-12)


def test_an_update_leaves_the_earlier_value_as_it_was():
    before, _ = learned(MERGE_EVERY + 2)
    kept = [np.copy(a) for a in (before.axes, before.logs, before.path, before.moment)]
    z, rates = directions(M, D, rng.for_round(1, 0)), learning_rates(D, M)
    after = before
    for _ in range(MERGE_EVERY):
        after = after.update(z, z, rates.covariance_weights, z[0], rates)
    assert not np.array_equal(after.axes, before.axes)
    for array, copy in zip(
        (before.axes, before.logs, before.path, before.moment), kept, strict=True
    ):
        np.testing.assert_array_equal(array, copy)


def race(transform, rounds, d=D):
    run = Run(Auto(m=6), np.ones(d), seed=2)
    f = Rotated(cigar, d, 0)
    for _ in range(rounds):
        slate = run.ask()
        run.tell(slate.answer_from(transform(f(np.asarray(slate)))))
    return run


def test_undo_resume_and_monotone_transforms_are_exact():
    run = race(np.log, 3 * MERGE_EVERY)
    assert run.state.covariance.logs.size
    after = np.asarray(run.ask()).tobytes()
    assert np.asarray(race(np.sqrt, 3 * MERGE_EVERY).ask()).tobytes() == after
    answers = [record.answer for record in run.rounds()[-MERGE_EVERY - 2 :] if record.answer]
    run.undo(len(answers))
    for answer in answers:
        run.ask()
        run.tell(answer)
    assert np.asarray(run.ask()).tobytes() == after


# directions in very many dimensions


def test_the_quantiles_are_those_of_a_normal_distribution():
    table = quantiles()
    assert table.mean() == pytest.approx(0, abs=1e-12)
    assert np.mean(table**2) == pytest.approx(1)
    assert np.mean(table**4) == pytest.approx(3, abs=0.01)
    assert np.quantile(table, 0.975) == pytest.approx(1.95996, abs=1e-3)


def test_quick_directions_have_one_length_and_are_nearly_orthogonal():
    d = MAX_ORTHOGONAL_DIM + 50_000
    z = directions(4, d, rng.for_round(0, 0))
    assert np.linalg.norm(z, axis=1) == pytest.approx(np.full(4, math.sqrt(d)))
    cosines = z @ z.T / d - np.eye(4)
    assert np.abs(cosines).max() < 0.03
    np.testing.assert_array_equal(z, directions(4, d, rng.for_round(0, 0)))
    assert not np.array_equal(z, directions(4, d, rng.for_round(0, 1)))


def test_it_descends_in_twenty_thousand_dimensions():
    run = Run(Auto(m=8, sigma0=0.1), np.ones(20_000), seed=0)
    before = sphere(run.best())
    for _ in range(25):
        slate = run.ask()
        run.tell(slate.answer_from(sphere(np.asarray(slate))))
    assert sphere(run.best()) < 0.996 * before
    assert run.state.covariance.axes.shape[0] <= RANK
