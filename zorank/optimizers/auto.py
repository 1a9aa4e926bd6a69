"""auto: the default. It needs a start and a rough scale, and nothing else.

An evolution strategy from ranks alone, built on one idea: the directions of a round all have the
same length and are orthogonal (with mirror images where there are more than dimensions).

- Ranks then depend on direction, not on length, so candidates can be drawn farther from the centre
  than the step that follows from them (by a factor ρ), which makes each round more informative.
- The step is Σ w_i z_i with *signed* weights: the worst candidates count as much as the best. Its
  length is always η√d, so the path of steps measures only whether they agree. If recent steps
  agree, the step size grows.
- The covariance of the candidates is learned from good and bad directions (`covariance.py`).

Every tenth slate also shows two candidates of ten rounds ago. If the judge reverses their order,
it is noisy, and ρ grows, because farther candidates are easier to order. The first step is shown
next to the point it came from: if it lost, sigma0 was too large, and the step is undone and
shortened.

When the search has converged and the judge never reversed an order, a new search starts around x0
with twice as many candidates and a larger ρ. Checks then also show the best centre so far.

This file holds the settings; `auto_search.py` is the algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zorank.optimizers.auto_search import AutoSearch, AutoState
from zorank.optimizers.auto_tuning import Tuning
from zorank.optimizers.settings import (
    MAX_CANDIDATES,
    Bounds,
    SpaceName,
    check_count,
    check_number,
    check_space,
)
from zorank.slates import Slate
from zorank.types import Answer, Vector

DEFAULT_TUNING = Tuning()


@dataclass(frozen=True, kw_only=True)
class Auto:
    """The default: parameter-free search from ranks.

    Attributes:
        m: number of candidates on a slate; None for 4 + 3 ln d. Every tenth slate has two more.
        k: how many of them to rank; None lets the judge decide.
        sigma0: rough scale: the expected distance of a better point from x0, per coordinate.
        space: "euclidean", or "gaussian" to keep candidates on the shell |x| = √d.
        bounds: (lower, upper), each a number or one per coordinate; candidates are reflected.
    """

    name: ClassVar[str] = "auto"
    revision: ClassVar[int] = 2

    m: int | None = None
    k: int | None = None
    sigma0: float = 1.0
    space: SpaceName = "euclidean"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        if self.m is not None:
            check_count(self, "m", 2, MAX_CANDIDATES)
        if self.k is not None:
            check_count(self, "k", 1, self.m)
        check_number(self, "sigma0", above=0)
        check_space(self)

    def init(self, x0: Vector) -> AutoState:
        """Start at x0 with the identity as covariance."""
        return self.search().init(x0)

    def ask(self, state: AutoState, rng: np.random.Generator) -> Slate:
        """Show new directions and, at checks, old candidates."""
        return self.search().ask(state, rng)

    def tell(self, state: AutoState, slate: Slate, answer: Answer) -> AutoState:
        """Step, then adapt the step size and the covariance."""
        return self.search().tell(state, slate, answer)

    def best(self, state: AutoState) -> Vector:
        """Return the centre or, after a restart, the best centre of all searches."""
        return self.search().best(state)

    def report(self, state: AutoState) -> dict[str, float]:
        """Return the radius, the width ρ and the number of restarts."""
        return self.search().report(state)

    def search(self, tuning: Tuning = DEFAULT_TUNING) -> AutoSearch:
        """Return the algorithm with these settings; ablations change its constants."""
        return AutoSearch(self, tuning)
