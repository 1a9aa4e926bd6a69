"""GLD-Fast: Algorithm 2 of Golovin et al., "Gradientless Descent", ICLR 2020.

Each round draws one neighbour from each of several balls around x, whose radii differ by factors
of 2; the best of them and x is the next x. The number of balls 2K + 1, with K = log₂ 4√Q, and the
number of rounds H = d·Q·ln Q after which all radii are halved follow from a bound Q on the
condition number. Departures: m is given, so K and Q follow from it; and x is one of the m
candidates, because an order tells whether x was beaten only if it includes x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zorank.estimators import favourites
from zorank.optimizers.settings import (
    Bounds,
    SpaceName,
    check_count,
    check_number,
    check_space,
    space_of,
)
from zorank.slates import Cloud, Slate
from zorank.types import Answer, Vector

MAX_BALLS = 100
"""Each ball has half the radius of the one before."""


@dataclass(frozen=True, eq=False)
class GLDState:
    """The best point so far and the number of answered rounds."""

    x: Vector
    rounds: int = 0


@dataclass(frozen=True, kw_only=True)
class GLDFast:
    """Direct search in balls of many radii at once.

    Attributes:
        m: number of candidates on a slate, including the best so far.
        radius: R, the radius of the middle ball.
        condition: Q, a bound on the condition number; None derives it from m.
        space: "euclidean", or "gaussian" to keep candidates on the shell |x| = √d.
        bounds: (lower, upper), each a number or one per coordinate; candidates are clipped.
    """

    name: ClassVar[str] = "gld-fast"
    revision: ClassVar[int] = 1

    m: int = 15
    radius: float = 10.0
    condition: float | None = None
    space: SpaceName = "euclidean"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        check_count(self, "m", 2, MAX_BALLS)
        check_number(self, "radius", above=0)
        if self.condition is not None:
            check_number(self, "condition", at_least=1)
        check_space(self)

    def init(self, x0: Vector) -> GLDState:
        """Start at x0, placed in the space."""
        return GLDState(space_of(self, x0).place(x0.copy()))

    def ask(self, state: GLDState, rng: np.random.Generator) -> Slate:
        """Show x and a point drawn uniformly from each ball."""
        d = state.x.size
        moves = np.zeros((self.m, d))
        balls = self._radius(state) * 2.0 ** ((self.m - 2) // 2 - np.arange(self.m - 1))
        rng.standard_normal(out=moves[1:])
        lengths = balls * rng.random(self.m - 1) ** (1.0 / d)
        moves[1:] *= (lengths / np.linalg.norm(moves[1:], axis=1))[:, None]
        return Slate(Cloud(state.x, 1.0, moves, space_of(self, state.x)), question="best")

    def tell(self, state: GLDState, slate: Slate, answer: Answer) -> GLDState:
        """Move to the best candidate; keep x if it is one of the best."""
        best = favourites(answer, len(slate))
        return GLDState(state.x if 0 in best else slate[best[0]], state.rounds + 1)

    def best(self, state: GLDState) -> Vector:
        """Return the best point so far."""
        return state.x

    def report(self, state: GLDState) -> dict[str, float]:
        """Return the radius of the middle ball."""
        return {"radius": self._radius(state)}

    def _radius(self, state: GLDState) -> float:
        q = 4.0 ** ((self.m - 2) / 2 - 2) if self.condition is None else self.condition
        halve_after = max(state.x.size * q * math.log(max(q, 1.0)), 1.0)
        return float(self.radius * 0.5 ** min(state.rounds // halve_after, 600.0))
