"""The shape of the cloud that `auto` draws: a matrix M of determinant 1, learned from ranks.

Directions z of a round have length √d and are orthogonal as far as their number allows, so
M exp(½ Σ v_i z_i z_iᵀ) can be written down exactly: it stretches M along what was good (v > 0),
shrinks it along what was bad (v < 0), and can never lose its positive determinant, whatever the
weights. No eigenvalues are needed and none have to be repaired.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_FULL = 500
"""Beyond so many dimensions only the axes' scales are learned: d² numbers learn too slowly."""

MOST_AT_ONCE = 0.3
"""The fastest rate: however many directions a round has, the shape is learned over some rounds."""


@dataclass(frozen=True, eq=False)
class Rates:
    """What d and m imply: weights by rank, and how fast shape is learned.

    Attributes:
        mean: w, by which directions are added up for the step, best rank first; |w| = 1, Σw = 0.
        shape: v, by which they stretch the shape; the positive ones sum to 1.
        frames: the rate of learning from a round's directions.
        path: the rate of learning from the path of past steps.
        memory: how fast that path forgets.
    """

    mean: Vector
    shape: Vector
    frames: float
    path: float
    memory: float


@cache
def rates(d: int, m: int) -> Rates:
    """The weights and rates of active CMA-ES (Hansen, 2016), the first sped up.

    Equal lengths take the noise of lengths out of what is learned, so that twice the rate is safe.
    """
    logs = math.log((m + 1) / 2) - np.log(np.arange(1, m + 1))
    good = logs > 0
    effective = logs[good].sum() ** 2 / (logs[good] @ logs[good])
    told = effective + 1 / effective - 2 + m / (2 * (m + 5))
    mean = logs - logs.mean()
    shape = logs / logs[good].sum()
    if d <= LARGEST_FULL:
        path = 2 / ((d + 1.3) ** 2 + effective)
        frames = 2 * told / ((d + 2) ** 2 + effective) * math.sqrt(max(d, 10) / 10)
        memory = (4 + effective / d) / (d + 4 + 2 * effective / d)
        frames_used = min(2 * frames, MOST_AT_ONCE)
    else:
        path = 1 / (4 * (d + 1) ** 0.75 + effective / 2)
        frames = frames_used = min(0.5, told * path)
        memory = math.sqrt(effective * path) / 2
    most = min(1 + path / frames, 1 + 2 * effective / (effective + 2))
    shape[~good] *= most / -shape[~good].sum()
    return Rates(mean / np.linalg.norm(mean), shape, frames_used, path, memory)


class Shape(Protocol):
    """How directions are stretched before they are shown."""

    def stretch(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """M z, for one direction or for a row of each."""
        ...

    def extent(self) -> float:
        """About how much its longest axis is stretched."""
        ...

    def learn(
        self, z: NDArray[np.float64], y: NDArray[np.float64], v: Vector, path: Vector, known: Rates
    ) -> Shape:
        """The shape after a round: directions z, y = M z, their weights, and the path of steps."""
        ...


@dataclass(frozen=True, eq=False)
class Full:
    """Any shape: a d × d matrix."""

    matrix: NDArray[np.float64]

    def stretch(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """M z."""
        return np.asarray(z @ self.matrix.T)

    def extent(self) -> float:
        """The norm of M per √d."""
        return float(np.linalg.norm(self.matrix)) / math.sqrt(len(self.matrix))

    def learn(
        self, z: NDArray[np.float64], y: NDArray[np.float64], v: Vector, path: Vector, known: Rates
    ) -> Full:
        """M exp(½c Σ v_i z_i z_iᵀ) exp(½c₁ p pᵀ), scaled back to determinant 1."""
        m, d = z.shape
        if m <= d:  # the directions are orthogonal: each is an eigenvector
            matrix = (y.T * (np.expm1(0.5 * known.frames * v * d) / d)) @ z
        else:
            values, vectors = np.linalg.eigh((z.T * v) @ z)
            turned = self.matrix @ vectors
            matrix = (turned * np.expm1(0.5 * known.frames * values)) @ vectors.T
        matrix += self.matrix
        growth = 0.5 * known.frames * float(v.sum()) * d
        length = float(path @ path)
        if length > 0:
            stretch = min(0.5 * known.path * length, MOST_STRETCH)
            matrix += np.outer(matrix @ path * (math.expm1(stretch) / length), path)
            growth += stretch
        matrix *= math.exp(-growth / d)
        return Full(matrix)


@dataclass(frozen=True, eq=False)
class Diagonal:
    """Scales of the axes only, for many dimensions."""

    scales: Vector

    def stretch(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """M z."""
        return np.asarray(z * self.scales)

    def extent(self) -> float:
        """The largest scale."""
        return float(self.scales.max())

    def learn(
        self, z: NDArray[np.float64], y: NDArray[np.float64], v: Vector, path: Vector, known: Rates
    ) -> Diagonal:
        """The diagonal of what `Full` would learn, with faster rates as there is less to learn."""
        told = known.frames * np.einsum("i,ij,ij->j", v, z, z)
        told += known.path * path * path
        told -= told.mean()
        told *= 0.5
        np.clip(told, -MOST_STRETCH, MOST_STRETCH, out=told)
        np.exp(told, out=told)
        told *= self.scales
        return Diagonal(told)


MOST_STRETCH = 0.5
"""No round stretches anything by more than this, as a logarithm."""


def round_shape(d: int) -> Shape:
    """The shape that knows nothing yet."""
    return Full(np.eye(d)) if d <= LARGEST_FULL else Diagonal(np.ones(d))


def frame(m: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """M random directions of length √d, as evenly spread as can be.

    Up to d of them are orthogonal. More cannot be; then orthogonal frames alternate with their
    mirror images.
    """
    if 2 * m <= d:  # well conditioned: Gram and Schmidt all at once, five times as fast
        z = rng.standard_normal((m, d))
        z = np.linalg.inv(np.linalg.cholesky(z @ z.T)) @ z
    else:
        frames: list[NDArray[np.float64]] = []
        while sum(map(len, frames)) < m:
            q, r = np.linalg.qr(rng.standard_normal((d, min(m, d))))
            q = (q * np.sign(np.diagonal(r))).T  # without the signs it would not be uniform
            frames += [q, -q]
        z = np.concatenate(frames)[:m]
    return np.asarray(z * math.sqrt(d))
