"""Methods to be measured against, on the shell |x| = √d, each beginning with a slate to pick from.

They are optimizers like any other but are kept out of the registry: nobody should want them.
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
class Held:
    """A point and the value it seemed to have."""

    x: Vector
    value: float = math.inf


@dataclass(frozen=True, kw_only=True)
class BestOfRandom:
    """Random pictures only. The judge remembers what each looked like, which flatters it.

    Attributes:
        m: candidates of a slate.
        bounds: draw uniformly from this box instead of from the shell.
    """

    name: ClassVar[str] = "best-of-random"
    revision: ClassVar[int] = 1

    m: int = 6
    bounds: tuple[float, float] | None = None

    def init(self, x0: Vector) -> Held:
        """Nothing was seen yet."""
        return Held(x0.copy() if self.bounds else SHELL.place(x0.copy()))

    def ask(self, state: Held, rng: np.random.Generator) -> Slate:
        """Others."""
        if self.bounds:
            return uniform_slate(self.m, state.x.size, self.bounds, rng, "values")
        return _random_slate(self.m, state.x.size, rng, "values")

    def tell(self, state: Held, slate: Slate, answer: Answer) -> Held:
        """Keep what looked best."""
        if not isinstance(answer, Values):
            raise InvalidInput(f"best-of-random asks for values, found {type(answer).__name__}")
        i = int(np.argmin(answer.values))
        return Held(slate[i], answer.values[i]) if answer.values[i] < state.value else state

    def best(self, state: Held) -> Vector:
        """What looked best of all so far."""
        return state.x

    def report(self, state: Held) -> dict[str, float]:
        """Nothing beside the best."""
        return {}


@dataclass(frozen=True, eq=False)
class Pivot:
    """The favourite so far; not picked before the first answer."""

    x: Vector
    picked: bool = False


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The favourite among itself and m − 1 neighbours is the next pivot: what people do by hand.

    Attributes:
        m: candidates of a slate.
        mu: the radius within which neighbours are drawn.
    """

    name: ClassVar[str] = "neighbours"
    revision: ClassVar[int] = 1

    m: int = 6
    mu: float = 0.35

    def init(self, x0: Vector) -> Pivot:
        """No pivot is picked yet."""
        return Pivot(SHELL.place(x0.copy()))

    def ask(self, state: Pivot, rng: np.random.Generator) -> Slate:
        """Random candidates, or the pivot and its neighbours."""
        if not state.picked:
            return _random_slate(self.m, state.x.size, rng, "start")
        xi = rng.standard_normal((self.m, state.x.size))
        xi[0] = 0.0
        return Slate(Cloud(state.x, self.mu, xi, SHELL), question="best")

    def tell(self, state: Pivot, slate: Slate, answer: Answer) -> Pivot:
        """Move to the favourite; the pivot stays where it is one of them."""
        liked = favourites(answer, len(slate))
        if len(liked) == len(slate) or (state.picked and 0 in liked):
            return state
        return Pivot(slate[liked[0]], picked=True)

    def best(self, state: Pivot) -> Vector:
        """The pivot."""
        return state.x

    def report(self, state: Pivot) -> dict[str, float]:
        """The radius."""
        return {"radius": self.mu}


@dataclass(frozen=True, eq=False)
class Strategy:
    """The mean on the shell, and cmaes.SepCMA, which changes in place: so this one is not pure."""

    x: Vector
    inner: Any = None


@dataclass(frozen=True, kw_only=True)
class SeparableCMA:
    """cmaes.SepCMA told ranks only; its candidates are put on the shell to be looked at.

    Attributes:
        m: candidates of a slate, the population.
        sigma: the first standard deviation.
    """

    name: ClassVar[str] = "sepcma"
    revision: ClassVar[int] = 1

    m: int = 6
    sigma: float = 0.5

    def init(self, x0: Vector) -> Strategy:
        """No mean is picked yet."""
        return Strategy(SHELL.place(x0.copy()))

    def ask(self, state: Strategy, rng: np.random.Generator) -> Slate:
        """Random candidates, or a population around the mean."""
        if state.inner is None:
            return _random_slate(self.m, state.x.size, rng, "start")
        state.inner.reseed_rng(int(rng.integers(2**32)))
        population = np.array([state.inner.ask() for _ in range(self.m)])
        return Slate(Cloud(np.zeros(state.x.size), 1.0, population, SHELL))

    def tell(self, state: Strategy, slate: Slate, answer: Answer) -> Strategy:
        """Begin at the favourite, or pass the ranks on."""
        if not isinstance(slate.design, Cloud):
            liked = favourites(answer, len(slate))
            if len(liked) == len(slate):
                return state
            start = slate[liked[0]]
            inner = load_sepcma()(mean=start.copy(), sigma=self.sigma, population_size=self.m)
            return Strategy(start, inner)
        ranks = rank_weights(answer, len(slate)).tolist()
        population = np.asarray(slate.design.directions)  # a handful: never drawn again
        state.inner.tell(list(zip(population, ranks, strict=True)))
        return Strategy(SHELL.place(state.inner.mean.copy()), state.inner)

    def best(self, state: Strategy) -> Vector:
        """The mean, put on the shell."""
        return state.x

    def report(self, state: Strategy) -> dict[str, float]:
        """Nothing beside the best."""
        return {}


def load_sepcma() -> Any:
    """The class cmaes.SepCMA."""
    return load_cmaes().SepCMA


def _random_slate(m: int, dim: int, rng: np.random.Generator, question: Question) -> Slate:
    """The draws that every method here and in the registry begins with."""
    return Slate(Points(random_starts(rng, m, dim, SHELL).rows), question=question)


def uniform_slate(
    m: int,
    dim: int,
    bounds: tuple[float, float],
    rng: np.random.Generator,
    question: Question = "rank",
) -> Slate:
    """Uniform draws from a box: what every method that searches one begins with."""
    return Slate(Points(rng.uniform(*bounds, (m, dim))), question=question)
