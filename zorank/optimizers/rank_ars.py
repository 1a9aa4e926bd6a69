"""Augmented random search from ranks: Mania, Guy, Recht, NeurIPS 2018, without its rewards.

Directions come in pairs, x + μξ and x − μξ, and only the pairs with the best members are used
(ARS's top b). Departure: ARS weighs a pair by the difference of its rewards over the standard
deviation of all rewards; here ranks replace rewards. So scale, outliers and drift of the rewards
have no effect.

With weigh="winners" only the best candidates count, independently of their opposites, with
logarithmic weights as in evolution strategies (Hansen, arXiv:1604.00772, eq. 49): with η = μ the
next point is their weighted mean. The judge then only has to rank the best `top`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from zorank._directions import draw_directions
from zorank.errors import InvalidInput
from zorank.estimators import cloud_of, rank_weights
from zorank.optimizers.descent import Descent
from zorank.optimizers.settings import MAX_CANDIDATES, check_choice, check_count, check_slate_size
from zorank.slates import Cloud, Slate, Space
from zorank.types import Answer, Vector

Weigh: TypeAlias = Literal["pairs", "winners"]


@dataclass(frozen=True, kw_only=True)
class RankARS(Descent):
    """Random search along pairs of opposite directions.

    Attributes:
        m: number of candidates on a slate, two for each direction.
        k: how many of them to rank; None lets the judge decide.
        top: number of directions (or winners) that are used; None for a quarter of m.
        weigh: "pairs" for the difference of the ranks of a pair, "winners" for the best only.
    """

    name: ClassVar[str] = "rank-ars"
    revision: ClassVar[int] = 1

    step: float = 0.02
    mu: float = 0.03
    line_search: int = 0
    m: int = 16
    k: int | None = None
    top: int | None = None
    weigh: Weigh = "pairs"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_slate_size(self)
        if self.m % 2:
            raise InvalidInput(f"m must be even, because rank-ars shows pairs; found {self.m}")
        check_choice(self, "weigh", ("pairs", "winners"))
        if self.top is not None:
            check_count(self, "top", 1, MAX_CANDIDATES)
            if self.top > self.m // 2:
                raise InvalidInput(
                    f"top must be at most {self.m // 2}, because a slate of {self.m} candidates "
                    f"has {self.m // 2} directions; found {self.top}"
                )

    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """Show x + μξ_1 … x + μξ_n, then x − μξ_1 … x − μξ_n, with random ξ."""
        xi = draw_directions(self.law, x.size, x.dtype, rng, self.m // 2, mirrored=True)
        return Slate(Cloud(x, radius, xi, space), k=self.k)

    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """Return the sum of the best directions, weighted by rank."""
        weights = rank_weights(answer, len(slate))
        top = self.top or max(1, len(slate) // 4)
        shares = (_winner_weights if self.weigh == "winners" else _pair_weights)(weights, top)
        ahead, opposite = shares.reshape(2, -1)
        return cloud_of(slate).combine(shares) if (ahead - opposite).any() else None


def _pair_weights(weights: Vector, top: int) -> Vector:
    """Return rank weights over their standard deviation, for the pairs with the best members."""
    pairs = weights.reshape(2, -1)  # negative for the better ones
    used = np.argsort(pairs.min(axis=0), kind="stable")[:top]
    spread = pairs[:, used].std()
    kept = np.zeros_like(pairs)
    if spread > 0.0:
        kept[:, used] = pairs[:, used]
        kept /= top * spread
    return kept.ravel()


def _winner_weights(weights: Vector, top: int) -> Vector:
    """Return minus the logarithmic weight of each of the best; ties share their weights."""
    shares = np.zeros(len(weights))
    shares[:top] = np.log(top + 0.5) - np.log(np.arange(1, top + 1))
    ranks = np.round(weights / max(np.abs(weights).max(), 1e-300), 12)  # so that fractions tie
    _, level, size = np.unique(ranks, return_inverse=True, return_counts=True)
    per_level = np.add.reduceat(shares, np.cumsum(size) - size) / size
    return np.asarray(-per_level[level] / shares.sum())
