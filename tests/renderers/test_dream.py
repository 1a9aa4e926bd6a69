"""dream: prompts, samplers, and the pictures of the embedded model."""

from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

from tests.helpers.processes import python
from zorank.dream import model, samplers
from zorank.dream.vocabulary import WORDS, read
from zorank.errors import InvalidInput
from zorank.renderers import REGISTRY, Dream
from zorank.renderers.pictures import opened


def noise(seed):
    return np.random.default_rng(seed).standard_normal(Dream.dim)


def said(prompt):
    found = read(prompt)
    return {word: value for word, value in zip(WORDS, found, strict=True) if value}


# prompts


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("", {}),
        ("snowy night, large moon, lake", ["snow", "night", "large disc", "moon", "lake"]),
        ("A clear DAY with high mountains", ["clear", "day", "high mountains"]),
        ("low hills under a pink sky", ["low hills", "pink sky"]),
        ("northern lights; small disc", ["aurora", "small disc"]),
        ("misty evening by the water", ["fog", "sunset", "lake"]),
    ],
)
def test_prompts_are_read_in_any_order_with_words_that_mean_the_same(prompt, meant):
    assert said(prompt) == dict.fromkeys(meant, 1.0)


def test_no_and_without_ask_for_absence_of_the_next_word_only():
    assert said("no clouds, without trees, lake") == {"cloudy": -1.0, "trees": -1.0, "lake": 1.0}


def test_every_word_of_the_vocabulary_can_be_said():
    for word in WORDS:
        assert said(word) == {word: 1.0}


def test_a_word_it_was_never_taught_is_refused_with_the_closest_one():
    with pytest.raises(InvalidInput, match=r"the word 'castle'.*It knows: night, day"):
        Dream(prompt="a castle by the lake")
    with pytest.raises(InvalidInput, match="Did you mean 'snowy'"):
        read("snowwy")


@pytest.mark.parametrize(
    "wrong", [{"sampler": "euler-a"}, {"steps": 1}, {"guidance": -1}, {"size": 4}]
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(InvalidInput):
        Dream(**wrong)


# samplers


def gaussian_guess(mean, spread):
    """The exact guess if pictures are N(mean, spread²)."""

    def guess(x, t):
        gain = t * spread**2 / ((t * spread) ** 2 + (1 - t) ** 2)
        return (mean + gain * (x - t * mean)).astype(np.float32)

    return guess


@pytest.mark.parametrize("name", samplers.SAMPLERS)
def test_samplers_reach_the_exact_solution_the_second_order_one_sooner(name):
    guess = gaussian_guess(2.0, 0.5)
    start = np.random.default_rng(0).standard_normal((1, 4, 4)).astype(np.float32)
    exact = 2.0 + 0.5 * start  # the ODE carries quantiles to quantiles

    def error(steps):
        return np.abs(samplers.SAMPLERS[name](guess, start, steps) - exact).max()

    assert error(200) < 0.03
    assert error(200) < error(20) < error(5)
    if name == "dpm++":
        assert error(20) < 0.5 * np.abs(samplers.ddim(guess, start, 20) - exact).max()


def test_a_certain_guess_is_reached_exactly():
    def guess(x, t):
        return np.full_like(x, 3.0)

    for sampler in samplers.SAMPLERS.values():
        assert np.allclose(sampler(guess, np.zeros((1, 2, 2), np.float32), 3), 3.0)


# pictures


def test_pictures_are_the_same_alone_together_and_in_another_process():
    dream = Dream(prompt="sunset, lake", size=64, steps=4)
    several = [noise(i) for i in range(3)]
    together = dream.render(several)
    assert [exhibit.data for exhibit in together] == [
        dream.render([candidate])[0].data for candidate in several
    ]
    code = (
        "import sys, numpy as np; from zorank.renderers import Dream;"
        "x = np.random.default_rng(1).standard_normal(Dream.dim);"
        "d = Dream(prompt='sunset, lake', size=64, steps=4);"
        "sys.stdout.buffer.write(d.render([x])[0].data)"
    )
    assert python(code, text=False) == together[1].data


def test_the_prompt_and_the_noise_both_change_the_picture_and_small_moves_change_it_little():
    night, day = Dream(prompt="night"), Dream(prompt="bright day, clear")
    x, y = noise(0), noise(1)
    darkness = [np.mean([d.small_picture(z).mean() for z in (x, y)]) for d in (night, day)]
    assert darkness[0] < darkness[1] - 0.1
    here = night.small_picture(x)
    apart = np.abs(night.small_picture(y) - here).mean()
    near = np.abs(night.small_picture(x + 0.01 * y) - here).mean()
    assert 0 < near < 0.1 * apart


def test_the_size_is_that_of_the_picture_and_shows_the_same():
    dream = Dream(prompt="lake", steps=4)
    small, large = (opened(replace(dream, size=s).render([noise(0)])[0].data) for s in (128, 512))
    assert small.shape == (128, 128, 3)
    assert large.shape == (512, 512, 3)
    shrunk = large.reshape(128, 4, 128, 4, 3).mean((1, 3))
    assert np.abs(shrunk - small).mean() < 6


def test_candidates_of_another_length_are_refused():
    with pytest.raises(InvalidInput, match="4096 numbers, found 3"):
        Dream().render([np.zeros(3)])


def test_the_judge_finds_the_pictures_that_a_prompt_asked_for():
    prompts = ["night, stars", "bright day, clear, blue sky", "orange sky, sunset"]
    seen = np.stack([Dream(prompt=p, guidance=3).small_picture(noise(7)) for p in prompts])
    for i, prompt in enumerate(prompts):
        assert np.argmax(model.fit(seen, read(prompt))) == i


def test_weights_are_small_and_nothing_heavy_is_imported_before_the_first_picture():
    folder = resources.files("zorank.dream") / "weights"
    sizes = {file.name: len(file.read_bytes()) for file in folder.iterdir()}
    assert sizes["denoiser.onnx"] + sizes["picture.onnx"] <= 12_000_000
    code = (
        "import sys; import zorank.renderers; zorank.renderers.REGISTRY['dream'](prompt='lake');"
        "assert not {'onnxruntime', 'torch', 'PIL'} & set(sys.modules)"
    )
    python(code)


def test_it_is_in_the_registry():
    assert REGISTRY["dream"] is Dream
