"""Sound: a small synthesiser.

In this folder: zorank studio --renderer tones:Synthesiser
"""

import io
import wave

import numpy as np

from zorank.types import Exhibit, Vector

RATE, SECONDS = 22_050, 2.0


class Synthesiser:
    """Two notes with eight partials, a vibrato and an echo, from fourteen numbers."""

    title, description = "Tones", "Short sounds: choose by ear."
    media_type = "audio/wav"
    dim = 14

    def render(self, candidates: list[Vector]) -> list[Exhibit]:
        """A WAV file for each candidate."""
        return [Exhibit("audio/wav", self.play(x)) for x in candidates]

    def play(self, x: Vector) -> bytes:
        """One sound."""
        t = np.arange(int(RATE * SECONDS)) / RATE
        pitch = 220 * 2 ** (x[0] / 3) * np.where(t < SECONDS / 2, 1.0, 2 ** (x[1] / 4))
        phase = 2 * np.pi * np.cumsum(pitch) / RATE + 0.3 * x[2] * np.sin(2 * np.pi * 5 * t)
        partials = np.exp(x[3:11] / 2) / np.arange(1, 9) ** 1.2
        tone = sum(a * np.sin((i + 1) * phase) for i, a in enumerate(partials))
        tone *= np.exp(-(t % (SECONDS / 2)) * np.exp(x[11] / 2 + 0.5)) * np.minimum(t * 80, 1)
        delay = int(RATE * 0.12 * np.exp(x[12] / 3))
        tone[delay:] += 0.5 / (1 + np.exp(-x[13])) * tone[:-delay]
        samples = (tone / np.abs(tone).max() * 30_000).astype("<i2")
        file = io.BytesIO()
        with wave.open(file, "wb") as wav:
            wav.setparams((1, 2, RATE, len(samples), "NONE", ""))
            wav.writeframes(samples.tobytes())
        return file.getvalue()
