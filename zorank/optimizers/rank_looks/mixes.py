"""One belief over two distances: by a candidate's numbers, and by what it looks like.

A mix is a share a: candidates differ by a |x − y|²/2d + (1 − a) |z(x) − z(y)|²/2, where z is the
look. Every mix has its own length-scale and noise, inferred by evidence as in rank-process, and
the evidence of the answers weighs the mixes against each other (Bayesian model averaging). Utility
is in standard deviations among random candidates, so that the mixes can be averaged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.rank_process.posterior import Belief, Comparisons, Traits, believe, infer
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]

SHARES = (1.0, 0.0, 0.1, 0.3)
"""The share of the numbers in each mix; the first is rank-process's own model."""

LENGTH_WIDTH = 0.75
"""The prior's standard deviation of log ℓ: both distances are of the order 1."""

NEGLIGIBLE = 0.01
"""A mix of less weight is left out of predictions."""

JITTER = 1e-5
"""Keeps covariances of nearly equal candidates positive definite."""


@dataclass(frozen=True, eq=False)
class Distances:
    """Half the squared distances by numbers and by looks, (n, m), to be mixed."""

    by_numbers: Rows
    by_looks: Rows | None = None

    def mixed(self, share: float) -> Rows:
        """The distances of a mix."""
        if share == 1.0 or self.by_looks is None:
            return self.by_numbers
        return np.asarray(share * self.by_numbers + (1.0 - share) * self.by_looks)


@dataclass(frozen=True, eq=False)
class Points:
    """Candidates as numbers, in units of sigma0, and as looks."""

    numbers: Rows
    looks: Rows | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def to(self, others: Points) -> Distances:
        """The distances from each of these candidates to each of the others."""
        by_numbers = half_sq_dists(self.numbers, others.numbers) / self.numbers.shape[1]
        if self.looks is None or others.looks is None:
            return Distances(by_numbers)
        return Distances(by_numbers, half_sq_dists(self.looks, others.looks))

    def join(self, *others: Points) -> Points:
        """These candidates, then the others."""
        parts = (self, *others)
        looks = [part.looks for part in parts if part.looks is not None]
        numbers = np.vstack([part.numbers for part in parts])
        return Points(numbers, np.vstack(looks) if len(looks) == len(parts) else None)

    def pick(self, rows: Sequence[int]) -> Points:
        """Some of the candidates."""
        at = np.asarray(rows, dtype=np.int64)
        return Points(self.numbers[at], None if self.looks is None else self.looks[at])


def half_sq_dists(a: Rows, b: Rows) -> Rows:
    """|a_i − b_j|²/2."""
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
    return np.asarray(np.maximum(squares, 0.0) / 2.0)


@dataclass(frozen=True, eq=False)
class Mix:
    """One mix and what it makes of the answers.

    Attributes:
        share: of the numbers in its distance.
        traits: length-scale and noise, as inferred.
        belief: the posterior of the utility.
    """

    share: float
    traits: Traits
    belief: Belief

    def predict(self, to_known: Distances, own: Distances) -> tuple[Vector, Rows]:
        """Mean and covariance of the utility at points, from their distances."""
        belief, said = self.belief, self.belief.said
        cross = belief.kernel(to_known.mixed(self.share))
        told = (cross[:, said.better] - cross[:, said.worse]) @ belief.precision_root.T
        covariance = belief.kernel(own.mixed(self.share)) - told @ told.T
        spread = self.traits.spread
        return cross @ belief.weights / spread, covariance / spread**2

    def mean(self, to_known: Distances) -> Vector:
        """The mean of the utility at points, from their distances."""
        cross = self.belief.kernel(to_known.mixed(self.share))
        return np.asarray(cross @ self.belief.weights / self.traits.spread)


