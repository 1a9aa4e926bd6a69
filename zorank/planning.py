"""Recommends how many candidates to show a person, and how many of them to have ranked.

The paper leaves this open. For a linear f, the quality of the direction that one answer gives can
be computed exactly from the order statistics of normal variables. Divided by a person's time under
a simple cost model, it shows which m and k to ask for. docs/theory.md has measurements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from zorank._arrays import is_real, is_whole, plain
from zorank.errors import InvalidInput, short
from zorank.theory import LARGEST, check_mk, edges, gauss_legendre
from zorank.types import Matrix, Vector

MAX_SHOWN = 100
"""The largest m of a plan: the time to compute it grows with m², and people do not rank more."""
MAX_COMPARED = 10**6
"""The largest m for which comparisons are counted."""
MAX_LISTED = 40
"""The largest m of a list of all plans."""


@dataclass(frozen=True)
class Plan:
    """The quality and the cost of one answer of an (m, k) oracle.

    Attributes:
        m: number of candidates shown.
        k: number of candidates ranked.
        alignment: E⟨g̃, u⟩, the mean component of the estimate g̃ along the unit gradient u.
        quality: E⟨g̃,u⟩²/E|g̃|², the progress of a step along g̃ of the best length, relative to a
            step along the exact gradient; approximately proportional to 1/d.
        comparisons: number of comparisons a person makes to rank the best k of m.
        seconds: time that a round takes under the cost model.
    """

    m: int
    k: int
    alignment: float
    quality: float
    comparisons: int
    seconds: float

    @property
    def per_candidate(self) -> float:
        """Quality per candidate shown."""
        return self.quality / self.m

    @property
    def per_comparison(self) -> float:
        """Quality per comparison made."""
        return self.quality / self.comparisons

    @property
    def per_minute(self) -> float:
        """Quality per minute of a person's time."""
        return 60 * self.quality / self.seconds


@dataclass(frozen=True)
class Costs:
    """A person's time in seconds. The defaults are assumptions, not measurements.

    Attributes:
        round: for each round.
        look: for each candidate shown.
        compare: for each comparison.
    """

    round: float = 3.0
    look: float = 1.0
    compare: float = 0.7


DEFAULT_COSTS = Costs()


def plan(m: int, k: int, d: int, costs: Costs = DEFAULT_COSTS) -> Plan:
    """Return the quality and the cost of one answer; exact for a linear f, that is, as μ → 0.

    Along the gradient the estimate is a weighted sum of the order statistics of m normals; in the
    d − 1 other dimensions, of independent normals.
    """
    m, k = _check_plan(m, k)
    _check_count(d, "the dimension")
    if not isinstance(costs, Costs):
        raise InvalidInput(f"costs must be planning.Costs, found {short(costs)}")
    weights = np.array([2.0 * j - m - 1 if j <= k else k for j in range(1, m + 1)])
    e = edges(m, k)
    means, second_moments = _normal_order_statistics(m)
    along = weights @ means / e
    along_squared = weights @ second_moments @ weights / e**2
    across_squared = (d - 1) * (weights @ weights) / e**2
    effort = comparisons_to_rank(m, k)
    if not all(_is_cost(cost) for cost in (costs.round, costs.look, costs.compare)):
        raise InvalidInput(
            f"costs must be finite numbers of seconds, 0 or more, found {short(costs)}"
        )
    seconds = costs.round + m * costs.look + effort * costs.compare
    if not seconds > 0:
        raise InvalidInput("all costs are 0; set at least one of them above 0")
    return Plan(
        m=m,
        k=k,
        alignment=float(along),
        quality=float(along**2 / (along_squared + across_squared)),
        comparisons=effort,
        seconds=seconds,
    )


def plans(
    d: int, largest_m: int = 12, ranked: int | None = None, costs: Costs = DEFAULT_COSTS
) -> list[Plan]:
    """Return the plans for all (m, k) up to `largest_m`, highest quality per minute first."""
    _check_count(largest_m, "largest_m")
    if ranked is not None:
        _check_count(ranked, "ranked")
    if largest_m > MAX_LISTED:
        raise InvalidInput(
            f"largest_m must be at most {MAX_LISTED} candidates, found {short(largest_m)}; "
            "plan(m, k, d) computes a single one"
        )
    pairs = [
        (m, k)
        for m in range(2, largest_m + 1)
        for k in range(1, m)  # ranking m − 1 of m is ranking all
        if ranked is None or k == ranked
    ]
    if not pairs:
        raise InvalidInput(
            f"no plan shows at most {largest_m} candidates and ranks "
            f"{'one or more' if ranked is None else short(ranked)} of them; show more"
        )
    return sorted((plan(m, k, d, costs) for m, k in pairs), key=lambda p: -p.per_minute)


