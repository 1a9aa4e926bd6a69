"""What was said: answers of every kind as comparisons of two candidates each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from zorank.answers import as_ranking
from zorank.types import Answer, Ballot, Poll, Ranking, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

ANONYMOUS = ""
"""The rater of an answer that came without a name."""

LEAST_WEIGHT = 1e-6
"""A ballot that counts less than this is heard as if it counted this much: hardly at all."""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """What was said, one row a comparison of two known candidates.

    Attributes:
        better, worse: indices of candidates.
        tied: whether they were judged alike instead.
        ballot: which ballot it belongs to; the noise of one look is shared within it.
        rater: whose ballot that is, an index.
        scale: by what the weight of the ballot scales its noise.
    """

    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    tied: NDArray[np.bool_]
    ballot: NDArray[np.int64]
    rater: NDArray[np.int64]
    scale: Vector

    @classmethod
    def none(cls) -> Comparisons:
        """Before the first answer."""
        i = np.zeros(0, dtype=np.int64)
        return cls(i, i, i.astype(bool), i, i, np.zeros(0))

    def __len__(self) -> int:
        return len(self.better)

    def hear(
        self, answer: Answer, candidates: Sequence[int], raters: Sequence[str]
    ) -> tuple[Comparisons, tuple[str, ...]]:
        """What is known after an answer about these candidates, and the raters known by then."""
        named = list(raters)
        here = np.asarray(candidates)
        parts = [self]
        first = int(self.ballot.max(initial=-1)) + 1
        for b, ballot in enumerate(_ballots(answer)):
            if ballot.weight == 0:
                continue
            if ballot.rater not in named:
                named.append(ballot.rater)
            rows = [
                (i, j, tied)
                for i, j, tied in _pairs(ballot.ranking, len(here))
                if here[i] != here[j]  # the same candidate may be on a slate twice
            ]
            if not rows:
                continue
            better, worse, tied = (np.array(column) for column in zip(*rows, strict=True))
            ones = np.ones(len(rows), dtype=np.int64)
            parts.append(
                Comparisons(
                    here[better],
                    here[worse],
                    tied,
                    ones * (first + b),
                    ones * named.index(ballot.rater),
                    ones / math.sqrt(max(ballot.weight, LEAST_WEIGHT)),
                )
            )
        return _concatenate(parts), tuple(named)

    def shared_looks(self) -> NDArray[np.float64]:
        """The noise of comparisons: those of one ballot share their looks at a candidate."""
        i, j = self.better, self.worse
        shared = (i[:, None] == i).astype(np.float64)
        shared -= i[:, None] == j
        shared -= j[:, None] == i
        shared += j[:, None] == j
        return np.asarray(shared * (self.ballot[:, None] == self.ballot))

    def differences(self, covariance: NDArray[np.float64]) -> NDArray[np.float64]:
        """The covariance of the differences compared, from that of the candidates."""
        rows = covariance[self.better] - covariance[self.worse]
        return np.asarray(rows[:, self.better] - rows[:, self.worse])

    def renumber(self, kept: NDArray[np.int64]) -> Comparisons:
        """The same, when only these candidates are kept."""
        place = np.full(int(kept.max()) + 1, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        return replace(self, better=place[self.better], worse=place[self.worse])

    def where(self, kept: NDArray[np.bool_]) -> Comparisons:
        """Only these of the comparisons."""
        return Comparisons(*(getattr(self, name)[kept] for name in _COLUMNS))


_COLUMNS = ("better", "worse", "tied", "ballot", "rater", "scale")


def _concatenate(parts: Sequence[Comparisons]) -> Comparisons:
    return Comparisons(*(np.concatenate([getattr(p, name) for p in parts]) for name in _COLUMNS))


def _ballots(answer: Answer) -> tuple[Ballot, ...]:
    if isinstance(answer, Poll):
        return answer.ballots
    return (Ballot(ANONYMOUS, as_ranking(answer)),)


def _pairs(ranking: Ranking, m: int) -> Iterator[tuple[int, int, bool]]:
    """The fewest comparisons that say what the ranking says, level to level.

    Candidates on one level were not told apart, which says little: taken as "alike", ties made a
    judge look noisier and the search wider, and cost 1.4 sd on rough utilities. Only an answer
    that tells nothing apart is heard as ties.
    """
    levels = ranking.levels(m)
    groups = [np.flatnonzero(levels == level).tolist() for level in np.unique(levels[levels >= 0])]
    if len(groups) == 1:
        yield from ((i, j, True) for i, j in pairwise(groups[0]))
    for upper, lower in pairwise(groups):
        for n in range(max(len(upper), len(lower))):
            yield upper[n % len(upper)], lower[n % len(lower)], False