@dataclass(frozen=True, eq=False)
class Mixture:
    """All mixes, weighed by evidence.

    Attributes:
        known: the candidates that answers speak of.
        mixes: what each makes of the answers.
        weights: the posterior probability of each.
    """

    known: Points
    mixes: tuple[Mix, ...]
    weights: tuple[float, ...]

    @property
    def leading(self) -> Mix:
        """The mix of the largest weight."""
        return self.mixes[int(np.argmax(self.weights))]

    @property
    def by_looks(self) -> float:
        """The probability that looks matter at all."""
        return sum(w for w, mix in zip(self.weights, self.mixes, strict=True) if mix.share < 1)

    def mean(self, points: Points) -> Vector:
        """The mean utility over all mixes."""
        to_known = points.to(self.known)
        return np.asarray(sum(w * mix.mean(to_known) for w, mix in self._counting()))

    def sample(self, points: Points, count: int, rng: np.random.Generator) -> tuple[Vector, Rows]:
        """The mean over all mixes, (n,), and joint samples, (n, count), shared out by weight."""
        counting = self._counting()
        weights = np.array([w for w, _ in counting])
        shares = rng.multinomial(count, weights / weights.sum())
        to_known, own = points.to(self.known), points.to(points)
        mean, drawn = np.zeros(len(points)), []
        for (weight, mix), n in zip(counting, shares, strict=True):
            middle, covariance = mix.predict(to_known, own)
            mean += weight * middle
            if n:
                root = _root(covariance)
                drawn.append(middle[:, None] + root @ rng.standard_normal((len(points), n)))
        return mean, np.concatenate(drawn, axis=1)

    def chance(self, better: int, worse: int) -> float:
        """The probability that one known candidate is better than another."""
        if better == worse:
            return 1.0
        pair, total = self.known.pick([better, worse]), 0.0
        to_known, own = pair.to(self.known), pair.to(pair)
        for weight, mix in self._counting():
            mean, covariance = mix.predict(to_known, own)
            variance = covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1]
            doubt = math.sqrt(max(float(variance), 1e-12))
            total += weight * 0.5 * math.erfc((mean[1] - mean[0]) / doubt / math.sqrt(2.0))
        return total

    def _counting(self) -> list[tuple[float, Mix]]:
        pairs = zip(self.weights, self.mixes, strict=True)
        counting = [(w, mix) for w, mix in pairs if w >= NEGLIGIBLE]
        total = sum(w for w, _ in counting)
        return [(w / total, mix) for w, mix in counting]


def weigh(
    known: Points,
    said: Comparisons,
    numbers: tuple[Traits, Belief],
    before: Mixture | None,
    factors: tuple[float, ...],
) -> Mixture:
    """The mixture after these answers.

    Args:
        known: the candidates that answers speak of.
        said: the answers.
        numbers: what rank-process infers from the numbers alone.
        before: the mixture before the last answer, to start from.
        factors: each rater's own noise, as rank-process infers it.
    """
    mixes, distances = [Mix(1.0, *numbers)], known.to(known)
    for share in SHARES[1:] if known.looks is not None else ():
        old = None if before is None else next((m for m in before.mixes if m.share == share), None)
        gaps = distances.mixed(share)
        np.fill_diagonal(gaps, 0.0)
        sites = None
        if old is not None and old.belief.said.ballot[0] == said.ballot[0]:  # none was forgotten
            sites = old.belief.sites
        start = replace(Traits() if old is None else old.traits, factors=factors)
        traits, _ = infer(gaps, said, start, sites, LENGTH_WIDTH)
        traits = replace(traits, factors=factors)
        mixes.append(Mix(share, traits, believe(gaps, said, [traits], sites)[0]))
    evidence = np.array([mix.belief.evidence for mix in mixes])
    weights = np.exp(evidence - evidence.max())
    return Mixture(known, tuple(mixes), tuple((weights / weights.sum()).tolist()))


def _root(covariance: Rows) -> Rows:
    n = len(covariance)
    try:
        return np.asarray(np.linalg.cholesky(covariance + JITTER * np.eye(n)))
    except np.linalg.LinAlgError:  # rounding: nearly equal candidates
        values, vectors = np.linalg.eigh(covariance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
