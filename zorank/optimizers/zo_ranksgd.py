"""ZO-RankSGD: Tang, Rybin, Chang, "Zeroth-Order Optimization Meets Human Feedback", ICLR 2024.

Algorithm 1, and with `line_search` (on by default) Algorithm 2. Departures: the judge may rank to
any depth k, tie candidates, or answer "no difference", which keeps x and widens the radius.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zorank.estimators import cloud_gradient
from zorank.optimizers.descent import Descent, neighbours
from zorank.optimizers.settings import check_slate_size
from zorank.slates import Slate, Space
from zorank.types import Answer, Vector


@dataclass(frozen=True, kw_only=True)
class ZORankSGD(Descent):
    """Stochastic descent from ranks.

    Attributes:
        m: number of candidates of an estimate.
        k: how many of them to rank; None lets the judge decide.
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
        return Slate(neighbours(x, radius, self.m, space, rng, False, self.law), k=self.k)

    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """Return the gradient estimate of equation 5."""
        return cloud_gradient(slate, answer)
