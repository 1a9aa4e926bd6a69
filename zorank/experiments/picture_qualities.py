"""Tastes in pictures: a random mixture of qualities such as brightness or warmth.

A taste depends only on the pixels, not on candidates, latents or models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank import rng
from zorank.experiments.simulated_raters import Taste
from zorank.slates import Shell
from zorank.types import Vector

QUALITIES = (
    "bright",
    "warm",
    "colourful",
    "contrasted",
    "light above",
    "light at the left",
    "a calm foreground",
    "a high skyline",
)
RANDOM_PICTURES = 50
"""The number of random pictures that qualities are standardised over."""

Picture = NDArray[np.float32]


def qualities(picture: Picture) -> Vector:
    """Return the qualities of a (rows, columns, 3) picture with values from 0 to 1."""
    rows, columns, _ = picture.shape
    red, green, blue = (picture[..., i] for i in range(3))
    light = 0.3 * red + 0.59 * green + 0.11 * blue
    across, down = np.linspace(-1, 1, columns), np.linspace(1, -1, rows)
    change = np.diff(light.mean(axis=1)) ** 2
    foreground = light[3 * rows // 4 :]
    return np.array(
        [
            light.mean(),
            (red - blue).mean(),
            picture.std(axis=2).mean(),
            light.std(),
            (light.mean(axis=1) * down).mean(),
            -(light.mean(axis=0) * across).mean(),
            -np.abs(np.diff(foreground, axis=1)).mean(),
            -float(change @ np.arange(rows - 1)) / max(float(change.sum()), 1e-9),
        ]
    )


@dataclass(frozen=True, eq=False)
class PictureLoss:
    """Minus the weighted sum of the qualities of a candidate's picture."""

    picture: Callable[[Vector], Picture]
    mean: Vector
    spread: Vector
    weights: Vector

    def __call__(self, x: Vector) -> Any:
        """Return the loss of one candidate, (d,), or of many, (n, d)."""
        if x.ndim == 2:
            return np.array([self(row) for row in x])
        seen = (qualities(self.picture(x)) - self.mean) / self.spread
        return -float(self.weights @ seen)


def weights_of(seed: int) -> Vector:
    """Return the random weights of a seed: four of the qualities are nonzero."""
    draws = rng.for_content(seed, b"taste in pictures")
    weights: Vector = np.zeros(len(QUALITIES))
    weights[draws.permutation(len(QUALITIES))[:4]] = draws.standard_normal(4)
    return weights / np.linalg.norm(weights)


def taste_in_pictures(picture: Callable[[Vector], Picture], dim: int, seed: int) -> Taste:
    """Return a taste, standardised over random pictures."""
    seen = np.array([qualities(shown) for shown in random_pictures(picture, dim)])
    mean, spread = seen.mean(axis=0), np.maximum(seen.std(axis=0), 1e-9)
    weights = weights_of(seed)
    values = -((seen - mean) / spread) @ weights
    return Taste(
        PictureLoss(picture, mean, spread, weights), float(values.mean()), float(values.std())
    )


@lru_cache(maxsize=2)
def random_pictures(picture: Callable[[Vector], Picture], dim: int) -> NDArray[np.float32]:
    """Return pictures of random candidates, the same for every taste and rater."""
    draws, shell = rng.for_content(0, b"random pictures"), Shell()
    return np.stack(
        [picture(shell.place(draws.standard_normal(dim))) for _ in range(RANDOM_PICTURES)]
    )