def recommend(ordered: Sequence[Plan], slack: float = 0.05) -> Plan:
    """Return the plan with the shortest round among those within `slack` of the best quality.

    `ordered` is the result of `plans`; quality is per minute.
    """
    is_list = isinstance(ordered, Sequence) and len(ordered) > 0
    if not is_list or not all(isinstance(p, Plan) for p in ordered):
        raise InvalidInput("there are no plans to choose from; pass the result of `plans`")
    if not _is_cost(slack) or slack > 1:
        raise InvalidInput(f"slack must be a number from 0 to 1, found {short(slack)}")
    good = [p for p in ordered if p.per_minute >= (1 - slack) * ordered[0].per_minute]
    return min(good, key=lambda p: p.seconds)


def comparisons_to_rank(m: int, k: int) -> int:
    """Return a number of comparisons that suffices to find the best k of m in order.

    Tournament selection: the best takes m − 1 comparisons, and each further place replays one path
    of the tree (Knuth, The Art of Computer Programming 3, section 5.3.3).
    """
    m, k = _check_plan(m, k, largest=MAX_COMPARED)
    if k >= m - 1:
        k = m - 1  # the last place needs no comparison
    return m - k + sum(int(np.ceil(np.log2(j))) for j in range(m + 2 - k, m + 1))


def normal_order_means(m: int) -> Vector:
    """Return the means of m ordered standard normals, (m,), in increasing order."""
    m, _ = _check_plan(m, 1)
    return _normal_order_statistics(m)[0]


def _check_plan(m: int, k: int, largest: int = MAX_SHOWN) -> tuple[int, int]:
    """Return m and k as plain integers; raise unless they are those of a plan."""
    m, k = check_mk(m, k)
    if m > largest:
        raise InvalidInput(f"m must be at most {largest} candidates, found {short(m)}")
    return m, k


def _check_count(value: Any, name: str) -> None:
    if not is_whole(value) or not 1 <= value < LARGEST:
        raise InvalidInput(f"{name} must be a whole number, at least 1, found {short(value)}")


def _is_cost(value: Any) -> bool:
    return is_real(value) and bool(0 <= plain(value) < LARGEST)


@lru_cache(maxsize=256)
def _normal_order_statistics(m: int) -> tuple[Vector, Matrix]:
    """Return means, (m,), and second moments E[z_(i) z_(j)], (m, m), of m ordered normals."""
    x, y, weight = _ordered_pairs_of_normals()
    below_x, below_y = _normal_cdf(x), _normal_cdf(y)
    log_below, log_between, log_above = (
        np.log(np.maximum(p, 1e-300)) for p in (below_x, below_y - below_x, 1 - below_y)
    )
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, m + 1)))])
    moments = np.empty((m, m))
    for i in range(m):
        for j in range(i + 1, m):
            counts = (i, j - i - 1, m - 1 - j)  # numbers below x, between x and y, above y
            log_ways = log_factorial[m] - sum(log_factorial[c] for c in counts)
            powers = counts[0] * log_below + counts[1] * log_between + counts[2] * log_above
            moments[i, j] = moments[j, i] = (x * y * weight * np.exp(log_ways + powers)).sum()
    z, one_weight = _normal_nodes()
    below = _normal_cdf(z)
    means = np.empty(m)
    for i in range(m):
        log_ways = log_factorial[m] - log_factorial[i] - log_factorial[m - 1 - i]
        powers = i * np.log(below) + (m - 1 - i) * np.log(_normal_cdf(-z))
        density = one_weight * np.exp(log_ways + powers)
        means[i], moments[i, i] = (z * density).sum(), (z * z * density).sum()
    return means, moments


def _normal_nodes(n: int = 96, reach: float = 8.0) -> tuple[Vector, Vector]:
    """Return nodes and weights for integrals against the standard normal density."""
    t, w = gauss_legendre(n)
    z = reach * t
    return z, reach * w * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)


def _ordered_pairs_of_normals(n: int = 96, reach: float = 8.0) -> tuple[Vector, Vector, Vector]:
    """Return nodes x < y, flat, and weights for integrals against two normal densities."""
    x, weight = _normal_nodes(n, reach)
    t, w = gauss_legendre(n)
    half = (reach - x)[:, None] / 2  # y runs from x to reach
    y = x[:, None] + half * (t + 1)
    both = weight[:, None] * half * w * np.exp(-y * y / 2) / np.sqrt(2 * np.pi)
    return np.repeat(x, n), y.ravel(), both.ravel()


def _normal_cdf(z: Vector) -> Vector:
    return np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in z])
