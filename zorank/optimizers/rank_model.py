"""A quadratic model of the objective, fitted to rankings alone.

Each of the last slates is an order of points. The model is the quadratic function whose values,
within each slate, have the observed order as nearly as possible. It alternates between two steps
(the rank images of Guttman, 1968): within each slate, sort the model's own values into the
observed order, and fit the model to these values by least squares. Every slate has the same
weight, whatever its spread, so no value of the objective is needed, and any increasing transform
of the objective gives the same model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS = 6
"""With fewer, badly scaled coordinates are not learned."""
RIDGE = 1e-4
"""Penalty, relative to the mean square of the features."""
ROWS_KEPT = 2.5
"""How many points are kept, for each coefficient of the model."""
ROWS_NEEDED = 1.2
"""How many points, beyond one in each slate, a fit needs for each coefficient."""
MAX_RADIUS_RATIO = 1e4
"""Slates drawn with a radius that differs by more are not used."""
TRUST_STEPS = 8
"""The most Newton steps on the length of a constrained minimum."""
ACCURACY = 1e-6
"""The relative accuracy of that length."""


@dataclass(frozen=True, eq=False)
class RankedPoints:
    """The points of a slate, best first.

    Attributes:
        points: (n, d).
        ties: the number of points of each rank, n in total.
        radius: the radius that they were drawn with.
    """

    points: NDArray[np.float64]
    ties: NDArray[np.intp]
    radius: float

    def __len__(self) -> int:
        return len(self.points)


def ranked_points(points: NDArray[np.float64], scores: Vector, radius: float) -> RankedPoints:
    """Sort points by score, lowest first."""
    order = scores.argsort(kind="stable")
    if len(set(scores.tolist())) == len(order):
        return RankedPoints(points[order], np.ones(len(order), np.intp), radius)
    ranked = scores[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] > ranked[:-1]))
    return RankedPoints(points[order], np.diff(np.append(starts, len(order))), radius)


@dataclass(frozen=True, eq=False)
class RankModel:
    """½ uᵀAu + bᵀu in the coordinates u = F⁻¹ (x − c) of a search distribution.

    Attributes:
        centre: c.
        inverse: F⁻¹.
        slope: b.
        curvatures: the eigenvalues of A, lowest first.
        axes: the eigenvectors of A, one per column.
    """

    centre: Vector
    inverse: NDArray[np.float64]
    slope: Vector
    curvatures: Vector
    axes: NDArray[np.float64]

    def predict(self, points: NDArray[np.float64]) -> Vector:
        """Return the model's values."""
        u = (points - self.centre) @ self.inverse.T
        return np.asarray(u @ self.slope + 0.5 * (u @ self.axes) ** 2 @ self.curvatures)

    def credit(self, points: NDArray[np.float64], scores: Vector) -> float:
        """Return the correlation between the predicted ranks and scores."""
        n = len(scores)
        ours = scores - np.add.reduce(scores) / n
        ordered = ours[self.predict(points).argsort(kind="stable")]
        # Σ (rank − mean)² = n (n² − 1) / 12
        return float(_ranks(n) @ ordered) / math.sqrt(n * (n * n - 1) / 12 * float(ours @ ours))

    def minimum(self, reach: float) -> Vector:
        """Return u of the minimum within this distance of the centre."""
        slope = self.axes.T @ self.slope
        lowest, highest = float(self.curvatures[0]), float(self.curvatures[-1])
        tiny = 1e-9 * max(abs(lowest), abs(highest)) + 1e-100
        u = -slope / np.maximum(self.curvatures, tiny)
        length = math.sqrt(float(u @ u))
        if lowest > 0 and length <= reach:
            return self.axes @ u
        shift = max(0.0, tiny - lowest)
        for _ in range(TRUST_STEPS):  # Moré & Sorensen (1983): Newton on 1/reach − 1/|u|
            stiffness = self.curvatures + shift
            u = -slope / stiffness
            square = float(u @ u)
            if square == 0:
                return u
            length = math.sqrt(square)
            if abs(length - reach) < ACCURACY * reach:
                break
            shift += (length / reach - 1) * square / float(u @ (u / stiffness))
            shift = max(shift, tiny - lowest)
        return self.axes @ (u * min(1.0, reach / length))


@cache
def _ranks(n: int) -> Vector:
    """Return 0, 1, … n − 1, less their mean."""
    return np.asarray(np.arange(n) - (n - 1) / 2, dtype=np.float64)


def coefficients(d: int) -> int:
    """Return the number of coefficients of a quadratic function without its constant."""
    return d * (d + 3) // 2


