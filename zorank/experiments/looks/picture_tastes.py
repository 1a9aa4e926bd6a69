"""Perceptual tastes of simulated raters, by name and seed.

A taste is a utility of pictures, (n, 64, 64, 3) from 0 to 1, and of their candidates, (n, d). It
returns n numbers; higher is better. Its qualities are standardised over random pictures, and the
seed draws its random part, such as a target picture. There are three groups:

- "sketched": tastes that `rank-looks` was developed on;
- "numbers": tastes in the candidates' coordinates, where pictures add no information;
- "held out" (`held_out_tastes`): other kinds, which nothing was tuned on.

No taste uses the descriptor of `rank-looks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank import rng
from zorank.renderers import Landscape

SKETCHED, NUMBERS, HELD_OUT = "sketched", "numbers", "held out"
LUMA = np.array([0.3, 0.59, 0.11], dtype=np.float32)

Pictures: TypeAlias = "NDArray[np.float32]"
Numbers: TypeAlias = "NDArray[np.float64]"
Utility: TypeAlias = Callable[[Pictures, Numbers], Numbers]


@dataclass(frozen=True, eq=False)
class Reference:
    """Random pictures, (n, 64, 64, 3), and their candidates, (n, d)."""

    pictures: Pictures
    candidates: Numbers


@dataclass(frozen=True)
class Kind:
    """A kind of taste: its group, a description, and a function that makes one from a seed."""

    group: str
    meaning: str
    make: Callable[[int, Reference], Utility]


def luma(p: Pictures) -> Pictures:
    """Return the luminance of every pixel, (n, rows, columns)."""
    return p @ LUMA


def summed(parts: Utility, reference: Reference) -> Utility:
    """Return the sum of several qualities, (n, q), each standardised over random pictures."""
    seen = parts(reference.pictures, reference.candidates)
    mean, spread = seen.mean(axis=0), seen.std(axis=0) + 1e-9
    return lambda p, x: np.asarray(((parts(p, x) - mean) / spread).sum(axis=1))


def _warm(p: Pictures, x: Numbers) -> Numbers:
    light = luma(p)
    half = light.shape[1] // 2
    return np.stack(
        [
            (p[..., 0] - p[..., 2]).mean(axis=(1, 2)),
            light.std(axis=(1, 2)),
            -np.abs(light - light[:, :, ::-1]).mean(axis=(1, 2)),
            light[:, half:].mean(axis=(1, 2)) - light[:, :half].mean(axis=(1, 2)),
        ],
        axis=1,
    ).astype(np.float64)


def _pixel(p: Pictures, x: Numbers) -> Numbers:
    light = luma(p)
    change = np.diff(light.mean(axis=2), axis=1) ** 2
    height = change @ np.arange(change.shape[1]) / np.maximum(change.sum(axis=1), 1e-9)
    blue = (p[..., 2] - p[..., 0]).mean(axis=(1, 2))
    return np.stack([-light.mean(axis=(1, 2)), blue, height], axis=1).astype(np.float64)


WISHES = ("sunset", "forest", "fog", "cloudy")


def _wish(p: Pictures, x: Numbers) -> Numbers:
    attributes = [Landscape(size=64).attributes(row) for row in x]
    return np.array([[of[word] for word in WISHES] for of in attributes])


class Network:
    """A random convolutional network whose activations are scaled by random pictures."""

    CHANNELS = (3, 12, 16, 24)

    def __init__(self, number: int, reference: Reference) -> None:
        draws = np.random.default_rng(number)
        self._kernels = [
            draws.standard_normal((3, 3, a, b)).astype(np.float32)
            for a, b in pairwise(self.CHANNELS)
        ]
        self._mixed = draws.standard_normal((5 * self.CHANNELS[-1], 6))
        self._scales: list[float] = []
        pooled = self._pooled(reference.pictures)
        self._mean, self._spread = pooled.mean(axis=0), pooled.std(axis=0)

    def __call__(self, p: Pictures, x: Numbers) -> Numbers:
        """Return the sum of six bounded outputs, (n,)."""
        return np.asarray(np.tanh((self._pooled(p) - self._mean) / self._spread).sum(axis=1))

    def _pooled(self, p: Pictures) -> Numbers:
        z = (p - np.float32(0.5)) * np.float32(3.0)
        for layer, kernel in enumerate(self._kernels):
            z = np.maximum(_convolved(z, kernel), 0)[:, ::2, ::2]
            if layer == len(self._scales):  # the first call, with the random pictures
                self._scales.append(float(z.std()))
            z = z / np.float32(self._scales[layer])
        h, w = z.shape[1] // 2, z.shape[2] // 2
        regions = [z, z[:, :h], z[:, h:], z[:, :, :w]]
        parts = [*(region.mean(axis=(1, 2)) for region in regions), z.max(axis=(1, 2))]
        return np.asarray(np.concatenate(parts, axis=1) @ self._mixed)


def _convolved(z: Pictures, kernel: Pictures) -> Pictures:
    rows, columns = z.shape[1] - 2, z.shape[2] - 2
    out = np.zeros((len(z), rows, columns, kernel.shape[-1]), np.float32)
    for i in range(3):
        for j in range(3):
            out += z[:, i : i + rows, j : j + columns] @ kernel[i, j]
    return out


def _dials(seed: int, reference: Reference) -> Utility:
    weights = rng.for_content(seed, b"dials").standard_normal(reference.candidates.shape[1])
    return lambda p, x: np.asarray(x @ weights)


def _place(seed: int, reference: Reference) -> Utility:
    dim = reference.candidates.shape[1]
    draws = rng.for_content(seed, b"place")
    matter = draws.permutation(dim)[:20]
    target = draws.standard_normal(20)
    return lambda p, x: -np.asarray(((x[:, matter] - target) ** 2).sum(axis=1))


SKETCHED_KINDS: dict[str, Kind] = {
    "warm": Kind(
        SKETCHED,
        "red over blue, contrasted, symmetric, light below",
        lambda seed, reference: summed(_warm, reference),
    ),
    "pixel": Kind(
        SKETCHED,
        "dark, blue, a low horizon",
        lambda seed, reference: summed(_pixel, reference),
    ),
    "cnn1": Kind(
        SKETCHED,
        "what a random convolutional network answers to",
        lambda seed, reference: Network(1, reference),
    ),
    "cnn2": Kind(
        SKETCHED,
        "what another random network answers to",
        lambda seed, reference: Network(2, reference),
    ),
    "wish": Kind(
        SKETCHED,
        "sunset, forest, fog and clouds, by the renderer's own words",
        lambda seed, reference: summed(_wish, reference),
    ),
}

NUMBER_KINDS: dict[str, Kind] = {
    "dials": Kind(NUMBERS, "linear in the candidate's numbers, weighed by the seed", _dials),
    "place": Kind(NUMBERS, "near a hidden point in 20 of the candidate's numbers", _place),
}
