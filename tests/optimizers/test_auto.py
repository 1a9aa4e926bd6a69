"""auto: what its parts promise, and what the whole reaches."""

import math

import numpy as np
import pytest

import zorank
from zorank import InvalidInput, Ranking, Run, optimizers, rng
from zorank.optimizers.auto import Auto
from zorank.optimizers.auto_tuning import Tuning, assign_weights
from zorank.optimizers.covariance import (
    Diagonal,
    Full,
    learning_rates,
    orthogonal_directions,
)
from zorank.oracles import GaussianNoise
from zorank.problems import RotatedEllipsoid, ellipsoid, rastrigin, rosenbrock, sphere
from zorank.slates import Points, Slate

CHECK_EVERY = Tuning().check_every


def drive(run, f, rounds):
    for _ in range(rounds):
        slate = run.ask()
        run.tell(slate.answer_from(np.array([f(x) for x in slate])))
    return run


# frames


@pytest.mark.parametrize(("m", "d"), [(3, 50), (7, 7), (9, 12), (10, 4), (6, 2), (5, 1)])
def test_directions_have_one_length_and_are_orthogonal_as_far_as_that_goes(m, d):
    z = orthogonal_directions(m, d, rng.for_round(0, 0))
    assert z.shape == (m, d)
    assert np.linalg.norm(z, axis=1) == pytest.approx(np.full(m, math.sqrt(d)))
    n = min(m, d)
    np.testing.assert_allclose(z[:n] @ z[:n].T, d * np.eye(n), atol=1e-9)
    if m > d:
        np.testing.assert_array_equal(z[d : 2 * d], -z[: min(d, m - d)])
    assert not np.array_equal(z, orthogonal_directions(m, d, rng.for_round(0, 1)))


def test_directions_are_uniform():
    z = np.concatenate([orthogonal_directions(3, 8, rng.for_round(1, n)) for n in range(4000)])
    np.testing.assert_allclose(z.T @ z / len(z), np.eye(8), atol=0.04)
    assert np.abs(z.mean(axis=0)).max() < 0.04


# weights


def test_step_weights_sum_to_zero_and_have_norm_one():
    rates = learning_rates(20, 12)
    assert rates.step_weights.sum() == pytest.approx(0)
    assert np.linalg.norm(rates.step_weights) == pytest.approx(1)
    assert (np.diff(rates.step_weights) < 0).all()
    assert rates.covariance_weights[rates.covariance_weights > 0].sum() == pytest.approx(1)


def test_tied_candidates_share_their_weights():
    weights = np.array([4.0, 2.0, 1.0, -7.0])
    assert assign_weights(weights, np.array([3.0, 1.0, 2.0, 4.0])).tolist() == [1, 4, 2, -7]
    assert assign_weights(weights, np.array([-3.0, 1.0, 1.0, 1.0])).tolist() == pytest.approx(
        [4, -4 / 3, -4 / 3, -4 / 3]
    )
    assert assign_weights(weights, np.zeros(4)).tolist() == [0, 0, 0, 0]


# shapes


@pytest.mark.parametrize(("m", "d"), [(5, 9), (9, 4)])
def test_the_full_shape_learns_by_the_exact_exponential(m, d):
    from scipy.linalg import expm

    draws = np.random.default_rng(0)
    before = Full(expm(0.3 * draws.standard_normal((d, d))))
    z, path = orthogonal_directions(m, d, rng.for_round(0, 0)), draws.standard_normal(d)
    rates = learning_rates(d, m)
    v = assign_weights(rates.covariance_weights, draws.random(m))
    after = before.update(z, before.transform(z), v, path, rates).matrix
    expected = before.matrix @ expm(0.5 * rates.rank_m * (z.T * v) @ z)
    expected = expected @ expm(0.5 * rates.rank_one * np.outer(path, path))
    log_det = np.linalg.slogdet
    expected *= math.exp((log_det(before.matrix)[1] - log_det(expected)[1]) / d)
    np.testing.assert_allclose(after, expected, atol=1e-12)
    assert log_det(after)[1] == pytest.approx(log_det(before.matrix)[1])


