"""The paper's theory as numbers: graph statistics, moments and bounds.

These functions compute the statements of sections 2 and 3 of the paper: Lemmas 1 to 4, Theorem 1
and its corollary. docs/theory.md says which of the statements hold under which conditions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank._arrays import is_real, is_whole, plain
from zorank._deprecation import renamed
from zorank._orders import read_items
from zorank.errors import InvalidInput, required_by, short
from zorank.rng import check_seed
from zorank.types import Matrix, Vector, as_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LARGEST = 1e300
"""Larger numbers count as infinite."""
MAX_SAMPLES = 10**8
"""The largest number of samples of an estimate."""
MAX_LISTED = 10**7
"""The largest number of candidates, or of their comparisons, that are listed in memory."""
LEMMA_3_ISOTROPIC = 32 / np.pi
"""Lemma 3's bound on M1 if the Hessian is a multiple of the identity."""


def edges(m: int, k: int) -> int:
    """Return |E|, the number of comparisons in an answer of an (m, k) oracle (Lemma 2)."""
    m, k = check_mk(m, k)
    return k * m - (k * k + k) // 2


def neighbouring_pairs(m: int, k: int) -> int:
    """Return N(E), the number of ordered pairs of edges that share a candidate (Lemma 2)."""
    m, k = check_mk(m, k)
    return m * m * k + m * k * k - k**3 + k * k - 4 * m * k + 2 * k


def second_moment_bound(
    m: int, k: int, d: int, m1: float | None = None, m2: float | None = None
) -> float:
    """Return Lemma 4's bound on E|g̃|²; M1 and M2 default to Lemma 3's bound 2d.

    Its proof holds for full rankings, k ≥ m − 1, only: see `ranking_moment_bound` for others.
    """
    check_positive(d=d)
    for name, value in (("m1", m1), ("m2", m2)):  # an estimate may be negative
        if value is not None and not (is_real(value) and abs(plain(value)) < LARGEST):
            raise InvalidInput(f"{name} must be a finite number or None, found {short(value)}")
    e = edges(m, k)
    m1, m2 = (2.0 * d if value is None else value for value in (m1, m2))
    return 2 * d / e + neighbouring_pairs(m, k) / e**2 * m2 + m1


def top_k_comparisons(m: int, k: int) -> list[tuple[int, int]]:
    """Return the edges (better, worse) of a ranking of the best k of m, which are 0 to k − 1."""
    m, k = check_mk(m, k)
    _check_listed(edges(m, k))
    return [(i, j) for i in range(k) for j in range(i + 1, m)]


def ranking_moment_bound(m: int, d: int, comparisons: Iterable[tuple[int, int]]) -> float:
    """Return a bound on E|g̃|² that holds for every f and any ranking with this graph.

    The comparisons may depend on the values, as those of the best k do. The bound is the smaller
    of two. By Jensen's inequality |g̃|² is at most the mean of |ξ_i − ξ_j|² over the edges, so
    E|g̃|² ≤ d m (m − 1)/|E|. And g̃ = Σ w_i ξ_i with Σ w_i = 0 is at most |w| σ, where σ is the
    largest singular value of an (m − 1) × d normal matrix: E|g̃|² ≤ |w|² ((√(m − 1) + √d)² + 1).

    Args:
        m: the number of candidates.
        d: the dimension.
        comparisons: the edges (better, worse), as indices below m. If the graph varies from answer
            to answer, the bound is the largest over the graphs that occur.
    """
    m, _ = check_mk(m, 1)
    _check_listed(m)
    check_positive(d=d)
    is_list = isinstance(comparisons, Iterable)
    edge_list = read_items(comparisons, "comparisons") if is_list else ()
    try:
        graph = np.array(edge_list)
        fits = graph.ndim == 2 and graph.shape[1] == 2 and graph.dtype.kind in "iu"
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits or graph.min() < 0 or graph.max() >= m or (graph[:, 0] == graph[:, 1]).any():
        raise InvalidInput(
            f"comparisons must be pairs of different whole numbers from 0 to {m - 1}, "
            f"found {short(comparisons)}"
        )
    better, worse = (np.bincount(column, minlength=m) for column in graph.T)
    return _moment_bound(m, d, len(graph), (worse - better) / len(graph))


