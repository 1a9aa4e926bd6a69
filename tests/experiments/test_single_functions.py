"""zorank bench functions: points to targets and lowest values on single functions."""

from dataclasses import replace

import numpy as np
import pytest

from zorank import rng
from zorank.errors import InvalidInput
from zorank.experiments.auto_variants import VARIANTS
from zorank.experiments.bbob import Trial as Race
from zorank.experiments.bbob import run_trial as hit_points
from zorank.experiments.peers import OPTIONAL_PEERS
from zorank.experiments.single_function_peers import TOP
from zorank.experiments.single_functions import PARTS, Study, Trial, report, run_trial
from zorank.problems import sphere

SPHERE = Trial("targets", "auto", "sphere", 3, 500, 600)


def test_points_are_counted_to_falling_targets():
    row = run_trial(SPHERE)
    assert row["points"] == sorted(row["points"])
    assert row["points"][0] < row["points"][-1] < 200
    assert run_trial(SPHERE) == row


def test_a_target_that_is_not_reached_has_no_points():
    row = run_trial(replace(SPHERE, budget=30, targets=(1e-1, 1e-300)))
    assert row["points"][0] <= 30
    assert row["points"][1] is None


def test_relative_targets_are_multiples_of_the_first_value():
    x0 = rng.for_content(SPHERE.seed, b"x0").standard_normal(SPHERE.dim)
    absolute = tuple(target * float(sphere(x0)) for target in SPHERE.targets)
    assert run_trial(replace(SPHERE, targets=absolute, relative=False)) == run_trial(SPHERE)


def test_without_targets_the_whole_budget_is_used():
    short, long = (run_trial(replace(SPHERE, budget=b, targets=()))["lowest"] for b in (30, 300))
    assert long < 1e-3 * short


@pytest.mark.parametrize("peer", [name for name in TOP if "best 3" in name][:2])
def test_peers_of_the_best_three_do_not_see_the_order_of_the_others(peer):
    def end(values_of):
        contender = TOP[peer](np.ones(4), 1.0, 0)
        for _ in range(20):
            contender.tell(values_of(sphere(contender.ask())))
        return contender.ask()

    def with_others_moved(values):
        moved = values.copy()
        worst = np.argsort(values)[3:]
        moved[worst] = values[worst].max()
        return moved

    if peer.startswith("auto"):  # with ties behind the best three
        assert np.array_equal(end(np.copy), end(with_others_moved))
    else:
        assert np.array_equal(end(np.copy), end(np.exp))


def test_pycma_restarts_with_twice_the_population():
    contender = OPTIONAL_PEERS["pycma IPOP"](np.ones(2), 1.0, 0)
    sizes = set()
    for _ in range(200):
        candidates = contender.ask()
        sizes.add(len(candidates))
        contender.tell(sphere(candidates))
    assert {6, 12} <= sizes


def test_a_report_has_medians_over_seeds():
    study = Study(parts=("restarts",), dims=(2,), peers=("auto",), seeds=(500, 501, 502))
    trials = study.trials()
    assert [trial.seed for trial in trials] == [500, 501, 502]
    assert len({trial.revision for trial in trials} - {0}) == 1
    rows = dict(zip(trials, [{"points": [p], "lowest": 1.0} for p in (10, None, 30)], strict=True))
    (result,) = report(study, rows).summary["results"]
    assert result["runs"] == 3
    assert result["median_points"] == [30]
    assert result["points"] == [[10], [None], [30]]


def test_every_part_has_trials():
    for part in PARTS:
        trials = Study(parts=(part,)).trials()
        assert {trial.part for trial in trials} == {part}
        assert len(set(trials)) == len(trials)


def test_a_study_without_trials_is_refused():
    with pytest.raises(InvalidInput, match="no trial is left"):
        Study(parts=("scale",), functions=("Rosenbrock",)).trials()
    with pytest.raises(InvalidInput, match="did you mean"):
        Study(peers=("pycm",))


# In 20 dimensions rounds depend on each other; on the last one, searches restart.
RACES = [(8, 5, 60), (1, 20, 60), (3, 2, 300)]


@pytest.mark.parametrize("name", list(VARIANTS))
def test_variants_of_auto_differ_from_it(name):
    assert any(
        hit_points(Race("auto", function, 1, d, points))["hits"]
        != hit_points(Race(name, function, 1, d, points))["hits"]
        for function, d, points in RACES
    )
