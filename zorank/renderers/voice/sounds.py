"""Samples after synthesis: ends trimmed, pitch shifted, level equalised, written as WAV."""

from __future__ import annotations

import io
import wave

import numpy as np

from zorank.types import Array32

RATE = 24_000
"""Samples per second of the model."""

LEVEL, PEAK = 0.1, 0.95
"""The root mean square of all sounds where they speak (−20 dBFS), and the largest sample."""

QUIET = 0.05
"""Windows below this share of the loudest one are pauses."""

PAD = RATE // 20
"""Samples of silence that are kept at both ends."""


def trimmed(samples: Array32) -> Array32:
    """Cut silence off both ends and fade the cuts."""
    loud = np.flatnonzero(np.abs(samples) > 0.02 * np.abs(samples).max(initial=1e-6))
    if not len(loud):
        return samples
    kept = samples[max(0, loud[0] - PAD) : loud[-1] + PAD].copy()
    fade = np.linspace(0.0, 1.0, min(PAD // 4, len(kept)), dtype=np.float32)
    kept[: len(fade)] *= fade
    kept[len(kept) - len(fade) :] *= fade[::-1]
    return kept


def resampled(samples: Array32, factor: float) -> Array32:
    """Multiply all frequencies by a factor, which divides the duration by it."""
    count = max(1, round(len(samples) / factor))
    spectrum = np.fft.rfft(samples.astype(np.float64))
    size = count // 2 + 1
    spectrum = np.pad(spectrum[:size], (0, max(0, size - len(spectrum))))
    shifted = np.fft.irfft(spectrum, count) * (count / len(samples))
    return np.asarray(shifted, np.float32)


def levelled(samples: Array32) -> Array32:
    """Scale to the common level, or as far as the largest sample allows."""
    window = RATE // 50
    whole = samples[: len(samples) // window * window].astype(np.float64)
    powers = (whole.reshape(-1, window) ** 2).mean(axis=1) if len(whole) else np.zeros(1)
    speech = powers[powers > QUIET**2 * powers.max()]
    level = np.sqrt(speech.mean()) if len(speech) else 0.0
    peak = np.abs(samples).max(initial=0.0)
    if level == 0.0:
        return samples
    return np.asarray(samples * min(LEVEL / level, PEAK / peak), np.float32)


def wav(samples: Array32) -> bytes:
    """Return a WAV file: 16 bits, one channel."""
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setparams((1, 2, RATE, len(samples), "NONE", ""))
        written.writeframes(np.rint(samples * 32_767).astype("<i2").tobytes())
    return file.getvalue()
