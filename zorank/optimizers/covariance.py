"""Covariance adaptation of `auto`: a factor M of determinant 1 of the covariance M Mᵀ.

Directions z of a round have length √d and are orthogonal as far as their number allows, so the
update M exp(½ Σ v_i z_i z_iᵀ) has a closed form. It stretches M along good directions (v > 0) and
shrinks it along bad ones (v < 0). Its determinant stays positive for any weights, so no
eigenvalues have to be computed or repaired.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from zorank.optimizers.quick_directions import quick_directions
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_FULL_DIM = 500
"""In more dimensions a matrix takes too many rounds and too much memory (covariance_choice.py)."""

MAX_ORTHOGONAL_DIM = 4000
"""In more dimensions directions are not made orthogonal (quick_directions.py)."""

MAX_RATE = 0.3
"""The largest learning rate of the full covariance."""

MAX_STRETCH = 0.5
"""The largest change of an axis in a round, as a logarithm."""

MAX_SHAPING = 0.7
"""The largest change of an axis by a model in a round, as a logarithm."""

MAX_CURVATURE_RATIO = 1e3
"""The largest ratio of a model's curvatures; smaller curvatures are raised to it."""

MIN_SCALED_DIM = 11
"""From this dimension on, scales of coordinates are learned apart; below, a model does it."""

TREND_RATE = 0.2
NOISE_LEVEL = 1.5
"""Trends smaller than this many standard deviations of noise are ignored."""

SCALE_RATE = 1 / 3
OBLIQUE = 0.4
"""At this mean logarithm of squared row norms of M, coordinates are no longer scaled."""


@dataclass(frozen=True, eq=False)
class LearningRates:
    """Weights by rank and learning rates, which follow from d and m.

    Attributes:
        step_weights: w of the step Σ w_i z_i, best rank first; |w| = 1, Σw = 0.
        covariance_weights: v of the covariance update; the positive ones sum to 1.
        rank_m: learning rate of the update from a round's directions (c_μ of CMA-ES).
        rank_one: learning rate of the update from the path of past steps (c_1).
        path_decay: learning rate of that path (c_c).
    """

    step_weights: Vector
    covariance_weights: Vector
    rank_m: float
    rank_one: float
    path_decay: float


@cache
def learning_rates(d: int, m: int) -> LearningRates:
    """Return the weights and rates of active CMA-ES (Hansen, 2016), with twice its c_μ.

    The faster rate is safe because directions of equal length remove the noise of lengths.
    """
    logs = math.log((m + 1) / 2) - np.log(np.arange(1, m + 1))
    good = logs > 0
    mu_eff = logs[good].sum() ** 2 / (logs[good] @ logs[good])
    gain = mu_eff + 1 / mu_eff - 2 + m / (2 * (m + 5))
    step_weights = logs - logs.mean()
    covariance_weights = logs / logs[good].sum()
    if d <= MAX_FULL_DIM:
        rank_one = 2 / ((d + 1.3) ** 2 + mu_eff)
        c_mu = 2 * gain / ((d + 2) ** 2 + mu_eff) * math.sqrt(max(d, 10) / 10)
        path_decay = (4 + mu_eff / d) / (d + 4 + 2 * mu_eff / d)
        rank_m = min(2 * c_mu, MAX_RATE)
    else:
        rank_one = 1 / (4 * (d + 1) ** 0.75 + mu_eff / 2)
        c_mu = rank_m = min(0.5, gain * rank_one)
        path_decay = math.sqrt(mu_eff * rank_one) / 2
    most = min(1 + rank_one / c_mu, 1 + 2 * mu_eff / (mu_eff + 2))  # of the negative weights
    covariance_weights[~good] *= most / -covariance_weights[~good].sum()
    step_weights = step_weights / np.linalg.norm(step_weights)
    return LearningRates(step_weights, covariance_weights, rank_m, rank_one, path_decay)


Directions: TypeAlias = "NDArray[np.float64]"
"""One direction per row, (m, d)."""


class Covariance(Protocol):
    """A factor M of the covariance M Mᵀ of candidates."""

    def transform(self, z: Directions) -> Directions:
        """Return M z for each direction z."""
        ...

    def extent(self) -> float:
        """Return the approximate length of the longest axis."""
        ...

    def update(
        self, z: Directions, y: Directions, v: Vector, path: Vector, rates: LearningRates
    ) -> Covariance:
        """Return the covariance after a round.

        Args:
            z: directions of the round.
            y: M z.
            v: weights of the directions.
            path: evolution path.
            rates: learning rates.
        """
        ...