def _moment_bound(m: int, d: int, edge_count: int, weights: Vector) -> float:
    jensen = float(d) * m * (m - 1) / edge_count
    singular = float(weights @ weights) * ((np.sqrt(m - 1) + np.sqrt(float(d))) ** 2 + 1)
    return float(min(jensen, singular))


def _top_k_moment_bound(m: int, k: int, d: int) -> float:
    """Return `ranking_moment_bound` of the best k of m, without listing the edges."""
    _check_listed(m)
    ranks = np.arange(m)
    weights = np.where(ranks < k, 2.0 * ranks - m + 1, k) / edges(m, k)
    return _moment_bound(m, d, edges(m, k), weights)


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
    """Return Theorem 1's bound on E min_t |∇f(x_t)| after `steps` steps; gap is f(x0) − f*.

    E|g̃|² is bounded by `ranking_moment_bound` and, for full rankings, by Lemma 4 if that is
    smaller; m1 and m2 are used for full rankings only. For k < m − 1 this is not a proved bound:
    it needs Lemma 1, which is false for some f then. With f = x − x√(x² + 10⁻⁴)/2, d = 1, μ = 1
    and (100, 1) the mean direction at 0 points the wrong way.
    """
    m, k = check_mk(m, k)
    check_positive(gap=gap, steps=steps, eta=eta, mu=mu, smoothness=smoothness, d=d)
    variance = _top_k_moment_bound(m, k, d)
    if k >= m - 1:  # the last of m needs no comparison
        variance = min(variance, second_moment_bound(m, m, d, m1, m2))
    return (
        gap / (eta * steps)
        + lemma_1_constant(d) * mu * smoothness
        + eta * smoothness / 2 * variance
    )


def corollary_step(d: int, steps: int) -> float:
    """Return the corollary's step size η = √(1/(dT))."""
    check_positive(d=d, steps=steps)
    return float(np.sqrt(1 / (d * steps)))


def corollary_radius(d: int, steps: int) -> float:
    """Return the corollary's radius μ = √(d/(C_d²T))."""
    check_positive(d=d, steps=steps)
    return float(np.sqrt(d / steps) / lemma_1_constant(d))


def lemma_1_constant(d: int) -> float:
    """Return C_d, the smallest constant with h(v,r,d) ≥ (1/(2√π) + 1/4)v − C_d r/4 for all v, r.

    With h(v,r,d) = √2 v q(v/r, d), C_d = 4 max_u u (1/(2√π) + 1/4 − √2 q(u,d)). The maximum is
    searched on a grid around u ~ d, which is then refined.
    """
    check_positive(d=d)
    return _lemma_1_constant(d)


@lru_cache(maxsize=256)
def _lemma_1_constant(d: int) -> float:
    target = 1 / (2 * np.sqrt(np.pi)) + 0.25

    def excess(u: float) -> float:
        return float(u * (target - np.sqrt(2) * _q(u, d)))

    grid = np.geomspace(1e-2, 20.0 * (d + 1), 120)
    i = int(np.argmax([excess(u) for u in grid]))
    low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
    return float(4 * max(excess(u) for u in np.linspace(low, high, 60)))


def lemma_1_h(v: float, r: float, d: int) -> float:
    """Return h(v,r,d) from the proof of Lemma 1, by quadrature."""
    check_positive(v=v, r=r, d=d)
    return float(np.sqrt(2) * v * _q(v / r, d))


@dataclass(frozen=True)
class Estimate:
    """A Monte Carlo mean and its standard error."""

    value: float
    stderr: float


