"""ZO-RankSGD (Algorithm 1, without a line search) for weights that are stored in a module.

A candidate is the number of a direction, and the state has only counts. `weights.py` draws the
directions and moves the weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zorank._directions import Law
from zorank.estimators import rank_coefficients
from zorank.optimizers.settings import (
    MAX_CANDIDATES,
    check_count,
    check_flag,
    check_law,
    check_number,
    widened_radius,
)
from zorank.slates import Points, Slate
from zorank.types import Answer, Vector


@dataclass(frozen=True)
class DescentState:
    """The number of answers that moved the weights, and of answers "no difference"."""

    estimates: int = 0
    widened: int = 0


@dataclass(frozen=True, kw_only=True)
class ModuleDescent:
    """Rank-based descent of a module's weights; `RankTrainer` documents the settings."""

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
        check_count(self, "m", 2, MAX_CANDIDATES)
        for name in ("step", "mu"):
            check_number(self, name, above=0, at_most=1e6)  # weights must not overflow
        for name in ("step_decay", "mu_decay"):
            check_number(self, name, above=0, at_most=1)
        check_number(self, "widen", at_least=1)
        check_law(self.law)
        check_flag(self, "relative")

    def init(self, x0: Vector) -> DescentState:
        """Return the state before the first round."""
        return DescentState()

    def ask(self, state: DescentState, rng: np.random.Generator) -> Slate:
        """Return a slate of the m directions, by number."""
        return Slate(Points(np.arange(self.m, dtype=np.float64)[:, None]))

    def tell(self, state: DescentState, slate: Slate, answer: Answer) -> DescentState:
        """Count one more estimate, or one more answer "no difference"."""
        if rank_coefficients(answer, len(slate)).any():
            return replace(state, estimates=state.estimates + 1)
        return replace(state, widened=state.widened + 1)

    def best(self, state: DescentState) -> Vector:
        """Return the number of estimates; the weights themselves are in the module."""
        return np.array([float(state.estimates)])

    def report(self, state: DescentState) -> dict[str, float]:
        """Return the radius of the next round."""
        return {"radius": self.radius(state)}

    def radius(self, state: DescentState) -> float:
        """Return μ after decay and widening."""
        return widened_radius(self.mu * self.mu_decay**state.estimates, self.widen, state.widened)

    def eta(self, state: DescentState) -> float:
        """Return η after decay."""
        return self.step * self.step_decay**state.estimates
