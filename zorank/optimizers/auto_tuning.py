"""The constants of `auto`, which ablations change; they are not part of a stored configuration."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.covariance import orthogonal_directions
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray


def assign_weights(weights: Vector, scores: Vector) -> Vector:
    """Give the weights, best rank first, to candidates by score, lowest first; ties share."""
    order = scores.argsort(kind="stable")
    if len(set(scores.tolist())) < len(order):
        rises = scores[order[1:]] > scores[order[:-1]]
        first = np.flatnonzero(np.append(True, rises))
        counts = np.diff(np.append(first, len(order)))
        weights = np.repeat(np.add.reduceat(weights, first) / counts, counts)
    result = np.empty_like(weights)
    result[order] = weights
    return result


@dataclass(frozen=True)
class Tuning:
    """The constants of the algorithm; ablations change them, users do not.

    Attributes:
        width: the smallest ρ, by how much candidates are farther from the centre than the step.
        width_if_many: the same if there are more candidates than dimensions, which determine the
            step better.
        max_width: the largest ρ.
        path_rate: the learning rate of the path that adapts the step size.
        damping: of the adaptation of the step size.
        max_growth: the largest growth of the step size in a round, as a logarithm.
        check_every: the number of rounds between slates that also show two old candidates.
        widen: factor of ρ when the judge reverses the order of the two, or sees no difference.
        narrow: factor of ρ when the judge keeps their order.
        first_shrink: factor of the step size if the first step made things worse.
        restart_width_power: ρ grows with restarts by this power of the number of candidates.
        converged: a search whose candidates are within this many sigma0 has converged.
        converged_if_stuck: the same if the last check showed no progress, as in rounding errors.
        max_doublings: restarts double the number of candidates at most this often.
        agreements_to_restart: how many checks must have confirmed an order before a restart.
        max_model_dim: the largest dimension in which a quadratic model is fitted.
        min_model_slate: the number of new candidates that a slate needs for a model.
        reach: the farthest minimum of the model that is shown, relative to other candidates.
        shortest: if the model's minimum wins, the smallest factor of the step size.
        longest: the same, the largest.
        credit_rate: the learning rate of the model's credit.
        model_rate: how fast the covariance follows the model's curvature.
        directions: draws the directions of a round, (m, d), from (m, d, rng).
        assign: gives the weights by rank to the candidates of a round.
    """

    width: float = 1.8
    width_if_many: float = 1.5
    max_width: float = 30.0
    path_rate: float = 0.3
    damping: float = 0.5
    max_growth: float = 0.15
    check_every: int = 10
    widen: float = 1.5
    narrow: float = 0.85
    first_shrink: float = 0.4
    restart_width_power: float = 0.75
    converged: float = 1e-11
    converged_if_stuck: float = 1e-6
    max_doublings: int = 7
    agreements_to_restart: int = 8
    max_model_dim: int = 10
    min_model_slate: int = 5
    reach: float = 2.0
    shortest: float = 0.3
    longest: float = 2.0
    credit_rate: float = 0.3
    model_rate: float = 0.7
    directions: Callable[[int, int, np.random.Generator], NDArray[np.float64]] = (
        orthogonal_directions
    )
    assign: Callable[[Vector, Vector], Vector] = assign_weights

    def slate_size(self, d: int) -> int:
        """Return the number of candidates, with one for the model's minimum."""
        return 4 + int(3 * math.log(d)) + (d <= self.max_model_dim)

    def min_width(self, m: int, d: int, restarts: int) -> float:
        """Return the smallest ρ; more candidates average over more of a rugged landscape."""
        width = self.width if m <= d else self.width_if_many
        return width * math.pow(2**restarts, self.restart_width_power)