def test_the_diagonal_shape_stretches_what_was_good():
    d = 600
    covariance = Diagonal(np.ones(d))
    z = np.ones((2, d))
    z[0, :10] = 5.0
    learned = covariance.update(z, z, np.array([1.0, -1.0]), np.zeros(d), learning_rates(d, 2))
    assert (learned.scales[:10] > learned.scales[10:].max()).all()


def test_scales_of_coordinates_are_learned_faster_than_oblique_axes():
    d = 30
    ratios = []
    for f in (ellipsoid, RotatedEllipsoid(d, 1)):
        run = drive(Run(Auto(), np.ones(d), seed=0), f, 120)
        axes = np.linalg.svd(run.state.covariance.matrix)[1]
        ratios.append(axes[0] / axes[-1])
    assert ratios[0] > 2 * ratios[1]


def test_coordinates_are_not_scaled_where_axes_are_oblique():
    d, v = 12, learning_rates(12, 8).covariance_weights
    oblique = np.eye(d) + 0.9 * np.eye(d, k=1) + 5 * np.eye(d, k=2)
    z = orthogonal_directions(8, d, rng.for_round(0, 0))
    for matrix, same in ((oblique, True), (np.eye(d), False)):
        after = [
            Full(matrix, trend).update(z, z @ matrix.T, v, np.zeros(d), learning_rates(d, 8))
            for trend in (np.full(d, 5.0) * np.sign(np.arange(d) - 5.5), None)
        ]
        assert np.array_equal(after[0].matrix, after[1].matrix) is same


def test_the_model_s_minimum_is_a_candidate_in_few_dimensions():
    run = drive(Run(Auto(m=7), np.ones(3), seed=0), sphere, 12)
    slate = run.ask()
    assert len(slate) == 7
    np.testing.assert_array_equal(slate[6], run.state.guess)
    assert sphere(slate[6]) < np.median([sphere(x) for x in list(slate)[:6]])
    run.tell([6])
    assert run.state.guess is None  # one name says too little


def test_the_model_s_minimum_becomes_the_centre_if_it_wins():
    run = drive(Run(Auto(m=7), np.ones(3), seed=0), sphere, 12)
    guess = run.state.guess
    run.ask()
    run.tell([6, 0, 1, 2, 3, 4, 5])
    np.testing.assert_array_equal(run.best(), guess)


@pytest.mark.parametrize("auto", [Auto(m=4), Auto(space="gaussian")])
def test_small_slates_and_shells_have_no_model(auto):
    run = drive(Run(auto, np.ones(3), seed=0), lambda x: sphere(x - 1.5), 15)
    assert run.state.guess is None
    assert run.state.seen == ()


def test_it_learns_the_shape_of_an_ellipsoid():
    run = drive(Run(Auto(sigma0=0.5), np.ones(6), seed=0), ellipsoid, 400)
    axes = np.linalg.svd(run.state.covariance.matrix)[1]
    assert axes[0] / axes[-1] > 100  # of 1000, the root of the condition number


# judges


def test_a_noisy_judge_widens_the_cloud_and_a_sure_one_narrows_it():
    noisy, sure = Run(Auto(), np.ones(20), seed=1), Run(Auto(), np.ones(20), seed=1)
    judge = GaussianNoise(sphere, 50.0, seed=3)
    for _ in range(160):
        noisy.tell(judge.answer(noisy.ask()))
    drive(sure, sphere, 80)
    widths = [entry["width"] for entry in noisy.history[80:]]
    assert np.mean(widths) > 1.4 * sure.history[-1]["width"]
    assert sure.history[-1]["width"] == pytest.approx(1.8)


def test_the_second_slate_shows_the_first_step_and_every_tenth_two_old_candidates():
    run = Run(Auto(m=6), np.ones(9), seed=0)
    sizes = []
    for _ in range(2 * CHECK_EVERY):
        sizes.append(len(run.ask()))
        drive(run, sphere, 1)
    assert sizes == [6, 8, *[6] * 7, 8, *[6] * 9, 8]


def test_no_difference_widens_and_then_goes_further():
    run = Run(Auto(m=4), np.ones(3), seed=0)
    radii = []
    for _ in range(12):
        run.ask()
        run.tell(Ranking.no_difference())
        radii.append(run.history[-1]["radius"])
    assert (np.diff(radii) > 0).all()
    assert run.history[-1]["width"] <= Tuning().max_width


