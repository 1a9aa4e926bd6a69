"""The renderer voice: time, level and intelligibility of random voices.

    python benchmarks/voice.py [--voices DIR]

Prints the time that six sounds take, and for several kinds of candidates the durations, peaks and,
if pocketsphinx is installed, the word error rate of its small American model. That model makes
errors of its own; the unmixed voices are the reference.
"""

from __future__ import annotations

import argparse
import io
import os
import time
import wave
from importlib.util import find_spec
from typing import Any

import numpy as np

from zorank.renderers import Voice
from zorank.renderers.voice import sounds
from zorank.types import Matrix, Vector

TEXT = (
    "Good morning. Please send two letters to my old friend before the end of the month. "
    "He was happy to hear about the new house."
)
HEARD_RATE = 16_000


def samples_of(wav: bytes) -> Vector:
    """Return the samples of a WAV file, from −1 to 1."""
    with wave.open(io.BytesIO(wav)) as opened:
        read = np.frombuffer(opened.readframes(opened.getnframes()), "<i2")
    return read / 32_767.0


def word_errors(heard: list[str], said: list[str]) -> float:
    """Return the edit distance of the words, as a share of what was said."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said):
        new = [i + 1]
        for j, other in enumerate(heard):
            new.append(min(new[-1] + 1, row[j + 1] + 1, row[j] + (word != other)))
        row = new
    return row[-1] / len(said)


def heard_words(decoder: Any, samples: Vector) -> list[str]:
    """Return what the recogniser understands."""
    slower = sounds.resampled(samples.astype(np.float32), sounds.RATE / HEARD_RATE)
    decoder.start_utt()
    decoder.process_raw((slower * 30_000).astype("<i2").tobytes(), full_utt=True)
    decoder.end_utt()
    found = decoder.hyp()
    return found.hypstr.split() if found else []


def report(name: str, voice: Voice, candidates: Matrix, decoder: Any) -> None:
    """Print durations, peaks and word errors of candidates."""
    heard = [samples_of(exhibit.data) for exhibit in voice.render(candidates)]
    seconds = [len(samples) / sounds.RATE for samples in heard]
    line = f"{name:28} {min(seconds):.1f}-{max(seconds):.1f} s, "
    line += f"peak {max(np.abs(samples).max() for samples in heard):.2f}"
    if decoder:
        said = TEXT.lower().replace(".", "").split()
        errors = [word_errors(heard_words(decoder, samples), said) for samples in heard]
        line += f", word error rate {np.mean(errors):.2f} ({len(errors)} sounds)"
    print(line, flush=True)


def main() -> None:
    """Measure what the module's text says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voices", default="", help="a folder of voices")
    parser.add_argument("--count", type=int, default=10, help="candidates of each kind")
    arguments = parser.parse_args()
    short = Voice(voices=arguments.voices)
    rng = np.random.default_rng(0)
    begin = time.perf_counter()
    short.warm_up()
    print(f"loading takes {time.perf_counter() - begin:.1f} s")
    begin, cpu = time.perf_counter(), time.process_time()
    made = [samples_of(e.data) for e in short.render(rng.standard_normal((6, short.dim)))]
    total = sum(map(len, made)) / sounds.RATE
    print(
        f"six sounds, {total:.1f} s long together, take {time.perf_counter() - begin:.1f} s, and "
        f"{(time.process_time() - cpu) / total:.2f} s of a core for a second of sound "
        f"({os.cpu_count()} cores, load {os.getloadavg()[0]:.0f})"
    )
    decoder = None
    if find_spec("pocketsphinx"):
        from pocketsphinx import Decoder

        decoder = Decoder(samprate=HEARD_RATE, loglevel="FATAL")
    voice = Voice(text=TEXT, voices=arguments.voices)
    candidates = rng.standard_normal((arguments.count, voice.dim))
    usual = candidates.copy()
    usual[:, -2:] = 0
    report("usual pace and pitch", voice, usual, decoder)
    report("random candidates", voice, candidates, decoder)
    report("1.7 times as far", voice, 1.7 * candidates, decoder)


if __name__ == "__main__":
    main()
