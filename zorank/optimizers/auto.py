"""auto: the default. It needs a start and a rough scale, and nothing else.

An evolution strategy from ranks alone, built on one idea: the directions of a round all have the
same length and are orthogonal (with mirror images where there are more than dimensions).

- Ranks then depend on direction, not on length, so candidates can be drawn farther from the centre
  than the step that follows from them (by a factor ρ), which makes each round more informative.
- The step is Σ w_i z_i with *signed* weights: the worst candidates count as much as the best. Its
  length is always η√d, so the path of steps measures only whether they agree. If recent steps
  agree, the step size grows.
- The covariance of the candidates is learned from good and bad directions (`covariance.py`): from
  11 dimensions on the scales of coordinates faster than the rest, in more than 500 a diagonal and
  a few other directions (`low_rank_covariance.py`).
- Up to 10 dimensions a quadratic model is fitted to the orders of the last slates. Its minimum is
  the last new candidate of the next slate (`rank_model.py`).

Every tenth slate also shows two candidates of ten rounds ago. If the judge reverses their order,
it is noisy, and ρ grows, because farther candidates are easier to order. The first step is shown
next to the point it came from: if it lost, sigma0 was too large, and the step is undone and
shortened.

When the search has converged and the judge never reversed an order, a new search starts around x0
with twice as many candidates and a larger ρ. Checks then also show the best centre so far.

This file holds the settings; `auto_search.py` is the algorithm. With whole or categorical
coordinates, `mixed_search.py` adds steps in these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from zorank.optimizers.auto_search import AutoSearch
from zorank.optimizers.auto_state import AutoState
from zorank.optimizers.auto_tuning import Tuning
from zorank.optimizers.mixed_search import MixedSearch
from zorank.optimizers.mixed_state import MixedState
from zorank.optimizers.settings import (
    MAX_CANDIDATES,
    Bounds,
    SpaceName,
    check_count,
    check_discrete,
    check_scale,
    check_space,
    default_sigma0,
)
from zorank.slates import Slate
from zorank.types import Answer, Vector

DEFAULT_TUNING = Tuning()
State: TypeAlias = AutoState | MixedState


@dataclass(frozen=True, kw_only=True)
class Auto:
    """The default: parameter-free search from ranks.

    Attributes:
        m: number of candidates on a slate; None for 4 + 3 ln d, and one more up to
            d = 10. Every tenth slate has two more.
        k: how many of them to rank; None lets the judge decide.
        sigma0: rough scale: the expected distance of a better point from x0, a number or one per
            coordinate; None for .3 of the range of coordinates with finite bounds, else 1.
        space: "euclidean", or "gaussian" to keep candidates on the shell |x| = √d.
        bounds: (lower, upper), each a number or one per coordinate; candidates are reflected.
        levels: for each coordinate, its number of values if it is whole, else 0: coordinates from
            0 to 1 in this many equal intervals. Requires bounds=(0, 1).
        choices: (first coordinate, number of options) of each categorical parameter; the option
            is the largest of these coordinates. Requires bounds=(0, 1).
    """

    name: ClassVar[str] = "auto"
    revision: ClassVar[int] = 3

    m: int | None = None
    k: int | None = None
    sigma0: float | Sequence[float] | None = None
    space: SpaceName = "euclidean"
    bounds: Bounds | None = None
    levels: Sequence[int] | None = None
    choices: Sequence[Sequence[int]] | None = None

    takes_levels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.m is not None:
            check_count(self, "m", 2, MAX_CANDIDATES)
        if self.k is not None:
            check_count(self, "k", 1, self.m)
        check_space(self)
        if self.sigma0 is None:
            object.__setattr__(self, "sigma0", default_sigma0(self.bounds))
        check_scale(self, "sigma0")
        check_discrete(self)

    def init(self, x0: Vector) -> State:
        """Start at x0 with the identity as covariance."""
        return self.search().init(x0)  # type: ignore[no-any-return]  # Any

    def ask(self, state: State, rng: np.random.Generator) -> Slate:
        """Show new directions and, at checks, old candidates."""
        return self.search().ask(state, rng)  # type: ignore[no-any-return]  # Any

    def tell(self, state: State, slate: Slate, answer: Answer) -> State:
        """Step, then adapt the step size and the covariance."""
        return self.search().tell(state, slate, answer)  # type: ignore[no-any-return]  # Any

    def best(self, state: State) -> Vector:
        """Return the centre or, after a restart, the best centre of all searches."""
        return self.search().best(state)  # type: ignore[no-any-return]  # Any

    def report(self, state: State) -> dict[str, float]:
        """Return the radius, the width ρ and the number of restarts."""
        return self.search().report(state)  # type: ignore[no-any-return]  # Any

    def search(self, tuning: Tuning = DEFAULT_TUNING) -> Any:
        """Return the algorithm with these settings; ablations change its constants."""
        if self.levels is None and self.choices is None:
            return AutoSearch(self, tuning)
        m = None if self.m is None else max(2, self.m - 1 - (self.m - 1) // 3)  # without mutants
        plain = replace(self, levels=None, choices=None, m=m, k=None)
        return MixedSearch(self, AutoSearch(plain, tuning))