def estimate_m1(
    f: Callable[[Matrix], Any], x: ArrayLike, mu: float, samples: int = 20_000, seed: int = 0
) -> Estimate:
    """Estimate |E[S(ξ1 − ξ2)]|² at x, whose maximum over x is M1, without bias.

    f takes candidates, (n, d), and returns n values.
    """
    xi, values = _draw(f, x, mu, samples, 2, seed)
    b = np.sign(values[0] - values[1])[:, None] * (xi[0] - xi[1])
    # |Σb|² − Σ|b|² sums ⟨b_i, b_j⟩ over i ≠ j. The standard error is a jackknife over 20 blocks.
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
    f: Callable[[Matrix], Any], x: ArrayLike, mu: float, samples: int = 20_000, seed: int = 0
) -> Estimate:
    """Estimate E[S12 S13 ⟨ξ1 − ξ2, ξ1 − ξ3⟩] at x, whose maximum over x is M2.

    f takes candidates, (n, d), and returns n values.
    """
    xi, values = _draw(f, x, mu, samples, 3, seed)
    signs = np.sign(values[0] - values[1]) * np.sign(values[0] - values[2])
    products = signs * ((xi[0] - xi[1]) * (xi[0] - xi[2])).sum(axis=1)
    return Estimate(float(products.mean()), float(products.std(ddof=1) / np.sqrt(samples)))


@lru_cache(maxsize=4)
def gauss_legendre(n: int) -> tuple[Vector, Vector]:
    """Return the nodes and weights of Gauss–Legendre quadrature on [−1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return nodes, weights


def _q(u: float, d: int) -> float:
    """Return q(u,d) = ∫ x F((2√2u − x)x) p(x) dx over 0 < x < 2√2u.

    F is the distribution function of χ² with 2d − 1 degrees of freedom, p the normal density.
    """
    with required_by("the constant of Lemma 1", "scipy", "experiments"):
        from scipy.special import gammainc
    end = 2 * np.sqrt(2) * u
    t, w = gauss_legendre(200)
    half = min(end, 10.0) / 2  # the normal density beyond 10 is negligible
    x = half * (t + 1)
    chi_squared = gammainc(d - 0.5, (end - x) * x / 2)
    return float((half * w * x * chi_squared * np.exp(-x * x / 2)).sum() / np.sqrt(2 * np.pi))


def _draw(
    f: Callable[[Matrix], Any], x: ArrayLike, mu: float, samples: int, each: int, seed: int
) -> tuple[NDArray[np.float64], Matrix]:
    """Return normals ξ, (each, samples, d), and f at x + μξ, (each, samples)."""
    centre = as_vector(x, "x")
    check_positive(mu=mu)
    if not is_whole(samples) or not 40 <= samples <= MAX_SAMPLES:
        raise InvalidInput(
            f"an estimate needs at least 40 samples and at most {MAX_SAMPLES:,}, "
            f"found {short(samples)}"
        )
    if not callable(f):
        raise InvalidInput(f"f must be a function of candidates, found {short(f)}")
    xi = np.random.default_rng(check_seed(seed)).standard_normal((each, samples, centre.size))
    values = [np.asarray(f(centre + mu * block)) for block in xi]
    if any(v.shape != (samples,) for v in values):
        raise InvalidInput(
            f"f must return one value for each of {samples} candidates, found {values[0].shape}"
        )
    return xi, np.stack(values)


def check_mk(m: int, k: int) -> tuple[int, int]:
    """Return m and k as plain integers; raise unless 1 ≤ k ≤ m and m ≥ 2."""
    try:
        whole = (operator.index(m), operator.index(k))
    except TypeError:
        whole = (0, 0)
    if whole[0] < 2 or not 1 <= whole[1] <= whole[0]:
        raise InvalidInput(
            f"an (m, k) oracle needs whole numbers m ≥ 2 and 1 ≤ k ≤ m, found m = {short(m, 20)}, "
            f"k = {short(k, 20)}"
        )
    return whole


def _check_listed(many: int) -> None:
    if many > MAX_LISTED:
        raise InvalidInput(
            f"at most {MAX_LISTED:,} candidates or comparisons can be listed, found {short(many)}"
        )


def check_positive(**numbers: float) -> None:
    """Raise InvalidInput, which names the argument, unless numbers are finite and above 0."""
    for name, value in numbers.items():
        if not is_real(value) or not 0 < plain(value) < LARGEST:
            raise InvalidInput(f"{name} must be a finite number above 0, found {short(value, 40)}")


__getattr__ = renamed(
    __name__,
    {
        "TYPICAL": "zorank.planning:DEFAULT_COSTS",
        **{
            name: f"zorank.planning:{name}"
            for name in ("Costs", "Plan", "comparisons_to_rank", "plan", "plans", "recommend")
        },
    },
)