@dataclass(frozen=True, eq=False)
class Full:
    """A d × d matrix M.

    Attributes:
        matrix: M.
        trend: of the scales of coordinates (see `_scale_change`); None if they are not learned
            apart from M.
    """

    matrix: NDArray[np.float64]
    trend: Vector | None = None

    def transform(self, z: Directions) -> Directions:
        """Return M z for each direction z."""
        return np.asarray(z @ self.matrix.T)

    def extent(self) -> float:
        """Return the Frobenius norm of M divided by √d."""
        flat = self.matrix.reshape(-1)
        return math.sqrt(flat @ flat) / math.sqrt(len(self.matrix))

    def update(
        self, z: Directions, y: Directions, v: Vector, path: Vector, rates: LearningRates
    ) -> Full:
        """Return M exp(½c_μ Σ v_i z_i z_iᵀ) exp(½c_1 p pᵀ), scaled to determinant 1."""
        m, d = z.shape
        if m <= d:  # orthogonal directions are eigenvectors
            matrix = (y.T * (np.expm1(0.5 * rates.rank_m * v * d) / d)) @ z
        else:
            values, vectors = np.linalg.eigh((z.T * v) @ z)
            rotated = self.matrix @ vectors
            matrix = (rotated * np.expm1(0.5 * rates.rank_m * values)) @ vectors.T
        matrix += self.matrix
        growth = 0.5 * rates.rank_m * float(np.add.reduce(v)) * d
        length = float(path @ path)
        if length > 0:
            stretch = min(0.5 * rates.rank_one * length, MAX_STRETCH)
            matrix += (matrix @ path * (math.expm1(stretch) / length))[:, None] * path
            growth += stretch
        matrix *= math.exp(-growth / d)
        if self.trend is None:
            return Full(matrix)
        squares = np.einsum("ij,ij->i", self.matrix, self.matrix)
        noise = math.sqrt(2 * float(v @ v))
        gradient = v @ (y * y) / squares
        gradient -= gradient.mean()
        trend = (1 - TREND_RATE) * self.trend
        trend += math.sqrt(TREND_RATE * (2 - TREND_RATE)) / noise * gradient
        change = noise * _scale_change(trend, squares, rates.rank_m * (d + 2))
        matrix *= np.exp(change)[:, None]
        return Full(matrix, trend)

    def shaped(self, curvatures: Vector, axes: NDArray[np.float64], rate: float) -> Full:
        """Return the factor moved towards M A^-½, for a matrix A in the coordinates of M.

        Args:
            curvatures: the eigenvalues of A.
            axes: the eigenvectors of A, one per column.
            rate: 0 to keep M, 1 to move to M A^-½ at once.
        """
        largest = float(curvatures.max())
        if largest <= 0:
            return self
        d = len(curvatures)
        logs = np.log(np.maximum(curvatures, largest / MAX_CURVATURE_RATIO))
        change = 0.5 * rate * (np.add.reduce(logs) / d - logs)
        change = np.minimum(np.maximum(change, -MAX_SHAPING), MAX_SHAPING)
        change -= np.add.reduce(change) / d
        return Full(self.matrix @ ((axes * np.exp(change)) @ axes.T), self.trend)


def _scale_change(trend: Vector, squares: Vector, rate: float) -> Vector:
    """Return the change of the scales of coordinates, as logarithms.

    Separable functions need d scales rather than d² entries, which can be learned d times as
    fast. `trend` averages over rounds what these scales should have been, in units of what noise
    would cause. Coordinates within the noise do not change. Scales help
    less the more oblique the axes of M are: the mean of the logarithm of `squares`, the row norms
    of M, is 0 if M is diagonal, and larger otherwise (Hadamard), because its determinant is 1.
    """
    oblique = max(float(np.log(squares).mean()), 0.0)
    if oblique >= OBLIQUE:
        return np.zeros(len(trend))
    rate = min(SCALE_RATE * rate, 1.0) * (1 - oblique / OBLIQUE)
    certain = np.maximum(0.0, 1 - (NOISE_LEVEL / np.maximum(np.abs(trend), 1e-9)) ** 2)
    change = rate * math.sqrt(TREND_RATE / (2 - TREND_RATE)) * trend * certain
    return np.asarray(change - change.mean())


@dataclass(frozen=True, eq=False)
class Diagonal:
    """A diagonal M, for many dimensions."""

    scales: Vector

    def transform(self, z: Directions) -> Directions:
        """Return M z for each direction z."""
        return np.asarray(z * self.scales)

    def extent(self) -> float:
        """Return the largest scale."""
        return float(self.scales.max())

    def update(
        self, z: Directions, y: Directions, v: Vector, path: Vector, rates: LearningRates
    ) -> Diagonal:
        """Apply the diagonal of the update of `Full`; the rates are larger, as in sep-CMA-ES."""
        change = rates.rank_m * np.einsum("i,ij,ij->j", v, z, z)
        change += rates.rank_one * path * path
        change -= change.mean()
        change *= 0.5
        np.clip(change, -MAX_STRETCH, MAX_STRETCH, out=change)
        np.exp(change, out=change)
        change *= self.scales
        return Diagonal(change)


def orthogonal_directions(m: int, d: int, rng: np.random.Generator) -> Directions:
    """Draw m random directions of length √d; up to d of them are orthogonal.

    If m > d, orthogonal frames alternate with their mirror images. If d is very large, random
    directions are nearly orthogonal, and quick to draw.
    """
    if d > MAX_ORTHOGONAL_DIM:
        return quick_directions(m, d, rng)
    if 2 * m <= d:  # well conditioned: Cholesky instead of QR is five times as fast
        z = rng.standard_normal((m, d))
        z = np.linalg.inv(np.linalg.cholesky(z @ z.T)) @ z
    else:
        n = min(m, d)
        q, r = np.linalg.qr(rng.standard_normal((-(-m // (2 * n)), d, n)))
        q = q * np.sign(r.diagonal(0, 1, 2))[:, None]  # these signs make the distribution uniform
        z = np.stack([q, -q], axis=1).swapaxes(2, 3).reshape(-1, d)[:m]
    return np.asarray(z * math.sqrt(d))
