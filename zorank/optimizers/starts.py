"""Random starts: the first slate of methods that let the judge choose where to begin."""

from __future__ import annotations

import numpy as np

from zorank._recipes import DerivedPoints, random_points
from zorank.slates import Space


def random_starts(
    rng: np.random.Generator, m: int, dim: int, space: Space, scale: float = 1.0
) -> DerivedPoints:
    """Draw m candidates from scale · N(0, I) and place them in the space.

    A log keeps the seed of the draws. A method that wants their numbers in the log passes on
    `Points(starts.rows)`.
    """
    return DerivedPoints.of(random_points(rng, m, dim, scale, space))
