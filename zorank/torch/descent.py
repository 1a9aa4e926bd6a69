"""ZO-RankSGD for weights that live elsewhere: what is asked and how far to move, without the x.

The same Algorithm 1 as `optimizers/zo_ranksgd.py`, without a line search. Its candidates are
numbers of directions, its state counts; `weights.py` makes the directions and moves the weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zorank._directions import Law
from zorank.errors import InvalidInput
from zorank.estimators import rank_coefficients
from zorank.optimizers.settings import check_count, check_law, check_number, widened_radius
from zorank.slates import Points, Slate
from zorank.types import Answer, Vector


@dataclass(frozen=True)
class Moved:
    """How often answers moved the weights, and how often they held no difference."""

    estimates: int = 0
    widened: int = 0


@dataclass(frozen=True, kw_only=True)
class ModuleDescent:
    """Rank-based descent of a module's weights.

    Attributes:
        m: candidates of a question.
        step: η, how far an answer moves the weights.
        mu: μ, how far candidates are from the module.
        law: the directions' law, "normal" or "rademacher" (±1, faster to draw).
        relative: whether η and μ are shares of each tensor's root mean square at the start.
        step_decay: what η is multiplied by after each estimate.
        mu_decay: what μ is multiplied by after each estimate.
        widen: what μ is multiplied by when the judge sees no difference.
    """

    name: ClassVar[str] = "torch-rank-trainer"
    revision: ClassVar[int] = 1

    m: int = 8
    step: float = 0.1
    mu: float = 0.05
    law: Law = "normal"
    relative: bool = True
    step_decay: float = 1.0
    mu_decay: float = 1.0
    widen: float = 1.5

    def __post_init__(self) -> None:
        check_count(self, "m", 2)
        for name in ("step", "mu"):
            check_number(self, name, above=0, at_most=1e6)  # weights must not overflow
        for name in ("step_decay", "mu_decay"):
            check_number(self, name, above=0, at_most=1)
        check_number(self, "widen", at_least=1)
        check_law(self.law)
        if not isinstance(self.relative, bool):
            raise InvalidInput(f"relative must be True or False, found {self.relative!r:.60}")

    def init(self, x0: Vector) -> Moved:
        """Nothing has moved."""
        return Moved()

    def ask(self, state: Moved, rng: np.random.Generator) -> Slate:
        """The m directions of this round, by number."""
        return Slate(Points(np.arange(self.m, dtype=np.float64)[:, None]))

    def tell(self, state: Moved, slate: Slate, answer: Answer) -> Moved:
        """One more estimate, or one more answer without a difference."""
        if rank_coefficients(answer, len(slate)).any():
            return replace(state, estimates=state.estimates + 1)
        return replace(state, widened=state.widened + 1)

    def best(self, state: Moved) -> Vector:
        """How often the weights moved: all that is known of them here."""
        return np.array([float(state.estimates)])

    def report(self, state: Moved) -> dict[str, float]:
        """The radius of the next question."""
        return {"radius": self.radius(state)}

    def radius(self, state: Moved) -> float:
        """μ, as decayed and widened by now."""
        return widened_radius(self.mu * self.mu_decay**state.estimates, self.widen, state.widened)

    def eta(self, state: Moved) -> float:
        """η, as decayed by now."""
        return self.step * self.step_decay**state.estimates
