"""SCOBO: Cai, McKenzie, Yin and Zhang, "A One-Bit, Comparison-Based Gradient Estimator", 2022.

Each of m − 1 neighbours is compared with x, and Σ y_i ξ_i, y_i = ±1, is the direction. Like the
paper we follow, and unlike its authors, it assumes no sparse gradient unless `sparsity` is given.
Departures: the m − 1 comparisons are asked at once, as one slate ("which of these are better than
the first?"), and the line search is that of `zorank.optimizers.descent`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zorank.estimators import against_first, cloud_of
from zorank.optimizers.descent import Descent, surroundings
from zorank.optimizers.settings import check_count
from zorank.slates import Slate, Space
from zorank.types import Answer, Vector


@dataclass(frozen=True, kw_only=True)
class SCOBO(Descent):
    """Descent along a unit direction from comparisons with the current point.

    Attributes:
        m: candidates of an estimation, the current point among them.
        sparsity: s, about how many coordinates of the gradient are not zero; None for all.
    """

    name: ClassVar[str] = "scobo"
    revision: ClassVar[int] = 1

    m: int = 10
    sparsity: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self, "m", 2)
        if self.sparsity is not None:
            check_count(self, "sparsity", 1)

    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """Show x, and x + μξ_i with random ξ."""
        return Slate(surroundings(x, radius, self.m, space, rng, law=self.law), question="compare")

    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """The unit vector most in line with what the comparisons say."""
        signs = against_first(answer, len(slate))
        if not signs.any():
            return None
        direction = cloud_of(slate).combine(signs)
        if self.sparsity is not None:
            direction = sparsest_in_line(direction, self.sparsity)
        length = np.linalg.norm(direction)
        return np.asarray(direction / length) if length > 0 else None


def sparsest_in_line(v: Vector, sparsity: int) -> Vector:
    """The maximiser of v·g over |g|₂ ≤ 1, |g|₁ ≤ √s, up to its length.

    It is v with every entry pulled towards 0 by the same amount, the least that satisfies the
    second bound; |g|₁/|g|₂ falls as the pull grows, so bisection finds it.
    """
    size = np.abs(v)
    low, high = 0.0, float(size.max())
    if size.sum() <= np.sqrt(sparsity) * np.linalg.norm(size):
        return v
    for _ in range(60):
        pull = 0.5 * (low + high)
        left = np.maximum(size - pull, 0.0)
        dense = left.sum() > np.sqrt(sparsity) * np.linalg.norm(left)
        low, high = (pull, high) if dense else (low, pull)
    left = np.maximum(size - low, 0.0)
    return np.asarray(np.copysign(left, v))
