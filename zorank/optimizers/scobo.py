"""SCOBO: Cai, McKenzie, Yin and Zhang, "A One-Bit, Comparison-Based Gradient Estimator", 2022.

Each of m − 1 neighbours is compared with x; the direction is Σ y_i ξ_i, y_i = ±1. Departures:
the gradient is assumed to be sparse only if `sparsity` is set, as in the comparison of the
ZO-RankSGD paper; one slate asks for all m − 1 comparisons ("which of these are better than the
first?"); and the line search is that of `zorank.optimizers.descent`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zorank.estimators import against_first, cloud_of
from zorank.optimizers.descent import Descent, neighbours
from zorank.optimizers.settings import MAX_CANDIDATES, check_count
from zorank.slates import Slate, Space
from zorank.types import Answer, Vector


@dataclass(frozen=True, kw_only=True)
class SCOBO(Descent):
    """Descent along a unit direction from comparisons with the current point.

    Attributes:
        m: number of candidates of an estimate, including the current point.
        sparsity: s, the approximate number of nonzero gradient coordinates; None for all.
    """

    name: ClassVar[str] = "scobo"
    revision: ClassVar[int] = 1

    m: int = 10
    sparsity: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self, "m", 2, MAX_CANDIDATES)
        if self.sparsity is not None:
            check_count(self, "sparsity", 1, 2**53)

    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """Show x, and x + μξ_i with random ξ."""
        return Slate(neighbours(x, radius, self.m, space, rng, law=self.law), question="compare")

    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """Return the unit vector that correlates most with the comparisons."""
        signs = against_first(answer, len(slate))
        if not signs.any():
            return None
        direction = cloud_of(slate).combine(signs)
        if self.sparsity is not None:
            direction = sparse_direction(direction, self.sparsity)
        length = np.linalg.norm(direction)
        return np.asarray(direction / length) if length > 0 else None


def sparse_direction(v: Vector, sparsity: int) -> Vector:
    """Return the maximiser of v·g over |g|₂ ≤ 1, |g|₁ ≤ √s, up to its length.

    It is v soft-thresholded by the smallest threshold that satisfies the second constraint.
    |g|₁/|g|₂ decreases in the threshold, so bisection finds it.
    """
    size = np.abs(v)
    low, high = 0.0, float(size.max())
    if size.sum() <= np.sqrt(sparsity) * np.linalg.norm(size):
        return v
    for _ in range(60):
        threshold = 0.5 * (low + high)
        rest = np.maximum(size - threshold, 0.0)
        dense = rest.sum() > np.sqrt(sparsity) * np.linalg.norm(rest)
        low, high = (threshold, high) if dense else (low, threshold)
    rest = np.maximum(size - low, 0.0)
    return np.asarray(np.copysign(rest, v))
