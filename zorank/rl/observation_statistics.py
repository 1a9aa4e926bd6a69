"""Running mean and standard deviation of observations, which normalise a policy's input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.types import Vector

SMALLEST_STD = 1e-7
"""Coordinates with a smaller standard deviation count as constant."""


@dataclass(frozen=True, eq=False)
class ObservationStatistics:
    """Count, mean and centred sum of squares of observations, per coordinate.

    Attributes:
        count: the number of observations.
        mean: their mean, (size,).
        squares: Σ (x − mean)², (size,).
    """

    count: int
    mean: Vector
    squares: Vector

    @classmethod
    def empty(cls, size: int) -> ObservationStatistics:
        """Return the statistics of no observations."""
        return cls(0, np.zeros(size), np.zeros(size))

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> ObservationStatistics:
        """Return the statistics of observations (n, size)."""
        if len(rows) == 0:
            return cls.empty(rows.shape[1])
        mean = rows.mean(axis=0)
        return cls(len(rows), mean, ((rows - mean) ** 2).sum(axis=0))

    def __add__(self, other: ObservationStatistics) -> ObservationStatistics:
        """Merge two sets of observations (Chan, Golub & LeVeque, 1983)."""
        count = self.count + other.count
        if count == 0 or other.count == 0:
            return self
        delta = other.mean - self.mean
        mean = self.mean + delta * (other.count / count)
        between = delta**2 * (self.count * other.count / count)
        return ObservationStatistics(count, mean, self.squares + other.squares + between)

    @cached_property
    def std(self) -> Vector:
        """The standard deviation; 1 for constant coordinates and below two observations."""
        if self.count < 2:
            return np.ones(self.mean.size)
        std = np.sqrt(self.squares / (self.count - 1))
        return np.where(std < SMALLEST_STD, 1.0, std)

    def normalise(self, observations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (observations − mean) / std."""
        return (observations - self.mean) / self.std

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values that `from_json` restores exactly."""
        return {
            "count": self.count,
            "mean": self.mean.tolist(),
            "squares": self.squares.tolist(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ObservationStatistics:
        """Restore the statistics that `to_json` wrote."""
        return cls(int(data["count"]), np.array(data["mean"]), np.array(data["squares"]))
