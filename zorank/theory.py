"""The paper's theory as numbers: graph statistics, moments, bounds, and which m and k to ask for.

The first half computes what sections 2 and 3 of the paper state (Lemmas 1 to 4, Theorem 1 and its
corollary). The second half asks how good a direction one answer gives and what it costs a person,
which the paper leaves open. docs/theory.md says where the paper's statements hold and where not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.errors import InvalidInput, MissingExtra
from zorank.types import Vector, as_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LEMMA_3_ISOTROPIC = 32 / np.pi
"""Lemma 3's bound on M1 where the Hessian is a multiple of the identity."""


def edges(m: int, k: int) -> int:
    """|E|: the comparisons in an answer of an (m, k) oracle (Lemma 2)."""
    _check_mk(m, k)
    return k * m - (k * k + k) // 2


def neighbouring_pairs(m: int, k: int) -> int:
    """N(E): the ordered pairs of comparisons that share a candidate (Lemma 2)."""
    _check_mk(m, k)
    return m * m * k + m * k * k - k**3 + k * k - 4 * m * k + 2 * k


def second_moment_bound(
    m: int, k: int, d: int, m1: float | None = None, m2: float | None = None
) -> float:
    """Lemma 4's bound on E|g̃|²; M1 and M2 default to Lemma 3's bound 2d."""
    e = edges(m, k)
    m1, m2 = (2.0 * d if value is None else value for value in (m1, m2))
    return 2 * d / e + neighbouring_pairs(m, k) / e**2 * m2 + m1


def theorem_1_bound(
    gap: float,
    steps: int,
    eta: float,
    mu: float,
    smoothness: float,
    m: int,
    k: int,
    d: int,
    m1: float | None = None,
    m2: float | None = None,
) -> float:
    """Theorem 1's bound on E min |∇f(x_t)| after `steps` steps from f(x0) − f* = gap."""
    _check_positive(steps=steps, eta=eta, mu=mu, d=d)
    variance = second_moment_bound(m, k, d, m1, m2)
    return (
        gap / (eta * steps)
        + lemma_1_constant(d) * mu * smoothness
        + eta * smoothness / 2 * variance
    )


def corollary_step(d: int, steps: int) -> float:
    """The corollary's step size η = √(1/(dT))."""
    _check_positive(d=d, steps=steps)
    return float(np.sqrt(1 / (d * steps)))


def corollary_radius(d: int, steps: int) -> float:
    """The corollary's radius μ = √(d/(C_d²T))."""
    _check_positive(d=d, steps=steps)
    return float(np.sqrt(d / steps) / lemma_1_constant(d))


@lru_cache(maxsize=256)
def lemma_1_constant(d: int) -> float:
    """C_d, the smallest constant with h(v,r,d) ≥ (1/(2√π) + 1/4)v − C_d r/4 for all v and r.

    With h(v,r,d) = √2 v q(v/r, d), C_d = 4 max_u u (1/(2√π) + 1/4 − √2 q(u,d)), found on a grid
    around u ~ d and refined.
    """
    target = 1 / (2 * np.sqrt(np.pi)) + 0.25

    def excess(u: float) -> float:
        return float(u * (target - np.sqrt(2) * _q(u, d)))

    grid = np.geomspace(1e-2, 20.0 * (d + 1), 120)
    i = int(np.argmax([excess(u) for u in grid]))
    low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
    return float(4 * max(excess(u) for u in np.linspace(low, high, 60)))


def lemma_1_h(v: float, r: float, d: int) -> float:
    """h(v,r,d) of the proof of Lemma 1, by quadrature."""
    return float(np.sqrt(2) * v * _q(v / r, d))


@dataclass(frozen=True)
class Estimate:
    """A Monte Carlo mean and its standard error."""

    value: float
    stderr: float


def estimate_m1(
    f: Callable[[Vector], Any], x: ArrayLike, mu: float, samples: int = 20_000, seed: int = 0
) -> Estimate:
    """|E[S(ξ1 − ξ2)]|² at x, whose maximum over x is M1; unbiased, by pairs of distinct draws.

    f takes candidates (n, d) and returns n values.
    """
    xi, values = _draw(f, x, mu, samples, 2, seed)
    b = np.sign(values[0] - values[1])[:, None] * (xi[0] - xi[1])
    # |Σb|² − Σ|b|² sums ⟨b_i, b_j⟩ over i ≠ j; the error comes from leaving out one block in 20.
    blocks = np.array_split(np.arange(samples), 20)
    sums = np.array([b[block].sum(axis=0) for block in blocks])
    squares = np.array([(b[block] ** 2).sum() for block in blocks])
    sizes = np.array([len(block) for block in blocks])

    def mean_product(total: Vector, square: float, n: int) -> float:
        return float((total @ total - square) / (n * (n - 1)))

    whole = mean_product(sums.sum(axis=0), squares.sum(), samples)
    left_out = np.array(
        [
            mean_product(sums.sum(axis=0) - s, squares.sum() - q, samples - n)
            for s, q, n in zip(sums, squares, sizes, strict=True)
        ]
    )
    jackknife = np.sqrt((len(blocks) - 1) * np.mean((left_out - left_out.mean()) ** 2))
    return Estimate(whole, float(jackknife))


