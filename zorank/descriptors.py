"""Descriptors of pictures, clips, sounds and texts: similar exhibits have near descriptors.

All numbers of a descriptor have a similar scale, so that `zorank.looks` can take principal
components. The descriptors are handmade; nothing is learned.
"""

from __future__ import annotations

import wave
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any
from zlib import crc32

import numpy as np

from zorank.errors import InvalidInput, MissingExtra, required_by
from zorank.types import Array32, Exhibit, Matrix, Vector

SIDE = 64
"""Pictures are described at this size, in pixels."""

LIGHT = np.array([0.3, 0.59, 0.11], np.float32)
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SCALES = 5
"""Wavelet scales: from single pixels to halves of the picture."""

STATISTICS_SHARE = 2.1
"""The weight that gives statistics and layout equal variance over random landscapes."""


def pictures(images: Array32) -> Matrix:
    """Describe pictures, (n, 64, 64, 3) with values from 0 to 1, by layout and statistics."""
    opponent = _opponent(images)
    return np.concatenate(
        [_layout(opponent), STATISTICS_SHARE * _statistics(images, opponent)], axis=1
    ).astype(np.float64)


def _opponent(images: Array32) -> Array32:
    """Return opponent colours: luminance, red–green, blue–yellow."""
    red, green, blue = (images[..., i] for i in range(3))
    return np.stack([images @ LIGHT, red - green, blue - 0.5 * (red + green)], axis=-1)


def _cells(values: Array32, count: int) -> Array32:
    """Cut pictures into count × count cells: (n, count, count, pixels per cell, channels)."""
    n, side, _, channels = values.shape
    step = side // count
    cells = values.reshape(n, count, step, count, step, channels).transpose(0, 1, 3, 2, 4, 5)
    return cells.reshape(n, count, count, step * step, channels)


def _layout(opponent: Array32) -> Array32:
    """Return mean colours of 8 × 8 cells, contrast in 4 × 4 cells, edges in 8 × 8 cells."""
    n, light = len(opponent), opponent[..., 0]
    colours = _cells(opponent, 8).mean(axis=3)
    contrast = _cells(opponent, 4).std(axis=3)
    down = np.abs(np.diff(light, axis=1, append=light[:, -1:]))
    across = np.abs(np.diff(light, axis=2, append=light[:, :, -1:]))
    edges = 3.0 * np.sqrt(_cells(np.stack([down, across], axis=-1), 8).mean(axis=3))
    return np.concatenate([part.reshape(n, -1) for part in (colours, contrast, edges)], axis=1)


def _statistics(images: Array32, opponent: Array32) -> Array32:
    """Return statistics of whole pictures; factors bring them to about the same spread."""
    n = len(images)
    flat = opponent.reshape(n, -1, 3)
    quantiles = np.quantile(flat, QUANTILES, axis=1).transpose(1, 2, 0).reshape(n, -1)
    chroma = (images.max(axis=-1) - images.min(axis=-1)).reshape(n, -1)
    light = opponent[..., 0]
    rows, columns = (
        part.reshape(n, 8, -1).mean(axis=2) for part in (light, light.transpose(0, 2, 1))
    )
    parts = (
        flat.mean(axis=1),
        0.5 * np.log(flat.std(axis=1) + 0.01),
        quantiles,
        2.0 * chroma.mean(axis=1)[:, None],
        0.5 * np.log(chroma.std(axis=1) + 0.01)[:, None],
        np.quantile(chroma, (0.5, 0.95), axis=1).T * (2.0, 1.0),
        0.3 * _detail(light),
        _palette(flat[..., 1:]),
        2.0 * (rows - rows.mean(axis=1, keepdims=True)),
        5.0 * (columns - columns.mean(axis=1, keepdims=True)),
        6.0 * np.abs(light - light[:, :, ::-1]).mean(axis=(1, 2))[:, None],
    )
    return np.concatenate(parts, axis=1)


