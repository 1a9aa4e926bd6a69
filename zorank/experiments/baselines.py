"""Baseline methods on the shell |x| = √d, each with a first slate to pick from.

They are optimizers, but they are not in the registry because they are only useful as baselines.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from zorank.errors import InvalidInput
from zorank.estimators import cloud_of, favourites, rank_weights
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
class SearchState:
    """The state of a search from a start that the rater picks.

    Attributes:
        x: the current point on the shell.
        picked: whether the start has been picked.
        strategy: the state of another library's optimizer, which modifies it in place.
    """

    x: Vector
    picked: bool = False
    strategy: Any = None


@dataclass(frozen=True, kw_only=True)
class PickedSearch(ABC):
    """A search on the shell whose first slate shows random candidates to start from.

    A subclass adds `init`, `report`, and the abstract methods. "No difference" shows other draws.

    Attributes:
        m: candidates of a slate.
    """

    m: int = 6

    @abstractmethod
    def begin(self, start: Vector) -> SearchState:
        """Return the state at a picked start."""

    @abstractmethod
    def candidates(self, state: SearchState, rng: np.random.Generator) -> Slate:
        """Return the slate of a search that has begun."""

    @abstractmethod
    def move(self, state: SearchState, slate: Slate, answer: Answer) -> SearchState:
        """Return the state after an answer to `candidates`."""

    def ask(self, state: SearchState, rng: np.random.Generator) -> Slate:
        """Return random candidates first, then those of the search."""
        if not state.picked:
            return _random_slate(self.m, state.x.size, rng, "start")
        return self.candidates(state, rng)

    def tell(self, state: SearchState, slate: Slate, answer: Answer) -> SearchState:
        """Begin at the favourite, then move."""
        if state.picked:
            return self.move(state, slate, answer)
        liked = favourites(answer, len(slate))
        return state if len(liked) == len(slate) else self.begin(slate[liked[0]])

    def best(self, state: SearchState) -> Vector:
        """Return the current point."""
        return state.x


@dataclass(frozen=True, kw_only=True)
class Neighbours(PickedSearch):
    """The favourite among the pivot and m − 1 neighbours becomes the pivot: manual search.

    Attributes:
        mu: the radius within which neighbours are drawn.
        pick: whether the first pivot is picked from random candidates; else it is x0.
    """

    name: ClassVar[str] = "neighbours"
    revision: ClassVar[int] = 1

    mu: float = 0.35
    pick: bool = True

    def init(self, x0: Vector) -> SearchState:
        """Return the state before a pivot is picked, or at the pivot x0."""
        return SearchState(SHELL.place(x0.copy()), picked=not self.pick)

    def begin(self, start: Vector) -> SearchState:
        """Return the state at the first pivot."""
        return SearchState(start, picked=True)

    def candidates(self, state: SearchState, rng: np.random.Generator) -> Slate:
        """Return the pivot and its neighbours."""
        xi = rng.standard_normal((self.m, state.x.size))
        xi[0] = 0.0
        return Slate(Cloud(state.x, self.mu, xi, SHELL), question="best")

    def move(self, state: SearchState, slate: Slate, answer: Answer) -> SearchState:
        """Move to the favourite, unless the pivot is one of the favourites."""
        liked = favourites(answer, len(slate))
        return state if 0 in liked else replace(state, x=slate[liked[0]])

    def report(self, state: SearchState) -> dict[str, float]:
        """Return the radius."""
        return {"radius": self.mu}


@dataclass(frozen=True, kw_only=True)
class SeparableCMA(PickedSearch):
    """cmaes.SepCMA with ranks only; its candidates are projected onto the shell. Not pure.

    m is the population size, and the current point is the mean.

    Attributes:
        sigma: the initial standard deviation.
    """

    name: ClassVar[str] = "sepcma"
    revision: ClassVar[int] = 1

    sigma: float = 0.5

    def init(self, x0: Vector) -> SearchState:
        """Return the state before a mean is picked."""
        return SearchState(SHELL.place(x0.copy()))

    def begin(self, start: Vector) -> SearchState:
        """Return the state with the start as the mean."""
        strategy = load_sepcma()(mean=start.copy(), sigma=self.sigma, population_size=self.m)
        return SearchState(start, picked=True, strategy=strategy)

    def candidates(self, state: SearchState, rng: np.random.Generator) -> Slate:
        """Return a population around the mean."""
        state.strategy.reseed_rng(int(rng.integers(2**32)))
        population = np.array([state.strategy.ask() for _ in range(self.m)])
        return Slate(Cloud(np.zeros(state.x.size), 1.0, population, SHELL))

    def move(self, state: SearchState, slate: Slate, answer: Answer) -> SearchState:
        """Pass the ranks to SepCMA."""
        ranks = rank_weights(answer, len(slate)).tolist()
        population = np.asarray(cloud_of(slate).directions)  # few rows: held, not regenerated
        state.strategy.tell(list(zip(population, ranks, strict=True)))
        return replace(state, x=SHELL.place(state.strategy.mean.copy()))

    def report(self, state: SearchState) -> dict[str, float]:
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
