"""The posterior of a utility given rankings: a Gaussian process conditioned on comparisons.

The model is Thurstone's (1927) over a Gaussian process (Chu and Ghahramani, 2005). A judge ranks a
slate by u + ε, with a new ε ~ N(0, σ²) each time. u is a Gaussian process with kernel
k(x, y) = exp(−|x − y|²/2dℓ²), which on the shell |x| = √d is exp((x·y/d − 1)/ℓ²). An answer is
a few comparisons t = (u_i + ε_i) − (u_j + ε_j) with known intervals: t > 0 where i was ranked
above j, |t| < δ where the judge saw no difference. All answers together say that a Gaussian vector
t lies in a box. Expectation propagation (`propagation.py`) approximates the probability of the
box, which is the evidence, and the posterior of u. The computation uses only distances between
candidates, so its cost does not depend on d.

With Gumbel instead of normal noise this is the Plackett–Luce model. Its Laplace approximation was
tried first and overestimated the noise of judges.

A larger utility is better; its prior variance is 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.rank_process.comparisons import Comparisons
from zorank.optimizers.rank_process.hyperparameters import Hyperparameters
from zorank.optimizers.rank_process.propagation import propagate
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Posterior:
    """The utility given all answers, with mean Σ w_i k(x, x_i).

    Attributes:
        hyperparameters: of the kernel and the raters.
        log_evidence: the log-probability of the answers.
        weights: w, one for each candidate.
        sites: natural parameters of the sites, (2, comparisons), a start for the next fit.
        comparisons: the comparisons that the process is conditioned on.
        precision_root: R, where RᵀR is the inverse covariance of the comparisons' sites; the
            predictive variance needs it.
    """

    hyperparameters: Hyperparameters
    log_evidence: float
    weights: Vector
    sites: NDArray[np.float64]
    comparisons: Comparisons
    precision_root: NDArray[np.float64]

    def kernel(self, half_sq_dists: Vector) -> Vector:
        """Return the prior covariance at half the mean squared distances |x − y|²/2d."""
        return np.asarray(np.exp(-half_sq_dists / self.hyperparameters.lengthscale**2))

    def mean(self, half_sq_dists: Vector) -> Vector:
        """Return the posterior mean at points, from their distances to the candidates, (…, n)."""
        return np.asarray(self.kernel(half_sq_dists) @ self.weights)

    def difference(self, a: Vector, b: Vector, half_sq_dist: float) -> tuple[float, float]:
        """Return mean and standard deviation of u(a) − u(b).

        Args:
            a: the half squared distances of a to the candidates, (n,).
            b: those of b, (n,).
            half_sq_dist: the one between a and b.
        """
        k = self.kernel(a) - self.kernel(b)
        contrast = k[self.comparisons.better] - k[self.comparisons.worse]
        variance = 2.0 * (1.0 - float(self.kernel(np.array(half_sq_dist))))
        variance -= float(np.sum((self.precision_root @ contrast) ** 2))
        return float(k @ self.weights), math.sqrt(max(variance, 1e-12))


def fit_posteriors(
    half_sq_dists: NDArray[np.float64],
    comparisons: Comparisons,
    hyperparameters: Sequence[Hyperparameters],
    sites: NDArray[np.float64] | None = None,
    sweeps: int = 20,
) -> list[Posterior]:
    """Return the posterior under each of these hyperparameters; one call for many is faster.

    Args:
        half_sq_dists: |x_i − x_j|²/2d of all candidates, (n, n).
        comparisons: at least one comparison of these candidates.
        hyperparameters: one for each posterior.
        sites: the sites of an earlier posterior, of the first of these comparisons.
        sweeps: the maximum number of sweeps of expectation propagation.
    """
    shared_noise = comparisons.noise_covariance()
    of_utility: dict[float, NDArray[np.float64]] = {}
    q = len(comparisons)
    covariances = np.empty((len(hyperparameters), q, q))
    for h, one in enumerate(hyperparameters):
        ell = one.lengthscale
        if ell not in of_utility:
            kernel = np.exp(-half_sq_dists / ell**2)
            of_utility[ell] = comparisons.difference_covariance(kernel)
        factors = np.array(one.rater_factors)[comparisons.rater] if one.rater_factors else 1.0
        noise = one.noise * one.utility_sd * factors * comparisons.noise_scale
        np.multiply(noise[:, None] * shared_noise, noise, out=covariances[h])
        covariances[h] += of_utility[ell]
    half_widths = np.array([[one.threshold * one.utility_sd] for one in hyperparameters])
    found = propagate(covariances, half_widths, comparisons.tied, sites, sweeps)
    posteriors = []
    for h, one in enumerate(hyperparameters):
        alpha, n = found.alpha[h], len(half_sq_dists)
        weights: Vector = np.bincount(comparisons.better, alpha, n).astype(np.float64)
        weights -= np.bincount(comparisons.worse, alpha, n)
        evidence, root = float(found.log_partition[h]), found.precision_root[h]
        posteriors.append(Posterior(one, evidence, weights, found.sites[:, h], comparisons, root))
    return posteriors
