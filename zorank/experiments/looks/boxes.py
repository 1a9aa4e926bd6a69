"""Tastes in a box [−3, 3]^d, and a first slate that all methods share.

Methods of other libraries search boxes, so they are compared here. Utilities are standardised over
uniform random points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zorank import rng
from zorank.errors import unknown_name
from zorank.experiments.baselines import uniform_slate
from zorank.experiments.simulated_raters import Taste
from zorank.optimizers import make
from zorank.protocols import AnyOptimizer
from zorank.slates import Slate
from zorank.types import Answer, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

BOUNDS = (-3.0, 3.0)
SPREAD = 3.0 / np.sqrt(3.0)
"""The standard deviation of a uniformly distributed coordinate."""
RANDOM_POINTS = 4000

Loss = Callable[["NDArray[np.float64]"], Any]


def _distance(dim: int, seed: int) -> Loss:
    """Return the L1 distance to a hidden point of the box along 20 unit directions."""
    draws = rng.for_content(seed, b"box distance")
    w = draws.standard_normal((dim, 20))
    w /= np.linalg.norm(w, axis=0)
    target = draws.uniform(*BOUNDS, dim) @ w
    return lambda x: np.abs(x @ w - target).sum(axis=-1)


def _ridges(dim: int, seed: int) -> Loss:
    """Return minus the sum of 40 sine waves, each along its own direction."""
    draws = rng.for_content(seed, b"box ridges")
    w = draws.standard_normal((dim, 40)) / (SPREAD * np.sqrt(dim))  # x·w has variance 1
    w *= draws.uniform(1.0, 3.0, 40)
    phases, heights = draws.uniform(0, 2 * np.pi, 40), draws.standard_normal(40)
    return lambda x: -(np.sin(x @ w + phases) @ heights)


def _few(dim: int, seed: int) -> Loss:
    """Return minus a smooth random function of six of the coordinates."""
    draws = rng.for_content(seed, b"box few")
    matter = draws.permutation(dim)[:6]
    w = draws.standard_normal((6, 200)) / (1.5 * SPREAD)  # an RBF kernel of length 1.5 sd
    phases, heights = draws.uniform(0, 2 * np.pi, 200), draws.standard_normal(200)
    return lambda x: -(np.cos(x[..., matter] @ w + phases) @ heights)


FAMILIES: dict[str, tuple[str, Callable[[int, int], Loss]]] = {
    "distance": ("L1 distance to a hidden point, seen along 20 directions", _distance),
    "ridges": ("40 sine waves along random directions, wiggly and bounded", _ridges),
    "few": ("a smooth function of 6 of the coordinates", _few),
}
"""By family: a description, and the function from (dim, seed) to a loss."""


@lru_cache(maxsize=8)
def box_taste(family: str, dim: int, seed: int) -> Taste:
    """Return the taste of a family, a dimension and a seed."""
    if family not in FAMILIES:
        raise unknown_name("family of tastes", family, FAMILIES)
    f = FAMILIES[family][1](dim, seed)
    values = f(rng.for_content(seed, b"random points").uniform(*BOUNDS, (RANDOM_POINTS, dim)))
    return Taste(f, float(values.mean()), float(values.std()))


@dataclass(frozen=True, eq=False)
class StartState:
    """The state of the inner method, and whether the first slate was answered."""

    inner: Any
    dim: int
    answered: bool = False


@dataclass(frozen=True)
class UniformStart:
    """A method of the registry whose first slate is replaced by uniform random points.

    Attributes:
        method: its name.
        options: its settings.
        m: candidates of a slate.
    """

    name: ClassVar[str] = "uniform-start"
    revision: ClassVar[int] = 1

    method: str
    options: dict[str, Any] = field(default_factory=dict)
    m: int = 6

    def init(self, x0: Vector) -> StartState:
        """Return the state before the first slate."""
        return StartState(self._inner().init(np.zeros(x0.size)), x0.size)

    def ask(self, state: StartState, rng: np.random.Generator) -> Slate:
        """Return uniform points first, then the slates of the method."""
        if not state.answered:
            return uniform_slate(self.m, state.dim, BOUNDS, rng)
        return self._inner().ask(state.inner, rng)

    def tell(self, state: StartState, slate: Slate, answer: Answer) -> StartState:
        """Pass every answer to the method."""
        return StartState(self._inner().tell(state.inner, slate, answer), state.dim, answered=True)

    def best(self, state: StartState) -> Vector:
        """Return the best point of the method."""
        return self._inner().best(state.inner)

    def report(self, state: StartState) -> dict[str, float]:
        """Return the report of the method."""
        return self._inner().report(state.inner)

    def _inner(self) -> AnyOptimizer:
        return make(self.method, {"m": self.m, **self.options})
