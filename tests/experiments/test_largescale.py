"""zorank bench largescale: its problems, its peer LM-MA-ES, and how points are compared."""

import numpy as np
import pytest

from zorank import InvalidInput
from zorank.experiments.large_problems import SINGLE, Rotated, cigar, discus, problem
from zorank.experiments.largescale import Study, Trial, report, run_trial, standings_of, studies
from zorank.experiments.lm_ma_es import LMMAES
from zorank.problems import sphere


def test_a_rotation_keeps_lengths_and_mixes_all_coordinates():
    x = np.random.default_rng(0).standard_normal((3, 40))
    np.testing.assert_allclose(Rotated(sphere, 40, 1)(x), sphere(x))
    rotated = Rotated(lambda y: y[..., 0], 40, 1)(np.eye(40))
    assert (np.abs(rotated) > 1e-3).all()


def test_the_cigar_and_the_discus_differ_in_one_axis():
    x = np.array([[2.0, 0, 0], [0, 3.0, 0]])
    np.testing.assert_allclose(cigar(x), [4, 9e6])
    np.testing.assert_allclose(discus(x), [4e6, 9])


@pytest.mark.parametrize("name", [*SINGLE, "f1", "f13"])
def test_a_problem_starts_above_its_first_target(name):
    found = problem(name, 3, 80)
    excess = found.f(found.x0[None])[0] - found.optimum
    assert found.targets[0] == pytest.approx(10**-0.2 * excess)
    assert found.targets[-1] == pytest.approx(1e-4)
    again = problem(name, 3, 80)
    np.testing.assert_array_equal(again.x0, found.x0)


def test_lm_ma_es_takes_as_many_points_on_the_sphere_as_other_implementations():
    d = 32  # pypop7: 101 points per dimension in d = 128
    strategy = LMMAES(np.full(d, 3.0), 3.0, 1)
    seen, best = 0, np.inf
    while best > 1e-8 and seen < 200 * d:
        values = sphere(strategy.ask())
        strategy.tell(np.log(values))
        seen, best = seen + len(values), min(best, values.min())
    assert 70 < seen / d < 140


def test_ratios_count_targets_that_some_peer_reached():
    study = Study((80,), ("sphere", "ellipsoid"), (1,), ("auto", "LM-MA-ES"), 10)
    none = [None] * 49
    hits = {
        ("auto", "sphere"): [100, 200, *none],
        ("LM-MA-ES", "sphere"): [200, None, *none],  # 800, the budget
        ("auto", "ellipsoid"): [None, None, *none],
        ("LM-MA-ES", "ellipsoid"): [None, None, *none],
    }
    rows = {
        Trial(peer, name, 1, 80, 10): {"hits": hit, "seconds_per_point": 1e-6}
        for (peer, name), hit in hits.items()
    }
    ours, theirs = standings_of(study, rows)
    assert ours["points_ratio"] == 1
    assert theirs["points_ratio"] == pytest.approx(np.sqrt(2 * 4))
    assert (theirs["compared"], theirs["behind"]) == (1, 0)


def test_a_small_study_from_trials_to_report(tmp_path):
    study = Study((80,), ("f1", "rotated cigar"), (1,), ("auto", "LM-MA-ES"), 6)
    found = report([study], {trial: run_trial(trial) for trial in study.trials()})
    assert [row["peer"] for row in found.summary["standings"]] == ["auto", "LM-MA-ES"]
    assert found.summary["standings"][1]["points_ratio"] > 1
    assert {path.suffix for path in found.save(tmp_path)} == {".json", ".png", ".svg"}


def test_studies_are_chosen_by_dimension():
    (found,) = studies((640,), ("LM-MA-ES",), 3)
    assert (found.dims, found.peers, found.points_per_dim) == ((640,), ("auto", "LM-MA-ES"), 3)
    with pytest.raises(InvalidInput, match="dim must be one of 80, 160"):
        studies((7,))
