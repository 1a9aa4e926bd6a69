"""The available voices, and the principal axes between them.

A voice of Kokoro is a table of style vectors, (510, 256): one for each length of the text. The
first 128 numbers are timbre, the others manner. With n voices, whose mean over lengths is
X = M + U S Vᵀ, a point z on the first q ≤ n − 1 axes stands for the mix of tables

    mean + Σ_v w_v (voice_v − mean),  w = U z / √(n − 1),

so that z ~ N(0, I) has the mean and, on these axes, the covariance of the voices. The voices
themselves are at about |z|² = n − 1 each; further out is extrapolation.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from zorank.errors import InvalidInput
from zorank.renderers.voice import model
from zorank.types import Array32, Matrix, Vector

LENGTHS, STYLE = 510, 256
TIMBRE = STYLE // 2
MOST_AXES = 16
"""Axes of each of timbre and manner; 54 voices of Kokoro have 80% and 86% of their variance on
16 axes."""

MOST_VOICES = 256
SUFFIXES = (".bin", ".npy")


@dataclass(frozen=True, eq=False)
class Bank:
    """Voices, (n, 510, 256), and the weights of the voices on each axis, (n, q)."""

    tables: Array32
    timbre: Matrix
    manner: Matrix
    digest: str

    @property
    def axes(self) -> int:
        """The number of axes, of timbre as of manner."""
        return int(self.timbre.shape[1])

    def style(self, timbre: Vector, manner: Vector, length: int) -> Array32:
        """Return the style vector of a mix for a text of this many phonemes, (256,)."""
        voices = self.tables[:, min(length, LENGTHS) - 1].astype(np.float64)
        mean = voices.mean(axis=0)
        away = voices - mean
        parts = (
            (self.timbre @ timbre) @ away[:, :TIMBRE],
            (self.manner @ manner) @ away[:, TIMBRE:],
        )
        return np.asarray(mean + np.concatenate(parts), np.float32)


@cache
def bank_of(folder: str) -> Bank:
    """Return the voices of a folder; those of the package if it is ""."""
    return bank(np.stack(list(_read(Path(folder).expanduser()) if folder else _bundled())))


def bank(tables: Array32) -> Bank:
    """Compute the axes of voices, (n, 510, 256)."""
    axes = min(len(tables) - 1, MOST_AXES)
    means = tables.mean(axis=1, dtype=np.float64)
    means -= means.mean(axis=0)
    digest = blake2b(tables.tobytes(), digest_size=6).hexdigest()
    timbre, manner = (_weights(part, axes) for part in np.split(means, 2, axis=1))
    return Bank(tables, timbre, manner, digest)


def _weights(means: Matrix, axes: int) -> Matrix:
    left = np.linalg.svd(means, full_matrices=False)[0][:, :axes]
    # The sign of a singular vector is arbitrary; without this, candidates may differ by machine.
    largest = left[np.abs(left).argmax(axis=0), np.arange(axes)]
    return np.asarray(left * np.sign(largest) / np.sqrt(len(means) - 1))


def _bundled() -> Iterator[Array32]:
    with (model.data() / "voices_ja.npz").open("rb") as file:
        voices = np.load(io.BytesIO(file.read()), allow_pickle=False)
    for name in sorted(voices.files):
        yield np.asarray(voices[name], np.float32).reshape(LENGTHS, STYLE)


def _read(folder: Path) -> Iterator[Array32]:
    """Read the voices of a folder in the order of their names."""
    if not folder.is_dir():
        raise InvalidInput(
            f"there is no folder {folder}; voices must name a folder of voice files"
        )
    files = sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES)
    if not 3 <= len(files) <= MOST_VOICES:
        raise InvalidInput(
            f"{folder} has {len(files)} voices (.bin or .npy files), voice needs from 3 to "
            f"{MOST_VOICES}; the npm package kokoro-js has 54 in its folder voices"
        )
    for file in files:
        yield _read_voice(file)


def _read_voice(file: Path) -> Array32:
    """Read a table of a voice: little-endian float32 (.bin), or an array of NumPy."""
    wanted = f"a voice is {LENGTHS} × {STYLE} numbers, float32"
    try:
        if file.suffix == ".bin":
            table = np.frombuffer(file.read_bytes(), "<f4")
        else:
            table = np.load(file, allow_pickle=False)
        voice = np.asarray(table, np.float32).reshape(LENGTHS, STYLE)
    except (OSError, ValueError, EOFError) as error:
        raise InvalidInput(f"cannot read the voice {file.name}: {wanted}") from error
    if not np.isfinite(voice).all() or np.abs(voice).max() > 100:
        raise InvalidInput(f"cannot use the voice {file.name}: {wanted}, of moderate size")
    return voice
