"""Tastes in pictures, and the figures of diffusion models' latents."""

import functools
import json
from pathlib import Path

import numpy as np
import pytest

from zorank import renderers
from zorank.experiments import picture_qualities
from zorank.experiments.paper import continuity, latent_judges
from zorank.experiments.paper.latent_judges import Trial
from zorank.experiments.paper.latents import decoded_picture, renderer_of
from zorank.experiments.picture_qualities import (
    QUALITIES,
    qualities,
    taste_in_pictures,
    weights_of,
)

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture
def quick_dream(monkeypatch):
    """Pictures of dream of two steps instead of twelve, and few of them to compare with."""
    made = functools.partial(renderers.Dream, steps=2, size=160)
    monkeypatch.setitem(renderers.REGISTRY, "dream", made)
    monkeypatch.setattr(picture_qualities, "RANDOM_PICTURES", 8)
    renderer_of.cache_clear()
    yield
    renderer_of.cache_clear()


def plain(value, shape=(16, 16, 3)):
    return np.full(shape, value, np.float32)


def has(picture, quality):
    return qualities(picture)[QUALITIES.index(quality)]


def test_qualities_say_what_their_names_say():
    dark, light = plain(0.1), plain(0.9)
    assert has(light, "bright") > has(dark, "bright")
    orange = plain([0.9, 0.5, 0.1])
    assert has(orange, "warm") > has(light, "warm") == pytest.approx(0, abs=1e-6)
    assert has(orange, "colourful") > has(light, "colourful") == pytest.approx(0, abs=1e-6)
    sky = plain(0.2)
    sky[:8] = 0.8
    assert has(sky, "contrasted") > has(light, "contrasted")
    assert has(sky, "light above") > 0 > has(sky[::-1], "light above")
    assert has(sky.transpose(1, 0, 2), "light at the left") > 0
    higher = plain(0.2)
    higher[:4] = 0.8
    assert has(higher, "a high skyline") > has(sky, "a high skyline")
    meadow = plain(0.2)
    meadow[12:, ::2] = 0.8
    assert has(meadow, "a calm foreground") < has(sky, "a calm foreground")


def test_a_taste_is_on_the_scale_of_random_pictures_and_everybody_has_another():
    def picture(x):
        return np.clip(0.5 + 0.1 * x[:48].reshape(4, 4, 3), 0, 1).astype(np.float32)

    found = taste_in_pictures(picture, 60, seed=3)
    draws = np.random.default_rng(0).standard_normal((400, 60))
    values = found(draws)
    assert abs(values.mean()) < 0.4
    assert 0.6 < values.std() < 1.5
    assert found(draws[0]) == pytest.approx(values[0])
    assert np.count_nonzero(weights_of(1)) == 4
    assert not np.allclose(weights_of(1), weights_of(2))
    assert picture_qualities.random_pictures(picture, 60).shape == (
        picture_qualities.RANDOM_PICTURES,
        4,
        4,
        3,
    )


def test_one_answer_of_a_person_before_dream_is_told_in_full_and_is_repeatable(quick_dream):
    trial = Trial(None, "lake", "rank-process", "person", answers=2, person=0)
    row = latent_judges.run_trial(trial)
    assert len(row["gains"]) == 2
    assert row["liked"][1] == pytest.approx(row["gains"][-1])
    assert row["norm"] == pytest.approx(1)
    assert decoded_picture(row["pictures"][0]).shape == (160, 160, 3)
    assert latent_judges.run_trial(trial) == row


def rows_of(people):
    """Rows as `run_trial` would give them, with what is liked by method and judge."""
    liked = {
        ("best of random", "person"): 2.0,
        ("neighbours", "person"): 1.5,
        ("algorithms 1 + 2", "person"): 2.5,
        ("algorithm 3", "person"): 3.0,
        ("rank-process", "person"): 4.0,
        ("algorithm 3", "model"): 0.5,
    }
    return {
        Trial(None, "lake", method, judge, 20, person): {
            "liked": [1.0, value + 0.01 * person],
            "fits": [0.0, 1.0],
            "norm": 1.0,
            "moment": 2.0,
            "gains": [1.0 + 0.1 * n for n in range(1, 21)],
        }
        for person in people
        for (method, judge), value in liked.items()
    }


def test_claims_compare_sessions_of_the_same_person():
    found = latent_judges._claims(rows_of(range(6)), 20, 50)
    claims = {c.name: c for c in found}
    assert {c.name for c in found if c.at == "20 answers, the model 50"} == {
        "person ahead of model",
        "model falls short of the initial picture",
        "some of the model's pictures fall short",
    }
    assert claims["person ahead of model"].measured == pytest.approx(2.5)
    assert claims["rank-process ahead of random"].measured == pytest.approx(2.0)
    assert claims["rank-process ahead of random"].needed == 1.0
    assert all(claim.holds for claim in claims.values())
    assert claims["model falls short of the initial picture"].measured == pytest.approx(0.475)
    assert claims["some of the model's pictures fall short"].measured == 1.0
    few = {c.at: c.measured for c in found if c.name == "a few answers improve the picture"}
    assert few == pytest.approx({"4 answers": 0.4, "10 answers": 1.0, "20 answers": 2.0})
    assert all(claim.where == "6 people" for claim in claims.values())


def test_the_committed_claims_have_the_labels_of_the_program():
    found = json.loads((RESULTS / "latent-judges.json").read_text())["claims"]
    label = latent_judges.answers_of_both(latent_judges.ANSWERS, latent_judges.MODEL_ANSWERS)
    assert sum(claim["at"] == label for claim in found) == 3


def test_a_person_and_the_model_begin_at_the_same_picture(quick_dream):
    sessions = [("algorithm 3", "person"), ("algorithm 3", "model"), ("neighbours", "person")]
    rows = [latent_judges.run_trial(Trial(None, "lake", *each, 1, 3)) for each in sessions]
    assert len({row["pictures"][0] for row in rows}) == 1
    assert len({row["liked"][0] for row in rows}) == 1


def test_continuity_runs_from_the_command_line(quick_dream, without_workers, printed, tmp_path):
    out = printed("reproduce", "continuity", "--quick", "--out", tmp_path)
    assert "similar pictures" in out
    found = json.loads((tmp_path / "continuity.json").read_text())
    assert found["model"] == "dream"
    changes = list(found["median_change"].values())
    assert changes == sorted(changes)
    assert changes[0] < 0.05 * found["median_random_pair"]
    table = (tmp_path / "continuity.csv").read_text().splitlines()
    assert len(table) == 1 + 2 * len(continuity.VARIANCES)
    assert (tmp_path / "continuity.png").stat().st_size > 10_000


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_pipeline_a_prompt_and_clip_of_ones_own(sd, tiny_clip, monkeypatch):
    """The paper's own figure needs only the weights: the same way with tiny random ones."""
    monkeypatch.setattr(picture_qualities, "RANDOM_PICTURES", 3)
    session = ("algorithm 3", "model", 1, 0, "clip", str(tiny_clip))
    row = latent_judges.run_trial(Trial(str(sd), "a red house", *session))
    assert len(row["gains"]) == 1
    assert row["norm"] == pytest.approx(1, abs=1e-3)
    assert decoded_picture(row["pictures"][0]).shape == (160, 160, 3)


def test_a_judge_that_does_not_exist_is_refused(refused):
    assert "there is no judge named 'cllip'" in refused(
        "reproduce", "latent-judges", "--judge", "cllip"
    )
