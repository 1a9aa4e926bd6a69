"""Gradient estimates from rankings: ranking → comparison graph → zero-sum weights → direction.

The comparison graph of an answer has an edge (i, j) wherever i was judged better than j. A single
rater's graph has edges of weight 1; the graph of a poll is the weighted sum of its raters' graphs.
The estimators use two properties of a graph: in-degrees minus out-degrees, and total edge weight.
Both are linear in the graph, so sums of graphs are never built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from zorank._arrays import as_numbers
from zorank.answers import as_ranking
from zorank.errors import InvalidInput, short
from zorank.slates import Cloud, Slate
from zorank.types import Answer, Order, Poll, Ranking, Values, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

D = TypeVar("D")

ROUNDING = 1e-12
"""The rounding error of a sum of ballot weights, relative to the total edge weight."""


def as_answer(answer: Answer | Order) -> Answer:
    """Return an answer unchanged, or a plain list such as [2, [0, 5]] as a ranking."""
    return answer if isinstance(answer, (Ranking, Poll, Values)) else Ranking.of(answer)


def rank_weights(ranking: Answer | Order, m: int) -> Vector:
    """Return in-degree minus out-degree of each of m candidates, (m,): negative is better.

    For the best k of m in order this is appendix A's closed form: 2j − m − 1 for the j-th best,
    k for those not named. The weights of any answer sum to 0.
    """
    return comparisons(as_answer(ranking), m)[0]


def rank_gradient(directions: ArrayLike, ranking: Answer | Order) -> Vector:
    """Return equation 5's estimate, (d,), from ranked directions, (m, d); it points uphill.

    With m = 2 this is the comparison estimator of equation 2. An answer without edges ("no
    difference") gives zeros.
    """
    xi = as_numbers(directions, "directions")
    if xi.ndim != 2:
        raise InvalidInput(f"directions must be an (m, d) array, found shape {xi.shape}")
    if not np.isfinite(xi).all():
        raise InvalidInput("directions must be finite, found NaN or infinity")
    return np.asarray(rank_coefficients(as_answer(ranking), len(xi)) @ xi)


def rank_coefficients(answer: Answer, m: int) -> Vector:
    """Return the coefficients of ξ_1 … ξ_m in equation 5: weights / |E|, zeros if |E| = 0."""
    weights, edges = comparisons(answer, m)
    return weights / edges if edges > 0 else weights


def comparisons(answer: Answer, m: int) -> tuple[Vector, float]:
    """Return the graph's in-degrees minus out-degrees, (m,), and its total edge weight |E|."""
    answer.check(m)
    if isinstance(answer, Poll):
        parts = [(b.weight, *comparisons(b.ranking, m)) for b in answer.ballots]
        edges = float(sum(share * edges for share, _, edges in parts))
        summed = np.sum([share * weights for share, weights, _ in parts], axis=0)
        # Ballots that cancel exactly must not leave a rounding error, which would become a step.
        return np.where(np.abs(summed) > ROUNDING * edges, summed, 0.0), edges
    ranking = as_ranking(answer)
    shown, named = range(m) if ranking.among is None else ranking.among, ranking.named
    unnamed = set(shown).difference(named) if len(named) < len(shown) else ()
    weights, better, edges = [0] * m, 0, 0
    for level in (*ranking.best, unnamed, *ranking.worst):
        worse = len(shown) - len(level) - better
        for position in level:
            weights[position] = better - worse
        edges += len(level) * better
        better += len(level)
    return np.array(weights, dtype=np.float64), float(edges)


def cloud_gradient(slate: Slate, answer: Answer) -> Vector | None:
    """Return equation 5's estimate for the directions of a cloud; None if the graph is empty."""
    coefficients = rank_coefficients(answer, len(slate))
    return cloud_of(slate).combine(coefficients) if coefficients.any() else None


def cloud_of(slate: Slate) -> Cloud:
    """Return the cloud of directions that a slate was made from."""
    if not isinstance(slate.design, Cloud):
        raise InvalidInput(
            "a gradient estimate needs a slate whose design is a Cloud, "
            f"found {short(slate.design)}"
        )
    return slate.design


def own_design(slate: Slate, kind: type[D], optimizer: str) -> D:
    """Return the design that an optimizer gave a slate; it can learn from no other slate."""
    if not isinstance(slate.design, kind):
        raise InvalidInput(
            f"{optimizer} needs a slate that it asked itself, found a design {short(slate.design)}"
        )
    return slate.design


def against_first(answer: Answer, m: int) -> Vector:
    """Compare each candidate with the first, (m,): 1 is worse, −1 better, 0 tied or not compared.

    For a poll this is the sum over ballots, each times its weight.
    """
    answer.check(m)
    if isinstance(answer, Poll):
        ballots = [b.weight * against_first(b.ranking, m) for b in answer.ballots]
        return np.asarray(np.sum(ballots, axis=0))
    levels = as_ranking(answer).levels(m)
    compared = (levels >= 0) & (levels[0] >= 0)
    return np.asarray(np.sign(levels - levels[0]) * compared, dtype=np.float64)


def favourites(answer: Answer, m: int) -> tuple[int, ...]:
    """Return the best positions, all of them if they tie; for a poll, by summed weights.

    Positions that were not compared are never included. "No difference" returns all m.
    """
    answer.check(m)
    if isinstance(answer, Ranking):
        levels = answer.levels(m)
        return tuple(np.flatnonzero(levels == levels[levels >= 0].min()).tolist())
    score = np.array(answer.values) if isinstance(answer, Values) else rank_weights(answer, m)
    return tuple(np.flatnonzero(score == score.min()).tolist())
