"""Descent along estimated directions, with or without a line search.

A round estimates an uphill direction g at x. Without a line search x becomes x − ηg at once
(Algorithm 1, line 5). With one, the next round shows x and x − ηγg … x − ηγ^(l−1)g and asks only
which is best (Algorithm 2; l counts x itself). A subclass implements `probe` and `estimate`, and
overrides nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zorank._directions import Law, draw_directions
from zorank.errors import InvalidInput
from zorank.estimators import favourites
from zorank.optimizers.settings import (
    MAX_CANDIDATES,
    Bounds,
    SpaceName,
    check_count,
    check_law,
    check_number,
    check_space,
    space_of,
    starting_point,
    widened_radius,
)
from zorank.slates import Cloud, Ray, Slate, Space
from zorank.types import Answer, Vector


def neighbours(
    x: Vector,
    radius: float,
    m: int,
    space: Space,
    rng: np.random.Generator,
    itself: bool = True,
    law: Law = "normal",
) -> Cloud:
    """Return m points x + μξ; with `itself`, the first of them is x."""
    return Cloud(x, radius, draw_directions(law, x.size, x.dtype, rng, m, with_zero=itself), space)


@dataclass(frozen=True, kw_only=True)
class DescentSettings:
    """The settings that all descents have; a subclass gives defaults of step, mu and gamma.

    Attributes:
        mu: μ, the radius within which candidates are drawn.
        widen: factor of μ after each answer of "no difference".
        space: "euclidean", or "gaussian" to keep candidates on the shell |x| = √d.
        bounds: (lower, upper), each a number or one per coordinate; candidates are clipped.
    """

    step: float
    mu: float
    gamma: float
    widen: float = 1.5
    space: SpaceName = "euclidean"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        for name in ("step", "mu"):
            check_number(self, name, above=0)
        check_number(self, "gamma", above=0, below=1)
        check_number(self, "widen", at_least=1)
        check_space(self)


@dataclass(frozen=True, eq=False)
class DescentState:
    """The state of a descent.

    Attributes:
        x: the current point.
        estimates: number of directions estimated so far; step and radius decay with it.
        widened: number of answers of "no difference".
        direction: the estimate along which the next round searches, if any.
    """

    x: Vector
    estimates: int = 0
    widened: int = 0
    direction: Vector | None = None


@dataclass(frozen=True, kw_only=True)
class Descent(DescentSettings, ABC):
    """Descent along estimated directions.

    Attributes:
        step: η, the step size; with a line search, the length before the first shrink.
        line_search: l, the number of candidates of a line search, including x; 0 turns it off.
        gamma: γ, the factor between the steps of the line search.
        step_decay: factor of η after each estimate.
        mu_decay: factor of μ after each estimate.
        law: distribution of the directions: "normal", or "rademacher" (−1 and 1), drawn faster.
    """

    takes_float32: ClassVar[bool] = True

    step: float = 5.0
    mu: float = 1e-3
    line_search: int = 5
    gamma: float = 0.1
    step_decay: float = 1.0
    mu_decay: float = 1.0
    law: Law = "normal"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("step_decay", "mu_decay"):
            check_number(self, name, above=0, at_most=1)
        check_count(self, "line_search", 0, MAX_CANDIDATES)
        if self.line_search == 1:
            raise InvalidInput(
                "line_search counts the current point, so it must be 2 or more, or 0 to turn the "
                "line search off; found 1"
            )
        check_law(self.law)

    @abstractmethod
    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """Return the slate from whose answer a direction at x is estimated."""

    @abstractmethod
    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """Return an uphill direction, or None if the answer orders no two candidates."""

    def init(self, x0: Vector) -> DescentState:
        """Start at x0, placed in the space."""
        return DescentState(starting_point(self, x0))

    def ask(self, state: DescentState, rng: np.random.Generator) -> Slate:
        """Ask for a direction, or search along the last one."""
        space = space_of(self, state.x)
        if state.direction is None:
            return self.probe(state.x, self._radius(state), space, rng)
        eta = self.step * self.step_decay ** (state.estimates - 1)
        steps = tuple(eta * self.gamma**j for j in range(1, self.line_search))
        return Slate(Ray(state.x, state.direction, steps, space=space), question="best")

    def tell(self, state: DescentState, slate: Slate, answer: Answer) -> DescentState:
        """Take a step, or keep the direction for the line search."""
        # The slate says what was asked: the log may have lost the answer that gave the direction.
        if slate.question == "best":
            best = favourites(answer, len(slate))
            x = state.x if 0 in best else slate[best[0]]
            no_difference = len(best) == len(slate)
            return replace(state, x=x, direction=None, widened=state.widened + no_difference)
        direction = self.estimate(slate, answer)
        if direction is None:
            return replace(state, widened=state.widened + 1)
        eta = self.step * self.step_decay**state.estimates
        state = replace(state, estimates=state.estimates + 1)
        if self.line_search:
            return replace(state, direction=direction)
        direction *= -eta  # in place: at large d a second vector takes gigabytes
        direction += state.x
        return replace(state, x=space_of(self, state.x).place(direction))

    def best(self, state: DescentState) -> Vector:
        """Return the current point."""
        return state.x

    def report(self, state: DescentState) -> dict[str, float]:
        """Return the radius of the next estimate."""
        return {"radius": self._radius(state)}

    def _radius(self, state: DescentState) -> float:
        return widened_radius(self.mu * self.mu_decay**state.estimates, self.widen, state.widened)
