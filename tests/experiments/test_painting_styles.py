"""The part of `zorank bench looks` with painting styles: the judge, the tastes, the claims."""

from importlib.util import find_spec

import numpy as np
import pytest

from zorank.errors import InvalidInput, MissingExtra
from zorank.experiments import perceptual_distance
from zorank.experiments.looks import findings, painting_styles
from zorank.experiments.looks.study import LOOKS, RANDOM, Study, study_for
from zorank.experiments.studies import Sessions
from zorank.renderers.style import MIX

needs_weights = pytest.mark.skipif(
    find_spec("stlpips_pytorch") is None, reason="stlpips-pytorch is in the extra peers only"
)
WAVES = (127 + 90 * np.sin(np.arange(64 * 48 * 3).reshape(48, 64, 3) / 37)).astype(np.uint8)


@needs_weights
def test_pictures_that_look_alike_are_near():
    draws = np.random.default_rng(0)
    noise = draws.integers(0, 256, WAVES.shape).astype(np.uint8)
    grain = (WAVES + draws.integers(-3, 4, WAVES.shape)).clip(0, 255).astype(np.uint8)
    own, grainy, other = map(perceptual_distance.features, (WAVES, grain, noise))
    assert perceptual_distance.distance(own, own) == 0
    assert 0 < perceptual_distance.distance(own, grainy) < perceptual_distance.distance(own, other)


@needs_weights
def test_a_rater_likes_the_hidden_mixture_best(monkeypatch):
    monkeypatch.setattr(painting_styles, "RANDOM_PICTURES", 6)
    painting_styles._random_features.cache_clear()
    painting_styles.style_taste.cache_clear()
    taste = painting_styles.style_taste(MIX, 3)
    shares = painting_styles.hidden_shares(3)
    assert np.count_nonzero(shares) == painting_styles.MIXED
    assert shares.sum() == pytest.approx(1)
    assert not np.array_equal(shares, painting_styles.hidden_shares(4))
    logs = np.log(np.maximum(shares, 1e-9)) / 2
    hidden = float(taste(logs - logs.mean()))
    assert hidden == pytest.approx(-taste.mean / taste.sd, abs=1e-3)  # the distance is 0
    assert (np.asarray(taste(painting_styles._random_candidates(MIX))) > hidden).all()
    painting_styles._random_features.cache_clear()
    painting_styles.style_taste.cache_clear()


def test_without_the_weights_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(perceptual_distance, "find_spec", lambda name: None)
    perceptual_distance._weights.cache_clear()
    with pytest.raises(MissingExtra, match=r"\[peers\]"):
        perceptual_distance.features(WAVES)


def test_styles_are_a_part_of_the_study_only_if_they_are_named():
    assert "style" not in {c.part for c in Study().conditions()}
    study = study_for(parts=("style",), methods=(LOOKS, RANDOM), tastes=("mix",))
    assert {(c.part, c.taste, c.dim) for c in study.conditions()} == {("style", "mix", 26)}
    assert len(study.trials()) == 2 * 20
    with pytest.raises(InvalidInput):
        study_for(parts=("style",), tastes=("oils",))


def test_the_claim_is_one_sd_above_the_best_random_picture():
    study = study_for(parts=("style",), methods=(LOOKS, RANDOM), tastes=("mix",))
    ones = np.ones(3)
    gains = {LOOKS: np.full((3, 21), 4.0), RANDOM: np.full((3, 21), 2.5)}
    results = {c: Sessions(None, gains[c.method], ones, ones, ones) for c in study.conditions()}
    (claim,) = findings.claims(study, results)
    assert (claim.holds, claim.measured, claim.needed) == (True, 1.5, "≥ 1")
    assert findings.summary(study, results)["cases"][0]["meaning"].startswith("near a hidden")