def recent(slates: Sequence[RankedPoints]) -> tuple[RankedPoints, ...]:
    """Return the last slates, only as many as a fit uses."""
    most, rows = ROWS_KEPT * coefficients(slates[-1].points.shape[1]), 0
    for n, slate in enumerate(reversed(slates), start=1):
        rows += len(slate) - 1
        if rows >= most:
            return tuple(slates[-n:])
    return tuple(slates)


def fit(
    slates: Sequence[RankedPoints], centre: Vector, factor: NDArray[np.float64], radius: float
) -> RankModel | None:
    """Fit a model in the coordinates of x = c + r·F u; None if there are too few points.

    Only slates of the size of the last one count.
    """
    size, low, high = len(slates[-1]), radius / MAX_RADIUS_RATIO, radius * MAX_RADIUS_RATIO
    slates = [s for s in slates if low < s.radius < high and len(s) == size]
    if len(slates) * (size - 1) < ROWS_NEEDED * coefficients(centre.size):
        return None
    try:
        inverse = np.asarray(np.linalg.inv(factor) / radius, dtype=np.float64)
        return _fit(slates, centre, inverse)
    except np.linalg.LinAlgError:  # the covariance or the points are degenerate
        return None


def _fit(
    slates: Sequence[RankedPoints], centre: Vector, inverse: NDArray[np.float64]
) -> RankModel | None:
    """Fit a model to slates of one size.

    A column of `features` is a point: first the best of every slate, then the second of every
    slate, and so on.
    """
    d, n = centre.size, len(slates[-1])
    points = np.array([s.points for s in slates]).transpose(2, 1, 0).reshape(d, -1)
    i, j, flat = _pairs(d)
    features = np.empty((d + len(i), points.shape[1]))
    u = np.matmul(inverse, points - centre[:, None], out=features[:d])
    np.multiply(u[i], u[j], out=features[d:])
    table = features.reshape(len(features), n, -1)
    table -= np.add.reduce(table, axis=1, keepdims=True) / n
    radii = np.array([s.radius for s in slates])
    guess = _normal_scores(n)[:, None] * (radii / radii[-1]) ** 2
    found = _rank_image_fit(features, guess, _ties(slates))
    if not np.isfinite(found).all():
        return None
    entries = np.zeros(d * d)
    entries[flat] = found[d:]
    matrix = entries.reshape(d, d)
    curvatures, axes = np.linalg.eigh(matrix + matrix.T)
    return RankModel(centre, inverse, found[:d], curvatures, axes)


@cache
def _pairs(d: int) -> tuple[NDArray[np.intp], ...]:
    """Return the rows, columns and flat indices of the upper triangle of a matrix."""
    i, j = np.triu_indices(d)
    return i, j, i * d + j


def _ties(slates: Sequence[RankedPoints]) -> NDArray[np.intp] | None:
    """Return the number of points of each rank, one slate after the other; None without ties."""
    if all(len(s.ties) == len(s) for s in slates):
        return None
    return np.concatenate([s.ties for s in slates])


def _shared(values: NDArray[np.float64], ties: NDArray[np.intp] | None) -> Vector:
    """Give points of the same rank their mean; a column of `values` is a slate."""
    if ties is None:
        return values.reshape(-1)
    starts = np.append(0, np.cumsum(ties)[:-1])
    means = np.add.reduceat(values.T.reshape(-1), starts) / ties
    return np.repeat(means, ties).reshape(values.T.shape).T.reshape(-1)


def _rank_image_fit(
    features: NDArray[np.float64], values: NDArray[np.float64], ties: NDArray[np.intp] | None
) -> Vector:
    """Return the coefficients after STEPS iterations from initial values, (n, slates)."""
    n, found, scaled = len(values), np.empty(0), np.empty_like(features)
    for _ in range(STEPS):
        values = values - np.add.reduce(values) / n
        spreads = np.sqrt(np.add.reduce(values * values) / n) + 1e-300
        weights = np.repeat((spreads[-1] / spreads)[None], n, axis=0).reshape(-1)
        np.multiply(features, weights, out=scaled)
        normal = scaled @ scaled.T
        diagonal = normal.reshape(-1)[:: len(normal) + 1]
        diagonal += RIDGE / len(normal) * np.add.reduce(diagonal) + 1e-300
        target = _shared(np.sort(values, axis=0), ties) * weights
        found = np.linalg.solve(normal, scaled @ target)
        values = (found @ features).reshape(n, -1)
    return found


@cache
def _normal_scores(n: int) -> Vector:
    """Return expected values of n sorted normal numbers, scaled to a mean square of 1."""
    normal = NormalDist()
    scores = np.array([normal.inv_cdf((i + 0.625) / (n + 0.25)) for i in range(n)])
    return np.asarray(scores / scores.std())
