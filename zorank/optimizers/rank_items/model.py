"""A Bayesian model of utilities: logistic comparisons, a Gaussian prior, Laplace's approximation.

log P(answers | u) = Σ w log σ(u_better − u_worse), the model of Bradley and Terry (1952), and
u_i ~ N(0, s²). The posterior is a Gaussian at its mode whose precision is the Hessian. The spread
s, in units of the judge's noise, climbs to the maximum of the evidence, a step with each answer.

Items that nobody has compared keep the prior; only compared ones enter the computation. Up to
MAX_DENSE compared items, the covariance is exact. Beyond, the mode is found by conjugate
gradients, and variances by v_i = 1/(1/s² + Σ_j 1/(1/h_ij + v_j)), the effective resistance of item
i if its neighbours were independent, in time and memory proportional to the number of comparisons;
the spread then stays as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.rank_items.edges import Edges
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_DENSE = 400
"""The number of compared items up to which the covariance is exact."""

FIRST_SPREAD, SPREAD_SD = 2.0, 0.7
"""The prior of the spread: its median, and the standard deviation of its logarithm."""

SPREADS, SPREAD_STEP = (0.2, 20.0), 1.15
"""The limits of the spread, and how far it moves with one answer."""

MAX_STEPS, TOLERANCE, LONGEST = 60, 1e-7, 3.0
"""Newton's method: steps, the change that ends it, and the largest change of a utility."""

CG_STEPS, CG_TOLERANCE, SWEEPS = 80, 1e-6, 12
"""Conjugate gradients, and the iterations of the variances."""

MAX_LAGS = 64
"""How many differences of rank the certainty of an order is averaged over."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Utilities of n items given all answers.

    Attributes:
        mean, variance: of each item, (n,).
        spread: s, the prior's standard deviation.
        seen: the compared items, sorted.
        covariance: that of the compared items, or None if there are too many.
    """

    mean: Vector
    variance: Vector
    spread: float
    seen: NDArray[np.int64]
    covariance: NDArray[np.float64] | None = None

    @classmethod
    def prior(cls, n: int) -> Posterior:
        """Return the prior of n items."""
        variance = np.full(n, FIRST_SPREAD**2)
        return cls(np.zeros(n), variance, FIRST_SPREAD, np.zeros(0, dtype=np.int64))

    def difference_variance(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> Vector:
        """Return the variance of u_i − u_j for arrays of items."""
        total = self.variance[i] + self.variance[j]
        if self.covariance is None or not len(self.seen):
            return np.asarray(total)
        place = np.full(len(self.mean), -1)
        place[self.seen] = np.arange(len(self.seen))
        a, b = place[i], place[j]
        shared = np.where((a >= 0) & (b >= 0), self.covariance[a, b], 0.0)
        return np.asarray(np.maximum(total - 2.0 * shared, 1e-12))

    def probability(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> Vector:
        """Return the probability that item i is better than item j."""
        z = (self.mean[i] - self.mean[j]) / np.sqrt(self.difference_variance(i, j))
        return np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in z.tolist()])

    def order(self) -> NDArray[np.int64]:
        """Return the items, best first; equal ones by index."""
        return np.argsort(-self.mean, kind="stable")

    def certainty(self) -> float:
        """Return the expected share of pairs that `order` orders correctly.

        With more than MAX_LAGS + 1 items, it is averaged over evenly spaced differences of rank.
        """
        order, n = self.order(), len(self.mean)
        if n < 2:
            return 1.0
        lags = np.unique(np.linspace(1, n - 1, min(n - 1, MAX_LAGS)).round().astype(int))
        shares = [float(self.probability(order[:-g], order[g:]).mean()) for g in lags]
        return float(np.average(shares, weights=n - lags))


def fit(edges: Edges, n: int, before: Posterior) -> Posterior:
    """Return the posterior given these comparisons, searching from an earlier posterior."""
    seen = np.unique(np.concatenate([edges.better, edges.worse]))
    if not len(seen):
        return before
    local, spread, u = edges.among(seen), before.spread, before.mean[seen]
    # Before items are compared repeatedly, answers say little about the spread.
    if len(seen) <= MAX_DENSE and local.weight.sum() / 4 >= len(seen):
        spread = max(_nearby(spread), key=lambda s: _log_evidence(local, u, s))
    u = _mode(local, u, spread)
    variance, covariance = _variances(local, u, spread)
    mean, everywhere = np.zeros(n), np.full(n, spread**2)
    mean[seen], everywhere[seen] = u, variance
    return Posterior(mean, everywhere, spread, seen, covariance)


