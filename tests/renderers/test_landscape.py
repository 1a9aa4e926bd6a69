import hashlib
import io
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from tests.helpers.processes import python
from zorank.errors import InvalidInput, MissingExtra, install_command
from zorank.renderers import REGISTRY
from zorank.renderers.landscape import Landscape
from zorank.renderers.landscape.dials import Dials

SMALL = Landscape(128)
DRAWS = np.random.default_rng(2024).standard_normal((60, SMALL.dim))


def levels(candidate, renderer=SMALL):
    return renderer.picture(candidate).astype(float)


def change(a, b):
    return float(np.abs(levels(a) - levels(b)).mean())


def test_it_is_in_the_registry_and_needs_no_argument():
    renderer = REGISTRY["landscape"]()
    assert renderer == Landscape(size=512)
    assert (renderer.dim, renderer.space, renderer.title) == (62, "gaussian", "Landscape")
    assert len(Dials._fields) == renderer.dim
    assert renderer.description.endswith(".")


def test_a_fresh_process_paints_the_same_bytes_and_imports_pillow_only_to_encode():
    program = """
import hashlib, json, sys
import numpy as np
from zorank.renderers import REGISTRY
before = "PIL" in sys.modules
draws = np.random.default_rng(2024).standard_normal((60, 62))[:3]
exhibits = REGISTRY["landscape"](size=128).render(draws)
print(json.dumps([before, [hashlib.sha256(e.data).hexdigest() for e in exhibits]]))
"""
    pillow_early, hashes = json.loads(python(program))
    assert not pillow_early
    assert hashes == [hashlib.sha256(e.data).hexdigest() for e in SMALL.render(DRAWS[:3])]


def test_threads_do_not_disturb_each_other():
    alone = [SMALL.picture(x) for x in DRAWS[:4]]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(SMALL.picture, DRAWS[:4]))
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("size", [16, 37, 128])
def test_any_real_vector_gives_a_picture(size):
    signs = np.where(np.arange(62) % 2, 1.0, -1.0)
    for candidate in (np.zeros(62), np.full(62, 1e6), np.full(62, -1e6), 1e6 * signs, -9 * signs):
        picture = Landscape(size).picture(candidate)
        assert picture.shape == (size, size, 3)
        assert picture.dtype == np.uint8
        assert picture.std() > 5
        scores = SMALL.attributes(candidate)
        assert all(0 <= score <= 1 for score in scores.values())


def test_a_candidate_is_not_changed():
    candidate = DRAWS[0].copy()
    SMALL.picture(candidate)
    SMALL.tags(candidate)
    np.testing.assert_array_equal(candidate, DRAWS[0])


def test_every_latent_changes_the_picture():
    bases = DRAWS[:5]
    pictures = [levels(x) for x in bases]
    changes = {}
    for i, name in enumerate(Dials._fields):
        across = bases.copy()
        across[:, i] -= 2 * np.copysign(1, across[:, i])
        moved = [levels(x) for x in across]
        changes[name] = float(np.mean(np.abs(np.subtract(moved, pictures))))
    # In levels of 255, over the whole picture.
    assert {name: mean for name, mean in changes.items() if mean < 0.4} == {}
    assert np.median(list(changes.values())) > 1.5


def test_a_small_step_is_a_small_change_and_half_of_it_about_half():
    directions = np.random.default_rng(7).standard_normal((12, 62))
    pairs = list(zip(DRAWS, directions, strict=False))
    whole = np.array([change(x, x + 0.01 * v) for x, v in pairs])
    half = np.array([change(x, x + 0.005 * v) for x, v in pairs])
    assert whole.max() < 6
    assert whole.mean() < 3
    assert 0.4 < half.mean() / whole.mean() < 0.7
    far = np.mean([change(DRAWS[i], DRAWS[i + 1]) for i in range(12)])
    assert far > 8 * whole.mean()


