"""Tastes that nothing was tuned on: composition, palette, texture, a target picture.

Each is a `Kind` of `picture_tastes`; the seed draws its random part.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from zorank import rng
from zorank.experiments.looks.picture_tastes import (
    HELD_OUT,
    Kind,
    Numbers,
    Pictures,
    Reference,
    Utility,
    luma,
)
from zorank.experiments.picture_qualities import qualities, weights_of

Quality = Callable[[Pictures], Numbers]


def _shared(quality: Quality) -> Callable[[int, Reference], Utility]:
    """Return a taste that does not depend on the seed."""
    return lambda seed, reference: lambda p, x: np.asarray(quality(p), dtype=np.float64)


def _blurred(p: Pictures, times: int = 1) -> Pictures:
    """Smooth by (1, 2, 1)/4 along both axes, with repeated edges."""
    for _ in range(times):
        for axis in (1, 2):
            padding = [(0, 0)] * p.ndim
            padding[axis] = (1, 1)
            wide = np.pad(p, padding, mode="edge")
            n = p.shape[axis]
            before, after = (wide.take(range(s, s + n), axis) for s in (0, 2))
            p = np.float32(0.25) * (before + after) + np.float32(0.5) * p
    return p


def _in_mind(seed: int, reference: Reference) -> Utility:
    """Return minus the mean absolute difference to a hidden picture, both slightly blurred."""
    target = _blurred(reference.pictures[_target_picture(seed, b"in mind", reference)][None])
    return lambda p, x: -np.abs(_blurred(p) - target).mean(axis=(1, 2, 3)).astype(np.float64)


def _palette(seed: int, reference: Reference) -> Utility:
    """Return minus the distance between the colour histogram and that of a hidden picture."""
    hidden = _colours(reference.pictures[_target_picture(seed, b"palette", reference)][None])
    return lambda p, x: -np.sqrt(((np.sqrt(_colours(p)) - np.sqrt(hidden)) ** 2).sum(axis=1))


def _colours(p: Pictures) -> Numbers:
    """Return a histogram of 12 hues by two levels of chroma, and grey: (n, 25).

    It is smoothed over neighbouring hues, so that similar colours count as similar.
    """
    hue, chroma = _hue_and_chroma(p)
    turn = np.floor(12 * hue).astype(int) % 12
    bins = np.where(chroma < 0.06, 24, turn + 12 * (chroma > 0.25))
    counts = np.array([np.bincount(row, minlength=25) for row in bins.reshape(len(p), -1)])
    hues = counts[:, :24].reshape(len(p), 2, 12).astype(np.float64)
    for _ in range(3):
        hues = 0.25 * (np.roll(hues, 1, axis=2) + np.roll(hues, -1, axis=2)) + 0.5 * hues
    shares = np.concatenate([hues.reshape(len(p), 24), counts[:, 24:]], axis=1)
    return np.asarray(shares / bins[0].size)


def _hue_and_chroma(p: Pictures) -> tuple[Numbers, Numbers]:
    """Return the hue, as a fraction of a turn, and the chroma of every pixel."""
    red, green, blue = (p[..., i].astype(np.float64) for i in range(3))
    a, b = red - 0.5 * (green + blue), np.sqrt(0.75) * (green - blue)
    return np.arctan2(b, a) / (2 * np.pi) % 1.0, np.hypot(a, b)


def _spectral_slope(p: Pictures) -> Numbers:
    """Return the slope of log power over log frequency; lower for smoother pictures."""
    light = luma(p)
    size = light.shape[1]
    power = np.abs(np.fft.rfft2(light - light.mean(axis=(1, 2), keepdims=True))) ** 2
    down, across = np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)
    radius = np.rint(size * np.hypot(down, across)).astype(int).ravel()
    used = range(1, size // 2)
    flat = power.reshape(len(p), -1)
    rings = np.stack([np.log(flat[:, radius == r].mean(axis=1) + 1e-6) for r in used], axis=1)
    octaves = np.log(np.array(used))
    octaves = (octaves - octaves.mean()) / ((octaves - octaves.mean()) ** 2).sum()
    return np.asarray(rings @ octaves, dtype=np.float64)


def _thirds(seed: int, reference: Reference) -> Utility:
    """Return minus the distance of the centre of contrast from a point of the rule of thirds."""
    draws = rng.for_content(seed, b"thirds")
    point = np.array([1 / 3, 2 / 3])[draws.integers(2, size=2)]

    def near(p: Pictures, x: Numbers) -> Numbers:
        light = luma(p).astype(np.float64)
        mass = (light - np.median(light, axis=(1, 2), keepdims=True)) ** 2 + 1e-6
        places = (np.arange(light.shape[1]) + 0.5) / light.shape[1]
        total = mass.sum(axis=(1, 2))
        down, across = mass.sum(axis=2) @ places / total, mass.sum(axis=1) @ places / total
        return np.asarray(-np.hypot(down - point[0], across - point[1]))

    return near


def _just_right(seed: int, reference: Reference) -> Utility:
    """Return a utility of luminance, contrast, warmth and colour that peaks at set points."""

    def seen(p: Pictures) -> Numbers:
        light, depth = luma(p), p.max(axis=3) - p.min(axis=3)
        means = (light, p[..., 0] - p[..., 2], depth)
        parts = [light.std(axis=(1, 2)), *(part.mean(axis=(1, 2)) for part in means)]
        return np.stack(parts, axis=1).astype(np.float64)

    usual = seen(reference.pictures)
    levels = rng.for_content(seed, b"just right").uniform(0.1, 0.9, usual.shape[1])
    wanted = np.diag(np.quantile(usual, levels, axis=0))
    spread = usual.std(axis=0)
    return lambda p, x: -np.asarray((((seen(p) - wanted) / spread) ** 2).sum(axis=1))


def _intricate(p: Pictures) -> Numbers:
    """Return the size of the zlib-compressed pixel differences, quantised to 32 levels."""
    levels = np.rint(31 * luma(p)).astype(np.int8)
    changes = np.diff(levels, axis=2, prepend=0)
    return np.array([len(zlib.compress(row.tobytes(), 6)) for row in changes], dtype=float)


def _harmonious(p: Pictures) -> Numbers:
    """Return minus the log of the circular variance of hue, weighted by chroma."""
    hue, chroma = _hue_and_chroma(p)
    pull = (chroma * np.exp(2j * np.pi * hue)).sum(axis=(1, 2))
    agreement = np.abs(pull) / (chroma.sum(axis=(1, 2)) + 1e-9)
    return np.asarray(-np.log(1.01 - agreement))


def _crisp(p: Pictures) -> Numbers:
    """Return the log ratio of fine contrast to coarse contrast."""
    light = luma(p)
    coarse = _blurred(light, 6)
    fine = (light - coarse).std(axis=(1, 2))
    ratio = (fine + 1e-3) / (coarse.std(axis=(1, 2)) + 1e-3)
    return np.asarray(np.log(ratio), dtype=np.float64)


def _level(p: Pictures) -> Numbers:
    """Return minus the standard deviation of the height of the skyline.

    The skyline is the strongest vertical change of each column.
    """
    light = _blurred(luma(p)).astype(np.float64)
    change = np.abs(np.diff(light, axis=1)) ** 4 + 1e-12  # soft: the strongest change dominates
    rows = np.arange(change.shape[1])
    skyline = np.einsum("nrc,r->nc", change, rows) / change.sum(axis=1)
    return np.asarray(-skyline.std(axis=1))


def _waves(seed: int, reference: Reference) -> Utility:
    """Return a sum of 64 waves in the picture shrunk to 4 × 4: bounded, with many local maxima."""

    def shrunk(p: Pictures) -> Numbers:
        side = p.shape[1] // 4
        blocks = p.reshape(len(p), 4, side, 4, side, 3).mean(axis=(2, 4))
        return np.asarray(blocks.reshape(len(p), -1), dtype=np.float64)

    usual = shrunk(reference.pictures)
    mean, scale = usual.mean(axis=0), np.sqrt(usual.var(axis=0).sum())
    draws = rng.for_content(seed, b"waves")
    fast = 1.5 * draws.standard_normal((usual.shape[1], 64)) / scale
    phase, height = draws.uniform(0, 2 * np.pi, 64), draws.standard_normal(64)
    return lambda p, x: np.asarray(np.cos((shrunk(p) - mean) @ fast + phase) @ height)


def _eight(p: Pictures) -> Numbers:
    return np.array([qualities(one) for one in p])


def _both(seed: int, reference: Reference) -> Utility:
    """Return the minimum of two of the eight qualities, or of their opposites."""
    draws = rng.for_content(seed, b"both")
    two, signs = draws.permutation(8)[:2], draws.choice([-1.0, 1.0], 2)
    mean, spread = _scale_of(_eight(reference.pictures))
    return lambda p, x: np.asarray(
        (signs * ((_eight(p) - mean) / spread)[:, two]).min(axis=1), dtype=np.float64
    )


def _mixture(seed: int, reference: Reference) -> Utility:
    """Return four of the eight qualities with random weights, as in `picture_qualities`."""
    weights = weights_of(seed)
    mean, spread = _scale_of(_eight(reference.pictures))
    return lambda p, x: np.asarray(((_eight(p) - mean) / spread) @ weights)


def _scale_of(seen: Numbers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return seen.mean(axis=0), np.maximum(seen.std(axis=0), 1e-9)


def _target_picture(seed: int, what: bytes, reference: Reference) -> int:
    """Return the index of the random picture that a rater of this seed has in mind."""
    return int(rng.for_content(seed, what).integers(len(reference.pictures)))


HELD_OUT_KINDS: dict[str, Kind] = {
    name: Kind(HELD_OUT, meaning, make)
    for name, (meaning, make) in {
        "in mind": ("like a picture in mind, pixel by pixel", _in_mind),
        "palette": ("the colours of a hidden picture, wherever they are", _palette),
        "detailed": ("power at fine scales, a flat spectrum", _shared(_spectral_slope)),
        "thirds": ("what stands out is at a point of the rule of thirds", _thirds),
        "just right": ("light, contrast, warmth and colour as wished, not more", _just_right),
        "intricate": ("hard to compress", _shared(_intricate)),
        "harmonious": ("all hues close to one", _shared(_harmonious)),
        "crisp": ("contrast in details rather than in large shapes", _shared(_crisp)),
        "level": ("a straight and level skyline", _shared(_level)),
        "waves": ("a wiggly function of the picture shrunk to 4 × 4", _waves),
        "both": ("two qualities at once: the lesser one counts", _both),
        "mixture": ("four of eight qualities, weighed at random", _mixture),
    }.items()
}