def test_a_judge_who_names_only_the_old_ones_moves_nothing():
    run = drive(Run(Auto(m=4), np.ones(5), seed=0), sphere, CHECK_EVERY - 1)
    slate = run.ask()
    before = run.best()
    run.tell([[4, 5]])
    assert len(slate) == 6
    np.testing.assert_array_equal(run.best(), before)


def test_it_is_told_of_its_own_slates():
    auto = Auto()
    state = auto.init(np.ones(3))
    with pytest.raises(InvalidInput, match="a slate that it asked itself"):
        auto.tell(state, Slate(Points(np.ones((2, 3)))), Ranking.of([0, 1]))


def test_a_first_step_that_lost_is_taken_back_and_made_shorter():
    run = Run(Auto(sigma0=1000.0), np.ones(10), seed=0)
    drive(run, sphere, 2)
    np.testing.assert_array_equal(run.best(), np.ones(10))
    assert run.history[-1]["radius"] < 500
    drive(run, sphere, 12)
    assert run.state.proven
    assert sphere(run.best()) < 100


# odd objectives


@pytest.mark.parametrize(
    ("bounds", "x0", "target"),
    [
        ([(0, 1), (0, 1000)], [0.1, 100.0], [0.5, 500.0]),
        ([(0, 1), (None, None)], [0.1, 0.0], [0.5, 100.0]),
        ([(0, 1)] * 5 + [(0, 1000)], [0.5] * 5 + [0.0], [0.3] * 5 + [900.0]),
        ([(None, 2), (1, None)], [0.0, 5.0], [3.0, 0.0]),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_different_scales(bounds, x0, target, seed):
    low, high = (
        np.array([np.inf * s if b is None else b for b in side])
        for side, s in zip(zip(*bounds, strict=True), (-1, 1), strict=True)
    )
    target = np.array(target)
    res = zorank.minimize(lambda x: sphere(x - target), x0, 4000, seed=seed, bounds=bounds)
    np.testing.assert_allclose(res.x, np.clip(target, low, high), atol=1e-3)


@pytest.mark.parametrize(
    "f",
    [lambda x: 1.0, lambda x: float(x[0]), lambda x: float(x[0] ** 2)],
    ids=["flat", "slope", "ditch"],
)
@pytest.mark.parametrize("d", [1, 2])
def test_unbounded_objectives_stay_finite(f, d):
    run = Run(Auto(), np.ones(d), seed=0)
    drive(run, f, 600)
    assert np.isfinite(np.asarray(run.ask())).all()
    assert np.isfinite(run.best()).all()


# new searches


def until_restart(run, f, rounds=400):
    for _ in range(rounds):
        drive(run, f, 1)
        if run.state.restarts:
            return run
    raise AssertionError("it never started anew")


def test_it_starts_anew_with_twice_the_candidates_and_finds_a_lower_dent():
    run = until_restart(Run(Auto(), np.full(3, 2.1), seed=1), rastrigin)
    first = rastrigin(run.best())
    assert first > 0.9
    assert len(run.state.old) == 2
    assert len(frame_of(run)) == 2 * Tuning().slate_size(3)
    assert run.history[-1]["radius"] > 0.1
    drive(run, rastrigin, 500)
    assert rastrigin(run.best()) < first - 0.9


def frame_of(run):
    drive(run, rastrigin, 1)  # the second slate of a search also shows its first step
    return run.ask().design.z


def test_restarts_keep_the_best_point():
    run = until_restart(Run(Auto(), np.full(2, 3.2), seed=0), rastrigin)
    before = rastrigin(run.best())
    for _ in range(400):
        drive(run, rastrigin, 1)
        assert rastrigin(run.best()) <= before
        before = rastrigin(run.best())


def test_the_champion_is_shown_beside_the_centre_and_loses_its_place_only_to_a_better_one():
    run = until_restart(Run(Auto(m=6), np.full(2, 3.2), seed=0), rastrigin)
    while run.state.rounds % CHECK_EVERY != CHECK_EVERY - 1:
        drive(run, rastrigin, 1)
    slate, champion, centre = run.ask(), run.best(), run.state.x
    np.testing.assert_array_equal(slate[-2], champion)
    np.testing.assert_array_equal(slate[-1], centre)
    unmoved, moved = run.branch(run.state.rounds), run
    unmoved.ask()
    unmoved.tell([len(slate) - 2, len(slate) - 1])
    moved.tell([len(slate) - 1, len(slate) - 2])
    np.testing.assert_array_equal(unmoved.best(), champion)
    np.testing.assert_array_equal(moved.best(), centre)


def test_undo_and_branch_across_a_restart_are_exact():
    run = until_restart(Run(Auto(), np.full(2, 3.2), seed=0), rastrigin)
    at = run.state.rounds
    drive(run, rastrigin, 12)
    after = np.asarray(run.ask()).tobytes(), run.best().tobytes()
    branch = run.branch(at - 3)
    assert branch.state.restarts == 0
    drive(branch, rastrigin, 15)
    assert (np.asarray(branch.ask()).tobytes(), branch.best().tobytes()) == after
    run.undo(15)
    assert run.state.restarts == 0
    drive(run, rastrigin, 15)
    assert (np.asarray(run.ask()).tobytes(), run.best().tobytes()) == after


@pytest.mark.parametrize("space", [{"bounds": (-2.0, 2.0)}, {"space": "gaussian"}])
def test_a_new_search_begins_where_candidates_may_lie(space):
    auto = Auto(sigma0=3.0, **space)
    run = Run(auto, np.ones(3), seed=0)
    seen = []
    for _ in range(400):
        seen += list(run.ask())
        drive(run, rastrigin, 1)
        if run.state.restarts:
            break
    assert run.state.restarts == 1
    for x in (*seen, *run.ask()):
        if "space" in space:
            assert np.linalg.norm(x) == pytest.approx(math.sqrt(3))
        else:
            assert (np.abs(x) <= 2.0).all()


@pytest.mark.parametrize("k", [None, 1])
@pytest.mark.parametrize("seed", range(3))
def test_a_noisy_judge_causes_no_restart(k, seed):
    run = Run(Auto(k=k), np.ones(2), seed=seed)
    judge = GaussianNoise(sphere, 1e-3, seed=seed)
    for _ in range(600):
        run.tell(judge.answer(run.ask()))
    assert run.state.restarts == 0


def test_a_judge_with_ties_causes_no_restart():
    run = Run(Auto(), np.full(2, 3.2), seed=0)
    for _ in range(400):
        values = rastrigin(np.asarray(run.ask()))
        run.tell(run.ask().answer_from(np.round(values, 2)))
    assert run.state.restarts == 0
    assert rastrigin(run.best()) < 25


def test_slates_do_not_grow_without_end():
    auto = Auto(m=2)
    state = auto.init(np.ones(1))
    for n in range(20):
        state = auto.search().restart(state, rng.for_round(0, n).standard_normal(1))
    assert len(auto.ask(state, rng.for_round(0, 20))) == 2 * 2 ** Tuning().max_doublings


# what it reaches


@pytest.mark.parametrize("sigma0", [0.1, 1.0, 10.0])
def test_the_sphere_whatever_the_scale(sigma0):
    res = zorank.minimize(sphere, np.ones(50), points=50 * 32, options={"sigma0": sigma0})
    assert res.fun < 1e-6 * 50


def test_rotated_and_ill_conditioned():
    res = zorank.minimize(RotatedEllipsoid(10, 1), np.ones(10), points=2500)
    assert res.fun < 1e-6


def test_rosenbrock():
    res = zorank.minimize(rosenbrock, np.zeros(10), points=5000, options={"sigma0": 0.5})
    assert res.fun < 1e-6


def test_top_three_of_six_is_enough():
    res = zorank.minimize(sphere, np.ones(30), points=3000, m=6, k=3)
    assert res.fun < 1e-6


def test_it_is_the_default():
    assert optimizers.make("auto") == Auto()
    assert zorank.minimize(sphere, [1.0, 2.0], points=30).run.record.optimizer == "auto"


def test_a_million_dimensions():
    run = Run(Auto(m=4), np.ones(1_000_000), seed=0)
    drive(run, sphere, 2)
    assert np.isfinite(run.best()).all()
