"""ZO-SGD: Nesterov and Spokoiny, "Random Gradient-Free Minimization of Convex Functions", 2017.

Descent along Σ ((f(x + μξ_i) − f(x))/μ) ξ_i / n: the rival that sees values, not ranks.
Departures: n directions are averaged, x is one of the m candidates, and it carries the line search
of `zorank.optimizers.descent`, so that it differs from zo-ranksgd in the estimate alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from zorank.errors import InvalidInput
from zorank.estimators import cloud_of
from zorank.optimizers.descent import Descent, surroundings
from zorank.optimizers.settings import check_count
from zorank.slates import Slate, Space
from zorank.types import Answer, Values, Vector

Baseline: TypeAlias = Literal["point", "mean"]
Scale: TypeAlias = Literal["radius", "spread"]


@dataclass(frozen=True, kw_only=True)
class ZOSGD(Descent):
    """Stochastic descent from values.

    Attributes:
        step: η, the step size; with a line search, the length before the first shrink.
        m: candidates of an estimation.
        baseline: what a value is compared with: "point" shows x as the first of the m candidates,
            as published; "mean" takes the mean of m values around x, so that no candidate is
            spent on x.
        scale: what differences of values are divided by: "radius" is μ, as published, and gives
            the gradient; "spread" is the values' standard deviation, as in ARS, and gives a
            direction of the same length whatever the unit of f.
    """

    name: ClassVar[str] = "zo-sgd"
    revision: ClassVar[int] = 1

    step: float = 1.0
    m: int = 10
    baseline: Baseline = "point"
    scale: Scale = "radius"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self, "m", 2)
        if self.baseline not in ("point", "mean"):
            raise InvalidInput(f"baseline must be 'point' or 'mean', found {self.baseline!r:.60}")
        if self.scale not in ("radius", "spread"):
            raise InvalidInput(f"scale must be 'radius' or 'spread', found {self.scale!r:.60}")

    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """Show x, if it is the baseline, and x + μξ_i with ξ ~ N(0, I)."""
        itself = self.baseline == "point"
        around = surroundings(x, radius, self.m, space, rng, itself, self.law)
        return Slate(around, question="values")

    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """Forward differences along the directions."""
        if not isinstance(answer, Values):
            raise InvalidInput(
                "zo-sgd needs the candidates' values, found an order; "
                "zo-ranksgd is the same descent from ranks"
            )
        values = np.array(answer.values)
        if np.ptp(values) == 0.0:
            return None
        values -= values[0] if self.baseline == "point" else values.mean()
        cloud = cloud_of(slate)
        scale = cloud.radius if self.scale == "radius" else values.std()
        return cloud.combine(values / (scale * (len(values) - 1)))