def _detail(light: Array32) -> Array32:
    """Return log energies of Haar wavelets, for each scale and each of three orientations."""
    energies = []
    for _ in range(SCALES):
        n, rows, columns = light.shape
        blocks = light.reshape(n, rows // 2, 2, columns // 2, 2)
        down = (blocks[:, :, 0] - blocks[:, :, 1]).mean(axis=3)
        across = (blocks[..., 0] - blocks[..., 1]).mean(axis=2)
        diagonal = blocks[:, :, 0, :, 0] - blocks[:, :, 0, :, 1]
        diagonal += blocks[:, :, 1, :, 1] - blocks[:, :, 1, :, 0]
        energies += [np.log((w**2).mean(axis=(1, 2)) + 1e-5) for w in (down, across, diagonal)]
        light = blocks.mean(axis=(2, 4))
    return np.stack(energies, axis=1)


def _palette(opponent: Array32) -> Array32:
    """Return the square root of the share of pixels near each of twelve colours."""
    shares = [
        np.exp(
            -((opponent[..., 0] - red) ** 2 / 0.02 + (opponent[..., 1] - blue) ** 2 / 0.03)
        ).mean(axis=1)
        for red in (-0.2, 0.0, 0.2)
        for blue in (-0.3, -0.1, 0.1, 0.3)
    ]
    return np.asarray(np.sqrt(np.stack(shares, axis=1)))


BANDS, WINDOW = 24, 1024
"""Mel bands, and samples per window."""


def sound(samples: Vector, rate: int) -> Vector:
    """Describe a sound by mean, spread and change over time of its energy in mel bands."""
    frames = max(1, (len(samples) - WINDOW) // (WINDOW // 2) + 1)
    padded = np.pad(samples, (0, max(0, WINDOW - len(samples))))
    starts = (WINDOW // 2) * np.arange(frames)[:, None]
    windows = padded[starts + np.arange(WINDOW)] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(windows, axis=1)) ** 2
    mel = 2595.0 * np.log10(1.0 + np.fft.rfftfreq(WINDOW, 1.0 / rate) / 700.0)
    centres = np.linspace(0.0, mel[-1], BANDS + 2)[1:-1, None]
    filters = np.maximum(0.0, 1.0 - np.abs(mel - centres) * (BANDS + 1) / mel[-1])
    energy = np.log(power @ filters.T + 1e-6)
    quarters = [part.mean(axis=0) for part in np.array_split(energy, 4) if len(part)]
    quarters += [quarters[-1]] * (4 - len(quarters))
    mean = energy.mean(axis=0)
    change = np.concatenate([quarter - mean for quarter in quarters])
    return np.concatenate([mean, energy.std(axis=0), change]) / 4.0


HASH_BUCKETS = 256


def text(content: str) -> Vector:
    """Describe a text by its length and the hashed frequencies of its trigrams."""
    counts: Vector = np.zeros(HASH_BUCKETS)
    for i in range(len(content) - 2):
        counts[crc32(content[i : i + 3].encode()) % HASH_BUCKETS] += 1.0
    return np.append(np.sqrt(counts / max(1, len(content) - 2)), np.log1p(len(content)) / 8.0)


def clip(frames: Array32) -> Vector:
    """Describe a clip, (n, 64, 64, 3), by its first, middle and last frame and its motion."""
    stills = pictures(frames[[0, len(frames) // 2, -1]])
    moves = np.abs(np.diff(frames, axis=0)).mean(axis=-1, keepdims=True)
    where = _cells(moves, 8).mean(axis=(0, 3)).ravel() if len(moves) else np.zeros(64)
    return np.concatenate([stills.ravel() / np.sqrt(3.0), 8.0 * np.sqrt(where)])


def of_exhibits(exhibits: Sequence[Exhibit]) -> Matrix:
    """Return one row for each exhibit; all must have the same media type."""
    reader = reader_of(exhibits[0].media_type)
    if reader is None:
        raise InvalidInput(f"there is no descriptor for {exhibits[0].media_type} exhibits")
    return np.stack([reader(exhibit.data) for exhibit in exhibits])


def reader_of(media_type: str) -> Callable[[bytes], Vector] | None:
    """Return the function that describes a file of this media type; None if there is none."""
    kind, _, form = media_type.partition(";")[0].partition("/")
    if kind == "image":
        return None if form.startswith("svg") else _read_picture
    if kind == "audio":
        return _read_sound if form in ("wav", "x-wav", "wave") else None
    return {"video": _read_clip, "text": _read_text}.get(kind)


def _read_picture(file: bytes) -> Vector:
    with required_by("the descriptor of pictures", "pillow", "studio"):
        from PIL import Image
    picture = Image.open(BytesIO(file)).convert("RGB")
    small = picture.resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(pictures(_to_array(small)[None])[0])


def _read_clip(file: bytes) -> Vector:
    try:
        import imageio.v3 as iio
        from PIL import Image
    except ModuleNotFoundError as error:
        raise MissingExtra("the descriptor of clips", error.name or "imageio", "rl") from error
    frames: Any = iio.imread(file, extension=".mp4")
    some = frames[:: max(1, len(frames) // 12)]
    small = [Image.fromarray(f).resize((SIDE, SIDE), Image.Resampling.BOX) for f in some]
    return clip(np.stack([_to_array(frame.convert("RGB")) for frame in small]))


def _to_array(picture: Any) -> Array32:
    """Return a Pillow picture as numbers from 0 to 1."""
    return np.asarray(picture, np.float32) / np.float32(255)


def _read_sound(file: bytes) -> Vector:
    with wave.open(BytesIO(file)) as opened:
        width, channels = opened.getsampwidth(), opened.getnchannels()
        data, rate = opened.readframes(opened.getnframes()), opened.getframerate()
    if width not in (1, 2, 4):
        raise InvalidInput(
            f"sounds with {8 * width} bits per sample are not supported; use 8, 16 or 32"
        )
    samples = np.frombuffer(data, {1: "u1", 2: "<i2", 4: "<i4"}[width]).astype(np.float64)
    samples = samples - 128 if width == 1 else samples
    return sound(samples.reshape(-1, channels).mean(axis=1) / 2.0 ** (8 * width - 1), rate)


def _read_text(file: bytes) -> Vector:
    return text(file.decode(errors="replace"))