def _nearby(spread: float) -> list[float]:
    """Return the spread and its neighbours, of which the most plausible is chosen."""
    low, high = SPREADS
    return [min(max(spread * factor, low), high) for factor in (1.0, SPREAD_STEP, 1 / SPREAD_STEP)]


def _log_evidence(edges: Edges, u: Vector, spread: float) -> float:
    """Return the log-probability of answers and spread, up to a constant (Laplace)."""
    u = _mode(edges, u, spread)
    p = _upset(edges, u)
    hessian = _hessian(edges, edges.weight * p * (1 - p), spread, len(u))
    fits = float(edges.weight @ np.log1p(-p)) - float(u @ u) / (2 * spread**2)
    volume = len(u) * math.log(spread) + 0.5 * float(np.linalg.slogdet(hessian)[1])
    return fits - volume - 0.5 * (math.log(spread / FIRST_SPREAD) / SPREAD_SD) ** 2


def _mode(edges: Edges, u: Vector, spread: float) -> Vector:
    """Return the utilities of highest posterior density, by Newton's method from u."""
    u = np.array(u)
    for _ in range(MAX_STEPS):
        p = _upset(edges, u)
        gradient = -u / spread**2 + _scatter(edges, edges.weight * p, len(u))
        step = _solve(edges, edges.weight * p * (1 - p), spread, gradient)
        largest = float(np.abs(step).max())
        u += step * min(1.0, LONGEST / max(largest, 1e-300))
        if largest < TOLERANCE:
            break
    return u


def _upset(edges: Edges, u: Vector) -> Vector:
    """Return the probability of the opposite of each comparison."""
    d = np.clip(u[edges.better] - u[edges.worse], -500.0, 500.0)
    return np.asarray(1.0 / (1.0 + np.exp(d)))


def _scatter(edges: Edges, amounts: Vector, n: int) -> Vector:
    """Add each amount to its better item and subtract it from its worse item."""
    given = np.bincount(edges.better, amounts, n).astype(np.float64)
    return np.asarray(given - np.bincount(edges.worse, amounts, n))


def _hessian(edges: Edges, h: Vector, spread: float, n: int) -> NDArray[np.float64]:
    coupled = np.bincount(edges.better * n + edges.worse, h, n * n).reshape(n, n)
    matrix = np.asarray(-(coupled + coupled.T), dtype=np.float64)
    matrix[np.diag_indices(n)] = 1 / spread**2 - matrix.sum(axis=1)
    return matrix


def _solve(edges: Edges, h: Vector, spread: float, target: Vector) -> Vector:
    """Return H⁻¹ target."""
    n = len(target)
    if n <= MAX_DENSE:
        return np.asarray(np.linalg.solve(_hessian(edges, h, spread, n), target))
    degrees = np.bincount(edges.better, h, n) + np.bincount(edges.worse, h, n)
    diagonal = 1 / spread**2 + degrees
    x, r = np.zeros(n), target.copy()
    z = r / diagonal
    d, rz = z.copy(), float(r @ z)
    for _ in range(CG_STEPS):
        product = d / spread**2 + _scatter(edges, h * (d[edges.better] - d[edges.worse]), n)
        step = rz / max(float(d @ product), 1e-300)
        x += step * d
        r -= step * product
        z = r / diagonal
        before, rz = rz, float(r @ z)
        if rz < CG_TOLERANCE**2:
            break
        d = z + rz / before * d
    return x


def _variances(
    edges: Edges, u: Vector, spread: float
) -> tuple[Vector, NDArray[np.float64] | None]:
    """Return the variances, and the covariance if there are few items."""
    p, n = _upset(edges, u), len(u)
    h = edges.weight * p * (1 - p)
    if n <= MAX_DENSE:
        covariance = np.asarray(np.linalg.inv(_hessian(edges, h, spread, n)), dtype=np.float64)
        return np.array(np.diag(covariance)), covariance
    resistance = 1 / np.maximum(h, 1e-12)
    variance = np.full(n, spread**2)
    for _ in range(SWEEPS):
        to_better = 1 / (resistance + variance[edges.worse])
        to_worse = 1 / (resistance + variance[edges.better])
        total = np.bincount(edges.better, to_better, n) + np.bincount(edges.worse, to_worse, n)
        variance = 1 / (1 / spread**2 + total)
    return variance, None
