"""The agreement of raters, and the weights of ballots that follow from it.

A rater's agreement is the share of their comparisons that the others, taken together, make the
same way. If raters err independently and each is right with probability p, the optimal weight of
a vote is log(p/(1−p)). Weights are scaled so that a new rater has weight 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from zorank.types import Poll, Ranking, Vector

# Prior of a rater's accuracy: 3 of 4 comparisons right.
PRIOR_RIGHT, PRIOR_ALL = 3.0, 4.0
LARGEST_ACCURACY = 0.98


@dataclass(frozen=True)
class Agreement:
    """Of `shared` comparisons that others made too, `same` went the same way."""

    same: float = 0
    shared: int = 0

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(self.same + other.same, self.shared + other.shared)

    @property
    def share(self) -> float | None:
        """Same / shared, or None before the first shared comparison."""
        return self.same / self.shared if self.shared else None

    @property
    def weight(self) -> float:
        """The weight of the rater's ballots; 1 for a new rater."""
        right = (self.same + PRIOR_RIGHT) / (self.shared + PRIOR_ALL)
        right = min(max(right, 0.51), LARGEST_ACCURACY)
        prior = PRIOR_RIGHT / PRIOR_ALL
        return float(np.log(right / (1 - right)) / np.log(prior / (1 - prior)))


def agreements(polls: Iterable[tuple[Poll, int]]) -> dict[str, Agreement]:
    """Return each rater's agreement with the others, from pairs of a poll and its slate's size."""
    found: dict[str, Agreement] = {}
    for poll, m in polls:
        verdicts = {b.rater: _verdicts(b.ranking, m) for b in poll.ballots}
        total = np.sum(list(verdicts.values()), axis=0)
        for rater, mine in verdicts.items():
            meets = mine * np.sign(total - mine)
            here = Agreement(int((meets > 0).sum()), int((meets != 0).sum()))
            found[rater] = found.get(rater, Agreement()) + here
    return found


def agreement_with(judge: Ranking, person: Ranking, m: int) -> Agreement:
    """Count the pairs that a person and a judge order the same way; a judge's ties count half.

    Pairs that the person left open are not counted.
    """
    theirs, its = _verdicts(person, m), _verdicts(judge, m)
    meets = (theirs * its)[theirs != 0]
    return Agreement(float((meets > 0).sum() + 0.5 * (meets == 0).sum()), meets.size)


def _verdicts(ranking: Ranking, m: int) -> Vector:
    """Return +1, −1 or 0 for each pair i < j: i better, j better, or not compared."""
    levels = ranking.levels(m)
    i, j = np.triu_indices(m, 1)
    spoken = (levels[i] >= 0) & (levels[j] >= 0)
    return np.where(spoken, np.sign(levels[j] - levels[i]), 0).astype(np.float64)
