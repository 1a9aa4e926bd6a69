"""What direction-estimating optimizers share: estimate, then step, with or without a line search.

A round estimates an uphill direction g at x. Without a line search x becomes x − ηg at once
(Algorithm 1, line 5). With one, the next round shows x and x − ηγg … x − ηγ^(l−1)g and asks only
which is best (Algorithm 2, l counts x itself). An optimizer that can estimate a direction inherits
both by writing `probe` and `estimate`; nothing else here is meant to be overridden.
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
    Bounds,
    SpaceName,
    check_count,
    check_law,
    check_number,
    check_space,
    make_space,
    starting_point,
    widened_radius,
)
from zorank.slates import Cloud, Ray, Slate, Space
from zorank.types import Answer, Vector


def surroundings(
    x: Vector,
    radius: float,
    m: int,
    space: Space,
    rng: np.random.Generator,
    itself: bool = True,
    law: Law = "normal",
) -> Cloud:
    """M points x + μξ, the first of them x itself if that is to be compared with."""
    return Cloud(x, radius, draw_directions(law, x.size, x.dtype, rng, m, with_zero=itself), space)


@dataclass(frozen=True, eq=False)
class DescentState:
    """Where a descent is.

    Attributes:
        x: the current point.
        estimates: directions estimated so far; step and radius decay with it.
        widened: how often "no difference" was answered.
        direction: an estimate that waits for its line search.
    """

    x: Vector
    estimates: int = 0
    widened: int = 0
    direction: Vector | None = None


@dataclass(frozen=True, kw_only=True)
class Descent(ABC):
    """Descent along estimated directions.

    Attributes:
        step: η, the step size; with a line search, the length before the first shrink.
        mu: μ, the radius within which candidates are drawn.
        line_search: l, the candidates of a line search, x among them; 0 turns it off.
        gamma: γ, what each step of the line search is shortened by.
        step_decay: what η is multiplied by after each estimate.
        mu_decay: what μ is multiplied by after each estimate.
        widen: what μ is multiplied by when the judge sees no difference.
        space: "euclidean", or "gaussian" to keep candidates on the shell |x| = √d.
        bounds: (lower, upper), numbers or one per coordinate; candidates are clipped to them.
        law: "normal", or "rademacher" for directions of −1 and 1, which are drawn faster.
    """

    takes_float32: ClassVar[bool] = True

    step: float = 5.0
    mu: float = 1e-3
    line_search: int = 5
    gamma: float = 0.1
    step_decay: float = 1.0
    mu_decay: float = 1.0
    widen: float = 1.5
    space: SpaceName = "euclidean"
    bounds: Bounds | None = None
    law: Law = "normal"

    def __post_init__(self) -> None:
        for name in ("step", "mu"):
            check_number(self, name, above=0)
        for name in ("step_decay", "mu_decay"):
            check_number(self, name, above=0, at_most=1)
        check_number(self, "gamma", above=0, below=1)
        check_number(self, "widen", at_least=1)
        check_count(self, "line_search", 0)
        if self.line_search == 1:
            raise InvalidInput(
                "line_search counts the current point, so it needs 2 or more, or 0 for none; "
                "found 1"
            )
        object.__setattr__(self, "bounds", check_space(self.space, self.bounds))
        check_law(self.law)

    @abstractmethod
    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """The slate whose answer tells a direction at x."""

    @abstractmethod
    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """An uphill direction, or None if the answer holds no difference."""

    def init(self, x0: Vector) -> DescentState:
        """Start at x0, put where candidates may lie."""
        return DescentState(
            starting_point(make_space(self.space, self.bounds, x0.size, x0.dtype), x0)
        )

    def ask(self, state: DescentState, rng: np.random.Generator) -> Slate:
        """Estimate a direction, or search along the one that waits."""
        space = make_space(self.space, self.bounds, state.x.size, state.x.dtype)
        if state.direction is None:
            return self.probe(state.x, self._radius(state), space, rng)
        eta = self.step * self.step_decay ** (state.estimates - 1)
        steps = tuple(eta * self.gamma**j for j in range(1, self.line_search))
        return Slate(Ray(state.x, state.direction, steps, space=space), question="best")

    def tell(self, state: DescentState, slate: Slate, answer: Answer) -> DescentState:
        """Take the step, or keep the direction for the line search."""
        if state.direction is not None:
            best = favourites(answer, len(slate))
            x = state.x if 0 in best else slate[best[0]]
            unseen = len(best) == len(slate)
            return replace(state, x=x, direction=None, widened=state.widened + unseen)
        direction = self.estimate(slate, answer)
        if direction is None:
            return replace(state, widened=state.widened + 1)
        eta = self.step * self.step_decay**state.estimates
        state = replace(state, estimates=state.estimates + 1)
        if self.line_search:
            return replace(state, direction=direction)
        direction *= -eta  # in place: at large d a second vector is a second gigabyte
        direction += state.x
        x = make_space(self.space, self.bounds, state.x.size, state.x.dtype).place(direction)
        return replace(state, x=x)

    def best(self, state: DescentState) -> Vector:
        """The current point."""
        return state.x

    def report(self, state: DescentState) -> dict[str, float]:
        """The radius of the next estimation."""
        return {"radius": self._radius(state)}

    def _radius(self, state: DescentState) -> float:
        return widened_radius(self.mu * self.mu_decay**state.estimates, self.widen, state.widened)
