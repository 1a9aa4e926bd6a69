"""Answers as weighted comparisons of two items each.

Every pair on different levels of a ranking is a comparison. Such comparisons share the judge's
noise, so they are not independent: m items in order are m(m − 1)/2 comparisons, but carry the
information of m − 1 choices. Each comparison therefore has a weight below 1. It is chosen so that,
for items of equal utility, the comparisons carry the information of the splits that the ranking
consists of: g of r items above the other r − g have information g(r − g)/r in a logistic model,
which for g = 1 is that of a choice in Plackett and Luce's model. One comparison has 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zorank.answers import ballots_of
from zorank.types import Answer, Ranking, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Edges:
    """Comparisons, one per row: item `better` was preferred to item `worse`."""

    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: Vector

    @classmethod
    def empty(cls) -> Edges:
        """Return no comparisons."""
        better, worse = np.zeros((2, 0), dtype=np.int64)
        return cls(better, worse, np.zeros(0))

    def __len__(self) -> int:
        return len(self.weight)

    def add(self, answer: Answer, items: NDArray[np.int64]) -> Edges:
        """Append the comparisons of an answer about a slate of these items."""
        parts = [self]
        for ballot in ballots_of(answer):
            better, worse, share = _pairs(ballot.ranking, len(items))
            if ballot.weight > 0 and len(better):
                weights = np.full(len(better), share * ballot.weight)
                parts.append(Edges(items[better], items[worse], weights))
        columns = (np.concatenate([getattr(p, name) for p in parts]) for name in _COLUMNS)
        return Edges(*columns)

    def among(self, seen: NDArray[np.int64]) -> Edges:
        """Return the same comparisons, with indices into the sorted items `seen`."""
        better, worse = np.searchsorted(seen, self.better), np.searchsorted(seen, self.worse)
        return Edges(better.astype(np.int64), worse.astype(np.int64), self.weight)


_COLUMNS = ("better", "worse", "weight")


def compared(answer: Answer, m: int) -> NDArray[np.bool_]:
    """Return which of m positions somebody compared, (m,)."""
    levels = [ballot.ranking.levels(m) for ballot in ballots_of(answer)]
    return np.asarray((np.array(levels) >= 0).any(axis=0))


def _pairs(ranking: Ranking, m: int) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """Return all pairs of positions on different levels, better first, and their weight."""
    levels = ranking.levels(m)
    above = (levels[:, None] < levels) & (levels[:, None] >= 0)
    better, worse = np.nonzero(above)
    sizes = np.unique(levels[levels >= 0], return_counts=True)[1]
    left = np.cumsum(sizes[::-1])[::-1]  # items on this level and below
    information = float(np.sum(sizes * (left - sizes) / left))
    return better, worse, 2.0 * information / max(len(better), 1)
