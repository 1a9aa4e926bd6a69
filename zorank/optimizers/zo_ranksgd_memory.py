"""ZO-RankSGD with memory: Algorithm 3 of Tang, Rybin, Chang, ICLR 2024, made for people.

The best point x* stays until something beats it. A round ranks m neighbours of x*; the next asks
which is best of x*, the best neighbour x**, and steps along the mean ḡ of all directions since x*
last moved. If x* wins, estimation goes on and ḡ becomes more exact; otherwise x* moves and the
memory is cleared. Departures: the search shows m candidates, x*, x** and m − 2 steps
η, ηγ … ηγ^(m−3), where the paper lists m + 1 for an (m,1) oracle; "no difference" widens the
radius and keeps the memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zorank.estimators import cloud_gradient, favourites
from zorank.optimizers.descent import surroundings
from zorank.optimizers.settings import (
    Bounds,
    SpaceName,
    check_number,
    check_slate_size,
    check_space,
    make_space,
    starting_point,
    widened_radius,
)
from zorank.slates import Ray, Slate
from zorank.types import Answer, Vector


@dataclass(frozen=True, eq=False)
class MemoryState:
    """Where Algorithm 3 is.

    Attributes:
        x: x*, the best point so far.
        memory: ḡ, the mean direction since x moved; None before the first.
        estimates: τ, the directions in the mean.
        challenger: x**, the best of the last estimation, while its search waits; else None.
        widened: how often "no difference" was answered.
    """

    x: Vector
    memory: Vector | None = None
    estimates: int = 0
    challenger: Vector | None = None
    widened: int = 0


@dataclass(frozen=True, kw_only=True)
class ZORankSGDMemory:
    """Rank-based descent that keeps its best point and remembers directions.

    Attributes:
        m: candidates of a slate.
        k: how many of them are to be ranked; None leaves it to the judge.
        step: η, the longest step of the search.
        mu: μ, the radius within which candidates are drawn.
        gamma: γ, what each step of the search is shortened by.
        widen: what μ is multiplied by when the judge sees no difference.
        space: "euclidean", or "gaussian" to keep candidates on the shell |x| = √d.
        bounds: (lower, upper), numbers or one per coordinate; candidates are clipped to them.
    """

    name: ClassVar[str] = "zo-ranksgd-memory"
    takes_float32: ClassVar[bool] = True
    revision: ClassVar[int] = 1

    m: int = 6
    k: int | None = None
    step: float = 1.0
    mu: float = 0.1
    gamma: float = 0.5
    widen: float = 1.5
    space: SpaceName = "euclidean"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        check_slate_size(self, smallest=3)
        for name in ("step", "mu"):
            check_number(self, name, above=0)
        check_number(self, "gamma", above=0, below=1)
        check_number(self, "widen", at_least=1)
        object.__setattr__(self, "bounds", check_space(self.space, self.bounds))

    def init(self, x0: Vector) -> MemoryState:
        """Lines 1 to 3."""
        return MemoryState(
            starting_point(make_space(self.space, self.bounds, x0.size, x0.dtype), x0)
        )

    def ask(self, state: MemoryState, rng: np.random.Generator) -> Slate:
        """Line 6, or line 11 when a direction waits for its search."""
        space = make_space(self.space, self.bounds, state.x.size, state.x.dtype)
        if state.challenger is None or state.memory is None:
            around = surroundings(state.x, self._radius(state), self.m, space, rng, itself=False)
            return Slate(around, k=self.k)
        steps = tuple(self.step * self.gamma**j for j in range(self.m - 2))
        ray = Ray(state.x, state.memory, steps, (state.challenger,), space)
        return Slate(ray, question="best")

    def tell(self, state: MemoryState, slate: Slate, answer: Answer) -> MemoryState:
        """Lines 7 to 10, or lines 12 to 18."""
        best = favourites(answer, len(slate))
        if state.challenger is not None:
            if 0 in best:  # x* is still best: back to line 5, the memory goes on
                unseen = len(best) == len(slate)
                return replace(state, challenger=None, widened=state.widened + unseen)
            return MemoryState(slate[best[0]], widened=state.widened)
        direction = cloud_gradient(slate, answer)
        if direction is None:
            return replace(state, widened=state.widened + 1)
        if state.memory is not None:
            direction += state.estimates * state.memory
            direction /= state.estimates + 1
        return replace(
            state, memory=direction, estimates=state.estimates + 1, challenger=slate[best[0]]
        )

    def best(self, state: MemoryState) -> Vector:
        """The best point x*."""
        return state.x

    def report(self, state: MemoryState) -> dict[str, float]:
        """The radius of the next estimation and the directions in the memory."""
        return {"radius": self._radius(state), "memory": float(state.estimates)}

    def _radius(self, state: MemoryState) -> float:
        return widened_radius(self.mu, self.widen, state.widened)
