"""Infer the hyperparameters from the evidence of the answers.

While there are few comparisons, the posterior is evaluated on a grid and averaged. Later only the
neighbours of the current values are evaluated, and each value moves to their mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.rank_process.comparisons import Comparisons
from zorank.optimizers.rank_process.hyperparameters import Hyperparameters, WeightedHyperparameters
from zorank.optimizers.rank_process.posterior import fit_posteriors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zorank.types import Vector

GRID = {
    "lengthscale": (0.2, 0.3, 0.45, 0.7, 1.0, 1.6, 2.5),
    "noise": (0.01, 0.03, 0.1, 0.2, 0.4, 0.8),
    "threshold": (0.05, 0.15, 0.45),
}
STEP = 1.6
"""The factor between neighbouring values."""
_STEPS = (1.0 / STEP, STEP)

MAX_COMPARISONS_ON_GRID = 40
"""With more comparisons only the neighbours of the current values are evaluated. That costs a
seventh and finds the same."""


def infer_hyperparameters(
    half_sq_dists: NDArray[np.float64],
    comparisons: Comparisons,
    current: Hyperparameters,
    sites: NDArray[np.float64] | None,
    lengthscale_sd: float,
) -> tuple[Hyperparameters, WeightedHyperparameters]:
    """Return the posterior geometric mean of the hyperparameters, and all weighted alternatives.

    Args:
        half_sq_dists: |x_i − x_j|²/2d of all candidates, (n, n).
        comparisons: all comparisons of these candidates.
        current: the hyperparameters before the last answer.
        sites: the sites of an earlier posterior, of the first of these comparisons.
        lengthscale_sd: the prior's standard deviation of log ℓ.
    """
    names = ["lengthscale", "noise", *(["threshold"] if comparisons.tied.any() else [])]
    on_grid = len(comparisons) <= MAX_COMPARISONS_ON_GRID
    near = _grid(current, names) if on_grid else _neighbours(current, names)
    raters = len(current.rater_factors)
    rater = int(comparisons.ballot[-1]) % max(raters, 1)  # one rater per answer, in turn
    of_rater = [current.scale_rater(rater, step) for step in _STEPS] if raters > 1 else []
    tried = [current, *near, *of_rater]
    sweeps = 6 if on_grid else 3
    posteriors = fit_posteriors(half_sq_dists, comparisons, tried, sites, sweeps)
    scores = np.array(
        [p.log_evidence + p.hyperparameters.log_prior(lengthscale_sd) for p in posteriors]
    )
    weights = np.exp(scores - scores.max())
    found = current
    if of_rater:
        found = found.scale_rater(rater, STEP ** _mean_step(scores[-2], scores[0], scores[-1]))
    if on_grid:
        weights[0] = 0.0  # the current values may be on the grid already
        weights[len(near) + 1 :] = 0.0
        found = _geometric_mean(found, names, tried, weights)
    else:
        for n, name in enumerate(names):
            step = _mean_step(scores[1 + 2 * n], scores[0], scores[2 + 2 * n])
            found = found.scale(name, STEP**step)
    weights /= weights.sum()
    return found, tuple(zip(weights.tolist(), tried, strict=True))


def _grid(current: Hyperparameters, names: Sequence[str]) -> list[Hyperparameters]:
    return [
        Hyperparameters(
            **dict(zip(names, values, strict=True)), rater_factors=current.rater_factors
        )
        for values in product(*(GRID[name] for name in names))
    ]


def _neighbours(current: Hyperparameters, names: Sequence[str]) -> list[Hyperparameters]:
    return [current.scale(name, step) for name in names for step in _STEPS]


def _geometric_mean(
    found: Hyperparameters, names: Sequence[str], tried: Sequence[Hyperparameters], weights: Vector
) -> Hyperparameters:
    for name in names:
        logs = np.log([getattr(one, name) for one in tried])
        mean = math.exp(weights @ logs / weights.sum())
        found = found.scale(name, mean / getattr(found, name))
    return found


def _mean_step(low: float, middle: float, high: float) -> float:
    """Return the mean of −1, 0 and 1 under these log-weights."""
    weights = np.exp(np.array([low, middle, high]) - max(low, middle, high))
    return float((weights[2] - weights[0]) / weights.sum())
