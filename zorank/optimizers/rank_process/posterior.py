"""What a set of rankings says about a hidden utility: a Gaussian process that has heard answers.

The model is Thurstone's (1927) over a Gaussian process (Chu and Ghahramani, 2005). A judge ranks a
slate by u + ε, with a fresh ε ~ N(0, σ²) for every look. u is a Gaussian process with kernel
k(x, y) = exp(−|x − y|²/2dℓ²), which on the shell |x| = √d is exp((x·y/d − 1)/ℓ²). An answer is
a few comparisons t = (u_i + ε_i) − (u_j + ε_j) of known range: t > 0 where i was ranked above j,
|t| < δ where nothing was told apart. All answers together say that one Gaussian vector t lies in a
box, and expectation propagation finds the box's probability, the evidence, and the utility given
it. Only distances between candidates enter, so nothing here depends on d.

With Gumbel noise in place of normal noise this is Plackett and Luce's model, whose box has no such
solution; its Laplace approximation was tried first and took the judge for up to three times
as noisy as they were (docs/few-answers.md has the numbers).

Utility is "larger is better" and has prior variance 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.optimizers.rank_process.comparisons import Comparisons
from zorank.optimizers.rank_process.propagation import SLIPS, propagate
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "SLIPS",
    "Belief",
    "Comparisons",
    "Traits",
    "Weighed",
    "believe",
    "infer",
    "one_thread",
]


@dataclass(frozen=True)
class Traits:
    """What the utility and its judges are like; all of it is inferred from the answers.

    Attributes:
        length: ℓ, over which utility changes, as a distance per √d.
        noise: σ of a look, in standard deviations of the utility of random candidates.
        threshold: δ, below which a judge calls two candidates alike, in the same unit.
        factors: each rater's own noise as a multiple of σ.
    """

    length: float = 0.6
    noise: float = 0.2
    threshold: float = 0.15
    factors: tuple[float, ...] = ()

    @property
    def spread(self) -> float:
        """The standard deviation of utility among random candidates, in units of the prior's."""
        return math.sqrt(-math.expm1(-1.0 / self.length**2))


@dataclass(frozen=True, eq=False)
class Belief:
    """The utility given all answers: mean Σ a_i k(x, x_i), and what remains uncertain.

    Attributes:
        traits: what utility and judges were taken to be like.
        evidence: the log-probability of the answers.
        weights: a, one for each candidate.
        sites: precision and shift of each comparison's site, to start the next search from.
        said: the comparisons it was found from.
        precision_root: R, where RᵀR is the precision of the comparisons given the prior, with
            which uncertainty is predicted.
    """

    traits: Traits
    evidence: float
    weights: Vector
    sites: NDArray[np.float64]
    said: Comparisons
    precision_root: NDArray[np.float64]

    def kernel(self, gaps: Vector) -> Vector:
        """The prior covariance at half the mean squared distances |x − y|²/2d."""
        return np.asarray(np.exp(-gaps / self.traits.length**2))

    def mean(self, gaps: Vector) -> Vector:
        """The mean utility at points whose gaps to the known candidates are the last axis."""
        return np.asarray(self.kernel(gaps) @ self.weights)

    def difference(self, a: Vector, b: Vector, gap: float) -> tuple[float, float]:
        """Mean and standard deviation of u(a) − u(b), from their gaps to the known candidates."""
        k = self.kernel(a) - self.kernel(b)
        contrast = k[self.said.better] - k[self.said.worse]
        variance = 2.0 * (1.0 - float(self.kernel(np.array(gap))))
        variance -= float(np.sum((self.precision_root @ contrast) ** 2))
        return float(k @ self.weights), math.sqrt(max(variance, 1e-12))


def believe(
    gaps: NDArray[np.float64],
    said: Comparisons,
    traits: Sequence[Traits],
    sites: NDArray[np.float64] | None = None,
    sweeps: int = 20,
) -> list[Belief]:
    """The belief under each of these traits.

    Args:
        gaps: |x_i − x_j|²/2d of all known candidates.
        said: what was said of them, at least one comparison.
        traits: several are cheaper at once.
        sites: those of an earlier belief, whose comparisons these begin with.
        sweeps: the most of expectation propagation.
    """
    looks = said.shared_looks()
    of_utility: dict[float, NDArray[np.float64]] = {}
    covariances = np.empty((len(traits), len(said), len(said)))
    for h, t in enumerate(traits):
        if t.length not in of_utility:
            of_utility[t.length] = said.differences(np.exp(-gaps / t.length**2))
        factors = np.array(t.factors)[said.rater] if t.factors else 1.0
        noise = t.noise * t.spread * factors * said.scale
        np.multiply(noise[:, None] * looks, noise, out=covariances[h])
        covariances[h] += of_utility[t.length]
    halves = np.array([[t.threshold * t.spread] for t in traits])
    found = propagate(covariances, halves, said.tied, sites, sweeps)
    beliefs = []
    for h, t in enumerate(traits):
        force = found.force[h]
        weights: Vector = np.bincount(said.better, force, len(gaps)).astype(np.float64)
        weights -= np.bincount(said.worse, force, len(gaps))
        evidence, root = float(found.evidence[h]), found.precision_root[h]
        beliefs.append(Belief(t, evidence, weights, found.sites[:, h], said, root))
    return beliefs


