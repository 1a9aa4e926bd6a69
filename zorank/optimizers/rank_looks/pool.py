"""The pool that a slate is chosen from: neighbours, crossovers and ascents.

Neighbours and crossovers are drawn around candidates that are known before the answer arrives, so
an application can compute their looks while the judge decides. Ascents are few and follow the
answer: a smooth function of the coordinates is fitted to the utility of all candidates with looks,
and candidates climb it. In many dimensions random draws hardly ever point along the gradient,
so a few ascents are more useful than many draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.rank_looks.mixture import half_sq_dists
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]
    Place = Callable[[Vector], Vector]

RADII = (0.1, 0.2, 0.35, 0.6)
"""Distances of neighbours from their centre, divided by √d."""

CROSSOVER_RATE, CROSSOVER_NOISE = 0.2, 0.1
"""The share of draws that cross two centres, and the noise on the part of the second."""

SMOOTH_LENGTHSCALE, SMOOTH_NUGGET = 1.0, 0.02
"""Lengthscale and nugget of the smooth function that ascents climb."""

FIRST_STEP, MAX_STEPS, MAX_HALVINGS = 0.15, 12, 4
"""Of an ascent: first step divided by √d, number of steps, halvings of a step that fails."""


def neighbours(centres: Rows, count: int, rng: np.random.Generator, place: Place) -> Rows:
    """Draw candidates around each centre in turn; some are crossed with another centre."""
    d = centres.shape[1]
    radii = rng.choice(RADII, count)[:, None]
    drawn = centres[np.arange(count) % len(centres)] + radii * rng.standard_normal((count, d))
    crossed = rng.random(count) < CROSSOVER_RATE
    others = centres[rng.integers(len(centres), size=count)]
    others = others + CROSSOVER_NOISE * rng.standard_normal((count, d))
    taken = crossed[:, None] & (rng.random((count, d)) < 0.5)
    return np.array([place(row) for row in np.where(taken, others, drawn)])


def ascents(points: Rows, values: Rows, lengthscale: float, place: Place, on_shell: bool) -> Rows:
    """Fit each column of values at these points, and return a local maximum of each fit."""
    squares = (points * points).sum(axis=1)
    kernel = np.exp(-half_sq_dists(points, points) / points.shape[1] / lengthscale**2)
    nugget = SMOOTH_NUGGET * np.eye(len(points))
    weights = np.linalg.solve(kernel + nugget, values - values.mean(axis=0))
    fits = kernel @ weights
    climbed = [
        _climb(_Fit(points, squares, column, lengthscale), int(np.argmax(fit)), place, on_shell)
        for column, fit in zip(weights.T, fits.T, strict=True)
    ]
    return np.array(climbed)


@dataclass(frozen=True, eq=False)
class _Fit:
    """Σ w_i k(x, x_i), a smooth function of the coordinates."""

    points: Rows
    squares: Vector
    weights: Vector
    lengthscale: float

    def terms(self, x: Vector) -> Vector:
        """Return the terms of the sum at x."""
        squares = (x * x).sum() + self.squares - 2.0 * (x[None] @ self.points.T)[0]
        dists = np.maximum(squares, 0.0) / 2.0 / x.size
        return np.asarray(self.weights * np.exp(-dists / self.lengthscale**2))


def _climb(fit: _Fit, start: int, place: Place, on_shell: bool) -> Vector:
    """Ascend the gradient of a fit from one of its points; a step that fails is halved."""
    x: Vector = fit.points[start]
    terms, step = fit.terms(x), FIRST_STEP
    height = float(terms.sum())
    for _ in range(MAX_STEPS):
        gradient = terms @ fit.points - terms.sum() * x
        if on_shell:  # remove the part that is normal to the shell
            gradient -= (gradient @ x) / (x @ x) * x
        slope = float(np.linalg.norm(gradient))
        if slope == 0.0 or not math.isfinite(slope):
            return x
        for _ in range(MAX_HALVINGS):
            ahead = place(x + (step * math.sqrt(x.size) / slope) * gradient)
            ahead_terms = fit.terms(ahead)
            if ahead_terms.sum() > height:
                break
            step /= 2.0
        else:
            return x
        x, terms, height = ahead, ahead_terms, float(ahead_terms.sum())
        step *= 1.3
    return x
