"""zorank bench policies: the studies run, and what is measured is not measured again."""

import json

import numpy as np
import pytest

from zorank.experiments import policy_gaits, policy_landscape, policy_recipes
from zorank.rl import PolicyProblem, PolicySearch

pytestmark = pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")


def test_a_seed_is_measured_once(tmp_path, monkeypatch):
    file = tmp_path / "found.json"
    optimizer = policy_recipes.make_method("ars (values)", {"m": 4})
    about = (file, "values", "Reacher-v4@3", optimizer, 8)
    policy_recipes.measure(*about, [200])
    both = policy_recipes.measure(*about, [200, 201])
    (row,) = json.loads(file.read_text())["rows"]
    assert list(row["rewards"]) == ["200", "201"]
    assert (row["ranked_steps"], row["method"], row["settings"]["m"]) == (3, "ars (values)", 4)
    monkeypatch.setattr(policy_recipes, "learn", None)
    assert policy_recipes.measure(*about, [200, 201]) == both
    assert str(both).startswith("Reacher-v4@3, 8 episodes, values: ")


def test_unknown_names_are_refused(refused):
    line = ("bench", "policies", "recipes")
    assert "did you mean recipe" in refused(*line, "Reacher-v4", 10, 1, "recipes")
    assert "known: HalfCheetah-v4" in refused(*line, "Zoo-v0", 10, 1)


def test_steps_that_agree_grow():
    agreeing = policy_recipes.PathRankARS(m=4, memory=0.5)
    search = PolicySearch(PolicyProblem("Reacher-v4", horizon=3), agreeing)
    for _ in range(3):
        search.step()
    assert np.isfinite(search.run.best()).all()
    assert search.run.best().any()


def test_a_simulated_rater_beats_the_first_round():
    first, end, random = policy_gaits.session(8, lambda x: float(x[0]), 0)
    assert end > first
    assert np.isfinite(random)


def test_the_landscape_around_a_policy(monkeypatch):
    monkeypatch.setattr(policy_landscape, "EPISODES", (5,))
    monkeypatch.setattr(policy_landscape, "CANDIDATES", 4)
    (found,) = policy_landscape.examine("Reacher-v4", 1)
    assert (found.episodes, found.seed) == (5, 0)
    assert len(found.nearby) == len(policy_landscape.RADII)
    assert np.isfinite(found.uphill).all()
    assert policy_landscape.effective_rank(np.eye(3)) == pytest.approx(3)
    assert policy_landscape.rank_correlation([1, 2, 5], [9, 4, 1]) == pytest.approx(-1)
