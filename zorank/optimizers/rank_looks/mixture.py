"""A mixture of Gaussian processes over two distances: by coordinates and by looks.

A component has a share a: its kernel uses the half squared distance
a |x − y|²/2d + (1 − a) |z(x) − z(y)|²/2, where z(x) is the look of candidate x. Each component
infers its own lengthscale and noise as rank-process does, and the components are weighted by their
evidence (Bayesian model averaging). Utility is in standard deviations among random candidates, so
that the components can be averaged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.rank_process.comparisons import Comparisons
from zorank.optimizers.rank_process.hyperparameters import Hyperparameters
from zorank.optimizers.rank_process.inference import infer_hyperparameters
from zorank.optimizers.rank_process.posterior import Posterior, fit_posteriors
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]

SHARES = (1.0, 0.0, 0.1, 0.3)
"""The share of the coordinates in each component; the first is rank-process's own model."""

LENGTHSCALE_PRIOR_SD = 0.75
"""The prior's standard deviation of log ℓ: both distances are of the order 1."""

MIN_WEIGHT = 0.01
"""Components of smaller weight are left out of predictions."""

JITTER = 1e-5
"""Keeps covariances of nearly equal candidates positive definite."""


@dataclass(frozen=True, eq=False)
class Distances:
    """Half squared distances by coordinates and by looks, (n, m)."""

    by_coordinates: Rows
    by_looks: Rows | None = None

    def mix(self, share: float) -> Rows:
        """Return the distances of the component with this share of the coordinates."""
        if share == 1.0 or self.by_looks is None:
            return self.by_coordinates
        return np.asarray(share * self.by_coordinates + (1.0 - share) * self.by_looks)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The coordinates of candidates, in units of sigma0, and their looks."""

    coordinates: Rows
    looks: Rows | None = None

    def __len__(self) -> int:
        return len(self.coordinates)

    def distances(self, others: Inputs) -> Distances:
        """Return the distances from each of these candidates to each of the others."""
        dim = self.coordinates.shape[1]
        by_coordinates = half_sq_dists(self.coordinates, others.coordinates) / dim
        if self.looks is None or others.looks is None:
            return Distances(by_coordinates)
        return Distances(by_coordinates, half_sq_dists(self.looks, others.looks))

    def join(self, *others: Inputs) -> Inputs:
        """Return these candidates, then the others."""
        parts = (self, *others)
        looks = [part.looks for part in parts if part.looks is not None]
        coordinates = np.vstack([part.coordinates for part in parts])
        return Inputs(coordinates, np.vstack(looks) if len(looks) == len(parts) else None)

    def select(self, rows: Sequence[int]) -> Inputs:
        """Return the candidates with these indices."""
        at = np.asarray(rows, dtype=np.int64)
        return Inputs(self.coordinates[at], None if self.looks is None else self.looks[at])


def half_sq_dists(a: Rows, b: Rows) -> Rows:
    """Return |a_i − b_j|²/2, (n, m)."""
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
    return np.asarray(np.maximum(squares, 0.0) / 2.0)


@dataclass(frozen=True, eq=False)
class Component:
    """One Gaussian process of the mixture.

    Attributes:
        share: the share of the coordinates in its distance.
        hyperparameters: as inferred for this distance.
        posterior: of the utility.
    """

    share: float
    hyperparameters: Hyperparameters
    posterior: Posterior

    def predict(self, to_known: Distances, own: Distances) -> tuple[Vector, Rows]:
        """Return mean, (n,), and covariance, (n, n), of the utility at points.

        Args:
            to_known: distances of the points to the known candidates.
            own: distances between the points.
        """
        posterior, comparisons = self.posterior, self.posterior.comparisons
        cross = posterior.kernel(to_known.mix(self.share))
        contrasts = cross[:, comparisons.better] - cross[:, comparisons.worse]
        explained = contrasts @ posterior.precision_root.T
        covariance = posterior.kernel(own.mix(self.share)) - explained @ explained.T
        sd = self.hyperparameters.utility_sd
        return cross @ posterior.weights / sd, covariance / sd**2

    def mean(self, to_known: Distances) -> Vector:
        """Return the mean of the utility at points, from their distances."""
        cross = self.posterior.kernel(to_known.mix(self.share))
        return np.asarray(cross @ self.posterior.weights / self.hyperparameters.utility_sd)


@dataclass(frozen=True, eq=False)
class Mixture:
    """All components, weighted by evidence.

    Attributes:
        known: the candidates that the comparisons refer to.
        components: one for each share.
        weights: the posterior probability of each.
    """

    known: Inputs
    components: tuple[Component, ...]
    weights: tuple[float, ...]

    @property
    def leading(self) -> Component:
        """The component of the largest weight."""
        return self.components[int(np.argmax(self.weights))]

    @property
    def looks_probability(self) -> float:
        """The probability that the utility depends on looks."""
        pairs = zip(self.weights, self.components, strict=True)
        return sum(weight for weight, component in pairs if component.share < 1)

    def mean(self, points: Inputs) -> Vector:
        """Return the mean of the utility at points over all components."""
        to_known = points.distances(self.known)
        return np.asarray(sum(w * component.mean(to_known) for w, component in self._relevant()))

    def sample(self, points: Inputs, count: int, rng: np.random.Generator) -> tuple[Vector, Rows]:
        """Return the mean, (n,), and joint samples, (n, count), divided by component weight."""
        relevant = self._relevant()
        weights = np.array([w for w, _ in relevant])
        counts = rng.multinomial(count, weights / weights.sum())
        to_known, own = points.distances(self.known), points.distances(points)
        mean, samples = np.zeros(len(points)), []
        for (weight, component), n in zip(relevant, counts, strict=True):
            component_mean, covariance = component.predict(to_known, own)
            mean += weight * component_mean
            if n:
                root = _root(covariance)
                noise = root @ rng.standard_normal((len(points), n))
                samples.append(component_mean[:, None] + noise)
        return mean, np.concatenate(samples, axis=1)

    def probability_better(self, better: int, worse: int) -> float:
        """Return the probability that one known candidate is better than another."""
        if better == worse:
            return 1.0
        pair, total = self.known.select([better, worse]), 0.0
        to_known, own = pair.distances(self.known), pair.distances(pair)
        for weight, component in self._relevant():
            mean, covariance = component.predict(to_known, own)
            variance = covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1]
            sd = math.sqrt(max(float(variance), 1e-12))
            total += weight * 0.5 * math.erfc((mean[1] - mean[0]) / sd / math.sqrt(2.0))
        return total

    def _relevant(self) -> list[tuple[float, Component]]:
        pairs = zip(self.weights, self.components, strict=True)
        relevant = [(w, component) for w, component in pairs if w >= MIN_WEIGHT]
        total = sum(w for w, _ in relevant)
        return [(w / total, component) for w, component in relevant]


def fit_mixture(
    known: Inputs,
    comparisons: Comparisons,
    by_coordinates: Component,
    before: Mixture | None,
) -> Mixture:
    """Return the mixture given these comparisons.

    Args:
        known: the candidates that the comparisons refer to.
        comparisons: all of them.
        by_coordinates: rank-process's model; the noise of each rater is taken from it.
        before: the mixture before the last answer, to start from.
    """
    components, distances = [by_coordinates], known.distances(known)
    for share in SHARES[1:] if known.looks is not None else ():
        old = _with_share(before, share)
        dists = distances.mix(share)
        np.fill_diagonal(dists, 0.0)
        components.append(
            _fit_component(share, dists, comparisons, by_coordinates.hyperparameters, old)
        )
    evidence = np.array([component.posterior.log_evidence for component in components])
    weights = np.exp(evidence - evidence.max())
    return Mixture(known, tuple(components), tuple((weights / weights.sum()).tolist()))


def _with_share(mixture: Mixture | None, share: float) -> Component | None:
    components = () if mixture is None else mixture.components
    return next((component for component in components if component.share == share), None)


def _fit_component(
    share: float,
    dists: Rows,
    comparisons: Comparisons,
    of_raters: Hyperparameters,
    old: Component | None,
) -> Component:
    sites = None
    if old is not None and old.posterior.comparisons.ballot[0] == comparisons.ballot[0]:
        sites = old.posterior.sites  # none of its comparisons was dropped
    factors = of_raters.rater_factors
    start = Hyperparameters() if old is None else old.hyperparameters
    start = replace(start, rater_factors=factors)
    found, _ = infer_hyperparameters(dists, comparisons, start, sites, LENGTHSCALE_PRIOR_SD)
    found = replace(found, rater_factors=factors)
    return Component(share, found, fit_posteriors(dists, comparisons, [found], sites)[0])


def _root(covariance: Rows) -> Rows:
    n = len(covariance)
    try:
        return np.asarray(np.linalg.cholesky(covariance + JITTER * np.eye(n)))
    except np.linalg.LinAlgError:  # rounding: nearly equal candidates
        values, vectors = np.linalg.eigh(covariance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
