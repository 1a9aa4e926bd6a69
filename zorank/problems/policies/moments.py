"""What was seen so far, as a mean and a spread, which can be added up part by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.types import Vector

SMALLEST_SPREAD = 1e-7


@dataclass(frozen=True, eq=False)
class Moments:
    """How many observations there were, their mean, and the sum of squares around it."""

    count: int
    mean: Vector
    squares: Vector

    @classmethod
    def nothing(cls, size: int) -> Moments:
        """Before anything was seen."""
        return cls(0, np.zeros(size), np.zeros(size))

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> Moments:
        """Of observations (n, size)."""
        if len(rows) == 0:
            return cls.nothing(rows.shape[1])
        mean = rows.mean(axis=0)
        return cls(len(rows), mean, ((rows - mean) ** 2).sum(axis=0))

    def __add__(self, other: Moments) -> Moments:
        """Of both together (Chan, Golub & LeVeque, 1983)."""
        count = self.count + other.count
        if count == 0 or other.count == 0:
            return self
        apart = other.mean - self.mean
        mean = self.mean + apart * (other.count / count)
        between = apart**2 * (self.count * other.count / count)
        return Moments(count, mean, self.squares + other.squares + between)

    @cached_property
    def spread(self) -> Vector:
        """The standard deviation, 1 where it is not known yet or nothing ever changed."""
        if self.count < 2:
            return np.ones(self.mean.size)
        found = np.sqrt(self.squares / (self.count - 1))
        return np.where(found < SMALLEST_SPREAD, 1.0, found)

    def scaled(self, observations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Observations as standard deviations from the mean."""
        return (observations - self.mean) / self.spread

    def as_note(self) -> dict[str, Any]:
        """Plain JSON values from which `from_note` makes the very same moments."""
        return {
            "count": self.count,
            "mean": self.mean.tolist(),
            "squares": self.squares.tolist(),
        }

    @classmethod
    def from_note(cls, note: Mapping[str, Any]) -> Moments:
        """What `as_note` wrote."""
        return cls(int(note["count"]), np.array(note["mean"]), np.array(note["squares"]))
