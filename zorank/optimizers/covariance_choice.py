"""Which covariance `auto` learns in how many dimensions."""

from __future__ import annotations

import numpy as np

from zorank.optimizers.covariance import MAX_FULL_DIM, MIN_SCALED_DIM, Covariance, Full
from zorank.optimizers.low_rank_covariance import LowRank


def identity(d: int) -> Covariance:
    """Return the identity, in the representation for d dimensions."""
    if d > MAX_FULL_DIM:
        return LowRank.identity(d)
    return Full(np.eye(d), np.zeros(d) if d >= MIN_SCALED_DIM else None)
