"""An optimizer of one's own: keep the best of m neighbours. Frozen settings, explicit state."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import zorank
from zorank.estimators import favourites
from zorank.slates import Cloud
from zorank.types import Answer, Vector

State = tuple[Vector, float]  # x and the radius


@dataclass(frozen=True)
class BestNeighbour:
    """Moves to the best of m candidates around x; halves the radius when none is better."""

    name: ClassVar[str] = "best-neighbour"
    revision: ClassVar[int] = 1
    m: int = 8
    radius: float = 1.0

    def init(self, x0: Vector) -> State:
        return x0, self.radius

    def ask(self, state: State, rng: np.random.Generator) -> zorank.Slate:
        directions = rng.standard_normal((self.m, state[0].size))
        directions[0] = 0  # x itself
        return zorank.Slate(Cloud(*state, directions), question="best")

    def tell(self, state: State, slate: zorank.Slate, answer: Answer) -> State:
        best = favourites(answer, len(slate))
        return (state[0], state[1] / 2) if 0 in best else (slate[best[0]], state[1])

    def best(self, state: State) -> Vector:
        return state[0]

    def report(self, state: State) -> dict[str, float]:
        return {"radius": state[1]}


if __name__ == "__main__":
    print(zorank.minimize(zorank.problems.sphere, [4.0, -3.0], 400, BestNeighbour()))
