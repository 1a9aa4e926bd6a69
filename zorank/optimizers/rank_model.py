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
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

ITERATIONS = 6
RIDGE = 1e-4
"""Penalty, relative to the mean square of the features."""
ROWS_KEPT = 2.5
"""How many points are kept, for each coefficient of the model."""
ROWS_NEEDED = 1.2
"""How many points, beyond one in each slate, a fit needs for each coefficient."""
MAX_RADIUS_RATIO = 1e4
"""Slates drawn with a radius that differs by more are not used."""
TRUST_STEPS = 8
"""Newton steps on the length of a constrained minimum."""


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
    order = np.argsort(scores, kind="stable")
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
        ranks = np.argsort(np.argsort(self.predict(points), kind="stable"), kind="stable")
        ranks = ranks - ranks.mean()
        ours = scores - scores.mean()
        return float(ranks @ ours) / math.sqrt(float(ranks @ ranks) * float(ours @ ours))

    def minimum(self, reach: float) -> Vector:
        """Return u of the minimum within so far of the centre."""
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
            shift += (length / reach - 1) * square / float(u @ (u / stiffness))
            shift = max(shift, tiny - lowest)
        return self.axes @ (u * min(1.0, reach / length))


def coefficients(d: int) -> int:
    """Return the number of coefficients of a quadratic function without its constant."""
    return d * (d + 3) // 2


def recent(slates: Sequence[RankedPoints]) -> tuple[RankedPoints, ...]:
    """Return the last slates: as many as a fit uses."""
    most, rows = ROWS_KEPT * coefficients(slates[-1].points.shape[1]), 0
    for n, slate in enumerate(reversed(slates), start=1):
        rows += len(slate) - 1
        if rows >= most:
            return tuple(slates[-n:])
    return tuple(slates)


def fit(
    slates: Sequence[RankedPoints], centre: Vector, factor: NDArray[np.float64], radius: float
) -> RankModel | None:
    """Fit a model in the coordinates of x = c + r·F u; None if there are too few points."""
    near = MAX_RADIUS_RATIO
    slates = [s for s in slates if radius / near < s.radius < radius * near]
    d = centre.size
    if sum(len(s) - 1 for s in slates) < ROWS_NEEDED * coefficients(d):
        return None
    try:
        inverse = np.asarray(np.linalg.inv(factor) / radius, dtype=np.float64)
        return _fit(slates, centre, inverse)
    except np.linalg.LinAlgError:  # a degenerate covariance or degenerate points
        return None


def _fit(
    slates: Sequence[RankedPoints], centre: Vector, inverse: NDArray[np.float64]
) -> RankModel | None:
    d = centre.size
    u = (np.concatenate([s.points for s in slates]) - centre) @ inverse.T
    i, j = np.triu_indices(d)
    features = np.concatenate([u, u[:, i] * u[:, j]], axis=1)
    layout = _Layout.of(slates)
    features -= layout.spread(layout.means(features))
    found = _rank_image_fit(
        features, layout, np.array([s.radius / slates[-1].radius for s in slates]) ** 2
    )
    if not np.isfinite(found).all():
        return None
    matrix = np.zeros((d, d))
    matrix[i, j] = found[d:]
    curvatures, axes = np.linalg.eigh(matrix + matrix.T)
    return RankModel(centre, inverse, found[:d], curvatures, axes)


@dataclass(frozen=True, eq=False)
class _Layout:
    """Which rows of a table of points, best first in every slate, belong together."""

    sizes: NDArray[np.intp]
    starts: NDArray[np.intp]
    slate: NDArray[np.intp]
    ties: NDArray[np.intp] | None

    @staticmethod
    def of(slates: Sequence[RankedPoints]) -> _Layout:
        sizes = np.array([len(s) for s in slates])
        ties = np.concatenate([s.ties for s in slates])
        return _Layout(
            sizes,
            np.append(0, np.cumsum(sizes)[:-1]),
            np.repeat(np.arange(len(slates)), sizes),
            ties if len(ties) < sizes.sum() else None,
        )

    def means(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of every slate."""
        sums = np.add.reduceat(rows, self.starts, axis=0)
        return np.asarray(sums / (self.sizes if rows.ndim == 1 else self.sizes[:, None]))

    def spread(self, slates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a row of each slate for every point."""
        return np.repeat(slates, self.sizes, axis=0)

    def shared(self, values: Vector) -> Vector:
        """Give points of the same rank their mean."""
        if self.ties is None:
            return values
        starts = np.append(0, np.cumsum(self.ties)[:-1])
        return np.repeat(np.add.reduceat(values, starts) / self.ties, self.ties)

    def in_order(self, values: Vector) -> Vector:
        """Sort values within each slate into the observed order."""
        return self.shared(values[np.lexsort((values, self.slate))])


def _rank_image_fit(features: NDArray[np.float64], layout: _Layout, spreads: Vector) -> Vector:
    """Return the coefficients; `spreads` guesses the relative spread of values in every slate."""
    target = layout.shared(np.concatenate([_normal_scores(int(n)) for n in layout.sizes]))
    found: Any = np.zeros(features.shape[1])
    for n in range(ITERATIONS):
        scaled = features / layout.spread(spreads)[:, None]
        normal = scaled.T @ scaled
        diagonal = np.einsum("ii->i", normal)
        diagonal += RIDGE * diagonal.mean() + 1e-300
        found = np.linalg.solve(normal, scaled.T @ target)
        if n == ITERATIONS - 1 or not np.isfinite(found).all():
            break
        values = features @ found
        spreads = np.sqrt(layout.means(values * values)) + 1e-300
        target = layout.in_order(values / layout.spread(spreads))
        spreads = spreads / spreads[-1]
    return np.asarray(found)


@cache
def _normal_scores(n: int) -> Vector:
    """Return expected values of n sorted normal numbers, scaled to a mean square of 1."""
    normal = NormalDist()
    scores = np.array([normal.inv_cdf((i + 0.625) / (n + 0.25)) for i in range(n)])
    return np.asarray(scores / scores.std())
