"""CMA-ES through pycma (Hansen, Akimoto and Baudis, 2019), given ranks only.

pycma's strategy changes in place and draws from NumPy's global generator. Here every change is
made on a copy and the draws come from the round's generator, so replay, undo and resume are exact.
Given the same draws, the candidates are bit for bit those of pycma used directly. Tied candidates,
such as those below the best k, are passed to pycma in the order of the slate. "No difference" only
widens σ.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from zorank.errors import InvalidInput, MissingExtra, required_by
from zorank.estimators import own_design, rank_weights
from zorank.optimizers.settings import (
    Bounds,
    check_flag,
    check_number,
    check_slate_size,
    check_space,
    space_of,
)
from zorank.slates import Box, Points, Slate
from zorank.types import Answer, Vector


class Normals:
    """A replacement for numpy.random.randn that draws from the generator of the current round."""

    generator: np.random.Generator | None = None

    def __call__(self, *shape: int) -> Any:
        """Return standard normal draws of this shape."""
        if self.generator is None:
            raise InvalidInput("there is no generator; draw only while a slate is asked for")
        return self.generator.standard_normal(shape)


@dataclass(frozen=True, eq=False)
class Population(Points):
    """Candidates and the strategy that drew them; neither is changed."""

    strategy: Any = None


@dataclass(frozen=True, eq=False)
class CMAState:
    """pycma's strategy; it is copied before every change."""

    strategy: Any


@dataclass(frozen=True, kw_only=True)
class CMAES:
    """Covariance matrix adaptation, by pycma.

    Attributes:
        m: number of candidates on a slate, the population size.
        k: how many of them to rank; None lets the judge decide.
        sigma0: initial standard deviation: the expected distance of a better point from x0.
        diagonal: adapt only the variances, for thousands of dimensions.
        widen: factor of σ after each answer of "no difference".
        bounds: (lower, upper), each a number or one per coordinate; pycma transforms them.
    """

    name: ClassVar[str] = "cma-es"
    revision: ClassVar[int] = 1

    m: int = 15
    k: int | None = None
    sigma0: float = 0.3
    diagonal: bool = False
    widen: float = 1.5
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        check_slate_size(self, smallest=3)
        check_number(self, "sigma0", above=0)
        check_number(self, "widen", at_least=1)
        check_flag(self, "diagonal")
        check_space(self)

    def init(self, x0: Vector) -> CMAState:
        """Return a strategy around x0."""
        space = space_of(self, x0)
        options = {
            "popsize": self.m,
            "CMA_diagonal": self.diagonal,
            "bounds": [None, None] if not isinstance(space, Box) else _pycma_bounds(space),
            "randn": Normals(),
            "seed": np.nan,  # do not seed NumPy's global generator
            **(
                {"maxstd_boundrange": np.inf} if x0.size == 1 else {}
            ),  # pycma's default fails there
            "verbose": -9,
            "verb_log": 0,
        }
        x = space.place(x0.copy())
        return CMAState(load_pycma().CMAEvolutionStrategy(x, self.sigma0, options))

    def ask(self, state: CMAState, rng: np.random.Generator) -> Slate:
        """Show a population."""
        strategy = deepcopy(state.strategy)
        normals = strategy.opts["randn"]
        normals.generator = rng
        rows = np.array(strategy.ask())
        normals.generator = None
        return Slate(Population(rows, strategy), k=self.k)

    def tell(self, state: CMAState, slate: Slate, answer: Answer) -> CMAState:
        """Pass the ranks to pycma."""
        design = own_design(slate, Population, self.name)
        ranks = rank_weights(answer, len(slate))
        if not ranks.any():
            strategy = deepcopy(state.strategy)
            strategy.sigma *= self.widen
            return CMAState(strategy)
        strategy = deepcopy(design.strategy)
        strategy.tell(list(slate), ranks.tolist())
        return CMAState(strategy)

    def best(self, state: CMAState) -> Vector:
        """Return the mean of the distribution; ranks do not compare candidates across slates."""
        return np.array(state.strategy.result.xfavorite)

    def report(self, state: CMAState) -> dict[str, float]:
        """Return the step size σ."""
        return {"radius": float(state.strategy.sigma)}


def _pycma_bounds(box: Box) -> list[list[float]]:
    """Return the bounds with infinity in place of the largest float, which means no bound."""
    none = np.finfo(np.float64).max
    return [
        np.where(box.lower <= -none, -np.inf, box.lower).tolist(),
        np.where(box.upper >= none, np.inf, box.upper).tolist(),
    ]


def load_pycma() -> Any:
    """Import the package cma; raise MissingExtra if it is not installed."""
    with required_by(*_EXTRA):
        import cma
    return cma


def check_pycma() -> None:
    """Raise MissingExtra if the package cma is not installed; importing it takes seconds."""
    if find_spec("cma") is None:
        raise MissingExtra(*_EXTRA)


_EXTRA = ("the optimizer cma-es", "cma", "cma")
