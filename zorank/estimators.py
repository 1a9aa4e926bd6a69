"""From an answer to a descent direction: ranking → comparison graph → zero-sum weights → vector.

Every function here sees an answer only through its comparison graph, with an edge (i, j)
wherever i was judged better than j. A single rater's graph has edges of weight 1; the graph of a
poll is the weighted sum of its raters' graphs. All that the estimators need of a graph is its
in-degrees minus its out-degrees and its total edge weight, and both are linear in the graph, so
sums of graphs never have to be built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zorank.errors import InvalidInput
from zorank.slates import Cloud, Slate
from zorank.types import Answer, Order, Poll, Ranking, Values, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ROUNDING = 1e-12
"""Of a graph's edges, what a sum of fractions may be off by."""


def as_answer(answer: Answer | Order) -> Answer:
    """An answer as given, or the ranking that a plain list like [2, [0, 5]] stands for."""
    return answer if isinstance(answer, (Ranking, Poll, Values)) else Ranking.of(answer)


def rank_weights(ranking: Answer | Order, m: int) -> Vector:
    """In-degree minus out-degree of each of m candidates: (m,), negative for the better ones.

    For the best k of m in order this is appendix A's closed form: 2j − m − 1 for the j-th best,
    k for those not named. The weights of any answer sum to 0.
    """
    return comparisons(as_answer(ranking), m)[0]


def rank_gradient(directions: ArrayLike, ranking: Answer | Order) -> Vector:
    """Equation 5: (m, d) directions and their ranking → (d,), pointing uphill.

    With m = 2 this is the comparison estimator of equation 2. An answer without edges ("no
    difference") gives zeros.
    """
    xi = np.asarray(directions, dtype=np.float64)
    if xi.ndim != 2:
        raise InvalidInput(f"directions are an (m, d) array, found shape {xi.shape}")
    return np.asarray(rank_coefficients(as_answer(ranking), len(xi)) @ xi)


def rank_coefficients(answer: Answer, m: int) -> Vector:
    """The coefficients of ξ_1 … ξ_m in equation 5: weights over |E|, zeros without edges."""
    weights, edges = comparisons(answer, m)
    return weights / edges if edges > 0 else weights


def comparisons(answer: Answer, m: int) -> tuple[Vector, float]:
    """The graph's in-degrees minus out-degrees, and its total edge weight |E|."""
    answer.check(m)
    if isinstance(answer, Poll):
        parts = [(b.weight, *comparisons(b.ranking, m)) for b in answer.ballots]
        edges = float(sum(share * edges for share, _, edges in parts))
        summed = np.sum([share * weights for share, weights, _ in parts], axis=0)
        # Raters who contradict each other exactly must not leave a rounding error to step along.
        return np.where(np.abs(summed) > ROUNDING * edges, summed, 0.0), edges
    ranking = Ranking.from_values(answer.values) if isinstance(answer, Values) else answer
    levels = ranking.levels(m)
    spoken = levels >= 0
    counts = np.bincount(levels[spoken])
    better = np.cumsum(counts) - counts  # candidates on higher levels: in-degree
    worse = counts.sum() - counts - better  # on lower levels: out-degree
    weights = np.zeros(m)
    weights[spoken] = (better - worse)[levels[spoken]]
    return weights, float(counts @ better)


def cloud_gradient(slate: Slate, answer: Answer) -> Vector | None:
    """Equation 5 for the directions of a cloud; None if the answer holds no difference."""
    coefficients = rank_coefficients(answer, len(slate))
    return cloud_of(slate).combine(coefficients) if coefficients.any() else None


def cloud_of(slate: Slate) -> Cloud:
    """The directions that a slate was made from."""
    if not isinstance(slate.design, Cloud):
        raise InvalidInput(f"a direction needs a slate of directions, found a {slate.design!r}")
    return slate.design


def against_first(answer: Answer, m: int) -> Vector:
    """How each candidate compares with the first: 1 if worse, −1 if better, 0 if that is not said.

    The ballots of a poll are added up, each times its weight.
    """
    answer.check(m)
    if isinstance(answer, Poll):
        heard = [b.weight * against_first(b.ranking, m) for b in answer.ballots]
        return np.asarray(np.sum(heard, axis=0))
    ranking = Ranking.from_values(answer.values) if isinstance(answer, Values) else answer
    levels = ranking.levels(m)
    spoken = (levels >= 0) & (levels[0] >= 0)
    return np.asarray(np.sign(levels - levels[0]) * spoken, dtype=np.float64)


def favourites(answer: Answer, m: int) -> tuple[int, ...]:
    """The positions on top, all of them if they tie; with several raters, by summed weights.

    Positions the answer does not speak of are never favourites. "No difference" has m of them.
    """
    answer.check(m)
    if isinstance(answer, Ranking):
        levels = answer.levels(m)
        return tuple(np.flatnonzero(levels == levels[levels >= 0].min()).tolist())
    score = np.array(answer.values) if isinstance(answer, Values) else rank_weights(answer, m)
    return tuple(np.flatnonzero(score == score.min()).tolist())
