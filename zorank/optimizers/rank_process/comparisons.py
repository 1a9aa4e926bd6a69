"""Answers of every kind as comparisons of two candidates each.

A ranking, a best-and-worst answer, a poll or "no difference" becomes rows (better, worse, tied).
The comparisons of one ballot share the noise of its judgement of each candidate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from zorank.answers import ballots_of
from zorank.types import Answer, Ranking, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_WEIGHT = 1e-6
"""Smaller positive ballot weights are raised to this one, so that the noise stays finite."""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Pairwise comparisons, one per row.

    Attributes:
        better, worse: indices of candidates.
        tied: whether the rater saw no difference; the order of the two then means nothing.
        ballot: the index of the ballot; comparisons of one ballot share its noise.
        rater: the index of the rater who cast it.
        noise_scale: 1/√weight of the ballot, a factor of its noise.
    """

    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    tied: NDArray[np.bool_]
    ballot: NDArray[np.int64]
    rater: NDArray[np.int64]
    noise_scale: Vector

    @classmethod
    def empty(cls) -> Comparisons:
        """Return no comparisons, the state before the first answer."""
        i = np.zeros(0, dtype=np.int64)
        return cls(i, i, i.astype(bool), i, i, np.zeros(0))

    def __len__(self) -> int:
        return len(self.better)

    def add(
        self, answer: Answer, candidates: Sequence[int], raters: Sequence[str]
    ) -> tuple[Comparisons, tuple[str, ...]]:
        """Append the comparisons of an answer about these candidates; also return all raters."""
        names = list(raters)
        indices = np.asarray(candidates)
        parts = [self]
        first = int(self.ballot.max(initial=-1)) + 1
        for b, ballot in enumerate(ballots_of(answer)):
            if ballot.weight == 0:
                continue
            if ballot.rater not in names:
                names.append(ballot.rater)
            rows = [
                (i, j, tied)
                for i, j, tied in _pairs(ballot.ranking, len(indices))
                if indices[i] != indices[j]  # a slate may show the same candidate twice
            ]
            if not rows:
                continue
            better, worse, tied = (np.array(column) for column in zip(*rows, strict=True))
            ones = np.ones(len(rows), dtype=np.int64)
            parts.append(
                Comparisons(
                    indices[better],
                    indices[worse],
                    tied,
                    ones * (first + b),
                    ones * names.index(ballot.rater),
                    ones / math.sqrt(max(ballot.weight, MIN_WEIGHT)),
                )
            )
        return _concatenate(parts), tuple(names)

    def noise_covariance(self) -> NDArray[np.float64]:
        """Return the covariance of ε_better − ε_worse for unit noise ε.

        Two comparisons of one ballot that share a candidate share its ε.
        """
        i, j = self.better, self.worse
        shared = (i[:, None] == i).astype(np.float64)
        shared -= i[:, None] == j
        shared -= j[:, None] == i
        shared += j[:, None] == j
        return np.asarray(shared * (self.ballot[:, None] == self.ballot))

    def difference_covariance(self, covariance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the covariance of u_better − u_worse from the covariance of u."""
        rows = covariance[self.better] - covariance[self.worse]
        return np.asarray(rows[:, self.better] - rows[:, self.worse])

    def reindex(self, kept: NDArray[np.int64]) -> Comparisons:
        """Return the same comparisons with indices into the kept candidates."""
        place = np.full(int(kept.max()) + 1, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        return replace(self, better=place[self.better], worse=place[self.worse])

    def select(self, kept: NDArray[np.bool_]) -> Comparisons:
        """Return the comparisons where the mask is true."""
        return Comparisons(*(getattr(self, name)[kept] for name in _COLUMNS))


_COLUMNS = ("better", "worse", "tied", "ballot", "rater", "noise_scale")


def _concatenate(parts: Sequence[Comparisons]) -> Comparisons:
    return Comparisons(*(np.concatenate([getattr(p, name) for p in parts]) for name in _COLUMNS))


def _pairs(ranking: Ranking, m: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the fewest comparisons that determine the ranking, between neighbouring levels.

    Ties within a level are dropped: modelled as |difference| < threshold they raised the inferred
    noise and the search radius, and cost 1.4 sd on rough utilities. Only an answer that ties
    everything becomes tied comparisons.
    """
    levels = ranking.levels(m)
    groups = [np.flatnonzero(levels == level).tolist() for level in np.unique(levels[levels >= 0])]
    if len(groups) == 1:
        yield from ((i, j, True) for i, j in pairwise(groups[0]))
    for upper, lower in pairwise(groups):
        for n in range(max(len(upper), len(lower))):
            yield upper[n % len(upper)], lower[n % len(lower)], False
