"""Hidden utilities: what a simulated judge likes, as problems in which smaller is better.

What people see in a picture depends on few of the many directions in which its latent can move.
Both utilities here do so, whatever the dimension: one is a valley, the other has hills at every
turn. Each is a function of (dim, seed), so a benchmark keeps only those two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import rng
from zorank.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class HiddenDirections:
    """|xW − t|²: the squared distance to a target, seen along a few directions only.

    Attributes:
        dim: the number of coordinates of a candidate.
        seed: the same seed hides the same target.
        directions: how many unit directions, the columns of W, matter.
        reach: the target's standard deviation along each, t ~ reach · N(0, I).
    """

    dim: int
    seed: int
    directions: int = 30
    reach: float = 1.5

    def __post_init__(self) -> None:
        _check_counts(self.dim, self.directions)

    def __call__(self, x: NDArray[np.float64]) -> Any:
        """The value of one candidate (d,), or of many (m, d)."""
        w, target = self._hidden
        return ((x @ w - target) ** 2).sum(axis=-1)

    @cached_property
    def _hidden(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        draws = rng.for_content(self.seed, b"hidden directions")
        w = draws.standard_normal((self.dim, self.directions))
        w /= np.linalg.norm(w, axis=0)
        return w, self.reach * draws.standard_normal(self.directions)


@dataclass(frozen=True)
class SineFeatures:
    """−Σ a_j sin(frequency · x·w_j + b_j): wiggly, with many good places and no best direction.

    w_j ~ N(0, I/d), so that x·w_j ~ N(0, 1) on the shell; a_j, b_j ~ N(0, 1).

    Attributes:
        dim: the number of coordinates of a candidate.
        seed: the same seed makes the same hills.
        features: how many waves are added.
        frequency: how fast each turns along its direction.
    """

    dim: int
    seed: int
    features: int = 64
    frequency: float = 3.0

    def __post_init__(self) -> None:
        _check_counts(self.dim, self.features)

    def __call__(self, x: NDArray[np.float64]) -> Any:
        """The value of one candidate (d,), or of many (m, d)."""
        w, heights, phases = self._hidden
        return -(np.sin(self.frequency * (x @ w) + phases) @ heights)

    @cached_property
    def _hidden(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        draws = rng.for_content(self.seed, b"sine features")
        w = draws.standard_normal((self.dim, self.features)) / np.sqrt(self.dim)
        heights, phases = draws.standard_normal((2, self.features))
        return w, heights, phases


def _check_counts(dim: int, features: int) -> None:
    if dim < 1 or features < 1:
        raise InvalidInput(
            f"a utility needs at least one coordinate and one hidden direction, "
            f"found {dim} and {features}"
        )
