"""Candidates that may be worth showing: around good ones, crossings, and ascents.

Surroundings and crossings are drawn around candidates that are known before the answer arrives, so
an application can look at them while the judge thinks. Ascents are few and follow the answer:
what the model makes of all candidates it has seen the looks of is fitted by a smooth function of
their numbers, and candidates climb that function. In d dimensions n looks tell a direction that no
single one of the n comes near to, which is why a few ascents are worth many draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.rank_looks.mixes import half_sq_dists
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]
    Place = Callable[[Vector], Vector]

RADII = (0.1, 0.2, 0.35, 0.6)
"""Distances, per √d, of surroundings from their centre."""

CROSSED, CROSSING_NOISE = 0.2, 0.1
"""The share of draws that cross two centres, and the noise on what is taken from the second."""

SMOOTH_LENGTH, SMOOTH_NUGGET = 1.0, 0.02
"""Length-scale and nugget of the smooth function that ascents climb."""

FIRST_STEP, STEPS, HALVINGS = 0.15, 12, 4
"""Of an ascent: the first step, per √d, the most steps, and halvings of a step that fails."""


def surroundings(centres: Rows, count: int, rng: np.random.Generator, place: Place) -> Rows:
    """Candidates around centres, in turn, some of them crossed with another centre."""
    d = centres.shape[1]
    radii = rng.choice(RADII, count)[:, None]
    drawn = centres[np.arange(count) % len(centres)] + radii * rng.standard_normal((count, d))
    crossed = rng.random(count) < CROSSED
    others = centres[rng.integers(len(centres), size=count)]
    others = others + CROSSING_NOISE * rng.standard_normal((count, d))
    taken = crossed[:, None] & (rng.random((count, d)) < 0.5)
    return _placed(np.where(taken, others, drawn), place)


def ascents(points: Rows, values: Rows, length: float, place: Place, on_shell: bool) -> Rows:
    """For each column of values at these points, where a fit of this length is highest nearby."""
    squares = (points * points).sum(axis=1)
    kernel = np.exp(-half_sq_dists(points, points) / points.shape[1] / length**2)
    nugget = SMOOTH_NUGGET * np.eye(len(points))
    weights = np.linalg.solve(kernel + nugget, values - values.mean(axis=0))
    fits = kernel @ weights
    climbed = [
        _climb(_Fit(points, squares, column, length), int(np.argmax(fit)), place, on_shell)
        for column, fit in zip(weights.T, fits.T, strict=True)
    ]
    return np.array(climbed)


@dataclass(frozen=True, eq=False)
class _Fit:
    """Σ w_i k(x, x_i), a smooth function of a candidate's numbers."""

    points: Rows
    squares: Vector
    weights: Vector
    length: float

    def pulls(self, x: Vector) -> Vector:
        """Its terms at x."""
        squares = (x * x).sum() + self.squares - 2.0 * (x[None] @ self.points.T)[0]
        gaps = np.maximum(squares, 0.0) / 2.0 / x.size
        return np.asarray(self.weights * np.exp(-gaps / self.length**2))


def _climb(fit: _Fit, start: int, place: Place, on_shell: bool) -> Vector:
    """Gradient ascent of a fit from one of its points; a step that fails is halved."""
    x: Vector = fit.points[start]
    pulls, step = fit.pulls(x), FIRST_STEP
    height = float(pulls.sum())
    for _ in range(STEPS):
        uphill = pulls @ fit.points - pulls.sum() * x
        if on_shell:  # what leads off the shell is no way up
            uphill -= (uphill @ x) / (x @ x) * x
        slope = float(np.linalg.norm(uphill))
        if slope == 0.0 or not math.isfinite(slope):
            return x
        for _ in range(HALVINGS):
            ahead = place(x + (step * math.sqrt(x.size) / slope) * uphill)
            ahead_pulls = fit.pulls(ahead)
            if ahead_pulls.sum() > height:
                break
            step /= 2.0
        else:
            return x
        x, pulls, height = ahead, ahead_pulls, float(ahead_pulls.sum())
        step *= 1.3
    return x


def _placed(rows: Rows, place: Place) -> Rows:
    return np.array([place(row) for row in rows])
