"""The quadratic model of rankings sees orders only, and finds quadratic functions from them."""

import numpy as np
import pytest

from zorank.optimizers.rank_model import RankModel, coefficients, fit, ranked_points, recent


def slates_of(f, d, n=14, m=7, seed=0):
    draws = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        points = 0.5 * draws.standard_normal((m, d))
        found.append(ranked_points(points, np.array([f(x) for x in points]), 1.0))
    return tuple(found)


def quadratic(x):
    return float((x - 0.2) @ np.diag([1.0, 3.0, 10.0]) @ (x - 0.2))


def test_it_finds_the_minimum_and_curvatures_of_a_quadratic_function():
    model = fit(slates_of(quadratic, 3, n=40, m=20), np.zeros(3), np.eye(3), 1.0)
    np.testing.assert_allclose(model.minimum(10.0), np.full(3, 0.2), atol=0.03)
    np.testing.assert_allclose(model.curvatures / model.curvatures[0], [1, 3, 10], rtol=0.3)


def test_any_increasing_transform_gives_the_same_model():
    models = [
        fit(slates_of(f, 3), np.ones(3), np.eye(3), 1.0)
        for f in (quadratic, lambda x: np.exp(quadratic(x)) ** 3 - 7)
    ]
    np.testing.assert_array_equal(models[0].slope, models[1].slope)
    np.testing.assert_array_equal(models[0].curvatures, models[1].curvatures)


def test_its_coordinates_are_those_of_the_distribution():
    slates, factor = slates_of(quadratic, 3, n=40, m=20), np.diag([1.0, 2.0, 0.5])
    centre = np.array([0.1, -0.3, 0.2])
    model = fit(slates, centre, factor, 2.0)
    np.testing.assert_allclose(centre + 2.0 * factor @ model.minimum(99.0), 0.2, atol=0.03)


def test_equal_points_share_their_rank():
    points = np.random.default_rng(1).standard_normal((6, 2))
    ranked = ranked_points(points, np.array([2.0, 1.0, 2.0, 1.0, 2.0, 3.0]), 1.0)
    assert ranked.ties.tolist() == [2, 3, 1]
    np.testing.assert_array_equal(ranked.points, points[[1, 3, 0, 2, 4, 5]])
    tied = tuple(ranked_points(s.points, np.arange(7) // 2, 1.0) for s in slates_of(quadratic, 3))
    assert fit(tied, np.zeros(3), np.eye(3), 1.0) is not None


def test_credit_is_one_for_right_predictions_and_minus_one_for_wrong_ones():
    model = RankModel(np.zeros(2), np.eye(2), np.array([1.0, 0.0]), np.zeros(2), np.eye(2))
    points = np.array([[0.0, 1.0], [1.0, 5.0], [2.0, -1.0]])
    assert model.credit(points, np.array([1.0, 2.0, 3.0])) == pytest.approx(1)
    assert model.credit(points, np.array([3.0, 2.0, 1.0])) == pytest.approx(-1)


@pytest.mark.parametrize("curvatures", [[1.0, 4.0], [-2.0, 1.0], [0.0, 0.0]])
@pytest.mark.parametrize("reach", [0.05, 1.0, 30.0])
def test_the_minimum_within_reach(curvatures, reach):
    slope = np.array([0.3, -0.7])
    model = RankModel(np.zeros(2), np.eye(2), slope, np.array(curvatures), np.eye(2))
    u = model.minimum(reach)
    assert np.linalg.norm(u) <= reach * (1 + 1e-9)
    angles = np.linspace(0, 2 * np.pi, 400)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    others = np.concatenate([ring * reach * share for share in np.linspace(0, 1, 60)])
    assert model.predict(u[None])[0] <= model.predict(others).min() + 0.02 * reach


def test_too_few_points_give_no_model():
    slates = slates_of(quadratic, 3, n=1)
    assert fit(slates, np.zeros(3), np.eye(3), 1.0) is None
    assert fit(slates_of(quadratic, 3), np.zeros(3), np.eye(3), 1e-6) is None  # all too wide


def test_only_the_last_slates_are_kept():
    slates = slates_of(quadratic, 3, n=30)
    kept = recent(slates)
    assert kept[-1] is slates[-1]
    assert (
        sum(len(s) - 1 for s in kept) >= 2.5 * coefficients(3) > sum(len(s) - 1 for s in kept[1:])
    )