Weighed = tuple[tuple[float, Traits], ...]
"""Traits and their posterior probabilities."""

GRID = {
    "length": (0.2, 0.3, 0.45, 0.7, 1.0, 1.6, 2.5),
    "noise": (0.01, 0.03, 0.1, 0.2, 0.4, 0.8),
    "threshold": (0.05, 0.15, 0.45),
}
STEP = 1.6
LIMITS = {"length": (0.02, 50.0), "noise": (0.003, 3.0), "threshold": (0.003, 3.0)}

ON_A_GRID = 40
"""Up to so many comparisons every combination of traits is weighed; later only those around the
last ones, which costs a seventh and finds the same."""

PRIOR_WIDTH = {"noise": 0.6, "threshold": 1.0}
"""Standard deviations of the logarithms of the traits around those of `Traits()`."""
FACTOR_PRIOR_WIDTH = 0.5


def infer(
    gaps: NDArray[np.float64],
    said: Comparisons,
    now: Traits,
    sites: NDArray[np.float64] | None,
    length_width: float,
) -> tuple[Traits, Weighed]:
    """The traits after these answers, as geometric means weighted by evidence, and the weights.

    Args:
        gaps: |x_i − x_j|²/2d of all known candidates.
        said: what was said of them.
        now: the traits before.
        sites: those of an earlier belief, whose comparisons these begin with.
        length_width: the prior's standard deviation of log ℓ.
    """
    names = ["length", "noise", *(["threshold"] if said.tied.any() else [])]
    on_a_grid = len(said) <= ON_A_GRID
    around = (
        _grid(now, names) if on_a_grid else [_scaled(now, n, s) for n in names for s in _STEPS]
    )
    turn = int(said.ballot[-1]) % max(len(now.factors), 1)  # one rater at a time
    others = [_with_factor(now, turn, s) for s in _STEPS] if len(now.factors) > 1 else []
    cells = [now, *around, *others]
    beliefs = believe(gaps, said, cells, sites, sweeps=6 if on_a_grid else 3)
    scores = np.array([b.evidence + _log_prior(b.traits, length_width) for b in beliefs])
    weights = np.exp(scores - scores.max())
    if others:
        lean = _lean(scores[-2], scores[0], scores[-1])
        now = _with_factor(now, turn, STEP**lean)
    if on_a_grid:
        weights[0] = 0.0  # it may lie on the grid already
        weights[len(around) + 1 :] = 0.0
        for name in names:
            logs = np.log([getattr(cell, name) for cell in cells])
            now = _scaled(now, name, math.exp(weights @ logs / weights.sum()) / getattr(now, name))
    else:
        for n, name in enumerate(names):
            lean = _lean(scores[1 + 2 * n], scores[0], scores[2 + 2 * n])
            now = _scaled(now, name, STEP**lean)
    weights /= weights.sum()
    return now, tuple(zip(weights.tolist(), cells, strict=True))


def _grid(now: Traits, names: Sequence[str]) -> list[Traits]:
    return [
        Traits(**dict(zip(names, values, strict=True)), factors=now.factors)
        for values in product(*(GRID[name] for name in names))
    ]


_STEPS = (1.0 / STEP, STEP)


def _lean(low: float, middle: float, high: float) -> float:
    """The mean of −1, 0 and 1 under these log-weights."""
    weights = np.exp(np.array([low, middle, high]) - max(low, middle, high))
    return float((weights[2] - weights[0]) / weights.sum())


def _scaled(traits: Traits, name: str, factor: float) -> Traits:
    low, high = LIMITS[name]
    changed: Any = {name: min(max(getattr(traits, name) * factor, low), high)}
    return replace(traits, **changed)


def _with_factor(traits: Traits, rater: int, factor: float) -> Traits:
    factors = list(traits.factors)
    factors[rater] = min(max(factors[rater] * factor, 0.1), 10.0)
    return replace(traits, factors=tuple(factors))


def _log_prior(traits: Traits, length_width: float) -> float:
    usual = Traits()
    widths = {"length": length_width, **PRIOR_WIDTH}
    logs = [
        math.log(getattr(traits, name) / getattr(usual, name)) / width
        for name, width in widths.items()
    ]
    logs += [math.log(factor) / FACTOR_PRIOR_WIDTH for factor in traits.factors]
    return -0.5 * sum(log * log for log in logs)


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController  # looks at every library that is loaded: once

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Sums as small as these gain nothing from threads, and their last bits depend on how many."""
    return _libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]
