"""Old names of `zorank.rl` that still work, and the two commands of `zorank rl`."""

import importlib

import pytest

from zorank import problems, renderers, rl
from zorank.rl import recipes


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("zorank.learning", "Learning", rl.PolicySearch),
        ("zorank.learning", "step_together", rl.step_together),
        ("zorank.learning", "rewards", rl.rewards),
        ("zorank.learning", "recipe", rl.recipe),
        ("zorank.learning", "fitted", recipes.settings_for),
        ("zorank.learning", "enough_to_rank", recipes.default_ranked_steps),
        ("zorank.learning", "RECIPES", recipes.RECIPES),
        ("zorank.learning", "DEFAULT", recipes.DEFAULT),
        ("zorank.learning", "PAPER", recipes.PAPER),
        ("zorank.learning", "RANKED_STEPS", recipes.RANKED_STEPS),
        ("zorank.problems.policies", "PolicyProblem", rl.PolicyProblem),
        ("zorank.problems.policies", "LearnedPolicy", rl.LearnedPolicy),
        ("zorank.problems.policies", "load_policy", rl.load_policy),
        ("zorank.problems.policies", "losses", rl.losses),
    ],
)
def test_old_names_work_with_a_warning(module, old, new):
    with pytest.warns(DeprecationWarning, match=f"{module}.{old} is deprecated"):
        assert getattr(importlib.import_module(module), old) is new


def test_public_names_stay_where_they_were():
    assert problems.load_policy is rl.load_policy
    assert problems.PolicyProblem is rl.PolicyProblem
    assert problems.LearnedPolicy is rl.LearnedPolicy
    assert renderers.REGISTRY["policy"] is renderers.PolicyClips
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        problems.nothing  # noqa: B018


def test_help_of_both_commands(zorank):
    _, general, _ = zorank("rl", "--help")
    assert "zorank rl replay FOLDER" in " ".join(general.split())
    assert "--ranked-steps" in general
    _, replay, _ = zorank("rl", "replay", "--help")
    assert "--seconds" in replay
    assert "--rounds" not in replay


def test_words_after_options_and_a_folder_that_is_called_replay(zorank, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quick = ("--no-video", "--quiet", "--rounds", 1, "--steps", 2)
    for line in (
        ("rl", "--out", "replay", *quick, "Reacher-v4"),
        ("rl", "Reacher-v4", *quick, "--out=other"),
        ("rl", "train", "Reacher-v4", *quick, "--out", "third"),
    ):
        code, said, _ = zorank(*line)
        assert (code, "after 5 ranked episodes" in said) == (0, True)
    for line in (("--no-video", "--quiet", "replay", "replay"), ("replay", "other", "--no-video")):
        code, said, _ = zorank("rl", *line)
        assert (code, "Reacher-v4: reward" in said) == (0, True)
