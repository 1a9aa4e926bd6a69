"""ZO-SGD: Nesterov and Spokoiny, "Random Gradient-Free Minimization of Convex Functions", 2017.

Descent along Σ ((f(x + μξ_i) − f(x))/μ) ξ_i / n, a baseline that uses values, not ranks.
Departures: n directions are averaged, x is one of the m candidates, and the line search is that of
`zorank.optimizers.descent`, so that it differs from zo-ranksgd only in the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from zorank.errors import InvalidInput
from zorank.estimators import cloud_of
from zorank.optimizers.descent import Descent, neighbours
from zorank.optimizers.settings import MAX_CANDIDATES, check_choice, check_count
from zorank.slates import Slate, Space
from zorank.types import Answer, Values, Vector

Baseline: TypeAlias = Literal["point", "mean"]
Scale: TypeAlias = Literal["radius", "spread"]


@dataclass(frozen=True, kw_only=True)
class ZOSGD(Descent):
    """Stochastic descent from values.

    Attributes:
        step: η, the step size; with a line search, the length before the first shrink.
        m: number of candidates of an estimate.
        baseline: the value that is subtracted: "point" shows x as the first of the m candidates
            and subtracts f(x), as published; "mean" subtracts the mean of m values around x,
            which spends no candidate on x.
        scale: the divisor of the differences: "radius" is μ, as published, and gives the
            gradient; "spread" is the standard deviation of the values, as in ARS, and gives a
            direction whose length does not depend on the unit of f.
    """

    name: ClassVar[str] = "zo-sgd"
    revision: ClassVar[int] = 1

    step: float = 1.0
    m: int = 10
    baseline: Baseline = "point"
    scale: Scale = "radius"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self, "m", 2, MAX_CANDIDATES)
        check_choice(self, "baseline", ("point", "mean"))
        check_choice(self, "scale", ("radius", "spread"))

    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """Show x, if it is the baseline, and x + μξ_i with ξ ~ N(0, I)."""
        itself = self.baseline == "point"
        cloud = neighbours(x, radius, self.m, space, rng, itself, self.law)
        return Slate(cloud, question="values")

    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """Return the mean of forward differences times directions."""
        if not isinstance(answer, Values):
            raise InvalidInput(
                "zo-sgd needs the values of the candidates, found a ranking; "
                "use zo-ranksgd, the same descent from rankings"
            )
        values = np.array(answer.values)
        if np.ptp(values) == 0.0:
            return None
        values -= values[0] if self.baseline == "point" else values.mean()
        cloud = cloud_of(slate)
        scale = cloud.radius if self.scale == "radius" else values.std()
        return cloud.combine(values / (scale * (len(values) - 1)))
