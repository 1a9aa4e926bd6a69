"""CMA-ES through pycma (Hansen, Akimoto and Baudis, 2019), told ranks only.

pycma's strategy changes in place and draws from NumPy's global generator. Here every change is
made on a copy, and the draws come from the round's generator, so replay, undo and resume are exact
as everywhere; given the same draws, the candidates are those of pycma driven directly, bit for
bit. Candidates that tie, such as those below the best k, go to pycma in the order of the slate.
"No difference" moves nothing and widens σ.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zorank.errors import InvalidInput, MissingExtra
from zorank.estimators import rank_weights
from zorank.optimizers.settings import (
    Bounds,
    check_number,
    check_slate_size,
    check_space,
    make_space,
)
from zorank.slates import Box, Points, Slate
from zorank.types import Answer, Vector


class Normals:
    """Where a strategy gets its normal draws from: the generator of the round, while one asks."""

    generator: np.random.Generator | None = None

    def __call__(self, *shape: int) -> Any:
        """What numpy.random.randn would give."""
        if self.generator is None:
            raise InvalidInput("normal draws are made while a slate is asked for, never after it")
        return self.generator.standard_normal(shape)


@dataclass(frozen=True, eq=False)
class Population(Points):
    """Candidates, and the strategy that drew them and waits for their ranks; never changed."""

    strategy: Any = None


@dataclass(frozen=True, eq=False)
class CMAState:
    """pycma's strategy; never changed, always copied."""

    strategy: Any


@dataclass(frozen=True, kw_only=True)
class CMAES:
    """Covariance matrix adaptation, by pycma.

    Attributes:
        m: candidates of a slate, the population.
        k: how many of them are to be ranked; None leaves it to the judge.
        sigma0: the first standard deviation: how far from x0 a better point is to be expected.
        diagonal: adapt the variances only, for thousands of dimensions.
        widen: what σ is multiplied by when the judge sees no difference.
        bounds: (lower, upper), numbers or one per coordinate; by pycma's own transformation.
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
        if not isinstance(self.diagonal, bool):
            raise InvalidInput(f"diagonal is true or false, found {self.diagonal!r:.60}")
        object.__setattr__(self, "bounds", check_space("euclidean", self.bounds))

    def init(self, x0: Vector) -> CMAState:
        """A strategy around x0."""
        space = make_space("euclidean", self.bounds, x0.size)
        options = {
            "popsize": self.m,
            "CMA_diagonal": self.diagonal,
            "bounds": [None, None] if not isinstance(space, Box) else _as_pycma_has_them(space),
            "randn": Normals(),
            "seed": np.nan,  # leave NumPy's global generator alone
            **({"maxstd_boundrange": np.inf} if x0.size == 1 else {}),  # pycma's limit fails there
            "verbose": -9,
            "verb_log": 0,
        }
        x = space.place(x0.copy())
        return CMAState(load_pycma().CMAEvolutionStrategy(x, self.sigma0, options))

    def ask(self, state: CMAState, rng: np.random.Generator) -> Slate:
        """A population."""
        strategy = deepcopy(state.strategy)
        normals = strategy.opts["randn"]
        normals.generator = rng
        rows = np.array(strategy.ask())
        normals.generator = None
        return Slate(Population(rows, strategy), k=self.k)

    def tell(self, state: CMAState, slate: Slate, answer: Answer) -> CMAState:
        """Pass the ranks on."""
        if not isinstance(slate.design, Population):
            raise InvalidInput(
                f"cma-es is told of its own populations, found {slate.design!r:.60}"
            )
        ranks = rank_weights(answer, len(slate))
        if not ranks.any():
            strategy = deepcopy(state.strategy)
            strategy.sigma *= self.widen
            return CMAState(strategy)
        strategy = deepcopy(slate.design.strategy)
        strategy.tell(list(slate), ranks.tolist())
        return CMAState(strategy)

    def best(self, state: CMAState) -> Vector:
        """The mean of the distribution: ranks within a slate compare no two slates' candidates."""
        return np.array(state.strategy.result.xfavorite)

    def report(self, state: CMAState) -> dict[str, float]:
        """The step size σ."""
        return {"radius": float(state.strategy.sigma)}


def _as_pycma_has_them(box: Box) -> list[list[float]]:
    """Bounds with infinity where there is none, for which settings have the largest float."""
    none = np.finfo(np.float64).max
    return [
        np.where(box.lower <= -none, -np.inf, box.lower).tolist(),
        np.where(box.upper >= none, np.inf, box.upper).tolist(),
    ]


def load_pycma() -> Any:
    """The package cma; an error that says what to install if it is not there."""
    try:
        import cma
    except ModuleNotFoundError as error:
        raise MissingExtra("the optimizer cma-es", "cma", "cma") from error
    return cma
