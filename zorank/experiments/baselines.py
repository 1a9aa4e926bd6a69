"""Baseline methods on the shell |x| = √d, each with a first slate to pick from.

They are optimizers, but they are not in the registry because they are only useful as baselines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zorank.errors import InvalidInput
from zorank.estimators import favourites, rank_weights
from zorank.experiments.peers import load_cmaes
from zorank.optimizers.starts import random_starts
from zorank.slates import Cloud, Points, Question, Shell, Slate
from zorank.types import Answer, Values, Vector

SHELL = Shell()


@dataclass(frozen=True, eq=False)
class BestSeen:
    """The best point so far and its observed value."""

    x: Vector
    value: float = math.inf


@dataclass(frozen=True, kw_only=True)
class BestOfRandom:
    """The best of random pictures; the rater remembers all values, which favours this baseline.

    Attributes:
        m: candidates of a slate.
        bounds: draw uniformly from this box instead of from the shell.
    """

    name: ClassVar[str] = "best-of-random"
    revision: ClassVar[int] = 1

    m: int = 6
    bounds: tuple[float, float] | None = None

    def init(self, x0: Vector) -> BestSeen:
        """Return the state before the first slate."""
        return BestSeen(x0.copy() if self.bounds else SHELL.place(x0.copy()))

    def ask(self, state: BestSeen, rng: np.random.Generator) -> Slate:
        """Return random candidates."""
        if self.bounds:
            return uniform_slate(self.m, state.x.size, self.bounds, rng, "values")
        return _random_slate(self.m, state.x.size, rng, "values")

    def tell(self, state: BestSeen, slate: Slate, answer: Answer) -> BestSeen:
        """Keep the candidate with the best value."""
        if not isinstance(answer, Values):
            raise InvalidInput(f"best-of-random asks for values, found {type(answer).__name__}")
        i = int(np.argmin(answer.values))
        return BestSeen(slate[i], answer.values[i]) if answer.values[i] < state.value else state

    def best(self, state: BestSeen) -> Vector:
        """Return the best candidate so far."""
        return state.x

    def report(self, state: BestSeen) -> dict[str, float]:
        """Return no further values."""
        return {}


@dataclass(frozen=True, eq=False)
class Pivot:
    """The favourite so far; `picked` is false before the first answer."""

    x: Vector
    picked: bool = False


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The favourite among the pivot and m − 1 neighbours becomes the pivot: manual search.

    Attributes:
        m: candidates of a slate.
        mu: the radius within which neighbours are drawn.
    """

    name: ClassVar[str] = "neighbours"
    revision: ClassVar[int] = 1

    m: int = 6
    mu: float = 0.35

    def init(self, x0: Vector) -> Pivot:
        """Return the state before a pivot is picked."""
        return Pivot(SHELL.place(x0.copy()))

    def ask(self, state: Pivot, rng: np.random.Generator) -> Slate:
        """Return random candidates first, then the pivot and its neighbours."""
        if not state.picked:
            return _random_slate(self.m, state.x.size, rng, "start")
        xi = rng.standard_normal((self.m, state.x.size))
        xi[0] = 0.0
        return Slate(Cloud(state.x, self.mu, xi, SHELL), question="best")

    def tell(self, state: Pivot, slate: Slate, answer: Answer) -> Pivot:
        """Move to the favourite, unless the pivot is one of the favourites."""
        liked = favourites(answer, len(slate))
        if len(liked) == len(slate) or (state.picked and 0 in liked):
            return state
        return Pivot(slate[liked[0]], picked=True)

    def best(self, state: Pivot) -> Vector:
        """Return the pivot."""
        return state.x

    def report(self, state: Pivot) -> dict[str, float]:
        """Return the radius."""
        return {"radius": self.mu}


@dataclass(frozen=True, eq=False)
class Strategy:
    """The state of sep-CMA-ES: the mean on the shell, and a cmaes.SepCMA, modified in place."""

    x: Vector
    inner: Any = None


@dataclass(frozen=True, kw_only=True)
class SeparableCMA:
    """cmaes.SepCMA with ranks only; its candidates are projected onto the shell. Not pure.

    Attributes:
        m: candidates of a slate, the population.
        sigma: the initial standard deviation.
    """

    name: ClassVar[str] = "sepcma"
    revision: ClassVar[int] = 1

    m: int = 6
    sigma: float = 0.5

    def init(self, x0: Vector) -> Strategy:
        """Return the state before a mean is picked."""
        return Strategy(SHELL.place(x0.copy()))

    def ask(self, state: Strategy, rng: np.random.Generator) -> Slate:
        """Return random candidates first, then a population around the mean."""
        if state.inner is None:
            return _random_slate(self.m, state.x.size, rng, "start")
        state.inner.reseed_rng(int(rng.integers(2**32)))
        population = np.array([state.inner.ask() for _ in range(self.m)])
        return Slate(Cloud(np.zeros(state.x.size), 1.0, population, SHELL))

    def tell(self, state: Strategy, slate: Slate, answer: Answer) -> Strategy:
        """Start at the favourite, then pass the ranks to SepCMA."""
        if not isinstance(slate.design, Cloud):
            liked = favourites(answer, len(slate))
            if len(liked) == len(slate):
                return state
            start = slate[liked[0]]
            inner = load_sepcma()(mean=start.copy(), sigma=self.sigma, population_size=self.m)
            return Strategy(start, inner)
        ranks = rank_weights(answer, len(slate)).tolist()
        population = np.asarray(slate.design.directions)  # few rows: held, not regenerated
        state.inner.tell(list(zip(population, ranks, strict=True)))
        return Strategy(SHELL.place(state.inner.mean.copy()), state.inner)

    def best(self, state: Strategy) -> Vector:
        """Return the mean on the shell."""
        return state.x

    def report(self, state: Strategy) -> dict[str, float]:
        """Return no further values."""
        return {}


def load_sepcma() -> Any:
    """Import the class cmaes.SepCMA."""
    return load_cmaes().SepCMA


def _random_slate(m: int, dim: int, rng: np.random.Generator, question: Question) -> Slate:
    """Return the random first slate that every method here and in the registry shares."""
    return Slate(Points(random_starts(rng, m, dim, SHELL).rows), question=question)


def uniform_slate(
    m: int,
    dim: int,
    bounds: tuple[float, float],
    rng: np.random.Generator,
    question: Question = "rank",
) -> Slate:
    """Return uniform draws from a box, the first slate of every method that searches one."""
    return Slate(Points(rng.uniform(*bounds, (m, dim))), question=question)
