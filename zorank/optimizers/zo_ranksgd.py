"""ZO-RankSGD: Tang, Rybin, Chang, "Zeroth-Order Optimization Meets Human Feedback", ICLR 2024.

Algorithm 1, and with `line_search` (on by default) Algorithm 2. Departures: any depth k that the
judge chooses, ties, and "no difference", which leaves x where it is and widens the radius.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zorank.estimators import cloud_gradient
from zorank.optimizers.descent import Descent, surroundings
from zorank.optimizers.settings import check_slate_size
from zorank.slates import Slate, Space
from zorank.types import Answer, Vector


@dataclass(frozen=True, kw_only=True)
class ZORankSGD(Descent):
    """Rank-based stochastic descent.

    Attributes:
        m: candidates of an estimation.
        k: how many of them are to be ranked; None leaves it to the judge.
    """

    name: ClassVar[str] = "zo-ranksgd"
    revision: ClassVar[int] = 1

    m: int = 10
    k: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_slate_size(self)

    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """Show x + μξ_1 … x + μξ_m with random ξ."""
        return Slate(surroundings(x, radius, self.m, space, rng, False, self.law), k=self.k)

    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """Equation 5."""
        return cloud_gradient(slate, answer)
