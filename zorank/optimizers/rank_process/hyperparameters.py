"""Hyperparameters of the utility model and of its raters, with their prior.

They are positive, so each has a log-normal prior around its default, and is inferred in
logarithms (`inference.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Hyperparameters:
    """Kernel and likelihood parameters; all of them are inferred from the answers.

    Attributes:
        lengthscale: ℓ of the kernel, a distance divided by √d.
        noise: σ of one judgement of a candidate, in standard deviations of the utility of random
            candidates.
        threshold: δ, the difference below which a judge answers "no difference", in the same unit.
        rater_factors: the noise of each rater as a multiple of σ.
    """

    lengthscale: float = 0.6
    noise: float = 0.2
    threshold: float = 0.15
    rater_factors: tuple[float, ...] = ()

    @property
    def utility_sd(self) -> float:
        """The standard deviation of utility among random candidates; the prior's is 1."""
        return math.sqrt(-math.expm1(-1.0 / self.lengthscale**2))

    def scale(self, name: str, factor: float) -> Hyperparameters:
        """Multiply one hyperparameter by a factor, within its limits."""
        low, high = LIMITS[name]
        changed: Any = {name: min(max(getattr(self, name) * factor, low), high)}
        return replace(self, **changed)

    def scale_rater(self, rater: int, factor: float) -> Hyperparameters:
        """Multiply the noise of one rater by a factor, within limits."""
        factors = list(self.rater_factors)
        low, high = RATER_FACTOR_LIMITS
        factors[rater] = min(max(factors[rater] * factor, low), high)
        return replace(self, rater_factors=tuple(factors))

    def log_prior(self, lengthscale_sd: float) -> float:
        """Return the log-density of the prior, up to a constant.

        `lengthscale_sd` is the prior's standard deviation of log ℓ.
        """
        default = Hyperparameters()
        deviations = {"lengthscale": lengthscale_sd, **PRIOR_SD}
        logs = [
            math.log(getattr(self, name) / getattr(default, name)) / sd
            for name, sd in deviations.items()
        ]
        logs += [math.log(factor) / RATER_FACTOR_PRIOR_SD for factor in self.rater_factors]
        return -0.5 * sum(log * log for log in logs)


WeightedHyperparameters: TypeAlias = tuple[tuple[float, Hyperparameters], ...]
"""Hyperparameters with their posterior probabilities."""

LIMITS = {"lengthscale": (0.02, 50.0), "noise": (0.003, 3.0), "threshold": (0.003, 3.0)}
RATER_FACTOR_LIMITS = (0.1, 10.0)

PRIOR_SD = {"noise": 0.6, "threshold": 1.0}
"""Standard deviations of the logarithms around those of `Hyperparameters()`."""
RATER_FACTOR_PRIOR_SD = 0.5