def estimate_m2(
    f: Callable[[Vector], Any], x: ArrayLike, mu: float, samples: int = 20_000, seed: int = 0
) -> Estimate:
    """E[S12 S13 ⟨ξ1 − ξ2, ξ1 − ξ3⟩] at x, whose maximum over x is M2."""
    xi, values = _draw(f, x, mu, samples, 3, seed)
    signs = np.sign(values[0] - values[1]) * np.sign(values[0] - values[2])
    products = signs * ((xi[0] - xi[1]) * (xi[0] - xi[2])).sum(axis=1)
    return Estimate(float(products.mean()), float(products.std(ddof=1) / np.sqrt(samples)))


@dataclass(frozen=True)
class Plan:
    """What one answer of an (m, k) oracle is worth, and what it costs.

    Attributes:
        m: candidates shown.
        k: how many of them are ranked.
        alignment: E⟨g̃, u⟩, the direction's mean length along the true gradient u.
        quality: the share E⟨g̃,u⟩²/E|g̃|² of an exact gradient's progress that a step along g̃ makes
            with its best length; about proportional to 1/d.
        comparisons: comparisons a person makes to rank the best k of m.
        seconds: what a round costs under the cost model.
    """

    m: int
    k: int
    alignment: float
    quality: float
    comparisons: int
    seconds: float

    @property
    def per_candidate(self) -> float:
        """Quality per candidate looked at."""
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
    """A person's seconds: for a round as such, for each candidate seen, for each comparison.

    The defaults are assumptions, not measurements; change them to what you observe.
    """

    round: float = 3.0
    look: float = 1.0
    compare: float = 0.7


TYPICAL = Costs()


def plan(m: int, k: int, d: int, costs: Costs = TYPICAL) -> Plan:
    """The worth and the cost of one answer, exact for a linear f (that is, as μ → 0).

    Only the order statistics of m normals along the gradient matter; across it the weights act on
    d − 1 independent directions.
    """
    _check_mk(m, k)
    if d < 1:
        raise InvalidInput(f"the dimension must be at least 1, found {d}")
    weights = np.array([2.0 * j - m - 1 if j <= k else k for j in range(1, m + 1)])
    e = edges(m, k)
    means, second_moments = _normal_order_statistics(m)
    along = weights @ means / e
    along_squared = weights @ second_moments @ weights / e**2
    across_squared = (d - 1) * (weights @ weights) / e**2
    effort = comparisons_to_rank(m, k)
    if not all(0 <= cost < np.inf for cost in (costs.round, costs.look, costs.compare)):
        raise InvalidInput(f"costs are finite numbers of seconds, 0 or more, found {costs}")
    seconds = costs.round + m * costs.look + effort * costs.compare
    if not seconds > 0:
        raise InvalidInput("a round must cost some time; set at least one of its costs above 0")
    return Plan(
        m=m,
        k=k,
        alignment=float(along),
        quality=float(along**2 / (along_squared + across_squared)),
        comparisons=effort,
        seconds=seconds,
    )


def plans(
    d: int, largest_m: int = 12, ranked: int | None = None, costs: Costs = TYPICAL
) -> list[Plan]:
    """Every (m, k) up to this m, the most quality per minute first."""
    pairs = [
        (m, k)
        for m in range(2, largest_m + 1)
        for k in range(1, m)  # ranking m − 1 of m ranks them all
        if ranked is None or k == ranked
    ]
    if not pairs:
        raise InvalidInput(
            f"no plan shows at most {largest_m} candidates and ranks "
            f"{'one or more' if ranked is None else ranked} of them; show more"
        )
    return sorted((plan(m, k, d, costs) for m, k in pairs), key=lambda p: -p.per_minute)


