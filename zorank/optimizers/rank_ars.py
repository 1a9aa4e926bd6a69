"""Augmented random search from ranks: Mania, Guy, Recht, NeurIPS 2018, without its rewards.

Directions come in pairs, x + μξ and x − μξ, and only the pairs with the best member count (ARS's
top b). Departure: where ARS weighs a pair by the difference of two rewards over the rewards'
standard deviation, here it is the difference of two places in the ranking over the places'. So
no reward's scale, outlier or drift can be felt.

With weigh="winners" only the best candidates count, whatever became of their opposites, by the
logarithm of their places as in evolution strategies (Hansen, arXiv:1604.00772, eq. 49): with
η = μ the next point is their weighted mean. Then the best `top` in order are all a judge must say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from zorank._directions import draw_directions
from zorank.errors import InvalidInput
from zorank.estimators import cloud_of, rank_weights
from zorank.optimizers.descent import Descent
from zorank.optimizers.settings import check_count, check_slate_size
from zorank.slates import Cloud, Slate, Space
from zorank.types import Answer, Vector

Weigh: TypeAlias = Literal["pairs", "winners"]


@dataclass(frozen=True, kw_only=True)
class RankARS(Descent):
    """Random search along pairs of opposite directions.

    Attributes:
        m: candidates of a slate, two for each direction.
        k: how many of them are to be ranked; None leaves it to the judge.
        top: how many directions count, or winners; None is a quarter of m.
        weigh: "pairs" for the difference of a pair's places, "winners" for the best alone.
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
            raise InvalidInput(f"rank-ars shows pairs, so m must be even; found {self.m}")
        if not isinstance(self.weigh, str) or self.weigh not in ("pairs", "winners"):
            raise InvalidInput(f"weigh must be 'pairs' or 'winners', found {self.weigh!r:.60}")
        if self.top is not None:
            check_count(self, "top", 1)
            if self.top > self.m // 2:
                raise InvalidInput(
                    f"a slate of {self.m} has {self.m // 2} directions; top must be no more, "
                    f"found {self.top}"
                )

    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """Show x + μξ_1 … x + μξ_n, then x − μξ_1 … x − μξ_n, with random ξ."""
        xi = draw_directions(self.law, x.size, x.dtype, rng, self.m // 2, mirrored=True)
        return Slate(Cloud(x, radius, xi, space), k=self.k)

    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """The sum of the best directions, each by how far apart its two ends were placed."""
        weights = rank_weights(answer, len(slate))
        many = self.top or max(1, len(slate) // 4)
        shares = (_of_winners if self.weigh == "winners" else _of_pairs)(weights, many)
        ahead, opposite = shares.reshape(2, -1)
        return cloud_of(slate).combine(shares) if (ahead - opposite).any() else None


def _of_pairs(weights: Vector, many: int) -> Vector:
    """Each candidate's place over the places' spread, in the pairs with the best members."""
    pairs = weights.reshape(2, -1)  # negative for the better ones
    counted = np.argsort(pairs.min(axis=0), kind="stable")[:many]
    spread = pairs[:, counted].std()
    kept = np.zeros_like(pairs)
    if spread > 0.0:
        kept[:, counted] = pairs[:, counted]
        kept /= many * spread
    return kept.ravel()


def _of_winners(weights: Vector, many: int) -> Vector:
    """Minus the share of each of the best, by the logarithm of its place; ties share alike."""
    shares = np.zeros(len(weights))
    shares[:many] = np.log(many + 0.5) - np.log(np.arange(1, many + 1))
    places = np.round(weights / max(np.abs(weights).max(), 1e-300), 12)  # fractions that tie
    _, level, size = np.unique(places, return_inverse=True, return_counts=True)
    per_level = np.add.reduceat(shares, np.cumsum(size) - size) / size
    return np.asarray(-per_level[level] / shares.sum())
