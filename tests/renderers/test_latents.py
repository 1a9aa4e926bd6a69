"""Whether noise is still noise, from its moments."""

import numpy as np
import pytest

from zorank.errors import InvalidInput
from zorank.renderers.latents import UNUSUAL, drift

SHAPE = (4, 32, 32)


def noise(seed=0, shape=SHAPE):
    return np.random.default_rng(seed).standard_normal(shape)


def test_draws_of_the_normal_distribution_are_hardly_ever_unusual():
    found = [drift(noise(seed).ravel(), SHAPE) for seed in range(300)]
    assert sum(one["unusual"] for one in found) <= 2
    scores = np.array([one["mean"] + one["variance"] for one in found])
    assert np.allclose(scores.mean(axis=0), 0, atol=0.25)
    assert np.allclose(scores.std(axis=0), 1, atol=0.2)
    assert np.allclose([one["norm"] for one in found], 1, atol=0.06)


def test_a_channel_that_moved_is_named_though_the_length_stays():
    latents = noise()
    latents[2] += 0.3
    latents *= np.sqrt(latents.size) / np.linalg.norm(latents)
    found = drift(latents.ravel(), SHAPE)
    assert found["norm"] == pytest.approx(1)
    assert int(np.argmax(np.abs(found["mean"]))) == 2
    assert found["unusual"]
    assert found["largest"] == max(np.abs(found["mean"] + found["variance"])) > UNUSUAL


def test_a_channel_that_grew_is_named():
    latents = noise()
    latents[1] *= 1.2
    found = drift(latents.ravel(), SHAPE)
    assert int(np.argmax(found["variance"])) == 1
    assert found["unusual"]


def test_a_wrong_number_of_latents_is_refused():
    with pytest.raises(InvalidInput, match="have 4096 numbers, found 7"):
        drift(np.zeros(7), SHAPE)
