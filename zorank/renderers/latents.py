"""Whether a noise latent still looks like noise.

A generator was trained on draws of N(0, I). A search that keeps the length of its point may still
leave what such draws look like: a channel whose mean or variance has moved is noise with a
pattern, and pictures made of it fade, saturate or grow artefacts. Each number here is compared
with what N(0, I) gives, as a z-score: between -2 and 2 it is nothing, beyond 4 it is no accident.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from zorank.errors import InvalidInput
from zorank.types import Vector

UNUSUAL = 4.0
"""The z-score beyond which noise is called unusual: by chance 1 of 1,000 latents has one."""


def drift(latents: Vector, shape: Sequence[int]) -> dict[str, Any]:
    """How far latents of this shape, channels first, are from a draw of N(0, I).

    Returns:
        `norm`: their length over the √d that a draw has; `mean` and `variance`: a z-score for each
        channel; `largest`: the largest of these in size; `unusual`: whether it is no accident.
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
