"""Hidden utilities of simulated raters, as problems in which smaller is better.

A person's preference among pictures depends on few of the latent's many directions. Both utilities
model this in any dimension: one is convex, the other has many local optima. Each is determined by
(dim, seed), so that a benchmark stores only these two numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import rng
from zorank.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class HiddenUtility(ABC):
    """A utility that its dimension and its seed determine.

    Attributes:
        dim: the number of coordinates of a candidate.
        seed: the same seed gives the same utility.
    """

    dim: int
    seed: int

    @abstractmethod
    def __call__(self, x: NDArray[np.float64]) -> Any:
        """Return the value of one candidate (d,), or of many (m, d)."""


@dataclass(frozen=True)
class HiddenDirections(HiddenUtility):
    """|xW − t|²: the squared distance to a target along a few hidden directions.

    Attributes:
        directions: the number of unit directions, the columns of W.
        reach: the target's standard deviation along each, t ~ reach · N(0, I).
    """

    directions: int = 30
    reach: float = 1.5

    def __post_init__(self) -> None:
        _check_counts(self.dim, self.directions)

    def __call__(self, x: NDArray[np.float64]) -> Any:
        """Return the value of one candidate (d,), or of many (m, d)."""
        w, target = self._hidden
        return ((x @ w - target) ** 2).sum(axis=-1)

    @cached_property
    def _hidden(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        draws = rng.for_content(self.seed, b"hidden directions")
        w = draws.standard_normal((self.dim, self.directions))
        w /= np.linalg.norm(w, axis=0)
        return w, self.reach * draws.standard_normal(self.directions)


@dataclass(frozen=True)
class SineFeatures(HiddenUtility):
    """−Σ a_j sin(frequency · x·w_j + b_j): multimodal, with many good regions.

    w_j ~ N(0, I/d), so that x·w_j ~ N(0, 1) on the shell; a_j, b_j ~ N(0, 1).

    Attributes:
        features: the number of sines.
        frequency: the angular frequency along each direction.
    """

    features: int = 64
    frequency: float = 3.0

    def __post_init__(self) -> None:
        _check_counts(self.dim, self.features)

    def __call__(self, x: NDArray[np.float64]) -> Any:
        """Return the value of one candidate (d,), or of many (m, d)."""
        w, amplitudes, phases = self._hidden
        return -(np.sin(self.frequency * (x @ w) + phases) @ amplitudes)

    @cached_property
    def _hidden(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        draws = rng.for_content(self.seed, b"sine features")
        w = draws.standard_normal((self.dim, self.features)) / np.sqrt(self.dim)
        amplitudes, phases = draws.standard_normal((2, self.features))
        return w, amplitudes, phases


def _check_counts(dim: int, features: int) -> None:
    if dim < 1 or features < 1:
        raise InvalidInput(
            f"dim and the number of hidden directions must be at least 1, "
            f"found {dim} and {features}"
        )
