"""Covariance of `auto` in many dimensions: M = D exp(U diag(l) Uᵀ), in O(d·r) time and memory.

D is the diagonal of `covariance.py`. The r rows of U are orthonormal directions, along which
candidates are stretched (l > 0) or shrunk (l < 0). Such models are known from VkD-CMA
(Akimoto & Hansen, 2016), LM-MA-ES (Loshchilov, Glasmachers & Beyer, 2019) and Rm-ES (Li & Zhang,
2018).

New directions come from the path of recent steps. Good and bad directions of a round (`moment`)
change l and turn U within its span. Both are collected and merged every few rounds by a singular
value decomposition of a small matrix. The r largest |l| are kept. The rest is dropped, and its
size is subtracted from the squares of those kept, so that noise does not fill U.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.covariance import (
    MAX_STRETCH,
    Diagonal,
    Directions,
    LearningRates,
)
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANK = 8
"""The largest number of rows of U, r."""

MERGE_EVERY = 5
"""The number of rounds between changes of U and l."""

WINDOW = 0.25
"""The path is an average over the rounds that take this many points per dimension."""

BLOCK = 8192
"""The number of coordinates that are transformed at once."""

MAX_LOG = 12.0
"""The largest |l|."""


@dataclass(frozen=True, eq=False)
class LowRank:
    """A diagonal and a few directions.

    Attributes:
        diagonal: D.
        axes: U, (r, d), r ≤ RANK.
        logs: l, (r,).
        path: average of recent steps, of length √d if they are independent.
        moment: half of Σ c_μ v_i (U z_i (U z_i)ᵀ − I) since the last merge, (r, r).
        rounds: number of updates.
    """

    diagonal: Diagonal
    axes: NDArray[np.float64]
    logs: Vector
    path: Vector
    moment: NDArray[np.float64]
    rounds: int = 0

    @classmethod
    def identity(cls, d: int) -> LowRank:
        """Return the identity, which has no directions."""
        none = np.zeros((0, 0))
        return cls(Diagonal(np.ones(d)), np.zeros((0, d)), np.zeros(0), np.zeros(d), none)

    def transform(self, z: Directions) -> Directions:
        """Return M z for each direction z."""
        if not self.logs.size:
            return self.diagonal.transform(z)
        along = z @ self.axes.T
        along *= np.expm1(self.logs)
        y = np.empty_like(z)
        for begin in range(0, z.shape[1], BLOCK):  # in the processor's cache
            part = slice(begin, begin + BLOCK)
            block = along @ self.axes[:, part]
            block += z[:, part]
            np.multiply(block, self.diagonal.scales[part], out=y[:, part])
        return y

    def extent(self) -> float:
        """Return the largest scale times the largest stretch."""
        return self.diagonal.extent() * math.exp(float(self.logs.max(initial=0.0)))

    def update(
        self, z: Directions, y: Directions, v: Vector, path: Vector, rates: LearningRates
    ) -> LowRank:
        """Update D every round, and U and l every few rounds; see `Covariance`."""
        m, d = z.shape
        along = z @ self.axes.T
        moment = (along.T * v) @ along
        moment -= v.sum() * np.eye(len(moment))  # a direction that does not matter has z² = 1
        rate = min(m / (WINDOW * d), 1.0)
        smoother = (1 - rate) * self.path
        smoother += rate * _gain(rates.path_decay, rate) * path
        after = LowRank(
            self.diagonal.update(z, y, v, path, rates),
            self.axes,
            self.logs,
            smoother,
            self.moment + 0.5 * rates.rank_m * moment,
            self.rounds + 1,
        )
        return after if after.rounds % MERGE_EVERY else after._merge(rate)

    def _merge(self, rate: float) -> LowRank:
        """Return M exp(moment) exp(½c p pᵀ) as a new U and l; the rotation is left out."""
        basis, coordinates = _with_direction(self.axes, self.path)
        length = float(coordinates @ coordinates)
        if length == 0:
            return self
        stretch = min(0.5 * MERGE_EVERY * rate * length / self.path.size, MAX_STRETCH)
        change = np.outer(coordinates, coordinates) * (stretch / length)
        r = self.logs.size
        change[:r, :r] += self.moment
        values, vectors = np.linalg.eigh(change)
        stretched = np.append(np.exp(self.logs), np.ones(len(basis) - r))[:, None]
        left, sizes, _ = np.linalg.svd(stretched * (vectors * np.exp(values)))
        logs = np.log(sizes)
        order = np.argsort(-np.abs(logs), kind="stable")
        kept = order[:RANK]
        dropped = float(np.sum(logs[order[RANK:]] ** 2))
        size = np.sqrt(np.maximum(logs[kept] ** 2 - dropped, 0))
        return LowRank(
            self.diagonal,
            left[:, kept].T @ basis,
            np.minimum(size, MAX_LOG) * np.sign(logs[kept]),
            self.path,
            np.zeros((kept.size, kept.size)),
            self.rounds,
        )


def _gain(first: float, second: float) -> float:
    """Return the gain of a path of rate `first` before it is smoothed by rate `second`.

    The path is normalised: independent steps of length √d make a path of that length. With this
    gain the smoothed path is so, too.
    """
    both = (1 - first) * (1 - second)
    return math.sqrt((2 - second) / second * (1 - both) / (1 + both))


def _with_direction(
    axes: NDArray[np.float64], p: Vector
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return an orthonormal basis of the span of `axes` and p, and the coordinates of p in it."""
    coordinates = axes @ p
    rest = p - coordinates @ axes
    again = axes @ rest  # twice is enough for orthogonality in floating point
    rest -= again @ axes
    length = float(np.linalg.norm(rest))
    if length <= 1e-9 * math.sqrt(p.size):
        return axes, coordinates + again
    return np.vstack([axes, rest / length]), np.append(coordinates + again, length)
