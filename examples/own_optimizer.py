"""An optimizer of one's own: keep the best of m neighbours. Frozen settings, explicit state."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import zorank
from zorank.estimators import favourites
from zorank.slates import Cloud
from zorank.types import Answer, Vector


@dataclass(frozen=True)
class BestNeighbour:
    """Moves to the best of m candidates around x; halves the radius when none is better."""

    name: ClassVar[str] = "best-neighbour"
    revision: ClassVar[int] = 1
    m: int = 8
    radius: float = 1.0

    def init(self, x0: Vector) -> tuple[Vector, float]:
        """The state: x and the radius."""
        return x0, self.radius

    def ask(self, state: tuple[Vector, float], rng: np.random.Generator) -> zorank.Slate:
        """X itself (a direction of zeros) and m − 1 neighbours."""
        x, radius = state
        directions = rng.standard_normal((self.m, x.size))
        directions[0] = 0
        return zorank.Slate(Cloud(x, radius, directions), question="best")

    def tell(
        self, state: tuple[Vector, float], slate: zorank.Slate, answer: Answer
    ) -> tuple[Vector, float]:
        """Move, or look closer."""
        best = favourites(answer, len(slate))
        return (state[0], state[1] / 2) if 0 in best else (slate[best[0]], state[1])

    def best(self, state: tuple[Vector, float]) -> Vector:
        """Where it is."""
        return state[0]

    def report(self, state: tuple[Vector, float]) -> dict[str, float]:
        """What a history shows."""
        return {"radius": state[1]}


if __name__ == "__main__":
    run = zorank.Run(BestNeighbour(), x0=[4.0, -3.0], seed=0)
    for _ in range(60):
        run.tell(zorank.oracles.FunctionOracle(zorank.problems.sphere).answer(run.ask()))
    print("best:", run.best().round(3), "radius:", run.history[-1]["radius"])