def test_the_moon_rises_and_the_sun_sets_without_a_jump():
    # The hour is the dial that moves most: walk it from night to sunset in small steps.
    walk = []
    for time in np.linspace(-1.3, -0.2, 45):
        candidate = DRAWS[1].copy()
        candidate[Dials._fields.index("time")] = time
        walk.append(levels(candidate))
    steps = np.abs(np.diff(walk, axis=0)).mean(axis=(1, 2, 3))
    assert steps.max() < 4 * np.median(steps)


@pytest.mark.parametrize("index", range(4))
def test_every_size_shows_the_same_scene(index):
    large = levels(DRAWS[index], Landscape(512)).reshape(128, 4, 128, 4, 3).mean(axis=(1, 3))
    small = levels(DRAWS[index])
    assert np.abs(large - small).mean() < 4
    assert np.abs(large.mean(axis=(0, 1)) - small.mean(axis=(0, 1))).max() < 1


def test_an_exhibit_is_a_jpeg_of_the_picture():
    renderer = Landscape(96)
    exhibits = renderer.render(x for x in DRAWS[:2])
    assert [e.media_type for e in exhibits] == ["image/jpeg", "image/jpeg"]
    for exhibit, candidate in zip(exhibits, DRAWS, strict=False):
        decoded = Image.open(io.BytesIO(exhibit.data))
        assert (decoded.format, decoded.mode, decoded.size) == ("JPEG", "RGB", (96, 96))
        assert np.abs(np.asarray(decoded, float) - renderer.picture(candidate)).mean() < 4


def test_tags_agree_with_attributes():
    for candidate in DRAWS[:20]:
        scores, tags = SMALL.attributes(candidate), SMALL.tags(candidate)
        skies = {word for word in scores if word.endswith(" sky")}
        assert tags - skies == {word for word in set(scores) - skies if scores[word] > 0.5}
        (sky,) = tags & skies
        assert scores[sky] == max(scores[word] for word in skies)


def test_words_tell_pictures_apart():
    tags = [SMALL.tags(x) for x in DRAWS]
    words = ["night", "day", "snow", "lake", "moon", "sun", "stars", "cloudy", "trees", "fog"]
    for word in words:
        assert 0 < sum(word in found for found in tags) < len(tags), word
    for found in tags:
        assert not {"night", "day"} <= found
        assert not {"clear", "cloudy"} <= found


def test_words_are_true_of_the_pixels():
    lightness = {"night": [], "day": []}
    for candidate in DRAWS:
        for word in lightness.keys() & SMALL.tags(candidate):
            lightness[word].append(levels(candidate, Landscape(32)).mean())
    assert max(lightness["night"]) < min(lightness["day"])


def test_attributes_are_smooth():
    for candidate in DRAWS[:20]:
        before, after = (SMALL.attributes(x) for x in (candidate, candidate + 1e-4))
        assert max(abs(before[word] - after[word]) for word in before) < 0.005


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        (np.zeros(61), "a landscape needs a candidate of 62 numbers, found 61"),
        (np.zeros((2, 62)), r"must be a vector .* found shape \(2, 62\)"),
        (np.full(62, np.nan), "must be finite, found nan at position 0"),
        ("mountains", "must be a sequence of real numbers, found 'mountains'"),
    ],
)
def test_a_bad_candidate_is_refused_in_one_sentence(candidate, message):
    for method in (SMALL.picture, SMALL.attributes, SMALL.tags, lambda x: SMALL.render([x])):
        with pytest.raises(InvalidInput, match=message):
            method(candidate)


@pytest.mark.parametrize("size", [15, 4097, 512.0, "512", None, True])
def test_a_bad_size_is_refused_in_one_sentence(size):
    message = "the size of a landscape must be a whole number from 16 to 4096, found "
    with pytest.raises(InvalidInput, match=message + repr(size)):
        Landscape(size)


def test_a_numpy_size_becomes_a_plain_number():
    assert type(Landscape(np.int64(64)).size) is int


def test_without_pillow_pictures_work_and_exhibits_name_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert Landscape(16).picture(DRAWS[0]).shape == (16, 16, 3)
    with pytest.raises(MissingExtra, match=re.escape(install_command("studio"))):
        Landscape(16).render(DRAWS[:1])
