"""Which covariance `auto` learns in how many dimensions."""

from __future__ import annotations

import numpy as np

from zorank.optimizers.covariance import MAX_FULL_DIM, Covariance, Full
from zorank.optimizers.low_rank_covariance import LowRank


def identity(d: int) -> Covariance:
    """Return the identity, in the representation for d dimensions."""
    return Full(np.eye(d)) if d <= MAX_FULL_DIM else LowRank.identity(d)