def recommend(ordered: Sequence[Plan], slack: float = 0.05) -> Plan:
    """The least tiring plan whose quality per minute is within `slack` of the best."""
    if not ordered:
        raise InvalidInput("there are no plans to choose from")
    good = [p for p in ordered if p.per_minute >= (1 - slack) * ordered[0].per_minute]
    return min(good, key=lambda p: p.seconds)


def comparisons_to_rank(m: int, k: int) -> int:
    """Comparisons that suffice to find the best k of m in order: a knock-out, then replays.

    The best takes m − 1; each next one replays a path of at most ⌈log2⌉ of what remains
    (Knuth, The Art of Computer Programming 3, section 5.3.3).
    """
    _check_mk(m, k)
    if k >= m - 1:
        k = m - 1  # the last place needs no comparison
    return m - k + sum(int(np.ceil(np.log2(j))) for j in range(m + 2 - k, m + 1))


@lru_cache(maxsize=256)
def _normal_order_statistics(m: int) -> tuple[Vector, Vector]:
    """Means (m,) and second moments E[z_(i) z_(j)] (m, m) of m ordered standard normals."""
    x, y, weight = _ordered_pairs_of_normals()
    below_x, below_y = _normal_cdf(x), _normal_cdf(y)
    log_below, log_between, log_above = (
        np.log(np.maximum(p, 1e-300)) for p in (below_x, below_y - below_x, 1 - below_y)
    )
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, m + 1)))])
    moments = np.empty((m, m))
    for i in range(m):
        for j in range(i + 1, m):
            counts = (i, j - i - 1, m - 1 - j)  # how many lie below x, between x and y, above y
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


@lru_cache(maxsize=4)
def _legendre(n: int) -> tuple[Vector, Vector]:
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return nodes, weights


def _normal_nodes(n: int = 96, reach: float = 8.0) -> tuple[Vector, Vector]:
    """Gauss–Legendre nodes and weights for integrals against the standard normal density."""
    t, w = _legendre(n)
    z = reach * t
    return z, reach * w * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)


def _ordered_pairs_of_normals(n: int = 96, reach: float = 8.0) -> tuple[Vector, Vector, Vector]:
    """Nodes x < y, flat, and weights for integrals against two normal densities over x < y."""
    x, weight = _normal_nodes(n, reach)
    t, w = _legendre(n)
    half = (reach - x)[:, None] / 2  # y runs from x to the end of the line
    y = x[:, None] + half * (t + 1)
    both = weight[:, None] * half * w * np.exp(-y * y / 2) / np.sqrt(2 * np.pi)
    return np.repeat(x, n), y.ravel(), both.ravel()


def _normal_cdf(z: Vector) -> Vector:
    return np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in z])


def _q(u: float, d: int) -> float:
    """q(u,d) = ∫ x F((2√2u − x)x) p(x) dx over 0 < x < 2√2u, F the χ² law with 2d − 1 freedoms."""
    try:
        from scipy.special import gammainc
    except ModuleNotFoundError as error:
        raise MissingExtra("the constant of Lemma 1", "scipy", "experiments") from error
    end = 2 * np.sqrt(2) * u
    t, w = _legendre(200)
    half = min(end, 10.0) / 2  # beyond 10 the normal density is nothing
    x = half * (t + 1)
    chi_squared = gammainc(d - 0.5, (end - x) * x / 2)
    return float((half * w * x * chi_squared * np.exp(-x * x / 2)).sum() / np.sqrt(2 * np.pi))


def _draw(
    f: Callable[[Vector], Any], x: ArrayLike, mu: float, samples: int, each: int, seed: int
) -> tuple[Vector, Vector]:
    """`each` independent normals per sample, (each, samples, d), and f at x + μξ."""
    centre = as_vector(x, "x")
    if samples < 40:
        raise InvalidInput(f"an estimate needs at least 40 samples, found {samples}")
    xi = np.random.default_rng(seed).standard_normal((each, samples, centre.size))
    values = [np.asarray(f(centre + mu * block)) for block in xi]
    if any(v.shape != (samples,) for v in values):
        raise InvalidInput(
            f"f must return one value for each of {samples} candidates, found {values[0].shape}"
        )
    return xi, np.stack(values)


def _check_mk(m: int, k: int) -> None:
    if int(m) != m or int(k) != k or m < 2 or not 1 <= k <= m:
        raise InvalidInput(f"an (m, k) oracle needs m ≥ 2 and 1 ≤ k ≤ m, found m = {m}, k = {k}")


def _check_positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if not 0 < value < np.inf:
            raise InvalidInput(f"{name} must be a finite number above 0, found {value}")
