"""ZO-RankSGD with memory: Algorithm 3 of Tang, Rybin, Chang, ICLR 2024, made for people.

A round ranks m neighbours of the best point x*. The next asks which is best of x*, the best
neighbour x**, and steps along the mean ḡ of all directions since x* last moved. If x* wins, more
estimates are averaged into ḡ; otherwise x* moves and the memory is cleared. Departures: the search
shows m candidates, x*, x** and m − 2 steps η, ηγ … ηγ^(m−3), where the paper lists m + 1 for an
(m,1) oracle; "no difference" widens the radius and keeps the memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zorank.estimators import cloud_gradient, favourites
from zorank.optimizers.descent import DescentSettings, neighbours
from zorank.optimizers.settings import (
    check_slate_size,
    space_of,
    starting_point,
    widened_radius,
)
from zorank.slates import Ray, Slate
from zorank.types import Answer, Vector


@dataclass(frozen=True, eq=False)
class MemoryState:
    """The state of Algorithm 3.

    Attributes:
        x: x*, the best point so far.
        memory: ḡ, the mean direction since x moved; None before the first.
        estimates: τ, the number of directions in the mean.
        challenger: x**, the best neighbour, if the next round is a search; else None.
        widened: number of answers of "no difference".
    """

    x: Vector
    memory: Vector | None = None
    estimates: int = 0
    challenger: Vector | None = None
    widened: int = 0


@dataclass(frozen=True, kw_only=True)
class ZORankSGDMemory(DescentSettings):
    """Descent from ranks that keeps its best point and averages directions.

    Attributes:
        m: number of candidates on a slate.
        k: how many of them to rank; None lets the judge decide.
        step: η, the longest step of the search.
        gamma: γ, the factor between the steps of the search.
    """

    name: ClassVar[str] = "zo-ranksgd-memory"
    takes_float32: ClassVar[bool] = True
    revision: ClassVar[int] = 1

    m: int = 6
    k: int | None = None
    step: float = 1.0
    mu: float = 0.1
    gamma: float = 0.5

    def __post_init__(self) -> None:
        check_slate_size(self, smallest=3)
        super().__post_init__()

    def init(self, x0: Vector) -> MemoryState:
        """Start at x0, placed in the space (lines 1 to 3)."""
        return MemoryState(starting_point(self, x0))

    def ask(self, state: MemoryState, rng: np.random.Generator) -> Slate:
        """Show neighbours of x* (line 6), or search along the memory (line 11)."""
        space = space_of(self, state.x)
        if state.challenger is None or state.memory is None:
            cloud = neighbours(state.x, self._radius(state), self.m, space, rng, itself=False)
            return Slate(cloud, k=self.k)
        steps = tuple(self.step * self.gamma**j for j in range(self.m - 2))
        ray = Ray(state.x, state.memory, steps, (state.challenger,), space)
        return Slate(ray, question="best")

    def tell(self, state: MemoryState, slate: Slate, answer: Answer) -> MemoryState:
        """Average the direction (lines 7 to 10), or move to the winner (lines 12 to 18)."""
        best = favourites(answer, len(slate))
        # The slate says what was asked: the log may have lost the answer that gave the challenger.
        if slate.question == "best":
            if 0 in best:  # x* is still best: keep the memory, continue at line 5
                no_difference = len(best) == len(slate)
                return replace(state, challenger=None, widened=state.widened + no_difference)
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
        """Return the best point x*."""
        return state.x

    def report(self, state: MemoryState) -> dict[str, float]:
        """Return the radius of the next estimate and the number of directions in the memory."""
        return {"radius": self._radius(state), "memory": float(state.estimates)}

    def _radius(self, state: MemoryState) -> float:
        return widened_radius(self.mu, self.widen, state.widened)
