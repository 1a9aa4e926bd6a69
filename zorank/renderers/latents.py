"""Tests whether a latent is still distributed like noise.

A generator was trained on draws of N(0, I). A search that preserves the norm of its point may
still leave that distribution: if the mean or the variance of a channel has moved, pictures fade,
saturate or show artefacts. Each statistic is a z-score under N(0, I): values from -2 to 2 are
usual, values beyond 4 are not due to chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from zorank.errors import InvalidInput
from zorank.types import Vector

UNUSUAL = 4.0
"""The z-score beyond which a latent is unusual: 1 of 1,000 random latents has one."""


def drift(latents: Vector, shape: Sequence[int]) -> dict[str, Any]:
    """Return how far latents of this shape, channels first, are from a draw of N(0, I).

    Returns:
        `norm`: their norm over √d; `mean` and `variance`: a z-score for each channel; `largest`:
        the largest absolute z-score; `unusual`: whether it exceeds `UNUSUAL`.
    """
    values = np.asarray(latents, dtype=float)
    if values.size != math.prod(shape):
        raise InvalidInput(
            f"latents of the shape {tuple(shape)} have {math.prod(shape)} numbers, "
            f"found {values.size}"
        )
    channels = values.reshape(shape[0], -1)
    count = channels.shape[1]
    mean = channels.mean(axis=1) * math.sqrt(count)  # ~ N(0, 1)
    # The mean square of n draws has mean 1 and variance 2/n.
    variance = (np.mean(channels**2, axis=1) - 1) * math.sqrt(count / 2)
    largest = float(np.abs([mean, variance]).max())
    return {
        "norm": float(np.linalg.norm(values)) / math.sqrt(values.size),
        "mean": mean.tolist(),
        "variance": variance.tolist(),
        "largest": largest,
        "unusual": largest > UNUSUAL,
    }


__all__ = ["UNUSUAL", "drift"]
